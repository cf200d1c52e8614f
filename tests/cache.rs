//! The cache of native code: what this host wrote is used again, and nothing else ever is.

mod attacks;
mod directory;
mod verdicts;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::sandbox::{
    Allocator, Cache, CacheReport, ForeignModules, Isolation, ModuleLoadError, Options, Pool,
    Sandbox,
};
use retort::{Coded as _, Limits, plan};

use crate::support::{rendered, workspace_root};

const EVENT: &[u8] = br#"{"event_type":"e","k":1,"v":"x"}"#;

/// An extractor whose result names `entity`, so that one can be told from the other.
fn extractor(entity: &str) -> Inspected {
    let plan = format!(
        r#"{{"event_type": "e", "target_entity_name": "{entity}", "function_name": "f",
            "key_field": {{"property_name": "k", "source_path": ["k"]}},
            "property_fields": [{{"property_name": "v", "source_path": ["v"]}}]}}"#,
    );
    rendered(&plan::parse(&plan).unwrap())
}

/// Where a host has its directories: in one of its own that goes when this does, or in one that is given.
enum Root {
    Own(tempfile::TempDir),
    Given(PathBuf),
}

impl Root {
    fn path(&self) -> &Path {
        match self {
            Self::Own(root) => root.path(),
            Self::Given(path) => path,
        }
    }
}

/// A directory for a cache, and an extractor of which there may be an entry.
struct Host {
    root: Root,
    extractor: Inspected,
    max_bytes: Option<u64>,
}

impl Host {
    fn new() -> Self {
        let root = Root::Own(tempfile::tempdir().unwrap());
        Self { root, extractor: extractor("E"), max_bytes: None }
    }

    /// A host whose cache has an entry of its extractor.
    fn warmed() -> Self {
        let host = Self::new();
        let report = host.serve();
        assert_eq!((report.hits, report.misses, report.warnings.len()), (0, 1, 0), "{report:?}");
        host
    }

    fn directory(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    fn key(&self) -> PathBuf {
        self.directory().join("key")
    }

    /// The entries that there are.
    fn entries(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory()).unwrap().map(|entry| entry.unwrap().path());
        let mut entries: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "native")).collect();
        entries.sort();
        entries
    }

    fn entry(&self) -> PathBuf {
        let mut entries = self.entries();
        assert_eq!(entries.len(), 1, "{entries:?}");
        entries.remove(0)
    }

    fn cache(&self) -> Cache {
        let mut cache = Cache::new(self.directory());
        cache.max_bytes = self.max_bytes.unwrap_or(cache.max_bytes);
        cache
    }

    fn sandbox(&self) -> Sandbox {
        let cache = Some(self.cache());
        Sandbox::with_options(options!(Options { cache, ..Options::default() })).unwrap()
    }

    /// Loads the extractor as a new process would, has it serve an event rightly, and gives what the cache says to that.
    fn serve(&self) -> CacheReport {
        serve(&self.sandbox(), &self.extractor, "E")
    }

    /// What the cache says to a load now, which it must not have an entry for, and then that it has one again.
    fn rebuilt(&self) -> Vec<(&'static str, String)> {
        let report = self.serve();
        assert_eq!((report.hits, report.misses), (0, 1), "{report:?}");
        let again = self.serve();
        assert_eq!((again.hits, again.misses, again.warnings.len()), (1, 0, 0), "{again:?}");
        report.warnings.iter().map(|warning| (warning.code(), warning.to_string())).collect()
    }
}

