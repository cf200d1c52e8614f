//! How cases write what is too long to be written out, `{{N*TEXT}}`, and bytes that aren't text, `\xNN`.

/// The longest text that a case may stand for, in bytes.
const MAX_BYTES: usize = 256 << 20;

/// `text` with every `{{N*TEXT}}` replaced by N times TEXT. TEXT has at least one character and ends at the next `}}`;
/// braces around anything else stay as they are.
///
/// # Errors
/// What is wrong, when it would be longer than 256 MiB.
pub(super) fn expand(text: &str) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, from) = rest.split_at(start);
        expanded.push_str(before);
        let Some((count, repeated, after)) = repetition(from) else {
            expanded.push('{');
            rest = &from[1..];
            continue;
        };
        let bytes = count.checked_mul(repeated.len());
        if bytes.is_none_or(|bytes| expanded.len().saturating_add(bytes) > MAX_BYTES) {
            return Err(format!("{count} times {} bytes are too many", repeated.len()));
        }
        expanded.push_str(&repeated.repeat(count));
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// The number, the text and what follows it, where `text` begins with `{{N*TEXT}}`.
fn repetition(text: &str) -> Option<(usize, &str, &str)> {
    let (count, body) = text.strip_prefix("{{")?.split_once('*')?;
    if !count.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let first = body.chars().next()?.len_utf8();
    let end = first + body.get(first..)?.find("}}")?;
    Some((count.parse().ok()?, &body[..end], &body[end + 2..]))
}

/// The bytes of a text in which `\xNN` stands for one byte.
pub(super) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, from) = rest.split_at(at);
        bytes.extend_from_slice(before);
        let (byte, length) = escape(from).map_or((b'\\', 1), |byte| (byte, 4));
        bytes.push(byte);
        rest = &from[length..];
    }
    bytes.extend_from_slice(rest);
    bytes
}

/// The byte that the text begins with as `\xNN`.
fn escape(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\x")?.get(..2)?;
    let are_digits = digits.iter().all(u8::is_ascii_hexdigit);
    u8::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| are_digits)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out_and_other_braces_stay() {
        for (text, expanded) in [
            ("", ""),
            ("{{3*ab}}", "ababab"),
            ("x{{0*ab}}y{{2*[}}1{{2*]}}", "xy[[1]]"),
            (r#"{"a":{"b":{{2*{"c":}}1{{2*}}}}}"#, r#"{"a":{"b":{"c":{"c":1}}}}"#),
            ("{{2*}}}", "}}"),
            ("{{{2*a}}}", "{aa}"),
            ("{{x*a}} {{3}} {{2*", "{{x*a}} {{3}} {{2*"),
        ] {
            assert_eq!(expand(text).as_deref(), Ok(expanded), "{text}");
        }
    }

    #[test]
    fn what_would_be_too_long_is_refused() {
        assert!(expand("{{268435457*x}}").is_err());
        assert!(expand("{{18446744073709551615*xx}}").is_err());
        assert!(expand("{{200000000*x}}{{200000000*x}}").is_err());
    }

    #[test]
    fn bytes_are_written_as_two_digits() {
        assert_eq!(unescaped(r"a\xff\x00b\x4\xzz\u0041\x"), b"a\xff\x00b\\x4\\xzz\\u0041\\x");
        assert_eq!(unescaped("é"), "é".as_bytes());
    }
}
