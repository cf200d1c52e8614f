//! The form that all results of a rendered extractor have: constant text with texts of the input block between.
//!
//! The renderer says it of each item in the very parts that it writes code for. What depends on data is then known from the records
//! of a block ([`measure`](super::measure)), without reading the result.

use super::reduce::{EDGES, FULL, NODES, PARTIAL};
use super::{ResultCounts, check_text, compact};
use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};
use crate::abi::slot::SlotKind;

/// The result of an event that a rendered extractor declines.
pub(crate) const EMPTY: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

/// The record of a value in a block: where it begins, counted from the block's first byte or, in a row, from the row's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace {
    pub(crate) in_row: bool,
    pub(crate) at: usize,
}

impl RecordPlace {
    /// The number of the record, among those of the block or of the row.
    pub(super) fn record(self) -> Option<usize> {
        record_number(self.at.checked_sub(if self.in_row { 0 } else { HEADER_BYTES })?)
    }
}

/// How many records lie in so many bytes.
fn record_number(bytes: usize) -> Option<usize> {
    bytes.is_multiple_of(SLOT_BYTES).then_some(bytes / SLOT_BYTES)
}

/// The lists of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ItemList {
    Nodes,
    Edges,
    Full,
    Partial,
}

impl ItemList {
    pub(super) fn index(self) -> usize {
        match self {
            Self::Nodes => NODES,
            Self::Edges => EDGES,
            Self::Full => FULL,
            Self::Partial => PARTIAL,
        }
    }

    /// Whether ids of the two may not be the same: claims are compared over both lists.
    fn shares_ids(self, other: Self) -> bool {
        let is_span = |list| matches!(list, Self::Full | Self::Partial);
        self == other || is_span(self) && is_span(other)
    }
}

/// Where the rows of an iteration lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowPlaces {
    /// The record that says where the first row is, and how many there are.
    pub(crate) head: usize,
    /// Bytes of a row.
    pub(crate) stride: usize,
}

/// A reason to write nothing for an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Unless<P> {
    /// This isn't true.
    NotTrue(P),
    /// This is true.
    True(P),
    /// This is no boolean, number or string.
    NotScalar(P),
}

/// A part of an item. The renderer has places of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ItemPart {
    Constant(String),
    /// The text of a scalar inside of a string; nothing of what is no scalar.
    Text(RecordPlace),
    /// A value as JSON.
    Json(RecordPlace),
    /// A value as JSON between constant text; nothing where it isn't there.
    Optional {
        before: String,
        value: RecordPlace,
        keeps_null: bool,
        after: String,
    },
    /// Parts that begin with a comma each, in brackets.
    List(Vec<ItemPart>),
}

/// What is written of an item, or for each row: a comma, and the item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemOutline {
    pub(crate) list: ItemList,
    pub(crate) rows: Option<RowPlaces>,
    pub(crate) unless: Vec<Unless<RecordPlace>>,
    pub(crate) parts: Vec<ItemPart>,
}

/// The form of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultForm {
    pub(super) lists: [ListForm; 4],
    /// What nodes say, as it was given.
    pub(super) nodes: Vec<ItemOutline>,
    /// The same for edges.
    pub(super) edges: Vec<ItemOutline>,
}

/// The form of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ListForm {
    pub(super) items: Vec<ItemForm>,
    /// Whether ids in it have to be compared, with each other or with those of another list.
    pub(super) is_compared: bool,
}

/// What is before each list.
pub(super) const KEYS: [&str; 4] = [
    "{\"nodes\":",
    ",\"edges\":",
    ",\"fully_handled_span_ids\":",
    ",\"partially_handled_span_ids\":",
];

/// The form of an item, with what it has of the event apart from what it has of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ItemForm {
    pub(super) rows: Option<FormRows>,
    /// Bytes of constant text.
    pub(super) fixed: usize,
    /// Bytes of constant text in the list of what may be left out, where that has brackets of its own.
    pub(super) listed: Option<usize>,
    /// How many bytes after its comma the id begins, at its quote.
    pub(super) id_at: usize,
    /// Bytes of constant text in the id, its quotes included.
    pub(super) id_fixed: usize,
    pub(super) of_event: FormValues,
    pub(super) of_row: FormValues,
    /// Whether an id of another item, or of another row, may be the same.
    pub(super) may_repeat: bool,
}

