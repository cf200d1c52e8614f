//! Text looked through eight bytes at a time: most of what an extractor costs is looking at bytes.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// How many bytes there are before the first that isn't the same inside a string of JSON and outside: a quote, a backslash or a
/// control character.
#[inline(never)]
pub(crate) fn plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut at = 0;
    for word in words {
        if is_plain(u64::from_le_bytes(*word)) {
            at += 8;
        } else {
            return at + count(word);
        }
    }
    at + count(rest)
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count()
}

/// Whether none of these bytes is one of them.
#[inline]
fn is_plain(word: u64) -> bool {
    // Of a byte below another one, the difference borrows; the high bit of what was above 127 is no sign of that.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | is(b'"') | is(b'\\') == 0
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::plain;

    #[test]
    fn each_byte_is_found_at_each_place() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=255 {
                    let mut bytes = vec![0xff; length];
                    bytes[at] = byte;
                    let is_special = matches!(byte, b'"' | b'\\' | 0..=0x1f);
                    assert_eq!(plain(&bytes), if is_special { at } else { length }, "{bytes:?}");
                }
            }
        }
    }
}
