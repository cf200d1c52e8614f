//! What becomes of results that aren't what they are proven to be. No way is known to get such a proof, so these take what
//! differs in a byte from what was rendered for it.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::num::NonZeroU32;

use super::Runner;
use crate::diagnostics::problem::Coded;
use crate::gate::inspect::{self, Inspected, StructuralLimits, prove};
use crate::plan;
use crate::render::{self, Compiled, compile};
use crate::sandbox::{Extractor, Options, Sandbox};

const WITH: &[u8] = br#"{"event_type":"e","k":"key","v":"value"}"#;
const WITHOUT: &[u8] = br#"{"event_type":"e","k":"key"}"#;
const DECLINED: &[u8] = br#"{"event_type":"other"}"#;

/// A plan with one property besides its key.
fn rendered(property: &str) -> Compiled {
    let plan = r#"{"event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "k", "source_path": ["k"]},
        "property_fields": [{"property_name": "PROPERTY", "source_path": ["v"]}]}"#;
    let plan = plan::parse(&plan.replace("PROPERTY", property)).unwrap();
    compile::compile(render::render(&plan).unwrap()).unwrap()
}

fn inspected(module: &[u8]) -> Option<Inspected> {
    inspect::inspect(module, &StructuralLimits::default()).ok()
}

/// The same module where the quote before the name of its property is another character.
fn broken(rendered: &Compiled) -> Vec<u8> {
    let mut module = rendered.module().to_vec();
    let name = br#""name":"v""#;
    let at = module.windows(name.len()).position(|text| text == name).unwrap();
    module[at] = b'x';
    module
}

fn sandbox(check_one_in: u32) -> Sandbox {
    let check_one_in = NonZeroU32::new(check_one_in).unwrap();
    Sandbox::with_options(Options { check_one_in, ..Options::default() }).unwrap()
}

/// A module, taken for what was rendered.
fn mistaken(module: &[u8], rendered: &Compiled, check_one_in: u32) -> Extractor {
    let inspected = prove::by_mistake(inspected(module).unwrap(), rendered);
    let extractor = sandbox(check_one_in).load(&inspected).unwrap();
    assert!(extractor.is_reset_safe() && extractor.knows_results());
    extractor
}

fn code(runner: &mut Runner, event: &[u8]) -> &'static str {
    runner.run(event).map_or_else(|error| error.code(), |_| "ok")
}

#[test]
fn what_differs_in_a_byte_is_not_taken_for_what_was_rendered() {
    let rendered = rendered("v");
    let same = prove::by_rendering(inspected(rendered.module()).unwrap(), &rendered);
    assert!(same.result_form().is_some());
    let mut tried = 0;
    for at in 0..rendered.module().len() {
        let mut module = rendered.module().to_vec();
        module[at] ^= 1;
        let Some(inspected) = inspected(&module) else { continue };
        let near = prove::by_rendering(inspected, &rendered);
        assert!(near.result_form().is_none(), "byte {at}");
        // The verifier proves that nothing is kept, and says nothing of the result.
        assert!(prove::by_verification(near).result_form().is_none(), "byte {at}");
        tried += 1;
    }
    assert!(tried > 500, "{tried}");
}

#[test]
fn a_result_that_is_read_refutes_what_is_proven_of_all() {
    let rendered = rendered("v");
    let extractor = mistaken(&broken(&rendered), &rendered, 64);
    let (mut runner, mut other) = (extractor.runner(), extractor.runner());
    assert_eq!(code(&mut other, WITHOUT), "ok");
    // The first result of every runner is read.
    let error = runner.run(WITH).unwrap_err();
    assert_eq!(error.code(), "proof_refuted", "{error}");
    assert!(error.is_of_host() && error.to_string().contains("not JSON"), "{error}");
    assert!(!extractor.is_reset_safe() && !extractor.knows_results());
    // From then on it is an extractor of which nothing is proven, in all runners.
    for runner in [&mut runner, &mut other] {
        assert_eq!(code(runner, WITHOUT), "ok");
        *runner.guest.as_mut().unwrap().memory().last_mut().unwrap() = 0xa5;
        assert_eq!(code(runner, WITH), "result_not_json");
        assert_eq!(code(runner, WITHOUT), "ok");
        assert_eq!(runner.guest.as_mut().unwrap().memory().last(), Some(&0));
    }
}

#[test]
fn which_results_are_read_is_counted() {
    let rendered = rendered("v");
    let module = broken(&rendered);
    for (check_one_in, first_read) in [(1, 1), (2, 2), (3, 3), (64, 64)] {
        let mut runner = mistaken(&module, &rendered, check_one_in).runner();
        assert_eq!(code(&mut runner, WITHOUT), "ok");
        for event in 1..first_read {
            // Results of declined events are counted like others, and the same ones are read every time.
            let expected = if event % 2 == 0 { DECLINED } else { WITH };
            assert_eq!(code(&mut runner, expected), "ok", "{event} of {check_one_in}");
        }
        assert_eq!(code(&mut runner, WITH), "proof_refuted", "{check_one_in}");
    }
    // A gate reads all of them.
    let mut gate = mistaken(&module, &rendered, 64).runner().checking_all();
    assert_eq!(code(&mut gate, WITHOUT), "ok");
    assert_eq!(code(&mut gate, WITH), "proof_refuted");
}

#[test]
fn a_result_of_another_length_refutes_without_being_read() {
    let (one, other) = (rendered("v"), rendered("name"));
    let mut runner = mistaken(one.module(), &other, 64).runner();
    assert_eq!(code(&mut runner, DECLINED), "ok");
    assert_eq!(code(&mut runner, WITHOUT), "ok");
    let error = runner.run(WITH).unwrap_err();
    assert_eq!(error.code(), "proof_refuted");
    assert!(error.to_string().contains("bytes for this block"), "{error}");
    // The module itself is as good as any that nothing is proven of.
    assert_eq!(code(&mut runner, WITH), "ok");
}
