//! One result into rows.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::builder::{Put, TableBuilder};
use crate::fault::{Fault, FaultCounts, FaultKind};
use crate::reading::{EdgeText, NodeText, PropertyText, ResultText, Text};
use crate::rows::{EventOrigin, MAX_SPAN_BYTES, span_bytes};
use crate::session::{self, KeyText};
use crate::tables::{PropertyColumns, Tables};
use crate::value::{self, Cell};

/// The most faults of one event that are told of.
const MAX_FAULTS: usize = 100;

/// The rows of one result, as they are added.
pub(crate) struct Adding<'a, 'r> {
    origin: &'a EventOrigin<'a>,
    tables: &'a Tables,
    builders: &'a mut [TableBuilder],
    /// All spans of the event, unless they are too many to be repeated.
    spans: Option<Vec<&'r str>>,
    /// The sessions of nodes, where edges ask for them.
    sessions: Option<HashMap<&'r str, Option<&'r str>, RandomState>>,
    /// Ids of nodes that were left out.
    left_out: HashSet<&'r str>,
    cells: Vec<Cell<'r>>,
    /// Whether a key of the node at hand has a value that isn't one.
    is_key_wrong: bool,
    pub(crate) faults: Vec<Fault>,
    pub(crate) counts: FaultCounts,
    pub(crate) rows: usize,
}

impl<'a, 'r> Adding<'a, 'r> {
    pub(crate) fn new(
        origin: &'a EventOrigin<'a>,
        tables: &'a Tables,
        builders: &'a mut [TableBuilder],
        result: &'r ResultText<'r>,
    ) -> Self {
        let spans = result.fully_handled_span_ids.iter().chain(&result.partially_handled_span_ids);
        Self {
            origin,
            tables,
            builders,
            spans: (span_bytes(result) <= MAX_SPAN_BYTES)
                .then(|| spans.map(|span| &**span).collect()),
            sessions: (!result.edges.is_empty()).then(HashMap::default),
            left_out: HashSet::new(),
            cells: Vec::new(),
            is_key_wrong: false,
            faults: Vec::new(),
            counts: FaultCounts::default(),
            rows: 0,
        }
    }

    pub(crate) fn node(&mut self, place: usize, node: &'r NodeText<'r>) {
        let tables = self.tables;
        let found = tables.entity(&node.entity_name);
        let found = found.and_then(|index| Some((index, tables.list().get(index)?)));
        let Some((index, table)) = found else {
            let path = format!("nodes[{place}].entity_name");
            self.fault(FaultKind::UnknownEntity, path, &shown_text(&node.entity_name));
            self.left_out.insert(&node.node_id);
            return;
        };
        let properties = &table.properties;
        self.cells("nodes", place, properties, &node.properties);
        for key in &properties.keys {
            if !matches!(self.cells.get(*key), None | Some(Cell::Null)) {
                continue;
            }
            // Of a value that isn't one there is a fault already.
            if let Some(key) = properties.list.get(*key).filter(|_| !self.is_key_wrong) {
                let path = format!("nodes[{place}].<key:{}>", key.column);
                self.fault(FaultKind::MissingKey, path, "none");
            }
            self.left_out.insert(&node.node_id);
            return;
        }
        let session = session_of(node, properties, &self.cells);
        if let Some(sessions) = &mut self.sessions {
            sessions.insert(&node.node_id, session);
        }
        let labels: Vec<&str> = node.labels.iter().map(|label| &**label).collect();
        let head = [Put::Text(&node.node_id)];
        let row = head.into_iter().chain(self.cells.iter().map(Put::Cell));
        let row = row.chain([Put::Texts(&labels)]).chain(tail(
            self.origin,
            session,
            self.spans.as_deref(),
        ));
        if let Some(builder) = self.builders.get_mut(index) {
            builder.row(row);
            self.rows += 1;
        }
    }

    pub(crate) fn edge(&mut self, place: usize, edge: &'r EdgeText<'r>) {
        let tables = self.tables;
        let found = tables.relationship(&edge.relationship_name);
        let found = found.and_then(|index| Some((index, tables.list().get(index)?)));
        let Some((index, table)) = found else {
            let path = format!("edges[{place}].relationship_name");
            let found = shown_text(&edge.relationship_name);
            return self.fault(FaultKind::UnknownRelationship, path, &found);
        };
        for (end, id) in [("from", &edge.from_node_id), ("to", &edge.to_node_id)] {
            if self.left_out.contains(&**id) {
                let path = format!("edges[{place}].{end}_node_id");
                return self.fault(FaultKind::EndpointLeftOut, path, "one that is left out");
            }
        }
        let properties = &table.properties;
        self.cells("edges", place, properties, &edge.properties);
        let from = &*edge.from_node_id;
        let known = self.sessions.as_ref().and_then(|sessions| sessions.get(from));
        let session = match (known, &properties.from_entity) {
            (Some(session), _) => *session,
            (None, Some(entity)) => session::of_end(from, entity),
            (None, None) => None,
        };
        let head = [&edge.edge_id, &edge.from_node_id, &edge.to_node_id];
        let row = head.into_iter().map(|text| Put::Text(text));
        let row = row.chain(self.cells.iter().map(Put::Cell));
        let row = row.chain(tail(self.origin, session, self.spans.as_deref()));
        if let Some(builder) = self.builders.get_mut(index) {
            builder.row(row);
            self.rows += 1;
        }
    }

