//! Expressions: the keys that they read, and the types of what they give.

use serde_json::{Value, json};

use super::language::{judged, judged_with, order_with};

fn of(name: &str, expression: &str) -> Value {
    order_with(vec![json!({"property_name": name, "expression": expression})])
}

#[test]
fn right_expressions_pass() {
    for (name, expression) in [
        ("note", "content.note"),
        ("note", "content.lines[?no > 1].article.name | [0]"),
        ("note", "join(',', content.tags)"),
        ("city", "parse_json(content.args).city"),
        ("pieces", "length(content.lines)"),
        ("pieces", "to_int64(content.pieces)"),
        ("total", "sum(content.lines[].no)"),
        ("placed_at", "timestamp(content.placed)"),
        ("paid", "content.number > 1"),
        ("note", "let $lines = content.lines in $lines[-1].article.name"),
    ] {
        assert_eq!(judged(&of(name, expression)).0, [""; 0], "{expression}");
    }
}

#[test]
fn a_misspelt_key_is_found_and_put_right_in_the_expression() {
    let at = "/property_fields/0/expression";
    for (wrong, right) in [
        ("lower(content.notte)", "lower(content.note)"),
        ("note", "content.note"),
        ("content.lnes[0].article.name", "content.lines[0].article.name"),
        ("content.lines[0].articel.name", "content.lines[0].article.name"),
        (
            "content.lines[?no == `1`].articles.name | [0]",
            "content.lines[?no == `1`].article.name | [0]",
        ),
        ("let $c = content in $c.notee", "let $c = content in $c.note"),
        ("content.lines[].parcels[].wight | [0]", "content.lines[].parcels[].weight | [0]"),
        (
            "max_by(content.lines, &articl.name).parcels[0].id",
            "max_by(content.lines, &article.name).parcels[0].id",
        ),
    ] {
        let (texts, repaired) = judged(&of("note", wrong));
        assert_eq!(texts, [format!("{at}: unknown_path!")], "{wrong}");
        assert_eq!(repaired, Some(of("note", right)), "{wrong}");
    }
}

#[test]
fn a_key_that_is_read_elsewhere_is_not_put_in_the_place_of_another_one() {
    let at = "/property_fields/0/expression";
    for expression in
        ["contnt.note || content.note", "max_by(content.lines, &articl.name).article.name"]
    {
        let (texts, repaired) = judged(&of("note", expression));
        assert_eq!(texts, [format!("{at}: unknown_path?")], "{expression}");
        assert_eq!(repaired, None, "{expression}");
    }
}

#[test]
fn what_an_expression_gives_has_a_type() {
    let at = "/property_fields/0/expression";
    for (name, expression, found) in [
        ("pieces", "content.pieces", "type_mismatch?"),
        ("note", "content.number + 1", "type_mismatch?"),
        ("note", "content.lines", "unsupported_type?"),
        ("pieces", "content.note", "type_mismatch?"),
        ("pieces", "length(content.number)", "conversion_never_succeeds"),
        ("note", "content.number == `1`", "type_mismatch?"),
    ] {
        let (texts, _) = judged(&of(name, expression));
        let expected = format!("{at}: {found}");
        assert_eq!(texts, [expected], "{expression}");
    }
}

#[test]
fn conditions_are_looked_at_as_well() {
    let mut plan = of("note", "content.note");
    plan["when"] = json!({"all": [{"expression": "length(content.lnes) > 0"}]});
    let (texts, repaired) = judged(&plan);
    assert_eq!(texts, ["/when/all/0/expression: unknown_path!"]);
    plan["when"] = json!({"all": [{"expression": "length(content.lines) > 0"}]});
    assert_eq!(repaired, Some(plan));
}

/// Parcels of what an expression gives.
fn parcels(expression: &str, id: &[&str], weight: &[&str]) -> Value {
    json!({"event_type": "order.placed", "function_name": "f", "nodes": [{
        "entity_name": "Parcel",
        "for_each": {"expression": expression},
        "key_fields": [{"property_name": "parcel_id", "source_path": id}],
        "property_fields": [{"property_name": "weight", "source_path": weight, "convert": ["to_double"]}],
    }]})
}

const PARCELS: &str = "content.lines[].parcels[]";

