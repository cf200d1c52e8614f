//! One builder for each kind of report. The formats are a contract: not a byte of them changes.

use super::report::{AstReport, CompileReport, ParseReport, RenderReport};
use super::{SmokeReport, ValidationFailure, root_or};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::listing::{push_list, push_section};
use crate::diagnostics::untrusted::{quotable, quotable_lines};

/// How much of a code, a scope or a path is shown, in characters.
const NAME_CHARS: usize = 200;

/// How much of a message is shown, in characters.
const MESSAGE_CHARS: usize = 4_000;

/// A name as a diagnostic shows it.
fn name(text: &str) -> String {
    quotable(text, NAME_CHARS)
}

/// A message that may have several lines.
fn message(text: &str) -> String {
    quotable_lines(text, MESSAGE_CHARS)
}

/// What happened to one event, on one line.
fn entry(text: &str) -> String {
    quotable(text, MESSAGE_CHARS)
}

/// The diagnostic of a plan that could not be read, one line unless its message has more.
#[must_use]
pub fn parse(report: &ParseReport) -> String {
    let (code, path) = (name(&report.code), name(&report.path));
    format!("PlanParseError [code={code}] at {}: {}", root_or(&path), message(&report.message))
}

/// The diagnostic of a plan that can be read and can't be rendered, one line unless its message has more.
#[must_use]
pub fn unrendered(report: &RenderReport) -> String {
    let place = match name(&report.path) {
        path if path.is_empty() => path,
        path => format!("{path}: "),
    };
    format!("RenderError [code={}]: {place}{}", codes::INVALID_PLAN, message(&report.message))
}

/// The diagnostic of the static gates: one entry per failure, ten at most.
#[must_use]
pub fn ast(report: &AstReport) -> String {
    if report.ok() {
        return "AST validation passed (no diagnostic to render).".to_owned();
    }
    let total = report.failures.len();
    let plural = if total == 1 { "" } else { "s" };
    let mut text = format!("AST validation failed ({total} issue{plural}):");
    let entries = report.failures.iter().map(|failure| {
        let place = match (failure.line, failure.col) {
            (Some(line), Some(col)) => format!("line {line} col {col}"),
            (Some(line), None) => format!("line {line}"),
            (None, _) => "<no-line>".to_owned(),
        };
        format!("{place}: {}: {}", name(&failure.code), message(&failure.detail))
    });
    push_list(&mut text, "  ", "", total, entries);
    text
}

/// The diagnostic of the sample run: a section for each way to fail, ten entries in each at most.
#[must_use]
pub fn smoke(report: &SmokeReport) -> String {
    if report.ok() {
        return "Smoke test passed (no diagnostic to render).".to_owned();
    }
    let SmokeReport { exceptions, wrong_return_types, validation_failures, .. } = report;
    let events = report.events_processed;
    let mut text = "Smoke test failed:".to_owned();
    let count = report.events_with_exception;
    let heading = format!("Per-event exceptions ({count} of {events} events)");
    let entries = exceptions.iter().map(|exception| entry(last_line(exception)));
    push_section(&mut text, "  ", &heading, exceptions.len(), entries);
    let count = report.events_with_wrong_return_type;
    let heading = format!("Wrong return types ({count} of {events} events)");
    let entries = wrong_return_types.iter().map(|it| entry(it));
    push_section(&mut text, "  ", &heading, wrong_return_types.len(), entries);
    let (found, floor) = (report.events_with_nonempty_result, report.min_nonempty_results);
    if found < floor {
        text.push_str(&format!(
            "\n\n  Non-empty floor: {found} of {events} events produced non-empty output; \
             required >= {floor}."
        ));
    }
    let heading = format!("#76 graph validator failures ({})", validation_failures.len());
    let entries = validation_failures.iter().map(|failure| {
        let ValidationFailure { scope, code, path, detail } = failure;
        let (scope, code, path) = (name(scope), name(code), name(path));
        format!("[{scope}] {code} at {path}: {}", entry(detail))
    });
    push_section(&mut text, "  ", &heading, validation_failures.len(), entries);
    text
}

/// The diagnostic of a whole compilation: that of the earliest gate that refused.
#[must_use]
pub fn compile(report: &CompileReport) -> String {
    if report.ok() {
        return "Compile succeeded (no diagnostic to render).".to_owned();
    }
    // An empty reason is a reason.
    let refused = |code: Code, reason: &Option<String>| {
        let reason = reason.as_deref()?;
        Some(format!("CompileError [code={code}]: {}", message(reason)))
    };
    let failed_ast = report.ast_report.as_ref().filter(|report| !report.ok());
    let failed_smoke = report.smoke_report.as_ref().filter(|report| !report.ok());
    refused(codes::INVALID_IDENTIFIER, &report.invalid_identifier)
        .or_else(|| refused(codes::INVALID_EVENT_TYPES, &report.invalid_event_types))
        .or_else(|| failed_ast.map(ast))
        .or_else(|| refused(codes::LOAD_ERROR, &report.load_error))
        .or_else(|| failed_smoke.map(smoke))
        .unwrap_or_else(|| {
            "CompileError [code=unknown]: compile failed but no diagnostic field was populated on the \
             CompileResult"
                .to_owned()
        })
}

/// The last line that isn't blank, without what trails it: where a trace says what happened.
fn last_line(trace: &str) -> &str {
    trace
        .rsplit(is_line_break)
        .map(str::trim_end)
        .find(|line| !line.is_empty())
        .unwrap_or("<empty traceback>")
}

/// The characters that end a line by Unicode, and the separators of ASCII.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::last_line;

    #[test]
    fn the_last_line_is_found_behind_any_line_break() {
        assert_eq!(last_line("a\r\nb  \r\n"), "b");
        assert_eq!(last_line("a\rb\u{2028} \u{85}"), "b");
        assert_eq!(last_line("\u{1c}\n\t "), "<empty traceback>");
    }
}