/// Where rows lie, in records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FormRows {
    pub(super) head: usize,
    pub(super) stride: usize,
}

/// What decides about an item, and the values in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FormValues {
    /// Records by their numbers: of the event from the first slot on, of a row from its first column on.
    pub(super) unless: Vec<Unless<usize>>,
    pub(super) required: Vec<FormValue>,
    pub(super) optional: Vec<FormOptional>,
}

/// A value, and how many times it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormValue {
    pub(super) record: usize,
    /// Inside of the id, as text.
    pub(super) in_id: usize,
    /// Inside of any string, as text.
    pub(super) as_text: usize,
    pub(super) as_json: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormOptional {
    pub(super) record: usize,
    /// The first kind of a value that is there.
    pub(super) first: u32,
    /// Bytes of constant text around it.
    pub(super) fixed: usize,
}

/// What an id is put together from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdUnit {
    /// A byte of constant text.
    Byte(u8),
    Text(RecordPlace),
}

impl ResultForm {
    /// The form of what is made of these items, in the order in which they are written. None where what they say isn't
    /// found to be the form of a result: then every result is checked in full.
    pub(crate) fn new(outlines: &[ItemOutline]) -> Option<Self> {
        let ids: Vec<Vec<IdUnit>> = outlines.iter().map(id).collect::<Option<_>>()?;
        let given = |list| outlines.iter().filter(move |it| it.list == list).cloned().collect();
        let (nodes, edges) = (given(ItemList::Nodes), given(ItemList::Edges));
        let mut form = Self { lists: Default::default(), nodes, edges };
        for (index, (outline, own)) in outlines.iter().zip(&ids).enumerate() {
            let mut others = outlines.iter().zip(&ids).enumerate();
            let may_repeat = outline.rows.is_some()
                || others.any(|(at, (other, id))| {
                    at != index && outline.list.shares_ids(other.list) && may_be_equal(own, id)
                });
            let list = form.lists.get_mut(outline.list.index())?;
            list.is_compared |= may_repeat;
            list.items.push(ItemForm { may_repeat, ..ItemForm::of(outline)? });
        }
        let [.., full, partial] = &mut form.lists;
        full.is_compared |= partial.is_compared;
        partial.is_compared = full.is_compared;
        form.is_shown_by(outlines).then_some(form)
    }

    /// Whether a result of these items is one to the full check, with values in all places, and again with those alone that are
    /// always there: as long as the form says, with every id where the form says.
    fn is_shown_by(&self, outlines: &[ItemOutline]) -> bool {
        [true, false].into_iter().all(|all| self.is_shown_with(outlines, all))
    }

    fn is_shown_with(&self, outlines: &[ItemOutline], all: bool) -> bool {
        let mut text = String::new();
        let mut ids = Vec::new();
        for (list, (key, form)) in KEYS.iter().zip(&self.lists).enumerate() {
            text.push_str(key);
            let first = text.len();
            let own = outlines.iter().filter(|outline| outline.list.index() == list);
            for (outline, form) in own.zip(&form.items) {
                let start = text.len();
                push_shown(&mut text, &outline.parts, all);
                if text.len() - start != form.shown_bytes(all) {
                    return false;
                }
                let id = start + 1 + form.id_at;
                ids.push((list, start + 1..text.len(), id..id + form.shown_id_bytes()));
            }
            open(&mut text, first);
            text.push(']');
        }
        text.push('}');
        let mut found = Vec::new();
        let read = compact::read(text.as_bytes(), |list, item, id| found.push((list, item, id)));
        let [nodes, edges, fully_handled, partially_handled] =
            self.lists.each_ref().map(|list| list.items.len());
        let counts = ResultCounts { nodes, edges, fully_handled, partially_handled };
        check_text(text.as_bytes()).is_ok() && read == Some(counts) && found == ids
    }
}

