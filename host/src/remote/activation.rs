//! What is to be served of an extractor, as it is published.

use futures_util::TryStreamExt as _;
use object_store::path::Path;
use serde::{Deserialize, Serialize};

use super::Remote;
use super::error::RemoteError;
use super::key::{SigningKey, TrustedKey};
use crate::bundle::{Activation, Digest, ExtractorName, written};
use crate::diagnostics::untrusted::sanitize;

/// The only schema so far.
const SCHEMA: u32 = 1;

/// The largest that is read, in bytes.
const MAX_BYTES: u64 = 64 << 10;

/// How many versions of one extractor may be active: as many as have no event type in common.
const MAX_VERSIONS: usize = 256;

/// What a signature is over begins with this: it stands for nothing else.
const SIGNED: &str = "retort activation\n";

/// What is to be served of an extractor, as it is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedActivation {
    schema: u32,
    pub(super) name: ExtractorName,
    /// None where it is to be served no more.
    pub(super) versions: Vec<Digest>,
    /// As manifests write times.
    since: String,
    by: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    signature: Option<Signature>,
}

/// A signature over all the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Signature {
    /// The public key, in hexadecimal digits.
    key: String,
    /// The signature, likewise.
    value: String,
}

impl PublishedActivation {
    pub(super) fn new(
        name: &ExtractorName,
        versions: &[Digest],
        since: jiff::Timestamp,
        by: &str,
        key: Option<&SigningKey>,
    ) -> Self {
        let mut activation = Self {
            schema: SCHEMA,
            name: name.clone(),
            versions: versions.to_vec(),
            since: written(since),
            by: by.to_owned(),
            signature: None,
        };
        activation.signature = key.map(|key| Signature {
            key: key.public().to_string(),
            value: key.sign(activation.signed().as_bytes()),
        });
        activation
    }

    /// Reads one strictly: it says nothing that isn't read.
    fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let found: Self =
            serde_json::from_slice(bytes).map_err(|error| sanitize(&error.to_string(), 240))?;
        if found.schema != SCHEMA {
            return Err(format!("expected schema {SCHEMA}, found {}", found.schema));
        }
        if found.since().is_none() {
            return Err(format!("expected a time, found `{}`", sanitize(&found.since, 120)));
        }
        if !found.versions.is_sorted_by(|one, next| one < next)
            || found.versions.len() > MAX_VERSIONS
        {
            return Err(format!("expected {MAX_VERSIONS} versions at most, in order, each once"));
        }
        Ok(found)
    }

    fn to_json(&self) -> Vec<u8> {
        // Text, numbers and lists always serialise.
        let mut text = serde_json::to_vec_pretty(self).unwrap_or_default();
        text.push(b'\n');
        text
    }

    /// What a signature is over.
    fn signed(&self) -> String {
        let unsigned = Self { signature: None, ..self.clone() };
        // Text, numbers and lists always serialise.
        SIGNED.to_owned() + &serde_json::to_string(&unsigned).unwrap_or_default()
    }

    /// Since when, where it is written as times are.
    fn since(&self) -> Option<jiff::Timestamp> {
        self.since.parse().ok().filter(|time| written(*time) == self.since)
    }

    /// Whether it was decided later than something of this time, as manifests write times.
    pub(super) fn is_later_than(&self, since: &str) -> bool {
        self.since() > since.parse().ok()
    }

    /// The same in the record of a directory.
    pub(super) fn activation(&self) -> Activation {
        let since = self.since().unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        Activation::new(self.versions.clone(), since, &self.by)
    }

    /// Whether one of these keys has signed it; of none, whether anything is there.
    pub(super) fn require_signature(
        &self,
        trusted: &[TrustedKey],
        place: &str,
    ) -> Result<(), RemoteError> {
        if trusted.is_empty() {
            return Ok(());
        }
        let refused = |found| RemoteError::Signature { place: place.to_owned(), found };
        let Some(Signature { key, value }) = &self.signature else { return Err(refused("none")) };
        let Some(key) = trusted.iter().find(|it| it.to_string() == *key) else {
            return Err(refused("that of another key"));
        };
        match key.is_signed(self.signed().as_bytes(), value) {
            true => Ok(()),
            false => Err(refused("one that isn't over what it stands at")),
        }
    }

    /// Whether it says the same as another one, whenever that was said, and as surely.
    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let key = |it: &Self| it.signature.as_ref().map(|it| it.key.clone());
        self.versions == other.versions && key(self) == key(other)
    }
}

impl Remote {
    /// What is published of an extractor, if anything is.
    pub(super) async fn read_activation(
        &self,
        path: &Path,
    ) -> Result<Option<PublishedActivation>, RemoteError> {
        let Some(bytes) = self.get(path, MAX_BYTES).await? else { return Ok(None) };
        let place = format!("{}/{path}", self.url);
        let found = PublishedActivation::from_json(&bytes).and_then(|found| {
            let is_own = *path == self.activation(&found.name);
            is_own.then_some(found).ok_or_else(|| "it is that of another name".to_owned())
        });
        found.map(Some).map_err(|message| RemoteError::Invalid {
            place,
            message: format!("expected a published activation: {message}"),
        })
    }

    pub(super) async fn write_activation(
        &self,
        activation: &PublishedActivation,
    ) -> Result<(), RemoteError> {
        self.put(&self.activation(&activation.name), activation.to_json()).await
    }

    /// Where activations are published, in the order of their names.
    pub(super) async fn activations(&self) -> Result<Vec<Path>, RemoteError> {
        let active = self.active();
        let listed = self.store.list(Some(&active)).map_ok(|it| it.location);
        let listed: Vec<Path> =
            listed.try_collect().await.map_err(self.failed(&active, "list it"))?;
        let mut listed: Vec<Path> =
            listed.into_iter().filter(|it| it.extension() == Some("json")).collect();
        listed.sort_unstable();
        Ok(listed)
    }
}
