//! What a host keeps from an extractor of what the extractor declared.

use std::fmt::Debug;

/// Decides by where a value lies. An iteration is named by its index among those of the section; without one, a path starts
/// at the event's root.
pub trait Withhold: Debug + Send + Sync {
    /// Whether an object or an array at this path is withheld: the extractor gets [`SlotKind::Denied`](crate::abi::block::SlotKind) in
    /// its place, and to conditions and conversions it is absent. A string, a number, a boolean or null is not.
    fn nested(&self, iteration: Option<usize>, path: &[String]) -> bool;

    /// The number of restricted keys that the key of an entry is compared with, in an iteration over the entries of an object; 0
    /// where no entry can be withheld for its key. Only a key with a dot can.
    fn weight(&self, iteration: usize) -> u64;

    /// Whether the entry with this key is withheld: the iteration has no row for it.
    fn entry(&self, iteration: usize, key: &str) -> bool;
}
