//! Bundles, opened for this process.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use retort::bundle::{Digest, Expect, LoadFailure, MANIFEST_FILE, load};
use retort::diagnostics::Problem;
use retort::internal::codes;
use retort::sandbox::{Cache, ForeignModules, Options};
use retort::{Bundle, Limits, Pipeline, Registry, TenantPolicy};
use serde::{Deserialize, Serialize};

use crate::error::{Failed, Kind, guarded};
use crate::seat::{Seat, Seats};

/// What is opened, and how: enough to open the same in another process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    /// A bundle, or a directory of bundles.
    pub(crate) path: PathBuf,
    #[serde(default)]
    pub(crate) limits: Option<Limits>,
    /// The text of a policy, and what messages call it.
    #[serde(default)]
    pub(crate) policy: Option<(String, PathBuf)>,
    /// The program that compiles what wasn't rendered here.
    #[serde(default)]
    pub(crate) helper: Option<PathBuf>,
    #[serde(default)]
    pub(crate) cache: Option<PathBuf>,
    /// Whether a bundle that can't be loaded is passed over.
    #[serde(default)]
    pub(crate) lenient: bool,
    /// Whether results are given as they are, whatever the graph spec says.
    #[serde(default)]
    pub(crate) unchecked: bool,
}

impl Source {
    pub(crate) fn pipeline(&self) -> Result<Pipeline, Failed> {
        let mut options = Options::default();
        if let Some(limits) = &self.limits {
            options.limits = limits.clone();
        }
        if let Some(helper) = &self.helper {
            options.foreign = ForeignModules::Helper(helper.clone());
        }
        options.cache = self.cache.as_ref().map(Cache::new);
        let builder = Pipeline::builder().options(options);
        let builder = match &self.policy {
            None => builder,
            Some((text, path)) => {
                let policy = TenantPolicy::parse(text, &path.display().to_string());
                let policy = policy.map_err(|error| Failed::input(&error))?;
                builder.tenant(&policy.in_folder(path.parent().unwrap_or(Path::new(""))))
            }
        };
        builder.build().map_err(|error| Failed::of(Kind::Host, &error))
    }

    /// What is to be served; of these fingerprints and no other, where they are known.
    fn registry(
        &self,
        pipeline: &Pipeline,
        pinned: Option<&BTreeSet<Digest>>,
    ) -> Result<Registry, Failed> {
        let path = &self.path;
        if path.join(MANIFEST_FILE).exists() {
            let registry = Registry::of_bundles([of(path, None, pipeline)?], pipeline);
            return matching(registry, pinned, path);
        }
        if !path.is_dir() {
            let message = format!(
                "expected a bundle or a directory of bundles, found no directory {}",
                path.display()
            );
            return Err(Failed::new(Kind::Input, codes::FILE_NOT_FOUND, message));
        }
        let registry = Registry::open(path, pipeline);
        match pinned {
            Some(pinned) if served(&registry) != *pinned => {
                // Other versions are active by now: those that were are still there.
                let bundles = pinned.iter().map(|digest| {
                    let text = digest.to_string();
                    of(&path.join(&text), Some(&text), pipeline)
                });
                let bundles = bundles.collect::<Result<Vec<_>, _>>()?;
                matching(Registry::of_bundles(bundles, pipeline), Some(pinned), path)
            }
            Some(_) => Ok(registry),
            None => match registry.failures().first() {
                Some(LoadFailure { error, .. }) if !self.lenient => {
                    Err(Failed::of(Kind::Extractor, error))
                }
                _ => Ok(registry),
            },
        }
    }
}

fn of(path: &Path, fingerprint: Option<&str>, pipeline: &Pipeline) -> Result<Arc<Bundle>, Failed> {
    let expect = Expect { fingerprint, ..Expect::default() };
    let loaded = load(path, &expect, pipeline);
    loaded.map(Arc::new).map_err(|error| Failed::of(Kind::Extractor, &error))
}

fn served(registry: &Registry) -> BTreeSet<Digest> {
    registry.served().map(|(_, digest)| digest).collect()
}

