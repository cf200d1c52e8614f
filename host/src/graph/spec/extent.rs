//! How much a spec may hold, as a whole and in its parts.

use super::{PropertySpec, SpecProblem};

/// How many entities, and how many relationships, a spec may declare.
pub(super) const MAX_DECLARATIONS: usize = 2_000;
/// How many columns a key or an endpoint may have.
pub(super) const MAX_KEY_COLUMNS: usize = 32;
/// How many properties a spec may hold in all, inherited ones counted where they arrive.
pub(super) const MAX_PROPERTIES: usize = 50_000;
/// How long a name, a label or the name of a type may be. The longest that tables are known to take have 300 characters.
const MAX_NAME_BYTES: usize = 1_024;
/// How many bytes all names of a spec may have, inherited ones counted where they arrive: as many as a text in the resolved
/// form, which says more than names.
const MAX_NAMES_BYTES: usize = 4 << 20;
/// How many bytes all descriptions of properties may have, inherited ones counted where they arrive.
const MAX_DESCRIPTIONS_BYTES: usize = 4 << 20;

type Result<T> = std::result::Result<T, SpecProblem>;

/// What a spec holds so far. Inheritance multiplies what is written once, so it is counted before it is copied.
#[derive(Default)]
pub(super) struct SpecExtent {
    properties: usize,
    bytes: usize,
    described: usize,
}

impl SpecExtent {
    /// Properties of an entity or a relationship, inherited ones included.
    pub(super) fn add_properties(
        &mut self,
        path: &str,
        properties: &[&PropertySpec],
    ) -> Result<()> {
        self.properties += properties.len();
        limit(path, "properties", self.properties, MAX_PROPERTIES)?;
        let descriptions = properties.iter().filter_map(|property| property.description.as_deref());
        self.described += descriptions.map(str::len).sum::<usize>();
        limit(path, "bytes of descriptions", self.described, MAX_DESCRIPTIONS_BYTES)?;
        let names = properties.iter().flat_map(|property| {
            [&property.logical_name, &property.column, property.property_type.as_str()]
        });
        self.add_names(path, names)
    }

    pub(super) fn add_names<'n>(
        &mut self,
        path: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<()> {
        self.bytes += names.into_iter().map(str::len).sum::<usize>();
        limit(path, "bytes of names", self.bytes, MAX_NAMES_BYTES)
    }
}

pub(super) fn limit(path: &str, what: &'static str, used: usize, allowed: usize) -> Result<()> {
    if used > allowed {
        return Err(SpecProblem::TooLarge { path: path.to_owned(), what, used, allowed });
    }
    Ok(())
}

/// A name that isn't empty, and not too long.
pub(super) fn named(path: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(SpecProblem::EmptyName { path: path.to_owned() });
    }
    short(path, name)
}

/// What may be empty, and is not too long.
pub(super) fn short(path: &str, name: &str) -> Result<()> {
    limit(path, "bytes of a name", name.len(), MAX_NAME_BYTES)
}
