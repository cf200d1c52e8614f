//! The event schema: as it is; or the paths that it declares, where it is too long, or policy denies what it may tell.

use serde_json::Value;

use super::lines::{RankedLines, RuleWords, names, place, push_count, push_description};
use crate::diagnostics::fence::{self, Escape};
use crate::evidence::{PathStep, Task, Visibility};
use crate::gate::policy::FieldPolicy;

/// How much of a schema is shown, in characters of indented JSON or of lines.
const SCHEMA_CHARS: usize = 24_000;

/// How much of a schema of no known form is shown, before escaping.
const UNKNOWN_CHARS: usize = 4_000;

/// How much of a path's description is shown, before escaping.
const DESCRIPTION_CHARS: usize = 80;

pub(super) fn section(task: &Task, policy: &FieldPolicy, wanted: &RuleWords) -> String {
    let mut text = "\n## The event schema\n\n".to_owned();
    let Some(schema) = task.event_schema() else {
        text.push_str(
            "There is none. What occurs in the samples is all that is known of events.\n",
        );
        return text;
    };
    let json = fence::pretty(&Value::Object(schema.value().clone()), Escape::Hidden);
    let length = json.chars().count();
    // Examples, defaults and the like tell of any path, wherever they are: nothing of them is shown under denials.
    let is_restricted = !policy.denied().is_empty();
    if length <= SCHEMA_CHARS && !is_restricted {
        text.push_str("What the events look like:\n\n");
        text.push_str(&fence::block("json", &json));
        return text;
    }
    let declared = task.evidence().declared();
    if declared.is_empty() && is_restricted {
        text.push_str("It is not shown, since policy denies paths that it may tell of.\n");
        return text;
    }
    if declared.is_empty() {
        let (shown, left_out) = fence::quoted(&json, UNKNOWN_CHARS);
        text.push_str(&format!(
            "It has {length} characters, and these are the first of them; {left_out} are not shown:\n\n"
        ));
        text.push_str(&fence::block("json", &shown));
        return text;
    }
    let mut lines = RankedLines::default();
    let mut denied = 0;
    let inside = task.evidence().declared_inside().iter().map(|(steps, it)| (steps.clone(), it));
    let keys = declared.iter().map(|(path, it)| (PathStep::keys(path), it));
    for (steps, declared) in keys.chain(inside) {
        if policy.visibility(&steps) == Visibility::Hidden {
            denied += 1;
            continue;
        }
        let line = place(&steps).map(|mut line| {
            line.push_str(&format!(" {}", declared.kinds));
            push_description(&mut line, declared.description.as_deref(), DESCRIPTION_CHARS);
            line
        });
        lines.push(wanted.rank(&names(&steps)), line);
    }
    text.push_str(&if is_restricted {
        "Policy denies paths that it may tell of, so it isn't shown as a whole.".to_owned()
    } else {
        format!("As a whole it has {length} characters, which is too long to be shown.")
    });
    text.push_str(
        " These are the paths that it declares, from the\nevent's root, with the kinds of their values and what is said \
         about them. A path behind `[]` starts at\nan element of the array before it, a path behind `{}` at an entry of \
         the object before it:\n\n",
    );
    text.push_str(&lines.block(SCHEMA_CHARS, "Declared paths that are not shown"));
    push_count(&mut text, "Declared paths that policy denies", denied);
    text
}
