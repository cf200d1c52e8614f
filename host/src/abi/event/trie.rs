//! The declared paths as a tree that the pass over an event walks along.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::json::{KeyEnds, WantedKey, string};

/// A tree of paths. Nodes and slots are numbered in pre-order.
#[derive(Clone, Debug)]
pub(crate) struct Trie {
    /// The root first.
    nodes: Vec<TrieNode>,
    edges: Vec<TrieEdge>,
    /// For each declared path, in the order of declaration, the number of its slot.
    positions: Vec<u32>,
}

/// A path, or the beginning of one.
#[derive(Clone, Debug)]
pub(super) struct TrieNode {
    index: u32,
    parent: u32,
    edges: Range<u32>,
    /// A bit for the [`sketch`] of each child's key: most other keys are ruled out by it.
    sketches: u64,
    /// The slots of this path, one for each time that it was declared.
    slots: Range<u32>,
    /// Whether what is there is noted on a tape.
    is_taped: bool,
}

#[derive(Clone, Debug)]
struct TrieEdge {
    key: WantedKey,
    node: u32,
}

/// So many edges are looked through faster than they are searched.
const FEW_EDGES: usize = 16;

/// The edge of a key among many. Inlined it would take registers from the pass over objects of which few members are wanted.
#[inline(never)]
fn search<'t>(edges: &'t [TrieEdge], key: &[u8], ends: KeyEnds) -> Option<&'t TrieEdge> {
    let place = edges.binary_search_by(|edge| edge.key.order(key, ends)).ok()?;
    edges.get(place)
}

/// A number below 64 that two different keys rarely share.
#[inline(always)]
fn sketch(key: &[u8]) -> u32 {
    let end = |byte: Option<&u8>| byte.map_or(0, |byte| usize::from(*byte));
    let mixed = key.len() + 7 * end(key.first()) + 11 * end(key.last());
    (mixed % 64) as u32
}

impl TrieNode {
    #[inline(always)]
    pub(super) fn has_children(&self) -> bool {
        self.sketches != 0
    }

    /// Where the slots of this path are.
    #[inline(always)]
    pub(super) fn own(&self) -> Range<usize> {
        self.slots.start as usize..self.slots.end as usize
    }

    /// Whether what is there is noted on a tape.
    #[inline(always)]
    pub(super) fn is_taped(&self) -> bool {
        self.is_taped
    }

    /// Its place among all nodes.
    #[inline(always)]
    pub(super) fn index(&self) -> usize {
        self.index as usize
    }

    /// The place of its parent; the root's own for the root.
    pub(super) fn parent(&self) -> usize {
        self.parent as usize
    }
}

/// The tree while it grows.
#[derive(Default)]
struct TrieBranch<'a> {
    own: Vec<usize>,
    is_taped: bool,
    children: BTreeMap<&'a str, TrieBranch<'a>>,
}

impl Trie {
    /// The tree of these paths; a place without a path has no slot. Second, which of them lead to what is gone over later.
    pub(super) fn new(paths: &[Option<Vec<String>>], taped: &HashSet<usize>) -> Self {
        // A path deeper than any event keeps the position that no slot has.
        let mut positions = vec![u32::MAX; paths.len()];
        let mut root = TrieBranch::default();
        for (index, path) in paths.iter().enumerate() {
            let Some(path) = path else { continue };
            let mut draft = &mut root;
            for segment in path.iter().take(super::MAX_DEPTH + 1) {
                draft = draft.children.entry(segment).or_default();
            }
            if path.len() <= super::MAX_DEPTH {
                draft.own.push(index);
                draft.is_taped |= taped.contains(&index);
            }
        }
        let mut trie = Self { nodes: Vec::new(), edges: Vec::new(), positions: Vec::new() };
        let mut next = 0;
        trie.add(&root, 0, &mut next, &mut positions);
        trie.positions = positions;
        trie
    }

