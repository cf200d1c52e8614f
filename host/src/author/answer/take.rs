//! The JSON object in a text that holds other things too.

use serde::de::DeserializeSeed;
use serde::{Deserialize, Deserializer};

use crate::json::tally::{self, Tally};

/// What was found in a text.
pub(super) enum Taken<'t> {
    /// The text of one JSON value.
    Json(&'t str),
    /// More than one object.
    Several,
    /// An object that has no end.
    CutOff,
    /// No JSON: from here on, something is wrong.
    Broken(&'t str),
}

impl<'t> Taken<'t> {
    /// The text as a whole.
    pub(super) fn whole(text: &'t str) -> Self {
        tally::check(text).map_or(Self::Broken(text), |()| Self::Json(text))
    }
}

/// Takes the one object out of a text.
///
/// An object begins at a brace that a quote or a closing brace follows, and an array of objects at a bracket that a brace
/// follows; any other brace or bracket belongs to the words around them. Whatever begins like this has to be JSON to its
/// end: to look further inside would find parts of a plan, and take them for one. So each byte is looked at once, or
/// twice.
pub(super) fn take(text: &str) -> Taken<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    if let taken @ Taken::Json(..) = Taken::whole(text) {
        return taken;
    }
    let mut found = None;
    let mut from = 0;
    while let Some(start) = opening(text, from) {
        let rest = &text[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Unkept>();
        match values.next() {
            Some(Ok(Unkept)) => {
                let end = start + values.byte_offset();
                if found.replace(start..end).is_some() {
                    return Taken::Several;
                }
                from = end;
            }
            Some(Err(error)) if error.is_eof() => return Taken::CutOff,
            _ => return Taken::Broken(rest),
        }
    }
    match found {
        Some(range) => Taken::Json(&text[range]),
        // A brace may be where it went wrong; without one there is nothing to begin with.
        None => Taken::Broken(text.find('{').map_or(text, |brace| &text[brace..])),
    }
}

/// A value that is looked through and not kept: how long an answer is has to be known before a tree of it is built.
struct Unkept;

impl<'de> Deserialize<'de> for Unkept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tally::new(usize::MAX).deserialize(deserializer).map(|()| Self)
    }
}

/// Where the next object, or array of objects, begins.
fn opening(text: &str, from: usize) -> Option<usize> {
    let mut starts = text[from..].match_indices(['{', '[']).map(|(at, _)| from + at);
    starts.find(|&start| {
        let inside = text[start + 1..].trim_start_matches([' ', '\t', '\n', '\r']);
        match text.as_bytes()[start] {
            b'{' => inside.is_empty() || inside.starts_with(['"', '}']),
            _ => inside.starts_with('{'),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Taken, take};

    fn taken(text: &str) -> String {
        match take(text) {
            Taken::Json(json) => json.to_owned(),
            Taken::Several => "several".to_owned(),
            Taken::CutOff => "cut off".to_owned(),
            Taken::Broken(text) => format!("broken: {text}"),
        }
    }

    #[test]
    fn one_object_is_taken_whatever_is_around_it() {
        for text in [
            r#"{"a":{"b":[1]}}"#,
            "\u{feff} \n{\"a\":{\"b\":[1]}}\n",
            "```json\n{\"a\":{\"b\":[1]}}\n```",
            "```\n{\"a\":{\"b\":[1]}}```\nThat reads [\"a\", \"b\"], as {you} asked.",
            "In {braces} and [links](x), {\n}{\"a\":{\"b\":[1]}}"
                .replacen("{\n}", "{ x }", 1)
                .as_str(),
        ] {
            assert_eq!(taken(text), r#"{"a":{"b":[1]}}"#, "{text}");
        }
    }

    #[test]
    fn json_as_a_whole_is_taken_as_it_is() {
        for text in ["null", "[]", r#"[{"a":1}]"#, r#""{\"a\":1}""#, "7"] {
            assert_eq!(taken(text), text);
        }
        assert_eq!(taken("```\n[{\"a\":1}]\n```"), r#"[{"a":1}]"#);
    }

    #[test]
    fn nothing_is_guessed() {
        for (text, expected) in [
            (r#"{"a":1} {"a":1}"#, "several"),
            ("```\n{\"a\":1}\n```\nor {}", "several"),
            (r#"so: {"a":{"b":1}"#, "cut off"),
            (r#"so: [{"a":{"b":1}}"#, "cut off"),
            (r#"{"a":1} and {"b":"#, "cut off"),
            ("so: {", "cut off"),
            (r#"so: {"a":{"b":1},}"#, r#"broken: {"a":{"b":1},}"#),
            (r#"so: {a:{b:1}}"#, "broken: {a:{b:1}}"),
            ("so", "broken: so"),
            ("", "broken: "),
        ] {
            assert_eq!(taken(text), expected, "{text}");
        }
    }
}
