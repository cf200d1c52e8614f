//! What is told, and refused, where a kernel can't confine the compiler in full.

use std::path::Path;

use retort::Coded;
use retort::bundle::{Buildable, Code};
use retort::sandbox::{Confinement, RustModule, RustcError, RustcOptions, Toolchain};
use retort::{Pipeline, PipelineError, TenantPolicy};

use super::{PLAIN, body, fake, private_cache, script};

/// Options with a helper that says this of itself, and does the compiler's work.
fn helped(folder: &Path, says: &str) -> RustcOptions {
    let text = format!(
        "#!/bin/sh
PATH=/usr/bin:/bin
read -r request
say() {{ printf '%s' \"$request\" | sed \"s/.*$1\\\"\\([^\\\"]*\\)\\\".*/\\1/\"; }}
echo 'retort-rustc {says}'
cd \"$(say '\"directory\":')\" || exit 3
printf '\\000asm\\001\\000\\000\\000' > \"$(say '\"-o\",')\"
"
    );
    let mut options = fake(folder, "rustc", ":");
    options.helper = script(folder, says, &text);
    options
}

fn made(folder: &Path, says: &str, is_required: bool) -> Result<RustModule, RustcError> {
    let cache = private_cache();
    let mut options = helped(folder, says);
    options.cache = Some(cache.path().to_owned());
    options.require_confinement = is_required;
    Toolchain::find(options).and_then(|toolchain| toolchain.compile(&body(PLAIN)))
}

#[test]
fn what_is_less_than_full_is_told_and_refused_where_it_has_to_be() {
    let folder = tempfile::tempdir().unwrap();
    for (says, confinement) in [
        ("landlock", Confinement::Landlock),
        ("partial", Confinement::Partial),
        ("none", Confinement::None),
    ] {
        let module = made(folder.path(), says, false).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((module.confinement, confinement.as_str()), (confinement, says));
        let required = made(folder.path(), says, true).map(|module| module.confinement);
        match confinement.is_full() {
            true => assert_eq!(required, Ok(confinement)),
            false => {
                let error = required.expect_err("it isn't confined");
                assert_eq!((error.code(), error.is_of_host()), ("rustc_unconfined", true));
            }
        }
    }
    assert_eq!(
        made(folder.path(), "well", false).map(|_| ()).expect_err("no").code(),
        "toolchain_failed"
    );
}

#[test]
fn a_tenants_policy_may_require_it() {
    let folder = tempfile::tempdir().unwrap();
    let host = Pipeline::builder().rust(helped(folder.path(), "partial")).build().unwrap();
    let policy = TenantPolicy::parse("require_confinement: true", "p.yaml").unwrap();
    let tenant = host.for_tenant(&policy).unwrap();
    let of_its_own =
        Pipeline::builder().rust(helped(folder.path(), "partial")).tenant(&policy).build().unwrap();
    let source = body(PLAIN);
    let built = |gates: &Pipeline| {
        gates.build_code(Buildable::of(Code::Rust(source.text())).unwrap()).map(|_| ())
    };
    assert_eq!(host.confinement(), None);
    // What one tenant requires, no other one can give up.
    let of_another = of_its_own.for_tenant(&TenantPolicy::default()).unwrap();
    for gates in [&tenant, &of_its_own, &of_another] {
        let error = built(gates).expect_err("it isn't confined");
        assert!(matches!(&error, PipelineError::Rustc(RustcError::Unconfined { .. })), "{error}");
        assert!(error.is_of_host());
    }
    built(&host).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(host.confinement(), Some(Confinement::Partial));
}
