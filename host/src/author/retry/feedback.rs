//! What a model is shown of a failure.

use super::Rejection;
use crate::author::backend::Language;
use crate::author::repair::mechanical::Change;
use crate::author::repair::{Failure, reduce_failure_of_source, reduce_failure_to_repair};
use crate::bundle::LeftOut;
use crate::diagnostics::codes;
use crate::diagnostics::finding::{Finding, describe, shown};
use crate::diagnostics::listing::push_list;

/// How many findings are looked through for suggestions; the text names fewer.
const MAX_SUGGESTED: usize = 100;

/// What may be said of what no sample shows.
const UNSEEN: &str = "

What no sample shows may be right all the same. Where you know that events have such a path, keep it and write \
`\"unseen\": true` beside it; an event type is written as `{\"type\": \"...\", \"unseen\": true}` then.";

/// The same where Rust is asked for.
const UNSEEN_INPUT: &str = "

What no sample shows may be right all the same. Where you know that events have such a path, keep it and write `unseen` at \
the end of its input, or in front of the columns of its iteration.";

/// The gate's diagnostic, unaltered; then what it doesn't say, the patches that were applied already and
/// those that may be meant; then what to do next (`reduce_failure_to_repair`). A heading comes from the gate's own diagnostic,
/// each finding's text from [`describe`].
pub(super) fn feedback(
    language: Language,
    rejection: &Rejection,
    applied: &[Change],
    left_out: &[LeftOut],
    failure: &Failure,
) -> String {
    let Rejection { diagnostic, findings, .. } = rejection;
    let mut text = diagnostic.clone();
    let is_new = |finding: &&Finding| {
        let patch = finding.patch().and_then(|patch| shown(patch).ok());
        patch.is_some_and(|patch| !diagnostic.contains(&patch))
    };
    let suggested: Vec<_> = findings.iter().filter(is_new).take(MAX_SUGGESTED).cloned().collect();
    if !suggested.is_empty() {
        text.push_str(&format!("\n\n{}", describe("What may fix it", &suggested)));
    }
    let is_unshown =
        |it: &Finding| matches!(it.code, codes::UNKNOWN_PATH | codes::EVENT_TYPE_WITHOUT_SAMPLE);
    if findings.iter().any(|it| is_unshown(it) && !it.is_certain()) {
        match language {
            Language::Plan => text.push_str(UNSEEN),
            // Of event types there have to be samples.
            Language::Rust if findings.iter().any(|it| it.code == codes::UNKNOWN_PATH) => {
                text.push_str(UNSEEN_INPUT);
            }
            Language::Rust => {}
        }
    }
    if !applied.is_empty() {
        text.push_str("\n\nYour answer was repaired before it was judged, and the diagnostic is about the repaired plan. ");
        text.push_str("These are all the changes that were made to it, by JSON Pointer, with what was there before and after. Where what was there is right, write it again");
        text.push_str(", with `\"unseen\": true` where no sample shows it:");
        for change in applied {
            text.push_str(&format!("\n  {change}"));
        }
    }
    if !left_out.is_empty() {
        text.push_str("\n\nThe plan leaves out these properties of the graph; map those that the rule asks for, and no others:");
        push_list(&mut text, "  ", "", left_out.len(), left_out.iter().map(LeftOut::to_string));
    }
    let repair = match language {
        Language::Plan => reduce_failure_to_repair(failure),
        Language::Rust => reduce_failure_of_source(failure),
    };
    text.push_str(&format!("\n\n{}", repair.prompt_suffix));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use json_patch::Patch;

    use super::*;
    use crate::diagnostics::problem::Stage;

    fn patch(value: serde_json::Value) -> Patch {
        serde_json::from_value(value).expect("a patch")
    }

    fn change(pointer: &str, before: Option<&str>, after: Option<&str>) -> Change {
        let [before, after] = [before, after].map(|it| it.map(serde_json::Value::from));
        Change { pointer: pointer.to_owned(), before, after }
    }

    fn finding(pointer: &str, to: &str) -> Finding {
        Finding::new(Stage::Plan, codes::WRONG_TYPE, pointer, "an array", "a string")
            .with_suggestion(patch(json!([{"op": "replace", "path": pointer, "value": to}])))
    }

    fn shown_to_model(
        diagnostic: &str,
        findings: &[Finding],
        applied: &[Change],
        failure: &Failure,
    ) -> String {
        let rejection = Rejection::of_no_gate(codes::WRONG_TYPE, diagnostic.to_owned());
        feedback(
            Language::Plan,
            &Rejection { findings: findings.to_vec(), ..rejection },
            applied,
            &[],
            failure,
        )
    }

    #[test]
    fn the_diagnostic_is_first_and_unaltered() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "/key_field");
        let text = shown_to_model(
            "PlanParseError [code=wrong_type] at key_field: no",
            &[finding("/key_field", "a")],
            &[],
            &failure,
        );
        insta::assert_snapshot!(text, @r#"
        PlanParseError [code=wrong_type] at key_field: no

        What may fix it (1 issue):
          /key_field: wrong_type: expected an array; found a string
            perhaps fixed by this JSON Patch of the plan: [{"op":"replace","path":"/key_field","value":"a"}]

        Next step: Give `/key_field` the form that the list of objects says. Correct every problem that is listed, and keep all the rest of the plan as it is.
        "#);
    }

    #[test]
    fn what_the_diagnostic_says_already_is_not_said_again() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "");
        let findings = [finding("/a", "x")];
        let said = shown(findings[0].patch().expect("one")).expect("short");
        let text = shown_to_model(&said, &findings, &[], &failure);
        assert_eq!(text.matches(&said).count(), 1, "{text}");
    }

    #[test]
    fn it_says_what_was_repaired_and_keeps_within_bounds() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "");
        let findings: Vec<_> = (0..50).map(|i| finding(&format!("/{i}"), "x")).collect();
        let applied = [
            change("/note", Some("x"), None),
            change("/property_fields/0/source_path", Some("titel"), Some("title")),
        ];
        let text = shown_to_model("no", &findings, &applied, &failure);
        assert!(text.contains("\n  /note: \"x\" -> nothing\n"), "{text}");
        assert!(text.contains("\n  /property_fields/0/source_path: \"titel\" -> \"title\"\n"));
        assert!(text.contains("... and 40 more (truncated)"), "{text}");
        let hidden = [change("/a", None, Some("\u{202e}\u{1b}[2J"))];
        let text = shown_to_model("no", &[], &hidden, &failure);
        assert!(
            !text.contains(['\u{202e}', '\u{1b}']) && text.contains("/a: nothing -> "),
            "{text}"
        );
        let many: Vec<Change> =
            (0..40).map(|i| change(&format!("/{i}"), None, Some("x"))).collect();
        let text = shown_to_model("no", &[], &many, &failure);
        assert!(many.iter().all(|it| text.contains(&it.to_string())), "{text}");
        let long = [change("/a", None, Some(&"x".repeat(5_000)))];
        let text = shown_to_model("no", &[], &long, &failure);
        assert!(text.len() < 1_200, "{text}");
        let long = patch(json!([{"op": "add", "path": "/a", "value": "x".repeat(500)}]));
        // Nor is it suggested.
        let suggestion =
            Finding::new(Stage::Plan, codes::WRONG_TYPE, "", "a", "b").with_suggestion(long);
        let text = shown_to_model("no", &[suggestion], &[], &failure);
        assert!(text.len() < 600, "{text}");
    }
}
