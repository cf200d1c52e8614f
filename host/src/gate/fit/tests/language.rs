//! Plans with several nodes, edges, iterations and conversions.

use serde_json::{Value, json};

use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Stage;
use crate::evidence::{EventSchema, Samples, Task};
use crate::gate::fit::fit;
use crate::graph::GraphSpec;

const GRAPH: &str = "ontology: shop
entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: placed_at, type: timestamp}
  - {name: due_on, type: date}
  - {name: total, type: double}
  - {name: pieces, type: int64}
  - {name: paid, type: boolean}
  - {name: note, type: string}
  - {name: tags, type: string}
  - {name: city, type: string}
- name: Line
  keys: {primary: [order_id, line_no]}
  properties:
  - {name: order_id, type: string}
  - {name: line_no, type: int64}
  - {name: article, type: string}
- name: Parcel
  keys: {primary: [parcel_id]}
  properties:
  - {name: parcel_id, type: string}
  - {name: weight, type: double}
relationships:
- {name: HAS_LINE, from: Order, to: Line, properties: [{name: since, type: timestamp}]}
- {name: SENT_IN, from: Line, to: Parcel}
";

/// An order of which everything is a bit different, so that the types tell.
fn order(number: usize) -> Value {
    let at = 1_700_000_000 + number;
    let lines = |no: usize| {
        json!({"no": no, "article": {"name": format!("a{no}")},
            "parcels": [{"id": format!("p{number}-{no}"), "weight": format!("{no}.5")}]})
    };
    json!({
        "event_type": "order.placed", "session_id": "s", "span_id": format!("x{number}"),
        "content": {
            "id": format!("A-{number}"), "number": number, "placed": at,
            "due": "2026-03-02T10:00:00+02:00", "total": "12.5", "pieces": "3", "paid": "true",
            "note": "a note", "tags": ["x", "y"], "args": "{\"city\":\"Rome\"}",
            "lines": [lines(1), lines(2)],
            "notes": {"u-10001": {"grams": 2}, "u-10002": {"grams": 3}, format!("u-2000{number}"): {"grams": 4}},
        }
    })
}

pub(super) fn task() -> Task {
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    let lines: Vec<String> = (1..7).map(|number| order(number).to_string()).collect();
    let samples = Samples::parse(&lines.join("\n"), "samples").expect("samples");
    Task::new(graph, samples)
}

fn findings(plan: &Value, task: &Task) -> Vec<Finding> {
    let read = crate::plan::from_value(plan).unwrap_or_else(|error| panic!("{error}: {plan}"));
    let found = fit(&read, task).err().map(|unfit| unfit.findings().to_vec()).unwrap_or_default();
    assert!(found.iter().all(|it| it.gate == Stage::Fit));
    found
}

/// The findings as `pointer: code`, with `!` after those that are certain to be fixed by their patch, and `?` after those
/// that perhaps are; and the plan that is right after the certain patches.
pub(super) fn judged(plan: &Value) -> (Vec<String>, Option<Value>) {
    let task = task();
    let found = findings(plan, &task);
    let mark = |it: &Finding| match (it.patch(), it.is_certain()) {
        (Some(_), true) => "!",
        (Some(_), false) => "?",
        (None, _) => "",
    };
    let text = |it: &Finding| format!("{}: {}{}", it.pointer, it.code, mark(it));
    let texts = found.iter().map(text).collect();
    let mut repaired = plan.clone();
    for finding in found.iter().rev().filter(|it| it.is_certain()) {
        let patch = finding.patch().expect("what is certain has a patch");
        json_patch::patch(&mut repaired, patch).unwrap_or_else(|error| panic!("{error}: {patch}"));
    }
    let is_right =
        crate::plan::from_value(&repaired).is_ok() && findings(&repaired, &task).is_empty();
    (texts, is_right.then_some(repaired))
}

/// The same of a plan for events of this schema, without what it is after patches.
pub(super) fn judged_with(plan: &Value, schema: &Value) -> Vec<String> {
    let schema = EventSchema::from_value(schema.clone()).expect("a schema");
    let task = task();
    let task =
        Task::builder(task.graph().clone(), task.samples().clone()).event_schema(schema).build();
    findings(plan, &task).iter().map(|it| format!("{}: {}", it.pointer, it.code)).collect()
}

