//! Text with values in it: `"{session_id}:{content.id}"`.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Level, Reference};
use crate::diagnostics::untrusted::quoted;

/// Text with values in it. Two are equal when they mean the same, however they are written.
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Text that stands for itself; never empty, never beside another one.
    Text(String),
    /// The text of a scalar.
    Value(Reference),
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct TemplateError {
    pub(crate) expected: &'static str,
    pub(crate) found: String,
}

impl Template {
    /// Reads a template where paths start at `innermost`.
    ///
    /// # Errors
    /// [`TemplateError`], with what was expected and what was found, on one line.
    pub fn parse(text: &str, innermost: Level) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                plain.push('}');
                rest = after;
            } else if let Some(after) = from.strip_prefix('{') {
                let (reference, behind) = value(after, innermost)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Value(reference));
                rest = behind;
            } else {
                return Err(unexpected("}} for a brace that stands for itself", from));
            }
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self { text: text.to_owned(), pieces })
    }

    /// The template with these pieces, as it is written where its deepest paths start. Empty pieces of text are dropped
    /// and those side by side are joined.
    #[must_use]
    pub fn of(pieces: Vec<Piece>) -> Self {
        let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (_, Piece::Text(text)) if text.is_empty() => {}
                (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
                (_, piece) => joined.push(piece),
            }
        }
        let mut template = Self { text: String::new(), pieces: joined };
        let innermost = template.references().map(|it| it.level).max().unwrap_or_default();
        let mut text = String::new();
        for piece in &template.pieces {
            match piece {
                Piece::Text(plain) => {
                    text.push_str(&plain.replace('{', "{{").replace('}', "}}"));
                }
                Piece::Value(reference) => write_reference(&mut text, reference, innermost),
            }
        }
        template.text = text;
        template
    }

    /// The template as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its parts, in their order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Every path that it reads.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(reference) => Some(reference),
            Piece::Text(_) => None,
        })
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.pieces == other.pieces
    }
}

impl Eq for Template {}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pieces.hash(state);
    }
}

/// A path as it is written in a template.
fn write_reference(text: &mut String, reference: &Reference, innermost: Level) {
    text.push('{');
    let mark = match reference.level {
        level if level == innermost => String::new(),
        Level::EVENT => "$".to_owned(),
        level => "^".repeat(usize::from(innermost.0.saturating_sub(level.0))),
    };
    text.push_str(&mark);
    for (index, key) in reference.path.iter().enumerate() {
        if index > 0 || !mark.is_empty() {
            text.push('.');
        }
        if key.is_empty() || key.contains(['.', '{', '}', '"', '$', '^']) {
            text.push_str(&serde_json::Value::from(key.as_str()).to_string());
        } else {
            text.push_str(key);
        }
    }
    text.push('}');
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A path and the closing brace after it; gives what follows.
fn value(text: &str, innermost: Level) -> Result<(Reference, &str), TemplateError> {
    let unmarked = text.trim_start_matches('^');
    let (level, mut rest) = match (text.strip_prefix('$'), text.len() - unmarked.len()) {
        (Some(rest), _) => (Level::EVENT, rest),
        (None, 0) => (innermost, text),
        (None, further) => {
            let further = u8::try_from(further).unwrap_or(u8::MAX);
            match innermost.0.checked_sub(further).filter(|level| *level > 0) {
                Some(level) => (Level(level), unmarked),
                None => {
                    let expected = "a nested for_each around a path from the parent, and one more \
                                    for each further ^";
                    return Err(unexpected(expected, text));
                }
            }
        }
    };
    let is_marked = rest.len() < text.len();
    let mut path = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            if path.is_empty() && level.is_event() {
                return Err(unexpected("the keys of a path", text));
            }
            return Ok((Reference { path, level }, behind));
        }
        if !path.is_empty() || is_marked {
            rest = rest.strip_prefix('.').ok_or_else(|| unexpected("a dot or a brace", rest))?;
        }
        let (key, behind) = key(rest)?;
        path.push(key);
        rest = behind;
    }
}

