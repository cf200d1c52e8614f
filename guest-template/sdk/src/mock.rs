//! Extractors run natively, in tests: an input block is made of an event, and what comes out can be looked at.
//!
//! It knows paths, `truthy`, `if`, iterations over arrays and entries, and the conversions that are plain: `to_string`,
//! `to_int64`, `to_double`, `to_boolean`, `to_json_text`, `lower`, `upper`, `trim` and `length`. Everything else is the host's:
//! a test says with [`MockEvent::set`], [`MockEvent::column`] and [`MockEvent::rows`] what it would have given, and is told by
//! name what it forgot. What is here is right for plain events; `retort check` is what tries an extractor as it will be run.
//!
//! ```
//! # use retort_guest::prelude::*;
//! # extractor! { function: f, event_types: ["a"], inputs: { id: ["id"], }, }
//! # fn f(event: &Event<'_>, graph: &mut Graph) {
//! #     if let Some(mut node) = graph.node("A").key("id", event.id).add() { node.set("n", 1_i64); }
//! # }
//! let result = retort_guest::mock::event::<Extractor>(r#"{"id": 7}"#).run();
//! assert_eq!(result.node("A").id, ":A:id=7");
//! assert_eq!(result.node("A").property("n").i64(), Some(1));
//! ```

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::block::{Block, Extractor};
use crate::declaration::{Declaration, Input, levels_up};
use crate::json_tree::Json;
use crate::number;
use crate::out::Out;
use crate::property::Property as _;
use crate::value::{Kind, Value};

/// An event for an extractor, of its JSON text.
///
/// # Panics
/// Where the text isn't JSON.
#[must_use]
pub fn event<T: Extractor>(text: &str) -> MockEvent<T> {
    if let Err(error) = Json::parse(text) {
        panic!("the event: {error}");
    }
    MockEvent {
        text: text.trim().to_owned(),
        set: BTreeMap::new(),
        columns: BTreeMap::new(),
        rows: BTreeMap::new(),
        extractor: PhantomData,
    }
}

