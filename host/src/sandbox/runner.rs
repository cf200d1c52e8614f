//! From an event to a checked result.

use std::num::NonZeroU32;
use std::sync::Arc;

use tracing::{Span, debug, debug_span, trace};

use super::guest::{Guest, Returned};
use super::trace::Frame;
use super::{Extractor, Isolation, Log, RunError};
use crate::abi::block::{BlockWriter, KEPT_BYTES, Spent};
use crate::abi::event::{EVENT_TYPE, Projection, Projector};
use crate::abi::result::{FormError, KnownFit, Reducer, ResultCounts};
use crate::diagnostics::codes;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::diagnostics::untrusted::escaped;
use crate::graph::extraction::Extraction;
use crate::graph::spec::GraphSpec;
use crate::graph::validate::{ValidateOptions, validate};

/// Results of a runner that are read before the form of all results is worked out, where a bundle was loaded without rendering it.
const BEFORE_FORM: u32 = 64;

/// Bytes that a rendered extractor's instance takes beside its events: its constants, and the pages where input and output begin.
const INSTANCE_BYTES: usize = 32 << 10;

/// Runs one extractor over events, on one thread.
///
/// A reset-safe extractor keeps its instance from event to event, as far as the sandbox's [`Isolation`] lets it; any other
/// gets one as new for each. After a call that failed the instance is thrown away in any case.
#[derive(Debug)]
pub struct Runner {
    extractor: Extractor,
    projector: Projector,
    projection: Projection,
    writer: BlockWriter,
    reducer: Reducer,
    guest: Option<Guest>,
    /// What the guest writes, if it imports WASI at all.
    log: Option<Log>,
    /// The slot that holds the event type.
    event_type: usize,
    /// Names the extractor in what is traced of events.
    span: Span,
    /// What the sandbox's clock said when the last event came.
    started: u64,
    /// How many results are to come before their form is worked out, where that isn't known from loading.
    before_form: u32,
    /// How many results come to one that is read in full though its form is known.
    check_one_in: NonZeroU32,
    /// How many results of a known form are to come before the next one that is read in full.
    before_check: u32,
    /// Whether the instance is given up before the next event: its result was refused, or the event was so large that what
    /// it has touched of the instance's memory isn't worth keeping.
    is_over: bool,
    /// The most bytes of an input block and its result together.
    touched: usize,
    /// Where the guest was when its last call failed.
    trace: Vec<Frame>,
    /// What results are held to, by whoever asks for them, and how strictly.
    graph: Option<(Arc<GraphSpec>, ValidateOptions)>,
    /// By what it is known of a block that its result fits the spec; worked out together with the form.
    fit: Option<Option<KnownFit>>,
}

/// The result of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunOutcome<'a> {
    /// The result: UTF-8 JSON of the shape of ABI version 1, as the guest wrote it, but for what stood twice in it if the
    /// extractor leaves that to the host.
    pub json: &'a [u8],
    /// How much is in it.
    pub shape: ResultCounts,
    /// The fuel that it took, that for conversions, rows and the initialisation of an instance as new included.
    pub fuel: u64,
    /// The part of it that values, conversions and rows took before the guest was called.
    pub conversion_fuel: u64,
    /// How many conversions failed and left their value out.
    pub failed_conversions: u32,
    /// How many nodes and edges were cut out of the result, since others of it have the same ids.
    pub dropped_duplicates: u32,
    is_known_to_fit: bool,
}

impl RunOutcome<'_> {
    /// The same without its text, to be kept for longer than that stays in its place.
    pub(crate) fn without_text(self) -> RunOutcome<'static> {
        self.with_text(&[])
    }

    /// The same with its text in another place.
    pub(crate) fn with_text(self, json: &[u8]) -> RunOutcome<'_> {
        let Self { shape, fuel, conversion_fuel, failed_conversions, .. } = self;
        let Self { dropped_duplicates, is_known_to_fit, .. } = self;
        RunOutcome {
            json,
            shape,
            fuel,
            conversion_fuel,
            failed_conversions,
            dropped_duplicates,
            is_known_to_fit,
        }
    }

    /// Whether the form of the result, and the values in it, show that it fits the graph spec that the runner holds results to: it
    /// needn't be read for that. False says nothing.
    pub(crate) fn is_known_to_fit(&self) -> bool {
        self.is_known_to_fit || self.shape.is_empty()
    }

    /// The result as data; or the problem of a stage that needs it so. What the ABI's check accepts is an extraction, but for
    /// numbers that only one of the two can hold.
    pub(crate) fn extraction(&self, stage: Stage) -> Result<Extraction, Problem> {
        serde_json::from_slice(self.json).map_err(|error| {
            Problem::new(stage, codes::RESULT_WRONG_SHAPE, escaped(&error.to_string()))
        })
    }
}

