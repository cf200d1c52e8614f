//! Why a graph spec is refused.

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::nearest::nearest;
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::{bounded, escaped, quoted};
use crate::diagnostics::wording::meant;
use crate::json::document::position;

/// How many types a message lists.
const MAX_TYPES: usize = 20;

/// A graph spec, ontology or binding that was refused: which text, and what is wrong.
#[derive(Debug, thiserror::Error)]
#[error("{}: {}{problem}", bounded(origin, 200), problem.position())]
pub struct GraphSpecError {
    origin: String,
    problem: Box<SpecProblem>,
}

impl GraphSpecError {
    pub(super) fn new(origin: &str, problem: SpecProblem) -> Self {
        Self { origin: origin.to_owned(), problem: Box::new(problem) }
    }

    /// The name of the text, as the caller gave it.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &SpecProblem {
        &self.problem
    }

    /// Where: `line:column` of the text, or a path such as `entities[0].properties[2].name`.
    /// `None` where the document as a whole is meant.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        self.problem.path()
    }
}

impl Coded for GraphSpecError {
    fn entry(&self) -> Code {
        self.problem.entry()
    }
}

/// What can be wrong with a graph spec. Paths count from zero.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecProblem {
    /// Not YAML or JSON, or of another shape than the form asks for (an unknown key, a list
    /// where text is expected), or beyond the parser's bounds on nesting and aliases.
    #[error("{message}")]
    Syntax {
        /// Line, from 1; 0 where the parser doesn't know it.
        line: u64,
        /// Column, from 1; 0 where the parser doesn't know it.
        column: u64,
        /// Which value, like `entities[0].keys`, unless it is the document itself; what was expected, and what was found.
        message: String,
    },
    /// Over one of the limits on size.
    #[error("{}{what}: expected at most {allowed}, found {used}", place(path))]
    TooLarge {
        /// What is too large, or takes the whole over its limit; empty where that is the document.
        path: String,
        /// What is limited, with its unit.
        what: &'static str,
        /// How much the document holds.
        used: usize,
        /// How much it may hold.
        allowed: usize,
    },
    /// A document of another kind.
    #[error("expected {expected}, found {found}")]
    WrongForm {
        /// The form that was asked for.
        expected: &'static str,
        /// What the document is.
        found: &'static str,
    },
    /// A required field is absent.
    #[error("{path}: expected the field `{field}`, found none")]
    MissingField {
        /// The object that lacks it.
        path: String,
        /// The field.
        field: &'static str,
    },
    /// A name with no characters.
    #[error("{path}: expected a name, found empty text")]
    EmptyName {
        /// The field.
        path: String,
    },
    /// Two fields that say the same thing.
    #[error("{path}: expected one of `{first}` and `{second}`, found both")]
    ConflictingFields {
        /// The object that holds both.
        path: String,
        /// One field.
        first: &'static str,
        /// The other field.
        second: &'static str,
    },
    /// A name that is taken.
    #[error("{path}: expected a {kind} of its own, found {} a second time", quoted(name))]
    DuplicateName {
        /// The second use.
        path: String,
        /// What is named.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A name that nothing declares.
    #[error("{path}: expected the name of a declared {kind}, found {}", quoted(name))]
    UnknownName {
        /// The use.
        path: String,
        /// What should have that name.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A type that there isn't.
    #[error("{path}: expected a property type, one of {known}, found `{}`{}", escaped(name), meant(nearest.as_deref()))]
    UnknownType {
        /// The use.
        path: String,
        /// The types that there are, as far as a message lists them.
        known: String,
        /// The name.
        name: String,
        /// The type that was meant, if one is near.
        nearest: Option<String>,
    },
    /// A declaration that extends itself, directly or through others.
    #[error("{path}: expected a parent that does not extend {}, found a cycle", quoted(name))]
    InheritanceCycle {
        /// The `extends` field.
        path: String,
        /// The declaration.
        name: String,
    },
    /// A binding for another ontology.
    #[error("ontology: expected {}, found {}", quoted(expected), quoted(found))]
    OntologyMismatch {
        /// The ontology's name.
        expected: String,
        /// The name in the binding.
        found: String,
    },
    /// A bound entity whose key has no column.
    #[error("{path}: expected a column for the key property {}, found none", quoted(property))]
    UnboundKey {
        /// The entity in the binding.
        path: String,
        /// The property.
        property: String,
    },
    /// A bound relationship that joins an entity that is not bound.
    #[error("{path}: expected a binding of the endpoint {}, found none", quoted(entity))]
    UnboundEndpoint {
        /// The relationship in the binding.
        path: String,
        /// The entity.
        entity: String,
    },
}

/// A path as it appears before a message.
fn place(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

impl SpecProblem {
    pub(super) fn unknown_type(path: &str, name: &str, types: &[&str]) -> Self {
        let (shown, more) = types.split_at(types.len().min(MAX_TYPES));
        let mut known = shown.iter().map(|it| format!("`{}`", escaped(it))).collect::<Vec<_>>();
        if !more.is_empty() {
            known.push(format!("and {} more", more.len()));
        }
        Self::UnknownType {
            path: path.to_owned(),
            known: known.join(", "),
            name: name.to_owned(),
            nearest: nearest(name, types.iter().copied()).map(escaped),
        }
    }

    /// What comes before the problem, where the problem is known by line and column.
    fn position(&self) -> String {
        match self {
            Self::Syntax { line, column, .. } => position(*line, *column),
            _ => String::new(),
        }
    }

    fn path(&self) -> Option<String> {
        match self {
            Self::Syntax { line: 0, .. } | Self::WrongForm { .. } => None,
            Self::TooLarge { path, .. } => Some(path.clone()).filter(|path| !path.is_empty()),
            Self::Syntax { line, column, .. } => Some(format!("{line}:{column}")),
            Self::OntologyMismatch { .. } => Some("ontology".to_owned()),
            Self::MissingField { path, .. }
            | Self::EmptyName { path }
            | Self::ConflictingFields { path, .. }
            | Self::DuplicateName { path, .. }
            | Self::UnknownName { path, .. }
            | Self::UnknownType { path, .. }
            | Self::InheritanceCycle { path, .. }
            | Self::UnboundKey { path, .. }
            | Self::UnboundEndpoint { path, .. } => Some(path.clone()),
        }
    }
}

impl Coded for SpecProblem {
    fn entry(&self) -> Code {
        match self {
            Self::Syntax { .. } => codes::GRAPH_SPEC_SYNTAX,
            Self::TooLarge { .. } => codes::GRAPH_SPEC_TOO_LARGE,
            Self::WrongForm { .. } => codes::GRAPH_SPEC_WRONG_FORM,
            Self::MissingField { .. } => codes::GRAPH_SPEC_MISSING_FIELD,
            Self::EmptyName { .. } => codes::GRAPH_SPEC_EMPTY_NAME,
            Self::ConflictingFields { .. } => codes::GRAPH_SPEC_CONFLICTING_FIELDS,
            Self::DuplicateName { .. } => codes::GRAPH_SPEC_DUPLICATE_NAME,
            Self::UnknownName { .. } | Self::UnknownType { .. } => codes::GRAPH_SPEC_UNKNOWN_NAME,
            Self::InheritanceCycle { .. } => codes::GRAPH_SPEC_INHERITANCE_CYCLE,
            Self::OntologyMismatch { .. } => codes::GRAPH_SPEC_ONTOLOGY_MISMATCH,
            Self::UnboundKey { .. } => codes::GRAPH_SPEC_UNBOUND_KEY,
            Self::UnboundEndpoint { .. } => codes::GRAPH_SPEC_UNBOUND_ENDPOINT,
        }
    }
}
