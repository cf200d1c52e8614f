//! What the gate leaves out where to look through everything would take too long.

use serde_json::{Map, Value, json};

use super::{codes, task};
use crate::diagnostics::codes::FIT_LIMIT;
use crate::diagnostics::finding::Finding;
use crate::evidence::effort::{Cancel, StepBudget};
use crate::evidence::effort::{SEARCH_STEPS, StepBudgets, VALUE_STEPS};
use crate::evidence::{Samples, Task};
use crate::gate::fit::{Fitted, MAX_FINDINGS, Unfit, fit, fit_within};
use crate::graph::GraphSpec;
use crate::plan::Plan;

fn efforts(values: u64, searches: u64) -> StepBudgets {
    let cancel = Cancel::default();
    StepBudgets {
        values: StepBudget::new(values, &cancel),
        searches: StepBudget::new(searches, &cancel),
    }
}

/// A plan that reads `count`, `source` and `target` from these paths, `count` with these conversions.
fn plan(paths: [Value; 3], convert: Option<&Value>) -> Plan {
    let names = ["count", "source", "target"];
    let property = |(name, path): (&str, Value)| {
        let mut property = json!({"property_name": name, "source_path": path});
        if let Some(convert) = convert.filter(|_| name == "count") {
            property["convert"] = convert.clone();
        }
        property
    };
    let properties: Vec<Value> = names.into_iter().zip(paths).map(property).collect();
    let plan = json!({
        "event_type": "placed", "target_entity_name": "Order", "function_name": "f",
        "key_field": {"property_name": "order_id", "source_path": ["content", "id"]},
        "property_fields": properties,
    });
    crate::plan::from_value(&plan).expect("a plan")
}

fn samples() -> Task {
    let sample = json!({
        "event_type": "placed",
        "content": {"id": "A", "amount": {"count": 1}, "origin": "x", "destination": "y", "text": "-"},
    });
    task(&format!("{sample}\n").repeat(6), None)
}

fn findings(result: Result<Fitted, Unfit>) -> Vec<Finding> {
    result.err().map(|unfit| unfit.findings().to_vec()).unwrap_or_default()
}

#[test]
fn what_is_wrong_is_told_though_the_search_for_its_remedy_ends() {
    let wrong = plan(
        [
            json!(["content", "cuont"]),
            json!(["content", "orgin"]),
            json!(["content", "destnation"]),
        ],
        None,
    );
    let task = samples();
    let enough = efforts(VALUE_STEPS, SEARCH_STEPS);
    let all = findings(fit_within(&wrong, &task, &enough));
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|finding| finding.patch().is_some()));
    let steps = enough.searches.taken();
    assert_eq!(findings(fit_within(&wrong, &task, &efforts(VALUE_STEPS, steps))), all);
    for steps in [steps - 1, steps / 2, 1, 0] {
        let mut told = findings(fit_within(&wrong, &task, &efforts(VALUE_STEPS, steps)));
        let limit = told.remove(1);
        assert_eq!((limit.code, limit.patch().is_none()), (FIT_LIMIT, true));
        assert_eq!(codes(&told), codes(&all), "{steps}");
        // Whatever was found by then is what is found in the end, and what wasn't is nothing else.
        for (told, whole) in told.iter().zip(&all) {
            assert!(told.patch().is_none() || told == whole, "{steps}: {told:?}");
        }
        assert!(told.last().is_some_and(|last| last.patch().is_none()), "{steps}");
    }
}

/// A plan whose text reads these paths.
fn plan_of_text(paths: impl Iterator<Item = String>) -> Plan {
    let text: String = paths.map(|path| format!("{{{path}}} ")).collect();
    let plan = json!({
        "event_type": "placed", "target_entity_name": "Order", "function_name": "f",
        "key_field": {"property_name": "order_id", "source_path": ["content", "id"]},
        "property_fields": [{"property_name": "source", "template": text}],
    });
    crate::plan::from_value(&plan).expect("a plan")
}

#[test]
fn what_a_text_reads_again_and_again_is_looked_at_once() {
    let once = findings(fit(&plan_of_text(["content.orgin".to_owned()].into_iter()), &samples()));
    let often = (0..1000).map(|_| "content.orgin".to_owned());
    let often = findings(fit(&plan_of_text(often), &samples()));
    assert_eq!((codes(&once), once.len()), (codes(&often), 1));
    assert!(often.iter().all(|finding| finding.patch().is_some()));
}

#[test]
fn paths_of_a_text_pay_for_those_that_they_are_compared_with() {
    let steps = |paths: u64| {
        let enough = efforts(VALUE_STEPS, SEARCH_STEPS);
        let read = (0..paths).map(|number| format!("content.orgin{number}"));
        findings(fit_within(&plan_of_text(read), &samples(), &enough));
        enough.searches.taken()
    };
    // What each of them takes: ten steps for another one.
    let (few, many) = (steps(100) / 100, steps(400) / 400);
    assert!(many >= few + 300 * 10, "{few} {many}");
}

