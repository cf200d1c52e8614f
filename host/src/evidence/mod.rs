//! What is asked for, and what is known about events: the task, its samples and schema, and names and types against the
//! paths that occur.
//!
//! It knows graph specs and what conversions give, and nothing of gates, modules or models.
//!
//! | | |
//! |---|---|
//! | what is asked for | [`Task`], with its [`Rule`], [`EventSchema`], [`Samples`] and what they are [`Expected`] to give |
//! | what is known | [`Evidence`], by event type: [`SampleEvents`], the [`Collection`]s in them, and `PathIndex`, which answers whether a path exists, with `ValueIndex`: what is there, and of which types |
//! | what is shown of it | `redact`, with what `unfold` finds in strings |
//! | what may be meant | `similarity` of names, and `matching` of properties to paths |
//! | what a search may cost | `effort`, and a [`Cancel`] |

mod collections;
pub(crate) mod conversion;
pub(crate) mod effort;
mod events;
pub(crate) mod expected;
pub(crate) mod matching;
mod observe;
mod path;
mod path_index;
mod query;
pub(crate) mod redact;
mod rule;
mod sample_index;
mod samples;
mod schema;
pub(crate) mod similarity;
mod task;
pub(crate) mod unfold;
mod value_index;

pub use collections::Collection;
pub use effort::Cancel;
pub use events::Evidence;
pub(crate) use events::{JSON, holds_json};
pub use expected::{Expected, ExpectedError, ExpectedSample};
pub use observe::{Observed, SampleEvents, Seen, Visibility};
pub(crate) use path::{ENTRY_VALUE, shown_elements, shown_steps, values_at};
pub use path::{Path, PathStep, at, dotted};
pub(crate) use path_index::{ENOUGH_SAMPLES, PathIndex};
pub(crate) use query::{SampleQuery, SampleValues};
pub use rule::{Rule, TaskError};
pub use samples::{Sample, Samples, SamplesError};
pub use schema::{Declared, EventSchema};
pub use task::{Task, TaskBuilder};
pub(crate) use value_index::is_scalar;
