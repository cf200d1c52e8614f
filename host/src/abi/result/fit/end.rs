//! What an edge leads from and to: a node of the result, or of another one where that is allowed.

use memchr::{memchr3, memmem};

use super::super::form::Unless;
use super::super::measure::Block;
use super::FitNode;
use super::id::{FitId, is_plain};
use super::item::FitItem;
use super::node_ids::NodeIds;
use crate::graph::spec::GraphSpec;
use crate::graph::validate::{EndSpec, ValidateOptions};

/// An end of an edge.
#[derive(Debug)]
pub(super) struct EdgeEnd {
    pub(super) id: FitId,
    /// Nodes that have this id wherever the edge is, if they are written.
    here: Vec<usize>,
    /// Whether one of these is written wherever the edge is.
    is_always_here: bool,
    /// Whether it is looked up among the ids of nodes: one may have it in another row, or by other values.
    pub(super) is_looked_up: bool,
    /// By what the id is known to be that of a node of another result, where that is allowed.
    external: Option<ExternalId>,
}

impl EdgeEnd {
    /// None where it isn't known that a node with the id is one that the relationship allows there.
    pub(super) fn new(
        id: FitId,
        end: &EndSpec<'_>,
        spec: &GraphSpec,
        options: ValidateOptions,
        edge: &FitItem,
        nodes: &[FitNode],
    ) -> Option<Self> {
        let entity = spec.entity(end.entity_name)?;
        end.names(spec).iter().all(|names| EndSpec::is_key(names, entity)).then_some(())?;
        let (own, others): (Vec<_>, Vec<_>) =
            nodes.iter().enumerate().partition(|(_, node)| node.entity == end.entity_name);
        let may_be_another = |id: &FitId| others.iter().any(|(_, node)| node.id.may_equal(id));
        (!own.iter().any(|(_, node)| may_be_another(&node.id))).then_some(())?;
        let (mut here, mut is_always_here, mut is_looked_up) = (Vec::new(), false, false);
        for (at, node) in own {
            let is_same_row = node.item.rows.is_none() || node.item.rows == edge.rows;
            let is_here = is_same_row && node.id.is_same(&id);
            if is_here {
                here.push(at);
                is_always_here |= is_implied(&node.item.unless, &edge.unless);
            }
            is_looked_up |= node.id.is_alike(&id) && (!is_here || node.item.rows.is_some());
        }
        let external = (options.allow_external_endpoints && !may_be_another(&id))
            .then(|| ExternalId::new(&id, end, spec))
            .flatten();
        Some(Self { id, here, is_always_here, is_looked_up, external })
    }

    /// Whether a node is known to be where this end of an edge leads, which is written for a row.
    pub(super) fn is_met(
        &self,
        block: Block<'_>,
        row: usize,
        nodes: &[FitNode],
        ids: &mut NodeIds,
    ) -> Option<bool> {
        if self.is_always_here {
            return Some(true);
        }
        for node in self.here.iter().filter_map(|at| nodes.get(*at)) {
            if node.item.is_written(block, row)? {
                return Some(true);
            }
        }
        if self.is_looked_up && ids.contain(&self.id, block, row, nodes)? {
            return Some(true);
        }
        let external = self.external.as_ref();
        external.map_or(Some(false), |external| external.is_known(&self.id, block, row))
    }
}

/// Whether all reasons to write nothing are among the others, by values of the event and by those of a row.
fn is_implied(unless: &[Vec<Unless<usize>>; 2], others: &[Vec<Unless<usize>>; 2]) -> bool {
    let mut pairs = unless.iter().zip(others);
    pairs.all(|(unless, others)| unless.iter().all(|reason| others.contains(reason)))
}

/// An id `{session}:{entity}:{key}={value}[,{key}={value}...]` that the validator reads so: its entity, and all keys that the
/// relationship refers to. It looks for the last `:{entity}:` before a key, and in what follows for the last `,{key}=`, so that
/// values in which neither can be are enough.
#[derive(Debug)]
struct ExternalId {
    /// `:{entity}:`
    segment: Vec<u8>,
}

impl ExternalId {
    fn new(id: &FitId, end: &EndSpec<'_>, spec: &GraphSpec) -> Option<Self> {
        let segment = format!(":{}:", end.entity_name);
        let constants = id.constants();
        let [before, first, middle @ .., after] = constants.as_slice() else { return None };
        let first = first.strip_prefix(segment.as_bytes())?;
        let middle = middle.iter().map(|text| text.strip_prefix(b","));
        let keys: Option<Vec<&str>> = std::iter::once(Some(first))
            .chain(middle)
            .map(|text| str::from_utf8(text?.strip_suffix(b"=")?).ok())
            .collect();
        let keys = keys?;
        let names = end.names(spec);
        let is_read = before.is_empty()
            && after.is_empty()
            && is_plain(end.entity_name)
            && keys.iter().all(|key| is_plain(key))
            && names.iter().all(|names| names.iter().any(|name| keys.contains(name)))
            && names.iter().flatten().any(|name| keys.first() == Some(name));
        is_read.then(|| Self { segment: segment.into_bytes() })
    }

    /// Whether the values of keys are such that the id is read so.
    fn is_known(&self, id: &FitId, block: Block<'_>, row: usize) -> Option<bool> {
        // The session may be any text.
        for text in id.texts(block, row).skip(1) {
            let text = text?;
            let is_read_whole = match memchr3(b':', b',', b'\\', text) {
                None => true,
                // Names of other systems often have colons.
                Some(_) => {
                    !text.contains(&b',')
                        && !text.contains(&b'\\')
                        && memmem::find(text, &self.segment).is_none()
                }
            };
            if text.is_empty() || !is_read_whole {
                return Some(false);
            }
        }
        Some(true)
    }
}
