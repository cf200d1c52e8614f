//! Numbers: decimals, exactly; doubles where no decimal of 28 digits holds them.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use rust_decimal::Decimal;

use super::tree::Operation;
use crate::plan::expr::conversion::WORD_DIGITS;

/// A number. What a decimal holds is one, so that equal numbers are equal as they stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// At most 28 digits, of which at most 28 are behind the point.
    Decimal(Decimal),
    /// Finite.
    Double(f64),
}

/// The most digits behind a point.
const MAX_SCALE: i64 = 28;
/// A rounded decimal has at least 16 digits from here on, more than a double.
const PRECISE: Decimal = Decimal::from_parts(1, 0, 0, false, 12);

impl Number {
    pub(crate) const ZERO: Self = Self::Decimal(Decimal::ZERO);

    /// Reads a number of JSON; none where it isn't one or is beyond the doubles.
    pub(crate) fn read(text: &str) -> Option<Self> {
        short(text)
            .or_else(|| decimal(text))
            .map(Self::Decimal)
            .or_else(|| Self::double(text.parse().ok()?))
    }

    /// A double, or the decimal that has its digits.
    fn double(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let digits = format!("{value:e}");
        Some(decimal(&digits).map_or(Self::Double(value), Self::Decimal))
    }

    fn to_double(self) -> f64 {
        match self {
            // By its digits, which rounds once.
            Self::Decimal(decimal) => decimal.to_string().parse().unwrap_or_default(),
            Self::Double(double) => double,
        }
    }

    /// The integer of 64 bits that it is.
    pub(crate) fn to_integer(self) -> Option<i64> {
        match self {
            Self::Decimal(decimal) if decimal.is_integer() => i64::try_from(decimal).ok(),
            _ => None,
        }
    }

    /// The integer that it is, where a decimal holds it.
    pub(crate) fn to_wide_integer(self) -> Option<i128> {
        match self {
            Self::Decimal(decimal) if decimal.is_integer() => Some(decimal.trunc().mantissa()),
            _ => None,
        }
    }

    /// An integer of which so many digits are behind the point; none that a decimal doesn't hold.
    pub(crate) fn with_scale(value: i128, scale: u32) -> Option<Self> {
        let decimal = match i64::try_from(value) {
            Ok(value) => {
                let (value, scale) = without_zeros(value, scale);
                Decimal::try_new(value, scale)
            }
            Err(_) => Decimal::try_from_i128_with_scale(value, scale),
        };
        decimal.ok().map(Self::Decimal)
    }

    fn is_negative(self) -> bool {
        match self {
            Self::Decimal(decimal) => decimal.is_sign_negative() && !decimal.is_zero(),
            Self::Double(double) => double < 0.0,
        }
    }

    /// Its JSON: an integer in digits, a fraction without zeros at its end.
    pub(crate) fn to_json(self) -> String {
        match self {
            Self::Decimal(decimal) => match i64::try_from(decimal.mantissa()) {
                Ok(value) => printed(value, decimal.scale()),
                Err(_) => decimal.normalize().to_string(),
            },
            Self::Double(double) => serde_json::Number::from_f64(double)
                .map_or_else(|| "0".to_owned(), |number| number.to_string()),
        }
    }

    /// The result of an operation; none for a division by zero, and beyond the doubles.
    pub(crate) fn apply(self, operation: Operation, other: Self) -> Option<Self> {
        if let (Self::Decimal(left), Self::Decimal(right)) = (self, other)
            && let Some(result) =
                on_words(operation, left, right).or_else(|| on_decimals(operation, left, right))
        {
            return Some(Self::Decimal(result));
        }
        let (left, right) = (self.to_double(), other.to_double());
        let divides =
            matches!(operation, Operation::Divide | Operation::Modulo | Operation::FloorDivide);
        if divides && right == 0.0 {
            return None;
        }
        Self::double(match operation {
            Operation::Add => left + right,
            Operation::Subtract => left - right,
            Operation::Multiply => left * right,
            Operation::Divide => left / right,
            Operation::FloorDivide => (left / right).floor(),
            Operation::Modulo => {
                let rest = left % right;
                if rest != 0.0 && (rest < 0.0) != (right < 0.0) { rest + right } else { rest }
            }
        })
    }

    pub(crate) fn negated(self) -> Self {
        match self {
            Self::Decimal(decimal) => Self::Decimal(-decimal),
            Self::Double(double) => Self::Double(-double),
        }
    }

    pub(crate) fn abs(self) -> Self {
        if self.is_negative() { self.negated() } else { self }
    }

    pub(crate) fn floor(self) -> Self {
        match self {
            Self::Decimal(decimal) => Self::Decimal(decimal.floor()),
            Self::Double(double) => Self::double(double.floor()).unwrap_or(self),
        }
    }

