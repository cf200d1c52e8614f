//! The declared paths as a tree that the pass over an event walks along.

use std::collections::BTreeMap;
use std::ops::Range;

/// A tree of paths. Slots are numbered in pre-order, so all below a path is one range.
#[derive(Clone, Debug)]
pub(super) struct Trie {
    /// The root first.
    pub(super) nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// For each declared path, in the order of declaration, the number of its slot.
    pub(super) positions: Vec<u32>,
}

/// A path, or the beginning of one.
#[derive(Clone, Debug)]
pub(super) struct Node {
    edges: Range<u32>,
    /// A bit for each length that a child's key has, modulo 64: most keys are ruled out by it.
    lengths: u64,
    /// Where the slots of this path and of all paths below it are.
    slots: Range<u32>,
    /// How many of them are this path's own; they come first.
    own: u32,
}

#[derive(Clone, Debug)]
struct Edge {
    key: Box<[u8]>,
    node: u32,
}

impl Node {
    #[inline(always)]
    pub(super) fn has_children(&self) -> bool {
        self.lengths != 0
    }

    #[inline(always)]
    pub(super) fn own(&self) -> Range<usize> {
        self.slots.start as usize..(self.slots.start + self.own) as usize
    }

    #[inline(always)]
    pub(super) fn subtree(&self) -> Range<usize> {
        self.slots.start as usize..self.slots.end as usize
    }
}

/// The tree while it grows.
#[derive(Default)]
struct Draft<'a> {
    own: Vec<usize>,
    children: BTreeMap<&'a str, Draft<'a>>,
}

impl Trie {
    pub(super) fn new<'a>(paths: impl ExactSizeIterator<Item = &'a [String]>) -> Self {
        let mut positions = vec![0; paths.len()];
        let mut root = Draft::default();
        for (index, path) in paths.enumerate() {
            let mut draft = &mut root;
            for segment in path.iter().take(super::MAX_DEPTH + 1) {
                draft = draft.children.entry(segment).or_default();
            }
            // A path deeper than any event stays absent: its slot is in no node's range.
            if path.len() <= super::MAX_DEPTH {
                draft.own.push(index);
            }
        }
        let mut trie = Self { nodes: Vec::new(), edges: Vec::new(), positions: Vec::new() };
        let mut next = 0;
        trie.add(&root, &mut next, &mut positions);
        trie.positions = positions;
        trie
    }

    /// Recursion is bounded by [`MAX_DEPTH`](super::MAX_DEPTH), which cuts paths above.
    fn add(&mut self, draft: &Draft<'_>, next: &mut u32, positions: &mut [u32]) -> u32 {
        let index = self.nodes.len() as u32;
        let start = *next;
        for declared in &draft.own {
            positions[*declared] = *next;
            *next += 1;
        }
        let first = self.edges.len() as u32;
        let lengths = draft.children.keys().fold(0, |set, key| set | 1 << (key.len() % 64));
        self.nodes.push(Node {
            edges: first..first + draft.children.len() as u32,
            lengths,
            slots: start..start,
            own: draft.own.len() as u32,
        });
        // The edges of a node lie side by side, so they are laid before any child adds its own.
        for key in draft.children.keys() {
            self.edges.push(Edge { key: key.as_bytes().into(), node: 0 });
        }
        for (offset, child) in draft.children.values().enumerate() {
            let node = self.add(child, next, positions);
            self.edges[first as usize + offset].node = node;
        }
        self.nodes[index as usize].slots.end = *next;
        index
    }

    /// The child that an unescaped key leads to.
    #[inline(always)]
    pub(super) fn child(&self, node: &Node, key: &[u8]) -> Option<&Node> {
        if node.lengths >> (key.len() % 64) & 1 == 0 {
            return None;
        }
        let edges = self.edges.get(node.edges.start as usize..node.edges.end as usize)?;
        let edge = edges.iter().find(|edge| *edge.key == *key)?;
        self.nodes.get(edge.node as usize)
    }

    /// The child that a key with escapes leads to. The scanner has found the escapes valid.
    #[cold]
    pub(super) fn child_escaped(&self, node: &Node, key: &[u8]) -> Option<&Node> {
        let key = super::unescape(key)?;
        self.child(node, key.as_bytes())
    }
}
