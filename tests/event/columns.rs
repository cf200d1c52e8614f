//! What the block's rows hold, against `serde_json`.

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use retort::internal::{
    block::{BlockWriter, SlotKind},
    event::{Projection, Projector},
    section::{Input, InputKind, Rows, Section},
};
use retort::plan::{Condition, Expression, Iteration, Level, Listed, Over, Query, Reference, Test};
use serde_json::{Value, json};

use super::values::{mutate, mutation};

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

/// The elements of an iteration over `value`, as paths see them, whatever its condition is.
fn elements(value: &Value, iteration: &Iteration) -> Vec<Value> {
    if let Listed::By(query) = &iteration.list {
        let query = Query::parse_alone(query.text()).unwrap();
        let given = query.evaluate(&value.to_string()).unwrap_or_default();
        // Where it fails, or gives something else, there are none.
        return serde_json::from_str(&given).unwrap_or_default();
    }
    let there =
        iteration.paths().iter().find_map(|path| match (iteration.over(), at(value, path)?) {
            (Over::Array, Value::Array(elements)) => Some(elements.clone()),
            (Over::Entries, Value::Object(entries)) => Some(
                entries.iter().map(|(key, value)| json!({"key": key, "value": value})).collect(),
            ),
            _ => None,
        });
    there.unwrap_or_default()
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
    Some(Iteration::new(over, path.to_vec()))
}

/// Iterations of an event, each with the columns that `choose` takes from all that it could have: of nested ones from all
/// levels. Some have a second path, before or behind the first one, and some a condition.
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
            let mut all = outer.clone();
            let mut levels = vec![event.clone()];
            let mut within = None;
            while !all.is_empty() && levels.len() <= usize::from(Level::DEEPEST.0) {
                let mut iteration = all[choose(all.len())].clone();
                let over = levels.last().unwrap();
                let element = elements(over, &iteration).swap_remove(0);
                chosen.vary(&mut iteration, over, &element, levels.len(), &mut choose);
                let is_entries = iteration.over() == Over::Entries;
                let place = chosen.add(iteration, within);
                within = Some(place);
                levels.push(element);
                let seen: Vec<&Value> = levels.iter().collect();
                chosen.columns(place, &seen, &mut choose);
                let element = levels.last().unwrap();
                let mut below = Vec::new();
                paths(element, &[], &mut below);
                if is_entries {
                    below.remove(0);
                }
                all = below.iter().filter_map(|path| of(element, path)).collect();
            }
        }
        chosen
    }

    /// Adds a second path or a condition, says it by an expression, or none of that.
    fn vary(
        &self,
        iteration: &mut Iteration,
        over: &Value,
        element: &Value,
        level: usize,
        choose: &mut impl FnMut(usize) -> usize,
    ) {
        let mut all = Vec::new();
        paths(over, &[], &mut all);
        // An entry, or the event, isn't gone over as a whole.
        all.retain(|path| !path.is_empty());
        all.push(vec!["no such key".to_owned()]);
        match (&mut iteration.list, choose(6)) {
            (Listed::At(Over::Array, paths), 0 | 1) => {
                paths.insert(choose(2), all[choose(all.len())].clone());
            }
            (Listed::At(Over::Array, paths), 2) => {
                let keys: Vec<String> = paths[0].iter().map(|key| json!(key).to_string()).collect();
                let path = if keys.is_empty() { "@".to_owned() } else { keys.join(".") };
                // Made anew, in another order, with the elements as they are.
                let text = format!("[{path}, [`1`]] | reverse(@) | [1] | reverse(@)");
                let query = Query::parse(&text, Level(level as u8 - 1)).unwrap();
                iteration.list = Listed::By(query);
            }
            _ => {}
        }
        if choose(3) == 0 {
            let mut all = Vec::new();
            paths(element, &[], &mut all);
            all.push(vec!["no such key".to_owned()]);
            let path = all[choose(all.len())].clone();
            let reference = Reference { path, level: Level(level as u8) };
            let exists = Condition::Test(reference, Test::Exists);
            let absent = Condition::Not(Box::new(exists.clone()));
            iteration.condition = Some([exists, absent][choose(2)].clone());
        }
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
            for row in &self.levels(rows, event) {
                for (column, input) in columns.iter_mut().zip(&self.inputs) {
                    if input.rows == Some(index) {
                        column.push(cell(input, event, row));
                    }
                }
            }
        }
        columns
    }

    /// The elements of each row of an iteration, from the outside in.
    fn levels(&self, rows: &Rows, event: &Value) -> Vec<Vec<Value>> {
        let outer = match rows.within {
            None => vec![Vec::new()],
            Some(outer) => self.levels(&self.rows[outer], event),
        };
        let with = |outer: Vec<Value>| {
            let over = outer.last().unwrap_or(event);
            let inner = elements(over, &rows.iteration).into_iter();
            inner.map(|it| [outer.clone(), vec![it]].concat()).collect::<Vec<_>>()
        };
        let all = outer.into_iter().flat_map(with);
        all.filter(|row| holds(rows.iteration.condition.as_ref(), event, row)).collect()
    }
}

fn holds(condition: Option<&Condition>, event: &Value, row: &[Value]) -> bool {
    match condition {
        None => true,
        Some(Condition::Not(inner)) => !holds(Some(inner), event, row),
        Some(Condition::Test(reference, _)) => {
            let root = reference.level.0.checked_sub(1).map_or(event, |at| &row[usize::from(at)]);
            at(root, &reference.path).is_some_and(|value| !value.is_null())
        }
        Some(other) => unreachable!("{other:?}"),
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
        let within = |rows: &&Rows| rows.within.map(|outer| &chosen.rows[outer]);
        let mut around = std::iter::successors(Some(rows), within);
        let is_ordered = around.all(|rows| rows.iteration.over() == Over::Array);
        let found = places.iter().map(|place| Block(block).column(*place, places.len())).collect();
        let wanted = places.iter().map(|place| expected[*place].clone()).collect();
        prop_assert_eq!(sorted(found, is_ordered), sorted(wanted, is_ordered), "{:?}", rows);
    }
    Ok(())
}

/// The rows of these events, and of what becomes of them when they are changed, are what `serde_json` reads.
pub(crate) fn rows_are_what_serde_json_reads(events: &[String]) {
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
