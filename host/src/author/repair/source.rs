//! What to change in a source after a failure, in words for a model.

use super::instruction::{RepairAction, RepairInstruction, place_in};
use super::{Failure, FailureKind, classify_failure};
use crate::diagnostics::codes::{self, Cause};
use crate::diagnostics::problem::Stage;

/// What to do about a failure of an extractor in Rust.
///
/// # Example
/// ```
/// use retort::diagnostics::Stage;
/// use retort::internal::repair::{Failure, RepairAction, reduce_failure_of_source};
///
/// let failure = Failure::new(Stage::Run, "out_of_fuel", "src/lib.rs:12:5");
/// let instruction = reduce_failure_of_source(&failure);
/// assert_eq!(instruction.action, RepairAction::CorrectSource);
/// assert!(instruction.prompt_suffix.contains("src/lib.rs:12:5"));
/// ```
#[must_use]
pub fn reduce_failure_of_source(failure: &Failure) -> RepairInstruction {
    let kind = classify_failure(failure.stage, &failure.code);
    let place = place_in(&failure.path, "the source");
    let entry = codes::lookup(&failure.code);
    let (cause, limit) = entry.map_or((None, None), |code| (code.cause, code.limit));
    // The sample run reports what others found; what that was, the code knows.
    let stage = match (failure.stage, entry) {
        (Stage::Smoke, Some(entry)) => entry.stage,
        (stage, _) => stage,
    };
    let is_malformed = [
        codes::BAD_RESULT,
        codes::RESULT_NOT_JSON,
        codes::RESULT_NOT_UTF8,
        codes::RESULT_WRONG_SHAPE,
    ]
    .iter()
    .any(|code| *code == failure.code.as_str());
    let (action, minimal_next_step, advice) = match (cause, stage, kind) {
        (Some(Cause::Length), ..) => (
            RepairAction::ShortenAnswer,
            "Write the whole source in fewer characters.".to_owned(),
            "Leave out comments, and code that the rule doesn't ask for; put what is repeated into a function.",
        ),
        _ if limit.is_some() && stage < Stage::Event => (
            RepairAction::CorrectSource,
            format!("Make {place} smaller."),
            "Write less code, with smaller tables and arrays; keep what the rule asks for.",
        ),
        _ if limit.is_some() => (
            RepairAction::CorrectSource,
            format!("Make {place} do less for an event."),
            "Look first at loops: one that doesn't end, or one inside of another over the same list, where a map by key does with one pass. Look each value up once, copy no text that is only compared, and keep what the rule asks for.",
        ),
        (_, _, FailureKind::JsonInvalid) => (
            RepairAction::RewriteAsJson,
            "Answer with the whole source and nothing else.".to_owned(),
            "It is the one text `source` of the JSON object, or the one block that is fenced as Rust: no prose, no second block, nothing left out.",
        ),
        (_, Stage::Expected, _) => (
            RepairAction::CorrectSource,
            "Change the source so that the samples give what is expected of them.".to_owned(),
            "What is expected is right: look for what in the code makes the other value, in every sample that is named; keep what the diagnostic doesn't name.",
        ),
        (_, _, FailureKind::UnsafeRequest) => (
            RepairAction::AvoidPath,
            format!("Leave out what may not be used or read at {place}."),
            "What is denied stays denied, under another name as well: do it with the SDK and what the task lists, or leave it out.",
        ),
        (_, _, FailureKind::RepeatedFailure) => (
            RepairAction::ChangeApproach,
            format!("Answer differently at {place}."),
            "The same source will be rejected again.",
        ),
        (_, _, FailureKind::MissingContext) => (
            RepairAction::AddContext,
            format!("Name at {place} only what the samples show."),
            "An extractor declares event types and inputs that events have, spelled as they are there.",
        ),
        _ if is_malformed => (
            RepairAction::CorrectSource,
            format!("Change {place} so that what it returns is a result."),
            "Let the SDK's builder of graphs write it. What is returned as text is one JSON object of `nodes`, `edges` and the two lists of span ids, with nothing beside them, each node and edge with exactly its fields.",
        ),
        (_, stage, _) if stage < Stage::Load => (
            RepairAction::CorrectSource,
            format!("Correct {place}."),
            "Correct every problem that is listed, in the lines that are quoted and wherever else the same is done, and keep all the rest of the source as it is.",
        ),
        (_, Stage::Run, _) => (
            RepairAction::CorrectSource,
            format!("Change {place} so that no event makes the extractor fail."),
            "Any input may be absent, null, or of another type than in most events: handle each with `match`, `let else` or `if let`, index nothing without a check, and use checked arithmetic.",
        ),
        (_, Stage::Smoke | Stage::Graph, _) => (
            RepairAction::CorrectSource,
            format!("Change {place} so that the results fit the graph spec."),
            "Compare the inputs, the names and the types of the values with what the diagnostic says was found; keep what it doesn't name.",
        ),
        (_, _, FailureKind::ToolError | FailureKind::CommandFailed) => (
            RepairAction::FixEnvironment,
            "Look at the tool that failed; the source may be right.".to_owned(),
            "The failure may not be the source's: where nothing in it explains it, write it in its simplest form.",
        ),
        _ => (
            RepairAction::ChangeApproach,
            format!("Change {place} as the diagnostic says."),
            "Change what the diagnostic names, and keep all the rest of the source as it is.",
        ),
    };
    let prompt_suffix = format!("Next step: {minimal_next_step} {advice}");
    RepairInstruction { kind, action, prompt_suffix, minimal_next_step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_gives_whole_sentences_that_speak_of_no_plan() {
        for entry in codes::all() {
            for path in ["", "src/lib.rs:12:5"] {
                let failure = Failure::new(entry.stage, entry.name, path);
                let RepairInstruction { prompt_suffix, minimal_next_step, .. } =
                    reduce_failure_of_source(&failure);
                assert!(prompt_suffix.contains(minimal_next_step.as_str()), "{}", entry.name);
                assert!(prompt_suffix.ends_with('.') && minimal_next_step.ends_with('.'));
                assert!(!prompt_suffix.contains("plan"), "{}: {prompt_suffix}", entry.name);
            }
        }
    }

    #[test]
    fn what_a_run_took_is_told_apart_from_what_it_gave() {
        let suffix = |stage, code: &str| {
            reduce_failure_of_source(&Failure::new(stage, code, "")).prompt_suffix
        };
        assert!(suffix(Stage::Run, "out_of_fuel").contains("do less for an event"));
        assert!(suffix(Stage::Run, "trap").contains("no event makes the extractor fail"));
        assert!(suffix(Stage::Graph, "type_mismatch").contains("fit the graph spec"));
        assert!(suffix(Stage::Expected, "missing_node").contains("is right"));
    }
}
