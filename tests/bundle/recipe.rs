//! Bundles to be stored and loaded, and a gate that stands in for the real ones.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use retort::Store;
use retort::bundle::{
    BundleLoadError, Contents, Digest, Expect, Loaded, Manifest, ModuleGate, ModuleRefusal,
    Versions, load,
};
use serde_json::Value;
use wasmtime::{Engine, ExternType, Instance, Module, Store as WasmStore, ValType};

/// A small stand-in for the inspect gate and the sandbox: validation, then instantiation, then
/// the manifest's function.
#[derive(Default)]
pub(crate) struct TestGate {
    pub(crate) admissions: Cell<usize>,
}

static ENGINE: LazyLock<Engine> = LazyLock::new(Engine::default);

impl ModuleGate for TestGate {
    type Module = usize;

    fn admit(
        &self,
        module: &[u8],
        _plan: Option<&[u8]>,
        manifest: &Manifest,
    ) -> Result<usize, ModuleRefusal> {
        self.admissions.set(self.admissions.get() + 1);
        wasmparser::validate(module).map_err(|e| ModuleRefusal::Rejected(e.to_string()))?;
        let failed = |e: wasmtime::Error| ModuleRefusal::LoadFailed(format!("{e:?}"));
        let compiled = Module::new(&ENGINE, module).map_err(failed)?;
        Instance::new(&mut WasmStore::new(&ENGINE, ()), &compiled, &[]).map_err(failed)?;
        let name = manifest.function_name();
        let Some(ExternType::Func(function)) = compiled.get_export(name) else {
            return Err(ModuleRefusal::FunctionNotFound(format!("no function `{name}`")));
        };
        let fits = matches!(
            (
                function.params().collect::<Vec<_>>().as_slice(),
                function.results().collect::<Vec<_>>().as_slice()
            ),
            ([ValType::I32, ValType::I32], [ValType::I64])
        );
        if !fits {
            return Err(ModuleRefusal::SignatureMismatch(format!("`{name}` is {function}")));
        }
        Ok(module.len())
    }
}

/// What a bundle of these tests is made of.
#[derive(Clone)]
pub(crate) struct Recipe {
    pub(crate) module_name: String,
    pub(crate) function_name: String,
    pub(crate) event_types: Vec<String>,
    pub(crate) module: Vec<u8>,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            module_name: "extractor".to_owned(),
            function_name: "extract".to_owned(),
            event_types: vec!["order".to_owned()],
            module: module_of_type("(param i32 i32) (result i64) i64.const 0"),
        }
    }
}

/// A module whose function `extract` is this.
pub(crate) fn module_of_type(function: &str) -> Vec<u8> {
    wat::parse_str(format!("(module (func (export \"extract\") {function}))")).unwrap()
}

impl Recipe {
    pub(crate) fn of_types(event_types: &[&str]) -> Self {
        let event_types = event_types.iter().map(|name| (*name).to_owned()).collect();
        Self { event_types, ..Self::default() }
    }

    pub(crate) fn contents(&self) -> Contents<'_> {
        Contents {
            module_name: &self.module_name,
            name: None,
            function_name: &self.function_name,
            event_types: &self.event_types,
            plan: Some(b"{\"event_type\":\"order\"}\n"),
            source: Some(b"(module)\n"),
            rust: None,
            module: &self.module,
            graph: b"{\"entities\":[]}\n",
            limits: b"{\"fuel\":1000}\n",
            event_schema: None,
            rule: Some(b"Every order is a node.\n"),
            versions: Versions {
                abi: 1,
                compiler_package: "0.1.0",
                template: "v1",
                transcript_builder: "tb-1",
                rust: None,
            },
        }
    }

    /// Stores the bundle and returns its directory.
    pub(crate) fn store(&self, root: &Path) -> PathBuf {
        let created_at = "2026-05-08T00:00:00Z".parse().unwrap();
        Store::open(root).unwrap().put(&self.contents(), created_at).unwrap()
    }
}

/// A stored bundle in a directory of its own.
pub(crate) struct Stored {
    pub(crate) root: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl Stored {
    pub(crate) fn new(recipe: &Recipe) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = recipe.store(root.path());
        Self { root, path }
    }

    pub(crate) fn load(&self) -> Result<Loaded<usize>, BundleLoadError> {
        load(&self.path, &Expect::default(), &TestGate::default())
    }

    pub(crate) fn read_manifest(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.path.join("manifest.json")).unwrap()).unwrap()
    }

    /// Writes a manifest whose digest of itself is right, whatever else it says.
    pub(crate) fn write_manifest(&self, manifest: Value) {
        std::fs::write(self.path.join("manifest.json"), sealed(manifest)).unwrap();
    }

    /// Overwrites a file and its digest in the manifest.
    pub(crate) fn forge(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path.join(name), bytes).unwrap();
        let mut manifest = self.read_manifest();
        manifest["files"][name] = Digest::of(bytes).to_string().into();
        self.write_manifest(manifest);
    }
}

/// Stores a bundle and gives its directory another name.
pub(crate) fn store_as(root: &Path, name: &str, recipe: &Recipe) {
    std::fs::rename(recipe.store(root), root.join(name)).unwrap();
}

/// The text of a manifest with its own digest set right.
pub(crate) fn sealed(mut manifest: Value) -> String {
    let text = |value: &Value| format!("{}\n", serde_json::to_string_pretty(value).unwrap());
    if let Some(files) = manifest.get_mut("files").and_then(Value::as_object_mut) {
        files.remove("manifest.json");
        let digest = Digest::of(text(&manifest).as_bytes()).to_string();
        manifest["files"]["manifest.json"] = digest.into();
    }
    text(&manifest)
}
