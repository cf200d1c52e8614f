//! Reports as the text that a model is given.
//!
//! Each gate leaves a report. This stage turns one into a diagnostic: plain text, bounded and
//! deterministic, in formats that are a public contract. A typed report always renders
//! ([`parse`], [`unrendered`], [`ast`], [`smoke`], [`compile`]); a saved one may turn out not to be a report of
//! its kind, which [`render`] says with the place.
//!
//! A report may hold what a model, a guest or an event wrote, and a saved one what anybody did. So
//! every text in it is bounded where it is rendered, and what doesn't show is spelled out, as
//! [`sanitize`] does it, and every third backtick of a run: codes, paths and the entries of a sample
//! run on one line, 200 characters of a code or a path, 4,000 of a message. The messages of the parser, the details of the static gates
//! and the reasons of a compilation keep their line feeds, for they may have several lines.

mod report;
mod smoke;
mod text;

pub use crate::diagnostics::untrusted::{sanitize, visible, visible_json};
pub use report::{AstFailure, AstReport, CompileReport, ParseReport, RenderReport};
pub use smoke::{SmokeReport, ValidationFailure};
pub use text::{ast, compile, parse, smoke, unrendered};

use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::wording::expected_first;

/// The kinds of report that have a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// What the plan parser refused: [`ParseReport`].
    Parse,
    /// Why a plan can't be rendered: [`RenderReport`].
    Render,
    /// What compiling or inspecting the rendered source found: [`AstReport`].
    Ast,
    /// The sample run: [`SmokeReport`].
    Smoke,
    /// A whole compilation: [`CompileReport`].
    Compile,
}

impl ReportKind {
    /// Every kind, in the order of the pipeline.
    pub const ALL: [Self; 5] = [Self::Parse, Self::Render, Self::Ast, Self::Smoke, Self::Compile];

    /// The name by which the command line and saved cases call this kind.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Render => "render",
            Self::Ast => "ast",
            Self::Smoke => "smoke",
            Self::Compile => "compile",
        }
    }
}

impl fmt::Display for ReportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ReportKind {
    type Err = DiagnoseError;

    /// # Errors
    /// [`DiagnoseError::UnknownKind`] for any other name.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| DiagnoseError::UnknownKind { found: sanitize(name, NAME_CHARS) })
    }
}

/// How much of a name that someone typed is repeated in a message.
const NAME_CHARS: usize = 80;

/// Why a saved report has no diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiagnoseError {
    /// The value is not a report of the named kind.
    #[error("not a {kind} report: at {}: {message}", root_or(path))]
    InvalidReport {
        /// The kind that was asked for.
        kind: ReportKind,
        /// JSON path of the first thing that does not fit; empty for the root.
        path: String,
        /// What was expected there and what was found.
        message: String,
    },
    /// No report is of this kind.
    #[error("no report kind `{found}`: expected parse, render, ast, smoke or compile")]
    UnknownKind {
        /// The name that was given, made safe to print.
        found: String,
    },
}

impl Coded for DiagnoseError {
    fn entry(&self) -> Code {
        match self {
            Self::InvalidReport { .. } => codes::INVALID_REPORT,
            Self::UnknownKind { .. } => codes::UNKNOWN_REPORT_KIND,
        }
    }
}

fn root_or(path: &str) -> &str {
    if path.is_empty() { "<root>" } else { path }
}

/// The diagnostic of a saved report.
///
/// Unknown fields are ignored and fields that a report can do without may be missing, so that
/// reports of other versions still render.
///
/// # Errors
/// [`DiagnoseError::InvalidReport`] if the value is not a report of this kind.
pub fn render(kind: ReportKind, report: &Value) -> Result<String, DiagnoseError> {
    match kind {
        ReportKind::Parse => read(kind, report).map(|report| parse(&report)),
        ReportKind::Render => read(kind, report).map(|report| unrendered(&report)),
        ReportKind::Ast => read(kind, report).map(|report| ast(&report)),
        ReportKind::Smoke => read(kind, report).map(|report| smoke(&report)),
        ReportKind::Compile => read(kind, report).map(|report| compile(&report)),
    }
}

fn read<T: DeserializeOwned>(kind: ReportKind, report: &Value) -> Result<T, DiagnoseError> {
    if !report.is_object() {
        // A derived reader would take a list for an object's fields in order.
        let message = format!("expected an object, found {}", type_name(report));
        return Err(DiagnoseError::InvalidReport { kind, path: String::new(), message });
    }
    serde_path_to_error::deserialize(report).map_err(|error| {
        let path = error.path().to_string();
        DiagnoseError::InvalidReport {
            kind,
            path: if path == "." { String::new() } else { path },
            message: sanitize(&expected_first(&error.inner().to_string()), MESSAGE_CHARS),
        }
    })
}

/// How much of a reader's message, which may quote the report, is repeated.
const MESSAGE_CHARS: usize = 400;

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use serde_json::json;

    use super::*;

    fn refusal(kind: ReportKind, report: &Value) -> (String, String) {
        match render(kind, report).unwrap_err() {
            DiagnoseError::InvalidReport { path, message, .. } => (path, message),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn a_report_of_another_shape_is_refused_with_its_place() {
        let (path, message) = refusal(
            ReportKind::Ast,
            &json!({"failures": [{"code": "a", "detail": "d"}, {"code": "a", "detail": 5}]}),
        );
        assert_eq!(path, "failures[1].detail");
        assert!(message.contains("expected a string"), "{message}");

        let (path, message) = refusal(ReportKind::Parse, &json!({"code": "empty_path"}));
        assert_eq!(path, "");
        assert!(message.contains("message"), "{message}");
    }

    #[test]
    fn no_kind_takes_another_root_or_another_kinds_report() {
        let parse_report = json!({"code": "c", "path": "", "message": "m"});
        for root in [json!(null), json!([]), json!(["a", "b", "c"]), json!("x"), json!({})] {
            for kind in ReportKind::ALL {
                assert_eq!(refusal(kind, &root).0, "", "{kind} {root}");
            }
        }
        for kind in [ReportKind::Ast, ReportKind::Smoke, ReportKind::Compile] {
            refusal(kind, &parse_report);
        }
    }

    #[test]
    fn what_a_report_can_do_without_may_be_missing() {
        assert_eq!(
            render(ReportKind::Ast, &json!({"failures": [{"code": "c", "detail": "d"}]})).unwrap(),
            "AST validation failed (1 issue):\n  <no-line>: c: d"
        );
        let bare = json!({"manifest_present": true, "bundle_dir_present": true});
        assert!(
            render(ReportKind::Compile, &bare).unwrap().starts_with("CompileError [code=unknown]")
        );
    }

    #[test]
    fn kinds_are_named_as_they_print() {
        for kind in ReportKind::ALL {
            assert_eq!(kind.as_str().parse::<ReportKind>().unwrap(), kind);
        }
        let error = "gra\nph".parse::<ReportKind>().unwrap_err();
        assert_eq!(error.code(), "unknown_report_kind");
        assert!(error.to_string().contains("gra\\nph"), "{error}");
    }

    #[test]
    fn a_message_is_bounded_whatever_the_report_quotes() {
        let report = json!({"failures": "\u{1b}[2J".repeat(10_000)});
        let error = render(ReportKind::Ast, &report).unwrap_err();
        assert!(error.to_string().chars().count() < 500);
        assert!(!error.to_string().contains('\u{1b}'));
    }
}
