//! What the gate reports: every fault of a source, with its code, line and column.

use std::fmt;

use proc_macro2::{LineColumn, Span};

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::diagnostics::untrusted::escaped;

/// Most problems that one refusal lists; the rest are counted.
pub const MAX_SOURCE_PROBLEMS: usize = 50;

/// What is wrong with a source. The texts of the source that are in a fault are escaped and bounded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceFault {
    /// More bytes than are read.
    #[error("{used} bytes of source, at most {allowed} are allowed")]
    TooLarge {
        /// How many there are.
        used: u64,
        /// How many are allowed.
        allowed: u64,
    },
    /// Deeper nesting, or a longer run of tokens, than compilers recurse over without harm.
    #[error(
        "nesting of {used}, at most {allowed} is allowed: brackets, and tokens since the last `;` or `,` around them, add up. \
         Split the expression with `let`, or move part of it to a function"
    )]
    TooDeep {
        /// How deep it is there.
        used: u64,
        /// How deep it may be.
        allowed: u64,
    },
    /// A character that doesn't show, or that changes how its neighbours show.
    #[error(
        "the character {0} doesn't show: write it as an escape in a string, and leave it out elsewhere"
    )]
    Character(String),
    /// What isn't Rust.
    #[error("{0}")]
    Syntax(String),
    /// `unsafe`.
    #[error("expected safe code, found `unsafe`: the SDK has all that an extractor needs")]
    Unsafe,
    /// `extern`.
    #[error(
        "expected no `extern`: an extractor links to nothing but the SDK, and is exported by `extractor!`"
    )]
    Extern,
    /// A macro that isn't on the list.
    #[error("expected one of the macros {expected}, found `{name}!`{instead}")]
    Macro {
        /// Its name.
        name: String,
        /// Those that there are.
        expected: String,
        /// What to write in its place, after a colon.
        instead: &'static str,
    },
    /// An attribute that isn't on the list.
    #[error("expected one of {expected}, found {found}")]
    Attribute {
        /// The attribute, or what is wrong in it.
        found: String,
        /// What there may be.
        expected: String,
    },
    /// A path to what an extractor doesn't have.
    #[error("`{path}` isn't there for extractors: {instead}")]
    Import {
        /// The path.
        path: String,
        /// What to write in its place.
        instead: String,
    },
    /// `mod name;`.
    #[error(
        "expected a module with its items in braces, found `mod {0};`: an extractor is one file"
    )]
    ModuleFile(String),
    /// `static`.
    #[error(
        "expected no `static`: nothing is kept from one event to the next; use `const`, or pass the value on"
    )]
    Static,
    /// An initialiser, or an argument of a type, that the compiler would have to work out.
    #[error(
        "expected literals, operators and other constants, found {0}: compute it in a function"
    )]
    ConstEval(String),
    /// The length of an array that is too large, or isn't said.
    #[error(
        "expected the length of an array as a number, or as a constant that is one, of at most {allowed} elements with all that it is in, found {found}: use a Vec"
    )]
    ArrayLength {
        /// What there is.
        found: String,
        /// How many elements there may be.
        allowed: u64,
    },
    /// Syntax that extractors do without.
    #[error("extractors do without {found}: {instead}")]
    Item {
        /// What there is.
        found: &'static str,
        /// What to write in its place.
        instead: &'static str,
    },
    /// A name that may pose as another.
    #[error(
        "expected a name of ASCII letters, digits and `_`, without `r#`, that doesn't begin with `__` and isn't a crate's or a macro's, found `{0}`"
    )]
    Name(String),
}

