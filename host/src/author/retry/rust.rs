//! The rejection of an extractor in Rust, with the lines that it is about.

use super::panics::without_texts;
use super::pipeline::category;
use super::{Channel, Rejection};
use crate::bundle::PipelineError;
use crate::bundle::confirm::Difference;
use crate::bundle::smoke::SmokeFailed;
use crate::diagnostics::finding::{FailingEvent, Finding};
use crate::diagnostics::problem::{Coded, Problem};
use crate::diagnostics::untrusted::{bounded, quotable};
use crate::evidence::{Seen, Task};
use crate::gate::fit::smallest;

/// How the source is named in texts.
const FILE: &str = "src/lib.rs:";

/// How many lines are quoted.
const MAX_LINES: usize = 10;

/// How much of a line is quoted, in characters.
const LINE_CHARS: usize = 160;

/// How much of a line is quoted in front of the column that is meant, in characters, where it is too long to be quoted whole.
const BEFORE_CHARS: usize = 60;

/// How much of a problem's text a finding repeats, in characters.
const OBSERVED_CHARS: usize = 2_000;

/// How many samples are shown, and how much of each, in characters.
const MAX_SAMPLES: usize = 3;
const SAMPLE_CHARS: usize = 1_000;

/// What a source is expected to be where a problem says only what is wrong with it.
const EXPECTED: &str = "an extractor that this gate lets pass";

/// The rejection of an extractor in Rust: the diagnostic of the stage that refused it, without texts that the extractor itself has made
/// of events, and below it each line of the
/// source that its problems name, whether they have it as their place or in their text, as a backtrace does. Of a sample run it shows the
/// smallest sample for each thing that is wrong, as prompts show samples.
#[must_use]
pub fn rust_rejection(error: &PipelineError, source: &str, task: &Task) -> Rejection {
    let mut problems = error.problems();
    for problem in &mut problems {
        problem.message = without_texts(&problem.message).into_owned();
    }
    let mut diagnostic = without_texts(&error.diagnostic()).into_owned();
    let places: Vec<Place> = problems.iter().flat_map(places_of).collect();
    quote(source, &places, &mut diagnostic);
    let findings = match error {
        // What it shows of values goes by the rules by which samples are shown.
        PipelineError::Unconfirmed(error) => {
            error.differences().iter().map(Difference::shown).collect()
        }
        PipelineError::Smoke(failed) => of_samples(&problems, failed, task),
        _ => problems.iter().map(finding).collect(),
    };
    show_samples(&findings, &mut diagnostic);
    Rejection {
        channel: Channel::CompileResult,
        code: error.code().to_owned(),
        category: category(error),
        diagnostic,
        findings,
    }
}

/// One finding for each place and code, however many samples show it, with the smallest of them.
fn of_samples(problems: &[Problem], failed: &SmokeFailed, task: &Task) -> Vec<Finding> {
    let mut found: Vec<(Finding, Vec<&Seen>)> = Vec::new();
    for (problem, line) in problems.iter().zip(failed.lines()) {
        let finding = finding(problem);
        let samples = match line {
            Some(line) => of_lines(task, |it| it == *line),
            None => of_lines(task, |line| gave_nothing(failed, line)),
        };
        let same = found.iter_mut().find(|(it, _)| {
            line.is_some() && (it.code, &it.pointer) == (finding.code, &finding.pointer)
        });
        match same {
            Some((_, shown_by)) => shown_by.extend(samples),
            None => found.push((finding, samples)),
        }
    }
    let shown = |(finding, samples): (Finding, Vec<&Seen>)| {
        let event = smallest(samples.into_iter());
        Finding { event, ..finding }
    };
    found.into_iter().map(shown).collect()
}

/// The samples on these lines.
fn of_lines(task: &Task, is_meant: impl Fn(usize) -> bool) -> Vec<&Seen> {
    let samples = task.evidence().event_types().flat_map(|(_, events)| events.samples());
    samples.filter(|seen| is_meant(seen.line())).collect()
}

