//! Figures as people read them.

/// Nanoseconds in the unit that suits them, to three digits: `7.01 µs`.
pub(super) fn nanoseconds(value: f64) -> String {
    let (value, unit) = match value {
        it if it < 1e3 => (it, "ns"),
        it if it < 1e6 => (it / 1e3, "µs"),
        it if it < 1e9 => (it / 1e6, "ms"),
        it => (it / 1e9, "s"),
    };
    format!("{} {unit}", digits(value))
}

/// The same for an axis, whose figures are round: `20 µs`.
pub(super) fn round_nanoseconds(value: f64) -> String {
    let text = nanoseconds(value);
    let (value, unit) = text.split_once(' ').unwrap_or((&text, ""));
    format!("{} {unit}", trimmed(value))
}

/// Digits for an axis: `0.5`, `20`.
pub(super) fn round_digits(value: f64) -> String {
    trimmed(&digits(value)).to_owned()
}

/// Without zeros at the end that say nothing.
fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

/// Three digits, with those before the point never cut off: `7.01`, `70.1`, `7,012`.
pub(super) fn digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        it if it < 9.995 => format!("{value:.2}"),
        it if it < 99.95 => format!("{value:.1}"),
        _ => grouped(value),
    }
}

/// A whole number with its thousands apart: `1,048,576`.
pub(super) fn grouped(value: f64) -> String {
    let text = format!("{:.0}", value.abs());
    let mut grouped = String::from(if value < -0.5 { "-" } else { "" });
    for (index, digit) in text.chars().enumerate() {
        if index > 0 && (text.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A part of a whole: `12.3 %`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// How many times something is as much, as a change: `+12.3 %`.
pub(super) fn change(ratio: f64) -> String {
    format!("{:+.1} %", 100.0 * (ratio - 1.0))
}

/// Bytes in the unit that suits them.
pub(super) fn bytes(value: f64) -> String {
    match value {
        it if it < 1e3 => format!("{} bytes", digits(it)),
        it if it < 1e6 => format!("{} KB", digits(it / 1e3)),
        it => format!("{} MB", digits(it / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, change, digits, grouped, nanoseconds, round_digits, round_nanoseconds};

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(nanoseconds(41.26), "41.3 ns");
        assert_eq!(nanoseconds(7_012.0), "7.01 µs");
        assert_eq!(nanoseconds(4_000_000.0), "4.00 ms");
        assert_eq!(nanoseconds(2.5e9), "2.50 s");
        assert_eq!(digits(0.0), "0");
        assert_eq!((round_digits(0.5), round_digits(100.0)), ("0.5".to_owned(), "100".to_owned()));
        assert_eq!(round_nanoseconds(20_000.0), "20 µs");
        assert_eq!(grouped(1_048_576.4), "1,048,576");
        assert_eq!((grouped(-1_234.0), grouped(-0.2)), ("-1,234".to_owned(), "0".to_owned()));
        assert_eq!(change(1.123), "+12.3 %");
        assert_eq!(bytes(512.0), "512 bytes");
    }
}
