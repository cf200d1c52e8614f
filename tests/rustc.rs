//! Rust source to modules: the compiler's limits, its confinement, and what it says.

mod amount;
mod confined;
mod fault;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use retort::Coded;
use retort::gate::{SourceLimits, StructuralLimits, VettedSource, inspect, vet_source};
use retort::sandbox::{Confinement, RustcError, RustcLimits, RustcOptions, Toolchain};

use crate::support::{guest_rustc, rustc};

/// A source whose function does this.
fn body(text: &str) -> VettedSource {
    vetted(&format!(
        "{HEAD}\nfn f(event: &Event<'_>, graph: &mut Graph) {{\n    let n = event.n.u64().unwrap_or(0);\n{text}\n}}\n"
    ))
}

const HEAD: &str = r#"use retort_guest::prelude::*; extractor! { function: f, event_types: ["e"], inputs: { n: ["n"] } }"#;

const PLAIN: &str = "graph.node(\"A\").key(\"n\", n.to_string()).add();";

fn vetted(text: &str) -> VettedSource {
    let vetted = vet_source(text, &SourceLimits::default());
    vetted.unwrap_or_else(|refused| panic!("{refused}\n{text}"))
}

fn options(change: impl FnOnce(&mut RustcLimits)) -> RustcOptions {
    /// One cache for all tests of this process.
    static CACHE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let cache = CACHE.get_or_init(private_cache);
    let mut options = RustcOptions::new(env!("CARGO_BIN_EXE_retort"));
    options.rustc = rustc();
    options.cache = Some(cache.path().to_owned());
    change(&mut options.limits);
    options
}

/// A directory that nobody else is let into.
fn private_cache() -> tempfile::TempDir {
    let made = tempfile::tempdir().unwrap();
    fs::set_permissions(made.path(), fs::Permissions::from_mode(0o700)).unwrap();
    made
}

fn limited(change: impl FnOnce(&mut RustcLimits)) -> Toolchain {
    Toolchain::find(options(change)).unwrap_or_else(|error| panic!("{error}"))
}

fn toolchain() -> &'static Toolchain {
    static TOOLCHAIN: OnceLock<Toolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| limited(|_| {}))
}

fn refused(source: &VettedSource) -> RustcError {
    toolchain().compile(source).expect_err("an error")
}

#[test]
fn a_source_becomes_a_module_that_is_the_same_each_time_and_names_nothing_of_the_host() {
    let Some(_) = guest_rustc() else { return };
    let start = Instant::now();
    let made = toolchain().compile(&body(PLAIN)).unwrap_or_else(|error| panic!("{error}"));
    eprintln!(
        "{} bytes, {} with debug information, confined by {}, {:?}",
        made.module.len(),
        made.unstripped.len(),
        made.confinement.as_str(),
        start.elapsed()
    );
    let inspected = inspect(&made.module, &StructuralLimits::default()).unwrap();
    let facts = serde_json::to_value(&inspected).unwrap();
    assert_eq!(facts["section"]["function"], "f");
    assert!(made.unstripped.len() > made.module.len());
    let is_debug = |module: &[u8]| String::from_utf8_lossy(module).contains(".debug_line");
    assert!(is_debug(&made.unstripped) && !is_debug(&made.module));

    let again = toolchain().compile(&body(PLAIN)).unwrap();
    assert_eq!(made.unstripped, again.unstripped);
    let text = String::from_utf8_lossy(&made.unstripped);
    // A toolchain that was built on this machine may name directories of its own sources.
    for place in [std::env::temp_dir().to_str().unwrap(), env!("CARGO_MANIFEST_DIR")] {
        assert!(!text.contains(place), "{place}");
    }
    assert!(text.contains("src/lib.rs"));
}

#[test]
fn the_template_compiles() {
    let Some(_) = guest_rustc() else { return };
    let source = vetted(retort_guest_template::RUST_TEMPLATE);
    let made = toolchain().compile(&source).unwrap_or_else(|error| panic!("{error}"));
    inspect(&made.module, &StructuralLimits::default()).unwrap();
}

