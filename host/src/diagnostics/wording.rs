//! What readers of other crates say, as this project says it: what was expected, then what was found.

use super::nearest::nearest;
use super::untrusted::sanitize;

/// How long a character that is shown may be once it is spelled out: `\u{10ffff}`.
const FOUND_CHARS: usize = 10;

/// What is wrong with a document in JSON, with the place: `line 2, column 7: expected a value, found the end of the text`.
#[must_use]
pub fn json_in_text(text: &str, error: &serde_json::Error) -> String {
    format!("line {}, column {}: {}", error.line(), json_column(text, error), json(text, error))
}

/// The same of a text that mostly is a line of another, whose number the message has already: the column alone says where,
/// unless the text has lines of its own.
#[must_use]
pub fn json_in_line(text: &str, error: &serde_json::Error) -> String {
    match error.line() {
        0 | 1 => format!("column {}: {}", json_column(text, error), json(text, error)),
        _ => json_in_text(text, error),
    }
}

/// The column in characters: readers of JSON count bytes.
pub(crate) fn json_column(text: &str, error: &serde_json::Error) -> usize {
    let bytes = error.column().saturating_sub(1);
    let before = line_of(text, error).get(..bytes);
    error.column() - bytes + before.map_or(bytes, |before| before.chars().count())
}

fn line_of<'t>(text: &'t str, error: &serde_json::Error) -> &'t str {
    text.split('\n').nth(error.line().saturating_sub(1)).unwrap_or_default()
}

/// What is wrong with a text that a reader of JSON refused, without the place.
pub(crate) fn json(text: &str, error: &serde_json::Error) -> String {
    if text.starts_with('\u{feff}') {
        // Whoever looks at the text doesn't see it either.
        return "expected a value, found a byte order mark: save the text without one".to_owned();
    }
    let said = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let said = said.strip_suffix(&place).unwrap_or(&said);
    let expected = match said {
        "expected value" => "a value",
        // Of a word that begins like `true`, `false` or `null`, what is told is a letter in the midst of it.
        "expected ident" => return "expected a value, found a word without quotes".to_owned(),
        "key must be a string" => "a key in double quotes",
        "expected `:`" => "a colon behind the key",
        "expected `,` or `}`" => "a comma or a closing brace",
        "expected `,` or `]`" => "a comma or a closing bracket",
        "trailing comma" => "something behind the comma",
        "trailing characters" => "the end of the text",
        other => return expected_first(other),
    };
    let rest = error.column().checked_sub(1).and_then(|start| line_of(text, error).get(start..));
    match rest.and_then(|rest| rest.chars().next()) {
        Some(found) => {
            format!("expected {expected}, found `{}`", sanitize(&found.to_string(), FOUND_CHARS))
        }
        None => format!("expected {expected}"),
    }
}

/// What a reader built on serde says is wrong, with what was expected first, and with the name that was meant where one is
/// near. What it says in any other form stays as it is.
///
/// # Example
/// ```
/// use retort::internal::wording::expected_first;
///
/// assert_eq!(
///     expected_first("invalid type: string \"a, b\", expected a sequence"),
///     "expected a list, found string \"a, b\""
/// );
/// assert_eq!(
///     expected_first("unknown field `graphs`, expected `graph` or `plan`"),
///     "expected one of `graph`, `plan`, found `graphs`; did you mean `graph`?"
/// );
/// ```
#[must_use]
pub fn expected_first(message: &str) -> String {
    reordered(message).unwrap_or_else(|| message.to_owned())
}

/// Names that are known, as a message lists them, and the one that was meant by what was found, if one is near.
pub(crate) fn names<'n>(known: &[&'n str], found: &str) -> (String, Option<&'n str>) {
    let listed: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    (listed.join(", "), nearest(found, known.iter().copied()))
}

