//! Conversions of text.

use std::borrow::Cow;

use super::data::{Data, part};

pub(super) fn to_string(data: Data<'_>) -> Option<Data<'_>> {
    match data {
        Data::String(text) | Data::Number(text) => Some(Data::String(text)),
        Data::Boolean(value) => Some(Data::String(if value { "true" } else { "false" }.into())),
        Data::Object(_) | Data::Array(_) => None,
    }
}

pub(super) fn lower(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return text;
    }
    Cow::Owned(text.to_lowercase())
}

pub(super) fn upper(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_lowercase()) {
        return text;
    }
    Cow::Owned(text.to_uppercase())
}

pub(super) fn trim(text: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let start = text.len() - text.trim_start().len();
    let end = start + text.trim().len();
    part(text, start..end)
}

/// The part with that index among those that reading from the left finds. An empty separator, which no plan has, separates nothing.
pub(super) fn split<'t>(text: Cow<'t, str>, separator: &str, index: i32) -> Option<Cow<'t, str>> {
    if separator.is_empty() {
        return None;
    }
    let behind = |from: usize| Some(find_from(&text, separator, from)? + separator.len());
    let before = match usize::try_from(index) {
        Ok(from_left) => from_left,
        Err(_) => {
            let separators = std::iter::successors(behind(0), |from| behind(*from)).count();
            (separators + 1).checked_sub(index.unsigned_abs() as usize)?
        }
    };
    let start = (0..before).try_fold(0, |from, _| behind(from))?;
    let end = find_from(&text, separator, start).unwrap_or(text.len());
    part(text, start..end)
}

/// Where a text is found in another one, from an offset on.
pub(in crate::plan::expr) fn find_from(text: &str, sought: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let found = match sought.as_bytes() {
        // Most separators are one byte, for which a searcher needn't be made.
        [byte] => memchr::memchr(*byte, rest.as_bytes()),
        _ => rest.find(sought),
    };
    found.map(|at| from + at)
}
