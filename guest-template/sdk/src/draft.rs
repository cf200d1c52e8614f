//! Ids of nodes, and the node that is begun.

#![allow(unsafe_code, reason = "what is written ahead is added later")]

use alloc::vec::Vec;

use crate::list::List;
use crate::out::Out;
use crate::piece::Name;
use crate::property::{Quoted, Scalar};
use crate::value::Kind;

/// The id of a node: of one that was made here, or of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId {
    from: usize,
    to: usize,
}

/// Ids, one behind another. The last one may not be whole.
#[derive(Debug)]
pub(crate) struct Draft {
    /// The text that ids begin with.
    session: Out,
    ids: Out,
    /// Where the last one begins, and where the name of its entity does.
    start: usize,
    entity: usize,
    keys: Vec<Key>,
    /// Labels besides the name of the entity.
    labels: Out,
    /// Whether a part of the key isn't there.
    is_missing: bool,
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

/// A part of a key that is begun, up to its value.
#[derive(Debug)]
pub struct KeyHead<'d> {
    draft: &'d mut Draft,
    /// How many bytes were written ahead, and at which of them the name begins.
    length: usize,
    name_at: usize,
}

impl KeyHead<'_> {
    /// Ends it with a value of the event.
    #[inline(always)]
    pub(crate) fn record(self, kind: u32, json: &str) {
        // SAFETY: the head was written when this was made, which has held the ids since.
        unsafe { self.draft.record(self.length, self.name_at, kind, json.as_bytes()) };
    }

    /// Ends it with a value.
    #[inline(always)]
    pub(crate) fn value(self, value: &(impl Scalar + ?Sized)) {
        // SAFETY: the head was written when this was made, which has held the ids since.
        unsafe { self.draft.value(self.length, self.name_at, value) };
    }
}

impl Draft {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self {
            session: Out::default(),
            ids: Out::with_capacity(capacity),
            start: 0,
            entity: 0,
            keys: Vec::with_capacity(4),
            labels: Out::default(),
            is_missing: false,
        }
    }

    pub(crate) fn session(&mut self, session: &impl Scalar) {
        self.session.clear();
        // What has no text leaves the empty one.
        let _ = session.write_text(&mut self.session);
    }

    /// Begins an id. The name of its entity comes with the first part of the key.
    #[inline(never)]
    pub(crate) fn begin(&mut self) {
        self.keys.clear();
        self.labels.clear();
        self.is_missing = false;
        self.start = self.ids.len();
        self.ids.append(self.session.as_slice());
        self.entity = self.ids.len() + 1;
    }

    /// Begins a part of the key, the first one with the name of the entity. `None` for long names.
    #[inline(always)]
    pub(crate) fn head(&mut self, entity: Option<&[u8]>, name: &[u8]) -> Option<KeyHead<'_>> {
        let (name_at, length) = match entity {
            Some(entity) => {
                let pieces = (b':', Name(entity), b':', Name(name), b'=');
                (entity.len() + 2, self.ids.write_ahead(pieces)?)
            }
            None => (1, self.ids.write_ahead((b',', Name(name), b'='))?),
        };
        Some(KeyHead { draft: self, name_at, length })
    }

    /// Ends the part of the key whose head was written ahead.
    ///
    /// # Safety
    /// It has that many bytes, and nothing was done with the ids since.
    #[inline(never)]
    unsafe fn record(&mut self, head: usize, name_at: usize, kind: u32, json: &[u8]) {
        let (text, quoted) = match Kind::of_record(kind) {
            // What is between the quotes can stand in another string.
            Kind::String => (json.get(1..json.len().wrapping_sub(1)), Quoted::Yes),
            Kind::Bool | Kind::Number => (Some(json), Quoted::No),
            _ => (None, Quoted::No),
        };
        let Some(text) = text else {
            self.is_missing = true;
            return;
        };
        let name = self.ids.len() + name_at;
        // SAFETY: as for the caller.
        unsafe { self.ids.put_behind(head, text) };
        let end = self.ids.len();
        self.keys.push(Key { name, value: end - text.len(), end, quoted });
    }

    /// The same with any value.
    ///
    /// # Safety
    /// As for [`record`](Self::record).
    #[inline(never)]
    unsafe fn value(&mut self, head: usize, name_at: usize, value: &(impl Scalar + ?Sized)) {
        let name = self.ids.len() + name_at;
        // SAFETY: as for the caller.
        unsafe { self.ids.put_behind(head, b"") };
        self.end(name, value);
    }

    /// Adds a part of the key, whatever the names are.
    #[cold]
    #[inline(never)]
    pub(crate) fn named(
        &mut self,
        entity: Option<&str>,
        name: &str,
        value: &(impl Scalar + ?Sized),
    ) {
        if let Some(entity) = entity {
            self.ids.byte(b':');
            self.ids.escaped(entity);
        }
        self.ids.byte(if entity.is_some() { b':' } else { b',' });
        let at = self.ids.len();
        self.ids.escaped(name);
        self.ids.byte(b'=');
        self.end(at, value);
    }

    fn end(&mut self, name: usize, value: &(impl Scalar + ?Sized)) {
        let begin = self.ids.len();
        match value.write_text(&mut self.ids) {
            Some(quoted) => self.keys.push(Key { name, value: begin, end: self.ids.len(), quoted }),
            None => self.is_missing = true,
        }
    }

    pub(crate) fn label(&mut self, label: &str) {
        self.labels.byte(b',');
        self.labels.string(label);
    }

    /// Whether it has a key, and all of it.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        !self.is_missing && !self.keys.is_empty()
    }

    /// The id that was begun last.
    #[inline]
    pub(crate) fn id(&self) -> NodeId {
        NodeId { from: self.start, to: self.ids.len() }
    }

    #[inline]
    pub(crate) fn text(&self, id: NodeId) -> &[u8] {
        self.ids.piece(id.from, id.to)
    }

    /// Notes the id of an edge, where there is one, until it is [forgotten](Self::forget).
    #[inline]
    pub(crate) fn note(&mut self, id: &impl Scalar) -> Option<NodeId> {
        let from = self.ids.len();
        id.write_text(&mut self.ids)?;
        Some(NodeId { from, to: self.ids.len() })
    }

    #[inline]
    pub(crate) fn forget(&mut self, id: NodeId) {
        self.ids.truncate(id.from);
    }

    /// Writes the node; `false` where its key isn't whole.
    #[inline(never)]
    pub(crate) fn add(&self, nodes: &mut List) -> bool {
        let Some(first) = self.keys.first().filter(|_| !self.is_missing) else { return false };
        let entity = self.ids.piece(self.entity, first.name - 1);
        nodes.begin().put((
            (b"{\"node_id\":\"", self.text(self.id())),
            (b"\",\"entity_name\":\"", entity),
            (b"\",\"labels\":[\"", entity, b'"', self.labels.as_slice()),
            b"],\"properties\":[",
        ));
        nodes.begun();
        for key in &self.keys {
            let name = self.ids.piece(key.name, key.value - 1);
            let text = self.ids.piece(key.value, key.end);
            nodes.key(name, text, key.quoted == Quoted::Yes);
        }
        true
    }
}
