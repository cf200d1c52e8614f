//! The zone in which times are read that don't say theirs.

use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use serde::{Serialize, Serializer};

use crate::diagnostics::nearest::nearest;

/// The zones that this program was built with, never those of the machine: the same event gives the same bytes everywhere.
static BUNDLED: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A zone: a name of the IANA database, `UTC`, or a fixed offset. Two are equal when they are written alike.
#[derive(Clone, Debug)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// The zone of a name, as `Europe/Berlin`, or of an offset, as `+02:00`; `None` where there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let zone = match fixed(name) {
            Some(offset) => TimeZone::fixed(offset),
            // The database finds names in any case.
            None => BUNDLED.get(name).ok().filter(|zone| zone.iana_name() == Some(name))?,
        };
        Some(Self { name: name.to_owned(), zone })
    }

    /// The zone that is meant by a name that there isn't: in other letter case, or one that is much like it.
    pub(crate) fn meant(name: &str) -> Option<String> {
        let lower: Vec<String> =
            BUNDLED.available().map(|name| name.as_str().to_ascii_lowercase()).collect();
        let spelled = |name: &str| BUNDLED.get(name).ok()?.iana_name().map(str::to_owned);
        spelled(name).or_else(|| spelled(nearest(name, lower.iter().map(String::as_str))?))
    }

    /// As it is written.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// By how much a clock that shows this is ahead of UTC. Of two offsets around a change, that of before: a time that the
    /// clock shows twice is the first one, and one that it skips is as long after the change as the clock says.
    pub(super) fn offset(&self, local: DateTime) -> SignedDuration {
        let offset = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        SignedDuration::from_secs(i64::from(offset.seconds()))
    }
}

/// `UTC`, or an offset as RFC 3339 has it.
fn fixed(name: &str) -> Option<Offset> {
    if name == "UTC" {
        return Some(Offset::UTC);
    }
    let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = name.as_bytes() else { return None };
    let number = |tens: &u8, ones: &u8| {
        let digit = |byte: &u8| byte.is_ascii_digit().then(|| i32::from(byte - b'0'));
        Some(digit(tens)? * 10 + digit(ones)?)
    };
    let hours = number(h1, h2).filter(|hours| *hours < 24)?;
    let minutes = number(m1, m2).filter(|minutes| *minutes < 60)?;
    let seconds = (hours * 60 + minutes) * 60;
    Offset::from_seconds(if *sign == b'-' { -seconds } else { seconds }).ok()
}

impl Serialize for Zone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name)
    }
}

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Zone {}

impl Hash for Zone {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::Zone;

    #[test]
    fn zones_are_known_by_their_names_alone() {
        for name in ["Europe/Berlin", "America/New_York", "UTC", "+02:00", "-23:59", "Etc/GMT+3"] {
            assert_eq!(Zone::named(name).as_ref().map(Zone::name), Some(name));
        }
        for name in ["", "europe/berlin", "Utc", "Z", "+2", "+0200", "+24:00", "+01:60", "Mars/X"] {
            assert_eq!(Zone::named(name), None, "{name}");
        }
        for (name, meant) in [
            ("europe/berlin", Some("Europe/Berlin")),
            ("Europe/Berln", Some("Europe/Berlin")),
            ("here", None),
        ] {
            assert_eq!(Zone::meant(name).as_deref(), meant);
        }
    }
}