#[test]
fn what_is_in_the_elements_of_an_expression_is_known() {
    let pinned = "content.lines[?no > 0].parcels[].{pin: id, heavy: weight}";
    for plan in [
        parcels(PARCELS, &["id"], &["weight"]),
        parcels(pinned, &["pin"], &["heavy"]),
        parcels("[content.lines[0].parcels, content.lines[1].parcels][]", &["id"], &["weight"]),
    ] {
        assert_eq!(judged(&plan).0, [""; 0], "{plan}");
    }
    for (wrong, weight, right) in [
        (PARCELS, "wieght", parcels(PARCELS, &["id"], &["weight"])),
        (pinned, "haevy", parcels(pinned, &["pin"], &["heavy"])),
    ] {
        let id = if wrong == pinned { "pin" } else { "id" };
        let (texts, repaired) = judged(&parcels(wrong, &[id], &[weight]));
        assert_eq!(texts, ["/nodes/0/property_fields/0/source_path: unknown_path!"], "{wrong}");
        assert_eq!(repaired, Some(right), "{wrong}");
    }
}

#[test]
fn a_misspelt_key_in_the_expression_of_a_list_is_found_and_put_right() {
    for wrong in
        ["content.liens[].parcels[]", "content.lines[].parsels[]", "cotent.lines[].parcels[]"]
    {
        let (texts, repaired) = judged(&parcels(wrong, &["id"], &["weight"]));
        assert_eq!(texts, ["/nodes/0/for_each/expression: unknown_path!"], "{wrong}");
        assert_eq!(repaired, Some(parcels(PARCELS, &["id"], &["weight"])), "{wrong}");
    }
}

#[test]
fn an_expression_that_gives_no_list_is_found() {
    for wrong in [
        "content.lines[0]",
        "length(content.lines)",
        "sum(content.lines)",
        "content.note",
        "content.note[]",
    ] {
        let (texts, _) = judged(&parcels(wrong, &["id"], &["weight"]));
        let found = "/nodes/0/for_each/expression: for_each_not_array";
        assert!(texts[0].starts_with(found), "{wrong}: {texts:?}");
    }
}

#[test]
fn expressions_may_be_within_arrays_and_around_them() {
    let mut plan = parcels(PARCELS, &["id"], &["weight"]);
    plan["nodes"][0]["for_each"] = json!({"array": ["content", "lines"],
        "for_each": {"expression": "parcels[?id != $.content.id]"}});
    assert_eq!(judged(&plan).0, [""; 0]);
    plan["nodes"][0]["for_each"] =
        json!({"expression": "content.lines[::-1]", "for_each": {"array": ["parcels"]}});
    assert_eq!(judged(&plan).0, [""; 0]);
    plan["nodes"][0]["for_each"]["for_each"]["array"] = json!(["parsels"]);
    let (texts, repaired) = judged(&plan);
    assert_eq!(texts, ["/nodes/0/for_each/for_each/array: unknown_path!"]);
    plan["nodes"][0]["for_each"]["for_each"]["array"] = json!(["parcels"]);
    assert_eq!(repaired, Some(plan));
}

#[test]
fn what_the_schema_declares_of_elements_is_known_of_those_that_an_expression_takes() {
    let schema = json!({"content": {"lines": [{"no": "int64", "gift": "string", "article": {"name": "string"},
        "parcels": [{"id": "string", "sealed": "string"}]}],
        "gifts": [{"gift": "string"}]}});
    let of = |expression: &str, path: &[&str], misspelt: bool| {
        let plan = json!({"event_type": "order.placed", "function_name": "f", "nodes": [{
            "entity_name": "Line",
            "for_each": {"expression": expression},
            "key_fields": [
                {"property_name": "order_id", "expression": "$.content.id"},
                {"property_name": "line_no", "constant": 1},
            ],
            "property_fields": [{"property_name": "article", "source_path": path}],
        }]});
        let texts = judged_with(&plan, &schema);
        assert_eq!(texts.len(), usize::from(misspelt), "{expression}: {texts:?}");
    };
    for lines in ["content.lines[?no > 0]", "content.lines[]", "content.lines[1:] | [::-1]"] {
        of(lines, &["gift"], false);
        of(lines, &["article", "name"], false);
        of(lines, &["giftwrap"], true);
    }
    of("content.lines[].parcels[]", &["sealed"], false);
    of("content.lines[].parcels[]", &["gift"], true);
    of("content.lines[].{name: article.name}", &["gift"], true);
    of("content.lines[].gift", &[], false);
    // What is declared need not be in any sample.
    of("map(&{gift: @}, content.gifts)", &["gift"], false);
    of("content.gifts[]", &["gift"], false);
}
