//! The lines that say what became of events: the same from `retort run` and from the service.

use serde::Serialize;

use crate::bundle::Digest;
use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::{Problem, Stage};
use crate::graph::Failure;

/// What was dropped of a result, as it is written: no more than the first of them.
pub(crate) const MAX_DROPPED: usize = 10;

/// One thing that was wrong with a result, and isn't in it any more.
#[derive(Serialize)]
struct WrittenDrop<'a> {
    code: Code,
    path: &'a str,
    message: &'a str,
}

/// An event that has failed.
#[derive(Serialize)]
pub(crate) struct Reject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u64,
    code: Code,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'a str>,
    message: &'a str,
}

impl<'a> Reject<'a> {
    pub(crate) fn new(file: Option<&'a str>, line: u64, problem: &'a Problem) -> Self {
        let path = place_in_reject(problem);
        Self { file, line, code: problem.code, path, message: &problem.message }
    }

    /// Adds it, with its line end.
    pub(crate) fn push(&self, lines: &mut Vec<u8>) {
        // Text and numbers always become JSON.
        lines.extend(serde_json::to_vec(self).unwrap_or_default());
        lines.push(b'\n');
    }
}

/// The place that is told of a failure. That in a result which fails its own check is in the message already.
pub(crate) fn place_in_reject(problem: &Problem) -> Option<&str> {
    problem.path.as_deref().filter(|_| problem.stage == Stage::Graph)
}

/// Which bundles gave a result: the one, or several that share the event's type.
pub(crate) fn push_bundles(line: &mut Vec<u8>, bundles: impl Iterator<Item = Digest>) {
    let bundles: Vec<String> = bundles.map(|it| format!("\"{it}\"")).collect();
    let text = match bundles.as_slice() {
        [only] => format!(",\"bundle\":{only}"),
        several => format!(",\"bundles\":[{}]", several.join(",")),
    };
    line.extend_from_slice(text.as_bytes());
}

/// A valid result, with line ends replaced by spaces: a string can't hold them, so all they can be is white space.
pub(crate) fn push_on_one_line(line: &mut Vec<u8>, json: &[u8]) {
    let start = line.len();
    line.extend_from_slice(json);
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        for byte in line.iter_mut().skip(start).filter(|byte| matches!(byte, b'\n' | b'\r')) {
            *byte = b' ';
        }
    }
}

/// What was dropped of a result, after it.
pub(crate) fn push_dropped(line: &mut Vec<u8>, failures: &[Failure]) {
    let told = failures.iter().take(MAX_DROPPED);
    let told: Vec<WrittenDrop<'_>> = told
        .map(|Failure { code, path, detail, .. }| WrittenDrop {
            code: *code,
            path,
            message: detail,
        })
        .collect();
    line.extend_from_slice(b",\"dropped\":");
    // Text always becomes JSON.
    line.extend(serde_json::to_vec(&told).unwrap_or_default());
}