/// One key of a path; gives what follows.
fn key(text: &str) -> Result<(String, &str), TemplateError> {
    if text.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
        return match strings.next() {
            Some(Ok(key)) if !key.is_empty() => {
                let behind = text.get(strings.byte_offset()..).unwrap_or_default();
                Ok((key, behind))
            }
            _ => Err(unexpected("a key as a JSON string that is not empty", text)),
        };
    }
    let end = text.find(['.', '}', '{', '"', '$', '^']).unwrap_or(text.len());
    let (key, behind) = text.split_at(end);
    if key.is_empty() {
        return Err(unexpected("a key", text));
    }
    Ok((key.to_owned(), behind))
}

fn unexpected(expected: &'static str, found: &str) -> TemplateError {
    let found = if found.is_empty() { "the end of the template".to_owned() } else { quoted(found) };
    TemplateError { expected, found }
}

#[cfg(test)]
mod tests {
    use super::{Piece, Template};
    use crate::plan::expr::{Level, Reference};

    fn read(text: &str, innermost: u8) -> Result<Vec<String>, String> {
        let template =
            Template::parse(text, Level(innermost)).map_err(|error| error.to_string())?;
        let pieces = template.pieces().iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(Reference { path, level }) => format!("{}{path:?}", level.0),
        });
        Ok(pieces.collect())
    }

    #[test]
    fn templates_are_read() {
        for (text, level, pieces) in [
            ("", 0, vec![]),
            ("a{{b}}c", 0, vec!["a{b}c"]),
            (
                "{session_id}:{content.id}",
                0,
                vec![r#"0["session_id"]"#, ":", r#"0["content", "id"]"#],
            ),
            ("{{{a}}}", 0, vec!["{", r#"0["a"]"#, "}"]),
            ("{}-{$.a b.c}-{no}", 1, vec!["1[]", "-", r#"0["a b", "c"]"#, "-", r#"1["no"]"#]),
            ("{^.id}{^}{$.x}{y}", 2, vec![r#"1["id"]"#, "1[]", r#"0["x"]"#, r#"2["y"]"#]),
            (
                "{^.id}{^^}{^^^.x}{$.x}{y}",
                4,
                vec![r#"3["id"]"#, "2[]", r#"1["x"]"#, r#"0["x"]"#, r#"4["y"]"#],
            ),
            (r#"{a."x.\"}y"."$z"}"#, 0, vec![r#"0["a", "x.\"}y", "$z"]"#]),
        ] {
            let pieces: Vec<String> = pieces.into_iter().map(str::to_owned).collect();
            assert_eq!(read(text, level), Ok(pieces), "{text}");
        }
    }

    #[test]
    fn what_is_made_of_pieces_reads_the_same() {
        for (text, level) in [
            ("a{{b}}{x}{y.\"z.\"}", 0),
            ("{}-{$.a}:{no}", 1),
            ("{^.id}{^}{$.x}{y}{}", 2),
            ("{^^^.id}{^^}{$.x}{^.y}{}", 4),
            ("", 0),
        ] {
            let read = Template::parse(text, Level(level)).expect(text);
            let made = Template::of(read.pieces().to_vec());
            assert_eq!(made.text(), text);
            assert_eq!(made, read);
        }
        let split = ["a", "", "b"].map(|text| Piece::Text(text.to_owned())).to_vec();
        assert_eq!(Template::of(split), Template::parse("ab", Level::EVENT).expect("plain"));
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (text, level, expected) in [
            ("}", 0, "}} for a brace"),
            ("{", 0, "expected a key, found the end"),
            ("{a", 0, "a dot or a brace"),
            ("{a..b}", 0, "a key"),
            ("{a.}", 0, "a key"),
            ("{}", 0, "the keys of a path"),
            ("{$}", 1, "the keys of a path"),
            ("{$a}", 0, "a dot or a brace"),
            ("{^.a}", 1, "a nested for_each"),
            ("{^^.a}", 2, "a nested for_each"),
            ("{^^^^.a}", 4, "a nested for_each"),
            ("{^$.a}", 2, "a dot or a brace"),
            ("{a{b}", 0, "a dot or a brace"),
            (r#"{"a"#, 0, "a JSON string"),
            (r#"{""}"#, 0, "a JSON string"),
        ] {
            let error = read(text, level).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