/// Whether the sample on a line was run, and is of a type of which none gave anything.
fn gave_nothing(failed: &SmokeFailed, line: usize) -> bool {
    let run = failed.samples().iter().find(|run| run.line == line);
    run.is_some_and(|run| !failed.report().nonempty_event_types.contains(&run.event_type))
}

/// Shows the samples of findings below the diagnostic, each once.
fn show_samples(findings: &[Finding], diagnostic: &mut String) {
    let mut shown: Vec<&FailingEvent> = Vec::new();
    for event in findings.iter().filter_map(|finding| finding.event.as_ref()) {
        if shown.len() < MAX_SAMPLES && !shown.contains(&event) {
            shown.push(event);
        }
    }
    for (index, event) in shown.iter().enumerate() {
        if index == 0 {
            diagnostic.push_str("\n\nThe smallest samples that show it:");
        }
        diagnostic.push_str(&format!(
            "\n  line {}: {}",
            event.line,
            quotable(&event.text, SAMPLE_CHARS)
        ));
    }
}

/// A line and a column of the source, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

fn finding(problem: &Problem) -> Finding {
    let place = places_of(problem).first().copied();
    let pointer = place.map_or_else(String::new, |at| format!("{FILE}{}:{}", at.line, at.column));
    let is_other = |path: &&str| !path.starts_with(FILE) && alone(path).is_none();
    let other = problem.path.as_deref().filter(is_other);
    let other = other.map(|path| format!("{path}: ")).unwrap_or_default();
    let observed = bounded(&format!("{other}{}", problem.message), OBSERVED_CHARS);
    Finding::new(problem.stage, problem.code, pointer, EXPECTED, observed).limited_as(problem)
}

/// The places in the source that a problem names, its own first.
fn places_of(problem: &Problem) -> Vec<Place> {
    let own = problem.path.as_deref().and_then(alone);
    let texts = problem.path.iter().chain([&problem.message]);
    own.into_iter().chain(texts.flat_map(|text| places_in(text))).take(MAX_LINES).collect()
}

/// A place that is a line and a column and nothing else, as compilers have it.
fn alone(text: &str) -> Option<Place> {
    let (line, rest) = number(text)?;
    let (column, rest) = number(rest.strip_prefix(':')?)?;
    rest.is_empty().then_some(Place { line, column })
}

fn places_in(text: &str) -> impl Iterator<Item = Place> {
    text.match_indices(FILE).filter_map(|(at, _)| {
        let (line, rest) = number(text.get(at + FILE.len()..)?)?;
        // A backtrace may know the line alone.
        let column = rest.strip_prefix(':').and_then(number).map_or(1, |(column, _)| column);
        Some(Place { line, column })
    })
}

/// The number that a text begins with, and what is behind it.
fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// Quotes the lines below the diagnostic, each once, in the order in which they are named.
fn quote(source: &str, places: &[Place], diagnostic: &mut String) {
    let mut quoted: Vec<Place> = Vec::new();
    for place in places {
        if quoted.len() < MAX_LINES && !quoted.iter().any(|it| it.line == place.line) {
            quoted.push(*place);
        }
    }
    let lines = quoted.iter().filter_map(|place| {
        let index = place.line.checked_sub(1)?;
        Some((place, shown(source.lines().nth(index)?, place.column)))
    });
    for (index, (place, line)) in lines.enumerate() {
        if index == 0 {
            diagnostic.push_str("\n\nThe lines of the source that are named:");
        }
        diagnostic.push_str(&format!("\n  {:>5} | {line}", place.line));
    }
}

