//! Strings of JSON: their escapes read, and written in the one canonical way.
//!
//! Canonical means as `serde_json` writes it: quotes, backslashes and control characters are escaped, in the short form where
//! there is one, and everything else stands for itself.

use std::borrow::Cow;

use super::scan;

/// What is between the quotes; none where it isn't a string.
pub(crate) fn inside(json: &[u8]) -> Option<&[u8]> {
    json.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The characters that the inside of a valid string stands for.
pub(crate) fn characters(inside: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', inside).is_none() {
        return Cow::Borrowed(inside);
    }
    let text = std::str::from_utf8(inside).ok().and_then(unescape);
    text.map_or(Cow::Borrowed(inside), |text| Cow::Owned(text.into_bytes()))
}

/// The text that the inside of a valid string stands for.
pub(crate) fn unescape(inside: &str) -> Option<String> {
    let mut text = Vec::new();
    unescape_into(&mut text, inside.as_bytes())?;
    String::from_utf8(text).ok()
}

/// Appends the text that the inside of a valid string stands for.
pub(crate) fn unescape_into(text: &mut Vec<u8>, inside: &[u8]) -> Option<()> {
    let start = text.len();
    // No escape is shorter than what it stands for. Between escapes a word is copied where fewer bytes are meant.
    text.resize(start + inside.len() + size_of::<u64>(), 0);
    let length = text.get_mut(start..).and_then(|place| unescape_to(place, inside));
    text.truncate(start + length.unwrap_or(0));
    length.map(|_| ())
}

/// Writes the text that the inside of a valid string stands for to the front of `place`; gives its length.
fn unescape_to(place: &mut [u8], inside: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let (mut at, mut rest) = (0, inside);
    loop {
        // Between escapes there are mostly few bytes: JSON in a string has one around every key.
        while let Some((block, behind)) = rest.split_first_chunk::<8>() {
            let other = u64::from_le_bytes(*block) ^ (ONES * 0x5c);
            // The high bit of the first byte that is a backslash; bits above it mean nothing.
            let found = other.wrapping_sub(ONES) & !other & HIGH;
            *place.get_mut(at..)?.first_chunk_mut()? = *block;
            if found != 0 {
                let plain = (found.trailing_zeros() / 8) as usize;
                at += plain;
                rest = rest.get(plain..)?;
                break;
            }
            at += 8;
            rest = behind;
        }
        if rest.len() < 8 {
            let plain = rest.iter().position(|byte| *byte == b'\\').unwrap_or(rest.len());
            let (plain, from) = rest.split_at_checked(plain)?;
            place.get_mut(at..at + plain.len())?.copy_from_slice(plain);
            at += plain.len();
            rest = from;
        }
        let Some(escaped) = rest.get(1) else { return rest.is_empty().then_some(at) };
        let short = match escaped {
            b'"' | b'\\' | b'/' => *escaped,
            b'n' => b'\n',
            b't' => b'\t',
            _ => {
                let (found, length) = escape(rest)?;
                at += found.encode_utf8(place.get_mut(at..at + found.len_utf8())?).len();
                rest = rest.get(length..)?;
                continue;
            }
        };
        *place.get_mut(at)? = short;
        at += 1;
        rest = rest.get(2..)?;
    }
}

/// What is left of the inside of a valid string after a text that it begins with. No more is read than that text takes.
pub(crate) fn strip<'j>(mut inside: &'j [u8], text: &str) -> Option<&'j [u8]> {
    let mut wanted = text.as_bytes();
    loop {
        match (inside, wanted) {
            (_, []) => return Some(inside),
            ([b'\\', ..], _) => {
                let (found, length) = escape(inside)?;
                wanted = wanted.strip_prefix(found.encode_utf8(&mut [0; 4]).as_bytes())?;
                inside = inside.get(length..)?;
            }
            ([found, behind @ ..], [byte, rest @ ..]) if found == byte => {
                (inside, wanted) = (behind, rest);
            }
            _ => return None,
        }
    }
}

/// Whether the inside of a valid string stands for a text.
#[inline]
pub(crate) fn is(inside: &[u8], text: &str) -> bool {
    // No escape is shorter than what it stands for.
    inside.len() >= text.len() && strip(inside, text).is_some_and(<[u8]>::is_empty)
}

