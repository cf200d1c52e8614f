//! Verdicts of the gates that are kept: a bundle that was admitted once is held to its bytes, and to nothing else anew.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use retort::bundle::{BundleLoadError, Contents, Versions};
use retort::gate::{FieldPolicy, StructuralLimits};
use retort::render::{self, compile, compile_text};
use retort::sandbox::{Cache, CacheReport, ForeignModules, Options, Sandbox};
use retort::{Bundle, Coded as _, Pipeline, Store, TenantPolicy, plan};
use serde_json::json;

use super::{EVENT, workspace_root};

/// A host with a cache, and a bundle that it has loaded once.
struct Host {
    root: tempfile::TempDir,
    bundle: PathBuf,
}

impl Host {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let bundle = store(&root.path().join("bundles"), "E");
        Self { root, bundle }
    }

    fn warmed() -> Self {
        let host = Self::new();
        let (_, report) = host.load();
        assert_eq!((report.readmitted, report.misses, report.warnings.len()), (0, 1, 0));
        host
    }

    fn options(&self) -> Options {
        options!(Options { cache: Some(Cache::new(self.cache())), ..Options::default() })
    }

    fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    fn gates(&self) -> Pipeline {
        Pipeline::from(Sandbox::with_options(self.options()).unwrap())
    }

    /// Loads the bundle as a new process would.
    fn try_load(&self) -> (Result<Bundle, BundleLoadError>, CacheReport) {
        let gates = self.gates();
        let loaded = Bundle::open(&self.bundle, &gates);
        (loaded, gates.sandbox().cache_report())
    }

    fn load(&self) -> (Bundle, CacheReport) {
        let (loaded, report) = self.try_load();
        let loaded = loaded.unwrap();
        assert!(result(&loaded).contains(r#""entity_name":"E""#));
        (loaded, report)
    }

    fn verdict(&self) -> PathBuf {
        let entries = fs::read_dir(self.cache()).unwrap().map(|entry| entry.unwrap().path());
        let is_verdict = |path: &PathBuf| path.extension().is_some_and(|end| end == "verdict");
        let verdicts: Vec<_> = entries.filter(is_verdict).collect();
        let [verdict] = verdicts.as_slice() else { panic!("{verdicts:?}") };
        verdict.clone()
    }
}

fn store(root: &Path, entity: &str) -> PathBuf {
    let text = json!({
        "event_type": "e", "target_entity_name": entity, "function_name": "f",
        "key_field": {"property_name": "k", "source_path": ["k"]},
        "property_fields": [{"property_name": "v", "source_path": ["v"]}],
    })
    .to_string();
    let compiled = compile(render::render(&plan::parse(&text).unwrap()).unwrap()).unwrap();
    put(root, &text, compiled.source().text(), compiled.module(), "f", "e")
}

fn put(
    root: &Path,
    plan: &str,
    source: &str,
    module: &[u8],
    function: &str,
    event_type: &str,
) -> PathBuf {
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: function,
        event_types: &[event_type.to_owned()],
        plan: Some(plan.as_bytes()),
        source: Some(source.as_bytes()),
        rust: None,
        module,
        graph: b"{}",
        limits: b"{}",
        event_schema: Some(b"{\"type\":\"object\"}"),
        rule: Some(b"A rule.\n"),
        versions: Versions::CURRENT,
    };
    Store::open(root).unwrap().put(&contents, jiff::Timestamp::UNIX_EPOCH).unwrap()
}

fn result(bundle: &Bundle) -> String {
    String::from_utf8(bundle.runner().run(EVENT).unwrap().json.to_vec()).unwrap()
}

#[test]
fn what_was_admitted_once_is_the_same_when_it_is_loaded_again() {
    let host = Host::new();
    let (first, _) = host.load();
    for _ in 0..2 {
        let (again, report) = host.load();
        assert_eq!((report.readmitted, report.hits, report.misses), (1, 1, 0), "{report:?}");
        assert!(report.warnings.is_empty(), "{report:?}");
        assert_eq!(result(&again), result(&first));
        assert_eq!(again.fingerprint(), first.fingerprint());
        let (of_first, of_again) = (first.module(), again.module());
        assert!(of_again.extractor().is_reset_safe());
        // Also after so many that their form has been worked out.
        let mut runner = again.runner();
        for _ in 0..70 {
            assert_eq!(runner.run(EVENT).unwrap().json, result(&first).as_bytes());
        }
        assert!(of_again.extractor().knows_results());
        assert_eq!(of_again.extractor().section(), of_first.extractor().section());
        let text = |bundle: &Bundle| serde_json::to_string(bundle.module().inspected()).unwrap();
        assert_eq!(text(&again), text(&first));
        assert_eq!(of_again.plan(), of_first.plan());
    }
}

#[test]
fn a_verdict_is_about_the_bytes_of_a_bundle() {
    let host = Host::warmed();
    let names: Vec<_> = fs::read_dir(&host.bundle)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    for name in names {
        let path = host.bundle.join(&name);
        let whole = fs::read(&path).unwrap();
        for at in [0, whole.len() / 2, whole.len() - 1] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            // The same is said of it as where nothing is known of it.
            let (refused, report) = host.try_load();
            let without = Pipeline::builder().build().unwrap();
            assert_eq!(refused.unwrap_err(), Bundle::open(&host.bundle, &without).unwrap_err());
            assert_eq!(report.readmitted, 0, "{name} {at}");
        }
        fs::write(&path, [&whole[..], b"\n"].concat()).unwrap();
        assert!(host.try_load().0.is_err(), "{name}");
        fs::remove_file(&path).unwrap();
        assert!(host.try_load().0.is_err(), "{name}");
        fs::write(&path, whole).unwrap();
        assert_eq!(host.load().1.readmitted, 1);
    }
    fs::write(host.bundle.join("more"), "").unwrap();
    assert_eq!(host.try_load().0.unwrap_err().code(), "digest_mismatch");
}

