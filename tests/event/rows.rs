//! Iterations: what the block's rows hold, against `serde_json`.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use retort::abi::block::{BlockError, BlockLimits, BlockWriter, SlotKind};
use retort::abi::event::{Projection, Projector};
use retort::abi::section::{Input, InputKind, Rows, Section};
use retort::diagnostics::problem::Coded;
use retort::plan::expr::{Expression, Iteration, Level, Over, Reference};
use serde_json::{Value, json};

use super::{events, mutate, mutation};

/// A block, read as a guest reads it.
pub(super) struct Block<'a>(pub(super) &'a [u8]);

impl Block<'_> {
    fn word(&self, at: usize) -> usize {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap()) as usize
    }

    /// The kind of a record, and what is at its text.
    fn record(&self, at: usize) -> (usize, &[u8]) {
        let (kind, offset, length) = (self.word(at), self.word(at + 4), self.word(at + 8));
        assert!(kind != 0 || (offset, length) == (0, 0), "absent, with a text");
        (kind, &self.0[offset..offset + length])
    }

    fn value(&self, at: usize) -> Option<Value> {
        let (kind, text) = self.record(at);
        let value: Value = (kind != 0).then(|| serde_json::from_slice(text).expect("JSON"))?;
        let expected = match &value {
            Value::Null => SlotKind::Null,
            Value::Bool(_) => SlotKind::Boolean,
            Value::Number(_) => SlotKind::Number,
            Value::String(_) => SlotKind::String,
            Value::Object(_) => SlotKind::Object,
            Value::Array(_) => SlotKind::Array,
        };
        assert_eq!(kind, expected as usize);
        Some(value)
    }

    pub(super) fn slot(&self, index: usize) -> Option<Value> {
        self.value(8 + 12 * index)
    }

    /// A column of an iteration that has `columns`.
    pub(super) fn column(&self, index: usize, columns: usize) -> Vec<Option<Value>> {
        let at = 8 + 12 * index;
        assert_eq!(self.word(at), SlotKind::List as usize);
        let (first, rows) = (self.word(at + 4), self.word(at + 8));
        assert!(rows > 0 || first == 0, "no rows, and a place");
        (0..rows).map(|row| self.value(first + 12 * columns * row)).collect()
    }
}

/// What is at a path of `value`, through objects.
fn at<'v>(value: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.as_object()?.get(key))
}

/// The elements of an iteration over `value`, as paths see them.
fn elements(value: &Value, iteration: &Iteration) -> Vec<Value> {
    match (iteration.over, at(value, &iteration.path)) {
        (Over::Array, Some(Value::Array(elements))) => elements.clone(),
        (Over::Entries, Some(Value::Object(entries))) => {
            entries.iter().map(|(key, value)| json!({"key": key, "value": value})).collect()
        }
        _ => Vec::new(),
    }
}

/// Every path of `value` through objects, the empty one too.
fn paths(value: &Value, prefix: &[String], found: &mut Vec<Vec<String>>) {
    found.push(prefix.to_vec());
    if let Value::Object(members) = value {
        for (key, member) in members {
            let mut path = prefix.to_vec();
            path.push(key.clone());
            paths(member, &path, found);
        }
    }
}

fn of(value: &Value, path: &[String]) -> Option<Iteration> {
    let over = match at(value, path)? {
        Value::Array(elements) if !elements.is_empty() => Over::Array,
        Value::Object(entries) if !entries.is_empty() => Over::Entries,
        _ => return None,
    };
    Some(Iteration { over, path: path.to_vec() })
}

/// Iterations of an event, each with the columns that `choose` takes from all that it could have: of a nested one from all
/// levels.
struct Chosen {
    inputs: Vec<Input>,
    rows: Vec<Rows>,
}

impl Chosen {
    fn new(event: &Value, mut choose: impl FnMut(usize) -> usize) -> Self {
        let mut chosen = Self { inputs: Vec::new(), rows: Vec::new() };
        let mut all = Vec::new();
        paths(event, &[], &mut all);
        let outer: Vec<Iteration> = all.iter().filter_map(|path| of(event, path)).collect();
        for _ in 0..3.min(outer.len()) {
            let iteration = outer[choose(outer.len())].clone();
            let element = elements(event, &iteration).swap_remove(0);
            let place = chosen.add(iteration.clone(), None);
            chosen.columns(place, &[event, &element], &mut choose);
            let mut below = Vec::new();
            paths(&element, &[], &mut below);
            if iteration.over == Over::Entries {
                below.remove(0);
            }
            let inner: Vec<Iteration> =
                below.iter().filter_map(|path| of(&element, path)).collect();
            if !inner.is_empty() {
                let iteration = inner[choose(inner.len())].clone();
                let innermost = elements(&element, &iteration).swap_remove(0);
                let place = chosen.add(iteration, Some(place));
                chosen.columns(place, &[event, &element, &innermost], &mut choose);
            }
        }
        chosen
    }

    fn add(&mut self, iteration: Iteration, within: Option<usize>) -> usize {
        self.rows.push(Rows { iteration, within, only_if: None });
        self.rows.len() - 1
    }

    fn columns(&mut self, rows: usize, levels: &[&Value], choose: &mut impl FnMut(usize) -> usize) {
        for (level, value) in levels.iter().enumerate() {
            let mut all = Vec::new();
            paths(value, &[], &mut all);
            if level == 0 {
                all.remove(0);
            }
            all.push(vec!["no such key".to_owned()]);
            for _ in 0..4 {
                let reference =
                    Reference { path: all[choose(all.len())].clone(), level: Level(level as u8) };
                let what = if choose(4) == 0 {
                    InputKind::Truthy(reference)
                } else {
                    InputKind::Value(Expression::path(reference))
                };
                self.inputs.push(Input { rows: Some(rows), ..Input::of(what) });
            }
        }
    }