/// What stands for a value where a form is tried: a number, which is the same as text and as JSON.
const SHOWN: &str = "0";

fn push_shown(text: &mut String, parts: &[ItemPart], all: bool) {
    for part in parts {
        match part {
            ItemPart::Constant(constant) => text.push_str(constant),
            ItemPart::Text(_) | ItemPart::Json(_) => text.push_str(SHOWN),
            ItemPart::Optional { before, after, .. } => {
                if all {
                    text.extend([before, SHOWN, after]);
                }
            }
            // Lists hold no lists.
            ItemPart::List(inside) => {
                let first = text.len();
                for part in inside {
                    push_shown(text, std::slice::from_ref(part), all);
                }
                open(text, first);
            }
        }
    }
}

/// Gives a list from `first` on the bracket that it begins with: its first byte is a comma, or it is empty.
pub(super) fn open(text: &mut String, first: usize) {
    if text.len() > first {
        text.replace_range(first..=first, "[");
    } else {
        text.push('[');
    }
}

impl ItemForm {
    fn of(outline: &ItemOutline) -> Option<Self> {
        let rows = match outline.rows {
            None => None,
            Some(RowPlaces { head, stride }) => {
                let head = RecordPlace { in_row: false, at: head }.record()?;
                Some(FormRows { head, stride: record_number(stride)? })
            }
        };
        let mut form = Self {
            rows,
            fixed: 0,
            listed: None,
            id_at: 0,
            id_fixed: 2,
            of_event: FormValues::default(),
            of_row: FormValues::default(),
            may_repeat: true,
        };
        for unless in &outline.unless {
            let (place, unless) = match *unless {
                Unless::NotTrue(place) => (place, Unless::NotTrue(place.record()?)),
                Unless::True(place) => (place, Unless::True(place.record()?)),
                Unless::NotScalar(place) => (place, Unless::NotScalar(place.record()?)),
            };
            form.values(place)?.unless.push(unless);
        }
        for part in &outline.parts {
            match part {
                ItemPart::List(inside) => {
                    // There is one at most, and its closing bracket is constant text after it.
                    form.listed.is_none().then_some(())?;
                    let before = std::mem::take(&mut form.fixed);
                    inside.iter().try_for_each(|part| form.add(part))?;
                    form.listed = Some(std::mem::replace(&mut form.fixed, before));
                }
                part => form.add(part)?,
            }
        }
        let first = outline.parts.first()?;
        form.id_at = opening_quote(first)?.checked_sub(1)?;
        for unit in id(outline)? {
            match unit {
                IdUnit::Byte(_) => form.id_fixed += 1,
                IdUnit::Text(place) => form.value(place)?.in_id += 1,
            }
        }
        Some(form)
    }

    fn add(&mut self, part: &ItemPart) -> Option<()> {
        match part {
            ItemPart::Constant(text) => self.fixed += text.len(),
            ItemPart::Text(place) => self.value(*place)?.as_text += 1,
            ItemPart::Json(place) => self.value(*place)?.as_json += 1,
            ItemPart::Optional { before, value, keeps_null, after } => {
                let first = if *keeps_null { SlotKind::Null } else { SlotKind::Boolean };
                let optional = FormOptional {
                    record: value.record()?,
                    first: first as u32,
                    fixed: before.len() + after.len(),
                };
                self.values(*value)?.optional.push(optional);
            }
            ItemPart::List(_) => return None,
        }
        Some(())
    }

    /// The values that lie where this one does. There is none in a row where there are no rows.
    fn values(&mut self, place: RecordPlace) -> Option<&mut FormValues> {
        if !place.in_row {
            return Some(&mut self.of_event);
        }
        self.rows.is_some().then_some(&mut self.of_row)
    }

    fn value(&mut self, place: RecordPlace) -> Option<&mut FormValue> {
        let record = place.record()?;
        let required = &mut self.values(place)?.required;
        let known = required.iter().position(|value| value.record == record);
        let index = known.unwrap_or(required.len());
        if known.is_none() {
            required.push(FormValue { record, in_id: 0, as_text: 0, as_json: 0 });
        }
        required.get_mut(index)
    }

