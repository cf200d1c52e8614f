//! The JSON scanner: where values end, in one pass.
//!
//! Every function takes the whole text and an offset and gives the offset after what it read, so that the state of a scan
//! is one register. The text is known to be UTF-8 when it gets here; everything else that RFC 8259 asks is checked here.

use super::Fault;

/// Why and where a scan stopped: small enough to be returned in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) fault: Fault,
    at: u32,
}

impl Stop {
    /// Offset of the byte at which it stopped. Texts longer than 4 GiB aren't scanned.
    pub(crate) fn at(self) -> usize {
        self.at as usize
    }
}

/// How deep arrays and objects may nest in an event: a bit set of this many levels is all the state that skipping needs,
/// and it is the depth at which `serde_json` stops as well.
pub const MAX_DEPTH: usize = 127;

pub(crate) type Scan<T> = Result<T, Stop>;

#[cold]
pub(crate) fn fault<T>(fault: Fault, at: usize) -> Scan<T> {
    Err(Stop { fault, at: at as u32 })
}

/// The byte at `at`, or 0 at the end: no token of JSON begins with NUL, so the end needs no case of its own.
#[inline(always)]
pub(crate) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The offset of the first of 16 bytes that isn't plain string content: a quote, a backslash or a control character.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "strings are scanned 1.2 to 1.4 times as fast")]
#[inline(always)]
fn first_special(block: &[u8; 16]) -> Option<usize> {
    // SAFETY: SSE2 is a part of x86-64, and the function works on its argument's value alone.
    unsafe { sse2::first_special(block) }
}

/// By vector instructions.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x,
        _mm_set1_epi8,
    };

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn first_special(block: &[u8; 16]) -> Option<usize> {
        let both = u128::from_le_bytes(*block);
        // One load, which needs no pointer when it is said like this.
        let bytes = _mm_set_epi64x((both >> 64) as i64, both as i64);
        let quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'"' as i8));
        let backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8));
        let control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        let special = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
        (special != 0).then_some(special.trailing_zeros() as usize)
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable::first_special;

/// On any processor.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

    /// A mask with the high bit set in the first byte of `word` that ends a run of plain string content (a quote, a backslash
    /// or a control character); bits above the lowest one mean nothing.
    #[inline(always)]
    fn special(word: u64) -> u64 {
        // 0x22 ^ 2 == 0x20, and control characters stay below 0x20: one comparison finds both.
        let quote_or_control = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
        let backslash = (word ^ (ONES * 0x5c)).wrapping_sub(ONES);
        (quote_or_control | backslash) & !word & HIGH
    }

    /// The offset of the first of 16 bytes that isn't plain string content.
    #[inline(always)]
    pub(super) fn first_special(block: &[u8; 16]) -> Option<usize> {
        let both = u128::from_le_bytes(*block);
        let (low, high) = (special(both as u64), special((both >> 64) as u64));
        let in_low = (low.trailing_zeros() / 8) as usize;
        let in_high = 8 + (high.trailing_zeros() / 8) as usize;
        (low | high != 0).then_some(if low != 0 { in_low } else { in_high })
    }
}

/// The offset of the first byte from `at` on that isn't plain string content.
#[inline(always)]
pub(super) fn plain(text: &[u8], mut at: usize) -> usize {
    let mut rest = text.get(at..).unwrap_or_default();
    while let Some((block, tail)) = rest.split_first_chunk::<16>() {
        if let Some(offset) = first_special(block) {
            return at + offset;
        }
        at += 16;
        rest = tail;
    }
    while byte(text, at) >= 0x20 && byte(text, at) != b'"' && byte(text, at) != b'\\' {
        at += 1;
    }
    at
}

/// Skips white space.
#[cold]
pub(crate) fn space(text: &[u8], mut at: usize) -> usize {
    while matches!(byte(text, at), b' ' | b'\n' | b'\r' | b'\t') {
        at += 1;
    }
    at
}

/// A string whose opening quote is at `at - 1`: the offset after its closing quote, and whether it holds escapes.
#[inline(always)]
pub(crate) fn string(text: &[u8], at: usize) -> Scan<(usize, bool)> {
    let end = plain(text, at);
    if byte(text, end) == b'"' {
        return Ok((end + 1, false));
    }
    escaped_string(text, end).map(|end| (end, true))
}

