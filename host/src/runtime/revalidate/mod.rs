//! Bundles over events that are known, held to a reference: what became of each, and whether it is what it should be.

mod parity;
mod report;
mod thresholds;

pub use self::parity::{Divergence, parity};
pub use self::report::{RevalidationReport, TypeCounts};
pub use self::thresholds::{ThresholdCheck, Thresholds, ThresholdsError};

use std::collections::BTreeMap;

use super::extracted::Extracted;
use super::extractors::Extractors;
use super::fallback::{Decided, Decision, ExtractError};
use super::registry::Registry;
use super::wiring::Wiring;
use crate::bundle::Part;
use crate::diagnostics::codes;
use crate::diagnostics::problem::Coded;
use crate::graph::Extraction;
use crate::plan;

/// How many samples of each kind are kept where nothing is said.
pub const DEFAULT_SAMPLES: usize = 10;

/// What the reference gives for an event: `None` where it has nothing to say of its type.
pub type ReferenceResult = Option<Result<Extraction, ExtractError>>;

/// What became of an event of the corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Noted {
    /// It was counted.
    Counted,
    /// It was skipped: it has no type, or either no bundle or no reference is for its type.
    Skipped,
    /// It was skipped, since it is none: not a JSON object within the limits.
    NoEvent(ExtractError),
}

/// Runs bundles over a corpus, event by event, and counts. Its memory doesn't grow with the corpus.
///
/// Each event has one decision (as the bundle gave it, in part, not at all: what a [fallback](super::run_with_fallback) would
/// find), and where the bundle gave something, whether that is what a reference gives.
///
/// # Example
/// ```
/// use retort::runtime::{Revalidation, Thresholds};
/// use retort::{Pipeline, Registry};
///
/// # let root = tempfile::tempdir()?;
/// # let bundles = root.path();
/// let pipeline = Pipeline::builder().build()?;
/// let registry = Registry::open(bundles, &pipeline);
/// let mut revalidation = Revalidation::new(&registry, retort::jiff::Timestamp::now());
/// let mut evaluator = Revalidation::plans_of(&registry)?;
/// revalidation.event(br#"{"event_type": "order"}"#, |event| evaluator.reference(event));
/// let report = revalidation.finish(retort::jiff::Timestamp::now());
/// assert_eq!((report.total_events, report.skipped_events), (0, 1));
/// let thresholds = Thresholds::parse(br#"{"min_parity_match_rate": 0.99}"#)?;
/// assert!(!thresholds.check(&report).ok, "nothing was compared");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Revalidation<'r> {
    extractors: Extractors<'r, 'static>,
    report: RevalidationReport,
    samples: usize,
}

impl<'r> Revalidation<'r> {
    /// Of the bundles of a registry, begun at this time.
    #[must_use]
    pub fn new(registry: &'r Registry, started_at: jiff::Timestamp) -> Self {
        let types = registry.event_types().map(str::to_owned);
        let wiring = types.fold(Wiring::default(), |wiring, event_type| {
            wiring.with_fallback(event_type, |_: &[u8]| Ok(Extraction::default()))
        });
        Self {
            extractors: wiring.over(registry),
            report: RevalidationReport::begun(started_at),
            samples: DEFAULT_SAMPLES,
        }
    }

    /// The same with so many samples of each kind in the report, in the place of [ten](DEFAULT_SAMPLES).
    #[must_use]
    pub fn with_samples(mut self, samples: usize) -> Self {
        self.samples = samples;
        self
    }

