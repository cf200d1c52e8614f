//! The ids of the nodes of a result, by the texts in them.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::super::measure::Block;
use super::FitNode;
use super::end::EdgeEnd;
use super::id::FitId;
use crate::abi::block::KEPT_BYTES;

/// The ids that edges may lead to of nodes in other rows, or of other values. They are found when an edge does that.
#[derive(Debug, Default)]
pub(super) struct NodeIds {
    /// The nodes that may have such an id.
    sought: Vec<usize>,
    /// Nodes, and the rows for which they are written.
    found: HashTable<(usize, usize)>,
    is_filled: bool,
    hasher: RandomState,
}

impl NodeIds {
    pub(super) fn of<'e>(ends: impl Iterator<Item = &'e EdgeEnd>, nodes: &[FitNode]) -> Self {
        let looked_up: Vec<&FitId> =
            ends.filter(|end| end.is_looked_up).map(|end| &end.id).collect();
        let is_sought = |node: &FitNode| looked_up.iter().any(|id| node.id.is_alike(id));
        let sought = nodes.iter().enumerate().filter(|(_, node)| is_sought(node));
        Self { sought: sought.map(|(at, _)| at).collect(), ..Self::default() }
    }

    /// Forgets those of a result, and gives up what they have taken beyond 1 MiB.
    pub(super) fn clear(&mut self) {
        if std::mem::take(&mut self.is_filled) {
            self.found.clear();
            if self.found.capacity() * size_of::<(usize, usize)>() > KEPT_BYTES {
                self.found = HashTable::new();
            }
        }
    }

    /// Whether a node is written that has this id, of which a row is given. That two ids are the same in other ways isn't seen.
    pub(super) fn contain(
        &mut self,
        id: &FitId,
        block: Block<'_>,
        row: usize,
        nodes: &[FitNode],
    ) -> Option<bool> {
        if !self.is_filled {
            self.fill(block, nodes)?;
        }
        let hash = hash(&self.hasher, id, block, row)?;
        let is_same = |place: &(usize, usize)| has_id(*place, id, block, row, nodes);
        Some(self.found.find(hash, is_same).is_some())
    }

    fn fill(&mut self, block: Block<'_>, nodes: &[FitNode]) -> Option<()> {
        self.is_filled = true;
        let Self { sought, found, hasher, .. } = self;
        for at in sought {
            let Some(node) = nodes.get(*at) else { continue };
            node.item.all(block, |row| {
                let own = hash(hasher, &node.id, block, row)?;
                let again = |(at, row): &(usize, usize)| {
                    let id = nodes.get(*at).map(|node| &node.id);
                    id.and_then(|id| hash(hasher, id, block, *row)).unwrap_or_default()
                };
                let is_same = |place: &(usize, usize)| has_id(*place, &node.id, block, row, nodes);
                // One of each id is enough, however many there are.
                found.entry(own, is_same, again).or_insert((*at, row));
                Some(true)
            })?;
        }
        Some(())
    }
}

/// Whether a node has this id, each given with its row.
fn has_id(
    (at, other): (usize, usize),
    id: &FitId,
    block: Block<'_>,
    row: usize,
    nodes: &[FitNode],
) -> bool {
    nodes.get(at).is_some_and(|node| {
        node.id.is_alike(id) && node.id.texts(block, other).eq(id.texts(block, row))
    })
}

/// None where a text isn't where the block says.
fn hash(hasher: &RandomState, id: &FitId, block: Block<'_>, row: usize) -> Option<u64> {
    let mut state = hasher.build_hasher();
    for text in id.texts(block, row) {
        text?.hash(&mut state);
    }
    Some(state.finish())
}
