//! Bundles at work: streams of events, each routed to the extractor of its type.
//!
//! A [`Registry`] says which bundle serves which event type; it is shared between threads, and loads all bundles when it is opened, or
//! each with its first event. A [`Dispatcher`] is one thread's runners for it, and [`Stream`] takes dispatchers, one for each of its
//! threads, through lines of JSON: results to one writer, rejected events to another, and a [`Summary`] of all. One bad event never
//! stops a stream, and memory does not grow with the number of events.
//!
//! [`run_with_fallback`] holds an event's result to a graph spec, drops what is wrong with it, and asks another extractor where
//! nothing is left.
//!
//! It knows bundles, graphs and the sandbox, and nothing of how plans are written.

mod crew;
mod dispatcher;
mod error;
mod fallback;
mod outputs;
mod registry;
mod serve;
mod served;
mod source;
mod stream;
mod summary;

pub use crate::json::{Line, LinePosition, Lines};
pub use dispatcher::{Dispatched, Dispatcher, Served};
pub use error::StreamError;
pub use fallback::{Claims, Decided, Decision, Extract, ExtractError, run_with_fallback};
pub use outputs::Progress;
pub use registry::{GraphsError, Registry};
pub use source::{StreamInput, StreamPosition};
pub use stream::{Stream, StreamEnd};
pub use summary::Summary;