#[test]
fn many_inputs_compile() {
    let Some(_) = guest_rustc() else { return };
    let inputs: String = (0..300)
        .map(|n| format!("input_number_{n}: [\"content\", \"field number {n}\"],"))
        .collect();
    let source = format!(
        "use retort_guest::prelude::*;\nextractor! {{ function: f, event_types: [\"e\"], inputs: {{ {inputs} }} }}\n\
         fn f(_: &Event<'_>, _: &mut Graph) {{}}"
    );
    toolchain().compile(&vetted(&source)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn errors_are_told_with_their_lines_columns_and_help() {
    let Some(_) = guest_rustc() else { return };
    let error = refused(&body("    let x: String = n;\n    graph.nod(\"A\");\n    nothing"));
    assert_eq!(error.code(), "rustc_rejected");
    let said = error.to_string();
    for part in [
        "4:21: E0308: mismatched types (expected `String`, found `u64`); help: try using a conversion method: `.to_string()`",
        "5:11: E0599: no method named `nod` found",
        "6:5: E0425: cannot find value `nothing`",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert!(
        !said.contains("/tmp") && !said.contains("rlib") && !said.contains("aborting"),
        "{said}"
    );
    let problems = error.problems();
    assert_eq!(problems.len(), 3);
    assert!(problems.iter().any(|problem| problem.path.as_deref() == Some("4:21")));

    // On the first line, in front of which stands what the source doesn't know of.
    let first = refused(&vetted("fn a() -> u8 { \"\" }"));
    assert!(first.to_string().starts_with("1:16: E0308"), "{first}");
    // In what a macro of the SDK makes, at its call.
    let missing = refused(&vetted(
        "use retort_guest::prelude::*;\n\nextractor! { function: f, event_types: [\"e\"], inputs: {} }",
    ));
    assert!(
        missing.problems()[0].path.as_deref().is_some_and(|at| at.starts_with("3:")),
        "{missing}"
    );
    // Ten at most.
    let many = refused(&body(&(0..30).map(|n| format!("missing{n}();\n")).collect::<String>()));
    let RustcError::Rejected { messages, omitted } = &many else { panic!("{many}") };
    assert_eq!((messages.len(), *omitted), (10, 20));
    let nothing = refused(&vetted("fn a() {}"));
    assert!(nothing.to_string().contains("found no use of the SDK"), "{nothing}");
    // What the SDK leaves out isn't there, whatever passed the gate.
    let absent = refused(&vetted("use std::collections::linked_list;"));
    assert!(absent.to_string().contains("E0432"), "{absent}");
}

#[test]
fn a_compiler_that_takes_too_much_is_ended() {
    let Some(_) = guest_rustc() else { return };
    let late = limited(|limits| limits.time_ms = 2_000);
    // Each level doubles the types that are worked out.
    let levels: String = (0..40)
        .map(|n| format!("fn g{n}<T: Clone>(x: T) -> usize {{ g{next}((x.clone(), x.clone())) + g{next}((x, 1u8)) }}\n", next = n + 1))
        .collect();
    let bomb = vetted(&format!(
        "{HEAD}\n{levels}fn g40<T>(x: T) -> usize {{ core::mem::size_of_val(&x) }}\nfn f(event: &Event<'_>, _: &mut Graph) {{ g0(1u8); }}\n"
    ));
    let start = Instant::now();
    let error = late.compile(&bomb).expect_err("a bomb");
    eprintln!("{error}, {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(
        matches!(error.code(), "rustc_timeout" | "rustc_rejected" | "rustc_memory_exceeded"),
        "{error}"
    );

    let error = limited(|limits| limits.time_ms = 50).compile(&body(PLAIN)).expect_err("no time");
    assert_eq!(error.code(), "rustc_timeout");
    assert!(error.usage().is_some_and(|(used, allowed)| used >= allowed && allowed == 50));

    // Less than the compiler takes before it reads anything; not less than it takes to be loaded.
    for mebibytes in [500, 400] {
        let error = limited(|limits| limits.memory_bytes = mebibytes << 20)
            .compile(&body(PLAIN))
            .map(|_| ());
        let error = error.expect_err("no memory");
        assert_eq!(error.code(), "rustc_memory_exceeded", "{mebibytes}: {error}");
    }
    let error = limited(|limits| limits.module_bytes = 1 << 10).compile(&body(PLAIN)).map(|_| ());
    assert_eq!(error.expect_err("no room").code(), "rustc_module_too_large");
}

#[test]
fn nothing_is_left_behind() {
    let Some(_) = guest_rustc() else { return };
    toolchain().compile(&body(PLAIN)).unwrap();
    let _ = refused(&body("nothing"));
    // Another test of this process may be at work.
    let mine = |entry: &fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap_or_default();
        let age =
            entry.metadata().and_then(|it| it.modified()).ok().and_then(|it| it.elapsed().ok());
        name.starts_with("retort-rustc-") && age.is_some_and(|age| age > Duration::from_secs(300))
    };
    let left = fs::read_dir(std::env::temp_dir()).unwrap().flatten().filter(mine).count();
    assert_eq!(left, 0);
}

/// A program of this text.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A compiler in this folder that makes empty files of libraries, and of an extractor a module without anything in it, once it did
/// this.
fn fake(folder: &Path, name: &str, does: &str) -> RustcOptions {
    fs::write(folder.join("libcore-1.rlib"), "").unwrap();
    let text = format!(
        "#!/bin/sh
case \"$*\" in
-vV) echo release: 1.96.0; exit;;
--print*) echo {folder}; exit;;
*--crate-name=extractor*) {does}
  printf '\\000asm\\001\\000\\000\\000' > module.wasm; exit;;
esac
while [ \"$1\" != -o ]; do shift; done
: > \"$2\"
",
        folder = folder.display()
    );
    let mut options = options(|_| {});
    options.rustc = Some(script(folder, name, &text));
    options
}

