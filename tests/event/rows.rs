//! Iterations: what the block's rows hold.

use std::collections::BTreeMap;

use retort::Coded;
use retort::internal::{
    block::{BlockLimits, BlockWriter},
    event::{Projection, Projector},
    section::Section,
};
use retort::sandbox::BlockError;
use serde_json::{Value, json};

use super::columns::Block;

/// The block of an event for a section, or its error; with what it took.
pub(super) fn written(
    section: &str,
    event: &str,
    limits: impl Into<BlockLimits>,
) -> Result<(Vec<u8>, retort::internal::block::Spent), BlockError> {
    let section = format!(r#"{{"abi":1,"function":"f","event_types":["e"],{section}}}"#);
    let projector = Projector::of(&Section::parse(section.as_bytes()).unwrap());
    let mut projection = Projection::default();
    projector.project(event.as_bytes(), &mut projection).unwrap();
    let mut writer = BlockWriter::default();
    let block = writer.write(&projector, event.as_bytes(), &projection, limits)?.to_vec();
    Ok((block, writer.spent()))
}

#[test]
fn of_equal_keys_the_last_counts_at_every_level() {
    let section = r#""inputs":[{"path":["v"],"level":1,"rows":0},{"path":["key"],"level":2,"rows":1},
        {"path":["value"],"level":2,"rows":1},{"path":[],"level":2,"rows":1}],
        "rows":[{"array":["a"]},{"entries":["o"],"within":0}]"#;
    let event = r#"{"a":[{"v":0}],"a":[{"v":1,"v":{"x":2},"o":{"z":9},"o":{"k":1,"\u006b":[2],"b\n":3}},5,
        {"o":[1]},{"o":{}}]}"#;
    let (block, _) = written(section, event, usize::MAX).unwrap();
    let block = Block(&block);
    assert_eq!(block.column(0, 1), [Some(json!({"x": 2})), None, None, None]);
    assert_eq!(block.column(1, 3), [Some(json!("k")), Some(json!("b\n"))]);
    assert_eq!(block.column(2, 3), [Some(json!([2])), Some(json!(3))]);
    let entries = [json!({"key": "k", "value": [2]}), json!({"key": "b\n", "value": 3})];
    assert_eq!(block.column(3, 3), entries.map(Some));
}

#[test]
fn what_is_ruled_out_is_not_worked_out() {
    let section = r#""inputs":[{"path":["go"],"as":"truthy"},
        {"path":["t"],"as":["timestamp"],"if":0,"on_error":"reject"},
        {"path":["ok"],"level":1,"as":"truthy","rows":0},
        {"path":["n"],"level":1,"as":["to_int64"],"rows":0,"if":2},
        {"when":{"path":["n"],"level":1,"exists":true},"rows":0,"if":0}],
        "rows":[{"array":["a"],"if":0}]"#;
    let event = |go: bool, t: &str| {
        format!(
            r#"{{"go":{go},"t":{t},"a":[{{"n":"x"}},{{"ok":1,"n":"7"}},{{"ok":true,"n":"x"}},{{"ok":0}}]}}"#
        )
    };
    let (block, spent) = written(section, &event(false, "[]"), usize::MAX).unwrap();
    assert_eq!((Block(&block).slot(0), Block(&block).slot(1)), (Some(json!(false)), None));
    assert!((2..5).all(|column| Block(&block).column(column, 3).is_empty()));
    assert_eq!((spent.fuel, spent.failed_conversions), (0, 0));

    let (block, spent) = written(section, &event(true, "0"), usize::MAX).unwrap();
    let block = Block(&block);
    assert_eq!(block.slot(1), Some(json!("1970-01-01T00:00:00Z")));
    assert_eq!(
        block.column(2, 3),
        [None, Some(json!(true)), Some(json!(true)), Some(json!(false))]
    );
    assert_eq!(block.column(3, 3), [None, Some(json!(7)), None, None]);
    assert_eq!(block.column(4, 3), [true, true, true, false].map(|it| Some(json!(it))));
    assert_eq!(spent.failed_conversions, 1);
    assert!(spent.fuel > 0);

    let error = written(section, &event(true, "\"soon\""), usize::MAX).unwrap_err();
    assert_eq!(error.code(), "conversion_failed");
    let text = error.to_string();
    assert!(text.contains("value of t ") && text.contains("timestamp"), "{text}");
    assert!(!text.contains("soon"), "{text}");
}