fn field(name: &str, path: &[&str]) -> Value {
    json!({"property_name": name, "source_path": path})
}

fn with(mut value: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut value, more) {
        fields.extend(more);
    }
    value
}

pub(super) fn order_with(properties: Vec<Value>) -> Value {
    json!({"event_type": "order.placed", "target_entity_name": "Order", "function_name": "f",
        "key_field": field("order_id", &["content", "id"]), "property_fields": properties})
}

/// Orders and their lines.
fn lines() -> Value {
    let order_id = || with(field("order_id", &["content", "id"]), json!({"from": "event"}));
    json!({"event_type": ["order.*"], "function_name": "f",
        "nodes": [
            {"entity_name": "Order", "key_fields": [field("order_id", &["content", "id"])]},
            {"entity_name": "Line", "for_each": {"array": ["content", "lines"]},
                "key_fields": [order_id(), field("line_no", &["no"])],
                "property_fields": [field("article", &["article", "name"])]},
            {"entity_name": "Parcel",
                "for_each": {"array": ["content", "lines"], "for_each": {"array": ["parcels"]}},
                "key_fields": [field("parcel_id", &["id"])],
                "property_fields": [with(field("weight", &["weight"]), json!({"convert": ["to_double"]}))]},
        ],
        "edges": [
            {"relationship_name": "HAS_LINE", "from": "Order", "to": "Line"},
            {"relationship_name": "SENT_IN", "from": "Line", "to": "Parcel"},
        ]
    })
}

fn changed(mut plan: Value, at: &str, to: Value) -> Value {
    *plan.pointer_mut(at).expect("it is there") = to;
    plan
}

#[test]
fn what_is_right_is_right() {
    assert_eq!(judged(&lines()).0, [""; 0]);
    let converted = order_with(vec![
        with(field("placed_at", &["content", "placed"]), json!({"convert": ["timestamp"]})),
        with(field("due_on", &["content", "due"]), json!({"convert": ["date"]})),
        json!({"property_name": "note", "template": "{content.note} of {content.number}"}),
        json!({"property_name": "city", "coalesce": [
            with(field("", &["content", "args"]), json!({"convert": [{"parse_json": ["city"]}]})),
            {"constant": "none"}]}),
    ]);
    let mut converted = converted;
    if let Some(Value::Object(alternative)) = converted.pointer_mut("/property_fields/3/coalesce/0")
    {
        alternative.remove("property_name");
    }
    assert_eq!(judged(&converted).0, [""; 0]);
}

#[test]
fn a_missing_conversion_is_told_by_the_type() {
    for (name, path, convert) in [
        ("placed_at", "placed", "timestamp"),
        ("due_on", "due", "date"),
        ("total", "total", "to_double"),
        ("pieces", "pieces", "to_int64"),
        ("paid", "paid", "to_boolean"),
        ("tags", "tags", "to_json_text"),
    ] {
        let plan = order_with(vec![field(name, &["content", path])]);
        let (texts, repaired) = judged(&plan);
        let code = if name == "tags" { "unsupported_type" } else { "type_mismatch" };
        assert_eq!(texts, [format!("/property_fields/0/source_path: {code}!")]);
        let expected = with(field(name, &["content", path]), json!({"convert": [convert]}));
        assert_eq!(repaired, Some(order_with(vec![expected])), "{name}");
    }
    // That a number could be a text doesn't make it the note.
    let plan = order_with(vec![field("note", &["content", "number"])]);
    assert!(judged(&plan).0[0].ends_with("type_mismatch!"), "the note has a path of its own");
    assert_eq!(judged(&plan).1, Some(order_with(vec![field("note", &["content", "note"])])));
}

