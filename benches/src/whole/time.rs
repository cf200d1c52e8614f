//! Times, by jiff.

use jiff::Timestamp;

/// One with its offset.
pub(crate) fn written(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

/// Seconds, milliseconds or microseconds, by their size.
pub(crate) fn since_epoch(number: f64) -> Option<Timestamp> {
    let microseconds = match number.abs() {
        size if size < 1e11 => number * 1e6,
        size if size < 1e14 => number * 1e3,
        size if size < 1e17 => number,
        _ => return None,
    };
    Timestamp::from_microsecond(microseconds as i64).ok()
}
