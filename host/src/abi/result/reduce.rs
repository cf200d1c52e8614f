//! What the host does about the same id twice in one result.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{ResultCounts, ResultError};
use crate::abi::block::KEPT_BYTES;
use crate::diagnostics::untrusted::quoted;
use crate::json::{scan, string, walk};
use crate::plan::expr::OnDuplicate;

/// Reduces results to one node, edge and claim for each id; keeps its buffers from result to result.
#[derive(Clone, Debug, Default)]
pub struct Reducer {
    text: Vec<u8>,
    lists: [ResultList; LISTS.len()],
}

/// The lists of a result, each with the key that holds the id of an element.
const LISTS: [(&[u8], Option<&[u8]>); 4] = [
    (b"nodes", Some(b"node_id")),
    (b"edges", Some(b"edge_id")),
    (b"fully_handled_span_ids", None),
    (b"partially_handled_span_ids", None),
];

const NODES: usize = 0;
const EDGES: usize = 1;
const FULL: usize = 2;
const PARTIAL: usize = 3;

/// One list of a result.
#[derive(Clone, Debug, Default)]
struct ResultList {
    /// What is between the brackets.
    range: Range<usize>,
    items: Vec<ResultItem>,
    /// Whether an item of it is dropped.
    is_changed: bool,
}

/// One element of a list.
#[derive(Clone, Debug)]
struct ResultItem {
    range: Range<usize>,
    /// Where the id is, in its quotes.
    id: Range<usize>,
    is_dropped: bool,
}

impl Reducer {
    /// A result that [`check`](super::check()) has found to have this shape, with what appears twice in it dealt with: of nodes
    /// with the same id the last one stays, and of edges, or the result is refused, as `rule` says; a span id stays once,
    /// the first time that it stands in its list, and not among the fully handled ones if it is partially handled too. Ids
    /// are the same when they are the same characters, however they are escaped. A result without such an id is given back
    /// as it is.
    ///
    /// # Errors
    /// [`ResultError::DuplicateId`], if `rule` is to refuse.
    pub fn reduce<'a>(
        &'a mut self,
        json: &'a [u8],
        shape: ResultCounts,
        rule: OnDuplicate,
    ) -> Result<(&'a [u8], ResultCounts), ResultError> {
        self.release();
        let spans = shape.fully_handled + shape.partially_handled;
        if shape.nodes <= 1 && shape.edges <= 1 && spans <= 1 {
            return Ok((json, shape));
        }
        self.find(json);
        for list in [NODES, EDGES] {
            self.lists[list].keep_last(json, list, rule)?;
        }
        let partial = self.lists[PARTIAL].keep_first(json, HashSet::new());
        self.lists[FULL].keep_first(json, partial);
        if !self.lists.iter().any(|list| list.is_changed) {
            return Ok((json, shape));
        }
        self.rewrite(json);
        let left = |list: usize| self.lists[list].items.iter().filter(|it| !it.is_dropped).count();
        let shape = ResultCounts {
            nodes: left(NODES),
            edges: left(EDGES),
            fully_handled: left(FULL),
            partially_handled: left(PARTIAL),
        };
        Ok((&self.text, shape))
    }

    /// Gives up what the last result has taken beyond 1 MiB of text and 1 MiB of lists.
    pub fn release(&mut self) {
        if self.text.capacity() > KEPT_BYTES {
            self.text = Vec::new();
        }
        let items: usize = self.lists.iter().map(|list| list.items.capacity()).sum();
        if items * size_of::<ResultItem>() > KEPT_BYTES {
            self.lists = Default::default();
        }
    }

    /// Notes where all elements and their ids are.
    fn find(&mut self, json: &[u8]) {
        for list in &mut self.lists {
            list.items.clear();
            list.is_changed = false;
        }
        walk::members(json, scan::space(json, 0), |key, at| {
            let mut lists = self.lists.iter_mut().zip(LISTS);
            match lists.find(|(_, (name, _))| *name == key.content) {
                Some((list, (_, id))) => list.find(json, at, id),
                None => walk::end(json, at),
            }
        });
    }

    /// The text without the elements that are dropped.
    fn rewrite(&mut self, json: &[u8]) {
        let Self { text, lists } = self;
        text.clear();
        let mut lists: Vec<&ResultList> = lists.iter().filter(|list| list.is_changed).collect();
        lists.sort_unstable_by_key(|list| list.range.start);
        let mut from = 0;
        for list in lists {
            text.extend_from_slice(json.get(from..list.range.start).unwrap_or_default());
            for (index, item) in list.items.iter().filter(|item| !item.is_dropped).enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                text.extend_from_slice(json.get(item.range.clone()).unwrap_or_default());
            }
            from = list.range.end;
        }
        text.extend_from_slice(json.get(from..).unwrap_or_default());
    }
}

impl ResultList {
    /// Notes where the elements of the array at `at` are; gives the offset after it.
    fn find(&mut self, json: &[u8], at: usize, id: Option<&[u8]>) -> Option<usize> {
        let Self { items, .. } = self;
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
            items.push(ResultItem { range: start..end, id: own, is_dropped: false });
            Some(end)
        })?;
        self.range = at + 1..end - 1;
        Some(end)
    }

    /// Drops all but the last element of an id.
    fn keep_last(
        &mut self,
        json: &[u8],
        list: usize,
        rule: OnDuplicate,
    ) -> Result<(), ResultError> {
        if self.items.len() <= 1 {
            return Ok(());
        }
        let mut last: HashMap<Cow<'_, [u8]>, usize> = HashMap::with_capacity(self.items.len());
        for index in 0..self.items.len() {
            let Some(item) = self.items.get(index) else { break };
            let Some(earlier) = last.insert(content(json, &item.id), index) else { continue };
            if rule == OnDuplicate::Reject {
                return Err(duplicate(json, list, index, item));
            }
            self.is_changed = true;
            if let Some(item) = self.items.get_mut(earlier) {
                item.is_dropped = true;
            }
        }
        Ok(())
    }

    /// Drops all but the first element of an id, and those that are `taken`; gives these and what is left.
    fn keep_first<'j>(
        &mut self,
        json: &'j [u8],
        mut taken: HashSet<Cow<'j, [u8]>>,
    ) -> HashSet<Cow<'j, [u8]>> {
        if self.items.len() + taken.len() > 1 {
            for item in &mut self.items {
                item.is_dropped = !taken.insert(content(json, &item.id));
                self.is_changed |= item.is_dropped;
            }
        } else if let Some(item) = self.items.first() {
            taken.insert(content(json, &item.id));
        }
        taken
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
        let shape = check(json.as_bytes()).expect("a result");
        let mut reducer = Reducer::default();
        let (text, shape) = reducer.reduce(json.as_bytes(), shape, rule)?;
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
        let shape = check(json.as_bytes()).expect("a result");
        let mut reducer = Reducer::default();
        reducer.reduce(json.as_bytes(), shape, OnDuplicate::Last).expect("nothing is refused");
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