#[test]
fn a_wrong_conversion_is_replaced() {
    let of = |name: &str, path: &str, convert: Value| {
        order_with(vec![with(field(name, &["content", path]), json!({"convert": convert}))])
    };
    for (name, path, wrong, right, code) in [
        ("placed_at", "placed", json!(["date"]), json!(["timestamp"]), "wrong_conversion"),
        ("placed_at", "placed", json!(["to_string"]), json!(["timestamp"]), "wrong_conversion"),
        ("pieces", "pieces", json!(["trim"]), json!(["trim", "to_int64"]), "wrong_conversion"),
        (
            "pieces",
            "pieces",
            json!(["to_boolean"]),
            json!(["to_int64"]),
            "conversion_never_succeeds",
        ),
        (
            "paid",
            "paid",
            json!(["lower", "to_double"]),
            json!(["lower", "to_boolean"]),
            "conversion_never_succeeds",
        ),
    ] {
        let (texts, repaired) = judged(&of(name, path, wrong));
        assert_eq!(texts, [format!("/property_fields/0/convert: {code}!")], "{name} {right}");
        assert_eq!(repaired, Some(of(name, path, right)), "{name}");
    }
    // What is of the type already needs none, but which text was to be made of one isn't known.
    let (texts, _) = judged(&of("note", "note", json!(["length"])));
    assert_eq!(texts, ["/property_fields/0/convert: wrong_conversion?"]);
    // Values that some events have otherwise are left out, and no fault.
    let number =
        of("pieces", "number", json!(["to_string", {"regex": {"pattern": "^[1-3]$"}}, "to_int64"]));
    assert_eq!(judged(&number).0, [""; 0]);
}

#[test]
fn constants_and_templates_have_types() {
    let (texts, repaired) =
        judged(&order_with(vec![json!({"property_name": "pieces", "constant": "3"})]));
    assert_eq!(texts, ["/property_fields/0/constant: type_mismatch!"]);
    let right = json!({"property_name": "pieces", "constant": 3});
    assert_eq!(repaired, Some(order_with(vec![right])));
    let template = |convert: Value| {
        let field = json!({"property_name": "pieces", "template": "{content.number}0"});
        judged(&order_with(vec![with(field, convert)])).0
    };
    assert_eq!(template(json!({})), ["/property_fields/0/template: type_mismatch?"]);
    assert_eq!(template(json!({"convert": ["to_int64"]})), [""; 0]);
}

#[test]
fn a_path_starts_at_the_element_or_says_where() {
    let at = "/nodes/1/key_fields/0";
    let order_id = |path: &[&str]| field("order_id", path);
    for (place, wrong, pointer) in [
        (at, order_id(&["content", "id"]), "/nodes/1/key_fields/0/source_path"),
        (
            "/nodes/1/key_fields/1",
            field("line_no", &["content", "lines", "no"]),
            "/nodes/1/key_fields/1/source_path",
        ),
        (
            "/nodes/1/key_fields/1",
            field("line_no", &["content", "lines", "0", "no"]),
            "/nodes/1/key_fields/1/source_path",
        ),
        (
            "/nodes/2/key_fields/0",
            field("parcel_id", &["parcels", "id"]),
            "/nodes/2/key_fields/0/source_path",
        ),
        (
            "/nodes/2/key_fields/0",
            with(
                field("parcel_id", &["content", "lines", "parcels", "id"]),
                json!({"from": "event"}),
            ),
            "/nodes/2/key_fields/0/source_path",
        ),
        (
            "/nodes/1/property_fields/0",
            field("article", &["article", "naem"]),
            "/nodes/1/property_fields/0/source_path",
        ),
        (
            "/nodes/1/property_fields/0",
            with(field("article", &["article", "name"]), json!({"from": "event"})),
            "/nodes/1/property_fields/0/source_path",
        ),
    ] {
        let (texts, repaired) = judged(&changed(lines(), place, wrong.clone()));
        assert_eq!(texts, [format!("{pointer}: unknown_path!")], "{wrong}");
        assert_eq!(repaired, Some(lines()), "{wrong}");
    }
    let template =
        json!({"property_name": "article", "template": "{no}: {content.id} {article.name}"});
    let (texts, repaired) = judged(&changed(lines(), "/nodes/1/property_fields/0", template));
    assert_eq!(texts, ["/nodes/1/property_fields/0/template: unknown_path!"]);
    let right = json!("{no}: {$.content.id} {article.name}");
    assert_eq!(
        repaired.as_ref().and_then(|it| it.pointer("/nodes/1/property_fields/0/template")),
        Some(&right)
    );
}

