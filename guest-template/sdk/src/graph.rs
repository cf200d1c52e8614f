//! The result: nodes, edges and the spans that are handled, written as they come.

use alloc::borrow::Cow;
use core::mem::ManuallyDrop;

use crate::block::enter;
use crate::draft::Draft;
pub use crate::draft::NodeId;
use crate::list::List;
use crate::out::Out;
use crate::piece::Piece;
use crate::property::{Property, Scalar};
use crate::scan;

/// The result of an event that gives neither a node nor an edge.
const EMPTY: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

/// Builds the result of an event. Whatever is done with it, what comes out has the shape that the host expects.
#[derive(Debug)]
pub struct Graph {
    draft: Draft,
    nodes: List,
    edges: List,
    full: Out,
    partial: Out,
}

/// Goes on with a name as it stands in a string. Names are literals mostly: then it is known when they are compiled that there is
/// nothing to escape.
#[inline(always)]
fn written<R>(name: &str, then: impl FnOnce(&[u8]) -> R) -> R {
    if scan::is_plain_name(name) { then(name.as_bytes()) } else { then(escaped(name).as_slice()) }
}

#[cold]
#[inline(never)]
fn escaped(name: &str) -> Out {
    let mut out = Out::default();
    out.escaped(name);
    out
}

impl Graph {
    fn new() -> Self {
        // Room for small results: a buffer that grows while another one lies behind it is copied. What grows most comes last.
        Self {
            draft: Draft::with_capacity(2048),
            full: Out::with_capacity(64),
            partial: Out::default(),
            edges: List::behind(b"", 8192),
            nodes: List::behind(b"{\"nodes\":[", 16384),
        }
    }

    /// Says what ids of nodes begin with. What isn't a string, a number or a boolean is as the empty text.
    pub fn session(&mut self, session: impl Scalar) {
        self.draft.session(&session);
    }

    /// Begins a node. It is there when its key is whole and [`add`](NodeDraft::add) is called.
    #[inline(always)]
    pub fn node<'g>(&'g mut self, entity: &'g str) -> NodeDraft<'g> {
        self.draft.begin();
        NodeDraft { graph: self, entity: Some(entity) }
    }

    /// Begins an edge. Its id is made of those of its nodes and its name.
    #[inline(always)]
    pub fn edge(&mut self, relationship: &str, from: NodeId, to: NodeId) -> Edge<'_> {
        written(relationship, |relationship| self.put_edge(relationship, from, to));
        Edge { graph: self }
    }

    /// Begins an edge with an id of its own. There is none where the id isn't a string, a number or a boolean.
    #[inline(always)]
    pub fn edge_with_id(
        &mut self,
        edge_id: impl Scalar,
        relationship: &str,
        from: NodeId,
        to: NodeId,
    ) -> Option<Edge<'_>> {
        let is_there = written(relationship, |relationship| {
            self.put_edge_with_id(&edge_id, relationship, from, to)
        });
        is_there.then_some(Edge { graph: self })
    }

    /// Says that a span is handled. Ids that are absent or empty, or aren't scalars, count for nothing.
    pub fn fully_handled(&mut self, span_id: impl Scalar) {
        claim(&mut self.full, &span_id);
    }

    /// Says that a span is handled in part.
    pub fn partially_handled(&mut self, span_id: impl Scalar) {
        claim(&mut self.partial, &span_id);
    }

    #[inline(never)]
    fn put_edge(&mut self, relationship: &[u8], from: NodeId, to: NodeId) {
        let (from, to) = (self.draft.text(from), self.draft.text(to));
        put_edge(&mut self.edges, (from, b':', relationship, b':', to), relationship, from, to);
    }

    #[inline(never)]
    fn put_edge_with_id(
        &mut self,
        edge_id: &impl Scalar,
        relationship: &[u8],
        from: NodeId,
        to: NodeId,
    ) -> bool {
        let Some(id) = self.draft.note(edge_id) else { return false };
        let (from, to) = (self.draft.text(from), self.draft.text(to));
        put_edge(&mut self.edges, self.draft.text(id), relationship, from, to);
        self.draft.forget(id);
        true
    }

    /// The result of what this makes of an event.
    #[doc(hidden)]
    #[inline]
    pub fn of(function: impl FnOnce(&mut Self)) -> Cow<'static, [u8]> {
        let mut graph = ManuallyDrop::new(Self::new());
        enter(|| function(&mut graph));
        let result = graph.finish();
        // In a guest all memory is taken back before the next event.
        if !cfg!(target_family = "wasm") {
            drop(ManuallyDrop::into_inner(graph));
        }
        result
    }

    fn finish(&mut self) -> Cow<'static, [u8]> {
        if self.nodes.is_empty() && self.edges.is_empty() {
            return Cow::Borrowed(EMPTY.as_bytes());
        }
        Cow::Owned(self.nodes.finish(
            &mut self.edges,
            self.full.as_slice(),
            self.partial.as_slice(),
        ))
    }
}