fn serve(sandbox: &Sandbox, extractor: &Inspected, entity: &str) -> CacheReport {
    let mut runner = sandbox.load(extractor).unwrap().runner();
    let json = String::from_utf8(runner.run(EVENT).unwrap().json.to_vec()).unwrap();
    assert!(json.contains(&format!(r#""entity_name":"{entity}""#)), "{json}");
    sandbox.cache_report()
}

#[test]
fn a_module_is_compiled_once() {
    let host = Host::warmed();
    for _ in 0..2 {
        let report = host.serve();
        assert_eq!((report.hits, report.misses, report.warnings.len()), (1, 0, 0), "{report:?}");
    }
    assert_eq!(host.entries().len(), 1);
}

#[test]
fn what_comes_from_the_cache_serves_as_what_is_compiled_does() {
    let host = Host::warmed();
    let compiled = Sandbox::new(Limits::default()).unwrap();
    let run = |sandbox: &Sandbox| {
        let mut runner = sandbox.load(&host.extractor).unwrap().runner();
        let outcome = runner.run(EVENT).unwrap();
        (outcome.json.to_vec(), outcome.fuel)
    };
    assert_eq!(run(&host.sandbox()), run(&compiled));
    // Limits hold in it: they are compiled in.
    let limits = options!(Limits { fuel_base: 10, fuel_per_byte: 0, ..Limits::default() });
    let sandbox = Sandbox::with_options(options!(Options {
        limits,
        cache: Some(host.cache()),
        ..Options::default()
    }))
    .unwrap();
    let mut runner = sandbox.load(&host.extractor).unwrap().runner();
    assert_eq!(runner.run(EVENT).unwrap_err().code(), "out_of_fuel");
    assert_eq!(sandbox.cache_report().hits, 1);
}

#[test]
fn tenants_of_an_engine_share_its_cache() {
    let host = Host::warmed();
    let sandbox = host.sandbox();
    let tenant = sandbox.for_tenant(Limits::default(), Isolation::PerEvent).unwrap();
    assert_eq!(serve(&tenant, &host.extractor, "E").hits, 1);
    assert_eq!(serve(&sandbox, &host.extractor, "E").hits, 2);
}

#[test]
fn a_module_that_nobody_may_compile_does_not_come_from_the_cache_either() {
    let text = fs::read_to_string(workspace_root().join("tests/cache/foreign.wat")).unwrap();
    let wasm = wat::parse_str(text).unwrap();
    let foreign = inspect(&wasm, &StructuralLimits::default()).unwrap();
    let host = Host::new();
    let with = |foreign| {
        let cache = Some(host.cache());
        Sandbox::with_options(options!(Options { cache, foreign, ..Options::default() })).unwrap()
    };
    for misses in [1, 0] {
        let trusting = with(ForeignModules::InProcess);
        trusting.load(&foreign).unwrap();
        assert_eq!(trusting.cache_report().misses, misses);
    }
    let refusing = with(ForeignModules::Refuse);
    assert_eq!(refusing.load(&foreign).unwrap_err(), ModuleLoadError::Foreign);
    assert_eq!(refusing.cache_report(), CacheReport::default());
}

#[test]
fn engines_that_compile_differently_have_entries_of_their_own() {
    let host = Host::warmed();
    let pooled = || {
        let allocator = Allocator::Pooling(Pool { instances: 4, ..Pool::default() });
        let cache = Some(host.cache());
        Sandbox::with_options(options!(Options { allocator, cache, ..Options::default() })).unwrap()
    };
    for _ in 0..2 {
        // Whether an engine with a pool compiles as one without is wasmtime's affair.
        let report = serve(&pooled(), &host.extractor, "E");
        assert!(report.warnings.is_empty(), "{report:?}");
    }
    let report = host.serve();
    assert_eq!((report.hits, report.warnings.len()), (1, 0), "{report:?}");
}

#[test]
fn the_oldest_entries_make_room() {
    let mut host = Host::warmed();
    let bytes = fs::metadata(host.entry()).unwrap().len();
    let oldest = host.entry();
    // Room for two and a bit: the sizes of the others differ from the first by a few bytes at most.
    host.max_bytes = Some(bytes * 5 / 2);
    for entity in ["F", "G"] {
        // File times may be coarse.
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
        for entry in host.entries() {
            let file = fs::File::options().write(true).open(&entry).unwrap();
            let is_oldest = entry == oldest;
            file.set_modified(long_ago + std::time::Duration::from_secs(u64::from(!is_oldest)))
                .unwrap();
        }
        let report = serve(&host.sandbox(), &extractor(entity), entity);
        assert!(report.warnings.is_empty(), "{report:?}");
    }
    assert_eq!(host.entries().len(), 2);
    assert!(!oldest.exists(), "the oldest is gone");
    let sandbox = host.sandbox();
    serve(&sandbox, &extractor("F"), "F");
    assert_eq!(serve(&sandbox, &extractor("G"), "G").hits, 2);
}

#[test]
fn an_entry_that_does_not_fit_is_not_kept() {
    let mut host = Host::new();
    host.max_bytes = Some(1000);
    let report = host.serve();
    assert_eq!(report.misses, 1);
    let [warning] = report.warnings.as_slice() else { panic!("{report:?}") };
    assert_eq!(warning.code(), "cache_entry_not_kept");
    assert!(warning.to_string().contains("expected at most 1000 bytes"), "{warning}");
    assert!(host.entries().is_empty());
}

/// Serves four extractors in this order of its own, from a cache that others use at the same time.
fn serve_four(host: &Host, at: usize) -> CacheReport {
    let sandbox = host.sandbox();
    for i in 0..4 {
        let entity = ["E", "F", "G", "H"][(i + at) % 4];
        serve(&sandbox, &extractor(entity), entity);
    }
    sandbox.cache_report()
}

/// What has to be there after many wrote at once: whole entries, and nothing besides.
fn assert_whole(host: &Host) {
    assert_eq!(host.entries().len(), 4);
    let report = serve_four(host, 0);
    assert_eq!((report.hits, report.warnings.len()), (4, 0), "{report:?}");
    let names = names(&host.directory());
    assert_eq!(names.len(), 6, "four entries, the key and the lock: {names:?}");
}

#[test]
fn threads_at_once_do_not_get_in_each_others_way() {
    let host = Host::new();
    let reports: Vec<CacheReport> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|at| {
                scope.spawn({
                    let host = &host;
                    move || serve_four(host, at)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for report in &reports {
        assert_eq!(report.hits + report.misses, 4);
        assert!(report.warnings.is_empty(), "{report:?}");
    }
    assert_whole(&host);
}

/// Names the directory that a process of the test below is to work in.
const ROOT: &str = "RETORT_TEST_CACHE_ROOT";

/// One of the processes of the test below; by itself it does nothing.
#[test]
fn as_one_of_several_processes() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    let host = Host { root: Root::Given(root.into()), ..Host::new() };
    let report = serve_four(&host, std::process::id() as usize);
    assert_eq!(report.hits + report.misses, 4);
    assert!(report.warnings.is_empty(), "{report:?}");
}

#[test]
fn processes_at_once_do_not_get_in_each_others_way() {
    let host = Host::new();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cache::as_one_of_several_processes"])
            .env(ROOT, host.root.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for child in [start(), start(), start(), start()] {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
    assert_whole(&host);
}

fn names(directory: &Path) -> Vec<std::ffi::OsString> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}
