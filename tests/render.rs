//! What holds for every rendered source. What becomes of some plans is in `cases/render.rs`.

use std::time::{Duration, Instant};

use retort::gate::{StructuralLimits, inspect};
use retort::graph::Extraction;
use retort::plan::{self, Plan, eval};
use retort::render::{self, compile};
use retort::sandbox::Sandbox;
use retort::{Coded, Limits};
use serde_json::{Value, json};

use crate::support::{rendered, workspace_root};

/// A plan of some nodes with some properties each, in the order of what `path` gives for their numbers.
fn wide(nodes: usize, properties: usize, path: impl Fn(usize) -> Vec<String>) -> Plan {
    let property =
        |index| json!({"property_name": format!("property_{index}"), "source_path": path(index)});
    let node = |node: usize| {
        let own = node * properties..(node + 1) * properties;
        json!({
            "entity_name": format!("Wide{node}"), "key_fields": [{"property_name": "id", "source_path": ["id"]}],
            "property_fields": own.map(property).collect::<Vec<_>>(),
        })
    };
    let plan = json!({
        "event_type": "wide", "function_name": "read_wide",
        "nodes": (0..nodes).map(node).collect::<Vec<_>>(),
    });
    plan::from_value(&plan).unwrap()
}

fn own_path(index: usize) -> Vec<String> {
    vec!["content".to_owned(), format!("k{index}")]
}

fn same_path(_: usize) -> Vec<String> {
    vec!["v".to_owned()]
}

#[test]
fn plans_of_1000_properties_pass_the_gate_and_run() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    for nodes in [4, 50] {
        let plan = wide(nodes, 1000 / nodes, own_path);
        let content: serde_json::Map<String, Value> = (0..1000)
            .filter(|index| index % 3 != 0)
            .map(|index| (format!("k{index}"), json!(format!("value {index}"))))
            .collect();
        let event = json!({"event_type": "wide", "id": 1, "content": content}).to_string();
        let extractor = sandbox.load(&rendered(&plan)).unwrap();
        let mut runner = extractor.runner();
        let found: Extraction =
            serde_json::from_slice(runner.run(event.as_bytes()).unwrap().json).unwrap();
        assert_eq!(found, eval(&plan, &event).unwrap());
        let properties: usize = found.nodes.iter().map(|node| node.properties.len()).sum();
        assert_eq!(properties, nodes + 666);
    }
}

/// What is rendered passes the gate; what wouldn't is refused before.
fn check_limits(plan: &Plan) -> &'static str {
    match render::render(plan) {
        Err(error) => error.code(),
        Ok(source) => {
            let compiled = compile(source).unwrap();
            let verdict = inspect(compiled.module(), &StructuralLimits::default());
            verdict.unwrap_or_else(|rejected| panic!("{rejected}"));
            "ok"
        }
    }
}

#[test]
fn plans_beyond_every_bound_are_refused_with_a_code() {
    // The gate, the key and the session are inputs as well.
    assert_eq!(check_limits(&wide(5, 204, own_path)), "ok");
    assert_eq!(check_limits(&wide(5, 205, own_path)), "plan_not_declarable");
    let mut verdicts = Vec::new();
    for nodes in [8, 12, 16, 20, 64] {
        verdicts.push(check_limits(&wide(nodes, 255, same_path)));
    }
    assert_eq!((verdicts[0], verdicts[4]), ("ok", "plan_too_large"), "{verdicts:?}");
    let named = |length: usize, rows: bool| {
        let mut plan = json!({
            "event_type": "e", "function_name": "f",
            "nodes": [{
                "entity_name": "E".repeat(length), "key_fields": [{"property_name": "id", "source_path": ["id"]}],
            }],
        });
        if rows {
            plan["nodes"][0]["for_each"] = json!({"array": ["a"]});
        }
        check_limits(&plan::from_value(&plan).unwrap())
    };
    for (length, rows, expected) in [
        (100_000, false, "ok"),
        (100_000, true, "ok"),
        (600_000, false, "plan_too_large"),
        (600_000, true, "plan_too_large"),
        (5_000_000, true, "plan_too_large"),
    ] {
        assert_eq!(named(length, rows), expected, "{length} {rows}");
    }
    let deep = wide(1, 1, |_| vec!["a".to_owned(); 128]);
    assert_eq!(render::render(&deep).unwrap_err().code(), "plan_not_declarable");
}