/// The steps of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Validating the event and finding the declared inputs in it.
    Project,
    /// Writing the input block; then, once there is an instance, copying the block into its memory.
    CopyIn,
    /// Making the instance, where none is kept.
    Instantiate,
    /// The call into the guest.
    Guest,
    /// Checking what came back, and dealing with what appears twice in it.
    Check,
}

/// Is notified of each step when it has ended well, of [`Step::CopyIn`] twice. `()` ignores all, and costs nothing.
pub trait Observer {
    /// `step` has ended.
    fn ended(&mut self, step: Step);
}

impl Observer for () {
    #[inline(always)]
    fn ended(&mut self, _: Step) {}
}

/// Says to the host's log why an event was rejected: by its code and what was used of a limit, since a message may repeat what came
/// from the event.
pub(crate) fn trace_rejection(span: &Span, error: &RunError) {
    let (used, allowed) = error.usage().unzip();
    debug!(parent: span, code = error.code(), used, allowed, "event rejected");
}

impl Extractor {
    /// Something that runs this extractor over events, on one thread.
    #[must_use]
    pub fn runner(&self) -> Runner {
        Runner::new(self.clone())
    }
}

impl Runner {
    pub(super) fn new(extractor: Extractor) -> Self {
        let section = extractor.section();
        let declared = section
            .inputs()
            .iter()
            .position(|input| input.plain_path().is_some_and(|path| path == [EVENT_TYPE]));
        let event_type = [EVENT_TYPE.to_owned()];
        let projector = match (extractor.withheld(), declared) {
            (Some(withheld), _) => Projector::withholding(section, &event_type, withheld.clone()),
            (None, Some(_)) => Projector::of(section),
            (None, None) => Projector::watching(section, &event_type),
        };
        let event_type = declared.unwrap_or(projector.len());
        let projector = projector.with_max_event_bytes(extractor.sandbox().limits().event_bytes);
        let log_bytes = extractor.sandbox().limits().log_bytes;
        let check_one_in = extractor.sandbox().check_one_in();
        Self {
            log: extractor.imports_wasi().then(|| Log::new(log_bytes)),
            span: debug_span!("extractor", function = section.function()),
            extractor,
            projector,
            projection: Projection::default(),
            writer: BlockWriter::default(),
            reducer: Reducer::default(),
            guest: None,
            event_type,
            check_one_in,
            before_check: 0,
            before_form: BEFORE_FORM,
            started: 0,
            is_over: false,
            touched: 0,
            trace: Vec::new(),
            graph: None,
            fit: None,
        }
    }

    /// The same, whose results say where it is known that they fit this graph spec.
    pub(crate) fn holding_to(self, spec: Arc<GraphSpec>, options: ValidateOptions) -> Self {
        Self { graph: Some((spec, options)), fit: None, ..self }
    }

    /// The same for a gate: every result is read in full, also where its form [is known](Extractor::knows_results), and held to it.
    #[must_use]
    pub fn checking_all(self) -> Self {
        Self { check_one_in: NonZeroU32::MIN, before_check: 0, ..self }
    }

    /// The extractor that this runs.
    #[must_use]
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// What the guest wrote to its standard output and standard error for the last event: the guest's bytes, whatever they are,
    /// at most [`Limits::log_bytes`](super::Limits::log_bytes) of them.
    #[must_use]
    pub fn log(&self) -> Vec<u8> {
        self.log.as_ref().map(Log::bytes).unwrap_or_default()
    }

