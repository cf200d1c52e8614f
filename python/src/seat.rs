//! A thread's runners, for as long as it has something to do.

use std::sync::{Arc, Mutex, PoisonError};

use retort::Registry;
use retort::bundle::Digest;
use retort::graph::{Dropped, Failure};
use retort::runtime::{Checked, Decided, Dispatcher, Spent};
use retort::sandbox::RunOutcome;
use self_cell::self_cell;

use crate::error::{Failed, Kind, guarded};

self_cell!(
    /// Runners beside the registry that they are of.
    struct Runners {
        owner: Arc<Registry>,
        #[covariant]
        dependent: Dispatcher,
    }
);

/// The runners of one thread.
pub(crate) struct Seat {
    runners: Runners,
    /// The event type of the last result, which mostly is the next one's as well.
    event_type: Arc<str>,
}

/// What was made of an event.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    /// The text of the result.
    pub(crate) json: Vec<u8>,
    pub(crate) event_type: Option<Arc<str>>,
    pub(crate) bundles: Bundles,
    pub(crate) spent: Spent,
    /// What was dropped of what extractors gave, where something was.
    pub(crate) left: Option<Box<Left>>,
    pub(crate) is_empty: bool,
}

/// What was dropped, and why.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    pub(crate) failures: Vec<Failure>,
    pub(crate) dropped: Dropped,
}

/// Which bundles gave a result.
#[derive(Clone, Debug)]
pub(crate) enum Bundles {
    None,
    One(Digest),
    Several(Vec<Digest>),
}

/// The text of the result of an event that nobody serves.
pub(crate) const NOTHING: &[u8] =
    br#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

impl Seat {
    fn new(registry: &Arc<Registry>, is_checking: bool) -> Self {
        let runners = Runners::new(Arc::clone(registry), |registry| match is_checking {
            true => Dispatcher::checking(registry),
            false => Dispatcher::new(registry),
        });
        Self { runners, event_type: Arc::from("") }
    }

    /// Does work with the runners themselves.
    pub(crate) fn dispatching<T>(&mut self, work: impl FnOnce(&mut Dispatcher<'_>) -> T) -> T {
        self.runners.with_dependent_mut(|_, dispatcher| work(dispatcher))
    }

    /// What is made of an event.
    pub(crate) fn extract(&mut self, event: &[u8]) -> Result<Made, Failed> {
        let last = &mut self.event_type;
        let mut named = |event_type: &str| {
            if **last != *event_type {
                *last = Arc::from(event_type);
            }
            Some(Arc::clone(last))
        };
        self.runners.with_dependent_mut(|_, dispatcher| {
            Ok(match dispatcher.checked(event)? {
                Checked::Whole { event_type, bundle, outcome } => {
                    let RunOutcome { json, fuel, failed_conversions, shape, .. } = outcome;
                    let failed_conversions = u64::from(failed_conversions);
                    Made {
                        json: json.to_vec(),
                        event_type: named(event_type),
                        bundles: Bundles::One(bundle),
                        spent: Spent { fuel, failed_conversions },
                        left: None,
                        is_empty: shape.is_empty(),
                    }
                }
                Checked::Decided { event_type, bundles, decided, spent } => Made {
                    // Text and numbers always become JSON.
                    json: serde_json::to_vec(&decided.result).unwrap_or_default(),
                    event_type: named(event_type),
                    bundles: match bundles.as_slice() {
                        [only] => Bundles::One(*only),
                        _ => Bundles::Several(bundles),
                    },
                    spent,
                    is_empty: decided.result.is_empty(),
                    left: (!decided.failures.is_empty()).then(|| {
                        let Decided { failures, dropped, .. } = *decided;
                        Box::new(Left { failures, dropped })
                    }),
                },
                Checked::Unfit { problem, .. } => {
                    return Err(Failed { kind: Kind::Extractor, problem });
                }
                unrouted => Made {
                    json: NOTHING.to_vec(),
                    event_type: match unrouted {
                        Checked::Unrouted { event_type } => event_type.and_then(named),
                        _ => None,
                    },
                    bundles: Bundles::None,
                    spent: Spent::default(),
                    left: None,
                    is_empty: true,
                },
            })
        })
    }
}

/// The seats that nobody has.
pub(crate) struct Seats {
    free: Mutex<Vec<Seat>>,
    /// Whether results are held to graph specs.
    is_checking: bool,
}

impl Seats {
    pub(crate) fn new(is_checking: bool) -> Self {
        Self { free: Mutex::default(), is_checking }
    }

    /// Does work with a seat, which is no more where the work panics.
    pub(crate) fn seated<T>(
        &self,
        registry: &Arc<Registry>,
        work: impl FnOnce(&mut Seat) -> T,
    ) -> Result<T, Failed> {
        guarded(|| {
            let free = self.free().pop();
            let mut seat = free.unwrap_or_else(|| Seat::new(registry, self.is_checking));
            seat.runners.with_dependent_mut(|_, dispatcher| dispatcher.begin_batch());
            let done = work(&mut seat);
            self.free().push(seat);
            done
        })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Seat>> {
        // Nothing panics while it is locked.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