#[test]
fn a_path_through_an_array_wants_a_for_each() {
    let plan = json!({"event_type": "order.placed", "target_entity_name": "Parcel", "function_name": "f",
        "key_field": field("parcel_id", &["content", "id"])});
    assert_eq!(judged(&plan).0, [""; 0]);
    let mut long = lines();
    let node = long.pointer_mut("/nodes/1").and_then(Value::as_object_mut).expect("a node");
    node.remove("for_each");
    node.insert(
        "key_fields".to_owned(),
        json!([
            field("order_id", &["content", "id"]),
            field("line_no", &["content", "lines", "no"])
        ]),
    );
    node.insert(
        "property_fields".to_owned(),
        json!([field("article", &["content", "lines", "article", "name"])]),
    );
    long["edges"] = json!([]);
    let (texts, repaired) = judged(&long);
    assert_eq!(
        texts,
        [
            "/nodes/1/key_fields/1/source_path: missing_for_each!",
            "/nodes/1/property_fields/0/source_path: missing_for_each",
        ]
    );
    assert_eq!(repaired, Some(changed(lines(), "/edges", json!([]))));
    let short = json!({"event_type": "order.placed", "target_entity_name": "Parcel", "function_name": "f",
        "key_field": field("parcel_id", &["content", "lines", "article", "name"])});
    let (texts, repaired) = judged(&short);
    assert_eq!(texts, ["/key_field/source_path: missing_for_each!"]);
    let node = json!({"entity_name": "Parcel", "for_each": {"array": ["content", "lines"]},
        "key_fields": [field("parcel_id", &["article", "name"])], "property_fields": []});
    assert_eq!(
        repaired,
        Some(json!({"event_type": "order.placed", "function_name": "f", "nodes": [node]}))
    );
}

#[test]
fn a_for_each_goes_over_what_there_is() {
    for (to, text, is_right) in [
        (json!({"array": ["content", "lnes"]}), "array: unknown_path!", true),
        (json!({"array": ["content", "article"]}), "array: unknown_path", false),
        (json!({"array": ["content", "note"]}), "array: for_each_not_array!", true),
        (json!({"array": ["content"]}), "array: for_each_not_array!", true),
        (json!({"entries": ["content", "lines"]}), "entries: for_each_not_object!", true),
    ] {
        let lines = changed(lines(), "/edges", json!([]));
        let (texts, repaired) = judged(&changed(lines.clone(), "/nodes/1/for_each", to.clone()));
        let expected = format!("/nodes/1/for_each/{text}");
        assert!(
            texts.iter().any(|it| it.trim_end_matches('?') == expected.trim_end_matches('?')),
            "{to}: {texts:?}"
        );
        if is_right {
            assert_eq!(repaired, Some(lines), "{to}");
        }
    }
    let notes = json!({"event_type": "order.placed", "function_name": "f", "nodes": [
        {"entity_name": "Parcel", "for_each": {"entries": ["content", "notes"]},
            "key_fields": [field("parcel_id", &["key"])],
            "property_fields": [field("weight", &["value", "grams"])]}]});
    assert_eq!(judged(&notes).0, [""; 0]);
    for (place, wrong) in [
        ("/nodes/0/key_fields/0", field("parcel_id", &["Key"])),
        ("/nodes/0/property_fields/0", field("weight", &["grams"])),
    ] {
        let (texts, repaired) = judged(&changed(notes.clone(), place, wrong));
        assert_eq!(texts, [format!("{place}/source_path: unknown_path!")]);
        assert_eq!(repaired.as_ref(), Some(&notes), "{place}");
    }
}

#[test]
fn what_is_in_the_json_of_a_string_is_parsed() {
    let (texts, repaired) = judged(&order_with(vec![field("city", &["content", "args", "city"])]));
    assert_eq!(texts, ["/property_fields/0/source_path: unknown_path!"]);
    let right =
        with(field("city", &["content", "args"]), json!({"convert": [{"parse_json": ["city"]}]}));
    assert_eq!(repaired, Some(order_with(vec![right])));
}

