//! Rendered source: `render/*.json` are plans with an event, `render/*.snap` what becomes of them.

use std::fs;
use std::time::{Duration, Instant};

use retort::abi::section::SECTION_NAME;
use retort::gate::inspect::{StructuralLimits, inspect};
use retort::graph::extraction::Extraction;
use retort::plan::{self, Plan, eval::eval};
use retort::problem::Coded;
use retort::sandbox::{Limits, Sandbox};
use retort::{compile, render};
use serde_json::{Value, json};

use crate::support::{rendered, workspace_root};

struct Case {
    name: String,
    plan: Plan,
    event: String,
}

fn cases() -> Vec<Case> {
    let mut paths: Vec<_> = fs::read_dir(workspace_root().join("tests/render"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let case: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        Case {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            plan: plan::from_value(&case["plan"]).unwrap(),
            event: case["event"].to_string(),
        }
    };
    paths.into_iter().map(read).collect()
}

/// The source, what it makes of the event, and the fuel that this takes, which no machine and no load can change.
#[test]
fn sources_results_and_fuel_are_as_recorded() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("render");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for case in cases() {
        let source = render::render(&case.plan).unwrap();
        assert!(source.text().is_ascii(), "{}", case.name);
        let extractor = sandbox.load(&rendered(&case.plan)).unwrap();
        let mut runner = extractor.runner();
        let mut runs = (0..3).map(|_| {
            let outcome = runner.run(case.event.as_bytes()).unwrap();
            (String::from_utf8(outcome.json.to_vec()).unwrap(), outcome.fuel)
        });
        let (result, fuel) = runs.next().unwrap();
        assert!(runs.all(|again| again == (result.clone(), fuel)), "{}", case.name);
        let found: Extraction = serde_json::from_str(&result).unwrap();
        assert_eq!(found, eval(&case.plan, &case.event).unwrap(), "{}", case.name);
        let text = format!("{};; result: {}\n;; fuel: {fuel}\n", source.text(), ascii(&result));
        settings.bind(|| insta::assert_snapshot!(case.name.as_str(), text));
    }
}

/// Text without characters that a reader of the snapshot couldn't see.
fn ascii(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_ascii_graphic() { vec![c] } else { c.escape_default().collect() })
        .collect()
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    for case in cases() {
        let again = plan::parse(&serde_json::to_string(&case.plan).unwrap()).unwrap();
        let [first, second] = [&case.plan, &again]
            .map(|plan| compile::compile(render::render(plan).unwrap()).unwrap());
        assert_eq!(first, second, "{}", case.name);
    }
}

#[test]
fn modules_keep_names_and_have_one_section() {
    for case in cases() {
        let inspected = rendered(&case.plan);
        let printed = wasmprinter::print_bytes(inspected.wasm()).unwrap();
        for name in ["$read", "$retort_buffer", "$put_text", "$copy_long", "$input_cap", "$block"] {
            assert!(printed.contains(name), "{}: {name}", case.name);
        }
        let facts = inspected.facts();
        let sections = facts.sections.iter().filter(|section| section.name == SECTION_NAME);
        assert_eq!(sections.count(), 1, "{}", case.name);
        let exports: Vec<&str> = facts.exports.iter().map(|export| export.name.as_str()).collect();
        assert_eq!(exports, ["memory", "retort_buffer", case.plan.function_name()]);
        assert!(!facts.grows_memory && !facts.has_table && !facts.recursive && facts.loops == 0);
        assert_eq!(facts.memory_min_pages, facts.memory_max_pages);
        assert_eq!(inspected.section().event_types(), [case.plan.event_type()]);
    }
}

/// A plan of `count` properties, each from a path of its own.
fn wide(count: usize) -> Plan {
    let property = |index| json!({"property_name": format!("property_{index}"), "source_path": ["content", format!("k{index}")]});
    let plan = json!({
        "event_type": "wide", "target_entity_name": "Wide", "function_name": "read_wide",
        "key_field": {"property_name": "id", "source_path": ["id"]},
        "property_fields": (0..count).map(property).collect::<Vec<_>>(),
    });
    plan::from_value(&plan).unwrap()
}

#[test]
fn a_plan_of_500_properties_passes_the_gate_and_runs() {
    let plan = wide(500);
    let inspected = rendered(&plan);
    let content: serde_json::Map<String, Value> = (0..500)
        .filter(|index| index % 3 != 0)
        .map(|index| (format!("k{index}"), json!(format!("value {index}"))))
        .collect();
    let event = json!({"event_type": "wide", "id": 1, "content": content}).to_string();
    let extractor = Sandbox::new(Limits::default()).unwrap().load(&inspected).unwrap();
    let mut runner = extractor.runner();
    let found: Extraction =
        serde_json::from_slice(runner.run(event.as_bytes()).unwrap().json).unwrap();
    assert_eq!(found, eval(&plan, &event).unwrap());
    assert_eq!(found.nodes[0].properties.len(), 1 + 333);
}

#[test]
fn plans_beyond_every_bound_are_refused_with_a_code() {
    // The event type, the key and the session are inputs as well.
    assert!(
        inspect(
            compile::compile(render::render(&wide(1000)).unwrap()).unwrap().module(),
            &StructuralLimits::default()
        )
        .is_ok()
    );
    assert_eq!(render::render(&wide(1022)).unwrap_err().code(), "plan_not_declarable");
    let entity = "E".repeat(600_000);
    let plan = json!({
        "event_type": "e", "target_entity_name": entity, "function_name": "f",
        "key_field": {"property_name": "id", "source_path": ["id"]},
    });
    let plan = plan::from_value(&plan).unwrap();
    assert_eq!(render::render(&plan).unwrap_err().code(), "plan_too_large");
    let plan = json!({
        "event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "id", "source_path": vec!["a"; 128]},
    });
    let plan = plan::from_value(&plan).unwrap();
    assert_eq!(render::render(&plan).unwrap_err().code(), "plan_not_declarable");
}

#[test]
fn what_a_plan_costs_to_refuse_grows_with_its_size_alone() {
    let start = Instant::now();
    assert_eq!(render::render(&wide(40_000)).unwrap_err().code(), "plan_not_declarable");
    let fields: Vec<Value> = (0..60_000)
        .map(|index| json!({"property_name": format!("p{index}"), "source_path": ["same"]}))
        .collect();
    let plan = json!({
        "event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "id", "source_path": ["id"]}, "property_fields": fields,
    });
    let plan = plan::from_value(&plan).unwrap();
    assert_eq!(render::render(&plan).unwrap_err().code(), "plan_too_large");
    // A search for each among all the others takes minutes in an unoptimised build.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}
