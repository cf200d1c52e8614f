//! Bundles at work: streams of events, each routed to the extractor of its type.
//!
//! A [`Registry`] says which bundle serves which event type; it is shared between threads, and loads all bundles when it is opened, or
//! each with its first event. A [`Dispatcher`] is one thread's runners for it, and [`Stream`] takes dispatchers, one for each of its
//! threads, through lines of JSON: results to one writer, rejected events to another, and a [`Summary`] of all. One bad event never
//! stops a stream, and memory does not grow with the number of events.
//!
//! [`run_with_fallback`] holds an event's result to a graph spec, drops what is wrong with it, and asks another extractor where
//! nothing is left. [`Wiring`] does so for the bundles of a registry, each with a fallback of its event type.
//!
//! A [`Host`] serves events of many tenants: it finds their bundles, takes up what is activated, and shares its workers out.
//!
//! It knows bundles, graphs and the sandbox, and nothing of how plans are written.

mod bundle_graph;
mod checked;
mod crew;
mod dispatcher;
mod error;
mod event_type;
mod extracted;
mod extractors;
mod fallback;
mod graph_check;
mod host;
mod line;
mod outputs;
mod registry;
mod revalidate;
mod serve;
mod served;
mod shared;
mod sink;
mod source;
mod stream;
mod summary;
mod type_table;
mod wiring;

pub use crate::json::{Line, LinePosition, Lines};
pub use bundle_graph::GraphsError;
pub use checked::{Checked, Spent};
pub use dispatcher::{DispatchError, Dispatched, Dispatcher, Served};
pub use error::StreamError;
pub use extracted::Extracted;
pub use extractors::Extractors;
pub use fallback::{Claims, Decided, Decision, Extract, ExtractError, run_with_fallback};
pub use host::{
    Account, Answer, Breaker, By, Happened, Host, HostBuilder, HostError, Notice, Promotion, Quota,
    Quotas, ServeError, ShadowReport, Tenant, TenantHandle, VersionStatus,
};
#[cfg(feature = "columns")]
pub(crate) use line::{MAX_DROPPED, place_in_reject};
#[cfg(feature = "serve")]
pub(crate) use line::{Reject, push_bundles, push_dropped, push_on_one_line};
pub use outputs::Progress;
pub use registry::Registry;
pub use revalidate::{
    DEFAULT_SAMPLES, Divergence, Noted, Reference, ReferenceResult, Revalidation,
    RevalidationReport, ThresholdCheck, Thresholds, ThresholdsError, TypeCounts, parity,
};
pub use shared::{Part, Shared};
pub use sink::{AsLines, LineWriters, Make, Sink, Taken, WholeLines};
pub use source::{StreamInput, StreamPosition};
pub use stream::{Stream, StreamEnd};
pub use summary::Summary;
pub use wiring::{Coverage, Wiring};
