//! What no bundle is.

use retort::Coded;
use retort::bundle::{Expect, load};
use retort::internal::codes;

use super::{Recipe, Stored, TestGate};

#[test]
fn a_function_that_is_absent_or_something_else_is_not_found() {
    for wat in [
        "(module)",
        "(module (func (export \"other\") (param i32 i32) (result i64) i64.const 0))",
        "(module (global (export \"extract\") i64 (i64.const 0)))",
        "(module (memory (export \"extract\") 1))",
    ] {
        let recipe = Recipe { module: wat::parse_str(wat).unwrap(), ..Recipe::default() };
        let error = Stored::new(&recipe).load().unwrap_err();
        assert_eq!(error.entry(), codes::FUNCTION_NOT_FOUND, "{wat}: {error}");
        assert!(error.path().ends_with("extractor.wasm"), "{error}");
    }
}

#[test]
fn no_directory_is_no_manifest() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("file"), "").unwrap();
    for name in ["absent", "file", "."] {
        let path = root.path().join(name);
        let error = load(&path, &Expect::default(), &TestGate::default()).unwrap_err();
        assert_eq!(error.entry(), codes::MANIFEST_MISSING, "{name}: {error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}