/// The rest of a string from the first byte that isn't plain.
#[cold]
fn escaped_string(text: &[u8], mut at: usize) -> Scan<usize> {
    loop {
        match byte(text, at) {
            b'"' => return Ok(at + 1),
            // The commonest escape: JSON in a string has one on each side of every key.
            b'\\' if byte(text, at + 1) == b'"' => at += 2,
            b'\\' => at = escape(text, at + 1)?,
            _ if at >= text.len() => return fault(Fault::EndInString, at),
            _ => return fault(Fault::ControlCharacter, at),
        }
        at = plain(text, at);
    }
}

/// An escape whose backslash is at `at - 1`.
fn escape(text: &[u8], at: usize) -> Scan<usize> {
    match byte(text, at) {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 1),
        b'u' => {
            let unit = hex(text, at + 1)?;
            match unit {
                0xd800..=0xdbff => {
                    if byte(text, at + 5) != b'\\' || byte(text, at + 6) != b'u' {
                        return fault(Fault::LoneSurrogate, at);
                    }
                    match hex(text, at + 7)? {
                        0xdc00..=0xdfff => Ok(at + 11),
                        _ => fault(Fault::LoneSurrogate, at),
                    }
                }
                0xdc00..=0xdfff => fault(Fault::LoneSurrogate, at),
                _ => Ok(at + 5),
            }
        }
        _ => fault(Fault::Escape, at),
    }
}

/// Four hexadecimal digits.
fn hex(text: &[u8], at: usize) -> Scan<u32> {
    let mut unit = 0;
    for offset in at..at + 4 {
        match char::from(byte(text, offset)).to_digit(16) {
            Some(digit) => unit = unit << 4 | digit,
            None => return fault(Fault::Escape, offset),
        }
    }
    Ok(unit)
}

#[inline(always)]
fn digits(text: &[u8], mut at: usize) -> usize {
    while byte(text, at).is_ascii_digit() {
        at += 1;
    }
    at
}

/// A number whose first byte is at `at`: the offset after it.
#[inline(always)]
pub(crate) fn number(text: &[u8], start: usize) -> Scan<usize> {
    let first = start + usize::from(byte(text, start) == b'-');
    let mut at = digits(text, first);
    if at == first || (byte(text, first) == b'0' && at != first + 1) {
        return fault(Fault::Number, first);
    }
    if byte(text, at) == b'.' {
        let fraction = at + 1;
        at = digits(text, fraction);
        if at == fraction {
            return fault(Fault::Number, at);
        }
    }
    let has_exponent = byte(text, at) | 0x20 == b'e';
    if has_exponent {
        let sign = at + 1;
        let exponent = sign + usize::from(matches!(byte(text, sign), b'+' | b'-'));
        at = digits(text, exponent);
        if at == exponent {
            return fault(Fault::Number, at);
        }
    }
    // Fewer than 300 digits and no exponent can't leave the range of a double.
    if (has_exponent || at - start > 300) && !in_range(text, start, at) {
        return fault(Fault::NumberRange, start);
    }
    Ok(at)
}

/// Whether a number of valid grammar is a finite double, by the parser that later readers of the value use.
#[cold]
fn in_range(text: &[u8], start: usize, end: usize) -> bool {
    text.get(start..end).is_some_and(|number| serde_json::from_slice::<f64>(number).is_ok())
}

#[inline(always)]
fn literal(text: &[u8], at: usize, word: &'static [u8]) -> Scan<usize> {
    if text.get(at..at + word.len()) == Some(word) {
        Ok(at + word.len())
    } else {
        fault(Fault::Value, at)
    }
}

/// The offset of the first byte from `at` on that isn't white space, which there mostly isn't any of.
#[inline(always)]
pub(crate) fn token(text: &[u8], at: usize) -> usize {
    if byte(text, at) > b' ' { at } else { space(text, at) }
}

/// A key and the colon after it, from where its quote is due: where its content begins and ends, whether it holds
/// escapes, and the offset after the colon.
#[inline(always)]
pub(crate) fn key(text: &[u8], at: usize) -> Scan<(usize, usize, bool, usize)> {
    let at = token(text, at);
    if byte(text, at) != b'"' {
        return fault(Fault::Key, at);
    }
    let (end, escaped) = string(text, at + 1)?;
    let colon = token(text, end);
    if byte(text, colon) != b':' {
        return fault(Fault::Colon, colon);
    }
    Ok((at + 1, end - 1, escaped, colon + 1))
}