#[test]
fn a_property_that_nobody_has_looked_for_is_not_taken_out() {
    let mut written = serde_json::to_value(plan(
        [
            json!(["content", "amount", "count"]),
            json!(["content", "origin"]),
            json!(["content", "text"]),
        ],
        None,
    ))
    .expect("JSON");
    written["property_fields"][2]["property_name"] = json!("xyzzy");
    let misspelt = crate::plan::from_value(&written).expect("a plan");
    let certain = |steps| {
        let told = findings(fit_within(&misspelt, &samples(), &efforts(VALUE_STEPS, steps)));
        told.iter().filter(|finding| finding.is_certain()).count()
    };
    assert_eq!((certain(SEARCH_STEPS), certain(0)), (1, 0));
}

#[test]
fn values_that_are_not_looked_at_are_left_to_the_sample_run() {
    let path = json!(["content", "text"]);
    let convert = json!(["trim", "to_int64"]);
    let never = plan([path.clone(), json!(["content", "origin"]), path], Some(&convert));
    let task = samples();
    let enough = efforts(VALUE_STEPS, SEARCH_STEPS);
    let told = findings(fit_within(&never, &task, &enough));
    assert!(told.iter().any(|it| it.code == "conversion_never_succeeds"), "{told:?}");
    let fitted = fit_within(&never, &task, &efforts(0, SEARCH_STEPS)).expect("nothing to say");
    assert!(!fitted.is_whole());
    let right = plan(
        [
            json!(["content", "amount", "count"]),
            json!(["content", "origin"]),
            json!(["content", "text"]),
        ],
        None,
    );
    assert!(fit(&right, &task).expect("a plan that fits").is_whole());
    // Fewer values are looked at, and what is said of them is no other than what is said of all.
    for steps in [enough.values.taken() / 2, enough.values.taken() / 4] {
        for finding in findings(fit_within(&never, &task, &efforts(steps, SEARCH_STEPS))) {
            assert!(finding.code == FIT_LIMIT || told.contains(&finding), "{finding:?}");
        }
    }
}

#[test]
fn a_conversion_that_costs_more_than_an_event_may_has_not_failed() {
    let text = "x".repeat(400_000);
    let sample = json!({"event_type": "placed", "content": {"id": "A", "text": text}});
    let task = task(&format!("{sample}\n").repeat(6), None);
    // Each of these costs by the byte, and all of them more than the fuel of an event of that size.
    let dear = json!({"regex": format!("({}){{0,60}}y", vec!["x?x?x?x"; 40].join("|"))});
    let chain: Vec<Value> = std::iter::repeat_n(dear, 8).chain([json!("to_int64")]).collect();
    let path = json!(["content", "text"]);
    let Ok(dear) =
        std::panic::catch_unwind(|| plan([path.clone(), path.clone(), path], Some(&json!(chain))))
    else {
        return;
    };
    for finding in findings(fit(&dear, &task)) {
        assert_ne!(finding.code, "conversion_never_succeeds");
    }
}

#[test]
fn of_very_many_faults_the_first_ones_are_told() {
    let properties = |node: usize, count: usize| -> Vec<Value> {
        let property =
            |it| json!({"property_name": format!("p{node}_{it}"), "source_path": ["no", "where"]});
        (0..count).map(property).collect()
    };
    let node = |node: usize| {
        json!({
            "entity_name": "Order", "name": format!("n{node}"),
            "key_fields": [{"property_name": "order_id", "source_path": ["content", "id"]}],
            "property_fields": properties(node, 501),
        })
    };
    let nodes: Vec<Value> = (0..2).map(node).collect();
    let plan = json!({"event_type": "placed", "function_name": "f", "nodes": nodes});
    let plan = crate::plan::from_value(&plan).expect("a plan");
    let told = findings(fit(&plan, &samples()));
    assert_eq!(told.len(), MAX_FINDINGS + 1);
    assert_eq!(told.iter().position(|it| it.code == FIT_LIMIT), Some(1));
    assert!(told[1].observed.contains("more that is wrong than is reported"), "{:?}", told[1]);
}

#[test]
fn names_are_counted_and_not_written_out() {
    // What a finding names of a graph spec is the same few names, however many there are.
    let property = |it: usize| json!({"name": format!("p{it}"), "type": "string"});
    let properties: Vec<Value> = std::iter::once(json!({"name": "order_id", "type": "string"}))
        .chain((0..500).map(property))
        .collect();
    let graph = json!({"entities": [{
        "name": "Order", "keys": {"primary": ["order_id"]}, "properties": properties,
    }]});
    let graph = GraphSpec::parse(&graph.to_string(), "graph.json").expect("a graph");
    let fields: Map<String, Value> = (0..8).map(|it| (format!("f{it}"), json!("x"))).collect();
    let sample = json!({"event_type": "placed", "content": {"id": "A", "f": fields}});
    let samples = Samples::parse(&sample.to_string(), "samples").expect("samples");
    let task = Task::new(graph, samples);
    let path = json!(["content", "id"]);
    let told = findings(fit(&plan([path.clone(), path.clone(), path], None), &task));
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|it| it.expected.ends_with("and 489 more")), "{told:?}");
}
