//! Codes of compiling source, and those by which a whole compilation is summed up.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

codes! { Stage::Compile;
    AST_FAILURE = "ast_failure":
        "The static gates refused the rendered source or the module made of it. Each failure is listed with its own code and line.",
        "Read the listed failures; for a plan of yours, change the part of the plan that the source's comment names.";
    INVALID_EVENT_TYPES = "invalid_event_types":
        "The declared event types cannot be served: the list is empty, an entry is empty or stands twice, no sample is of a declared type, or no sample of it gave any output.",
        "Make the declared types those of the samples, and give samples from which the plan can extract something.",
        kind(FailureKind::TestFailed);
    LOAD_ERROR = "load_error":
        "The module passed the static gates, but the sandbox could not load it.",
        "Read the reason in the message; for a module that was rendered here, report it as a defect with the plan.";
    SMOKE_FAILURE = "smoke_failure":
        "The module ran over the sample events and its results were refused. The report lists failed runs, malformed results, too few results and failures of the graph validator.",
        "Correct the plan where the listed failures point, or the graph spec if it is wrong.",
        kind(FailureKind::TestFailed);
    SOURCE_TOO_LARGE = "source_too_large":
        "The source text is larger than what is compiled.",
        "Make the plan smaller; for a file of your own, remove data that doesn't belong into source.",
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::fixed("bytes of source"));
    SYNTAX_ERROR = "syntax_error":
        "The source is not a module in the WebAssembly text format. The message gives line and column.",
        "Correct the text there; if it was rendered from a plan, report it as a defect with the plan.";
    UNKNOWN = "unknown":
        "The compilation failed, and its report does not say why. The report was written by something else than this version, or edited.",
        "Compile again and use the new report.";
}
