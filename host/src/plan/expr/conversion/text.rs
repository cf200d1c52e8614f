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

/// The part with that index among those that reading from the left finds.
pub(super) fn split<'t>(text: Cow<'t, str>, separator: &str, index: i32) -> Option<Cow<'t, str>> {
    let wanted = match usize::try_from(index) {
        Ok(from_left) => from_left,
        Err(_) => {
            let parts = text.matches(separator).count() + 1;
            parts.checked_sub(index.unsigned_abs() as usize)?
        }
    };
    let mut separators = text.match_indices(separator);
    let start = match wanted.checked_sub(1) {
        None => 0,
        Some(before) => separators.nth(before).map(|(at, found)| at + found.len())?,
    };
    let end = separators.next().map_or(text.len(), |(at, _)| at);
    part(text, start..end)
}