/// A line, or as much of a long one as is around the column.
fn shown(line: &str, column: usize) -> String {
    let from = match line.chars().count() > LINE_CHARS {
        true => column.saturating_sub(BEFORE_CHARS),
        false => 0,
    };
    let rest: String = line.chars().skip(from).take(LINE_CHARS + 1).collect();
    let before = if from > 0 { "…" } else { "" };
    format!("{before}{}", quotable(rest.trim_end(), LINE_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::author::retry::Category;
    use crate::diagnostics::codes;
    use crate::diagnostics::problem::Stage;
    use crate::evidence::Samples;
    use crate::graph::GraphSpec;
    use crate::render::compile::CompileError;

    const SOURCE: &str = "use a;\n\nfn read() {\n    let x = ```````;\n}\n";

    fn task() -> Task {
        let graph = GraphSpec::parse(
            "entities: [{name: A, keys: {primary: [id]}, properties: [{name: id, type: string}]}]",
            "graph.yaml",
        );
        let samples = Samples::parse(r#"{"event_type": "a"}"#, "samples");
        Task::new(graph.expect("a graph"), samples.expect("samples"))
    }

    fn at(line: usize, column: usize) -> Place {
        Place { line, column }
    }

    #[test]
    fn places_are_found_wherever_they_are_named() {
        let text = "panicked at src/lib.rs:9:5: no (read at src/lib.rs:30) src/lib.rs: src/lib.rs:x \
                    src/lib.rs:99999999999999999999999:1";
        assert_eq!(places_in(text).collect::<Vec<_>>(), [at(9, 5), at(30, 1)]);
        let problem = Problem::new(Stage::Run, codes::TRAP, "panicked at src/lib.rs:9:5: no");
        let found = finding(&problem.clone().at("line 3"));
        assert_eq!(found.pointer, "src/lib.rs:9:5");
        assert_eq!(found.observed, "line 3: panicked at src/lib.rs:9:5: no");
        let found = finding(&problem.at("src/lib.rs:2:1"));
        assert_eq!((found.pointer.as_str(), found.gate), ("src/lib.rs:2:1", Stage::Run));
        let problem = Problem::new(Stage::Compile, codes::SYNTAX_ERROR, "no");
        let found = finding(&problem.clone().at("4:13"));
        assert_eq!((found.pointer.as_str(), found.observed.as_str()), ("src/lib.rs:4:13", "no"));
        for path in ["4", "4:", "4:13:2", "nodes[0]", ""] {
            assert_eq!(finding(&problem.clone().at(path)).pointer, "", "{path}");
        }
    }

    #[test]
    fn lines_are_quoted_once_and_within_bounds() {
        let mut text = "wrong".to_owned();
        let places = [at(4, 5), at(1, 1), at(4, 9), at(0, 1), at(70, 1)];
        quote(SOURCE, &places, &mut text);
        insta::assert_snapshot!(text, @r"
        wrong

        The lines of the source that are named:
              4 |     let x = ``\u{60}``\u{60}`;
              1 | use a;
        ");
        let mut text = String::new();
        quote(SOURCE, &[at(9, 1)], &mut text);
        assert_eq!(text, "");
        let long = format!("{}fault{}", "x".repeat(5_000), "y".repeat(5_000));
        let line = shown(&long, 5_001);
        assert!(line.starts_with('…') && line.contains("xfaulty"), "{line}");
        assert!(line.chars().count() < LINE_CHARS + 5, "{line}");
    }

    #[test]
    fn what_a_compiler_says_is_a_failure_of_the_source() {
        let error = PipelineError::Compile(CompileError::Syntax {
            line: 4,
            column: 13,
            message: "unknown start of token".to_owned(),
        });
        let rejection = rust_rejection(&error, SOURCE, &task());
        assert_eq!((rejection.category, rejection.findings.len()), (Category::AstFailure, 1));
        assert!(
            rejection.diagnostic.contains("\n      4 |     let x = "),
            "{}",
            rejection.diagnostic
        );
        assert!(
            rejection.diagnostic.starts_with("AST validation failed (1 issue):\n  line 4 col 13: ")
        );
    }
}