    pub(crate) fn ceil(self) -> Self {
        match self {
            Self::Decimal(decimal) => Self::Decimal(decimal.ceil()),
            Self::Double(double) => Self::double(double.ceil()).unwrap_or(self),
        }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Decimal(value.into())
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::Decimal((value as u64).into())
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    /// In the order of the doubles that they are next to, and of decimals next to the same one in their own: total, as sorting
    /// asks for.
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Decimal(one), Self::Decimal(other)) => one.cmp(other),
            _ => {
                let by_double = self.to_double().total_cmp(&other.to_double());
                by_double.then_with(|| match (self, other) {
                    (Self::Double(_), Self::Decimal(_)) => Ordering::Less,
                    (Self::Decimal(_), Self::Double(_)) => Ordering::Greater,
                    _ => Ordering::Equal,
                })
            }
        }
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Decimal(decimal) => decimal.hash(state),
            Self::Double(double) => double.to_bits().hash(state),
        }
    }
}

/// The decimal that a number of JSON is, where it is written without an exponent and its digits fit into 64 bits, as most do.
fn short(text: &str) -> Option<Decimal> {
    let (negative, digits) = match text.as_bytes() {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let mut point = None;
    let mut value = 0_u64;
    for (at, byte) in digits.iter().take(WORD_DIGITS + 1).enumerate() {
        match byte {
            b'0'..=b'9' => value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    if digits.len() > WORD_DIGITS + usize::from(point.is_some()) {
        return None;
    }
    let value = i64::try_from(value).ok()?;
    // Far fewer than 32 bits hold.
    let scale = point.map_or(0, |point| (digits.len() - point - 1) as u32);
    let (value, scale) = without_zeros(value, scale);
    let is_held = digits.first().is_some_and(u8::is_ascii_digit);
    is_held.then(|| Decimal::new(if negative { -value } else { value }, scale))
}

/// The same number without zeros at the end of what is behind the point.
fn without_zeros(mut value: i64, mut scale: u32) -> (i64, u32) {
    while scale > 0 && value % 10 == 0 {
        value /= 10;
        scale -= 1;
    }
    (value, scale)
}

/// The digits of an integer of which so many are behind the point, without zeros at the end of those.
fn printed(value: i64, scale: u32) -> String {
    let (value, scale) = without_zeros(value, scale);
    let mut buffer = itoa::Buffer::new();
    if scale == 0 {
        return buffer.format(value).to_owned();
    }
    let digits = buffer.format(value.unsigned_abs());
    let scale = scale as usize;
    let mut text = String::with_capacity(scale.max(digits.len()) + "-0.".len());
    if value < 0 {
        text.push('-');
    }
    match digits.split_at_checked(digits.len().saturating_sub(scale)) {
        Some((whole, fraction)) if !whole.is_empty() => {
            text.push_str(whole);
            text.push('.');
            text.push_str(fraction);
        }
        _ => {
            text.push_str("0.");
            text.extend(std::iter::repeat_n('0', scale - digits.len()));
            text.push_str(digits);
        }
    }
    text
}

/// The decimal that a number of JSON is, if there is one.
fn decimal(text: &str) -> Option<Decimal> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut digits: i128 = 0;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = char::from(digit).to_digit(10)?;
        digits = digits.checked_mul(10)?.checked_add(i128::from(digit))?;
    }
    if digits == 0 {
        return Some(Decimal::ZERO);
    }
    let mut scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    while scale > MAX_SCALE && digits % 10 == 0 {
        digits /= 10;
        scale -= 1;
    }
    if scale < 0 {
        let power = 10_i128.checked_pow(u32::try_from(-scale).ok()?)?;
        digits = digits.checked_mul(power)?;
        scale = 0;
    }
    let scale = u32::try_from(scale).ok()?;
    Decimal::try_from_i128_with_scale(if negative { -digits } else { digits }, scale).ok()
}

/// The sum, difference or product where the digits of both sides and its own fit into 64 bits, as most do; divisions are left to decimals.
fn on_words(operation: Operation, left: Decimal, right: Decimal) -> Option<Decimal> {
    let word = |decimal: Decimal| i64::try_from(decimal.mantissa()).ok();
    let (one, other) = (word(left)?, word(right)?);
    let (scale, other_scale) = (left.scale(), right.scale());
    let (result, scale) = match operation {
        Operation::Multiply => (one.checked_mul(other)?, scale + other_scale),
        Operation::Add | Operation::Subtract => {
            let most = scale.max(other_scale);
            let scaled = |word: i64, scale| word.checked_mul(10_i64.checked_pow(most - scale)?);
            let (one, other) = (scaled(one, scale)?, scaled(other, other_scale)?);
            let result = match operation {
                Operation::Add => one.checked_add(other),
                _ => one.checked_sub(other),
            };
            (result?, most)
        }
        Operation::Divide | Operation::FloorDivide | Operation::Modulo => return None,
    };
    Decimal::try_new(result, scale).ok()
}

/// The result where a decimal holds it, with as many digits as it has, or more than a double would have.
fn on_decimals(operation: Operation, left: Decimal, right: Decimal) -> Option<Decimal> {
    match operation {
        Operation::Add => left.checked_add(right),
        Operation::Subtract => left.checked_sub(right),
        Operation::Multiply => {
            let (left, right) = (left.normalize(), right.normalize());
            let is_exact = i64::from(left.scale() + right.scale()) <= MAX_SCALE;
            left.checked_mul(right).filter(|result| is_exact || result.abs() >= PRECISE)
        }
        Operation::Divide => {
            let result = left.checked_div(right)?;
            let is_exact = result.checked_mul(right) == Some(left);
            (is_exact || result.abs() >= PRECISE).then_some(result)
        }
        Operation::Modulo => modulo(left, right),
        Operation::FloorDivide => {
            let rest = modulo(left, right)?;
            Some(left.checked_sub(rest)?.checked_div(right)?.round())
        }
    }
}

/// What is left of a division, with the sign of the divisor.
fn modulo(left: Decimal, right: Decimal) -> Option<Decimal> {
    let rest = left.checked_rem(right)?;
    if rest.is_zero() || rest.is_sign_negative() == right.is_sign_negative() {
        return Some(rest);
    }
    rest.checked_add(right)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Number {
        Number::read(text).unwrap()
    }

    #[test]
    fn numbers_are_exact_where_a_decimal_holds_them() {
        for (left, operation, right, expected) in [
            ("0.1", Operation::Add, "0.2", "0.3"),
            ("1557933657000000001", Operation::Subtract, "1557933657000000000", "1"),
            ("18446744073709551615", Operation::Add, "1", "18446744073709551616"),
            ("1e3", Operation::Multiply, "1.50", "1500"),
            ("2", Operation::Divide, "3", "0.6666666666666666666666666667"),
            ("8", Operation::Divide, "2", "4"),
            ("-7", Operation::Modulo, "3", "2"),
            ("7", Operation::Modulo, "-3", "-2"),
            ("7", Operation::FloorDivide, "-2", "-4"),
            ("1e300", Operation::Add, "1", "1e+300"),
            ("1e300", Operation::Divide, "1e300", "1"),
            ("1e-20", Operation::Multiply, "1e-20", "1e-40"),
            ("1", Operation::Divide, "1e20", "0.00000000000000000001"),
        ] {
            let result = read(left).apply(operation, read(right)).unwrap();
            assert_eq!(result.to_json(), expected, "{left} {operation:?} {right}");
        }
        for operation in [Operation::Divide, Operation::Modulo, Operation::FloorDivide] {
            assert_eq!(read("1").apply(operation, read("0.0")), None);
        }
        assert_eq!(read("1e300").apply(Operation::Multiply, read("1e300")), None);
    }

    /// Decimals of up to 28 digits, most of them short.
    fn decimals() -> impl Strategy<Value = Decimal> {
        let digits = prop_oneof![
            any::<i16>().prop_map(i128::from),
            any::<i64>().prop_map(i128::from),
            prop::sample::select(vec![
                0,
                i64::MIN.into(),
                i64::MAX.into(),
                i128::from(i64::MIN) - 1
            ]),
            -(10_i128.pow(28))..10_i128.pow(28),
        ];
        let scale = prop_oneof![0_u32..4, 0_u32..=28];
        (digits, scale)
            .prop_map(|(digits, scale)| Decimal::try_from_i128_with_scale(digits, scale).unwrap())
    }

    proptest! {
        #[test]
        fn what_fits_into_words_is_what_decimals_give(one in decimals(), other in decimals()) {
            for operation in [Operation::Add, Operation::Subtract, Operation::Multiply] {
                let result = on_words(operation, one, other);
                if result.is_some() {
                    prop_assert_eq!(result, on_decimals(operation, one, other));
                }
                let is_short = |it: Decimal| i16::try_from(it.mantissa()).is_ok() && it.scale() < 4;
                prop_assert!(result.is_some() || !is_short(one) || !is_short(other));
            }
        }

        #[test]
        fn decimals_are_printed_without_zeros_at_their_end(decimal in decimals()) {
            let expected = if decimal.is_zero() { Decimal::ZERO } else { decimal.normalize() };
            prop_assert_eq!(Number::Decimal(decimal).to_json(), expected.to_string());
            let negated = if decimal.is_zero() { expected } else { -expected };
            prop_assert_eq!(Number::Decimal(-decimal).to_json(), negated.to_string());
            let scaled = Number::with_scale(decimal.mantissa(), decimal.scale());
            prop_assert_eq!(scaled, Some(Number::Decimal(decimal)));
        }
    }

    #[test]
    fn equal_numbers_are_equal_however_they_are_written() {
        for (one, other) in [("1", "1.0"), ("1e2", "100"), ("0", "-0.0"), ("1e300", "10e299")] {
            assert_eq!(read(one), read(other));
            assert_eq!(read(one).cmp(&read(other)), Ordering::Equal);
        }
        assert!(read("9007199254740993") > read("9007199254740992"));
        assert!(read("1e300") > read("79228162514264337593543950335"));
        assert!(read("-1e300") < read("0") && read("1e-300") > read("0"));
    }
}