    /// Bytes of the item with [`SHOWN`] in its places, and with what may be left out or without.
    fn shown_bytes(&self, all: bool) -> usize {
        let parts = [&self.of_event, &self.of_row];
        let required = parts.iter().flat_map(|part| &part.required);
        let required: usize = required.map(|value| value.as_text + value.as_json).sum();
        let optional = parts.iter().flat_map(|part| &part.optional).filter(|_| all);
        let optional: usize = optional.map(|optional| optional.fixed + SHOWN.len()).sum();
        let listed = self.listed.map_or(optional, |fixed| (fixed + optional).max(1));
        self.fixed + required * SHOWN.len() + listed
    }

    fn shown_id_bytes(&self) -> usize {
        let required = self.of_event.required.iter().chain(&self.of_row.required);
        self.id_fixed + required.map(|value| value.in_id * SHOWN.len()).sum::<usize>()
    }
}

/// Where the first quote of a string is that is no key, in the constant text that an item begins with.
fn opening_quote(first: &ItemPart) -> Option<usize> {
    let ItemPart::Constant(text) = first else { return None };
    let before =
        [",{\"node_id\":", ",{\"edge_id\":", ","].into_iter().find(|it| text.starts_with(it))?;
    text.get(before.len()..)?.starts_with('"').then_some(before.len())
}

/// What the id of an item is put together from: the inside of its first string that is no key.
fn id(outline: &ItemOutline) -> Option<Vec<IdUnit>> {
    let mut from = opening_quote(outline.parts.first()?)? + 1;
    let mut units = Vec::new();
    for part in &outline.parts {
        match part {
            ItemPart::Constant(text) => {
                let inside = text.as_bytes().get(std::mem::take(&mut from)..)?;
                let mut at = 0;
                // An escape lies in one constant text: each is written as a whole.
                while let Some(byte) = inside.get(at).filter(|byte| **byte != b'"') {
                    at += if *byte == b'\\' { 2 } else { 1 };
                }
                units.extend(inside.get(..at)?.iter().map(|byte| IdUnit::Byte(*byte)));
                if at < inside.len() {
                    return Some(units);
                }
            }
            ItemPart::Text(place) => units.push(IdUnit::Text(*place)),
            _ => return None,
        }
    }
    None
}

/// Whether two ids of an event may be the same. They are not where they begin alike and go on with other constant text, or
/// end so.
pub(super) fn may_be_equal(one: &[IdUnit], other: &[IdUnit]) -> bool {
    !differ(one.iter().zip(other)) && !differ(one.iter().rev().zip(other.iter().rev()))
}

