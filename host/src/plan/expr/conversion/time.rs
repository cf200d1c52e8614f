//! Conversions to times and dates, by the calendar of `jiff`.

use std::borrow::Cow;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::DateTimePrinter;

use super::data::Data;
use super::number::Decimal;
use super::zone::Zone;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const PRINTER: DateTimePrinter = DateTimePrinter::new();

/// The beginning of the year 1, in nanoseconds since 1970.
const YEAR_1: i128 = -62_135_596_800 * 1_000_000_000;
/// Decimal places of a second that are read.
const PLACES: usize = 9;

pub(super) fn timestamp<'t>(data: Data<'t>, zone: Option<&Zone>) -> Option<Data<'t>> {
    print(&utc_time(&data, zone)?).map(|text| Data::String(Cow::Owned(text)))
}

pub(super) fn date<'t>(data: Data<'t>, zone: Option<&Zone>) -> Option<Data<'t>> {
    let date = match &data {
        Data::String(text) if text.len() == "2019-05-15".len() => {
            match calendar_date(&mut Digits(text.as_bytes())).filter(|date| date.year() > 0) {
                Some(date) => date,
                // Ten digits are seconds.
                None => utc_time(&data, zone)?.date(),
            }
        }
        _ => utc_time(&data, zone)?.date(),
    };
    Some(Data::String(Cow::Owned(date.to_string())))
}

/// The nanoseconds since 1970 of the time that a value stands for.
pub(crate) fn nanoseconds(data: &Data<'_>, zone: Option<&Zone>) -> Option<i128> {
    Some(match exact_time(data, zone)? {
        ExactTime::Since1970(nanoseconds) => nanoseconds,
        ExactTime::Utc(time) => time.duration_since(EPOCH).as_nanos(),
    })
}

/// The timestamp of a time in nanoseconds since 1970.
pub(crate) fn from_nanoseconds(nanoseconds: i128) -> Option<String> {
    print(&to_microseconds(utc(nanoseconds)?)?)
}

fn print(time: &DateTime) -> Option<String> {
    // The printer makes room for the longest time that it knows.
    let mut text = String::with_capacity("-009999-12-31T23:59:59.999999999Z".len());
    // With a fraction only where there is one, and without zeros at its end.
    PRINTER.print_datetime(time, &mut text).ok()?;
    text.push('Z');
    Some(text)
}

/// The time that a value stands for, to the microsecond.
fn utc_time(data: &Data<'_>, zone: Option<&Zone>) -> Option<DateTime> {
    to_microseconds(match exact_time(data, zone)? {
        ExactTime::Since1970(nanoseconds) => utc(nanoseconds)?,
        ExactTime::Utc(time) => time,
    })
}

/// What graphs take. Most times are no finer.
fn to_microseconds(time: DateTime) -> Option<DateTime> {
    match time.subsec_nanosecond() % 1_000 {
        0 => Some(time),
        finer => time.with().subsec_nanosecond(time.subsec_nanosecond() - finer).build().ok(),
    }
}

/// The time so many nanoseconds after 1970, in the years from 1 to 9999.
fn utc(since_1970: i128) -> Option<DateTime> {
    let time = EPOCH.checked_add(SignedDuration::try_from_nanos_i128(since_1970)?).ok()?;
    (time.year() >= 1).then_some(time)
}

/// A time in UTC, in the years from 1 to 9999.
enum ExactTime {
    /// In nanoseconds.
    Since1970(i128),
    /// By the calendar all the way: the timestamps of `jiff` end a day early, and `9999-12-31T23:59:59Z` stands for "never" in many an
    /// event.
    Utc(DateTime),
}

/// The time that a value stands for.
fn exact_time(data: &Data<'_>, zone: Option<&Zone>) -> Option<ExactTime> {
    let number = match data {
        Data::Number(number) => Decimal::read(number)?,
        Data::String(text) => match Decimal::read(text) {
            Some(_) if text.contains(['e', 'E']) => return None,
            Some(number) => number,
            None => {
                let time = date_time(text, zone)?;
                return (time.year() >= 1).then_some(ExactTime::Utc(time));
            }
        },
        _ => return None,
    };
    epoch(&number).map(ExactTime::Since1970)
}

/// The nanoseconds that seconds, milliseconds or microseconds since 1970 are, distinguished by their digits before the point. The most that
/// these stand for is in the year 5138.
fn epoch(number: &Decimal<'_>) -> Option<i128> {
    let to_nanoseconds = match number.magnitude() {
        ..=11 => 9,
        12..=14 => 6,
        15..=17 => 3,
        _ => return None,
    };
    let (nanoseconds, _) = number.scaled(to_nanoseconds)?;
    (nanoseconds >= YEAR_1).then_some(nanoseconds)
}