    /// Reads the values of all columns that are for properties.
    fn cells(
        &mut self,
        list: &str,
        item: usize,
        columns: &PropertyColumns,
        given: &'r [PropertyText<'r>],
    ) {
        self.cells.clear();
        self.cells.resize(columns.list.len(), Cell::Null);
        self.is_key_wrong = false;
        for (place, property) in given.iter().enumerate() {
            let path = |field: &str| format!("{list}[{item}].properties[{place}].{field}");
            let json = property.value.get();
            let found = columns.find(&property.name);
            let found =
                found.and_then(|at| Some((at, columns.list.get(at)?, self.cells.get_mut(at)?)));
            let Some((at, column, cell)) = found else {
                let found = shown_text(&property.name);
                self.fault(FaultKind::UnknownProperty, path("name"), &found);
                continue;
            };
            match value::cell(column.value_type, json) {
                // What is said again is no second value.
                Ok(value) if *cell != Cell::Null && *cell != value => {
                    self.fault(FaultKind::PropertyTwice, path("name"), "it again");
                }
                Ok(value) => *cell = value,
                Err(kind) => {
                    self.is_key_wrong |= columns.keys.contains(&at);
                    let found = shown_value(json, kind);
                    self.fault(kind, path("value"), &found);
                }
            }
        }
    }

    fn fault(&mut self, kind: FaultKind, path: String, found: &str) {
        self.counts.add(kind);
        if self.faults.len() < MAX_FAULTS {
            let message = format!("expected {kind}, found {found}");
            self.faults.push(Fault { kind, path, message });
        }
    }
}

/// What rows of nodes and edges end with.
fn tail<'p>(
    origin: &'p EventOrigin<'p>,
    session: Option<&'p str>,
    spans: Option<&'p [&'p str]>,
) -> [Put<'p>; 6] {
    [
        session.map_or(Put::Null, Put::Text),
        spans.map_or(Put::Null, Put::Texts),
        Put::Text(origin.event_type),
        Put::Text(origin.bundle),
        origin.input.map_or(Put::Null, Put::Text),
        Put::Integer(origin.line),
    ]
}

fn session_of<'r>(
    node: &'r NodeText<'r>,
    columns: &PropertyColumns,
    cells: &[Cell<'r>],
) -> Option<&'r str> {
    // What isn't text stands in an id as in the result.
    let texts: Vec<(usize, Cow<'_, str>, bool)> = columns
        .keys
        .iter()
        .filter_map(|&key| match cells.get(key)? {
            Cell::Text(text) => Some((key, Cow::Borrowed(&**text), false)),
            _ => {
                let is_key = |it: &&PropertyText<'_>| columns.find(&it.name) == Some(key);
                let json = node.properties.iter().find(is_key)?.value.get();
                let text = value::text(json).unwrap_or(Cow::Borrowed(json));
                Some((key, text, value::is_number(json)))
            }
        })
        .collect();
    let keys: Vec<KeyText<'_>> = texts
        .iter()
        .filter_map(|(key, value, is_number)| {
            let column = columns.list.get(*key)?;
            let names = [column.name.as_str(), column.column.as_str()];
            Some(KeyText { names, value, is_number: *is_number })
        })
        .collect();
    session::of_node(&node.node_id, &node.entity_name, &keys)
}

/// The most characters of a name or a number that messages show.
const SHOWN: usize = 60;

fn shown_text(text: &Text<'_>) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{shown:?}")
}

/// What a value is, without what it says; a number that a column can't hold is shown.
fn shown_value(json: &str, kind: FaultKind) -> String {
    match json.as_bytes().first() {
        Some(b'"') => "a string".to_owned(),
        Some(b'{') => "an object".to_owned(),
        Some(b'[') => "an array".to_owned(),
        Some(b't' | b'f') => "a boolean".to_owned(),
        _ if kind == FaultKind::TypeMismatch => "a number".to_owned(),
        _ => json.chars().take(SHOWN).collect(),
    }
}
