//! What a policy keeps a plan from reading.

use super::lines::Lines;
use crate::diagnostics::fence;
use crate::gate::policy::FieldPolicy;

/// How much of a policy is shown, in characters.
const POLICY_CHARS: usize = 8_000;

/// How much of a reason is shown, before escaping.
const REASON_CHARS: usize = 200;

/// Nothing, where nothing is denied.
pub(super) fn section(policy: &FieldPolicy) -> String {
    let mut lines = Lines::default();
    for (word, restrictions) in [("denied", policy.denied()), ("explicit", policy.explicit())] {
        for restriction in restrictions {
            let mut line = format!("{word} {}", fence::path(restriction.path()));
            if let Some(reason) = restriction.reason() {
                line.push_str(": ");
                line.push_str(&fence::quoted(reason, REASON_CHARS).0);
            }
            lines.push((0, 0), line);
        }
    }
    let (shown, left_out) = lines.within(POLICY_CHARS);
    if shown.is_empty() && left_out == 0 {
        return String::new();
    }
    let mut text = "
## What may not be read

A plan that reads a denied path is rejected, and so is one that reads what is below it, or an object that holds it. An
explicit path may be read by its own name, and not by reading an object that holds it. `*` stands for any one key.

"
    .to_owned();
    text.push_str(&fence::block("text", &shown));
    if left_out > 0 {
        text.push_str(&format!(
            "\nRestrictions that are not shown, and hold all the same: {left_out}.\n"
        ));
    }
    text
}
