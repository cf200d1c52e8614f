//! The hand-written functions of the templates that are known, and what the proof takes from them.
//!
//! Their bodies are compared byte for byte; what they do was proven by hand (docs/proof.md) and is what
//! [`Callee`] says of them. They come first in a module, and the constants that they name are its
//! first globals, so that the same bytes mean the same.

use std::sync::LazyLock;

use wasmparser::{Parser, Payload};

use super::callee::Callee;
use super::module::Module;
use super::reason::{Obligation, Unproven};
use crate::render::compile::compile_text;

/// A hand-written function.
struct KnownFunction {
    name: &'static str,
    callee: Callee,
}

/// The prelude of templates wat-1 and wat-2.
const PRELUDE: [KnownFunction; 4] = [
    KnownFunction { name: "retort_buffer", callee: Callee::None },
    KnownFunction { name: "copy_long", callee: Callee::CopyLong },
    KnownFunction { name: "put", callee: Callee::None },
    KnownFunction { name: "put_text", callee: Callee::PutText },
];

/// What template wat-2 puts after it in some modules.
const LISTS: [KnownFunction; 3] = [
    KnownFunction { name: "open_list", callee: Callee::OpenList },
    KnownFunction { name: "room", callee: Callee::Room },
    KnownFunction { name: "too_large", callee: Callee::TooLarge },
];

const PRELUDE_TEXT: &str = include_str!("templates/prelude-1.wat");
const LISTS_TEXT: &str = include_str!("templates/lists-2.wat");

/// A function as it appears in a module.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Function {
    ty: wasmparser::FuncType,
    body: Vec<u8>,
}

static FUNCTIONS: LazyLock<Vec<Function>> = LazyLock::new(|| {
    let constants = "(global i32 (i32.const 0))";
    let named = ["input", "input_cap", "output", "output_cap"]
        .map(|name| constants.replacen("global", &format!("global ${name}"), 1))
        .concat();
    let text = format!("(module (memory 1 1) {named} {PRELUDE_TEXT} {LISTS_TEXT})");
    functions(&compile_text(&text).expect("the frozen text compiles, as a test shows"))
});

fn functions(wasm: &[u8]) -> Vec<Function> {
    let mut types = Vec::new();
    let mut of_functions = Vec::new();
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(wasm).map_while(Result::ok) {
        match payload {
            Payload::TypeSection(section) => {
                types.extend(section.into_iter_err_on_gc_types().map_while(Result::ok));
            }
            Payload::FunctionSection(section) => {
                of_functions.extend(section.into_iter().map_while(Result::ok));
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes().to_vec()),
            _ => {}
        }
    }
    let ty = |index: u32| types.get(index as usize).cloned();
    let functions = of_functions.into_iter().zip(bodies);
    functions.filter_map(|(index, body)| Some(Function { ty: ty(index)?, body })).collect()
}

/// The hand-written functions that a module begins with.
pub(super) struct HandWritten {
    /// The first template that had them.
    pub(super) version: &'static str,
    pub(super) callees: Vec<Callee>,
}

/// Holds the functions that a module begins with against the templates.
pub(super) fn of(module: &Module<'_>) -> Result<HandWritten, Unproven> {
    let is_same = |index: usize, known: &Function| {
        module.bodies.get(index).is_some_and(|body| body.as_bytes() == known.body)
            && u32::try_from(index).is_ok_and(|index| module.ty(index) == Some(&known.ty))
    };
    let (prelude, lists) = FUNCTIONS.split_at(PRELUDE.len());
    for (index, (known, function)) in PRELUDE.iter().zip(prelude).enumerate() {
        if !is_same(index, function) {
            let message =
                format!("expected ${} of a known template, got something else", known.name);
            return Err(Unproven::new(Obligation::Template, message).in_place(module.func(index)));
        }
    }
    let has_lists =
        lists.iter().enumerate().all(|(index, function)| is_same(PRELUDE.len() + index, function));
    let lists: &[KnownFunction] = if has_lists { &LISTS } else { &[] };
    Ok(HandWritten {
        version: if has_lists { "wat-2" } else { "wat-1" },
        callees: PRELUDE.iter().chain(lists).map(|known| known.callee).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frozen_text_is_the_functions_that_are_known() {
        assert_eq!(FUNCTIONS.len(), PRELUDE.len() + LISTS.len());
        let at = |text: &str, name: &str| text.find(&format!("(func ${name} "));
        for (known, text) in [(&PRELUDE[..], PRELUDE_TEXT), (&LISTS[..], LISTS_TEXT)] {
            let places: Vec<_> = known.iter().map(|known| at(text, known.name)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
        }
    }

    /// A template that changes needs its old text kept here, and a proof of what its new functions do.
    #[test]
    fn the_template_of_this_host_is_known() {
        assert_eq!(retort_guest_template::VERSION, "wat-2");
        let text = format!(
            "(module (memory 1 1) (global $input i32 (i32.const 0)) (global $input_cap i32 (i32.const 0)) \
             (global $output i32 (i32.const 0)) (global $output_cap i32 (i32.const 0)) {}\n{})",
            retort_guest_template::PRELUDE,
            retort_guest_template::LISTS
        );
        assert_eq!(functions(&compile_text(&text).expect("it compiles")), *FUNCTIONS);
    }
}
