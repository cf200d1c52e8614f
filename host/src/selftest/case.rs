//! A case: one file of the corpus.

use thiserror::Error;

use super::expand::expand;
use crate::diagnostics::codes::{self, lookup};
use crate::diagnostics::problem::Stage;
use crate::gate::inspect::StructuralLimits;
use crate::sandbox::Limits;
use crate::sandbox::tenant::Figures;

/// The event that sets an attack off, where a case has no other.
const EVENT: &str = r#"{"event_type":"e","bad":true}"#;

/// The event that doesn't.
const GOOD_EVENT: &str = r#"{"event_type":"e","bad":false}"#;

/// What a case is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseKind {
    /// A module in the WebAssembly text format.
    Wat,
    /// The bytes of a module, in hexadecimal.
    Module,
    /// A guest in Rust, which was compiled when it was added.
    Rust,
    /// The source of an extractor in Rust, as a model would write it.
    Source,
    /// A plan.
    Plan,
    /// An event.
    Event,
    /// The bytes that a guest gives back.
    Result,
    /// A model's answer.
    Answer,
    /// A JSON Merge Patch for the manifest of a good bundle.
    Manifest,
    /// Steps on the directory of a good bundle.
    Bundle,
}

impl CaseKind {
    const ALL: [Self; 10] = [
        Self::Wat,
        Self::Module,
        Self::Rust,
        Self::Source,
        Self::Plan,
        Self::Event,
        Self::Result,
        Self::Answer,
        Self::Manifest,
        Self::Bundle,
    ];

    /// The name in the head of a case.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wat => "wat",
            Self::Module => "module",
            Self::Rust => "rust",
            Self::Source => "source",
            Self::Plan => "plan",
            Self::Event => "event",
            Self::Result => "result",
            Self::Answer => "answer",
            Self::Manifest => "manifest",
            Self::Bundle => "bundle",
        }
    }

    /// The kind of a `.case` that says so: what has an extension of its own doesn't.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name && *kind != Self::Rust)
    }
}

/// A file of the corpus that isn't a case.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {message}")]
pub struct CaseError {
    /// The file, in the corpus.
    pub file: String,
    /// What is wrong with it.
    pub message: String,
}

/// One attack, with what has to stop it.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    name: String,
    kind: CaseKind,
    head: CaseHead,
    body: String,
    compiled: Option<String>,
}

/// The head of a case.
#[derive(Clone, Debug, Default, PartialEq)]
struct CaseHead {
    attack: String,
    expect: String,
    kind: Option<String>,
    limits: Figures<Limits>,
    structure: Figures<StructuralLimits>,
    event: Option<String>,
    good_event: Option<String>,
    good: Option<String>,
    path: Option<String>,
    says: Vec<String>,
    leaks: bool,
}

impl Case {
    /// Reads the case in the file of this name, `folder/name.extension`: `.wat`, `.rs` or `.case`.
    ///
    /// # Errors
    /// [`CaseError`], when the head isn't one: a key is unknown, missing, or twice where it may be once; or when the limits
    /// in it are none.
    pub fn parse(file: &str, text: &str) -> Result<Self, CaseError> {
        let refused = |message: String| CaseError { file: file.to_owned(), message };
        let (name, extension) =
            file.rsplit_once('.').ok_or_else(|| refused("a file without an extension".into()))?;
        let mark = match extension {
            "wat" => ";;",
            "rs" => "//",
            "case" => "#",
            _ => return Err(refused(format!("expected .wat, .rs or .case, found .{extension}"))),
        };
        let (head, body) = CaseHead::read(text, mark).map_err(refused)?;
        let kind = match (extension, head.kind.as_deref()) {
            ("wat", None) => CaseKind::Wat,
            ("rs", None) => CaseKind::Rust,
            ("case", Some(kind)) => CaseKind::named(kind)
                .ok_or_else(|| refused(format!("there is no kind `{kind}`")))?,
            ("case", None) => return Err(refused("expected a kind".into())),
            (_, Some(_)) => return Err(refused("only a .case has a kind".into())),
            (_, None) => return Err(refused("expected a kind".into())),
        };
        // A module or a guest is the whole file, so that what is said of a line is about that line.
        let body = match kind {
            CaseKind::Rust => text,
            _ if extension == "wat" => text,
            _ => body,
        };
        Ok(Self { name: name.to_owned(), kind, head, body: body.to_owned(), compiled: None })
    }

    /// A guest in Rust, with the text of the file beside it, `.hex`: its module in hexadecimal, behind lines that begin with `#`.
    #[must_use]
    pub fn compiled(self, text: &str) -> Self {
        Self { compiled: Some(text.to_owned()), ..self }
    }

    /// The digits of the module that a guest in Rust was compiled to.
    pub(super) fn digits(&self) -> Option<String> {
        let text = self.compiled.as_deref()?;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Some(lines.flat_map(str::split_whitespace).collect())
    }

    /// Its folder and its name: `stall/loop`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it tries, in one line.
    #[must_use]
    pub fn attack(&self) -> &str {
        &self.head.attack
    }

    /// The code that has to stop it; `ok` for an attack that is to have no effect.
    #[must_use]
    pub fn expect(&self) -> &str {
        &self.head.expect
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> CaseKind {
        self.kind
    }

    /// Whether a Rust compiler is needed to try it: what the source gate stops needs none.
    #[must_use]
    pub fn needs_rustc(&self) -> bool {
        // That a source is too large is said by the gate first.
        let is_of_gate = || {
            lookup(self.expect())
                .is_some_and(|code| code.stage == Stage::Source || *code == codes::SOURCE_TOO_LARGE)
        };
        self.kind == CaseKind::Source && !is_of_gate()
    }

    /// The code of the event that doesn't set it off.
    #[must_use]
    pub fn good(&self) -> &str {
        self.head.good.as_deref().unwrap_or("ok")
    }

    /// Where the report has to say that it is, if that is part of the case.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.head.path.as_deref()
    }