/// An event that an extractor can be run over.
#[derive(Debug)]
pub struct MockEvent<T> {
    text: String,
    /// Values by input, as JSON; empty for an absent one.
    set: BTreeMap<String, String>,
    /// Values by iteration and column.
    columns: BTreeMap<(String, String), Vec<String>>,
    /// Elements by iteration.
    rows: BTreeMap<String, Vec<String>>,
    extractor: PhantomData<T>,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MockResult {
    /// The result, as it was written.
    pub json: String,
    /// The nodes.
    pub nodes: Vec<MockNode>,
    /// The edges.
    pub edges: Vec<MockEdge>,
    /// Ids of spans.
    pub fully_handled: Vec<String>,
    /// Ids of spans.
    pub partially_handled: Vec<String>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct MockNode {
    /// Its id.
    pub id: String,
    /// Its entity.
    pub entity: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Names and values.
    pub properties: Vec<(String, Json)>,
}

/// An edge.
#[derive(Clone, Debug, PartialEq)]
pub struct MockEdge {
    /// Its id.
    pub id: String,
    /// Its name.
    pub relationship: String,
    /// The id of the node that it begins at.
    pub from: String,
    /// The id of the node that it leads to.
    pub to: String,
    /// Names and values.
    pub properties: Vec<(String, Json)>,
}

impl<T: Extractor> MockEvent<T> {
    /// Says what an input is, in JSON; the empty text is an absent one.
    #[must_use]
    pub fn set(mut self, input: &str, json: &str) -> Self {
        self.set.insert(input.to_owned(), json.to_owned());
        self
    }

    /// Says what a column is in each row, in JSON.
    #[must_use]
    pub fn column(mut self, rows: &str, column: &str, json: &[&str]) -> Self {
        let values = json.iter().map(ToString::to_string).collect();
        self.columns.insert((rows.to_owned(), column.to_owned()), values);
        self
    }

    /// Says what an iteration goes over, in JSON.
    #[must_use]
    pub fn rows(mut self, rows: &str, elements: &[&str]) -> Self {
        self.rows.insert(rows.to_owned(), elements.iter().map(ToString::to_string).collect());
        self
    }

    /// The input block that the extractor is given.
    ///
    /// # Panics
    /// Where the declaration has something that only the host can work out, and the test doesn't say what it is.
    #[must_use]
    pub fn block(&self) -> Vec<u8> {
        let declaration = T::DECLARATION;
        for name in self.set.keys() {
            let known = declaration.inputs.iter().any(|input| input.name == name);
            assert!(known, "no input is `{name}`");
        }
        let mut values: Vec<Text> = Vec::new();
        for input in declaration.inputs {
            let value = match self.set.get(input.name) {
                Some(set) => Text::of(set),
                None if !holds(input, &[], &declaration, &values) => Text::ABSENT,
                None => evaluated(input, &[Value::of_text(&self.text)]),
            };
            values.push(value);
        }
        let mut tables: Vec<Vec<Vec<Text>>> = Vec::new();
        let mut elements: Vec<Vec<Vec<String>>> = Vec::new();
        for (place, rows) in declaration.rows.iter().enumerate() {
            let found = self.elements(&declaration, place, &elements, &values);
            let mut table = Vec::new();
            for (number, row) in found.iter().enumerate() {
                let mut around = vec![Value::of_text(&self.text)];
                around.extend(row.iter().map(|element| Value::of_text(element)));
                let mut record = Vec::new();
                for column in rows.columns {
                    let key = (rows.name.to_owned(), column.name.to_owned());
                    let value = match self.columns.get(&key) {
                        Some(set) => Text::of(set.get(number).map_or("", String::as_str)),
                        None if !holds(
                            column,
                            rows.columns,
                            &declaration,
                            &[&values[..], &record].concat(),
                        ) =>
                        {
                            Text::ABSENT
                        }
                        None => evaluated(column, &around),
                    };
                    record.push(value);
                }
                table.push(record);
            }
            tables.push(table);
            elements.push(found);
        }
        block(&declaration, &values, &tables)
    }

    /// The elements of an iteration, each with those around it before it.
    fn elements(
        &self,
        declaration: &Declaration,
        place: usize,
        earlier: &[Vec<Vec<String>>],
        values: &[Text],
    ) -> Vec<Vec<String>> {
        let rows = &declaration.rows[place];
        let guard = rows.guard.and_then(|guard| position(declaration.inputs, guard));
        if guard.is_some_and(|guard| values[guard].json != "true") {
            return Vec::new();
        }
        let around = match declaration.within(place) {
            Some(outer) => earlier[outer].clone(),
            None => vec![Vec::new()],
        };
        if let Some(set) = self.rows.get(rows.name) {
            assert!(rows.within.is_none(), "the rows `{}` lie in others: set those", rows.name);
            return set.iter().map(|element| vec![element.clone()]).collect();
        }
        let (None | Some("entries"), Some(path), None) = (rows.kind, rows.path, rows.condition)
        else {
            panic!("only the host can go over `{}`: say what it goes over with `rows`", rows.name);
        };
        let mut all = Vec::new();
        for outer in around {
            let start = outer.last().map_or(self.text.as_str(), String::as_str);
            let list = at(Value::of_text(start), path);
            let mut inside: Vec<String> = Vec::new();
            if rows.kind.is_none() {
                inside.extend(list.items().map(|item| item.raw().to_owned()));
            } else {
                let mut keys: Vec<String> = Vec::new();
                for (key, _) in list.entries() {
                    if !keys.iter().any(|known| *known == key) {
                        keys.push(key.into_owned());
                    }
                }
                for key in keys {
                    let mut text = Out::default();
                    text.string(&key);
                    let key_text = String::from_utf8_lossy(text.as_slice()).into_owned();
                    inside
                        .push(format!(r#"{{"key":{key_text},"value":{}}}"#, list.get(&key).raw()));
                }
            }
            all.extend(inside.into_iter().map(|element| {
                let mut row = outer.clone();
                row.push(element);
                row
            }));
        }
        all
    }

    /// Runs the extractor.
    ///
    /// # Panics
    /// As [`block`](Self::block), where the extractor does, and where a result that was put together by hand isn't one.
    #[must_use]
    pub fn run(&self) -> MockResult {
        let block = self.block();
        let json = T::call(Block::new(&block));
        let json = String::from_utf8(json.into_owned()).expect("the result is UTF-8");
        MockResult::parse(json)
    }
}

impl MockResult {
    /// The one node of this entity.
    ///
    /// # Panics
    /// Where there is none, or more than one.
    #[must_use]
    pub fn node(&self, entity: &str) -> &MockNode {
        let mut found = self.nodes.iter().filter(|node| node.entity == entity);
        let node =
            found.next().unwrap_or_else(|| panic!("no node is of `{entity}`: {}", self.json));
        assert!(found.next().is_none(), "more than one node is of `{entity}`: {}", self.json);
        node
    }

    /// Whether the event was declined.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.edges.is_empty()
            && self.fully_handled.is_empty()
            && self.partially_handled.is_empty()
    }

    fn parse(json: String) -> Self {
        let tree = Json::parse(&json).unwrap_or_else(|error| panic!("the result: {error}: {json}"));
        let text = |value: &Json| match value.str() {
            Some(text) => text.to_owned(),
            None => panic!("the result: expected a string, found {value:?}: {json}"),
        };
        let texts = |value: &Json| value.items().iter().map(text).collect();
        let properties = |value: &Json| {
            let property = |it: &Json| (text(&it["name"]), it["value"].clone());
            value.items().iter().map(property).collect()
        };
        let nodes = tree["nodes"].items().iter().map(|node| MockNode {
            id: text(&node["node_id"]),
            entity: text(&node["entity_name"]),
            labels: texts(&node["labels"]),
            properties: properties(&node["properties"]),
        });
        let edges = tree["edges"].items().iter().map(|edge| MockEdge {
            id: text(&edge["edge_id"]),
            relationship: text(&edge["relationship_name"]),
            from: text(&edge["from_node_id"]),
            to: text(&edge["to_node_id"]),
            properties: properties(&edge["properties"]),
        });
        Self {
            nodes: nodes.collect(),
            edges: edges.collect(),
            fully_handled: texts(&tree["fully_handled_span_ids"]),
            partially_handled: texts(&tree["partially_handled_span_ids"]),
            json,
        }
    }
}

static NULL: Json = Json::Null;

fn property<'a>(properties: &'a [(String, Json)], name: &str) -> &'a Json {
    properties.iter().find(|property| property.0 == name).map_or(&NULL, |property| &property.1)
}

impl MockNode {
    /// The value of a property; null where there is none.
    #[must_use]
    pub fn property(&self, name: &str) -> &Json {
        property(&self.properties, name)
    }
}

impl MockEdge {
    /// The value of a property; null where there is none.
    #[must_use]
    pub fn property(&self, name: &str) -> &Json {
        property(&self.properties, name)
    }
}

/// The text of a slot; empty where it is absent.
#[derive(Clone, Debug, PartialEq)]
struct Text {
    json: String,
}

impl Text {
    const ABSENT: Self = Self { json: String::new() };

