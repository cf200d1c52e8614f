//! The type of an event, which says who serves it.

use std::borrow::Cow;

use memchr::memmem::Finder;

use crate::abi::block::SlotKind;
use crate::abi::event::{EVENT_TYPE, Projection, Projector};
use crate::abi::section::Input;
use crate::json::{scan, string};
use crate::sandbox::RunError;

/// What the event's type seems to be, as the text of JSON: the first text in it that looks like one. Only a reader of all of the event
/// knows.
#[derive(Debug)]
pub(super) struct TypeGuess {
    finder: Finder<'static>,
}

impl Default for TypeGuess {
    fn default() -> Self {
        Self { finder: Finder::new(b"\"event_type\"") }
    }
}

impl TypeGuess {
    pub(super) fn of<'e>(&self, event: &'e [u8]) -> Option<&'e [u8]> {
        let key = self.finder.find(event)?;
        let colon = scan::space(event, key + self.finder.needle().len());
        let start = scan::space(event, colon + 1);
        if scan::byte(event, colon) != b':' || scan::byte(event, start) != b'"' {
            return None;
        }
        // Other escapes of the same type would match a shorter prefix: they are resolved first.
        let (end, escaped) = scan::string(event, start + 1).ok()?;
        if escaped { None } else { event.get(start..end) }
    }
}

/// Reads the type of events and nothing else of them.
#[derive(Debug)]
pub(super) struct TypeReader {
    projector: Projector,
    projection: Projection,
}

impl TypeReader {
    /// One of events of at most so many bytes.
    pub(super) fn new(max_event_bytes: usize) -> Self {
        let event_type = Input::json(&[EVENT_TYPE.to_owned()]);
        Self {
            projector: Projector::new(&[event_type]).with_max_event_bytes(max_event_bytes),
            projection: Projection::default(),
        }
    }

    /// The event's type beyond doubt, as the text of JSON without needless escapes, if it has one. Validates the event.
    pub(super) fn read<'e>(&mut self, event: &'e [u8]) -> Result<Option<Cow<'e, [u8]>>, RunError> {
        self.projector.project(event, &mut self.projection)?;
        let slot = self.projector.slot(&self.projection, 0);
        if slot.kind != SlotKind::String {
            return Ok(None);
        }
        let text = event.get(slot.start as usize..slot.end as usize).unwrap_or_default();
        let mut canonical = None;
        if slot.escaped {
            let content = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            canonical = string::canonical(content);
        }
        Ok(Some(canonical.map_or(Cow::Borrowed(text), Cow::from)))
    }
}

/// A type that is given as the text of JSON, which a reader of events has accepted as a string.
pub(super) fn type_of(text: &[u8]) -> String {
    serde_json::from_slice(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_guess_may_be_wrong_and_a_reading_is_not() {
        let nested = br#"{"a": {"event_type": "inner"}, "event_type": "out\u0065r"}"#;
        assert_eq!(TypeGuess::default().of(nested), Some(&b"\"inner\""[..]));
        let mut reader = TypeReader::new(1_000);
        assert_eq!(reader.read(nested).unwrap().as_deref(), Some(&b"\"outer\""[..]));
        assert_eq!(reader.read(br#"{"event_type": 7}"#).unwrap(), None);
        assert!(reader.read(b"{").is_err());
        assert_eq!(type_of(b"\"a\\\"b\""), "a\"b");
    }
}