/// What can't be declared is told by its place in the plan, and `plan check` and `render` say the same.
#[test]
fn what_is_too_much_is_told_in_terms_of_the_plan() {
    let plan = |change: &dyn Fn(&mut Value)| {
        let mut plan = json!({
            "event_type": "e", "function_name": "f",
            "nodes": [{"entity_name": "E", "key_fields": [{"property_name": "id", "source_path": ["id"]}],
                "property_fields": [{"property_name": "p", "coalesce": [{"constant": 1}, {"source_path": ["p"]}]}]}],
            "edges": [{"relationship_name": "R", "from": "E", "to": "E", "edge_id": "{id}"}],
        });
        change(&mut plan);
        plan::from_value(&plan).unwrap()
    };
    let path = |keys: usize| json!(vec!["a"; keys]);
    // Of each value two pieces, the text behind it.
    let template = |pieces: usize| json!("{a}-".repeat(pieces / 2) + &"{b}".repeat(pieces % 2));
    let (key, property) = ("/nodes/0/key_fields/0", "/nodes/0/property_fields/0");
    for (pointer, allowed, value) in [
        (format!("{key}/source_path"), 127, &path as &dyn Fn(usize) -> Value),
        (format!("{property}/coalesce/1/source_path"), 127, &path),
        ("/session_id_path".to_owned(), 127, &path),
        ("/edges/0/edge_id".to_owned(), 256, &template),
        (format!("{key}/template"), 256, &template),
    ] {
        let with = |count: usize| {
            plan(&|plan| {
                let (place, field) = pointer.rsplit_once('/').unwrap();
                let place = plan.pointer_mut(place).unwrap();
                if field == "template" {
                    *place = json!({"property_name": "id", "template": value(count)});
                } else {
                    place[field] = value(count);
                }
            })
        };
        assert!(render::render(&with(allowed)).is_ok(), "{pointer}");
        let problem = render::render(&with(allowed + 1)).unwrap_err().problem();
        assert_eq!(
            (problem.code.name, problem.path.as_deref()),
            ("plan_not_declarable", Some(&*pointer))
        );
        assert_eq!(
            (problem.used, problem.allowed),
            (Some(allowed as u64 + 1), Some(allowed as u64))
        );
    }
    for (plan, of) in [
        (wide(5, 205, own_path), "at most 1024 different values and conditions, found 1028"),
        (
            wide(1, 140, |index| vec![format!("k{index}"); 120]),
            "at most 16384 keys in all paths together",
        ),
    ] {
        let error = render::render(&plan).unwrap_err();
        assert!(error.to_string().contains(of), "{error}");
        assert_eq!(error.problem().path, None);
    }
}

#[test]
fn keys_and_edges_of_the_most_properties_pass_the_gate() {
    let keys = |from: usize| -> Vec<Value> {
        (0..64)
            .map(|index| json!({"property_name": format!("k{index}"), "source_path": [format!("k{}", from + index)]}))
            .collect()
    };
    let properties: Vec<Value> = (0..256)
        .map(|index| json!({"property_name": format!("p{index}"), "source_path": ["v"]}))
        .collect();
    let plan = json!({
        "event_type": "e", "function_name": "f",
        "nodes": [{"entity_name": "A", "for_each": {"array": ["a"]}, "key_fields": keys(0)}],
        "edges": [{
            "relationship_name": "R", "from": "A", "to": {"entity_name": "B", "key_fields": keys(64)},
            "property_fields": properties,
        }],
    });
    let plan = plan::from_value(&plan).unwrap();
    assert_eq!(check_limits(&plan), "ok");
    let element: serde_json::Map<String, Value> =
        (0..128).map(|index| (format!("k{index}"), json!(index))).collect();
    let mut without = element.clone();
    without.remove("k127");
    let event = json!({"event_type": "e", "a": [element, without]}).to_string();
    let extractor = Sandbox::new(Limits::default()).unwrap().load(&rendered(&plan)).unwrap();
    let mut runner = extractor.runner();
    let found: Extraction =
        serde_json::from_slice(runner.run(event.as_bytes()).unwrap().json).unwrap();
    assert_eq!(found, eval(&plan, &event).unwrap());
    assert_eq!((found.nodes.len(), found.edges.len()), (1, 1));
}

