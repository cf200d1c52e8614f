//! Rendered source: `tests/render/*.json` are plans with an event, `*.snap` what becomes of them.

use libtest_mimic::Trial;
use retort::Limits;
use retort::graph::Extraction;
use retort::internal::section::SECTION_NAME;
use retort::plan::{self, Plan, eval};
use retort::render::{self, compile};
use retort::sandbox::Sandbox;
use serde_json::Value;

use crate::support::rendered;
use crate::trial::{json_of, of_files, snapshots, stem};

pub(crate) fn trials() -> Vec<Trial> {
    of_files("render::", "tests/render", "json", |path| {
        let case: Value = json_of(path);
        let plan = plan::from_value(&case["plan"]).unwrap();
        source_result_and_fuel_are_as_recorded(&stem(path), &plan, &case["event"].to_string());
        the_same_plan_gives_the_same_bytes(&plan);
        the_module_keeps_names_and_has_one_section(&plan);
    })
}

/// The source, what it makes of the event, and the fuel that this takes, which no machine and no load can change.
fn source_result_and_fuel_are_as_recorded(name: &str, plan: &Plan, event: &str) {
    let source = render::render(plan).unwrap();
    assert!(source.text().is_ascii());
    let extractor = Sandbox::new(Limits::default()).unwrap().load(&rendered(plan)).unwrap();
    let mut runner = extractor.runner().checking_all();
    let mut runs = (0..3).map(|_| {
        let outcome = runner.run(event.as_bytes()).unwrap();
        let fuel = (outcome.fuel - outcome.conversion_fuel, outcome.conversion_fuel);
        (String::from_utf8(outcome.json.to_vec()).unwrap(), fuel)
    });
    let (result, fuel) = runs.next().unwrap();
    assert!(runs.all(|again| again == (result.clone(), fuel)));
    let found: Extraction = serde_json::from_str(&result).unwrap();
    assert_eq!(found, eval(plan, event).unwrap());
    let (guest, host) = fuel;
    let result = ascii(&result);
    let text =
        format!("{};; result: {result}\n;; fuel: {guest}, and {host} for values\n", source.text());
    snapshots("render").bind(|| insta::assert_snapshot!(name, text));
}

/// Text without characters that a reader of the snapshot couldn't see.
fn ascii(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_ascii_graphic() { vec![c] } else { c.escape_default().collect() })
        .collect()
}

fn the_same_plan_gives_the_same_bytes(plan: &Plan) {
    let again = plan::parse(&serde_json::to_string(plan).unwrap()).unwrap();
    let [first, second] =
        [plan, &again].map(|plan| compile(render::render(plan).unwrap()).unwrap());
    assert_eq!(first, second);
}

fn the_module_keeps_names_and_has_one_section(plan: &Plan) {
    let inspected = rendered(plan);
    let printed = wasmprinter::print_bytes(inspected.wasm()).unwrap();
    for name in ["$read", "$retort_buffer", "$put_text", "$copy_long", "$input_cap", "$block"] {
        assert!(printed.contains(name), "{name}");
    }
    let facts = inspected.facts();
    let sections = facts.sections.iter().filter(|section| section.name == SECTION_NAME);
    assert_eq!(sections.count(), 1);
    let exports: Vec<&str> = facts.exports.iter().map(|export| export.name.as_str()).collect();
    assert_eq!(exports, ["memory", "retort_buffer", plan.function_name()]);
    assert!(!facts.grows_memory && !facts.has_table && !facts.recursive);
    // Every loop is one over rows.
    assert!(facts.fuel_bound.is_some());
    assert_eq!(facts.loops == 0, inspected.section().rows().is_empty());
    assert_eq!(facts.memory_min_pages, facts.memory_max_pages);
    let patterns = plan.event_types().patterns().iter().map(ToString::to_string);
    assert_eq!(inspected.section().event_types(), patterns.collect::<Vec<_>>());
}