fn matching(
    registry: Registry,
    pinned: Option<&BTreeSet<Digest>>,
    path: &Path,
) -> Result<Registry, Failed> {
    let found = served(&registry);
    match pinned {
        Some(pinned) if found != *pinned => {
            let listed = |digests: &BTreeSet<Digest>| {
                digests.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let message = format!(
                "{}: expected {}, found {}",
                path.display(),
                listed(pinned),
                listed(&found)
            );
            let code = codes::FINGERPRINT_MISMATCH;
            let problem = Problem::new(code.stage, code, message).at("fingerprint");
            Err(Failed { kind: Kind::Extractor, problem: problem.into() })
        }
        _ => Ok(registry),
    }
}

/// Which process this is: one more in each child that was forked, which Python tells of. To ask the system would take as long as a small event.
static PROCESS: AtomicU32 = AtomicU32::new(0);

fn process() -> u32 {
    PROCESS.load(Ordering::Relaxed)
}

/// That this is a child, which was forked just now.
#[pyfunction]
#[pyo3(name = "_forked")]
pub(crate) fn forked() {
    PROCESS.fetch_add(1, Ordering::Relaxed);
}

/// What was opened in one process. Its clock is a thread of that process: in a child that was forked there is none, nothing that a deadline
/// could go by, and nothing to be ended.
struct Loaded {
    process: u32,
    inner: Option<Inner>,
}

struct Inner {
    registry: Arc<Registry>,
    seats: Seats,
}

impl Loaded {
    fn open(source: &Source, pinned: Option<&BTreeSet<Digest>>) -> Result<Self, Failed> {
        let opened = guarded(|| {
            let registry = source.registry(&source.pipeline()?, pinned)?;
            // Whatever becomes of the directory from now on, the same is served.
            registry.read_graphs();
            Ok::<_, Failed>(registry)
        })?;
        let inner = Inner { registry: Arc::new(opened?), seats: Seats::new(!source.unchecked) };
        Ok(Self { process: process(), inner: Some(inner) })
    }

    fn inner(&self) -> &Inner {
        self.inner.as_ref().expect("it is taken where it is dropped, and nowhere else")
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if self.process != process() {
            // To end the clock would be to wait for a thread that isn't there.
            std::mem::forget(self.inner.take());
        }
    }
}

/// What is opened, and opened again in a child that was forked.
pub(crate) struct Opened {
    pub(crate) source: Source,
    pinned: BTreeSet<Digest>,
    first: Arc<Loaded>,
    /// Of a process that was forked from the one that opened it first.
    forked: Mutex<Option<Arc<Loaded>>>,
}

impl Opened {
    pub(crate) fn open(source: Source, pinned: Option<&BTreeSet<Digest>>) -> Result<Self, Failed> {
        let first = Arc::new(Loaded::open(&source, pinned)?);
        let pinned = served(&first.inner().registry);
        Ok(Self { source, pinned, first, forked: Mutex::default() })
    }

    fn loaded(&self) -> Result<Arc<Loaded>, Failed> {
        let process = process();
        if self.first.process == process {
            return Ok(Arc::clone(&self.first));
        }
        // A process locks only what its parent never has.
        let mut forked = self.forked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loaded) = forked.as_ref().filter(|loaded| loaded.process == process) {
            return Ok(Arc::clone(loaded));
        }
        let loaded = Arc::new(Loaded::open(&self.source, Some(&self.pinned))?);
        *forked = Some(Arc::clone(&loaded));
        Ok(loaded)
    }

    /// Does work with the runners of a thread.
    pub(crate) fn seated<T>(&self, work: impl FnOnce(&mut Seat) -> T) -> Result<T, Failed> {
        let loaded = self.loaded()?;
        let Inner { registry, seats } = loaded.inner();
        seats.seated(registry, work)
    }

    /// The fingerprints of what is served.
    pub(crate) fn pinned(&self) -> &BTreeSet<Digest> {
        &self.pinned
    }

    /// What was opened first: what it knows needs no clock.
    pub(crate) fn registry(&self) -> &Registry {
        &self.first.inner().registry
    }
}

/// A set of fingerprints, as they are written.
pub(crate) fn digests(texts: &[String]) -> Result<BTreeSet<Digest>, Failed> {
    let read = |text: &String| {
        text.parse::<Digest>().map_err(|_| {
            let message =
                format!("expected a fingerprint of 64 hexadecimal digits, found {text:?}");
            Failed::new(Kind::Input, codes::FINGERPRINT_MISMATCH, message)
        })
    };
    texts.iter().map(read).collect()
}