#[test]
fn a_column_says_where_it_comes_from_when_it_turns_the_event_down() {
    let section = r#""inputs":[{"coalesce":[{"path":["a.b\n"],"level":2,"as":["date"]},{"path":["x"],"level":1},{"path":["y"]}],
        "as":["trim","lower"],"rows":1,"on_error":"reject"}],"rows":[{"array":["l"]},{"array":["m","n"],"within":0}]"#;
    let event = r#"{"l":[{"m":{"n":[{"a.b\n":"?"}]}}]}"#;
    let text = written(section, event, usize::MAX).unwrap_err().to_string();
    assert!(
        text.contains(r"l[].m.n[].a.b\n, l[].x, y ") && text.contains("date, trim, lower"),
        "{text}"
    );
}

#[test]
fn what_is_outside_an_element_is_written_once() {
    let long = "x".repeat(1000);
    let event = json!({"s": long, "a": [{"t": long, "b": (0..50).collect::<Vec<_>>()}, {"t": long, "b": [1, 2]}]});
    let section = r#""inputs":[{"path":["s"],"rows":1},{"path":["t"],"level":1,"rows":1},
        {"template":[{"path":["s"]},"-",{"path":["t"],"level":1}],"as":["upper"],"rows":1},
        {"path":[],"level":2,"rows":1}],"rows":[{"array":["a"]},{"array":["b"],"within":0}]"#;
    let (block, spent) = written(section, &event.to_string(), usize::MAX).unwrap();
    assert_eq!(Block(&block).column(0, 4), vec![Some(json!(long)); 52]);
    assert_eq!(Block(&block).column(1, 4), vec![Some(json!(long)); 52]);
    // The header and four slots, 52 rows of four, once `s`, twice `t`, twice the template, and the numbers.
    let texts = 1002 + 2 * 1002 + 2 * 2003 + (10 + 2 * 40 + 2);
    assert_eq!(block.len(), 8 + 12 * 4 + 12 * 4 * 52 + texts);
    // Twice the template, which takes tens of thousands, and not once for each row.
    assert!(spent.fuel < 200_000, "{}", spent.fuel);
}

#[test]
fn limits_hold_over_all_iterations() {
    let section = r#""inputs":[{"path":["k"],"level":1,"rows":0},{"path":[],"level":2,"rows":1}],
        "rows":[{"array":["a"]},{"array":["b"],"within":0}]"#;
    let event = json!({"a": [{"b": [1, 2, 3]}, {"b": [4, 5]}]}).to_string();
    let rows = |rows| BlockLimits { rows, ..usize::MAX.into() };
    assert!(written(section, &event, rows(7)).is_ok());
    assert_eq!(
        written(section, &event, rows(6)).unwrap_err(),
        BlockError::TooManyRows { allowed: 6 }
    );
    let (block, spent) = written(section, &event, usize::MAX).unwrap();
    assert!(written(section, &event, block.len()).is_ok());
    let small = written(section, &event, block.len() - 1).unwrap_err();
    assert_eq!(small.code(), "input_too_large");
    let fuel = |fuel| BlockLimits { fuel, ..usize::MAX.into() };
    assert!(written(section, &event, fuel(spent.fuel)).is_ok());
    let spent_before = written(section, &event, fuel(spent.fuel - 1)).unwrap_err();
    assert_eq!(spent_before.usage(), Some((spent.fuel, spent.fuel - 1)));
    let message = spent_before.to_string();
    assert!(message.contains("most of it went to rows[1] (b): "), "{message}");
    assert!(message.contains(", rows[0] (a): "), "{message}");
}

