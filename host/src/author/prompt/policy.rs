//! What a policy keeps a plan, or an extractor in Rust, from reading.

use super::lines::{RankedLines, push_description};
use crate::author::backend::Language;
use crate::diagnostics::fence;
use crate::gate::policy::FieldPolicy;

/// How much of a policy is shown, in characters.
const POLICY_CHARS: usize = 8_000;

/// How much of a reason is shown, before escaping.
const REASON_CHARS: usize = 200;

const INTRODUCTION: &str = "
## What may not be read

A plan that reads a denied path is rejected, and so is one that reads what is below it, or an object that holds it. An
explicit path may be read by its own name, and not by reading an object that holds it. `*` stands for any one key.

";

const FOR_RUST: &str = "
## What may not be read

An extractor whose inputs name a denied path is rejected, and so is one that names what is below it, or an object that holds
it. An explicit path may be an input by its own name, and not by an object that holds it. `*` stands for any one key.

";

/// Nothing, where nothing is denied.
pub(super) fn section(policy: &FieldPolicy, language: Language) -> String {
    let mut lines = RankedLines::default();
    for (word, restrictions) in [("denied", policy.denied()), ("explicit", policy.explicit())] {
        for restriction in restrictions {
            let mut line = format!("{word} {}", fence::path(restriction.path()));
            push_description(&mut line, restriction.reason(), REASON_CHARS);
            lines.push((0, 0), line);
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let left_out = "Restrictions that are not shown, and hold all the same";
    let introduction = match language {
        Language::Plan => INTRODUCTION,
        Language::Rust => FOR_RUST,
    };
    format!("{introduction}{}", lines.block(POLICY_CHARS, left_out))
}
