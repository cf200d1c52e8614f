//! From an event to what is left of its result, held to the graph spec of its bundle: what a stream makes of each line.

use super::dispatcher::{Dispatched, Dispatcher};
use super::fallback::Decided;
use super::graph_check::GraphCheck;
use super::host::ServeError;
use super::registry::Registry;
use super::shared::{Merging, Shared};
use crate::bundle::Digest;
use crate::diagnostics::problem::{Coded, Problem};
use crate::graph::Failure;
use crate::sandbox::RunOutcome;

/// What became of an event whose result was held to the graph spec of its bundle.
#[derive(Debug)]
#[non_exhaustive]
pub enum Checked<'a> {
    /// No bundle serves its type, or it has none.
    Unrouted {
        /// The event's type, if it has one.
        event_type: Option<&'a str>,
    },
    /// The result of a bundle, with which nothing is wrong.
    Whole {
        /// The event's type.
        event_type: &'a str,
        /// The fingerprint of the bundle.
        bundle: Digest,
        /// What the extractor gave.
        outcome: RunOutcome<'a>,
    },
    /// What was right of the result of a bundle, or the results of several that share the event's type, as one.
    Decided {
        /// The event's type.
        event_type: &'a str,
        /// The fingerprints of the bundles.
        bundles: Vec<Digest>,
        /// The result, with what is wrong with what was given.
        decided: Box<Decided>,
        /// What it took.
        spent: Spent,
    },
    /// Nothing: of what the extractors gave, nothing fits the graph spec.
    Unfit {
        /// The event's type.
        event_type: &'a str,
        /// The first thing that is wrong.
        problem: Box<Problem>,
        /// What it took.
        spent: Spent,
    },
}

/// What an event took, of all extractors that had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// The fuel.
    pub fuel: u64,
    /// How many conversions failed and left their value out.
    pub failed_conversions: u64,
}

impl Spent {
    pub(crate) fn of(outcome: &RunOutcome<'_>) -> Self {
        let mut spent = Self::default();
        spent.add(outcome);
        spent
    }

    pub(super) fn add(&mut self, outcome: &RunOutcome<'_>) {
        self.fuel += outcome.fuel;
        self.failed_conversions += u64::from(outcome.failed_conversions);
    }
}

impl<'r> Dispatcher<'r> {
    /// One that holds results to the graph specs of their bundles where it [gives them so](Self::checked).
    #[must_use]
    pub fn checking(registry: &'r Registry) -> Self {
        Self::new(registry).holding_to_graphs(GraphCheck::default())
    }

    /// Runs the extractor of the event's type, and holds its result to the graph spec of its bundle. What doesn't fit is dropped, as a
    /// [`Stream`](super::Stream) does by default. Of a dispatcher that wasn't made to [check](Self::checking), results are given as they are.
    ///
    /// # Errors
    /// [`ServeError::Run`] or [`ServeError::Load`]. The dispatcher is as good as before.
    ///
    /// # Example
    /// ```
    /// use retort::runtime::{Checked, Dispatcher};
    /// use retort::{Pipeline, Registry};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let bundles = tempfile::tempdir()?;
    /// # let bundles = bundles.path();
    /// let registry = Registry::open(bundles, &Pipeline::builder().build()?);
    /// let mut dispatcher = Dispatcher::checking(&registry);
    /// let checked = dispatcher.checked(br#"{"event_type": "order"}"#)?;
    /// assert!(matches!(checked, Checked::Unrouted { event_type: Some("order") }));
    /// # Ok(())
    /// # }
    /// ```
    pub fn checked(&mut self, event: &[u8]) -> Result<Checked<'_>, ServeError> {
        let registry = self.registry();
        let check = self.graph_check();
        let dispatched = self.dispatch(event).map_err(|error| ServeError::Run {
            event_type: error.event_type().map(Into::into),
            error: error.into(),
        })?;
        match dispatched {
            Dispatched::Unrouted { event_type } => Ok(Checked::Unrouted { event_type }),
            Dispatched::Refused { error, .. } => Err(error.clone().into()),
            Dispatched::Served(served) => {
                let (event_type, bundle) = (served.event_type(), served.bundle());
                let outcome = served.outcome();
                Ok(match held(check, registry, served.place, outcome, event) {
                    Ok(None) => Checked::Whole { event_type, bundle, outcome },
                    Ok(Some(decided)) => {
                        let (bundles, spent) = (vec![bundle], Spent::of(&outcome));
                        Checked::Decided { event_type, bundles, decided, spent }
                    }
                    Err(problem) => unfit(event_type, problem, Spent::of(&outcome)),
                })
            }
            Dispatched::Shared(shared) => {
                let event_type = shared.event_type();
                let bundles = shared.parts().iter().map(super::Part::bundle).collect();
                let mut spent = Spent::default();
                Ok(match merged(check, registry, &shared, event, &mut spent) {
                    Ok(decided) => {
                        let decided = Box::new(decided);
                        Checked::Decided { event_type, bundles, decided, spent }
                    }
                    Err(problem) => unfit(event_type, problem, spent),
                })
            }
        }
    }
}

impl Checked<'_> {
    /// What was wrong with what the extractors gave, and isn't in the result any more.
    #[must_use]
    pub fn dropped(&self) -> &[Failure] {
        match self {
            Self::Unrouted { .. } | Self::Whole { .. } | Self::Unfit { .. } => &[],
            Self::Decided { decided, .. } => &decided.failures,
        }
    }
}

fn unfit(event_type: &str, problem: Problem, spent: Spent) -> Checked<'_> {
    Checked::Unfit { event_type, problem: Box::new(problem), spent }
}

/// What is left of a bundle's result with which something is wrong, where results are checked; nothing of one that is as it should be.
pub(super) fn held(
    check: Option<GraphCheck>,
    registry: &Registry,
    bundle: usize,
    outcome: RunOutcome<'_>,
    event: &[u8],
) -> Result<Option<Box<Decided>>, Problem> {
    match check {
        Some(check) => check.decide(registry, bundle, outcome, event),
        None => Ok(None),
    }
}

/// What several extractors gave, each held to its graph spec, as one.
pub(super) fn merged(
    check: Option<GraphCheck>,
    registry: &Registry,
    shared: &Shared<'_>,
    event: &[u8],
    spent: &mut Spent,
) -> Result<Decided, Problem> {
    let mut merging = Merging::default();
    for part in shared.parts() {
        let outcome = part.outcome();
        spent.add(&outcome);
        let left = held(check, registry, part.place, outcome, event)?;
        let added = merging.add(part.bundle(), &outcome, left.map(|it| *it));
        added.map_err(|error| error.problem())?;
    }
    merging.finish(shared.conflicts)
}
