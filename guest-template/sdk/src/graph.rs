//! The result: nodes, edges and the spans that are handled, written as they come.
//!
//! Items are closed when the next one begins, so that nothing has to be said at their end: [`Graph::settle`].

use alloc::vec::Vec;

use crate::out::Out;
use crate::property::{Property, Quoted, Scalar};

/// The result of an event that gives neither a node nor an edge.
const EMPTY: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;
const NODES: &str = r#"{"nodes":["#;

/// Builds the result of an event. Whatever is done with it, what comes out has the shape that the host expects.
#[derive(Debug)]
pub struct Graph {
    /// The text that ids of nodes begin with.
    session: Out,
    nodes: Out,
    edges: Out,
    full: Out,
    partial: Out,
    /// Ids of nodes that aren't made here.
    ids: Out,
    /// The key and the labels of the node that is begun.
    keys: Vec<Key>,
    labels: Out,
    open: Open,
    properties: Properties,
}

/// What isn't closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Nothing,
    /// A node without the end of its key: what it is thrown away from.
    Draft(usize),
    Node,
    Edge,
}

/// A part of a key, by its places in the id.
#[derive(Clone, Copy, Debug)]
struct Key {
    name: usize,
    /// Where the value begins, behind the equals sign.
    value: usize,
    end: usize,
    quoted: Quoted,
}

/// The properties of the item that is open.
#[derive(Debug, Default)]
struct Properties {
    /// Where each begins and ends, the comma before it not included; for a node, those of its key first.
    all: Vec<(usize, usize)>,
    /// How many can't be changed.
    keys: usize,
    /// A bit for each name that there is, by its length and some of its letters.
    names: u64,
}

impl Properties {
    fn clear(&mut self) {
        self.all.clear();
        (self.keys, self.names) = (0, 0);
    }

    /// Notes a name, as it is written; `false` where it can't have been there before.
    fn note(&mut self, bytes: &[u8]) -> bool {
        let byte = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or_default());
        let hash = bytes.len() + byte(bytes.last()) + 7 * byte(bytes.get(bytes.len() / 2));
        let bit = 1 << (hash % 64);
        let seen = self.names & bit != 0;
        self.names |= bit;
        seen
    }

    /// Which property begins with this text.
    fn find(&self, out: &Out, head: &[u8]) -> Option<usize> {
        self.all.iter().position(|(from, to)| out.piece(*from, *to).starts_with(head))
    }
}

/// The id of a node: of one that was made here, or of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId {
    made_here: bool,
    from: usize,
    to: usize,
}

impl Graph {
    #[doc(hidden)]
    #[must_use]
    #[allow(clippy::new_without_default, reason = "extractors are given one")]
    pub fn new() -> Self {
        // Room for small results: a buffer that grows while another one lies behind it is copied.
        let mut nodes = Out::with_capacity(2048);
        nodes.raw(NODES);
        Self {
            session: Out::default(),
            nodes,
            edges: Out::with_capacity(1024),
            full: Out::default(),
            partial: Out::default(),
            ids: Out::with_capacity(256),
            keys: Vec::with_capacity(4),
            labels: Out::default(),
            open: Open::Nothing,
            properties: Properties { all: Vec::with_capacity(16), ..Properties::default() },
        }
    }

    /// Says what ids of nodes begin with. What isn't a string, a number or a boolean is as the empty text.
    pub fn session(&mut self, session: impl Scalar) {
        self.session.clear();
        // What has no text leaves the empty one.
        let _ = session.write_text(&mut self.session);
    }

    /// Begins a node. It is there when its key is whole and [`add`](NodeDraft::add) is called.
    #[inline(never)]
    pub fn node<'g>(&'g mut self, entity: &'g str) -> NodeDraft<'g> {
        self.settle();
        self.properties.clear();
        let start = self.nodes.len();
        self.open = Open::Draft(start);
        if start > NODES.len() {
            self.nodes.byte(b',');
        }
        self.nodes.raw(r#"{"node_id":""#);
        let id = self.nodes.len();
        self.nodes.append(self.session.as_slice());
        self.nodes.byte(b':');
        self.nodes.escaped(entity);
        NodeDraft { graph: self, entity, start, id, keys: 0, missing: false }
    }

    /// Begins an edge. Its id is made of those of its nodes and its name.
    #[inline(never)]
    pub fn edge(&mut self, relationship: &str, from: NodeId, to: NodeId) -> Edge<'_> {
        self.begin_edge();
        self.put_id(from);
        self.edges.byte(b':');
        self.edges.escaped(relationship);
        self.edges.byte(b':');
        self.put_id(to);
        self.edge_head(relationship, from, to)
    }

