//! What the host does about the same id twice in one result.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::{ResultCounts, ResultError, compact, thorough};
use crate::abi::block::KEPT_BYTES;
use crate::diagnostics::untrusted::quoted;
use crate::json::{scan, string, walk};
use crate::plan::expr::OnDuplicate;

/// Checks results, and reduces them to one node, edge and claim for each id; keeps its buffers from result to result.
#[derive(Clone, Debug, Default)]
pub struct Reducer {
    text: Vec<u8>,
    pub(super) lists: [ResultList; LISTS.len()],
    /// Elements by their ids.
    by_id: HashTable<ItemPlace>,
    pub(super) hasher: RandomState,
}

/// The lists of a result, each with the key that holds the id of an element.
const LISTS: [(&[u8], Option<&[u8]>); 4] = [
    (b"nodes", Some(b"node_id")),
    (b"edges", Some(b"edge_id")),
    (b"fully_handled_span_ids", None),
    (b"partially_handled_span_ids", None),
];

pub(super) const NODES: usize = 0;
pub(super) const EDGES: usize = 1;
pub(super) const FULL: usize = 2;
pub(super) const PARTIAL: usize = 3;

/// One list of a result.
#[derive(Clone, Debug, Default)]
pub(super) struct ResultList {
    /// What is between the brackets, where that is more than the items with commas between them.
    inside: Option<Range<usize>>,
    pub(super) items: Vec<ResultItem>,
    /// Whether an item of it is dropped.
    is_changed: bool,
}

/// One element of a list.
#[derive(Clone, Debug)]
pub(super) struct ResultItem {
    range: Range<usize>,
    /// Where the id is, in its quotes.
    pub(super) id: Range<usize>,
    /// Whether no other item can have its id.
    pub(super) is_alone: bool,
    is_dropped: bool,
}

/// A result, what is in it, and what was in it before anything was left out.
pub type CheckedResult<'a> = (&'a [u8], ResultCounts, ResultCounts);

/// An element: its list, and its index there.
type ItemPlace = (u8, u32);