/// Whether the first units that aren't known to be the same are bytes, each another one.
fn differ<'u>(mut pairs: impl Iterator<Item = (&'u IdUnit, &'u IdUnit)>) -> bool {
    // What is of the event is the same in both, whatever it is; what is of a row is that of one row in each.
    let first = pairs.find(|pair| match pair {
        (IdUnit::Text(one), IdUnit::Text(other)) => one != other || one.in_row,
        (one, other) => one != other,
    });
    matches!(first, Some((IdUnit::Byte(_), IdUnit::Byte(_))))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const EVENT: RecordPlace = RecordPlace { in_row: false, at: 8 };
    const ROW: RecordPlace = RecordPlace { in_row: true, at: 0 };

    fn constant(text: &str) -> ItemPart {
        ItemPart::Constant(text.to_owned())
    }

    /// A node whose id is made of these.
    fn node(id: &[ItemPart], rows: bool) -> ItemOutline {
        let mut parts = vec![constant(",{\"node_id\":\"")];
        for part in id
            .iter()
            .chain([&constant("\",\"entity_name\":\"E\",\"labels\":[\"E\"],\"properties\":[]}")])
        {
            match (parts.last_mut(), part) {
                (Some(ItemPart::Constant(before)), ItemPart::Constant(text)) => {
                    before.push_str(text)
                }
                _ => parts.push(part.clone()),
            }
        }
        let rows = rows.then_some(RowPlaces { head: 20, stride: 12 });
        ItemOutline { list: ItemList::Nodes, rows, unless: Vec::new(), parts }
    }

    #[test]
    fn ids_are_compared_only_where_they_may_be_the_same() {
        let text = ItemPart::Text;
        let other = RecordPlace { in_row: false, at: 32 };
        for (one, two, expected) in [
            // The same beginning, then other constant text.
            (vec![text(EVENT), constant(":A:k=")], vec![text(EVENT), constant(":B:k=")], false),
            (vec![text(EVENT), constant(":A:k=")], vec![text(EVENT), constant(":AB:k=")], false),
            (vec![constant("a"), text(EVENT)], vec![constant("b"), text(EVENT)], false),
            // The same end, and before it other constant text.
            (vec![text(EVENT), constant("=1,x")], vec![text(other), constant("=2,x")], false),
            (
                vec![text(EVENT), constant("a"), text(other)],
                vec![text(other), constant("b"), text(other)],
                false,
            ),
            // One goes on where the other ends, or a value may be anything.
            (vec![constant("a")], vec![constant("aa")], true),
            (vec![constant("a")], vec![constant("ab")], false),
            (vec![constant("a"), text(EVENT)], vec![constant("ab"), text(other)], true),
            (vec![text(EVENT)], vec![text(other)], true),
            (vec![text(EVENT), constant(":A:k=")], vec![text(EVENT), constant(":A:k=")], true),
            (vec![text(EVENT), constant("x")], vec![constant("y"), text(EVENT)], true),
            // An escape isn't the end.
            (vec![constant("a\\\"x"), text(EVENT)], vec![constant("a\\\"y"), text(EVENT)], false),
        ] {
            let form = ResultForm::new(&[node(&one, false), node(&two, false)]).unwrap();
            let [nodes, ..] = &form.lists;
            assert_eq!(nodes.is_compared, expected, "{one:?} {two:?}");
            assert!(nodes.items.iter().all(|item| item.may_repeat == expected));
        }
        // What is of a row is another one in each.
        let form = ResultForm::new(&[node(&[constant("a"), text(ROW)], true)]).unwrap();
        assert!(form.lists[NODES].is_compared);
        let alone = ResultForm::new(&[node(&[text(EVENT)], false)]).unwrap();
        assert!(!alone.lists[NODES].is_compared);
    }

    #[test]
    fn claims_are_compared_over_both_lists() {
        let claim = |list, place| ItemOutline {
            list,
            rows: None,
            unless: Vec::new(),
            parts: vec![constant(",\""), ItemPart::Text(place), constant("\"")],
        };
        let form = ResultForm::new(&[
            node(&[ItemPart::Text(EVENT)], false),
            claim(ItemList::Full, EVENT),
            claim(ItemList::Partial, RecordPlace { at: 32, ..EVENT }),
        ]);
        let lists = form.unwrap().lists.map(|list| list.is_compared);
        assert_eq!(lists, [false, false, true, true]);
    }

    #[test]
    fn what_is_no_result_has_no_form() {
        let good = node(&[constant("a"), ItemPart::Text(EVENT)], false);
        assert!(ResultForm::new(std::slice::from_ref(&good)).is_some());
        let with = |parts: Vec<ItemPart>| ItemOutline { parts, ..good.clone() };
        let mut number = good.parts.clone();
        number.push(ItemPart::Json(EVENT));
        for bad in [
            // A quote too many, a backslash before the closing one, a control character, another key.
            node(&[constant("a\"")], false),
            node(&[constant("a\\")], false),
            node(&[constant("a\u{1}")], false),
            with(vec![constant(",{\"edge_id\":\"a\"}")]),
            with(vec![constant(",{\"node_id\":\"a\"}")]),
            with(vec![ItemPart::Text(EVENT)]),
            with(Vec::new()),
            with(number),
            // A row's value where there are no rows.
            node(&[ItemPart::Text(ROW)], false),
        ] {
            assert_eq!(ResultForm::new(std::slice::from_ref(&bad)), None, "{bad:?}");
        }
    }
}
