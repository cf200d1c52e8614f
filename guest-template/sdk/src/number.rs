//! Numbers of JSON: from text and to text.

/// Beyond this a double doesn't have every whole number.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number; with a fraction or an exponent too, as far as doubles are exact.
pub(crate) fn to_i64(text: &str) -> Option<i64> {
    text.parse().ok().or_else(|| whole(text))
}

pub(crate) fn to_u64(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| whole(text).and_then(|number| u64::try_from(number).ok()))
}

#[allow(clippy::cast_possible_truncation, reason = "it is compared with what it was")]
#[allow(clippy::float_cmp, reason = "equal is what whole numbers have to be")]
fn whole(text: &str) -> Option<i64> {
    if !text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return None;
    }
    let number = to_f64(text)?;
    let whole = number as i64;
    (number.abs() <= EXACT && whole as f64 == number).then_some(whole)
}

pub(crate) fn to_f64(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Digits of a number, right-aligned; gives where they begin.
pub(crate) fn digits(mut number: u64, out: &mut [u8; 20]) -> usize {
    let mut at = out.len();
    for place in out.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        at -= 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    at
}