impl Reducer {
    /// Checks the bytes that a guest returned, as [`check`](super::check()) does, and deals with what appears twice in them: of
    /// nodes with the same id the last one stays, and of edges, or the result is refused, as `rule` says; a span id stays once,
    /// the first time that it stands in its list, and not among the fully handled ones if it is partially handled too. Ids
    /// are the same when they are the same characters, however they are escaped. A result without such an id is given back
    /// as it is. Third, what it held before.
    ///
    /// # Errors
    /// [`ResultError`], the first thing that is wrong; [`ResultError::DuplicateId`], if `rule` is to refuse.
    pub fn check<'a>(
        &'a mut self,
        json: &'a [u8],
        rule: OnDuplicate,
    ) -> Result<CheckedResult<'a>, ResultError> {
        self.release();
        super::check_text(json)?;
        let lists = &mut self.lists;
        lists.iter_mut().for_each(ResultList::clear);
        let read = compact::read(json, |list, range, id| {
            if let Some(list) = lists.get_mut(list) {
                list.note(range, id, true);
            }
        });
        let made = match read {
            Some(made) => made,
            None => {
                let made = thorough::read(json)?;
                self.find(json);
                made
            }
        };
        self.reduced(json, made, rule)
    }

    /// The same, where there may be no rule, and then nothing is left out.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_whole<'a>(
        &'a mut self,
        json: &'a [u8],
        rule: Option<OnDuplicate>,
    ) -> Result<CheckedResult<'a>, ResultError> {
        match rule {
            Some(rule) => self.check(json, rule),
            None => super::check(json).map(|made| (json, made, made)),
        }
    }

    /// Deals with what appears twice in a result that was found to be one, whose items are noted.
    pub(super) fn reduced<'a>(
        &'a mut self,
        json: &'a [u8],
        made: ResultCounts,
        rule: OnDuplicate,
    ) -> Result<CheckedResult<'a>, ResultError> {
        let spans = made.fully_handled + made.partially_handled;
        if made.nodes <= 1 && made.edges <= 1 && spans <= 1 {
            return Ok((json, made, made));
        }
        for list in [NODES, EDGES] {
            self.keep_last(json, list, rule)?;
        }
        self.keep_first_spans(json);
        if !self.lists.iter().any(|list| list.is_changed) {
            return Ok((json, made, made));
        }
        self.rewrite(json);
        let dropped =
            |list: usize| self.lists[list].items.iter().filter(|it| it.is_dropped).count();
        let left = ResultCounts {
            nodes: made.nodes - dropped(NODES),
            edges: made.edges - dropped(EDGES),
            fully_handled: made.fully_handled - dropped(FULL),
            partially_handled: made.partially_handled - dropped(PARTIAL),
        };
        Ok((&self.text, left, made))
    }

    /// Gives up what the last result has taken beyond 1 MiB of text and 1 MiB of lists.
    pub fn release(&mut self) {
        if self.text.capacity() > KEPT_BYTES {
            self.text = Vec::new();
        }
        let items: usize = self.lists.iter().map(|list| list.items.capacity()).sum();
        if items * size_of::<ResultItem>() > KEPT_BYTES {
            self.lists = Default::default();
            self.by_id = HashTable::new();
        }
    }

    /// Notes where all elements and their ids are, in a result that was found to be one.
    fn find(&mut self, json: &[u8]) {
        self.lists.iter_mut().for_each(ResultList::clear);
        walk::members(json, scan::space(json, 0), |key, at| {
            let mut lists = self.lists.iter_mut().zip(LISTS);
            match lists.find(|(_, (name, _))| *name == key.content) {
                Some((list, (_, id))) => list.find(json, at, id),
                None => walk::end(json, at),
            }
        });
    }

    /// Drops all but the last element of an id.
    fn keep_last(
        &mut self,
        json: &[u8],
        list: usize,
        rule: OnDuplicate,
    ) -> Result<(), ResultError> {
        self.by_id.clear();
        for index in 0..self.lists[list].items.len() {
            if self.lists[list].items[index].is_alone {
                continue;
            }
            let Some(earlier) = self.insert(json, list, index) else { continue };
            if rule == OnDuplicate::Reject {
                return Err(duplicate(json, list, index, &self.lists[list].items[index]));
            }
            self.lists[list].drop_item(earlier.1 as usize);
        }
        Ok(())
    }

    /// Drops all but the first span of an id, and those fully handled that are partially handled as well.
    fn keep_first_spans(&mut self, json: &[u8]) {
        self.by_id.clear();
        for list in [PARTIAL, FULL] {
            for index in 0..self.lists[list].items.len() {
                if self.insert(json, list, index).is_some() {
                    self.lists[list].drop_item(index);
                }
            }
        }
    }

    /// Notes the element, and gives the one that had the same id before.
    fn insert(&mut self, json: &[u8], list: usize, index: usize) -> Option<ItemPlace> {
        let Self { lists, by_id, hasher, .. } = self;
        let id = |(list, index): ItemPlace| {
            let items = lists.get(usize::from(list)).map(|list| list.items.as_slice());
            let item = items.unwrap_or_default().get(index as usize);
            item.map(|item| content(json, &item.id)).unwrap_or_default()
        };
        // There are four lists, and results have fewer than 2^32 bytes.
        let place = (list as u8, index as u32);
        let own = id(place);
        let hash = |id: &[u8]| hasher.hash_one(id);
        match by_id.entry(hash(&own), |other| id(*other) == own, |other| hash(&id(*other))) {
            Entry::Vacant(entry) => {
                entry.insert(place);
                None
            }
            Entry::Occupied(mut entry) => Some(std::mem::replace(entry.get_mut(), place)),
        }
    }

    /// The text without the elements that are dropped.
    fn rewrite(&mut self, json: &[u8]) {
        let Self { text, lists, .. } = self;
        text.clear();
        let mut lists: Vec<&ResultList> = lists.iter().filter(|list| list.is_changed).collect();
        lists.sort_unstable_by_key(|list| list.range().start);
        let mut from = 0;
        for list in lists {
            text.extend_from_slice(json.get(from..list.range().start).unwrap_or_default());
            for (index, item) in list.items.iter().filter(|item| !item.is_dropped).enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                text.extend_from_slice(json.get(item.range.clone()).unwrap_or_default());
            }
            from = list.range().end;
        }
        text.extend_from_slice(json.get(from..).unwrap_or_default());
    }
}