/// RFC 3339, with a space in the place of the `T` as well, and with an offset that may lack its colon or its minutes. The offset
/// is required where there is no zone to read times without one in: the conversion fails, rather than guess.
fn date_time(text: &str, zone: Option<&Zone>) -> Option<DateTime> {
    let mut digits = Digits(text.as_bytes());
    let date = calendar_date(&mut digits)?;
    digits.one_of(b"Tt ")?;
    let hour = digits.two_digits()?;
    digits.one_of(b":")?;
    let minute = digits.two_digits()?;
    digits.one_of(b":")?;
    // A leap second is the second before it, as jiff has it.
    let second = match digits.two_digits()? {
        60 => 59,
        second => second,
    };
    let nanosecond = if digits.one_of(b".").is_some() { digits.fraction()? } else { 0 };
    let says_no_offset = digits.0.is_empty();
    let local = DateTime::from_parts(date, Time::new(hour, minute, second, nanosecond).ok()?);
    let offset = if says_no_offset { zone?.offset(local) } else { digits.offset()? };
    local.checked_sub(offset).ok()
}

/// `2019-05-15`, at the front of a text.
fn calendar_date(digits: &mut Digits<'_>) -> Option<Date> {
    let (century, year) = (digits.two_digits()?, digits.two_digits()?);
    digits.one_of(b"-")?;
    let month = digits.two_digits()?;
    digits.one_of(b"-")?;
    let day = digits.two_digits()?;
    Date::new(i16::from(century) * 100 + i16::from(year), month, day).ok()
}

/// Whether a text is a date in the form in which [`date`] gives it. False from the 29th on, which not every month has.
pub(super) fn is_printed_date(text: &str) -> bool {
    let Some((date, [])) = text.as_bytes().split_first_chunk() else { return false };
    is_day(date)
}

/// Whether a text is a time in the form in which [`timestamp`] gives it. Days as of [`is_printed_date`].
pub(super) fn is_printed_timestamp(text: &str) -> bool {
    let Some((date, [b'T', rest @ ..])) = text.as_bytes().split_first_chunk() else { return false };
    let Some(([h, hh, b':', m, mm, b':', s, ss], rest)) = rest.split_first_chunk() else {
        return false;
    };
    let is_fraction = match rest {
        [b'Z'] => true,
        [b'.', digits @ .., b'1'..=b'9', b'Z'] => {
            digits.len() < 6 && digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    let is_below = |digits, end| number(digits).is_some_and(|number| number < end);
    is_day(date)
        && is_below([*h, *hh], 24)
        && is_below([*m, *mm], 60)
        && is_below([*s, *ss], 60)
        && is_fraction
}

fn is_day([y, yy, yyy, yyyy, between, m, mm, behind, d, dd]: &[u8; 10]) -> bool {
    let is_year = match (number([*y, *yy]), number([*yyy, *yyyy])) {
        (Some(century), Some(year)) => century > 0 || year > 0,
        _ => false,
    };
    is_year
        && [*between, *behind] == *b"--"
        && number([*m, *mm]).is_some_and(|month| (1..=12).contains(&month))
        && number([*d, *dd]).is_some_and(|day| (1..=28).contains(&day))
}

/// The number that two digits are.
fn number(digits: [u8; 2]) -> Option<u8> {
    let [tens, ones] = digits.map(|digit| digit.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| tens * 10 + ones)
}

/// What is left of a text, read from the front.
struct Digits<'t>(&'t [u8]);

impl Digits<'_> {
    fn one_of(&mut self, wanted: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        wanted.contains(first).then(|| self.0 = rest)?;
        Some(*first)
    }

    fn digit(&mut self) -> Option<i8> {
        self.one_of(b"0123456789").map(|digit| (digit - b'0') as i8)
    }

    fn two_digits(&mut self) -> Option<i8> {
        Some(self.digit()? * 10 + self.digit()?)
    }

    /// At least one digit after the point, as nanoseconds: those finer than that are cut off.
    fn fraction(&mut self) -> Option<i32> {
        let mut nanoseconds = i32::from(self.digit()?);
        for _ in 1..PLACES {
            nanoseconds = nanoseconds * 10 + i32::from(self.digit().unwrap_or(0));
        }
        while self.digit().is_some() {}
        Some(nanoseconds)
    }

    /// `Z`, `+02:00`, `+0200` or `+02`, up to the end of the text: by how much the clock is ahead of UTC.
    fn offset(&mut self) -> Option<SignedDuration> {
        let sign = match self.one_of(b"Zz+-")? {
            b'+' => 1,
            b'-' => -1,
            _ => return self.0.is_empty().then_some(SignedDuration::ZERO),
        };
        let hours = self.two_digits().filter(|hours| *hours < 24)?;
        let minutes = if self.0.is_empty() {
            0
        } else {
            let _ = self.one_of(b":");
            self.two_digits().filter(|minutes| *minutes < 60)?
        };
        if !self.0.is_empty() {
            return None;
        }
        Some(SignedDuration::from_mins(sign * (i64::from(hours) * 60 + i64::from(minutes))))
    }
}
