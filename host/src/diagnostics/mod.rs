//! What is wrong, reported to people, programs and models.
//!
//! The ground floor: it knows nothing of the stages that fail. Each stage has an error type of its own, and every error
//! carries a stable code ([`Coded`]); [`lookup_code`] says what each code means.

pub(crate) mod codes;
pub(crate) mod diagnose;
pub(crate) mod fence;
pub(crate) mod finding;
pub(crate) mod listing;
pub(crate) mod nearest;
pub(crate) mod problem;
mod stage;
pub(crate) mod untrusted;
pub(crate) mod wording;

pub use codes::{
    Code, CodeEntry, FailureKind, LimitEntry, LimitPart, UnknownCode, all as all_codes,
    lookup as lookup_code,
};
pub use diagnose::{
    AstFailure, AstReport, CompileReport, DiagnoseError, ParseReport, RenderReport, ReportKind,
    SmokeReport, ValidationFailure, render as render_report,
};
pub use finding::{Applicability, FailingEvent, Finding, Suggestion};
pub use problem::{Coded, Problem, Stage};
pub use untrusted::{sanitize, visible, visible_json};