/// What follows a member or an element: whether there is another one, and the offset after the comma or the bracket.
#[inline(always)]
pub(crate) fn next(text: &[u8], at: usize, close: u8) -> Scan<(bool, usize)> {
    let at = token(text, at);
    match byte(text, at) {
        b',' => Ok((true, at + 1)),
        found if found == close => Ok((false, at + 1)),
        _ => fault(if close == b'}' { Fault::ObjectEnd } else { Fault::ArrayEnd }, at),
    }
}

/// A scalar whose first byte is at `at`, and whether it is a string that holds escapes.
#[inline(always)]
fn scalar(text: &[u8], at: usize) -> Scan<(usize, bool)> {
    match byte(text, at) {
        b'"' => string(text, at + 1),
        b'-' | b'0'..=b'9' => number(text, at).map(|end| (end, false)),
        b't' => literal(text, at, b"true").map(|end| (end, false)),
        b'f' => literal(text, at, b"false").map(|end| (end, false)),
        b'n' => literal(text, at, b"null").map(|end| (end, false)),
        _ if at >= text.len() => fault(Fault::End, at),
        _ => no_value(text, at),
    }
}

#[cold]
fn no_value<T>(text: &[u8], at: usize) -> Scan<T> {
    let is_mark = text.get(at..).is_some_and(|rest| rest.starts_with("\u{feff}".as_bytes()));
    fault(if is_mark { Fault::ByteOrderMark } else { Fault::Value }, at)
}

/// A value of any kind whose first byte is at `at`, `depth` containers deep: the offset after it, and whether it is a
/// string that holds escapes.
#[inline(always)]
pub(crate) fn value(text: &[u8], at: usize, depth: usize) -> Scan<(usize, bool)> {
    match byte(text, at) {
        b'{' | b'[' => container(text, at, depth).map(|end| (end, false)),
        _ => scalar(text, at),
    }
}

/// An array or object whose bracket is at `at`, without recursion: one bit for each open level says which it is.
fn container(text: &[u8], mut at: usize, outside: usize) -> Scan<usize> {
    let mut objects: u128 = 0;
    let mut depth = outside;
    loop {
        at = token(text, at);
        let open = byte(text, at);
        if open == b'"' {
            at = string(text, at + 1)?.0;
        } else if open == b'{' || open == b'[' {
            depth += 1;
            if depth > MAX_DEPTH {
                return fault(Fault::Depth, at);
            }
            let is_object = open == b'{';
            objects = objects << 1 | u128::from(is_object);
            at = token(text, at + 1);
            // The closing bracket is two code points above the opening one in ASCII.
            if byte(text, at) != open + 2 {
                if is_object {
                    at = key(text, at)?.3;
                }
                continue;
            }
            at += 1;
            objects >>= 1;
            depth -= 1;
        } else {
            at = scalar(text, at)?.0;
        }
        // `at` is after a value: close what ends here, up to the next member or element.
        loop {
            if depth == outside {
                return Ok(at);
            }
            let is_object = objects & 1 == 1;
            let (more, behind) = next(text, at, if is_object { b'}' } else { b']' })?;
            at = behind;
            if more {
                if is_object {
                    at = key(text, at)?.3;
                }
                break;
            }
            objects >>= 1;
            depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_finds_the_first_end_of_plain_content() {
        for end in 0..=u8::MAX {
            let ends = end < 0x20 || end == b'"' || end == b'\\';
            for at in 0..16 {
                for plain in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                    let mut block = [plain; 16];
                    assert_eq!(first_special(&block), None, "{plain:#x}");
                    // What is behind the first one counts for nothing.
                    block[15] = b'"';
                    block[at] = end;
                    let expected = if ends { Some(at) } else { (at < 15).then_some(15) };
                    assert_eq!(first_special(&block), expected, "{end:#x} after {plain:#x}");
                    assert_eq!(
                        portable::first_special(&block),
                        expected,
                        "{end:#x} after {plain:#x}"
                    );
                }
            }
        }
    }

    #[test]
    fn depth_is_counted_from_outside() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(value(nested(MAX_DEPTH).as_bytes(), 0, 0).is_ok());
        let too_deep = value(nested(MAX_DEPTH + 1).as_bytes(), 0, 0);
        assert_eq!(too_deep, fault(Fault::Depth, MAX_DEPTH));
        assert!(value(nested(MAX_DEPTH).as_bytes(), 0, 1).is_err());
    }
}
