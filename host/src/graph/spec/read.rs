//! Text to a document of one of the forms.

use super::SpecProblem;
use super::document::{BindingDocument, CombinedDocument, Header, SpecDocument};
use crate::json::document::{Document as Reader, DocumentError};

/// A document of one of the forms that declare entities themselves.
pub(super) struct DeclaredForm {
    pub(super) document: SpecDocument,
    /// What comes before `entities` in a path.
    pub(super) base: &'static str,
    /// Whether an entity may extend one that is declared elsewhere. The combined form is
    /// written out for its tables, and its parents may belong to another ontology.
    pub(super) external_parents: bool,
}

pub(super) fn spec(text: &str, origin: &str) -> Result<DeclaredForm, SpecProblem> {
    let reader = Reader::new(text, origin)?;
    let header: Header = reader.read()?;
    if header.graph.is_some() {
        let CombinedDocument { graph: document, .. } = reader.read()?;
        return Ok(DeclaredForm { document, base: "graph.", external_parents: true });
    }
    if header.binding.is_some() {
        return Err(SpecProblem::WrongForm {
            expected: "a graph spec or an ontology",
            found: "a binding, which needs its ontology beside it",
        });
    }
    if header.entities.is_none() {
        return Err(SpecProblem::WrongForm {
            expected: "a graph spec or an ontology",
            found: if reader.is_empty() {
                "an empty document"
            } else {
                "a document with neither `entities` nor `graph`"
            },
        });
    }
    Ok(DeclaredForm { document: reader.read()?, base: "", external_parents: false })
}

pub(super) fn binding(text: &str, origin: &str) -> Result<BindingDocument, SpecProblem> {
    let reader = Reader::new(text, origin)?;
    let header: Header = reader.read()?;
    if header.binding.is_none() {
        return Err(SpecProblem::WrongForm {
            expected: "a binding",
            found: if reader.is_empty() {
                "an empty document"
            } else {
                "a document without `binding`"
            },
        });
    }
    Ok(reader.read()?)
}

impl From<DocumentError> for SpecProblem {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::TooLarge { used, allowed } => {
                Self::TooLarge { path: String::new(), what: "bytes of text", used, allowed }
            }
            DocumentError::Syntax { line, column, message } => {
                Self::Syntax { line, column, message }
            }
        }
    }
}