#[test]
fn edges_join_what_the_graph_joins() {
    for (at, to, text) in [
        (
            "/edges/0/relationship_name",
            json!("HAS_LINES"),
            "/edges/0/relationship_name: unknown_relationship!",
        ),
        (
            "/edges/0",
            json!({"relationship_name": "HAS_LINE", "from": "Line", "to": "Order"}),
            "/edges/0/from: wrong_endpoint!",
        ),
        ("/edges/1/to", json!("Order"), "/edges/1/to: wrong_endpoint"),
    ] {
        let (texts, repaired) = judged(&changed(lines(), at, to.clone()));
        assert!(texts.iter().any(|it| it.starts_with(text)), "{to}: {texts:?}");
        if text.ends_with('!') {
            assert_eq!(repaired, Some(lines()), "{to}");
        }
    }
    let external = |key_fields: Value| {
        let to = json!({"entity_name": "Line", "key_fields": key_fields});
        changed(lines(), "/edges/0/to", to)
    };
    let (order_id, no) =
        (field("order_id", &["content", "id"]), field("line_no", &["content", "number"]));
    assert_eq!(judged(&external(json!([order_id, no]))).0, [""; 0]);
    let (texts, repaired) = judged(&external(json!([no, order_id])));
    assert_eq!(texts, ["/edges/0/to/key_fields: wrong_key!"]);
    assert_eq!(repaired, Some(external(json!([order_id, no]))));
    let property = |property: Value| {
        let mut plan = lines();
        plan["edges"][0]["property_fields"] = json!([property]);
        judged(&plan).0
    };
    let from_event = |path: &[&str]| with(field("since", path), json!({"from": "event"}));
    assert_eq!(
        property(from_event(&["content", "placed"])),
        ["/edges/0/property_fields/0/source_path: type_mismatch!"]
    );
    assert_eq!(property(field("sicne", &["no"])).len(), 1);
}

#[test]
fn keys_have_the_order_of_the_graph() {
    let mut plan = lines();
    plan["nodes"][1]["key_fields"].as_array_mut().expect("a list").reverse();
    let (texts, repaired) = judged(&plan);
    assert_eq!(texts, ["/nodes/1/key_fields: wrong_key!"]);
    assert_eq!(repaired, Some(lines()));
    let mut plan = lines();
    let moved = plan["nodes"][1]["key_fields"].as_array_mut().expect("a list").remove(1);
    plan["nodes"][1]["property_fields"].as_array_mut().expect("a list").push(moved);
    let (texts, repaired) = judged(&plan);
    assert_eq!(texts, ["/nodes/1/key_fields: wrong_key!"]);
    assert_eq!(repaired, Some(lines()));
}

#[test]
fn conditions_tell_which_values_count() {
    let plan = |when: Value| {
        let mut plan = lines();
        plan["nodes"][0]["property_fields"] = json!([field("pieces", &["content", "mixed"])]);
        plan["nodes"][0]["when"] = when;
        plan
    };
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    let samples: Vec<String> = (1..7)
        .map(|number| {
            let mut event = order(number);
            event["content"]["mixed"] = if number % 2 == 0 { json!(number) } else { json!("odd") };
            event["content"]["is_even"] = json!(number % 2 == 0);
            event.to_string()
        })
        .collect();
    let samples = Samples::parse(&samples.join("\n"), "samples").expect("samples");
    let task = Task::new(graph, samples);
    let is = |value: Value| json!({"source_path": ["content", "is_even"], "equals": value});
    assert_eq!(findings(&plan(is(json!(true))), &task), []);
    assert_eq!(findings(&plan(is(json!("never seen"))), &task), []);
    let found = findings(&plan(is(json!(false))), &task);
    assert_eq!((found.len(), found[0].code.name), (1, "type_mismatch"));
    let slip = json!({"not": {"source_path": ["content", "is_evne"], "equals": true}});
    let found = findings(&plan(slip), &task);
    let place = "/nodes/0/when/not/source_path";
    assert!(
        found.iter().any(|it| it.pointer == place && it.code == "unknown_path" && it.is_certain())
    );
}