/// The character that an escape stands for, and the bytes that it takes.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let found = match text.get(1)? {
        quote_or_slash @ (b'"' | b'\\' | b'/') => char::from(*quote_or_slash),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let units = [unit(text), text.get(6..).and_then(unit)];
            let found = char::decode_utf16(units.into_iter().map_while(|unit| unit));
            let found = { found }.next()?.ok()?;
            return Some((found, 6 * found.len_utf16()));
        }
        _ => return None,
    };
    Some((found, 2))
}

/// The four hexadecimal digits of an escape.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(b"\\u")?.get(..4)?;
    let digit = |value: u16, digit: &u8| {
        char::from(*digit).to_digit(16).map(|digit| value << 4 | digit as u16)
    };
    digits.iter().try_fold(0, digit)
}

/// The canonical string that the inside of a valid string is.
pub(crate) fn canonical(inside: &[u8]) -> Option<Vec<u8>> {
    let text = unescape(std::str::from_utf8(inside).ok()?)?;
    let mut out = Vec::new();
    push_string(&mut out, &text);
    Some(out)
}

/// Appends a text as a canonical string.
pub(crate) fn push_string(out: &mut Vec<u8>, text: &str) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    push_inside(out, text);
    out.push(b'"');
}

/// The same of a text in which nothing has to be escaped.
pub(crate) fn push_plain(out: &mut Vec<u8>, text: &str) {
    debug_assert!(scan::plain(text.as_bytes(), 0) >= text.len(), "{text:?} needs escapes");
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

/// Appends a text as it appears inside a canonical string.
pub(crate) fn push_inside(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let (plain, from) = rest.split_at(scan::plain(rest, 0).min(rest.len()));
        out.extend_from_slice(plain);
        let Some((special, behind)) = from.split_first() else { break };
        push_escape(out, *special);
        rest = behind;
    }
}

fn push_escape(out: &mut Vec<u8>, special: u8) {
    let short = match special {
        b'"' | b'\\' => special,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |value: u8| b"0123456789abcdef".get(usize::from(value & 15)).copied();
            let digits = [digit(special >> 4), digit(special)];
            out.extend_from_slice(b"\\u00");
            out.extend(digits.iter().flatten());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::{inside, is, push_string, strip, unescape};

    #[test]
    fn strings_are_written_as_serde_json_writes_them() {
        for code in (0..0x100).chain([0x7ff, 0x800, 0xffff, 0x1_0000, 0x10_ffff]) {
            let text: String = ['a', char::from_u32(code).unwrap(), 'b'].iter().collect();
            let mut out = Vec::new();
            push_string(&mut out, &text);
            assert_eq!(out, serde_json::to_vec(&text).unwrap(), "{code:x}");
        }
    }

    #[test]
    fn what_an_escape_is_written_as_is_not_what_it_stands_for() {
        for (inside, stands_for) in
            [(r"\n", "\n"), (r"\\", r"\"), (r"\\n", r"\n"), (r"a\u0062", "ab")]
        {
            assert!(is(inside.as_bytes(), stands_for), "{inside}");
            assert!(!is(inside.as_bytes(), inside), "{inside}");
        }
    }

    /// The inside of a string in which any character may be escaped in any way.
    fn escaped() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[ -!#-\\[\\]-~é漢😀]{0,4}".boxed(),
            prop::sample::select(vec![
                r"\n",
                r"\t",
                r"\r",
                r"\b",
                r"\f",
                r#"\""#,
                r"\\",
                r"\/",
                r"\u0041",
                r"\u00E9",
                r"\ud83d\uDE00",
                r"\u0000",
                r"\uffff",
            ])
            .prop_map(str::to_owned)
            .boxed(),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn escapes_are_read_as_serde_json_reads_them(content in escaped(), cut in 0..20_usize) {
            let json = format!("\"{content}\"");
            let text: String = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(unescape(&content), Some(text.clone()));
            let content = inside(json.as_bytes()).unwrap();
            let prefix: String = text.chars().take(cut).collect();
            prop_assert!(strip(content, &prefix).is_some());
            let other = prefix.clone() + "\u{1}";
            prop_assert!(strip(content, &other).is_none());
            prop_assert_eq!(strip(content, &text), Some(&b""[..]));
            prop_assert!(is(content, &text));
            let written = std::str::from_utf8(content).unwrap().to_owned();
            for other in [prefix, other, written] {
                prop_assert_eq!(is(content, &other), other == text);
            }
        }
    }
}
