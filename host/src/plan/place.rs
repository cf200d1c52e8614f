//! Places in a plan, or in what shares its language.

use json_patch::jsonptr::Token;

/// A place, in the two forms in which places are reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlanPlace {
    path: String,
    pointer: String,
}

impl PlanPlace {
    /// A field of the object here.
    pub(crate) fn field(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self {
            path: format!("{}{dot}{name}", self.path),
            pointer: format!("{}/{}", self.pointer, Token::new(name).encoded()),
        }
    }

    /// An entry of the list here.
    pub(crate) fn item(&self, index: usize) -> Self {
        Self {
            path: format!("{}[{index}]", self.path),
            pointer: format!("{}/{index}", self.pointer),
        }
    }

    /// What is at `path` inside of the value here, in the form `.regex.pattern`.
    pub(crate) fn inside(&self, path: &str) -> Self {
        path.split('.').skip(1).fold(self.clone(), |place, name| place.field(name))
    }

    /// In the form `key_field.source_path[1]`; empty for the whole.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// As a JSON Pointer (RFC 6901).
    pub(crate) fn pointer(&self) -> &str {
        &self.pointer
    }

    pub(crate) fn into_pointer(self) -> String {
        self.pointer
    }
}
