//! The source gate: what Rust source may say, before a compiler sees it.
//!
//! The compiler runs on the host, so a source can attack while it is compiled: `include_str!` and a `#[path]` read the
//! host's files into the module, `env!` its environment; a constant can be a program that never ends; a macro or a type can
//! grow without bound; deep nesting can overflow a parser's stack. [`vet`] takes any text. What it doesn't know to be harmless
//! it refuses: macros, attributes and paths into the libraries are those of lists ([`allowed`]), and items are of the kinds
//! that need no evaluation by the compiler. It says all problems at once, each with its line and column. What passes is a
//! [`VettedSource`], which nothing else can make.
//!
//! It bounds nothing exactly: what a source costs to compile can't be told from its text. The compiler is therefore confined
//! and limited besides.

mod allowed;
mod attributes;
mod characters;
mod constants;
mod declaration;
mod macros;
mod paths;
mod problem;
mod tokens;
mod visit;

use proc_macro2::TokenStream;

pub(crate) use declaration::{Declared, SourceDeclaration};
pub use problem::{MAX_SOURCE_PROBLEMS, SourceFault, SourceProblem, SourceRefused};

use problem::SourceProblems;

/// The stack of the thread that parses. What is nested as deeply as is allowed takes some megabytes of it in a debug build; what
/// isn't touched takes no memory.
const STACK_BYTES: usize = 256 << 20;

/// Bytes that a source in Rust may have, and that are read of one wherever it lies.
pub(crate) const MAX_RUST_BYTES: usize = 256 << 10;

/// How large a source may be. The defaults are far above what an extractor takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceLimits {
    /// Bytes of the text. Default 256 KiB.
    pub source_bytes: usize,
    /// Brackets in each other. Default 64.
    pub nesting: usize,
    /// Tokens since the last separator, those around the brackets that a token is in included: so deep may a parser have to
    /// recurse. Default 2,048.
    pub run: usize,
    /// Elements of an array, those of arrays in arrays multiplied as far as they are written in each other: what an array has of a type
    /// or value that is named the compiler's limits bound. Default 65,536.
    pub array_elements: u64,
}

impl Default for SourceLimits {
    fn default() -> Self {
        Self { source_bytes: MAX_RUST_BYTES, nesting: 64, run: 2_048, array_elements: 65_536 }
    }
}

/// A source that passed the source gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VettedSource {
    text: String,
    declarations: Vec<SourceDeclaration>,
}

impl VettedSource {
    /// The text, as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Judges the text of an extractor in Rust.
///
/// # Errors
/// Everything that is wrong with it, with line and column.
///
/// # Example
/// ```
/// use retort::Coded;
/// use retort::gate::{SourceLimits, vet_source};
///
/// let source = "fn leak() -> &'static str {\n    include_str!(\"/etc/passwd\")\n}\n";
/// let refused = vet_source(source, &SourceLimits::default()).expect_err("a macro that reads files");
/// let problem = &refused.problems()[0];
/// assert_eq!((problem.code(), problem.line(), problem.column()), ("source_macro", 2, 5));
/// ```
pub fn vet(text: &str, limits: &SourceLimits) -> Result<VettedSource, SourceRefused> {
    let start = proc_macro2::LineColumn { line: 1, column: 0 };
    if text.len() > limits.source_bytes {
        let (used, allowed) = (text.len() as u64, limits.source_bytes as u64);
        return Err(SourceRefused::of(start, SourceFault::TooLarge { used, allowed }));
    }
    let mut problems = SourceProblems::default();
    characters::check(text, &mut problems);
    problems.refusal()?;
    // A parser recurses, and so does whatever goes over its trees.
    let judged = std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("retort-source".to_owned())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || judge(text, limits))
            .map(std::thread::ScopedJoinHandle::join)
    });
    let fault = match judged {
        Ok(Ok(verdict)) => {
            let text = text.to_owned();
            return verdict.map(|declarations| VettedSource { text, declarations });
        }
        // A defect of the parser's is no reason to compile what it couldn't read.
        Ok(Err(_)) => SourceFault::Syntax("the parser failed on this source".to_owned()),
        Err(error) => SourceFault::Syntax(format!("there is no thread to parse on: {error}")),
    };
    Err(SourceRefused::of(start, fault))
}

fn judge(text: &str, limits: &SourceLimits) -> Result<Vec<SourceDeclaration>, SourceRefused> {
    let mut problems = SourceProblems::default();
    let mut declarations = Vec::new();
    match text.parse::<TokenStream>() {
        Ok(tokens) => {
            // What is nested too deeply isn't parsed.
            if tokens::check(tokens.clone(), limits, &mut problems) {
                declarations = declaration::declarations(tokens.clone());
                parse(tokens, limits, &mut problems);
            }
        }
        Err(error) => {
            let message = "expected Rust, found what isn't a token: a string, a comment or a bracket that isn't closed, or a \
                           character that Rust has no use for";
            problems.push(error.span(), SourceFault::Syntax(message.to_owned()));
        }
    }
    problems.refusal().map(|()| declarations)
}

fn parse(tokens: TokenStream, limits: &SourceLimits, problems: &mut SourceProblems) {
    match syn::parse2::<syn::File>(tokens) {
        Ok(file) => visit::check(&file, limits, problems),
        Err(error) => problem::syntax(&error, problems),
    }
}

#[cfg(test)]
mod tests;
