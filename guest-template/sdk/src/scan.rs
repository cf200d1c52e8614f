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

/// Whether a name of the extractor's has nothing to escape. Of a literal the compiler knows: nothing of this is left then.
#[inline(always)]
pub(crate) fn is_plain_name(name: &str) -> bool {
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    let mut is = true;
    for word in words {
        is &= is_plain(u64::from_le_bytes(*word));
    }
    for byte in rest {
        is &= !matches!(byte, b'"' | b'\\' | 0..=0x1f);
    }
    is
}

fn count(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count()
}

/// Whether none of these bytes is one of them.
#[inline(always)]
fn is_plain(word: u64) -> bool {
    // Of a byte below another one, the difference borrows; the high bit of what was above 127 is no sign of that.
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | is(b'"') | is(b'\\') == 0
}

/// How deep JSON nests: 0 for what is no array or object.
pub(crate) fn levels(json: &[u8]) -> u32 {
    let (mut most, mut levels) = (0, 0_u32);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                levels += 1;
                most = most.max(levels);
            }
            b']' | b'}' => levels = levels.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use alloc::{format, vec};

    use super::{is_plain_name, levels, plain};

    #[test]
    fn levels_are_those_of_brackets_outside_of_strings() {
        for (json, expected) in [
            ("1", 0),
            ("[]", 1),
            (r#"{"a": [{}, []], "b": [[[]]]}"#, 4),
            (r#"["[[\"[[", "\\", {}]"#, 2),
        ] {
            assert_eq!(levels(json.as_bytes()), expected, "{json}");
        }
    }

    #[test]
    fn a_name_is_plain_where_nothing_in_it_is_to_be_escaped() {
        for length in 0..20 {
            let plain = "é".repeat(length);
            assert!(is_plain_name(&plain));
            for special in ["\"", "\\", "\n", "\0"] {
                assert!(!is_plain_name(&format!("{plain}{special}{plain}")));
            }
        }
    }

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