#[test]
fn a_compiler_reads_and_writes_nothing_but_its_own_where_the_kernel_can_keep_it_from_that() {
    let toolchain = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let (own, host) = (toolchain.path(), elsewhere.path());
    fs::write(host.join("secret"), "secret\n").unwrap();
    let made = |name: &str, attack: &str| {
        let toolchain = Toolchain::find(fake(own, name, attack));
        toolchain.unwrap_or_else(|error| panic!("{error}")).compile(&body(PLAIN))
    };
    let harmless = made("harmless", ":").unwrap_or_else(|error| panic!("{error}"));
    if harmless.confinement != Confinement::Landlock {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let path = |name: &str| host.join(name).display().to_string();
    for (name, attack) in [
        ("reads", format!("read line < {} && exit 3", path("secret"))),
        ("writes", format!("echo x > {} && exit 3", path("written"))),
        ("environment", "[ -n \"$HOME$CARGO_MANIFEST_DIR\" ] && exit 3".to_owned()),
        ("starts", "/bin/cat /dev/null && exit 3".to_owned()),
    ] {
        // A shell ends where a redirection of a builtin fails only for some of them.
        let made = made(name, &format!("({attack}); [ $? = 3 ] && exit 3"));
        if let Err(error) = made {
            panic!("{name}: {error}");
        }
    }
    assert!(!host.join("written").exists());
}

#[test]
fn what_is_no_toolchain_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| script(folder.path(), name, text);
    let found = |program: &Path| {
        let mut options = options(|_| {});
        options.rustc = Some(program.to_owned());
        Toolchain::find(options).expect_err("no toolchain")
    };
    let missing = found(Path::new("/nowhere/rustc"));
    assert_eq!(missing.code(), "toolchain_missing");
    assert!(missing.to_string().contains("/nowhere/rustc"), "{missing}");
    for (name, text, says) in [
        ("silent", "#!/bin/sh\nexit 1\n", "doesn't answer -vV"),
        ("other", "#!/bin/sh\necho hello\n", "it isn't rustc: it says hello"),
        ("old", "#!/bin/sh\necho release: 1.60.0\n", "expected rustc 1.85 or later, found 1.60.0"),
    ] {
        let error = found(&script(name, text));
        assert_eq!(error.code(), "toolchain_missing");
        assert!(error.to_string().contains(says), "{error}");
    }
    let bare = script(
        "bare",
        &format!(
            "#!/bin/sh\ncase \"$*\" in\n-vV) echo release: 1.96.0;;\n*) echo {};;\nesac\n",
            folder.path().display()
        ),
    );
    let error = found(&bare);
    assert_eq!(error.code(), "target_missing");
    assert!(error.to_string().contains("rustup target add wasm32-wasip1"), "{error}");
}