impl ResultList {
    /// Notes where the elements of the array at `at` are; gives the offset after it.
    fn find(&mut self, json: &[u8], at: usize, id: Option<&[u8]>) -> Option<usize> {
        let items = &mut self.items;
        let end = walk::elements(json, at, |start| {
            let mut own = start..start;
            let end = match id {
                None => {
                    own.end = walk::end(json, start)?;
                    own.end
                }
                Some(name) => walk::members(json, start, |key, at| {
                    let end = walk::end(json, at)?;
                    if key.content == name {
                        own = at..end;
                    }
                    Some(end)
                })?,
            };
            items.push(ResultItem {
                range: start..end,
                id: own,
                is_alone: false,
                is_dropped: false,
            });
            Some(end)
        })?;
        self.inside = Some(at + 1..end - 1);
        Some(end)
    }

    /// Notes an item, and whether another one may have its id.
    pub(super) fn note(&mut self, range: Range<usize>, id: Range<usize>, may_repeat: bool) {
        self.items.push(ResultItem { range, id, is_alone: !may_repeat, is_dropped: false });
    }

    pub(super) fn clear(&mut self) {
        self.inside = None;
        self.items.clear();
        self.is_changed = false;
    }

    fn drop_item(&mut self, index: usize) {
        if let Some(item) = self.items.get_mut(index) {
            item.is_dropped = true;
            self.is_changed = true;
        }
    }

    /// What is between the brackets.
    fn range(&self) -> Range<usize> {
        if let Some(inside) = &self.inside {
            return inside.clone();
        }
        let start = self.items.first().map_or(0, |item| item.range.start);
        start..self.items.last().map_or(start, |item| item.range.end)
    }
}

/// The characters of a string, given in its quotes.
fn content<'j>(json: &'j [u8], id: &Range<usize>) -> Cow<'j, [u8]> {
    string::characters(json.get(id.start + 1..id.end.saturating_sub(1)).unwrap_or_default())
}

