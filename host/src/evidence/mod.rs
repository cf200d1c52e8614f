//! What is asked for, and what is known about events: the task, its samples and schema, and names and types against the
//! paths that occur.
//!
//! It knows graph specs and what conversions give, and nothing of gates, modules or models.

mod collections;
pub mod effort;
mod events;
mod index;
mod kind;
pub mod matching;
mod observe;
pub mod redact;
mod rule;
mod samples;
mod schema;
mod size;
mod step;
mod task;

pub use collections::Collection;
pub use events::{Evidence, Path, at, dotted};
pub(crate) use events::{JSON, holds_json};
pub use kind::{Kind, Kinds};
pub use observe::{Observed, SampleEvents, Seen, Visibility};
pub use rule::{Rule, TaskError};
pub use samples::{Sample, Samples, SamplesError};
pub use schema::{Declared, EventSchema};
pub use step::Step;
pub(crate) use step::{ENTRY_VALUE, shown_steps, values_at};
pub use task::Task;
