//! Codes of field policies, and of what they refuse.

use super::{Code, CodeEntry, FailureKind, Stage, codes};

codes! { Stage::Policy;
    PATH_DENIED = "path_denied":
        "The plan or the module reads a field that the tenant's policy denies, something below it, or an object that holds it.",
        "Leave the field out, or read the other fields of the object one by one; only the tenant can change the policy.";
    PATH_NOT_EXPLICIT = "path_not_explicit":
        "The plan or the module reads an object that holds a field which by policy has to be read by its own name.",
        "Name the path of each field that is needed, instead of the object around them.";
    POLICY_INVALID_PATH = "policy_invalid_path":
        "A path in the policy has no keys, or an empty one: two dots in a row, or a dot at an end.",
        "Write keys joined by dots, or a list of keys where a key holds a dot itself.",
        kind(FailureKind::MissingContext);
    POLICY_LIMIT_OUT_OF_RANGE = "policy_limit_out_of_range":
        "A limit of the policy says what could not limit anything, or what nothing could run under.",
        "Write a figure within the range that the message gives, or leave the limit out to have the host's.";
    POLICY_SYNTAX = "policy_syntax":
        "The policy is not YAML or JSON, or of another shape. Nothing is ignored silently, since a misspelt key would let through what it should deny.",
        "Correct it where the message says; a policy has `deny`, `explicit`, `whole_event`, `limits`, `structure`, `isolation`, `wasi` and `allocator`.",
        kind(FailureKind::MissingContext);
    POLICY_TOO_LARGE = "policy_too_large":
        "The text of the policy is longer than a policy may be.",
        "Use `*` for keys that vary, and deny an object instead of all that is in it.",
        kind(FailureKind::MissingContext);
    WHOLE_EVENT_NOT_GRANTED = "whole_event_not_granted":
        "The module asks for the whole event, and the policy doesn't grant it.",
        "Declare the paths that are needed, or set `whole_event` in the policy, if the tenant agrees.";
}
