//! The pass over an event, or an element of it, along the tree of the paths that are wanted.

use super::error::Fault;
use super::trie::{Trie, TrieNode};
use crate::abi::slot::{Slot, SlotKind};
use crate::json::scan::{self, Scan};
use crate::json::tape::{Tape, TapeIndex};

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
    text: &'a [u8],
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
        text: &'a [u8],
        slots: &'a mut [Slot],
        visits: &'a mut [Visit],
    ) -> Self {
        Self { trie, text, slots, visits, last: 0, again: false }
    }

    /// The value that the paths start from, read and checked: the offset after it. What is gone over later is noted on the tape.
    pub(super) fn root(mut self, start: usize, tape: &mut Tape) -> Scan<usize> {
        let end = self.value(self.trie.root(), 0, start, 0, tape)?;
        self.forget_stale();
        Ok(end)
    }

    /// The value that the paths start from, which is on a tape.
    pub(super) fn taped_root(mut self, tape: &Tape, index: TapeIndex) {
        self.taped_value(self.trie.root(), 0, tape, index);
        self.forget_stale();
    }

    /// A value that inputs point to or into, found during the visit `within` of the parent. Recursion is as deep as the
    /// longest declared path at most.
    fn value(
        &mut self,
        node: &TrieNode,
        within: u32,
        start: usize,
        depth: usize,
        tape: &mut Tape,
    ) -> Scan<usize> {
        let first = scan::byte(self.text, start);
        let visit = self.visit(node, within);
        let mut taped = 0;
        let (end, escaped) = if node.is_taped() && matches!(first, b'{' | b'[') {
            let index = tape.next_index();
            let end = tape.read(self.text, start, depth)?;
            if visit != 0 && first == b'{' {
                self.taped_members(node, visit, tape, index);
            }
            taped = index + 1;
            (end, false)
        } else if visit != 0 && first == b'{' {
            (self.object(node, visit, start, depth + 1, tape)?, false)
        } else {
            scan::value(self.text, start, depth)?
        };
        if let Some(slots) = self.slots.get_mut(node.own()) {
            // The limit on an event's size keeps offsets within 32 bits.
            let (start, end) = (start as u32, end as u32);
            slots.fill(Slot { kind: SlotKind::of(first), escaped, start, end, taped });
        }
        Ok(end)
    }

    /// Notes that a node is visited: the number of the visit, 0 for a node without children.
    #[inline(always)]
    fn visit(&mut self, node: &TrieNode, within: u32) -> u32 {
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
        visit.number
    }

    /// Clears what an earlier member of the same name has left below the last one. Done once, at the end, so that a key
    /// that is repeated a million times costs no more than any other million keys.
    fn forget_stale(&mut self) {
        if !self.again {
            return;
        }
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
    fn object(
        &mut self,
        node: &TrieNode,
        visit: u32,
        start: usize,
        depth: usize,
        tape: &mut Tape,
    ) -> Scan<usize> {
        let text = self.text;
        if depth > scan::MAX_DEPTH {
            return scan::fault(Fault::Depth, start);
        }
        let mut at = scan::token(text, start + 1);
        if scan::byte(text, at) == b'}' {
            return Ok(at + 1);
        }
        loop {
            let (from, to, escaped, value) = scan::key(text, at)?;
            let value = scan::token(text, value);
            let end = match self.trie.child_of(node, text, from..to, escaped) {
                Some(child) => self.value(child, visit, value, depth, tape)?,
                None => scan::value(text, value, depth)?.0,
            };
            let (more, behind) = scan::next(text, end, b'}')?;
            at = behind;
            if !more {
                return Ok(at);
            }
        }
    }

    /// A value on a tape that inputs point to or into. Recursion is as deep as the longest declared path at most.
    fn taped_value(&mut self, node: &TrieNode, within: u32, tape: &Tape, index: TapeIndex) {
        let visit = self.visit(node, within);
        let (start, end, escaped) = tape.placed(index);
        let first = scan::byte(self.text, start as usize);
        if visit != 0 && first == b'{' {
            self.taped_members(node, visit, tape, index);
        }
        if let Some(slots) = self.slots.get_mut(node.own())
            && !slots.is_empty()
        {
            let kind = SlotKind::of(first);
            slots.fill(Slot { kind, escaped, start, end, taped: index + 1 });
        }
    }

    /// The members of an object on a tape that are wanted.
    fn taped_members(&mut self, node: &TrieNode, visit: u32, tape: &Tape, index: TapeIndex) {
        let mut inside = tape.inside(index);
        while let Some(member) = inside.next(tape) {
            let Some((key, escaped)) = tape.key(self.text, member) else { break };
            if let Some(child) = self.trie.child_of(node, self.text, key, escaped) {
                self.taped_value(child, visit, tape, member);
            }
        }
    }
}
