//! What the compiler says of a source.

use std::fmt;

use serde::Deserialize;

use super::flags::{PREFIX, SOURCE};
use crate::diagnostics::untrusted::bounded;

/// Most errors that are kept; the rest are counted.
const MAX_MESSAGES: usize = 10;

/// Much of one error is enough to know what it is about.
const CHARS: usize = 500;

/// Most hints of one error.
const HELPS: usize = 3;

/// Errors of libraries that can't be found or read, or are another compiler's. Their place is where the source uses them.
const OF_LIBRARIES: [&str; 9] =
    ["E0457", "E0460", "E0461", "E0462", "E0463", "E0464", "E0514", "E0519", "E0786"];

/// How the error begins by which the compiler says that nothing handles panics: nothing uses the SDK.
const UNLINKED: &str = "`#[panic_handler]`";

/// What is said in its place.
const USE_OF_SDK: &str =
    "expected `use retort_guest::prelude::*;` and `extractor! { .. }`, found no use of the SDK";

/// One error of the compiler's. Its texts are escaped and bounded, and name no file of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RustcMessage {
    /// The compiler's own code: `E0308`. An error of syntax has none.
    pub code: Option<String>,
    /// The line, from 1, and the character of it, from 1; `None` where it is about the whole.
    pub at: Option<(usize, usize)>,
    /// What is wrong.
    pub message: String,
    /// What it says at the place itself.
    pub label: Option<String>,
    /// What would help, with the text that it suggests.
    pub help: Vec<String>,
}

impl RustcMessage {
    /// `line:column`.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        self.at.map(|(line, column)| format!("{line}:{column}"))
    }

    /// Whether it is about a library, and not about the source.
    pub(super) fn is_of_library(&self) -> bool {
        match &self.code {
            Some(code) => OF_LIBRARIES.contains(&code.as_str()),
            None => self.message.starts_with("extern location for"),
        }
    }

    /// Whether it is about a library or the linker, and not about the source.
    pub(super) fn is_of_toolchain(&self) -> bool {
        self.is_of_library() || (self.code.is_none() && self.message.starts_with("linking with"))
    }

    /// Whether it may be about something else than the source: what is wrong with that mostly has a place in it.
    pub(super) fn is_doubtful(&self) -> bool {
        self.is_of_toolchain() || (self.at.is_none() && !self.is_unlinked())
    }

    /// Whether it says that the SDK isn't used.
    fn is_unlinked(&self) -> bool {
        self.message.starts_with(UNLINKED) || self.message == USE_OF_SDK
    }

    /// All of it but the place, on one line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = match &self.code {
            Some(code) => format!("{code}: {}", self.message),
            None => self.message.clone(),
        };
        if let Some(label) = &self.label {
            text += &format!(" ({label})");
        }
        for help in &self.help {
            text += &format!("; {help}");
        }
        text
    }
}

impl fmt::Display for RustcMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "{line}:{column}: ")?;
        }
        f.write_str(&self.text())
    }
}

/// The errors in what the compiler wrote, and how many more there are. Lines that aren't JSON are not its.
pub(super) fn errors(said: &str, hidden: &[String]) -> (Vec<RustcMessage>, usize) {
    let (mut messages, mut omitted) = (Vec::new(), 0_usize);
    for line in said.lines() {
        let Ok(written) = serde_json::from_str::<Written>(line) else { continue };
        // What it says when it gives up is no error of its own.
        if !written.level.starts_with("error") || written.message.starts_with("aborting due to") {
            continue;
        }
        let message = written.shown(hidden);
        if messages.contains(&message) {
            continue;
        }
        if messages.len() < MAX_MESSAGES {
            messages.push(message);
        } else {
            omitted = omitted.saturating_add(1);
        }
    }
    without_consequences(&mut messages);
    (messages, omitted)
}

/// The SDK has what handles panics, and is linked where it is used: that it isn't is told in terms of the source, and only where
/// nothing else is wrong.
fn without_consequences(messages: &mut Vec<RustcMessage>) {
    if messages.iter().any(|message| !message.is_unlinked()) {
        messages.retain(|message| !message.is_unlinked());
    }
    for message in messages.iter_mut().filter(|message| message.is_unlinked()) {
        USE_OF_SDK.clone_into(&mut message.message);
    }
}

/// Text of the compiler's, without directories of the host.
pub(super) fn shown(text: &str, hidden: &[String]) -> String {
    let text = hidden.iter().fold(text.to_owned(), |text, path| text.replace(path, ""));
    bounded(text.trim(), CHARS)
}

#[derive(Deserialize)]
struct Written {
    message: String,
    level: String,
    code: Option<WrittenCode>,
    #[serde(default)]
    spans: Vec<WrittenSpan>,
    #[serde(default)]
    children: Vec<Written>,
}

#[derive(Deserialize)]
struct WrittenCode {
    code: String,
}

#[derive(Deserialize)]
struct WrittenSpan {
    file_name: String,
    line_start: usize,
    column_start: usize,
    is_primary: bool,
    label: Option<String>,
    suggested_replacement: Option<String>,
    expansion: Option<Box<WrittenExpansion>>,
}

#[derive(Deserialize)]
struct WrittenExpansion {
    span: WrittenSpan,
}

impl Written {
    fn shown(&self, hidden: &[String]) -> RustcMessage {
        let primary = self.spans.iter().filter(|span| span.is_primary);
        let first = primary.clone().chain(&self.spans).next();
        let help =
            self.children.iter().filter(|child| child.level == "help" || child.level == "note");
        RustcMessage {
            code: self.code.as_ref().map(|code| shown(&code.code, hidden)),
            at: primary.chain(&self.spans).find_map(WrittenSpan::in_source),
            message: shown(&self.message, hidden),
            label: first.and_then(|span| span.label.as_deref()).map(|label| shown(label, hidden)),
            help: help.filter_map(|child| child.hint(hidden)).take(HELPS).collect(),
        }
    }

    /// A child as one line.
    fn hint(&self, hidden: &[String]) -> Option<String> {
        let suggested = self.spans.iter().find_map(|span| span.suggested_replacement.as_deref());
        let text = match suggested.map(str::trim).filter(|text| !text.is_empty()) {
            Some(suggested) => format!("{}: `{suggested}`", self.message),
            // A note without a suggestion mostly explains the compiler; one about a lint, how it was set.
            None if self.level == "note" && !self.spans.is_empty() => return None,
            None => self.message.clone(),
        };
        (!text.contains("-F ")).then(|| format!("{}: {}", self.level, shown(&text, hidden)))
    }
}

impl WrittenSpan {
    /// Line and column in the source; of what a macro of the SDK expanded to, those of the call.
    fn in_source(&self) -> Option<(usize, usize)> {
        let mut span = self;
        // As deep as JSON was read.
        while span.file_name != SOURCE {
            span = &span.expansion.as_ref()?.span;
        }
        let before = if span.line_start == 1 { PREFIX.chars().count() } else { 0 };
        Some((span.line_start, span.column_start.saturating_sub(before).max(1)))
    }
}