    /// Begins an edge with an id of its own. There is none where the id isn't a string, a number or a boolean.
    pub fn edge_with_id(
        &mut self,
        edge_id: impl Scalar,
        relationship: &str,
        from: NodeId,
        to: NodeId,
    ) -> Option<Edge<'_>> {
        let before = self.begin_edge();
        if edge_id.write_text(&mut self.edges).is_none() {
            self.edges.truncate(before);
            self.open = Open::Nothing;
            return None;
        }
        Some(self.edge_head(relationship, from, to))
    }

    /// Says that a span is handled. Ids that are absent or empty, or aren't scalars, count for nothing.
    pub fn fully_handled(&mut self, span_id: impl Scalar) {
        claim(&mut self.full, &span_id);
    }

    /// Says that a span is handled in part.
    pub fn partially_handled(&mut self, span_id: impl Scalar) {
        claim(&mut self.partial, &span_id);
    }

    fn begin_edge(&mut self) -> usize {
        self.settle();
        self.open = Open::Edge;
        let before = self.edges.len();
        self.edges.raw(if before == 0 { r#"{"edge_id":""# } else { r#",{"edge_id":""# });
        before
    }

    #[inline(never)]
    fn edge_head(&mut self, relationship: &str, from: NodeId, to: NodeId) -> Edge<'_> {
        self.edges.raw(r#"","relationship_name":""#);
        self.edges.escaped(relationship);
        self.edges.raw(r#"","from_node_id":""#);
        self.put_id(from);
        self.edges.raw(r#"","to_node_id":""#);
        self.put_id(to);
        self.edges.raw(r#"","properties":["#);
        self.properties.clear();
        Edge { graph: self }
    }

    fn put_id(&mut self, id: NodeId) {
        let from = if id.made_here { &self.nodes } else { &self.ids };
        self.edges.append(from.piece(id.from, id.to));
    }

    /// Closes what is open, or throws it away.
    fn settle(&mut self) {
        match core::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Draft(start) => {
                self.nodes.truncate(start);
                self.keys.clear();
                self.labels.clear();
                self.properties.clear();
            }
            Open::Node => self.nodes.raw("]}"),
            Open::Edge => self.edges.raw("]}"),
        }
    }

    /// Writes the properties of a key; of the same name the first one counts.
    fn put_keys(&mut self) {
        let Self { nodes, keys, labels, properties, .. } = self;
        for (index, key) in keys.iter().enumerate() {
            let name = |key: &Key| (key.name, key.value.saturating_sub(1));
            let (begin, end) = name(key);
            let is_same = |other: &Key| {
                let (from, to) = name(other);
                to - from == end - begin && nodes.piece(from, to) == nodes.piece(begin, end)
            };
            if keys.iter().take(index).any(is_same) {
                continue;
            }
            let is_first = properties.all.is_empty();
            let from = nodes.len() + usize::from(!is_first);
            nodes.raw(if is_first { r#"{"name":""# } else { r#",{"name":""# });
            nodes.repeat(begin, end);
            match key.quoted {
                Quoted::Yes => {
                    nodes.raw(r#"","value":""#);
                    nodes.repeat(key.value, key.end);
                    nodes.raw("\"}");
                }
                Quoted::No => {
                    nodes.raw(r#"","value":"#);
                    nodes.repeat(key.value, key.end);
                    nodes.byte(b'}');
                }
            }
            properties.note(nodes.piece(begin, end));
            properties.all.push((from, nodes.len()));
        }
        properties.keys = properties.all.len();
        keys.clear();
        labels.clear();
    }

    /// Adds a property to the item that is open. One function for each type of value, so that those that call it stay small.
    #[inline(never)]
    fn property(&mut self, name: &str, value: &impl Property) {
        let out = match self.open {
            Open::Node => &mut self.nodes,
            Open::Edge => &mut self.edges,
            Open::Nothing | Open::Draft(_) => return,
        };
        put_property(out, &mut self.properties, name, value);
    }

    /// The result.
    #[doc(hidden)]
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.settle();
        let mut out = self.nodes;
        if out.len() == NODES.len() && self.edges.is_empty() {
            return EMPTY.into();
        }
        for (before, list) in [
            (r#"],"edges":["#, &self.edges),
            (r#"],"fully_handled_span_ids":["#, &self.full),
            (r#"],"partially_handled_span_ids":["#, &self.partial),
        ] {
            out.raw(before);
            out.append(list.as_slice());
        }
        out.raw("]}");
        out.into_bytes()
    }
}

#[inline(never)]
fn claim(list: &mut Out, span_id: &impl Scalar) {
    let before = list.len();
    list.raw(if before == 0 { "\"" } else { ",\"" });
    let begin = list.len();
    if span_id.write_text(list).is_some() && list.len() > begin {
        list.byte(b'"');
    } else {
        list.truncate(before);
    }
}

/// Writes a property behind those that there are. Of the same name the last one counts, but for those of a key.
fn put_property(out: &mut Out, properties: &mut Properties, name: &str, value: &impl Property) {
    let before = out.len();
    let is_first = properties.all.is_empty();
    out.raw(if is_first { r#"{"name":""# } else { r#",{"name":""# });
    let from = before + usize::from(!is_first);
    out.escaped(name);
    out.raw(r#"","value":"#);
    let head = out.len();
    if !value.write(out) {
        out.truncate(before);
        return;
    }
    out.byte(b'}');
    let to = out.len();
    // Without the brace and the quotes around it.
    let name = out.piece(from + r#"{"name":""#.len(), head - r#"","value":"#.len());
    if properties.note(name)
        && let Some(index) = properties.find(out, out.piece(from, head))
    {
        if index < properties.keys {
            out.truncate(before);
            return;
        }
        properties.all.push((from, to));
        forget(out, properties, index);
    } else {
        properties.all.push((from, to));
    }
}

/// Takes out a property that isn't the last one, with the comma behind it.
#[cold]
fn forget(out: &mut Out, properties: &mut Properties, index: usize) {
    let (from, to) = properties.all.remove(index);
    let length = to - from + 1;
    out.remove(from, to + 1);
    for later in properties.all.iter_mut().skip(index) {
        *later = (later.0 - length, later.1 - length);
    }
}

/// A node whose key isn't whole.
#[derive(Debug)]
#[must_use = "there is no node without `add`"]
pub struct NodeDraft<'g> {
    graph: &'g mut Graph,
    entity: &'g str,
    /// Where the node begins.
    start: usize,
    /// Where its id begins.
    id: usize,
    keys: usize,
    missing: bool,
}

impl<'g> NodeDraft<'g> {
    /// Adds a part of the key, which is a property too. Where it isn't a string, a number or a boolean, there will be no node.
    #[inline(never)]
    pub fn key(mut self, name: &str, value: impl Scalar) -> Self {
        let Graph { nodes, keys, .. } = &mut *self.graph;
        nodes.byte(if self.keys == 0 { b':' } else { b',' });
        let name_at = nodes.len();
        nodes.escaped(name);
        nodes.byte(b'=');
        let value_at = nodes.len();
        match value.write_text(nodes) {
            Some(quoted) => {
                keys.push(Key { name: name_at, value: value_at, end: nodes.len(), quoted });
            }
            None => self.missing = true,
        }
        self.keys += 1;
        self
    }

    /// Adds a label. The first one is always the name of the entity.
    pub fn label(self, label: &str) -> Self {
        self.graph.labels.byte(b',');
        self.graph.labels.string(label);
        self
    }

    /// Adds the node to the result. `None` where it has no key, or a part of it isn't there.
    #[inline(never)]
    pub fn add(self) -> Option<Node<'g>> {
        let Self { graph, entity, id, .. } = self;
        if self.missing || self.keys == 0 {
            graph.settle();
            return None;
        }
        let end = graph.nodes.len();
        let nodes = &mut graph.nodes;
        nodes.raw(r#"","entity_name":""#);
        nodes.escaped(entity);
        nodes.raw(r#"","labels":[""#);
        nodes.escaped(entity);
        nodes.byte(b'"');
        nodes.append(graph.labels.as_slice());
        nodes.raw(r#"],"properties":["#);
        graph.put_keys();
        graph.open = Open::Node;
        let id = NodeId { made_here: true, from: id, to: end };
        Some(Node { graph, id })
    }

    /// The id alone, of a node that other events describe: for an edge to it. `None` as for [`add`](Self::add).
    #[inline(never)]
    pub fn reference(self) -> Option<NodeId> {
        let Self { graph, start, id, .. } = self;
        let found = (!self.missing && self.keys > 0).then(|| {
            let from = graph.ids.len();
            graph.ids.append(graph.nodes.piece(id, graph.nodes.len()));
            NodeId { made_here: false, from, to: graph.ids.len() }
        });
        debug_assert_eq!(graph.open, Open::Draft(start), "nothing else was begun");
        graph.settle();
        found
    }
}

/// A node of the result, as long as nothing else is begun.
#[derive(Debug)]
pub struct Node<'g> {
    graph: &'g mut Graph,
    id: NodeId,
}

impl Node<'_> {
    /// Adds a property, unless there is no value. Of the same name the last one counts; those of the key stay.
    #[inline]
    pub fn set(&mut self, name: &str, value: impl Property) -> &mut Self {
        self.graph.property(name, &value);
        self
    }

    /// The node's id, for edges.
    #[must_use]
    pub fn id(&self) -> NodeId {
        self.id
    }
}

/// An edge of the result, as long as nothing else is begun.
#[derive(Debug)]
pub struct Edge<'g> {
    graph: &'g mut Graph,
}

impl Edge<'_> {
    /// Adds a property, unless there is no value. Of the same name the last one counts.
    #[inline]
    pub fn set(&mut self, name: &str, value: impl Property) -> &mut Self {
        self.graph.property(name, &value);
        self
    }
}
