//! Guests that do what they are told for each event: the events carry the number of an outcome, and the guest returns the data
//! that lies there, or traps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use retort::Limits;
use retort::gate::{StructuralLimits, inspect};
use retort::render::compile_text;
use retort::sandbox::Extractor;
use serde_json::json;

use crate::support::sandbox;

/// What a guest does for one event.
pub(crate) enum Does {
    #[allow(dead_code, reason = "of cases alone")]
    Returns(String),
    Traps(&'static str),
}

/// A guest that does what `outcomes` say, by the number that the event holds as `outcome`.
pub(crate) fn guest(outcomes: &[Does], event_types: &BTreeSet<&str>) -> Vec<u8> {
    const DATA: usize = 1 << 16;
    let section = json!({"abi": 1, "function": "extract", "event_types": event_types,
        "inputs": [{"path": ["outcome"]}]});
    let (mut body, mut data, mut at) = (String::new(), String::new(), DATA);
    for (number, outcome) in outcomes.iter().enumerate() {
        let digit = usize::from(b'0') + number;
        let then = match outcome {
            Does::Traps(code) => (*code).to_owned(),
            Does::Returns(text) => {
                let packed = at << 32 | text.len();
                writeln!(data, "(data (i32.const {at}) {text:?})").unwrap();
                at += text.len();
                format!("(return (i64.const {packed}))")
            }
        };
        writeln!(body, "(if (i32.eq (local.get $digit) (i32.const {digit})) (then {then}))")
            .unwrap();
    }
    let text = format!(
        r#"(module
            (memory (export "memory") 4 4)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 8))
            (func (export "extract") (param $block i32) (param i32) (result i64) (local $digit i32)
                ;; The text of slot 0: its offset stands 12 bytes behind the start of the block.
                (local.set $digit (i32.load8_u (i32.add (local.get $block)
                    (i32.load offset=12 (local.get $block)))))
                {body}
                unreachable)
            {data}
            (@custom "retort" {section:?}))"#,
        section = section.to_string(),
    );
    compile_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn load(module: &[u8], limits: Limits) -> Extractor {
    let inspected = inspect(module, &StructuralLimits::default()).unwrap();
    sandbox(limits).load(&inspected).unwrap()
}
