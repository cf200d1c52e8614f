//! Conversions to and from JSON as text, and the length of it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::data::{Data, Outcome, part};
use crate::json::scan;
use crate::plan::expr::string;

pub(super) fn to_json_text(data: Data<'_>) -> Option<Data<'_>> {
    let json = match data {
        Data::Object(json) | Data::Array(json) => Cow::Owned(compact(&json)?),
        Data::Number(number) => number,
        string_or_boolean => {
            let mut json = Vec::with_capacity(string_or_boolean.bytes() + 8);
            string_or_boolean.write(&mut json);
            Cow::Owned(String::from_utf8(json).ok()?)
        }
    };
    Some(Data::String(json))
}

/// Valid JSON without the white space between its tokens, and with canonical strings.
fn compact(json: &str) -> Option<String> {
    let text = json.as_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let (end, escaped) = scan::string(text, at + 1).ok()?;
                if escaped {
                    let text = string::unescape(json.get(at + 1..end - 1)?)?;
                    string::push_string(&mut out, &text);
                } else {
                    out.extend_from_slice(text.get(at..end)?);
                }
                at = end;
            }
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            _ => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// What is at a path in the JSON that a text is.
pub(super) fn parse_json<'t>(text: Cow<'t, str>, path: &[String]) -> Outcome<'t> {
    if !crate::json::is_json(text.as_bytes()) {
        return Outcome::Failed;
    }
    let mut found = trimmed(&text);
    for key in path {
        match member(text.as_bytes(), &found, key) {
            Some(value) => found = value,
            None => return Outcome::Absent,
        }
    }
    part(text, found).map_or(Outcome::Failed, Outcome::read)
}

/// Where the value is with white space around it.
fn trimmed(text: &str) -> Range<usize> {
    let space = [' ', '\n', '\r', '\t'];
    let start = text.len() - text.trim_start_matches(space).len();
    start..text.trim_end_matches(space).len()
}

/// Where the value of the last member with that key is; none where there is no such member, or no object.
fn member(text: &[u8], object: &Range<usize>, key: &str) -> Option<Range<usize>> {
    let mut found = None;
    each_member(text, object.start, |content, escaped, value| {
        if is_key(content, escaped, key) {
            found = Some(value);
        }
    })?;
    found
}

fn is_key(content: &[u8], escaped: bool, key: &str) -> bool {
    if escaped {
        string::strip(content, key).is_some_and(<[u8]>::is_empty)
    } else {
        content == key.as_bytes()
    }
}

/// Goes over the members of an object in valid JSON: the content of the key, whether that has escapes, and where the value is.
fn each_member<'t>(
    text: &'t [u8],
    start: usize,
    mut member: impl FnMut(&'t [u8], bool, Range<usize>),
) -> Option<()> {
    if scan::byte(text, start) != b'{' {
        return None;
    }
    let mut at = scan::token(text, start + 1);
    let mut more = scan::byte(text, at) != b'}';
    while more {
        let (from, to, escaped, value) = scan::key(text, at).ok()?;
        let value = scan::token(text, value);
        let end = scan::value(text, value, 0).ok()?.0;
        member(text.get(from..to)?, escaped, value..end);
        (more, at) = scan::next(text, end, b'}').ok()?;
    }
    Some(())
}

pub(super) fn length(data: &Data<'_>) -> Option<Data<'static>> {
    let length = match data {
        Data::String(text) => text.chars().count(),
        Data::Array(json) => elements(json.as_bytes())?,
        Data::Object(json) => distinct_keys(json.as_bytes())?,
        Data::Number(_) | Data::Boolean(_) => return None,
    };
    Some(Data::Number(Cow::Owned(length.to_string())))
}

fn elements(text: &[u8]) -> Option<usize> {
    let mut at = scan::token(text, 1);
    let mut more = scan::byte(text, at) != b']';
    let mut count = 0;
    while more {
        let end = scan::value(text, scan::token(text, at), 0).ok()?.0;
        count += 1;
        (more, at) = scan::next(text, end, b']').ok()?;
    }
    Some(count)
}

fn distinct_keys(text: &[u8]) -> Option<usize> {
    let mut keys = HashSet::new();
    each_member(text, 0, |content, escaped, _| {
        let unescaped = if escaped { unescape(content) } else { None };
        let key = unescaped.map_or(Cow::Borrowed(content), |key| Cow::Owned(key.into_bytes()));
        keys.insert(key);
    })?;
    Some(keys.len())
}

fn unescape(content: &[u8]) -> Option<String> {
    string::unescape(simdutf8::basic::from_utf8(content).ok()?)
}
