//! Whether an instance can be put back as it was when it was new.

use serde::Serialize;
use thiserror::Error;
use wasmparser::ExternalKind;

use super::walk::{ModuleWalk, PAGE_BYTES};

/// Bytes that the memory of such a module may begin with: to know what is in it means to read all of it once.
const MAX_MEMORY_BYTES: u64 = 16 << 20;

/// Why an instance of a module can't be put back as it was when it was new: part of its state is out of the host's reach. Such a module
/// is slower, not wrong: a new instance takes the place of one that has served.
///
/// What an instance can change is its memory, its mutable globals, its table, and which of its segments it has dropped. Memory the host can
/// write, and globals that are exported.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unrestorable {
    /// It imports functions, and the host keeps state for these.
    #[error("it imports functions")]
    Imports,
    /// A global can change and isn't exported.
    #[error("global {index} is mutable and not exported")]
    Global {
        /// Its index.
        index: usize,
    },
    /// An operator changes the table or drops a segment.
    #[error("function {function} uses `{operator}`")]
    Operator {
        /// The index of the function.
        function: usize,
        /// The operator, as WebAssembly's text format writes it.
        operator: &'static str,
    },
    /// The memory is large from the beginning.
    #[error("its memory begins with {bytes} bytes, more than {allowed}")]
    Memory {
        /// Bytes that it begins with.
        bytes: u64,
        /// Bytes that it may begin with.
        allowed: u64,
    },
}

/// What speaks against it, if anything does.
pub(super) fn obstacle(walk: &ModuleWalk<'_>) -> Option<Unrestorable> {
    if !walk.granted_imports.is_empty() {
        return Some(Unrestorable::Imports);
    }
    let exports = walk.exports.as_deref().unwrap_or_default();
    let is_exported = |index: usize| {
        exports
            .iter()
            .any(|export| export.kind == ExternalKind::Global && export.index as usize == index)
    };
    let globals = walk.globals.iter().enumerate();
    let mut mutable = globals.filter(|(_, global)| global.mutable).map(|(index, _)| index);
    if let Some(index) = mutable.find(|index| !is_exported(*index)) {
        return Some(Unrestorable::Global { index });
    }
    let bodies = walk.functions.iter().enumerate();
    let mut lasting =
        bodies.filter_map(|(function, code)| Some((function, code.as_ref()?.lasting?)));
    if let Some((function, operator)) = lasting.next() {
        return Some(Unrestorable::Operator { function, operator });
    }
    let pages = walk.memories.first().map_or(0, |memory| memory.initial);
    let bytes = pages.saturating_mul(PAGE_BYTES);
    let allowed = MAX_MEMORY_BYTES;
    (bytes > allowed).then_some(Unrestorable::Memory { bytes, allowed })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::gate::inspect::{StructuralLimits, inspect};

    /// What speaks against a module with these fields and bodies.
    fn found(fields: &str, body: &str) -> Option<Unrestorable> {
        let text = format!(
            r#"(module
                (memory (export "memory") 1 80)
                (table 4 funcref)
                (elem $some func $f)
                (data $text "text")
                {fields}
                (func $f)
                (func (export "retort_buffer") (param i32) (result i32) (i32.const 16))
                (func (export "f") (param i32 i32) (result i64) {body} (i64.const 0))
                (@custom "retort" "{{\"abi\":1,\"function\":\"f\",\"event_types\":[\"e\"],\"inputs\":[],\"rows\":[]}}"))"#
        );
        let wasm = wat::parse_str(text).unwrap();
        let inspected = inspect(&wasm, &StructuralLimits::default())
            .unwrap_or_else(|refused| panic!("{refused}"));
        inspected.unrestorable().cloned()
    }

    #[test]
    fn what_the_host_can_reach_can_be_put_back() {
        assert_eq!(found("", ""), None);
        assert_eq!(found("(global i32 (i32.const 1))", ""), None);
        assert_eq!(found(r#"(global (export "at") (mut i64) (i64.const 1))"#, ""), None);
        let copies = "(memory.init $text (i32.const 0) (i32.const 0) (i32.const 4))";
        assert_eq!(found("", copies), None);
    }

    #[test]
    fn what_it_can_not_reach_is_named() {
        let global =
            r#"(global (export "at") (mut i32) (i32.const 1)) (global (mut i32) (i32.const 1))"#;
        assert_eq!(found(global, ""), Some(Unrestorable::Global { index: 1 }));
        let zeros = "(i32.const 0) (i32.const 0) (i32.const 0)";
        for (operator, body) in [
            ("data.drop", "(data.drop $text)".to_owned()),
            ("elem.drop", "(elem.drop $some)".to_owned()),
            ("table.copy", format!("(table.copy {zeros})")),
            ("table.init", format!("(table.init $some {zeros})")),
        ] {
            let function = 2;
            assert_eq!(found("", &body), Some(Unrestorable::Operator { function, operator }));
        }
    }
}