#[test]
fn hostile_events_cost_what_their_size_allows() {
    let section = r#""inputs":[{"path":["k"],"level":1,"rows":0},{"path":["key"],"level":2,"rows":1},{"path":["s"],"rows":0}],
        "rows":[{"array":["a"]},{"entries":["o"],"within":0}]"#;
    let many =
        format!(r#"{{"s":"{}","a":[{}]}}"#, "y".repeat(100_000), vec!["{}"; 1_000_000].join(","));
    let refused = written(section, &many, usize::MAX).unwrap_err();
    assert_eq!(refused, BlockError::TooManyRows { allowed: 65_536 });
    let limits = BlockLimits { rows: usize::MAX, ..usize::MAX.into() };
    let (block, _) = written(section, &many, limits).unwrap();
    assert_eq!(block.len(), 8 + 12 * 3 + 2 * 12 * 1_000_000 + 100_002);
    let small = written(section, &many, BlockLimits { rows: usize::MAX, ..(4 << 20).into() });
    assert_eq!(small.unwrap_err().code(), "input_too_large");

    // A key that comes back is one row; a million different ones are too many before they are all kept.
    let repeated = format!(r#"{{"a":[{{"o":{{{}}}}}]}}"#, vec![r#""k":1"#; 500_000].join(","));
    let (block, _) = written(section, &repeated, usize::MAX).unwrap();
    assert_eq!(Block(&block).column(1, 1), [Some(json!("k"))]);
    let keys: Vec<String> = (0..200_000).map(|key| format!(r#""{key}":0"#)).collect();
    let different = format!(r#"{{"a":[{{"o":{{{}}}}}]}}"#, keys.join(","));
    assert_eq!(written(section, &different, usize::MAX).unwrap_err().code(), "too_many_rows");

    // As deep as an event may be, inside of elements; and the same array a hundred thousand times.
    let deep = format!(r#"{{"a":[{{"k":{}{}}},7]}}"#, "[".repeat(124), "]".repeat(124));
    let (block, _) = written(section, &deep, usize::MAX).unwrap();
    assert_eq!(Block(&block).column(0, 2).len(), 2);
    let duplicates = format!(r#"{{{}"a":[{{"k":1}}]}}"#, r#""a":[{},{},{}],"#.repeat(100_000));
    let (block, _) = written(section, &duplicates, usize::MAX).unwrap();
    assert_eq!(Block(&block).column(0, 2), [Some(json!(1))]);
}

#[test]
fn values_conditions_and_templates_are_worked_out_for_slots_and_rows() {
    let section = r#""inputs":[
        {"when":{"any":[{"path":["type"],"starts_with":"order."},{"path":["type"],"one_of":["refund","return"]}]}},
        {"template":[{"path":["id"]},"/",{"path":["n"]}],"as":["upper"]},
        {"coalesce":[{"path":["missing"]},{"path":["none"]},{"constant":7}]},
        {"template":[{"path":["id"]},":",{"path":["no"],"level":1}],"rows":0},
        {"coalesce":[{"path":["note"],"level":1},{"path":["id"],"as":["lower"]}],"rows":0},
        {"constant":"c","as":["length"],"rows":0}],
        "rows":[{"array":["lines"]}]"#;
    let event = r#"{"type":"order.paid","id":"a\u00e4\"","n":1.50,"none":null,
        "lines":[{"no":1},{"no":{}},{"no":"\u0032","note":"x"}]}"#;
    let (block, _) = written(section, event, usize::MAX).unwrap();
    let block = Block(&block);
    let slots: BTreeMap<usize, Option<Value>> =
        (0..3).map(|slot| (slot, block.slot(slot))).collect();
    assert_eq!(slots[&0], Some(json!(true)));
    assert_eq!(slots[&1], Some(json!("AÄ\"/1.50")));
    assert_eq!(slots[&2], Some(json!(7)));
    assert_eq!(block.column(3, 3), [Some(json!("aä\":1")), None, Some(json!("aä\":2"))]);
    assert_eq!(block.column(4, 3), [json!("aä\""), json!("aä\""), json!("x")].map(Some));
    assert_eq!(block.column(5, 3), vec![Some(json!(1)); 3]);
}

#[test]
fn a_list_is_gone_over_once_for_all_keys_that_are_looked_up_in_it() {
    let attributes: Vec<Value> = (0..40)
        .map(|n| json!({"key": format!("k{n}"), "value": {"text": format!("v{n}")}}))
        .collect();
    // The first list is of the event, the second one of an element, and the third one an entry of an object, put together anew
    // for each.
    let event = json!({"a": attributes, "rows": [{"a": attributes}, {"a": [{"key": "k3", "value": {"text": "other"}}]}],
        "o": {"x": [{"key": "k0", "value": {"text": "x"}}], "y": [{"key": "k0", "value": {"text": "y"}}]}})
    .to_string();
    let input = |n: usize, path: &str, rest: &str| {
        let text = format!("{path}[?key=='k{n}'].value.text | [0]");
        format!(r#"{{"expression":{{"text":"{text}"{rest}}}}}"#)
    };
    let section = |count: usize, path: &str, rest: &str, rows: &str| {
        let inputs: Vec<String> = (0..count).map(|n| input(n, path, rest)).collect();
        let inputs: Vec<String> =
            inputs.into_iter().map(|it| it.replace("}}", &format!("}}{rows}}}"))).collect();
        format!(
            r#""inputs":[{}],"rows":[{{"array":["rows"]}},{{"entries":["o"]}}]"#,
            inputs.join(",")
        )
    };
    let fuel = |count| written(&section(count, "a", "", ""), &event, usize::MAX).unwrap().1.fuel;
    let (one, two, nine) = (fuel(1), fuel(2), fuel(9));
    assert_eq!(nine - two, 7 * (two - one), "each costs the same");
    assert!(3 * (two - one) < one, "{one} for the first, {} for each further one", two - one);
    let (block, _) = written(&section(5, "a", "", ""), &event, usize::MAX).unwrap();
    assert_eq!(Block(&block).slot(4), Some(json!("v4")));

    let rows = r#","rows":0"#;
    let (block, _) = written(&section(5, "a", r#","level":1"#, rows), &event, usize::MAX).unwrap();
    assert_eq!(Block(&block).column(3, 5), [Some(json!("v3")), Some(json!("other"))]);
    assert_eq!(Block(&block).column(4, 5), [Some(json!("v4")), None]);

    let rows = r#","rows":1"#;
    let (block, _) =
        written(&section(2, "@.value", r#","level":1"#, rows), &event, usize::MAX).unwrap();
    assert_eq!(Block(&block).column(0, 2), [Some(json!("x")), Some(json!("y"))]);
}

#[test]
fn what_expressions_have_in_common_is_evaluated_once_for_each_element() {
    let bodies = [
        r#"{"a":1,"b":"x","ok":true}"#,
        "{",
        r#"{"a":2,"b":"y","ok":false}"#,
        "[]",
        r#"{"a":3,"b":"z","ok":true}"#,
    ];
    let rows: Vec<Value> = bodies.iter().map(|body| json!({"body": body})).collect();
    let event =
        json!({"rows": rows, "names": ["p", "q"], "more": [{"body": r#"{"a":4}"#}]}).to_string();
    let input = |text: &str, rest: &str| format!(r#"{{"expression":{{"text":"{text}"{rest}}}"#);
    let column =
        |text: &str, rows: usize| input(text, r#","level":1"#) + &format!(r#","rows":{rows}}}"#);
    let section = |columns: &[&str], condition: &str| {
        let mut inputs: Vec<String> = columns.iter().map(|text| column(text, 0)).collect();
        inputs.push(column("parse_json(body).a", 1));
        inputs.push(input("join(',', names[])", "") + "}");
        format!(
            r#""inputs":[{}],"rows":[{{"array":["rows"]{condition}}},{{"array":["more"]}}]"#,
            inputs.join(",")
        )
    };
    let columns = [
        "parse_json(body).a",
        "parse_json(body).b",
        "parse_json(body) | type(@)",
        "join(',', $event.names[])",
    ];
    let (block, spent) = written(&section(&columns, ""), &event, usize::MAX).unwrap();
    let block = Block(&block);
    assert_eq!(block.column(0, 4), [Some(json!(1)), None, Some(json!(2)), None, Some(json!(3))]);
    assert_eq!(
        block.column(1, 4),
        [Some(json!("x")), None, Some(json!("y")), None, Some(json!("z"))]
    );
    let kinds = ["object", "", "object", "array", "object"];
    let kinds: Vec<_> = kinds.iter().map(|it| (!it.is_empty()).then(|| json!(it))).collect();
    assert_eq!(block.column(2, 4), kinds);
    assert_eq!(block.column(3, 4), vec![Some(json!("p,q")); 5]);
    assert_eq!(block.column(4, 1), [Some(json!(4))]);
    assert_eq!(block.slot(5), Some(json!("p,q")));
    // What can't be read as JSON has failed in each that reads it.
    assert_eq!(spent.failed_conversions, 3);
    // Of elements that are passed over, nothing is left for the next one.
    let condition = r#","where":{"expression":{"text":"parse_json(body).ok","level":1}}"#;
    let (block, _) = written(&section(&columns, condition), &event, usize::MAX).unwrap();
    assert_eq!(Block(&block).column(0, 4), [Some(json!(1)), Some(json!(3))]);
    // The second one that reads it costs a fraction of the first.
    let fuel = |columns| written(&section(columns, ""), &event, usize::MAX).unwrap().1.fuel;
    let (none, one, two) = (fuel(&columns[..0]), fuel(&columns[..1]), fuel(&columns[..2]));
    assert!(two - one < one - none, "{none} {one} {two}");
}
