//! What is taken out of a plan that reads too much.

use std::collections::BTreeSet;

use json_patch::Patch;

use crate::diagnostics::finding::patch;
use crate::plan::{Read, Role};

/// The removals so far: what is removed once can't be removed again.
#[derive(Default)]
pub(super) struct Removals {
    places: BTreeSet<String>,
}

impl Removals {
    /// What takes a read out of its plan, and whether nothing but what is read goes with it.
    pub(super) fn of(&mut self, read: &Read<'_>) -> Option<(Patch, bool)> {
        let (place, alone) = place(read)?;
        self.places.insert(place.to_owned()).then(|| (patch::remove(place), alone))
    }
}

fn place<'r>(read: &'r Read<'_>) -> Option<(&'r str, bool)> {
    let pointer = read.pointer.as_str();
    match read.role {
        Role::Property => {
            let property = up_to(pointer, "property_fields", 1)?;
            // Of a value with alternatives, and of what an expression reads, others may be wanted.
            let rest = pointer.get(property.len()..)?;
            let alone = !rest.starts_with("/coalesce/") && !rest.ends_with("/expression");
            Some((property, alone))
        }
        Role::Span => up_to(pointer, "partial_when_path", 0)
            .map(|place| (place, true))
            .or_else(|| Some((up_to(pointer, "partial_when", 0)?, false))),
        Role::EdgeId => Some((pointer, false)),
        Role::Key if pointer.starts_with("/edges/") => Some((up_to(pointer, "edges", 1)?, false)),
        Role::Key | Role::Gate | Role::When | Role::Session | Role::ForEach => None,
    }
}

/// The start of a pointer up to the first token of this name, and `more` tokens after it.
fn up_to<'p>(pointer: &'p str, name: &str, more: usize) -> Option<&'p str> {
    let tokens = pointer.split('/').skip(1);
    let mut end = 0;
    let mut left = None;
    for token in tokens {
        end += 1 + token.len();
        left = match left {
            None if token == name => Some(more),
            None => None,
            Some(left) => Some(left - 1),
        };
        if left == Some(0) {
            return pointer.get(..end);
        }
    }
    None
}
