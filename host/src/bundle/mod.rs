//! From a candidate to a bundle: the gates in a row, and bundles on disk.
//!
//! A [`Pipeline`] takes a candidate through every gate, the sample run in the sandbox last; what passes is stored
//! atomically, and isn't trusted when it is read again. It knows all gates and the sandbox, and nothing of who wrote the plan
//! or of the streams that bundles serve.
//!
//! A bundle is a directory that is named by its fingerprint and holds
//!
//! | file | what |
//! |---|---|
//! | `manifest.json` | [`Manifest`]: what the bundle is for, and a digest of each file |
//! | `plan.json` | the plan, normalised |
//! | `<name>.wat` | the source that the plan was rendered to |
//! | `<name>.wasm` | the module that the source was compiled to |
//! | `graph.json` | the resolved graph spec |
//! | `limits.json` | the limits under which the gates passed, and whether edges may lead to nodes of other events |
//! | `event_schema.json`, `rule.md` | what the plan was written from, if known |
//!
//! The [fingerprint](Contents::fingerprint) covers all of it but the time of creation, so that
//! the same fingerprint means the same behaviour. There is nothing else in the directory, and the
//! manifest has one form. Beside the bundles of a directory lies its [record](RECORD_FILE), which says which of them are served.
//! [`Store`] writes bundles, [`load`] reads one,
//! [`discover`] all of a directory.

pub(crate) mod confirm;
mod contents;
pub(crate) mod coverage;
mod crew;
mod digest;
mod discover;
mod error;
mod hold;
mod load;
mod manifest;
mod name;
mod names;
pub(crate) mod origin;
pub(crate) mod pipeline;
mod read;
mod record;
mod sharing;
pub(crate) mod smoke;
mod store;
mod storing;

pub use confirm::{Confirmed, Difference, ExpectedRun, Told, Unconfirmed};
pub use contents::{Contents, Part, RustVersions, Versions};
#[cfg(feature = "author")]
pub(crate) use coverage::left_out;
pub use coverage::{Coverage, FailedConversion, FailedValue, LeftOut, PropertyCoverage};
pub(crate) use crew::on_all_cores;
pub use digest::{Digest, InvalidDigest};
pub use discover::{Discovery, LoadFailure, discover};
pub(crate) use discover::{Found, LookedOver, discover_on_all_cores, look_at, look_over};
pub use error::{BundleError, BundleLoadError, ModuleRefusal, VersionError};
pub(crate) use hold::{Hold, Looking};
pub(crate) use load::load_held;
pub use load::{Expect, Loaded, ModuleGate, Unaltered, load};
#[cfg(any(feature = "remote", feature = "serve"))]
pub(crate) use manifest::MAX_BYTES as MAX_MANIFEST_BYTES;
#[cfg(feature = "remote")]
pub(crate) use manifest::written;
pub use manifest::{MANIFEST_FILE, Manifest, ManifestError};
pub use name::{ExtractorName, InvalidName};
pub use pipeline::{
    Accepted, Admitted, Buildable, Built, Bundle, Code, MODULE_NAME, Pipeline, PipelineBuilder,
    PipelineError, Request, StageTime, Stored, TRANSCRIPT_VERSION,
};
pub use record::{Activation, MAX_ACTIVATIONS, RECORD_FILE, RecordError};
pub use sharing::{InvalidSharing, Sharing};
pub use smoke::{
    SampleFailure, SampleRun, SmokeError, SmokeFailed, SmokeOptions, SmokeReport, Smoked,
    ValidationFailure,
};
#[cfg(any(feature = "remote", feature = "serve"))]
pub(crate) use store::ReceiveError;
pub use store::{Catalog, CatalogEntry, Collected, Others, Store, Switched, Version, VersionState};
pub use storing::Storing;