    /// What the message has to say.
    #[must_use]
    pub fn says(&self) -> &[String] {
        &self.head.says
    }

    /// Whether the guest carries something from one call to the next if it is let.
    #[must_use]
    pub fn leaks(&self) -> bool {
        self.head.leaks
    }

    /// The body, with its repetitions written out.
    ///
    /// # Errors
    /// [`CaseError`], when it would be too long.
    pub fn body(&self) -> Result<String, CaseError> {
        self.expanded(&self.body)
    }

    /// The event that sets it off, with its repetitions written out.
    ///
    /// # Errors
    /// [`CaseError`], when it would be too long.
    pub fn event(&self) -> Result<String, CaseError> {
        self.expanded(self.head.event.as_deref().unwrap_or(EVENT))
    }

    /// The event that doesn't.
    ///
    /// # Errors
    /// [`CaseError`], when it would be too long.
    pub fn good_event(&self) -> Result<String, CaseError> {
        self.expanded(self.head.good_event.as_deref().unwrap_or(GOOD_EVENT))
    }

    /// The limits that it runs under: its own, and those of `base` where it has none.
    #[must_use]
    pub fn limits(&self, base: &Limits) -> Limits {
        self.head.limits.over(base)
    }

    /// The same for how its module may be built.
    #[must_use]
    pub fn structure(&self, base: &StructuralLimits) -> StructuralLimits {
        self.head.structure.over(base)
    }

    fn expanded(&self, text: &str) -> Result<String, CaseError> {
        expand(text).map_err(|message| CaseError { file: self.name.clone(), message })
    }
}

impl CaseHead {
    /// The head of a text, and what follows it.
    fn read<'a>(text: &'a str, mark: &str) -> Result<(Self, &'a str), String> {
        let mut head = Self::default();
        let mut rest = text;
        while let Some(line) = rest.lines().next().filter(|line| line.starts_with(mark)) {
            head.take(line[mark.len()..].trim())?;
            rest = rest[line.len()..].trim_start_matches('\r');
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
        if head.attack.is_empty() || head.expect.is_empty() {
            return Err("expected a head with `attack` and `expect`".to_owned());
        }
        let body = rest.strip_prefix('\n').ok_or("expected an empty line after the head")?;
        Ok((head, body.strip_suffix('\n').unwrap_or(body)))
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        if line == "leaks" {
            self.leaks = true;
            return Ok(());
        }
        let (key, value) = line
            .split_once(": ")
            .ok_or_else(|| format!("expected `key: value` in the head, found `{line}`"))?;
        let once = |place: &mut Option<String>| match place.replace(value.to_owned()) {
            Some(_) => Err(format!("`{key}` appears twice in the head")),
            None => Ok(()),
        };
        let misread = |error: serde_json::Error| format!("`{key}`: {error}");
        match key {
            "attack" => self.attack = value.to_owned(),
            "expect" => self.expect = value.to_owned(),
            "says" => self.says.push(value.to_owned()),
            "limits" => self.limits = serde_json::from_str(value).map_err(misread)?,
            "structure" => self.structure = serde_json::from_str(value).map_err(misread)?,
            "kind" => return once(&mut self.kind),
            "event" => return once(&mut self.event),
            "good-event" => return once(&mut self.good_event),
            "good" => return once(&mut self.good),
            "path" => return once(&mut self.path),
            _ => return Err(format!("there is no key `{key}` in a head")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_head_says_what_a_case_is() {
        let text = "# attack: a thing\n# expect: event_too_large\n# kind: event\n# limits: {\"event_bytes\":3}\n\
                    # says: one\n# says: two\n\n{{2*[}}\n# no head\n";
        let case = Case::parse("event/x.case", text).unwrap();
        assert_eq!(
            (case.name(), case.attack(), case.kind()),
            ("event/x", "a thing", CaseKind::Event)
        );
        assert_eq!(case.limits(&Limits::default()).event_bytes, 3);
        assert_eq!(case.limits(&Limits { deadline_ms: 7, ..Limits::default() }).deadline_ms, 7);
        assert_eq!(case.says(), ["one", "two"]);
        assert_eq!(case.body().unwrap(), "[[\n# no head");
    }

    #[test]
    fn what_is_no_case_is_told() {
        for (file, text, says) in [
            ("a", "", "without an extension"),
            ("a.txt", "", "found .txt"),
            ("a.wat", "(module)", "`attack` and `expect`"),
            ("a.wat", ";; attack: x\n;; expect: ok\n(module)", "an empty line"),
            ("a.wat", ";; attack: x\n;; expects: ok\n\n", "no key `expects`"),
            ("a.wat", ";; attack: x\n;; expect: ok\n;; kind: wat\n\n", "only a .case has a kind"),
            ("a.case", "# attack: x\n# expect: ok\n\n", "expected a kind"),
            ("a.case", "# attack: x\n# expect: ok\n# kind: rust\n\n", "no kind `rust`"),
            ("a.wat", ";; attack: x\n;; expect: ok\n;; good: ok\n;; good: ok\n\n", "twice"),
            ("a.wat", ";; attack: x\n;; expect: ok\n;; limits: {\"fule\":1}\n\n", "fule"),
            ("a.wat", ";; attack: x\n;; expect: ok\n;; structure: [1]\n\n", "`structure`"),
        ] {
            let error = Case::parse(file, text).unwrap_err().to_string();
            assert!(error.starts_with(file) && error.contains(says), "{error}");
        }
    }
}