#[test]
fn each_pattern_of_events_has_samples() {
    for (event_type, pointer, meant) in [
        (json!(["order.placed", "ordr.*"]), "/event_type/1", json!("order.*")),
        (json!("oder.*"), "/event_type", json!("order.*")),
        (json!("order.plcaed"), "/event_type", json!("order.placed")),
    ] {
        let found = findings(&changed(lines(), "/event_type", event_type), &task());
        assert_eq!(
            (found[0].code.name, found[0].pointer.as_str()),
            ("event_type_without_sample", pointer)
        );
        assert_eq!(found.len(), 1);
        let patch = serde_json::to_value(found[0].patch().expect("a patch")).expect("JSON");
        assert_eq!((&patch[0]["value"], found[0].is_certain()), (&meant, true));
    }
}

#[test]
fn an_alternative_may_be_for_events_that_no_sample_is_of() {
    let of = |paths: [&[&str]; 2]| {
        let alternatives: Vec<Value> = paths.iter().map(|it| json!({"source_path": it})).collect();
        judged(&order_with(vec![json!({"property_name": "note", "coalesce": alternatives})]))
    };
    assert_eq!(of([&["content", "note"], &["content", "legacy", "remark"]]).0, [""; 0]);
    let (texts, repaired) = of([&["content", "cty"], &["content", "ntoe"]]);
    let expected =
        [0, 1].map(|it| format!("/property_fields/0/coalesce/{it}/source_path: unknown_path"));
    assert!(texts.iter().zip(&expected).all(|(text, it)| text.starts_with(it)), "{texts:?}");
    // One is a slip, and the other may be for other events then.
    assert_eq!((texts.len(), repaired.is_some()), (2, true));
    let (texts, repaired) = of([&["content", "Note"], &["session_id"]]);
    assert_eq!(texts, ["/property_fields/0/coalesce/0/source_path: unknown_path!"]);
    assert!(repaired.is_some());
}

/// Parcels of lines, wherever the lines are.
fn parcels(for_each: Value) -> Value {
    json!({"event_type": "order.placed", "function_name": "f", "nodes": [
        {"entity_name": "Parcel", "for_each": for_each, "key_fields": [field("parcel_id", &["id"])]},
    ]})
}

#[test]
fn one_of_several_lists_may_be_for_events_that_no_sample_is_of() {
    let of = |paths: [&[&str]; 2]| {
        judged(&parcels(json!({"first_of": paths, "for_each": {"array": ["parcels"]}})))
    };
    let lines: &[&str] = &["content", "lines"];
    assert_eq!(of([lines, &["lines"]]).0, [""; 0]);
    assert_eq!(of([&["content", "request", "lines"], lines]).0, [""; 0]);
    assert_eq!(of([&["content", "note"], lines]).0, [""; 0]);
    let (texts, _) = of([&["content", "liens"], &["content", "request", "lines"]]);
    assert_eq!(texts, ["/nodes/0/for_each/first_of/0: unknown_path!"]);
    // What the node reads tells what it should go over.
    let (texts, repaired) = of([&["content", "note"], &["content", "id"]]);
    assert_eq!(texts, ["/nodes/0/for_each/first_of/0: for_each_not_array!"]);
    let repaired = repaired.expect("a plan that fits");
    assert_eq!(repaired.pointer("/nodes/0/for_each/array"), Some(&json!(lines)));
}

