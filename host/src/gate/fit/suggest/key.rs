//! A mapping for a property of a key that a plan has none for.

use serde_json::{Value, json};

use super::{PathSearch, Sought};
use crate::evidence::similarity::ranking::Likely;
use crate::gate::fit::mapping::Mapping;
use crate::gate::fit::scope::Scopes;
use crate::graph::spec::{Entity, PropertySpec};
use crate::plan::expr::ForEach;
use crate::plan::innermost;
use crate::plan::language::start_word;

/// A mapping for a property of the key of a node or an end that has these `mappings`: from the innermost level at which
/// something suits.
pub(in crate::gate::fit) fn missing_key(
    key: &PropertySpec,
    entity: &Entity,
    mappings: &[Mapping<'_>],
    for_each: Option<&ForEach>,
    scopes: &Scopes<'_>,
) -> Option<Likely<Value>> {
    let sought = Sought {
        given: &[],
        name: Some(&key.logical_name),
        property_type: Some(&key.property_type),
        is_key: true,
    };
    scopes.levels(for_each).rev().find_map(|(level, known)| {
        let at_level = |it: &&Mapping<'_>| it.plain().is_some_and(|it| it.level == level);
        let taken = mappings.iter().filter(at_level).map(Mapping::path);
        let path = PathSearch::new(known, &entity.name, taken).named(&sought)?;
        Some(path.map(|path| {
            let mut mapping = json!({"property_name": key.logical_name, "source_path": path});
            if let Some(from) = start_word(level, innermost(for_each)) {
                mapping["from"] = json!(from);
            }
            mapping
        }))
    })
}