/// Writes an edge without properties.
#[inline(always)]
fn put_edge(edges: &mut List, id: impl Piece, relationship: &[u8], from: &[u8], to: &[u8]) {
    edges.begin().put((
        (b"{\"edge_id\":\"", id, b"\",\"relationship_name\":\""),
        (relationship, b"\",\"from_node_id\":\"", from),
        (b"\",\"to_node_id\":\"", to, b"\",\"properties\":["),
    ));
    edges.begun();
}

/// Adds a property to the last item of a list.
#[inline(always)]
fn set(list: &mut List, name: &str, value: &impl Property) {
    let head = if scan::is_plain_name(name) { list.head(name.as_bytes()) } else { None };
    match head {
        Some(head) => value.put(head),
        None => list.named(name, value),
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

/// A node whose key isn't whole.
#[derive(Debug)]
#[must_use = "there is no node without `add`"]
pub struct NodeDraft<'g> {
    graph: &'g mut Graph,
    /// The name of the entity, until there is a part of the key.
    entity: Option<&'g str>,
}

impl<'g> NodeDraft<'g> {
    /// Adds a part of the key, which is a property too. Where it isn't a string, a number or a boolean, there will be no node.
    #[inline(always)]
    pub fn key(self, name: &str, value: impl Scalar) -> Self {
        let Self { graph, entity } = self;
        let is_plain = entity.is_none_or(scan::is_plain_name) && scan::is_plain_name(name);
        let head = if is_plain {
            graph.draft.head(entity.map(str::as_bytes), name.as_bytes())
        } else {
            None
        };
        match head {
            Some(head) => value.put_key(head),
            None => graph.draft.named(entity, name, &value),
        }
        Self { graph, entity: None }
    }

    /// Adds a label. The first one is always the name of the entity.
    pub fn label(self, label: &str) -> Self {
        self.graph.draft.label(label);
        self
    }

    /// Adds the node to the result. `None` where it has no key, or a part of it isn't there.
    #[inline]
    pub fn add(self) -> Option<Node<'g>> {
        let graph = self.graph;
        let is_added = graph.draft.add(&mut graph.nodes);
        is_added.then(|| Node { id: graph.draft.id(), graph })
    }

    /// The id alone, of a node that other events describe: for an edge to it. `None` as for [`add`](Self::add).
    #[inline]
    pub fn reference(self) -> Option<NodeId> {
        self.graph.draft.is_whole().then(|| self.graph.draft.id())
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
    #[inline(always)]
    pub fn set(&mut self, name: &str, value: impl Property) -> &mut Self {
        set(&mut self.graph.nodes, name, &value);
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
    #[inline(always)]
    pub fn set(&mut self, name: &str, value: impl Property) -> &mut Self {
        set(&mut self.graph.edges, name, &value);
        self
    }
}
