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
    RUSTC_CRASHED = "rustc_crashed":
        "The Rust compiler ended without a module and without an error of the source.",
        "Read what it said; write the part that it is about in another way.";
    RUSTC_MEMORY_EXCEEDED = "rustc_memory_exceeded":
        "The Rust compiler asked for more memory than it may have.",
        "Make the source smaller: fewer and shallower generic types, and no large arrays or constants.",
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::fixed("bytes of memory"));
    RUSTC_MODULE_TOO_LARGE = "rustc_module_too_large":
        "What the Rust compiler wrote is larger than a module of an extractor may be.",
        "Make the source smaller: no large constants, and fewer copies of generic functions.",
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::fixed("bytes of the module"));
    RUSTC_PROCESSES_EXCEEDED = "rustc_processes_exceeded":
        "The Rust compiler had more processes at one time than it may have, and was ended with all of them.",
        "Write the source in another way; nothing that it may say takes more than a compiler and a linker.",
        limit(LimitEntry::fixed("processes"));
    RUSTC_REJECTED = "rustc_rejected":
        "The source has errors, which the Rust compiler tells with their lines, columns and its own codes.",
        "Correct the source where the errors point.",
        kind(FailureKind::ReasoningError);
    RUSTC_STARVED = "rustc_starved":
        "The Rust compiler was waited for longer than it may take, and in that time got so little of a processor that nothing is known about the source.",
        "Try again when the machine has less to do, or compile fewer extractors at a time.";
    RUSTC_TIMEOUT = "rustc_timeout":
        "The Rust compiler wasn't done in the time that it may take, and was ended.",
        "Make the source smaller: fewer and shallower generic types, and fewer copies of generic functions.",
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::fixed("milliseconds"));
    RUSTC_UNCONFINED = "rustc_unconfined":
        "The kernel of this machine can't keep the Rust compiler from files and connections, or not from all of them.",
        "Compile on a machine with Linux 6.12 or later and Landlock turned on; or, of sources that you trust, don't require it in the policy.";
    RUSTC_WRITTEN_EXCEEDED = "rustc_written_exceeded":
        "The files that the Rust compiler wrote take more room than they may, and it was ended.",
        "Make the source smaller: no large constants, and fewer copies of generic functions.",
        kind(FailureKind::ReasoningError),
        limit(LimitEntry::fixed("bytes of files"));
    SDK_UNUSABLE = "sdk_unusable":
        "The Rust compiler can't use the compiled libraries of the SDK, though they were compiled anew when that was found.",
        "Remove the directory `retort/sdk` in the user's cache directory; if it stays so, install the target wasm32-wasip1 of this compiler again.";
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
    TARGET_MISSING = "target_missing":
        "The Rust compiler of this machine can't compile for WebAssembly.",
        "Run `rustup target add wasm32-wasip1`.";
    TOOLCHAIN_FAILED = "toolchain_failed":
        "The Rust compiler of this machine could not be started within its limits, or could not compile the SDK.",
        "Read the reason in the message; try the compiler by itself.";
    TOOLCHAIN_MISSING = "toolchain_missing":
        "There is no Rust compiler on this machine, or what is named as one is none that extractors can be compiled by.",
        "Install Rust 1.85 or later from https://rustup.rs with the target wasm32-wasip1, or name a compiler in RETORT_RUSTC.";
    UNKNOWN = "unknown":
        "The compilation failed, and its report does not say why. The report was written by something else than this version, or edited.",
        "Compile again and use the new report.";
}
