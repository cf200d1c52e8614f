//! Conversions to and from JSON as text, and the length of it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::data::{Data, StepOutcome, part};
use crate::json::{scan, string, walk};

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
    // Where what is yet to be copied begins.
    let mut from = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let (end, escaped) = scan::string(text, at + 1).ok()?;
                if escaped {
                    out.extend_from_slice(text.get(from..at)?);
                    let text = string::unescape(json.get(at + 1..end - 1)?)?;
                    string::push_string(&mut out, &text);
                    from = end;
                }
                at = end;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.extend_from_slice(text.get(from..at)?);
                at += 1;
                from = at;
            }
            _ => at += 1,
        }
    }
    out.extend_from_slice(text.get(from..)?);
    String::from_utf8(out).ok()
}

/// What is at a path in the JSON that a text is.
pub(super) fn parse_json<'t>(text: Cow<'t, str>, path: &[String]) -> StepOutcome<'t> {
    if !crate::json::is_json(text.as_bytes()) {
        return StepOutcome::Failed;
    }
    let mut found = trimmed(&text);
    for key in path {
        match member(text.as_bytes(), &found, key) {
            Some(value) => found = value,
            None => return StepOutcome::Absent,
        }
    }
    part(text, found).map_or(StepOutcome::Failed, StepOutcome::read)
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
    walk::members(text, object.start, |name, value| {
        let end = walk::end(text, value)?;
        if name.is(key) {
            found = Some(value..end);
        }
        Some(end)
    })?;
    found
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
    let mut count = 0;
    walk::elements(text, 0, |element| {
        count += 1;
        walk::end(text, element)
    })?;
    Some(count)
}

fn distinct_keys(text: &[u8]) -> Option<usize> {
    let mut keys = HashSet::new();
    walk::members(text, 0, |key, value| {
        keys.insert(key.text());
        walk::end(text, value)
    })?;
    Some(keys.len())
}
