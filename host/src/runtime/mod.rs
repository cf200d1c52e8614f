//! Bundles at work: streams of events, each routed to the extractor of its type.
//!
//! A [`Registry`] says which bundle serves which event type; it is shared between threads. A [`Dispatcher`] is one thread's
//! runners for it, and [`Stream`] takes a dispatcher through lines of JSON: results to one writer, rejected events to another,
//! and a [`Summary`] of all. One bad event never stops a stream, and memory does not grow with the number of events.
//!
//! It knows bundles and the sandbox, and nothing of how plans are written.

mod dispatcher;
mod registry;
mod stream;
mod summary;

pub use crate::json::{Line, Lines};
pub use dispatcher::{Dispatched, Dispatcher, Served};
pub use registry::{GraphsError, Registry};
pub use stream::{Stream, StreamError};
pub use summary::Summary;