    /// What each column holds, by what `serde_json` reads. Entries come in the order of their keys.
    fn expected(&self, event: &Value) -> Vec<Vec<Option<Value>>> {
        let mut columns = vec![Vec::new(); self.inputs.len()];
        for (index, rows) in self.rows.iter().enumerate() {
            let levels = match rows.within {
                None => elements(event, &rows.iteration).into_iter().map(|it| vec![it]).collect(),
                Some(outer) => {
                    let outer = elements(event, &self.rows[outer].iteration);
                    let inner = outer.into_iter().flat_map(|outer| {
                        let inner = elements(&outer, &rows.iteration);
                        inner.into_iter().map(move |inner| vec![outer.clone(), inner])
                    });
                    inner.collect::<Vec<_>>()
                }
            };
            for row in &levels {
                for (column, input) in columns.iter_mut().zip(&self.inputs) {
                    if input.rows == Some(index) {
                        column.push(cell(input, event, row));
                    }
                }
            }
        }
        columns
    }
}

fn cell(input: &Input, event: &Value, row: &[Value]) -> Option<Value> {
    let reference = input.references()[0].clone();
    let root = reference.level.0.checked_sub(1).map_or(event, |level| &row[usize::from(level)]);
    let value = at(root, &reference.path)?;
    Some(match input.what {
        InputKind::Truthy(_) => Value::Bool(match value {
            Value::Null => false,
            Value::Bool(boolean) => *boolean,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(list) => !list.is_empty(),
            Value::Object(map) => !map.is_empty(),
        }),
        _ => value.clone(),
    })
}

fn section(inputs: &[Input], rows: &[Rows]) -> Section {
    Section::new("f", vec!["e".to_owned()], inputs.to_vec(), rows.to_vec())
        .expect("within the bounds")
}

/// The rows of an iteration, with those of objects, whose order is the event's, in some order of their own.
fn sorted(columns: Vec<Vec<Option<Value>>>, is_ordered: bool) -> Vec<String> {
    let rows = columns.first().map_or(0, Vec::len);
    let row = |row: usize| -> String {
        let cells: Vec<&Option<Value>> = columns.iter().map(|column| &column[row]).collect();
        format!("{cells:?}")
    };
    let mut rows: Vec<String> = (0..rows).map(row).collect();
    if !is_ordered {
        rows.sort();
    }
    rows
}

fn same_rows(event: &[u8], value: &Value, seed: u64) -> Result<(), TestCaseError> {
    let mut state = seed;
    let chosen = Chosen::new(value, |count| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    });
    let projector = Projector::of(&section(&chosen.inputs, &chosen.rows));
    let mut projection = Projection::default();
    let mut writer = BlockWriter::default();
    projector.project(event, &mut projection).map_err(|it| TestCaseError::fail(it.to_string()))?;
    let block = writer
        .write(&projector, event, &projection, usize::MAX)
        .map_err(|error| TestCaseError::fail(error.to_string()))?;
    let expected = chosen.expected(value);
    for (index, rows) in chosen.rows.iter().enumerate() {
        let own = |input: &Input| input.rows == Some(index);
        let places: Vec<usize> =
            (0..chosen.inputs.len()).filter(|it| own(&chosen.inputs[*it])).collect();
        let outer = rows.within.map(|outer| chosen.rows[outer].iteration.over);
        let is_ordered = rows.iteration.over == Over::Array && outer != Some(Over::Entries);
        let found = places.iter().map(|place| Block(block).column(*place, places.len())).collect();
        let wanted = places.iter().map(|place| expected[*place].clone()).collect();
        prop_assert_eq!(sorted(found, is_ordered), sorted(wanted, is_ordered), "{:?}", rows);
    }
    Ok(())
}

#[test]
fn the_rows_of_real_and_of_mutated_events_are_what_serde_json_reads() {
    let events = events();
    for (index, event) in events.iter().enumerate() {
        let value: Value = serde_json::from_str(event).expect("events are JSON");
        for seed in 0..8 {
            same_rows(event.as_bytes(), &value, seed)
                .unwrap_or_else(|fault| panic!("{index}: {fault}"));
        }
    }
    let config =
        ProptestConfig { cases: 6_000, failure_persistence: None, ..ProptestConfig::default() };
    let mutations = proptest::collection::vec(mutation(), 1..4);
    let cases = (0..events.len(), any::<u64>(), mutations);
    let outcome = TestRunner::new(config).run(&cases, |(index, seed, mutations)| {
        let text = mutate(&events[index], &mutations);
        match serde_json::from_slice::<Value>(&text) {
            Ok(value) if value.is_object() => same_rows(&text, &value, seed),
            _ => Ok(()),
        }
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// The block of an event for a section, or its error; with what it took.
pub(super) fn written(
    section: &str,
    event: &str,
    limits: impl Into<BlockLimits>,
) -> Result<(Vec<u8>, retort::abi::block::Spent), BlockError> {
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
    assert_eq!(
        written(section, &event, fuel(spent.fuel - 1)).unwrap_err(),
        BlockError::OutOfFuel { used: spent.fuel, allowed: spent.fuel - 1 }
    );
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
