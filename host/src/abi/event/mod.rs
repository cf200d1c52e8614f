//! Events: validated whole, in one pass, and reduced to the inputs that an extractor declared.
//!
//! # What is accepted
//! JSON as RFC 8259 defines it, one object per event. Where the RFC leaves a choice, this is what Retort does; it is what
//! `serde_json::Value` does too, and tests hold the two together:
//! - Nesting: at most [`MAX_DEPTH`] levels.
//! - Numbers: any length, but the value must be a finite double; `1e999` is refused, `1e-999` is zero.
//! - Strings: half of a surrogate pair is refused, raw or escaped, and so is any byte that isn't UTF-8. `\u0000` and
//!   characters that no version of Unicode has assigned are accepted.
//! - A byte-order mark is refused.
//! - A key that occurs twice counts the last time, at every level.
//! - The size of an event is limited: [`DEFAULT_MAX_EVENT_BYTES`] unless the caller says otherwise.

pub(crate) mod declared;
pub(crate) mod element;
mod error;
mod project;
mod trie;
mod walk;
mod withhold;

pub use crate::json::scan::MAX_DEPTH;
pub use error::{EventError, Fault};
pub use project::{Projection, Projector};
pub use withhold::Withhold;

pub use crate::abi::slot::Slot;

use crate::json;
pub use crate::plan::{EVENT_TYPE, MAX_EVENT_TYPE_BYTES};

/// The largest event that is read unless the caller sets another limit: 16 MiB. A limit is there so that one line can't fill the
/// host's memory; [`Limits::event_bytes`](crate::sandbox::Limits::event_bytes) has the reason for the figure.
pub const DEFAULT_MAX_EVENT_BYTES: usize = 16 << 20;

/// Whether `text` is one JSON value of any kind, by the rules of this module.
///
/// # Errors
/// [`EventError`], never [`EventError::NotObject`].
pub fn validate(text: &[u8]) -> Result<(), EventError> {
    check_text(text, u32::MAX as usize)?;
    Ok(json::whole(text)?)
}

/// The size and the encoding, which are settled before the scan begins.
fn check_text(text: &[u8], limit: usize) -> Result<(), EventError> {
    if text.len() > limit {
        return Err(EventError::TooLarge { used: text.len(), allowed: limit });
    }
    match simdutf8::basic::from_utf8(text) {
        Ok(_) => Ok(()),
        Err(_) => {
            let at = std::str::from_utf8(text).err().map_or(0, |error| error.valid_up_to());
            Err(EventError::NotUtf8 { at })
        }
    }
}
