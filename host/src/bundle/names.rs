//! Names that a manifest may hold.

use crate::plan::{is_identifier, is_reserved};

/// What a module's file name ends in.
pub(super) const MODULE_EXTENSION: &str = ".wasm";

/// The longest name without its extension, in bytes: file systems take 255 with the extension.
pub(super) const MAX_NAME_BYTES: usize = 200;

/// Whether a module may be named so: an identifier of any script that isn't reserved. Such a name
/// has no separator, no dot and no control character, so it lies in the bundle's own directory.
pub(super) fn is_module_name(name: &str) -> bool {
    name.chars().all(|c| c == '_' || c.is_alphanumeric())
        && name.starts_with(|c: char| c == '_' || c.is_alphabetic())
        && is_allowed(name)
}

/// Whether a function may be named so: by the rule for a plan's function names.
pub(super) fn is_function_name(name: &str) -> bool {
    is_identifier(name) && is_allowed(name)
}

fn is_allowed(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES && !is_reserved(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_names_are_identifiers_of_any_script() {
        for name in ["extractor", "_x1", "été", "抽出", "union", &"a".repeat(MAX_NAME_BYTES)] {
            assert!(is_module_name(name), "{name}");
        }
        let long = "a".repeat(MAX_NAME_BYTES + 1);
        for name in ["", "1a", "a.b", "..", "a/b", "a\\b", "a b", "a\0", "a\u{202e}", "fn", &long] {
            assert!(!is_module_name(name), "{name:?}");
        }
    }

    #[test]
    fn function_names_are_those_of_plans() {
        for name in ["extract_order", "_", "A9"] {
            assert!(is_function_name(name), "{name}");
        }
        for name in ["", "9a", "été", "a-b", "fn", "memory", "_start", "retort_buffer"] {
            assert!(!is_function_name(name), "{name:?}");
        }
    }
}