impl Coded for SourceFault {
    fn entry(&self) -> Code {
        match self {
            Self::TooLarge { .. } => codes::SOURCE_TOO_LARGE,
            Self::TooDeep { .. } => codes::SOURCE_TOO_DEEP,
            Self::Character(_) => codes::SOURCE_CHARACTER,
            Self::Syntax(_) => codes::SOURCE_SYNTAX,
            Self::Unsafe => codes::SOURCE_UNSAFE,
            Self::Extern => codes::SOURCE_EXTERN,
            Self::Macro { .. } => codes::SOURCE_MACRO,
            Self::Attribute { .. } => codes::SOURCE_ATTRIBUTE,
            Self::Import { .. } => codes::SOURCE_IMPORT,
            Self::ModuleFile(_) => codes::SOURCE_MODULE_FILE,
            Self::Static => codes::SOURCE_STATIC,
            Self::ConstEval(_) => codes::SOURCE_CONST_EVAL,
            Self::ArrayLength { .. } => codes::SOURCE_ARRAY_LENGTH,
            Self::Item { .. } => codes::SOURCE_ITEM,
            Self::Name(_) => codes::SOURCE_NAME,
        }
    }
}

/// One fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    line: usize,
    column: usize,
    fault: SourceFault,
}

impl SourceProblem {
    fn new(at: LineColumn, fault: SourceFault) -> Self {
        Self { line: at.line, column: at.column.saturating_add(1), fault }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The character of the line, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong there.
    #[must_use]
    pub fn fault(&self) -> &SourceFault {
        &self.fault
    }
}

impl Coded for SourceProblem {
    fn entry(&self) -> Code {
        self.fault.entry()
    }

    fn place(&self) -> Option<String> {
        Some(format!("{}:{}", self.line, self.column))
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self.fault {
            SourceFault::TooLarge { used, allowed } | SourceFault::TooDeep { used, allowed } => {
                Some((used, allowed))
            }
            _ => None,
        }
    }

    fn message(&self) -> String {
        self.fault.to_string()
    }

    /// Sources of WebAssembly text have some of these codes as well, at another stage.
    fn problem(&self) -> Problem {
        let problem = Problem::new(Stage::Source, self.entry(), self.message());
        let problem = problem.at(self.place().unwrap_or_default());
        match self.usage() {
            Some((used, allowed)) => problem.limit(used, allowed),
            None => problem,
        }
    }
}

impl fmt::Display for SourceProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.fault)
    }
}

/// A source that the gate refuses: everything that is wrong with it, in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRefused {
    problems: Vec<SourceProblem>,
    omitted: usize,
}

impl SourceRefused {
    /// One fault at one place.
    pub(super) fn of(at: LineColumn, fault: SourceFault) -> Self {
        Self { problems: vec![SourceProblem::new(at, fault)], omitted: 0 }
    }

    /// The problems: at least one, at most [`MAX_SOURCE_PROBLEMS`].
    #[must_use]
    pub fn problems(&self) -> &[SourceProblem] {
        &self.problems
    }

    /// How many more there are.
    #[must_use]
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl fmt::Display for SourceRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {problem}", problem.code())?;
        }
        match self.omitted {
            0 => Ok(()),
            omitted => write!(f, "; and {omitted} more"),
        }
    }
}

impl std::error::Error for SourceRefused {}

/// The problems found so far.
#[derive(Default)]
pub(super) struct SourceProblems(Vec<SourceProblem>);

impl SourceProblems {
    /// A fault at the first character of what the compiler knows by this span.
    pub(super) fn push(&mut self, span: Span, fault: SourceFault) {
        self.push_at(span.start(), fault);
    }

    pub(super) fn push_at(&mut self, at: LineColumn, fault: SourceFault) {
        self.0.push(SourceProblem::new(at, fault));
    }

    /// The verdict: nothing where there is no problem. Of several problems of one code at one place, the first is told.
    pub(super) fn refusal(mut self) -> Result<(), SourceRefused> {
        let place = |problem: &SourceProblem| (problem.line, problem.column, problem.entry());
        self.0.sort_by_key(place);
        self.0.dedup_by_key(|problem| place(problem));
        if self.0.is_empty() {
            return Ok(());
        }
        let omitted = self.0.len().saturating_sub(MAX_SOURCE_PROBLEMS);
        self.0.truncate(MAX_SOURCE_PROBLEMS);
        Err(SourceRefused { problems: self.0, omitted })
    }
}

/// What the parser says.
pub(super) fn syntax(error: &syn::Error, problems: &mut SourceProblems) {
    for error in error.clone() {
        problems.push(error.span(), SourceFault::Syntax(escaped(&error.to_string())));
    }
}
