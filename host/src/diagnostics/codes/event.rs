//! Codes of reading an event.

use super::{Code, CodeEntry, LimitEntry, Stage, codes};

codes! { Stage::Event;
    EVENT_NOT_JSON = "event_not_json":
        "The event is not one JSON value in UTF-8: it may be cut off, hold a lone surrogate or a number out of range, be nested too deeply, or have something after it.",
        "Correct what writes the events; only this event is rejected, the others are served.";
    EVENT_NOT_OBJECT = "event_not_object":
        "The event is JSON, but not an object.",
        "Write each event as a JSON object on a line of its own.";
    EVENT_NOT_UTF8 = "event_not_utf8":
        "The event is not UTF-8. The message gives the offset of the first wrong byte.",
        "Correct what writes the events; only this event is rejected, the others are served.";
    EVENT_TOO_LARGE = "event_too_large":
        "The event has more bytes than an event may have; it was skipped without being held in memory.",
        "Raise the limit if such events are meant, or correct what writes them.",
        limit(LimitEntry::of_event(&["event_bytes"], "bytes of event"));
}