#[test]
fn a_condition_on_elements_reads_what_they_have() {
    let of = |outer: Value, inner: Value| {
        judged(&parcels(json!({"array": ["content", "lines"], "where": outer,
            "for_each": {"array": ["parcels"], "where": inner}})))
    };
    let exists = |path: &[&str]| json!({"source_path": path, "exists": true});
    let from = |path: &[&str], from: &str| with(exists(path), json!({"from": from}));
    assert_eq!(of(exists(&["no"]), exists(&["weight"])).0, [""; 0]);
    assert_eq!(of(from(&["content", "id"], "event"), from(&["no"], "parent")).0, [""; 0]);
    let (texts, repaired) = of(exists(&["articel", "name"]), exists(&["wieght"]));
    assert_eq!(
        texts,
        [
            "/nodes/0/for_each/where/source_path: unknown_path!",
            "/nodes/0/for_each/for_each/where/source_path: unknown_path!",
        ]
    );
    assert!(repaired.is_some());
    // What starts somewhere else says so.
    let (texts, repaired) = of(exists(&["content", "id"]), exists(&["no"]));
    assert_eq!(texts.len(), 2, "{texts:?}");
    let repaired = repaired.expect("a plan that fits");
    assert_eq!(repaired.pointer("/nodes/0/for_each/where/from"), Some(&json!("event")));
    assert_eq!(repaired.pointer("/nodes/0/for_each/for_each/where/from"), Some(&json!("parent")));
}

#[test]
fn values_of_elements_that_are_passed_over_do_not_count() {
    let node = |when: Value| {
        json!({"event_type": "order.placed", "function_name": "f", "nodes": [
            {"entity_name": "Line", "for_each": with(json!({"array": ["content", "lines"]}), when),
                "key_fields": [with(field("order_id", &["content", "id"]), json!({"from": "event"})), field("line_no", &["no"])],
                "property_fields": [field("article", &["article", "name"])]},
        ]})
    };
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    let mut event = order(1);
    event["content"]["lines"][1]["article"]["name"] = json!({"en": "x"});
    let samples = Samples::parse(&event.to_string(), "samples").expect("samples");
    let task = Task::new(graph, samples);
    assert_eq!(findings(&node(json!({})), &task).len(), 1);
    let where_text = json!({"where": {"source_path": ["article", "name"], "is_type": "string"}});
    assert_eq!(findings(&node(where_text), &task), []);
}

#[test]
fn empty_strings_are_no_values_to_a_plan_that_says_so() {
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    let mut event = order(1);
    event["content"]["due"] = json!("");
    let samples = Samples::parse(&event.to_string(), "samples").expect("samples");
    let task = Task::new(graph, samples);
    let due = with(field("due_on", &["content", "due"]), json!({"convert": ["date"]}));
    let plan = order_with(vec![due]);
    assert_eq!(findings(&plan, &task).len(), 1);
    assert_eq!(findings(&with(plan, json!({"empty": "absent"})), &task), []);
}

#[test]
fn times_without_an_offset_are_read_in_the_zone_of_the_plan() {
    let graph = GraphSpec::parse(GRAPH, "graph.yaml").expect("a graph");
    let mut event = order(1);
    event["content"]["placed"] = json!("2026-03-02 10:00:00");
    let samples = Samples::parse(&event.to_string(), "samples").expect("samples");
    let task = Task::new(graph, samples);
    let placed =
        with(field("placed_at", &["content", "placed"]), json!({"convert": ["timestamp"]}));
    let plan = order_with(vec![placed]);
    assert_eq!(findings(&plan, &task).len(), 1);
    let zone = json!({"time_zone": "Europe/Berlin"});
    assert_eq!(findings(&with(plan, zone), &task), []);
}

#[test]
fn the_whole_is_not_suggested_where_a_part_was_wanted() {
    let at = "/property_fields/0";
    let of = |name: &str, path: &str, convert: Value| {
        with(field(name, &["content", path]), json!({"convert": convert}))
    };
    let part = json!({"regex": {"pattern": "\"names\":\\[\"(\\w+)\""}});
    for property in [
        of("city", "lines", json!(["to_json_text", part])),
        of("city", "lines", json!(["to_string"])),
        of("city", "due", json!([{"split": {"separator": "#", "index": 3}}])),
        field("city", &["content", "lines"]),
        field("city", &["content", "notes"]),
    ] {
        let found = findings(&order_with(vec![property.clone()]), &task());
        assert_eq!(found.len(), 1, "{property}");
        let patch = serde_json::to_value(found[0].patch().expect("a patch")).expect("JSON");
        assert_eq!(patch, json!([{"op": "remove", "path": at}]), "{property}");
        assert!(!found[0].is_certain(), "{property}");
    }
}
