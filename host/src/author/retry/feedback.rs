//! What a model is shown of a failure.

use json_patch::Patch;

use super::Rejection;
use crate::author::repair::{Failure, reduce_failure_to_repair};
use crate::diagnostics::codes;
use crate::diagnostics::finding::{Finding, describe, shown};

/// How many findings are looked through for suggestions; the text names fewer.
const MAX_SUGGESTED: usize = 100;

/// What may be said of what no sample shows.
const UNSEEN: &str = "

What no sample shows may be right all the same. Where you know that events have such a path, keep it and write \
`\"unseen\": true` beside it; an event type is written as `{\"type\": \"...\", \"unseen\": true}` then.";

/// The gate's diagnostic, unaltered; then what it doesn't say, the patches that were applied already and
/// those that may be meant; then what to do next (`reduce_failure_to_repair`). A heading comes from the gate's own diagnostic,
/// each finding's text from [`describe`].
pub(super) fn feedback(rejection: &Rejection, applied: &Patch, failure: &Failure) -> String {
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
        text.push_str(UNSEEN);
    }
    if !applied.is_empty() {
        text.push_str("\n\nYour answer was repaired before it was judged, and the diagnostic is about the repaired plan. ");
        text.push_str("These changes were made to it (JSON Patch, RFC 6902)");
        text.push_str(&match shown(applied) {
            Ok(patch) => format!(": {patch}"),
            Err(_) => format!("; there are {} of them.", applied.len()),
        });
    }
    text.push_str(&format!("\n\n{}", reduce_failure_to_repair(failure).prompt_suffix));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::diagnostics::problem::Stage;

    fn patch(value: serde_json::Value) -> Patch {
        serde_json::from_value(value).expect("a patch")
    }

    fn finding(pointer: &str, to: &str) -> Finding {
        Finding::new(Stage::Plan, codes::WRONG_TYPE, pointer, "an array", "a string")
            .with_suggestion(patch(json!([{"op": "replace", "path": pointer, "value": to}])))
    }

    fn shown_to_model(
        diagnostic: &str,
        findings: &[Finding],
        applied: &Patch,
        failure: &Failure,
    ) -> String {
        let rejection = Rejection::of_no_gate(codes::WRONG_TYPE, diagnostic.to_owned());
        feedback(&Rejection { findings: findings.to_vec(), ..rejection }, applied, failure)
    }

    #[test]
    fn the_diagnostic_is_first_and_unaltered() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "/key_field");
        let text = shown_to_model(
            "PlanParseError [code=wrong_type] at key_field: no",
            &[finding("/key_field", "a")],
            &Patch::default(),
            &failure,
        );
        insta::assert_snapshot!(text, @r#"
        PlanParseError [code=wrong_type] at key_field: no

        What may fix it (1 issue):
          /key_field: wrong_type: expected an array; found a string
            perhaps fixed by this JSON Patch of the plan: [{"op":"replace","path":"/key_field","value":"a"}]

        Next step: Give `/key_field` the form that the schema asks for. Correct every problem that is listed, and keep all the rest of the plan as it is.
        "#);
    }

    #[test]
    fn what_the_diagnostic_says_already_is_not_said_again() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "");
        let findings = [finding("/a", "x")];
        let said = shown(findings[0].patch().expect("one")).expect("short");
        let text = shown_to_model(&said, &findings, &Patch::default(), &failure);
        assert_eq!(text.matches(&said).count(), 1, "{text}");
    }

    #[test]
    fn it_says_what_was_repaired_and_keeps_within_bounds() {
        let failure = Failure::new(Stage::Plan, "wrong_type", "");
        let findings: Vec<_> = (0..50).map(|i| finding(&format!("/{i}"), "x")).collect();
        let applied = patch(json!([{"op": "remove", "path": "/note"}]));
        let text = shown_to_model("no", &findings, &applied, &failure);
        assert!(text.contains(r#"to it (JSON Patch, RFC 6902): [{"op":"remove","path":"/note"}]"#));
        assert!(text.contains("... and 40 more (truncated)"), "{text}");
        let hidden = patch(json!([{"op": "add", "path": "/a", "value": "\u{202e}\u{1b}[2J"}]));
        let text = shown_to_model("no", &[], &hidden, &failure);
        assert!(text.contains(r#"[{"op":"add","path":"/a","value":"\u202e\u001b[2J"}]"#), "{text}");
        let long = patch(json!([{"op": "add", "path": "/a", "value": "x".repeat(500)}]));
        let text = shown_to_model("no", &[], &long, &failure);
        assert!(text.contains("there are 1 of them") && text.len() < 600, "{text}");
        // Nor is it suggested.
        let suggestion =
            Finding::new(Stage::Plan, codes::WRONG_TYPE, "", "a", "b").with_suggestion(long);
        let text = shown_to_model("no", &[suggestion], &Patch::default(), &failure);
        assert!(text.len() < 600, "{text}");
    }
}
