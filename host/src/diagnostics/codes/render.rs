//! Codes of the renderer.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

codes! { Stage::Render;
    PLAN_NOT_DECLARABLE = "plan_not_declarable":
        "The plan is valid, but no extractor can declare what it reads: too many values, too long a path or a template, or a name that belongs to the binary interface or, in Rust, to compilers.",
        "Read fewer fields, by shorter paths and templates, or name the function otherwise, as the message says; split the plan if it needs more.",
        kind(FailureKind::SchemaInvalid),
        limit(LimitEntry::fixed("parts of a plan"));
    PLAN_TOO_LARGE = "plan_too_large":
        "The names in the plan are so long, or so many, that no result could hold its constant text, or that its module would be larger than what passes the static gate.",
        "Shorten the names, or map fewer properties; split the plan if it needs more.",
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::fixed("bytes"));
}
