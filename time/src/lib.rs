//! Dates and timestamps as graph specs have them, of which a graph's check asks whether they are some, and its columns which ones.
//!
//! They are the full-date and the date-time of RFC 3339 with a space in place of the `T` where one likes, at most six digits of a
//! fraction, and in UTC where no offset is said. Years are 1 to 9999, and nothing is written in lower case.
//!
//! ```
//! let at = retort_time::timestamp(b"1970-01-01T02:00:01.5+02:00").map(|at| at.microseconds());
//! assert_eq!(at, Some(1_500_000));
//! assert_eq!(retort_time::date(b"1970-01-02").map(|date| date.days()), Some(1));
//! assert_eq!(retort_time::date(b"2023-02-29"), None);
//! ```

use jiff::civil;

/// Seconds of a day.
const DAY: i64 = 86_400;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date(civil::Date);

impl Date {
    /// Days since 1970.
    #[must_use]
    pub fn days(self) -> i64 {
        self.0.duration_since(civil::Date::constant(1970, 1, 1)).as_secs() / DAY
    }
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp {
    date: Date,
    /// Since midnight, by the clock that it was read from.
    second: i64,
    microsecond: i64,
    /// Seconds that this clock is ahead of UTC.
    offset: i64,
}

impl Timestamp {
    /// Microseconds since 1970 in UTC.
    #[must_use]
    pub fn microseconds(self) -> i64 {
        (self.date.days() * DAY + self.second - self.offset) * 1_000_000 + self.microsecond
    }
}

/// `YYYY-MM-DD`.
#[must_use]
pub fn date(text: &[u8]) -> Option<Date> {
    let mut rest = text;
    read_date(&mut rest).filter(|_| rest.is_empty())
}

/// `YYYY-MM-DDTHH:MM:SS[.ffffff][Z|+HH:MM]`.
#[must_use]
pub fn timestamp(text: &[u8]) -> Option<Timestamp> {
    let mut rest = text;
    read_timestamp(&mut rest).filter(|_| rest.is_empty())
}

fn read_timestamp(rest: &mut &[u8]) -> Option<Timestamp> {
    let date = read_date(rest)?;
    byte(rest, b'T').or_else(|| byte(rest, b' '))?;
    let hour = digits(rest, 2)?;
    byte(rest, b':')?;
    let minute = digits(rest, 2)?;
    byte(rest, b':')?;
    let second = digits(rest, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let second = seconds(hour, minute) + i64::from(second);
    let microsecond = if byte(rest, b'.').is_some() { fraction(rest)? } else { 0 };
    let offset = if byte(rest, b'Z').is_some() { 0 } else { offset(rest)? };
    Some(Timestamp { date, second, microsecond, offset })
}

fn read_date(rest: &mut &[u8]) -> Option<Date> {
    let year = digits(rest, 4).filter(|&year| year > 0)?;
    byte(rest, b'-')?;
    let month = digits(rest, 2)?;
    byte(rest, b'-')?;
    let day = digits(rest, 2)?;
    civil::Date::new(year, small(month)?, small(day)?).ok().map(Date)
}

/// One to six digits of a second.
fn fraction(rest: &mut &[u8]) -> Option<i64> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=6).contains(&count) {
        return None;
    }
    let (taken, tail) = rest.split_at_checked(count)?;
    *rest = tail;
    let padded = taken.iter().chain(b"000000").take(6);
    Some(padded.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// `+HH:MM`, or nothing.
fn offset(rest: &mut &[u8]) -> Option<i64> {
    let plus = byte(rest, b'+').map(|()| 1);
    let Some(sign) = plus.or_else(|| byte(rest, b'-').map(|()| -1)) else { return Some(0) };
    let hour = digits(rest, 2)?;
    byte(rest, b':')?;
    let minute = digits(rest, 2)?;
    (hour <= 23 && minute <= 59).then(|| sign * seconds(hour, minute))
}

fn seconds(hour: i16, minute: i16) -> i64 {
    i64::from(hour) * 3_600 + i64::from(minute) * 60
}

fn byte(rest: &mut &[u8], wanted: u8) -> Option<()> {
    let (&first, tail) = rest.split_first()?;
    (first == wanted).then(|| *rest = tail)
}

/// Exactly `count` ASCII digits, at most four.
fn digits(rest: &mut &[u8], count: usize) -> Option<i16> {
    let (taken, tail) = rest.split_at_checked(count)?;
    let value = taken.iter().try_fold(0_i16, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i16::from(byte - b'0'))
    })?;
    *rest = tail;
    Some(value)
}

fn small(value: i16) -> Option<i8> {
    i8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leap_days_follow_the_calendar() {
        for (text, leap) in [("2024-02-29", true), ("1900-02-29", false), ("2000-02-29", true)] {
            assert_eq!(date(text.as_bytes()).is_some(), leap, "{text}");
        }
    }

    #[test]
    fn a_sign_after_a_sign_is_no_offset() {
        for text in ["+-01:00", "-+01:00", "Z+01:00", "+24:00", "+01:60", "+1:00", "z", " Z"] {
            assert_eq!(timestamp(format!("2024-01-01T00:00:00{text}").as_bytes()), None, "{text}");
        }
    }
}
