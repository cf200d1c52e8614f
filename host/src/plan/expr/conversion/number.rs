//! Conversions to numbers and booleans. No number passes through a double: digits decide.

use std::borrow::Cow;

use super::data::Data;

/// So many digits fit into 64 bits without a sign.
pub(in crate::plan::expr) const WORD_DIGITS: usize = 19;

/// So many digits fit into 128 bits with a sign.
const MAX_DIGITS: usize = 38;

/// A number in decimal notation, exactly: its digits and where the point is.
pub(super) struct Decimal<'t> {
    negative: bool,
    whole: &'t [u8],
    fraction: &'t [u8],
    /// How many zeros there are before the first other digit.
    leading: usize,
    /// How many digits come before the point, from the first one that isn't zero on; negative where zeros follow the
    /// point. Any value for zero.
    magnitude: i64,
}

impl<'t> Decimal<'t> {
    /// Reads what has the form `-?digits(.digits)?([eE][+-]?digits)?`. Whole numbers may begin with zeros.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (whole, rest) = digits(rest)?;
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => digits(rest)?,
            rest => (&[][..], rest),
        };
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', rest @ ..] => power(rest)?,
            _ => return None,
        };
        let leading = whole.iter().chain(fraction).take_while(|digit| **digit == b'0').count();
        let magnitude = (whole.len() as i64 - leading as i64).saturating_add(exponent);
        Some(Self { negative, whole, fraction, leading, magnitude })
    }

    fn is_zero(&self) -> bool {
        self.leading == self.whole.len() + self.fraction.len()
    }

    /// How many digits come before the point, leading zeros aside; not more than 0 where the absolute value is below 1.
    pub(super) fn magnitude(&self) -> i64 {
        if self.is_zero() { 0 } else { self.magnitude }
    }

    /// The number times ten to the power of `places`, and whether that is an integer: digits after its point are cut
    /// off. None where it has more than [`MAX_DIGITS`].
    pub(super) fn scaled(&self, places: i64) -> Option<(i128, bool)> {
        if self.is_zero() {
            return Some((0, true));
        }
        let wanted = self.magnitude.saturating_add(places).max(0);
        let wanted = usize::try_from(wanted).ok().filter(|wanted| *wanted <= MAX_DIGITS)?;
        // From the first digit on that isn't zero.
        let whole = self.whole.get(self.leading..).unwrap_or_default();
        let fraction = self.leading.saturating_sub(self.whole.len());
        let fraction = self.fraction.get(fraction..).unwrap_or_default();
        let (whole, whole_cut) = whole.split_at(wanted.min(whole.len()));
        let (fraction, fraction_cut) =
            fraction.split_at((wanted - whole.len()).min(fraction.len()));
        let value = followed_by(followed_by(0, whole), fraction);
        // No more digits than that altogether.
        let value = value * power_of_ten(wanted - whole.len() - fraction.len());
        let is_integer = whole_cut.iter().chain(fraction_cut).all(|digit| *digit == b'0')
            && self.magnitude.saturating_add(places) >= 0;
        Some((if self.negative { -value } else { value }, is_integer))
    }

    /// The integer that the number is, where it is one of 64 bits.
    fn to_int64(&self) -> Option<i64> {
        let (value, is_integer) = self.scaled(0)?;
        if is_integer { i64::try_from(value).ok() } else { None }
    }
}

fn is_digits(text: &str) -> bool {
    digits(text.as_bytes()).is_some_and(|(_, rest)| rest.is_empty())
}

/// The digits at the front, at least one, and what is behind them.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    text.split_at_checked(count).filter(|_| count > 0)
}

/// An exponent. One beyond 64 bits is as good as the largest: no text has that many digits.
fn power(text: &[u8]) -> Option<i64> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let (digits, []) = digits(rest)? else { return None };
    let add =
        |power: i64, digit: &u8| power.saturating_mul(10).saturating_add((digit - b'0').into());
    // Far from the ends of the range, so that sums with lengths of texts can't leave it unnoticed.
    let power = digits.iter().fold(0, add).min(i64::MAX / 4);
    Some(if negative { -power } else { power })
}

/// Ten to a power that 127 bits hold.
fn power_of_ten(power: usize) -> i128 {
    static POWERS: [i128; MAX_DIGITS + 1] = {
        let mut powers = [1; MAX_DIGITS + 1];
        let mut power = 1;
        while power <= MAX_DIGITS {
            powers[power] = powers[power - 1] * 10;
            power += 1;
        }
        powers
    };
    // Nobody asks for more.
    POWERS.get(power).copied().unwrap_or(1)
}

/// A number with digits behind its own, of which there are no more than [`MAX_DIGITS`] altogether.
fn followed_by(value: i128, digits: &[u8]) -> i128 {
    digits.chunks(WORD_DIGITS).fold(value, |value, digits| {
        let word = digits.iter().fold(0_u64, |word, digit| word * 10 + u64::from(digit - b'0'));
        // Most numbers have fewer digits than fill 64 bits.
        let before = if value == 0 { 0 } else { value * power_of_ten(digits.len()) };
        before + i128::from(word)
    })
}

/// Whether a text is an integer of 64 bits, in the digits that it is printed in; not of the least one.
pub(in crate::plan::expr) fn is_printed_int64(text: &str) -> bool {
    const LARGEST: &[u8] = b"9223372036854775807";
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    match digits {
        [b'0'] => digits.len() == text.len(),
        [b'1'..=b'9', rest @ ..] => {
            digits.len() <= LARGEST.len()
                && rest.iter().all(u8::is_ascii_digit)
                && (digits.len() < LARGEST.len() || digits <= LARGEST)
        }
        _ => false,
    }
}

pub(super) fn to_int64(data: Data<'_>) -> Option<Data<'_>> {
    let text = match data {
        Data::Number(text) | Data::String(text) if is_printed_int64(&text) => {
            return Some(Data::Number(text));
        }
        Data::Number(number) => number,
        // `parse` would take a plus sign.
        Data::String(text) if is_digits(text.strip_prefix('-').unwrap_or(&text)) => text,
        _ => return None,
    };
    let value = Decimal::read(&text)?.to_int64()?;
    Some(Data::Number(Cow::Owned(value.to_string())))
}

pub(super) fn to_double(data: Data<'_>) -> Option<Data<'_>> {
    match data {
        Data::Number(number) => Some(Data::Number(number)),
        Data::String(text) if is_number(&text) => Some(Data::Number(text)),
        _ => None,
    }
}

/// Whether a text is a number of JSON and nothing else, and finite as a double.
fn is_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|first| *first == b'-' || first.is_ascii_digit())
        && bytes.last().is_some_and(u8::is_ascii_digit)
        && crate::json::is_json(bytes)
}

pub(super) fn to_boolean(data: Data<'_>) -> Option<Data<'_>> {
    let value = match data {
        Data::Boolean(value) => value,
        Data::String(text) if text.eq_ignore_ascii_case("true") => true,
        Data::String(text) if text.eq_ignore_ascii_case("false") => false,
        Data::Number(number) => match Decimal::read(&number)?.to_int64()? {
            0 => false,
            1 => true,
            _ => return None,
        },
        _ => return None,
    };
    Some(Data::Boolean(value))
}