    /// Takes an event, and asks `reference` what should come of it.
    pub fn event(
        &mut self,
        event: &[u8],
        reference: impl FnOnce(&[u8]) -> ReferenceResult,
    ) -> Noted {
        let extracted = match self.extractors.extract_with_type(event) {
            Ok((Some(event_type), extracted)) if !event_type.is_empty() => {
                decided(extracted).map(|it| (event_type.into_owned(), it))
            }
            Ok(_) => None,
            Err(error) => {
                self.report.skipped_events += 1;
                return Noted::NoEvent(error);
            }
        };
        let reference = extracted.and_then(|extracted| Some((extracted, reference(event)?)));
        let Some(((event_type, decided), reference)) = reference else {
            self.report.skipped_events += 1;
            return Noted::Skipped;
        };
        let compared = match decided.decision {
            // Nothing of the bundle's is there to be compared.
            Decision::FallbackForEvent => None,
            _ => Some(match reference {
                Ok(reference) => parity(&reference, &decided.result),
                Err(_) => Err(Divergence::of_failed_reference()),
            }),
        };
        self.report.count(&event_type, &decided, compared, self.samples);
        Noted::Counted
    }

    /// What it came to.
    #[must_use]
    pub fn finish(self, finished_at: jiff::Timestamp) -> RevalidationReport {
        self.report.finished(finished_at)
    }

    /// The evaluators of the plans of a registry's bundles, as a reference. Bundles of code have none.
    ///
    /// # Errors
    /// [`ExtractError`] of a bundle whose plan can't be read any more.
    pub fn plans_of(registry: &'r Registry) -> Result<Reference<'r>, ExtractError> {
        let mut plans = BTreeMap::new();
        for route in registry.routes() {
            // Of several that share a type no single plan says what is merged.
            let [] = &*route.others else { continue };
            let bundle = registry.bundle(route.bundle).map_err(ExtractError::of)?;
            let Some(text) = bundle.read(Part::Plan).map_err(|it| ExtractError::of(&it))? else {
                continue;
            };
            let plan = plan::parse(&String::from_utf8_lossy(&text));
            plans.insert(route.event_type.clone(), plan.map_err(|it| ExtractError::of(&it))?);
        }
        let wiring = plans.into_iter().fold(Wiring::default(), |wiring, (event_type, plan)| {
            wiring.with_fallback(event_type, move |event: &[u8]| {
                plan::eval(&plan, &String::from_utf8_lossy(event))
                    .map_err(|error| ExtractError::of(&error))
            })
        });
        Ok(Reference(wiring.without_bundles(registry)))
    }

    /// The bundles of another registry, as a reference: what they give, held to their own graph specs.
    #[must_use]
    pub fn bundles_of(registry: &'r Registry) -> Reference<'r> {
        let types = registry.event_types().map(str::to_owned);
        let wiring = types.fold(Wiring::default(), |wiring, event_type| {
            let failed = || Err(ExtractError::raised("the reference has failed"));
            wiring.with_fallback(event_type, move |_: &[u8]| failed())
        });
        Reference(wiring.over(registry))
    }
}

/// What bundles are held to.
#[derive(Debug)]
pub struct Reference<'r>(Extractors<'r, 'static>);

impl Reference<'_> {
    /// What it gives for an event.
    pub fn reference(&mut self, event: &[u8]) -> ReferenceResult {
        match self.0.extract(event) {
            Ok(Extracted::Unserved) => None,
            Ok(extracted) => Some(extracted.into_extraction()),
            Err(error) => Some(Err(error)),
        }
    }
}

/// What became of an event, where a bundle is for its type.
fn decided(extracted: Extracted<'_>) -> Option<Box<Decided>> {
    match extracted {
        Extracted::Unserved | Extracted::PassedThrough(_) => None,
        Extracted::Decided(decided) => Some(decided),
        unchanged @ Extracted::Unchanged(_) => Some(Box::new(match unchanged.into_extraction() {
            Ok(result) => Decided::unchanged(result),
            Err(error) => Decided::failed(error),
        })),
    }
}

/// What an extractor says of its failure.
fn told(error: &ExtractError) -> String {
    match error.code() {
        // Whoever has raised it has said all.
        code if code == codes::EXTRACTOR_RAISED.name => error.to_string(),
        code => format!("{code}: {error}"),
    }
}
