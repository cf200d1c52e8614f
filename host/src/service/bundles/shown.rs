//! What is told of bundles, and asked of them: the bodies of these routes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use crate::bundle::{
    Activation, Catalog, CatalogEntry, Digest, ExtractorName, Manifest, Sharing, Switched, Version,
    VersionState,
};
use crate::runtime::ShadowReport;

/// The extractor that a request is about.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct OfExtractor {
    /// The tenant.
    #[param(example = "acme")]
    pub(super) tenant: String,
    /// The extractor's name.
    #[param(example = "read_order")]
    pub(super) name: String,
}

/// The extractors of a tenant, by the directory that is managed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BundleList {
    /// Whether the directory says which versions are active. One that doesn't serves all that is in it.
    record: bool,
    /// What becomes of event types that active versions of several extractors declare.
    sharing: Sharing,
    /// In the order of their names.
    extractors: Vec<ShownExtractor>,
}

/// An extractor with its versions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ShownExtractor {
    #[schema(value_type = String)]
    name: ExtractorName,
    /// The active ones first, then by when they were made, the latest first.
    versions: Vec<ShownVersion>,
    /// What was active since when and by what, the last of it now.
    activations: Vec<Activation>,
}

/// A version of an extractor.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ShownVersion {
    /// Its fingerprint.
    #[schema(value_type = String)]
    version: Digest,
    state: VersionState,
    /// When it was made; null where it isn't there any more, or can't be read.
    created_at: Option<String>,
    /// The function of its module; null as well then.
    function_name: Option<String>,
    /// The event types that it declares.
    event_types: Vec<String>,
}

/// A version that is to be served.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Activate {
    /// The version, or as many of its digits as no other version of the extractor begins with.
    #[schema(pattern = "^[0-9a-f]{4,64}$")]
    pub(super) version: String,
    /// Whether other extractors that serve an event type of it are retired in the same step.
    #[serde(default)]
    pub(super) replace: bool,
}

/// What was served of an extractor, and what is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ShownSwitch {
    #[schema(value_type = String)]
    name: ExtractorName,
    /// The versions that were served before.
    #[schema(value_type = Vec<String>)]
    before: Vec<Digest>,
    /// Those that are served from the next event on.
    #[schema(value_type = Vec<String>)]
    after: Vec<Digest>,
    /// Other extractors that gave way.
    #[schema(value_type = Vec<String>)]
    retired: Vec<ExtractorName>,
}

/// A bundle that was taken. It isn't served yet.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Uploaded {
    /// The extractor of which it is a version.
    #[schema(value_type = String)]
    pub(super) name: ExtractorName,
    #[schema(value_type = String)]
    pub(super) version: Digest,
    /// The event types that it declares.
    pub(super) event_types: Vec<String>,
    /// Whether it wasn't there before.
    pub(super) is_new: bool,
}

/// A version that is to run beside the one that is served.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BeginShadow {
    /// The version, or as many of its digits as no other version of the extractor begins with.
    #[schema(pattern = "^[0-9a-f]{4,64}$")]
    pub(super) version: String,
    /// The part of the events that it is to have.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub(super) share: f64,
}

/// How a version does beside the one that is served.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ShownShadow {
    #[schema(value_type = String)]
    pub(super) name: ExtractorName,
    #[schema(value_type = String)]
    pub(super) version: Digest,
    pub(super) counts: ShadowReport,
}

impl BundleList {
    pub(super) fn of(catalog: &Catalog) -> Self {
        Self {
            record: catalog.has_record,
            sharing: catalog.sharing,
            extractors: catalog.extractors.iter().map(ShownExtractor::of).collect(),
        }
    }
}

impl ShownExtractor {
    pub(super) fn of(entry: &CatalogEntry) -> Self {
        Self {
            name: entry.name.clone(),
            versions: entry.versions.iter().map(ShownVersion::of).collect(),
            activations: entry.activations.clone(),
        }
    }
}

impl ShownVersion {
    fn of(version: &Version) -> Self {
        let manifest = version.manifest.as_ref();
        Self {
            version: version.fingerprint,
            state: version.state,
            created_at: manifest.map(|it| it.created_at().to_owned()),
            function_name: manifest.map(|it| it.function_name().to_owned()),
            event_types: manifest.map(Manifest::event_types).unwrap_or_default().to_vec(),
        }
    }
}

impl ShownSwitch {
    pub(super) fn of(name: &ExtractorName, switched: Switched) -> Self {
        let Switched { before, after, retired } = switched;
        Self { name: name.clone(), before, after, retired }
    }
}

/// The version of the examples that the description of the routes has.
const EXAMPLE: &str = "0004f5f83c1a42c1a7ee1a5ac8bd2e8d7f8a3f6a5c1a3b0ef8d4a3f7f43b7c11";

pub(super) fn extractor_example() -> Value {
    json!({
        "name": "read_order",
        "versions": [{
            "version": EXAMPLE, "state": "active", "created_at": "2026-03-01T09:30:00Z",
            "function_name": "read_order", "event_types": ["order_placed"],
        }],
        "activations": [{
            "versions": [EXAMPLE], "since": "2026-03-01T09:31:00Z",
            "by": "retort serve: activate (administrator)",
        }],
    })
}

pub(super) fn uploaded_example(is_new: bool) -> Value {
    json!({
        "name": "read_order", "version": EXAMPLE, "event_types": ["order_placed"], "is_new": is_new,
    })
}

pub(super) fn switch_example() -> Value {
    let before = "77ab03e15c0a43f2a1ce1a5ac8bd2e8d7f8a3f6a5c1a3b0ef8d4a3f7f43b7c22";
    json!({"name": "read_order", "before": [before], "after": [EXAMPLE], "retired": []})
}

pub(super) fn shadow_example() -> Value {
    let counts = json!({"events": 1200, "same": 1199, "different": 1, "failed": 0, "gained": 0});
    json!({"name": "read_order", "version": EXAMPLE, "counts": counts})
}