    /// Where the guest was when its last call failed, the innermost frame first, in a sandbox that says.
    pub(super) fn take_trace(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.trace)
    }

    /// Ends a batch. Where an instance may serve no longer than one, the instance is given up, and the next event gets a new
    /// one; a warm instance stays, and so does one that is put back after each event.
    pub fn begin_batch(&mut self) {
        let extractor = &self.extractor;
        let serves_on = extractor.keeps_instances() || extractor.restores_instances();
        if !serves_on || extractor.sandbox().isolation() != Isolation::Warm {
            self.guest = None;
        }
    }

    /// Whether an instance is kept, which has a place in the pool if there is one.
    pub(crate) fn has_instance(&self) -> bool {
        self.guest.is_some()
    }

    /// Bytes that stay in memory for the next event, more or less: of a rendered extractor's memory what the largest event and its result
    /// have touched, and of any other's all that it has.
    pub(crate) fn resident_bytes(&self) -> usize {
        let memory = self.guest.as_ref().map_or(0, Guest::memory_bytes);
        let touched = self.touched.min(2 * KEPT_BYTES);
        let of_instance = if self.extractor.is_reset_safe() {
            memory.min(touched + INSTANCE_BYTES)
        } else {
            memory
        };
        of_instance + touched
    }

    /// Gives the instance up, whatever could be kept of it, and with it its place in the pool if there is one: for a runner that will
    /// have nothing to do. The next event gets a new one.
    pub fn give_up_instance(&mut self) {
        self.guest = None;
    }

    /// Reads one event, runs the extractor and checks its result.
    ///
    /// # Errors
    /// [`RunError`]. The runner is as good as before: one bad event never stops a stream.
    pub fn run(&mut self, event: &[u8]) -> Result<RunOutcome<'_>, RunError> {
        self.run_observed(event, &mut ())
    }

    /// The same, with `observer` notified of each step.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_observed<O: Observer>(
        &mut self,
        event: &[u8],
        observer: &mut O,
    ) -> Result<RunOutcome<'_>, RunError> {
        self.project(event)?;
        observer.ended(Step::Project);
        self.extract(event, observer)
    }

    /// Validates an event and finds the declared inputs in it: the first half of a run.
    pub(crate) fn project(&mut self, event: &[u8]) -> Result<(), RunError> {
        self.started = self.extractor.sandbox().now();
        // Also where the event is refused right here, nothing is left of what was written for the one before.
        if let Some(log) = &self.log {
            log.clear();
        }
        self.projector.project(event, &mut self.projection).map_err(|error| {
            let error = RunError::from(error);
            trace_rejection(&self.span, &error);
            error
        })
    }

    /// Whether the type of the event that was projected last is written exactly so, as the text of JSON.
    pub(crate) fn is_of_type(&self, event: &[u8], event_type: &[u8]) -> bool {
        let slot = self.projector.slot(&self.projection, self.event_type);
        event.get(slot.start as usize..slot.end as usize) == Some(event_type)
    }

    /// Runs the guest on the event that was projected last, and checks its result: the second half of a run.
    pub(crate) fn extract<O: Observer>(
        &mut self,
        event: &[u8],
        observer: &mut O,
    ) -> Result<RunOutcome<'_>, RunError> {
        let (log, span) = (self.log.clone(), self.span.clone());
        let outcome = self.checked(event, observer).map_err(|error| {
            trace_rejection(&span, &error);
            error.with_log(log.as_ref().and_then(Log::message))
        })?;
        let RunOutcome { json, fuel, conversion_fuel, .. } = outcome;
        trace!(parent: &span, fuel, conversion_fuel, bytes = json.len(), "event served");
        Ok(outcome)
    }

    fn checked<O: Observer>(
        &mut self,
        event: &[u8],
        observer: &mut O,
    ) -> Result<RunOutcome<'_>, RunError> {
        self.reducer.release();
        if std::mem::take(&mut self.is_over) {
            self.guest = None;
        }
        RunError::if_over(self.extractor.sandbox().deadline(self.started))?;
        let called = self.called(event, observer);
        let rule = self.extractor.section().on_duplicate();
        let mut measured = None;
        let mut is_known_to_fit = false;
        if let Ok(call) = &called {
            observer.ended(Step::Guest);
            // To work a form out takes longer than to read some results.
            self.before_form = self.before_form.saturating_sub(1);
            let is_due = self.before_form == 0 || self.extractor.has_form_at_hand();
            if is_due && let Some(form) = self.extractor.result_form() {
                let (block, bytes) = (self.writer.written(), call.returned.range.len());
                measured = self.reducer.measure(form, block, bytes, rule);
                if let (Some(measured), Some((spec, options))) = (&measured, &self.graph) {
                    let fit = self.fit.get_or_insert_with(|| form.fit(spec, *options));
                    let fit = fit.as_mut().filter(|fit| fit.may_hold(measured, rule.is_some()));
                    is_known_to_fit = fit.is_some_and(|fit| fit.holds(block));
                }
            }
        }
        self.writer.release();
        self.projection.release(KEPT_BYTES);
        let GuestCall { returned: Returned { range, fuel }, block_bytes } = called?;
        let touched = block_bytes + range.len();
        self.touched = self.touched.max(touched);
        let is_large = touched > KEPT_BYTES;
        // Until the result is found to be one.
        self.is_over = true;
        let json = self.guest.as_ref().map_or(&[][..], |guest| guest.bytes(range));
        let checked = match measured {
            None => self.reducer.check_whole(json, rule).map_err(FormError::from),
            Some(measured) => match self.before_check.checked_sub(1) {
                Some(left) => {
                    self.before_check = left;
                    self.reducer.check_form(json, measured, rule)
                }
                None => {
                    self.before_check = self.check_one_in.get() - 1;
                    self.reducer.check_both(json, measured, rule)
                }
            },
        };
        let (json, shape, made) = checked.map_err(|error| match error {
            FormError::Result(error) => RunError::from(error),
            FormError::Refuted(found) => {
                self.extractor.refute();
                RunError::Refuted { found }
            }
        })?;
        debug_assert!(!is_known_to_fit || is_valid(json, self.graph.as_ref()));
        RunError::if_over(self.extractor.sandbox().deadline(self.started))?;
        self.is_over = is_large;
        observer.ended(Step::Check);
        let Spent { fuel: conversion_fuel, failed_conversions } = self.writer.spent();
        let fuel = fuel.saturating_add(conversion_fuel);
        let dropped = (made.nodes + made.edges).saturating_sub(shape.nodes + shape.edges);
        let dropped_duplicates = u32::try_from(dropped).unwrap_or(u32::MAX);
        Ok(RunOutcome {
            json,
            shape,
            fuel,
            conversion_fuel,
            failed_conversions,
            dropped_duplicates,
            is_known_to_fit,
        })
    }

    fn called<O: Observer>(
        &mut self,
        event: &[u8],
        observer: &mut O,
    ) -> Result<GuestCall, RunError> {
        let deadline = self.extractor.sandbox().deadline(self.started);
        let limits = self.extractor.block_limits(event.len());
        let (projector, projection) = (&self.projector, &self.projection);
        let block = self.writer.write_before(deadline, projector, event, projection, limits)?;
        let block_bytes = block.len();
        observer.ended(Step::CopyIn);
        let keeps = self.extractor.keeps_instances();
        let guest = match &mut self.guest {
            Some(guest) if keeps => guest,
            place => {
                let (used, log) = (place.take(), self.log.as_ref());
                place.insert(Guest::renewed(used, &self.extractor, log, block_bytes, deadline)?)
            }
        };
        observer.ended(Step::Instantiate);
        let placed = guest.put(&self.extractor, block, deadline);
        observer.ended(Step::CopyIn);
        let returned = placed.and_then(|placed| guest.extract(&self.extractor, placed));
        match returned {
            Ok(returned) => Ok(GuestCall { returned, block_bytes }),
            Err(error) => {
                let message = guest.message(&self.extractor);
                self.trace = guest.take_trace();
                self.guest = None;
                Err(RunError::from(error).with_message(message))
            }
        }
    }
}

/// A call that went well, and the bytes of its block.
struct GuestCall {
    returned: Returned,
    block_bytes: usize,
}

/// Whether the validator finds nothing wrong with a result.
fn is_valid(json: &[u8], graph: Option<&(Arc<GraphSpec>, ValidateOptions)>) -> bool {
    let result = serde_json::from_slice(json);
    graph.is_some_and(|(spec, options)| {
        result.is_ok_and(|result| validate(spec, &result, *options).ok())
    })
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guest")
    }
}

// One that was made in one thread may serve in another.
const _: () = {
    const fn may_be_sent<T: Send>() {}
    may_be_sent::<Runner>();
};

#[cfg(test)]
mod known_fit;
#[cfg(test)]
mod refuted;
#[cfg(test)]
mod restored;
#[cfg(test)]
mod tests;