    fn of(json: &str) -> Self {
        let value = Value::of_text(json.trim());
        Self { json: value.str().map_or(value.raw().to_owned(), |text| quoted(&text)) }
    }
}

fn quoted(text: &str) -> String {
    let mut out = Out::default();
    text.write(&mut out);
    String::from_utf8_lossy(out.as_slice()).into_owned()
}

fn position(inputs: &[Input], name: &str) -> Option<usize> {
    inputs.iter().position(|input| input.name == name)
}

/// Whether the guard of an input holds. `values` are those of the inputs, then those of the row so far.
fn holds(input: &Input, columns: &[Input], declaration: &Declaration, values: &[Text]) -> bool {
    let Some(guard) = input.guard else { return true };
    let place = match position(columns, guard) {
        Some(column) => declaration.inputs.len() + column,
        None => position(declaration.inputs, guard).unwrap_or(usize::MAX),
    };
    values.get(place).is_some_and(|value| value.json == "true")
}

fn at<'a>(start: Value<'a>, path: &[&str]) -> Value<'a> {
    path.iter().fold(start, |value, key| value.get(key))
}

/// An input of the event and the elements around, from the outside in.
fn evaluated(input: &Input, around: &[Value<'_>]) -> Text {
    let innermost = around.len() - 1;
    let (level, truthy) = match input.kind {
        None => (innermost, false),
        Some("truthy") => (innermost, true),
        Some(kind) => match levels_up(kind) {
            Some(usize::MAX) => (0, false),
            Some(up) => (innermost.saturating_sub(up), false),
            None => only_host(input),
        },
    };
    let value = at(around[level], input.path.unwrap_or_default());
    if truthy {
        return Text {
            json: if value.is_absent() { String::new() } else { is_truthy(value).to_string() },
        };
    }
    let mut text = Text::of(value.raw());
    for step in input.convert.unwrap_or_default() {
        if matches!(Kind::of_text(&text.json), Kind::Absent | Kind::Null) {
            break;
        }
        let converted = converted(Value::of_text(&text.json), step);
        text = Text { json: converted.unwrap_or_else(|| only_host(input)).unwrap_or_default() };
    }
    text
}

fn only_host(input: &Input) -> ! {
    panic!("only the host can work out `{}`: say what it is with `set` or `column`", input.name);
}

fn is_truthy(value: Value<'_>) -> bool {
    let digits = value.number().map(|number| number.split(['e', 'E']).next().unwrap_or_default());
    match value.kind() {
        Kind::Bool => value.is_true(),
        Kind::Number => digits.unwrap_or_default().bytes().any(|byte| matches!(byte, b'1'..=b'9')),
        Kind::String => value.str().is_some_and(|text| !text.is_empty()),
        Kind::Array => value.items().next().is_some(),
        Kind::Object => value.entries().next().is_some(),
        Kind::Absent | Kind::Null | Kind::Denied => false,
    }
}

/// `None` where only the host can do it, and `Some(None)` where it fails.
fn converted(value: Value<'_>, step: &str) -> Option<Option<String>> {
    let text = value.str();
    Some(match step {
        "to_string" => value.text().map(|text| quoted(&text)),
        "to_int64" => match &text {
            Some(text) => {
                let digits = text.strip_prefix('-').unwrap_or(text);
                let is_whole =
                    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                is_whole.then(|| text.parse::<i64>().ok()).flatten()
            }
            None => value.i64(),
        }
        .map(|number| number.to_string()),
        "to_double" => {
            let text = text.unwrap_or(value.number().unwrap_or_default().into());
            let is_number =
                Value::of_text(&text).kind() == Kind::Number && Json::parse(&text).is_ok();
            (is_number && number::to_f64(&text).is_some()).then(|| text.into_owned())
        }
        "to_boolean" => match (value.bool(), &text, value.f64()) {
            (Some(value), ..) => Some(value),
            (_, Some(text), _) if text.eq_ignore_ascii_case("true") => Some(true),
            (_, Some(text), _) if text.eq_ignore_ascii_case("false") => Some(false),
            (_, _, Some(1.0)) => Some(true),
            (_, _, Some(0.0)) => Some(false),
            _ => None,
        }
        .map(|value| value.to_string()),
        "lower" => text.map(|text| quoted(&text.to_lowercase())),
        "upper" => text.map(|text| quoted(&text.to_uppercase())),
        "trim" => text.map(|text| quoted(text.trim())),
        "length" => match value.kind() {
            Kind::String => text.map(|text| text.chars().count()),
            Kind::Array => Some(value.items().count()),
            Kind::Object => {
                let keys: alloc::collections::BTreeSet<_> =
                    value.entries().map(|entry| entry.0).collect();
                Some(keys.len())
            }
            _ => None,
        }
        .map(|length| length.to_string()),
        _ => return None,
    })
}

/// The block, as docs/abi.md has it.
fn block(declaration: &Declaration, values: &[Text], tables: &[Vec<Vec<Text>>]) -> Vec<u8> {
    const RECORD: usize = 12;
    let columns: usize = declaration.rows.iter().map(|rows| rows.columns.len()).sum();
    let slots = values.len() + columns;
    let records: usize = tables.iter().flatten().map(Vec::len).sum();
    let mut texts_at = 8 + RECORD * (slots + records);
    let mut row_at = 8 + RECORD * slots;
    let (mut head, mut rows, mut texts): (Vec<u8>, Vec<u8>, Vec<u8>) = Default::default();
    let put = |to: &mut Vec<u8>, words: [usize; 3]| {
        for word in words {
            to.extend(u32::try_from(word).expect("blocks are small").to_le_bytes());
        }
    };
    let mut record = |to: &mut Vec<u8>, text: &Text| {
        let kind = match Kind::of_text(&text.json) {
            Kind::Absent | Kind::Denied => return put(to, [0; 3]),
            Kind::Null => 1,
            Kind::Bool => 2,
            Kind::Number => 3,
            Kind::String => 4,
            Kind::Object => 5,
            Kind::Array => 6,
        };
        put(to, [kind, texts_at, text.json.len()]);
        texts_at += text.json.len();
        texts.extend(text.json.as_bytes());
    };
    for word in [1, slots] {
        head.extend(u32::try_from(word).expect("blocks are small").to_le_bytes());
    }
    for value in values {
        record(&mut head, value);
    }
    for (iteration, table) in declaration.rows.iter().zip(tables) {
        for column in 0..iteration.columns.len() {
            let at = if table.is_empty() { 0 } else { row_at + RECORD * column };
            put(&mut head, [7, at, table.len()]);
        }
        for text in table.iter().flatten() {
            record(&mut rows, text);
        }
        row_at += RECORD * iteration.columns.len() * table.len();
    }
    [head, rows, texts].concat()
}