/// The end of a message that says which name was meant.
pub(crate) fn meant(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

fn reordered(message: &str) -> Option<String> {
    let after = |start: &str| message.strip_prefix(start);
    if let Some(rest) = after("invalid type: ").or_else(|| after("invalid value: ")) {
        let (found, expected) = rest.rsplit_once(", expected ")?;
        return Some(format!("expected {}, found {}", plain(expected), plain(found)));
    }
    if let Some(rest) = after("invalid length ") {
        let (found, expected) = rest.rsplit_once(", expected ")?;
        if expected.starts_with("struct ") {
            // A derived reader takes a list for an object's fields in order.
            return Some("expected an object, found a list".to_owned());
        }
        return Some(format!("expected {expected}, found {found}"));
    }
    if let Some(rest) = after("unknown field `").or_else(|| after("unknown variant `")) {
        // The name is foreign and may hold anything; the list behind it is of names of ours.
        let Some((found, known)) = rest.rsplit_once("`, expected ") else {
            let found = rest.rsplit_once("`, there are no ")?.0;
            return Some(format!("expected nothing, found `{found}`"));
        };
        let known: Vec<&str> = known
            .trim_start_matches("one of ")
            .split(", ")
            .flat_map(|names| names.split(" or "))
            .map(|name| name.trim_matches('`'))
            .collect();
        let (listed, nearest) = names(&known, found);
        let one_of = if known.len() > 1 { "one of " } else { "" };
        return Some(format!("expected {one_of}{listed}, found `{found}`{}", meant(nearest)));
    }
    if let Some(open) = after("EOF while parsing ") {
        let rest_of = if open == "a value" { "" } else { "the rest of " };
        return Some(format!("expected {rest_of}{open}, found the end of the text"));
    }
    if let Some(field) = after("missing field ") {
        return Some(format!("expected the field {field}, found none"));
    }
    let field = after("duplicate field ")?;
    Some(format!("expected the field {field} once, found it a second time"))
}

/// What serde calls a list and an object, in the words that are used for both JSON and YAML.
fn plain(kind: &str) -> &str {
    match kind {
        "a sequence" | "sequence" => "a list",
        "a map" | "map" => "an object",
        "unit value" => "null",
        "path string" => "a path",
        "usize" => "a whole number",
        kind if kind.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::{expected_first, json_in_line, json_in_text};

    #[test]
    fn json_is_told_with_what_is_there_instead() {
        for (text, told) in [
            ("", "line 1, column 0: expected a value, found the end of the text"),
            ("{", "line 1, column 1: expected the rest of an object, found the end of the text"),
            ("{\n 'a': 1}", "line 2, column 2: expected a key in double quotes, found `'`"),
            ("{\"a\" 1}", "line 1, column 6: expected a colon behind the key, found `1`"),
            (
                "{\"é\": 1 // one\n}",
                "line 1, column 9: expected a comma or a closing brace, found `/`",
            ),
            ("[1 2]", "line 1, column 4: expected a comma or a closing bracket, found `2`"),
            ("[1,]", "line 1, column 4: expected something behind the comma, found `]`"),
            ("{} {}", "line 1, column 4: expected the end of the text, found `{`"),
            ("type: object", "line 1, column 2: expected a value, found a word without quotes"),
            (
                "\u{feff}{}",
                "line 1, column 1: expected a value, found a byte order mark: save the text without one",
            ),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).expect_err(text);
            assert_eq!(json_in_text(text, &error), told, "{text}");
            let in_line = told.strip_prefix("line 1, ").unwrap_or(told);
            assert_eq!(json_in_line(text, &error), in_line, "{text}");
        }
    }

    #[test]
    fn what_was_expected_comes_first() {
        for (said, reworded) in [
            ("invalid type: map, expected a sequence", "expected a list, found an object"),
            ("invalid value: integer `-1`, expected u64", "expected u64, found integer `-1`"),
            ("invalid type: sequence, expected struct Plan", "expected an object, found a list"),
            (
                "invalid type: string \"x, expected y\", expected a map",
                "expected an object, found string \"x, expected y\"",
            ),
            ("invalid length 1, expected 2 items", "expected 2 items, found 1"),
            (
                "invalid length 1, expected struct Plan with 2 elements",
                "expected an object, found a list",
            ),
            ("unknown field `b`, expected `a`", "expected `a`, found `b`"),
            (
                "unknown variant `wram`, expected one of cold, warm",
                "expected one of `cold`, `warm`, found `wram`; did you mean `warm`?",
            ),
            ("unknown field `b`, there are no fields", "expected nothing, found `b`"),
            ("missing field `path`", "expected the field `path`, found none"),
            ("duplicate field `a`", "expected the field `a` once, found it a second time"),
            ("EOF while parsing a value", "expected a value, found the end of the text"),
            ("EOF while parsing a list", "expected the rest of a list, found the end of the text"),
            ("tabs disallowed here", "tabs disallowed here"),
            ("invalid type: ", "invalid type: "),
        ] {
            assert_eq!(expected_first(said), reworded);
        }
    }
}
