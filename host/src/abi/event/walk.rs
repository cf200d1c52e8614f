//! The pass over an event, or an element of it, along the tree of the paths that are wanted.

use super::error::Fault;
use super::trie::{Trie, TrieNode};
use crate::abi::slot::{Slot, SlotKind};
use crate::json::scan::{self, Scan};

/// The last time that the pass came to a node of the trie.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Visit {
    /// Its number among all visits of nodes with children, from 1; 0 for a leaf, and for a node that wasn't visited.
    number: u32,
    /// The number of the visit of the parent that it was part of.
    within: u32,
}

/// The state of one pass.
pub(super) struct Walk<'a> {
    trie: &'a Trie,
    event: &'a [u8],
    slots: &'a mut [Slot],
    visits: &'a mut [Visit],
    /// The number of the last visit.
    last: u32,
    /// Whether a node with children was visited more than once.
    again: bool,
}

impl<'a> Walk<'a> {
    /// A pass that fills these slots, which are all absent, one for each path of the trie.
    pub(super) fn new(
        trie: &'a Trie,
        event: &'a [u8],
        slots: &'a mut [Slot],
        visits: &'a mut [Visit],
    ) -> Self {
        Self { trie, event, slots, visits, last: 0, again: false }
    }

    /// The value that the paths start from: the offset after it.
    pub(super) fn root(&mut self, start: usize) -> Scan<usize> {
        let end = self.value(self.trie.root(), 0, start, 0)?;
        if self.again {
            self.forget_stale();
        }
        Ok(end)
    }

    /// A value that inputs point to or into, found during the visit `within` of the parent. Recursion is as deep as the
    /// longest declared path at most.
    fn value(&mut self, node: &TrieNode, within: u32, start: usize, depth: usize) -> Scan<usize> {
        let first = scan::byte(self.event, start);
        let mut visit = Visit { number: 0, within };
        if node.has_children() {
            // Every visit takes bytes of the event, of which there are fewer than 4 GiB.
            self.last += 1;
            visit.number = self.last;
        }
        if let Some(last) = self.visits.get_mut(node.index()) {
            self.again |= last.number != 0;
            *last = visit;
        }
        let (end, escaped) = if visit.number != 0 && first == b'{' {
            (self.object(node, visit.number, start, depth + 1)?, false)
        } else {
            scan::value(self.event, start, depth)?
        };
        if let Some(slots) = self.slots.get_mut(node.own()) {
            // The limit on an event's size keeps offsets within 32 bits.
            let (start, end) = (start as u32, end as u32);
            slots.fill(Slot { kind: SlotKind::of(first), escaped, start, end });
        }
        Ok(end)
    }

    /// Clears what an earlier member of the same name has left below the last one. Done once, at the end, so that a key
    /// that is repeated a million times costs no more than any other million keys.
    fn forget_stale(&mut self) {
        // Parents come before their children.
        for node in self.trie.nodes().iter().skip(1) {
            let parent = self.visits.get(node.parent()).copied().unwrap_or_default();
            if let Some(visit) = self.visits.get_mut(node.index())
                && visit.within != parent.number
            {
                *visit = Visit::default();
                if let Some(slots) = self.slots.get_mut(node.own()) {
                    slots.fill(Slot::default());
                }
            }
        }
    }

    /// An object some of whose members are wanted.
    fn object(&mut self, node: &TrieNode, visit: u32, start: usize, depth: usize) -> Scan<usize> {
        let event = self.event;
        if depth > scan::MAX_DEPTH {
            return scan::fault(Fault::Depth, start);
        }
        let mut at = scan::token(event, start + 1);
        if scan::byte(event, at) == b'}' {
            return Ok(at + 1);
        }
        loop {
            let (from, to, escaped, value) = scan::key(event, at)?;
            let value = scan::token(event, value);
            let child = if escaped {
                self.trie.child_escaped(node, event.get(from..to).unwrap_or_default())
            } else {
                self.trie.child(node, event, from..to)
            };
            let end = match child {
                Some(child) => self.value(child, visit, value, depth)?,
                None => scan::value(event, value, depth)?.0,
            };
            let (more, behind) = scan::next(event, end, b'}')?;
            at = behind;
            if !more {
                return Ok(at);
            }
        }
    }
}