#[cold]
fn duplicate(json: &[u8], list: usize, index: usize, item: &ResultItem) -> ResultError {
    let (name, id) = if list == NODES { ("nodes", "node_id") } else { ("edges", "edge_id") };
    let found = quoted(&String::from_utf8_lossy(&content(json, &item.id)));
    ResultError::DuplicateId { path: format!("{name}[{index}].{id}"), found }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::result::check;

    fn result(nodes: &[(&str, &str)], edges: &[&str], full: &str, partial: &str) -> String {
        let node = |(id, name): &(&str, &str)| {
            format!(r#"{{"node_id":{id},"entity_name":"{name}","labels":[],"properties":[]}}"#)
        };
        let edge = |id: &&str| {
            format!(
                r#"{{"properties": [],"edge_id":{id},"relationship_name":"R","from_node_id":"a","to_node_id":"b"}}"#
            )
        };
        let nodes: Vec<String> = nodes.iter().map(node).collect();
        let edges: Vec<String> = edges.iter().map(edge).collect();
        format!(
            r#"{{"nodes":[{}],"edges":[{}],"fully_handled_span_ids":[{full}],"partially_handled_span_ids":[{partial}]}}"#,
            nodes.join(","),
            edges.join(",")
        )
    }

    fn reduced(json: &str, rule: OnDuplicate) -> Result<String, ResultError> {
        let made = check(json.as_bytes()).expect("a result");
        let mut reducer = Reducer::default();
        let (text, shape, before) = reducer.check(json.as_bytes(), rule)?;
        assert_eq!(before, made);
        assert_eq!(check(text), Ok(shape), "{}", String::from_utf8_lossy(text));
        Ok(String::from_utf8(text.to_vec()).expect("UTF-8"))
    }

    #[test]
    fn the_last_of_an_id_stays_where_it_is() {
        let json = result(
            &[("\"a\"", "A1"), ("\"b\"", "B"), (r#""\u0061""#, "A2"), ("\"c\"", "C")],
            &["\"e\"", "\"e\"", "\"e\"", "\"f\""],
            r#""s","t","s""#,
            r#""t","u","u""#,
        );
        let expected = result(
            &[("\"b\"", "B"), (r#""\u0061""#, "A2"), ("\"c\"", "C")],
            &["\"e\"", "\"f\""],
            r#""s""#,
            r#""t","u""#,
        );
        assert_eq!(reduced(&json, OnDuplicate::Last), Ok(expected.clone()));
        assert_eq!(reduced(&expected, OnDuplicate::Last), Ok(expected));
    }

    #[test]
    fn any_order_and_white_space_will_do() {
        let json = r#" { "partially_handled_span_ids" : [ "s" ] , "edges":[ ],
            "fully_handled_span_ids" : [ "s" ] , "nodes" : [ {"labels":[],"node_id":"a","entity_name":"1","properties":[]} ,
            {"labels":["node_id"],"properties":[{"name":"node_id","value":{"node_id":"x"}}],"entity_name":"2","node_id":"a"} ] } "#;
        let expected = r#" { "partially_handled_span_ids" : [ "s" ] , "edges":[ ],
            "fully_handled_span_ids" : [] , "nodes" : [{"labels":["node_id"],"properties":[{"name":"node_id","value":{"node_id":"x"}}],"entity_name":"2","node_id":"a"}] } "#;
        assert_eq!(reduced(json, OnDuplicate::Last).as_deref(), Ok(expected));
    }

    #[test]
    fn refusing_names_the_second_one() {
        let json = result(&[("\"a\"", "A"), ("\"b\"", "B")], &["\"e\"", r#""\u0065""#], "", "");
        let error = reduced(&json, OnDuplicate::Reject).expect_err("twice");
        assert_eq!(
            (error.path(), error.to_string().as_str()),
            ("edges[1].edge_id", "edges[1].edge_id: expected each id once, got \"e\" again")
        );
        let spans = result(&[], &[], r#""s","s""#, r#""s""#);
        let expected = result(&[], &[], "", r#""s""#);
        assert_eq!(reduced(&spans, OnDuplicate::Reject), Ok(expected));
    }

    #[test]
    fn many_equal_ids_take_one_pass() {
        let nodes: Vec<(&str, &str)> = (0..100_000).map(|_| (r#""\u0061""#, "A")).collect();
        let one = result(&[(r#""\u0061""#, "A")], &[], "", "");
        assert_eq!(reduced(&result(&nodes, &[], "", ""), OnDuplicate::Last), Ok(one));
    }

    #[test]
    fn a_large_result_leaves_no_large_buffers_behind() {
        let ids: Vec<String> = (0..100_000).map(|id| format!("\"{id}\"")).collect();
        let mut nodes: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "A")).collect();
        nodes.push(("\"7\"", "B"));
        let json = result(&nodes, &[], "", "");
        let mut reducer = Reducer::default();
        reducer.check(json.as_bytes(), OnDuplicate::Last).expect("nothing is refused");
        let held = |reducer: &Reducer| {
            let items: usize = reducer.lists.iter().map(|list| list.items.capacity()).sum();
            (reducer.text.capacity(), items * size_of::<ResultItem>())
        };
        let (text, items) = held(&reducer);
        assert!(text > KEPT_BYTES && items > KEPT_BYTES, "{text} {items}");
        reducer.release();
        assert_eq!(held(&reducer), (0, 0));
    }
}