#[test]
fn gates_that_are_configured_otherwise_judge_for_themselves() {
    let host = Host::warmed();
    let open = |builder: retort::bundle::PipelineBuilder| {
        let gates = builder.options(host.options()).build().unwrap();
        let loaded = Bundle::open(&host.bundle, &gates);
        (
            loaded.map(|_| ()).map_err(|error| error.code()),
            gates.sandbox().cache_report().readmitted,
        )
    };
    assert_eq!(open(Pipeline::builder()), (Ok(()), 1));
    let denying = FieldPolicy::parse(r#"{"deny": [{"path": "v", "reason": "private"}]}"#, "p");
    let denying = TenantPolicy::from(denying.unwrap());
    assert_eq!(open(Pipeline::builder().tenant(&denying)), (Err("module_rejected"), 0));
    let harmless = FieldPolicy::parse(r#"{"deny": [{"path": "w", "reason": "private"}]}"#, "p");
    let harmless = TenantPolicy::from(harmless.unwrap());
    assert_eq!(open(Pipeline::builder().tenant(&harmless)), (Ok(()), 0));
    assert_eq!(open(Pipeline::builder().tenant(&harmless)), (Ok(()), 1));
    let mut narrow = StructuralLimits::default();
    narrow.module_bytes = 100;
    assert_eq!(open(Pipeline::builder().structure(narrow)), (Err("module_rejected"), 0));
}

#[test]
fn a_verdict_has_nobody_compile_what_nobody_may() {
    let text = fs::read_to_string(workspace_root().join("tests/cache/foreign.wat")).unwrap();
    let root = tempfile::tempdir().unwrap();
    let module = compile_text(&text).unwrap();
    let found = retort::gate::inspect(&module, &StructuralLimits::default()).unwrap();
    let (function, types) = (found.section().function(), found.section().event_types());
    let bundle = put(&root.path().join("bundles"), "{}", &text, &module, function, &types[0]);
    let open = |foreign| {
        let cache = Some(Cache::new(root.path().join("cache")));
        let options = options!(Options { cache, foreign, ..Options::default() });
        let gates = Pipeline::from(Sandbox::with_options(options).unwrap());
        let code = Bundle::open(&bundle, &gates).map(|_| ()).map_err(|error| error.code());
        (code, gates.sandbox().cache_report().readmitted)
    };
    assert_eq!(open(ForeignModules::InProcess), (Ok(()), 0));
    assert_eq!(open(ForeignModules::InProcess), (Ok(()), 1));
    assert_eq!(open(ForeignModules::Refuse), (Err("load_failed"), 0));
}

#[test]
fn a_verdict_that_this_host_did_not_write_is_refused_told_and_replaced() {
    let host = Host::warmed();
    let verdict = host.verdict();
    let whole = fs::read(&verdict).unwrap();
    let other = Host::warmed();
    let of_another_host = fs::read(other.verdict()).unwrap();
    assert_ne!(of_another_host, whole);
    let of_another_bundle = {
        let moved = host.root.path().join("moved");
        fs::rename(&verdict, &moved).unwrap();
        let gates = host.gates();
        Bundle::open(store(&host.root.path().join("others"), "F"), &gates).unwrap();
        let found = fs::read(host.verdict()).unwrap();
        fs::remove_file(host.verdict()).unwrap();
        fs::rename(moved, &verdict).unwrap();
        found
    };
    assert_ne!(of_another_bundle, whole);
    let flipped = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        bytes
    });
    let planted = [Vec::new(), whole[1..].to_vec(), [&whole[..], b"r"].concat()];
    let planted = planted.into_iter().chain([of_another_host, of_another_bundle]).chain(flipped);
    for bytes in planted {
        fs::write(&verdict, &bytes).unwrap();
        let (_, report) = host.load();
        assert_eq!((report.readmitted, report.hits), (0, 1), "{report:?}");
        let [warning] = report.warnings.as_slice() else { panic!("{report:?}") };
        assert_eq!(warning.code(), "cache_entry_refused");
        assert!(warning.to_string().contains("the bundle was judged anew"), "{warning}");
        assert_eq!(fs::read(&verdict).unwrap(), whole);
        assert_eq!(host.load().1.readmitted, 1);
    }
    fs::set_permissions(&verdict, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(host.load().1.warnings.len(), 1);
}

#[test]
fn a_verdict_without_native_code_is_none() {
    let host = Host::warmed();
    for entry in fs::read_dir(host.cache()).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.extension().is_some_and(|end| end == "native") {
            fs::remove_file(entry).unwrap();
        }
    }
    let (_, report) = host.load();
    assert_eq!((report.readmitted, report.hits, report.misses), (0, 0, 1), "{report:?}");
    assert_eq!(host.load().1.readmitted, 1);
}
