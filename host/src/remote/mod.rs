//! Bundles in an object store, from which any number of hosts take what they serve.
//!
//! Under the place that a URL names lies
//!
//! | object | what |
//! |---|---|
//! | `bundles/<fingerprint>/<file>` | the files of a bundle, as in a directory; `manifest.json` comes last, so that a bundle that has one is whole |
//! | `active/<name>.json` | which versions of an extractor are to be served, since when, by whose command; signed, if its publisher has a key |
//!
//! A bundle never changes, and its fingerprint covers all that decides what it does. What changes is one small object for each
//! extractor, which is replaced in one step: it is the only thing that has to be signed. Nothing that comes from the store is
//! trusted: a bundle goes through every gate where it is staged, before it has its name in a directory.
//!
//! It knows bundles and nothing of what runs them.

mod activation;
mod collect;
mod error;
mod key;
mod publish;
mod sync;

pub use self::error::RemoteError;
pub use self::key::{SigningKey, TrustedKey};
pub use self::publish::{Published, Publishing};
pub use self::sync::{Synced, Syncing};

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};

use crate::bundle::{Digest, ExtractorName, MANIFEST_FILE};

/// What is taken of the environment for stores of others, by the beginnings of names.
const ENVIRONMENT: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];

/// A place in an object store.
#[derive(Debug)]
pub struct Remote {
    store: Arc<dyn ObjectStore>,
    root: Path,
    url: String,
}

impl Remote {
    /// The place that a URL names (`s3://`, `gs://`, `az://` and their other forms, `file://`), or a directory by its path. Credentials and
    /// settings of stores come from the environment, by the names that their own tools use.
    ///
    /// # Errors
    /// [`RemoteError::Url`]. Nothing is asked of the store yet; a directory is created if it isn't there and `creates`.
    pub fn open(url: &str, creates: bool) -> Result<Self, RemoteError> {
        let refused = |message: String| RemoteError::Url { url: url.to_owned(), message };
        let Some(parsed) = parsed(url) else {
            return Self::directory(PathBuf::from(url), creates).map_err(refused);
        };
        if parsed.scheme() == "file" {
            let path = parsed.to_file_path();
            let path = path.map_err(|()| refused("expected file:///path".to_owned()))?;
            return Self::directory(path, creates).map_err(refused);
        }
        // The client of a store takes the provider of the process, which is ring as everywhere here unless the program has chosen one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let settings = std::env::vars()
            .filter(|(name, _)| ENVIRONMENT.iter().any(|start| name.starts_with(start)))
            .map(|(name, value)| (name.to_ascii_lowercase(), value));
        let (store, root) = object_store::parse_url_opts(&parsed, settings)
            .map_err(|error| refused(error.to_string()))?;
        Ok(Self { store: Arc::from(store), root, url: url.to_owned() })
    }

    fn directory(path: PathBuf, creates: bool) -> Result<Self, String> {
        if creates {
            std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
        }
        let store = LocalFileSystem::new_with_prefix(&path).map_err(|error| error.to_string())?;
        let store = store.with_automatic_cleanup(true).with_fsync(true);
        let url = path.display().to_string();
        Ok(Self { store: Arc::new(store), root: Path::default(), url })
    }

    fn bundles(&self) -> Path {
        self.root.clone().join("bundles")
    }

    fn file(&self, version: Digest, name: &str) -> Path {
        self.bundles().join(version.to_string()).join(name)
    }

    fn manifest(&self, version: Digest) -> Path {
        self.file(version, MANIFEST_FILE)
    }

    fn active(&self) -> Path {
        self.root.clone().join("active")
    }

    fn activation(&self, name: &ExtractorName) -> Path {
        self.active().join(format!("{name}.json"))
    }

    fn failed<'a>(
        &'a self,
        path: &'a Path,
        action: &'static str,
    ) -> impl FnOnce(object_store::Error) -> RemoteError + 'a {
        move |source| RemoteError::Failed {
            place: format!("{}/{path}", self.url),
            action,
            source: Box::new(source),
        }
    }

    /// Whether there is such an object.
    async fn has(&self, path: &Path) -> Result<bool, RemoteError> {
        match self.store.head(path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failed(path, "look for it")(error)),
        }
    }

    /// An object of at most so many bytes; `None` where there is none.
    async fn get(&self, path: &Path, allowed: u64) -> Result<Option<Bytes>, RemoteError> {
        let got = match self.store.get(path).await {
            Ok(got) => got,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failed(path, "read it")(error)),
        };
        let too_large = || RemoteError::Invalid {
            place: format!("{}/{path}", self.url),
            message: format!("expected at most {allowed} bytes, found more"),
        };
        if got.meta.size > allowed {
            return Err(too_large());
        }
        // Whatever it says of its size.
        let (mut stream, mut bytes) = (got.into_stream(), Vec::new());
        while let Some(piece) = stream.try_next().await.map_err(self.failed(path, "read it"))? {
            if (bytes.len() + piece.len()) as u64 > allowed {
                return Err(too_large());
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(Some(bytes.into()))
    }

    async fn put(&self, path: &Path, bytes: Vec<u8>) -> Result<(), RemoteError> {
        let put = self.store.put(path, bytes.into()).await;
        put.map(drop).map_err(self.failed(path, "write it"))
    }
}

/// A URL, which a path of a file isn't.
fn parsed(text: &str) -> Option<url::Url> {
    if text.contains("://") { url::Url::parse(text).ok() } else { None }
}