#[test]
fn what_a_plan_costs_to_refuse_is_bounded() {
    let start = Instant::now();
    assert_eq!(render::render(&wide(64, 255, own_path)).unwrap_err().code(), "plan_not_declarable");
    assert_eq!(render::render(&wide(64, 255, same_path)).unwrap_err().code(), "plan_too_large");
    // A search for each among all the others takes minutes in an unoptimised build.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
}

/// An event of at least so many bytes, with elements of 100 bytes.
fn event_of(kilobytes: usize) -> String {
    let line = |no| json!({"no": no, "quantity": no % 7, "article": {"name": "Hexagon nut M4"}, "shipped": 1557933657, "span": "s"});
    let mut event = json!({
        "event_type": "order.placed", "session_id": "s1",
        "content": {"id": "A-7", "lines": []},
    });
    let lines = (0..kilobytes * 10).map(line).collect();
    event["content"]["lines"] = Value::Array(lines);
    event.to_string()
}

/// Fuel, which no machine and no load can change: what a larger event takes.
#[test]
fn fuel_grows_with_the_event_alone() {
    let case = std::fs::read_to_string(workspace_root().join("tests/render/lines.json")).unwrap();
    let case: Value = serde_json::from_str(&case).unwrap();
    let inspected = rendered(&plan::from_value(&case["plan"]).unwrap());
    let limits = options!(Limits { deadline_ms: 30_000, ..Limits::default() });
    let extractor = Sandbox::new(limits).unwrap().load(&inspected).unwrap();
    let mut runner = extractor.runner();
    let mut fuel = |kilobytes| {
        let event = event_of(kilobytes);
        let outcome = runner.run(event.as_bytes()).unwrap();
        assert!(outcome.shape.nodes > kilobytes * 6, "{:?}", outcome.shape);
        outcome.fuel
    };
    let [small, medium, large] = [10, 100, 1000].map(&mut fuel);
    assert!(medium <= small * 21 / 2 && large <= medium * 21 / 2, "{small} {medium} {large}");
}

/// A result that doesn't fit is refused with what it would take, and the instance is as good as before.
#[test]
fn a_result_that_does_not_fit_is_refused() {
    let plan = json!({
        "event_type": "e", "function_name": "f",
        "nodes": [{
            "entity_name": "A", "for_each": {"array": ["a"]},
            "key_fields": [{"property_name": "k", "source_path": ["k"]}],
            "property_fields": [{"property_name": "text", "source_path": ["text"], "from": "event"}],
        }],
    });
    let plan = plan::from_value(&plan).unwrap();
    let extractor = Sandbox::new(Limits::default()).unwrap().load(&rendered(&plan)).unwrap();
    let mut runner = extractor.runner();
    let event = |rows: usize| {
        let rows: Vec<Value> = (0..rows).map(|k| json!({"k": k})).collect();
        json!({"event_type": "e", "text": "x".repeat(100_000), "a": rows}).to_string()
    };
    let fits = event(83);
    assert_eq!(runner.run(fits.as_bytes()).unwrap().shape.nodes, 83);
    let error = runner.run(event(84).as_bytes()).unwrap_err();
    assert_eq!(error.code(), "output_too_large");
    assert_eq!(runner.run(fits.as_bytes()).unwrap().shape.nodes, 83);
}
