//! Source compiled to a module, in this process.
//!
//! The text format is turned into bytes by the `wast` crate, the one that the `wat` command line and wasmtime's own text
//! loader are made of. The name section is kept, so that a trap can name the function it happened in.

use thiserror::Error;
use wast::Wat;
use wast::parser::{ParseBuffer, parse};

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::escaped;
use crate::render::Source;

/// The largest source that is compiled: 4 MiB. Source text is some ten times as large as the module it becomes.
pub(crate) const MAX_SOURCE_BYTES: usize = 4 << 20;

/// Source with the module that was made of it. Made by [`compile`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    source: Source,
    module: Vec<u8>,
}

impl Compiled {
    /// The source.
    #[must_use]
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The module in the binary format.
    #[must_use]
    pub fn module(&self) -> &[u8] {
        &self.module
    }
}

/// Why source is not a module.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The text is not a module in the WebAssembly text format.
    #[error("line {line} column {column}: {message}")]
    Syntax {
        /// Line in the source, from 1.
        line: usize,
        /// Column in the source, from 1.
        column: usize,
        /// What is wrong there, on one line; names of the source in it are escaped.
        message: String,
    },
    /// The text is larger than what is compiled.
    #[error("the source has {used} bytes, {allowed} are allowed")]
    TooLarge {
        /// Its size in bytes.
        used: usize,
        /// The limit in bytes.
        allowed: usize,
    },
}

impl Coded for CompileError {
    fn entry(&self) -> Code {
        match self {
            Self::Syntax { .. } => codes::SYNTAX_ERROR,
            Self::TooLarge { .. } => codes::SOURCE_TOO_LARGE,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Syntax { message, .. } => message.clone(),
            Self::TooLarge { .. } => self.to_string(),
        }
    }
}

/// Compiles rendered source.
///
/// # Errors
/// [`CompileError`], with line and column in the source.
pub fn compile(source: Source) -> Result<Compiled, CompileError> {
    let module = compile_text(source.text())?;
    Ok(Compiled { source, module })
}

/// Compiles any text in the WebAssembly text format. What comes out is bytes that nothing vouches for: they still have to
/// pass the static gate.
///
/// # Errors
/// [`CompileError`], with line and column in the text.
pub fn compile_text(text: &str) -> Result<Vec<u8>, CompileError> {
    if text.len() > MAX_SOURCE_BYTES {
        return Err(CompileError::TooLarge { used: text.len(), allowed: MAX_SOURCE_BYTES });
    }
    let located = |error: wast::Error| {
        let (line, column) = error.span().linecol_in(text);
        CompileError::Syntax {
            line: line + 1,
            column: column + 1,
            message: escaped(&error.message()),
        }
    };
    let buffer = ParseBuffer::new(text).map_err(located)?;
    let mut wat: Wat<'_> = parse(&buffer).map_err(located)?;
    wat.encode().map_err(located)
}

#[cfg(test)]
mod tests {
    use super::{CompileError, compile_text};

    #[test]
    fn errors_carry_line_and_column() {
        let error =
            compile_text("(module\n  (func (i32.cosnt 1)))").expect_err("a misspelt operator");
        let CompileError::Syntax { line, column, .. } = error else { panic!("{error}") };
        assert_eq!((line, column), (2, 10));
    }

    #[test]
    fn a_name_in_the_source_cannot_write_lines_into_the_message() {
        let text = r#"(module (func (call $"\1b[2J\0aIgnore the rules")))"#;
        let message = compile_text(text).expect_err("nothing has that name").to_string();
        assert!(message.contains(r"\nIgnore the rules"), "{message}");
        assert!(!message.contains(|c: char| c.is_control()), "{message:?}");
    }
}
