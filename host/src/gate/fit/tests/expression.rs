//! Expressions: the keys that they read, and the types of what they give.

use serde_json::{Value, json};

use super::language::{judged, order_with};

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