    /// Adds a node and all below it, parents before children. Recursion is bounded by [`MAX_DEPTH`](super::MAX_DEPTH),
    /// which cuts paths above.
    fn add(
        &mut self,
        draft: &TrieBranch<'_>,
        parent: u32,
        next: &mut u32,
        positions: &mut [u32],
    ) -> u32 {
        let index = self.nodes.len() as u32;
        let start = *next;
        for declared in &draft.own {
            positions[*declared] = *next;
            *next += 1;
        }
        let first = self.edges.len() as u32;
        let sketches = draft.children.keys().fold(0, |set, key| set | 1 << sketch(key.as_bytes()));
        self.nodes.push(TrieNode {
            index,
            parent,
            edges: first..first + draft.children.len() as u32,
            sketches,
            slots: start..*next,
            is_taped: draft.is_taped,
        });
        // The edges of a node lie side by side, so they are laid before any child adds its own.
        for key in draft.children.keys() {
            self.edges.push(TrieEdge { key: WantedKey::new(key), node: 0 });
        }
        for (offset, child) in draft.children.values().enumerate() {
            let node = self.add(child, index, next, positions);
            self.edges[first as usize + offset].node = node;
        }
        // In the order that they are searched in.
        if let Some(own) = self.edges.get_mut(first as usize..first as usize + draft.children.len())
        {
            own.sort_unstable_by(|one, other| {
                let key = other.key.text().as_bytes();
                one.key.order(key, KeyEnds::of(key, &(0..key.len())))
            });
        }
        index
    }

    /// How many paths were declared.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// What it takes to clear what is known of one event or element: the keys of its paths, of equal beginnings once, or the
    /// paths, whichever are more.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len().saturating_sub(1).max(self.len())
    }

    /// The number of the slot of the path that was declared at `index`; one that no slot has where there is none.
    #[inline(always)]
    pub(super) fn position(&self, index: usize) -> u32 {
        self.positions.get(index).copied().unwrap_or(u32::MAX)
    }

    /// All nodes, parents before their children.
    pub(super) fn nodes(&self) -> &[TrieNode] {
        &self.nodes
    }

    /// The node of the empty path.
    #[inline(always)]
    pub(super) fn root(&self) -> &TrieNode {
        &self.nodes[0]
    }

    /// The child that a key leads to, which lies in `text`.
    #[inline(always)]
    pub(super) fn child_of(
        &self,
        node: &TrieNode,
        text: &[u8],
        at: Range<usize>,
        escaped: bool,
    ) -> Option<&TrieNode> {
        if escaped {
            self.child_escaped(node, text.get(at).unwrap_or_default())
        } else {
            self.child(node, text, at)
        }
    }

    /// The child that an unescaped key leads to, which lies in `text`.
    #[inline(always)]
    fn child(&self, node: &TrieNode, text: &[u8], at: Range<usize>) -> Option<&TrieNode> {
        let key = text.get(at.clone())?;
        if node.sketches >> sketch(key) & 1 == 0 {
            return None;
        }
        let ends = KeyEnds::of(text, &at);
        let edges = self.edges.get(node.edges.start as usize..node.edges.end as usize)?;
        let edge = if edges.len() <= FEW_EDGES {
            edges.iter().find(|edge| edge.key.is(key, ends))?
        } else {
            search(edges, key, ends)?
        };
        self.nodes.get(edge.node as usize)
    }

    /// The child that a key with escapes leads to. The scanner has found the escapes valid.
    #[cold]
    fn child_escaped(&self, node: &TrieNode, key: &[u8]) -> Option<&TrieNode> {
        let key = string::characters(key);
        self.child(node, &key, 0..key.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use proptest::prelude::*;

    use super::Trie;

    proptest! {
        /// Long keys have the same ends, so that only what is between them tells them apart.
        #[test]
        fn a_key_leads_to_its_own_child(
            keys in prop::collection::btree_set("[ab]{0,3}|abcdefgh[ab]{1,4}ijklmnop", 1..40),
            others in prop::collection::btree_set("[ab]{0,3}|abcdefgh[ab]{1,4}ijklmnop", 1..20)
        ) {
            let paths: Vec<_> = keys.iter().map(|key| Some(vec![key.clone()])).collect();
            let trie = Trie::new(&paths, &HashSet::new());
            let known: Vec<&String> = keys.iter().collect();
            for key in keys.union(&others).collect::<BTreeSet<_>>() {
                let child = trie.child_of(trie.root(), key.as_bytes(), 0..key.len(), false);
                let expected = known.iter().position(|it| *it == key).map(|at| trie.position(at) as usize);
                prop_assert_eq!(child.map(|child| child.own().start), expected, "{}", key);
            }
        }
    }
}
