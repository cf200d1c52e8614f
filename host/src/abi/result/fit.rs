//! What is known of a result of a known form, before it is read: that it fits a graph spec.
//!
//! What is constant in nodes is held to the spec once: that there are such entities and properties, and that ids are made of the very
//! values that keys have. What is left are the types of values, which each block tells. What isn't known is asked of the
//! validator: edges, ids that may be the same, and every value that doesn't fit at first sight.

use serde_json::Value;

use super::form::{FormRows, ItemOutline, ItemPart, RecordPlace, ResultForm, Unless, open};
use super::measure::{Block, DENIED, Measured, is_left_out};
use crate::abi::slot::SlotKind;
use crate::graph::extraction::Node;
use crate::graph::spec::{GraphSpec, PropertySpec, PropertyType};
use crate::graph::validate::{has_keys, value};

/// What has to hold of a block for its result to fit a graph spec.
#[derive(Debug)]
pub(crate) struct KnownFit {
    nodes: Vec<FitNode>,
    /// Whether two nodes can have the same id.
    may_repeat: bool,
}

#[derive(Debug)]
struct FitNode {
    rows: Option<FormRows>,
    /// When it isn't written, by values of the event and by those of a row.
    unless: [Vec<Unless<usize>>; 2],
    values: Vec<FitValue>,
}

/// A value of a property.
#[derive(Debug)]
struct FitValue {
    in_row: bool,
    record: usize,
    property_type: PropertyType,
    /// The first kind of a value that is written, where others are left out.
    first: u32,
    is_key: bool,
}

impl ResultForm {
    /// By what it is known of a block that its result fits `spec`; none where what is constant doesn't, or isn't known to.
    pub(crate) fn fit(&self, spec: &GraphSpec) -> Option<KnownFit> {
        let [nodes, ..] = &self.lists;
        let fits = self.nodes.iter().zip(&nodes.items).map(|(outline, form)| {
            let unless = [&form.of_event, &form.of_row].map(|it| it.unless.clone());
            Some(FitNode { rows: form.rows, unless, values: values(outline, spec)? })
        });
        Some(KnownFit { nodes: fits.collect::<Option<_>>()?, may_repeat: nodes.is_compared })
    }
}

impl KnownFit {
    /// Whether blocks have to be looked at for results of this kind. `is_unique` says that no id is in a result twice.
    pub(crate) fn may_hold(&self, measured: &Measured, is_unique: bool) -> bool {
        let counts = measured.counts;
        counts.edges == 0 && (counts.nodes < 2 || is_unique || !self.may_repeat)
    }

    /// Whether all values of this block fit.
    pub(crate) fn holds(&self, block: &[u8]) -> bool {
        let Some(block) = Block::new(block) else { return false };
        self.nodes.iter().all(|node| node.holds(block).unwrap_or(false))
    }
}

impl FitNode {
    fn holds(&self, block: Block<'_>) -> Option<bool> {
        let [of_event, _] = &self.unless;
        if is_left_out(of_event, block, 0)? {
            return Some(true);
        }
        let Some(rows) = self.rows else { return self.fits_with(block, 0) };
        let head = block.record(rows.head)?;
        let mut row = Block::first_row(head);
        for _ in 0..head.length() {
            if !self.fits_with(block, row)? {
                return Some(false);
            }
            row = row.saturating_add(rows.stride);
        }
        Some(true)
    }

    fn fits_with(&self, block: Block<'_>, row: usize) -> Option<bool> {
        let [_, of_row] = &self.unless;
        if is_left_out(of_row, block, row)? {
            return Some(true);
        }
        for value in &self.values {
            let found = block.record(value.record + if value.in_row { row } else { 0 })?;
            let kind = found.kind();
            let is_left_out = value.first > 0 && (kind < value.first || kind >= DENIED);
            if is_left_out && !value.is_key {
                continue;
            }
            let text = block.text(found)?;
            let is_empty = value.is_key && text == EMPTY_TEXT.as_bytes();
            if is_left_out || is_empty || !value::is_known_to_fit(&value.property_type, text) {
                return Some(false);
            }
        }
        Some(true)
    }
}

/// What stands for the value at a place, where a node is tried: a text of its own.
fn shown(place: RecordPlace) -> String {
    format!("{MARK}{}{}{MARK}", if place.in_row { "row " } else { "" }, place.at)
}

/// What texts that stand for values begin with, and no constant text of a node whose fit is known has.
const MARK: char = '\u{f8ff}';

/// The values of a node whose constant text fits.
fn values(outline: &ItemOutline, spec: &GraphSpec) -> Option<Vec<FitValue>> {
    let mut node = Shown::default();
    node.push(&outline.parts)?;
    let Shown { text, places } = node;
    let node: Node = serde_json::from_str(text.strip_prefix(',')?).ok()?;
    let entity = spec.entity(&node.entity_name)?;
    let mut keys: Vec<(&PropertySpec, &Value)> = Vec::new();
    let mut values = Vec::new();
    for given in &node.properties {
        let property = entity.property(&given.name)?;
        let is_key = entity.key_properties().any(|key| std::ptr::eq(key, property));
        if is_key {
            // What is given twice may differ.
            let is_known = keys.iter().any(|(known, _)| std::ptr::eq(*known, property));
            (!is_known).then_some(())?;
            keys.push((property, &given.value));
        }
        let is_shown = |place: RecordPlace| given.value.as_str() == Some(&shown(place));
        let own = places.iter().filter(|(place, _)| is_shown(*place));
        // Where it is written in several ways, the least that is left out.
        match own.min_by_key(|(_, first)| *first) {
            Some((place, first)) => values.push(FitValue {
                in_row: place.in_row,
                record: place.record()?,
                property_type: property.property_type.clone(),
                first: *first,
                is_key,
            }),
            None => {
                let json = given.value.to_string();
                let fits = value::is_known_to_fit(&property.property_type, json.as_bytes());
                (fits && !(is_key && json == EMPTY_TEXT)).then_some(())?;
            }
        }
    }
    has_keys(&node.node_id, entity, &keys).then_some(values)
}

/// No key has it.
const EMPTY_TEXT: &str = "\"\"";

/// A node with texts that stand for its values.
#[derive(Default)]
struct Shown {
    text: String,
    /// Where values are that are written as JSON, with the first kind of those that are written.
    places: Vec<(RecordPlace, u32)>,
}

impl Shown {
    fn push(&mut self, parts: &[ItemPart]) -> Option<()> {
        for part in parts {
            match part {
                ItemPart::Constant(constant) => self.constant(constant)?,
                ItemPart::Text(place) => self.text.push_str(&shown(*place)),
                ItemPart::Json(place) => self.json(*place, SlotKind::Absent),
                ItemPart::Optional { before, value, keeps_null, after } => {
                    self.constant(before)?;
                    self.json(*value, if *keeps_null { SlotKind::Null } else { SlotKind::Boolean });
                    self.constant(after)?;
                }
                ItemPart::List(inside) => {
                    let first = self.text.len();
                    // Lists hold no lists.
                    self.push(inside)?;
                    open(&mut self.text, first);
                }
            }
        }
        Some(())
    }

    fn constant(&mut self, text: &str) -> Option<()> {
        // Nothing that stands for a value is found elsewhere.
        (!text.contains(MARK) && !text.contains("\\u")).then(|| self.text.push_str(text))
    }

    fn json(&mut self, place: RecordPlace, first: SlotKind) {
        self.places.push((place, first as u32));
        self.text.extend(["\"", &shown(place), "\""]);
    }
}
