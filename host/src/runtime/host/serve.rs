//! From an event of a tenant to its answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::account::Account;
use super::answer::{Answer, By};
use super::breaker::Turn;
use super::error::ServeError;
use super::settings::{Route, RouteFallback, Settings};
use super::shadow::Shadow;
use super::state::TenantState;
use super::version::{Ready, Version};
use crate::diagnostics::codes;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::graph::Extraction;
use crate::runtime::event_type::{TypeReader, type_of};
use crate::runtime::extracted::Extracted;
use crate::runtime::shared::Merging;
use crate::runtime::{Decision, ExtractError, graph_check};
use crate::sandbox::{Blame, ResultCounts, RunError, Runner};

/// An event that was served.
pub(super) struct Served {
    pub(super) answer: Result<Answer, ServeError>,
    pub(super) shadow: Option<Shadowing>,
}

/// A version that is to have an event as well.
pub(super) struct Shadowing {
    shadow: Arc<Shadow>,
    settings: Arc<Settings>,
    /// What the version beside it gave, where that isn't the answer: its extractor shares the event's type.
    served: Option<Extraction>,
}

/// An event on its way.
struct Visit<'a> {
    settings: &'a Settings,
    event: &'a [u8],
    account: Account,
    shadow: Option<Arc<Shadow>>,
    /// What the version beside the shadow gave, where that isn't the answer.
    served: Option<Extraction>,
}

/// Why several versions gave no result.
enum Several {
    Failed(ServeError),
    /// The event is none.
    NoEvent(RunError),
}

/// What a version made of an event.
enum Ran {
    Gave(Box<Answer>),
    Failed(ServeError),
    /// The event isn't of its type after all.
    OfAnotherType,
    /// The event is none.
    NoEvent(RunError),
}

/// The type of an event as the text of JSON, and whether it is beyond doubt.
#[derive(Clone, Copy)]
struct TypeText<'a> {
    text: &'a [u8],
    is_certain: bool,
}

impl TenantState {
    /// Serves an event that was begun, ends it, and notes what it came to.
    pub(super) fn serve(&self, event: &[u8]) -> Served {
        let started = Instant::now();
        let settings = self.settings();
        let account = Account::default();
        let mut visit = Visit { settings: &settings, event, account, shadow: None, served: None };
        let answer = self.answer(&mut visit);
        let Visit { mut account, shadow, served, .. } = visit;
        let time = started.elapsed();
        account.time = time;
        account.summary.events = 1;
        account.summary.bytes = event.len() as u64;
        let answer = answer.map(|answer| Answer { time, ..answer });
        match &answer {
            Ok(answer) => {
                account.result_bytes = answer.json.len() as u64;
                account.summary.unrouted = u64::from(answer.by == By::Nobody);
            }
            Err(error) => _ = account.summary.rejects.insert(error.code(), 1),
        }
        self.end(&account, fuel_of(account.summary.fuel, answer.is_err(), time));
        self.require_residency(&settings);
        let shadow = shadow.map(|shadow| Shadowing { shadow, settings, served });
        Served { answer, shadow }
    }

    fn answer(&self, visit: &mut Visit<'_>) -> Result<Answer, ServeError> {
        let (settings, event) = (visit.settings, visit.event);
        if let Some(text) = settings.guess.of(event)
            && let Some(route) = settings.route(text)
            && let Some(answer) =
                self.by_route(visit, route, TypeText { text, is_certain: false })?
        {
            return Ok(answer);
        }
        let limit = settings.gates.sandbox().limits().event_bytes;
        let mut reader = self.reader().unwrap_or_else(|| TypeReader::new(limit));
        let read = reader.read(event);
        self.give_back(reader);
        let text = read.map_err(no_event)?;
        let text = text.as_deref();
        if let Some(text) = text
            && let Some(route) = settings.route(text)
            && let Some(answer) =
                self.by_route(visit, route, TypeText { text, is_certain: true })?
        {
            return Ok(answer);
        }
        Ok(answer_by(text.map(|text| Arc::from(type_of(text))), By::Nobody))
    }

    /// What serves a route gives; nothing where there is nothing, or the event's type isn't certain and turns out to be another one.
    fn by_route(
        &self,
        visit: &mut Visit<'_>,
        route: &Route,
        event_type: TypeText<'_>,
    ) -> Result<Option<Answer>, ServeError> {
        let now = self.now();
        let mut error = None;
        match &*route.versions {
            // Who gives what isn't a version's needs to know the type.
            [] if !event_type.is_certain => return Ok(None),
            [] => {}
            [active] => match active.turn(now) {
                Some((version, turn)) => {
                    match self.run_version(visit, &version, turn, route, event_type) {
                        Ran::Gave(answer) => {
                            visit.shadow_of(route);
                            return Ok(Some(*answer));
                        }
                        Ran::OfAnotherType => return Ok(None),
                        Ran::NoEvent(error) => return Err(no_event(error)),
                        Ran::Failed(failed) => error = Some(failed),
                    }
                }
                None if !event_type.is_certain => return Ok(None),
                None => error = Some(set_aside(active, now)),
            },
            // Each of them reads the whole event.
            _ if !event_type.is_certain => return Ok(None),
            several => match self.run_several(visit, several, route, event_type) {
                Ok(answer) => return Ok(Some(answer)),
                Err(Several::Failed(failed)) => error = Some(failed),
                Err(Several::NoEvent(error)) => return Err(no_event(error)),
            },
        }
        visit.shadow_of(route);
        let Some(fallback) = &route.fallback else { return error.map_or(Ok(None), Err) };
        let json = match fallback {
            RouteFallback::Native(native) => {
                (native.0)(visit.event).and_then(|it| written(&it)).map_err(ServeError::Fallback)?
            }
            RouteFallback::Bundle(version) => {
                let event_type = TypeText { is_certain: true, ..event_type };
                match self.run_version(visit, version, Turn::Serves, route, event_type) {
                    Ran::Gave(answer) => answer.json,
                    Ran::Failed(error) => return Err(error),
                    Ran::NoEvent(error) => return Err(no_event(error)),
                    Ran::OfAnotherType => return Ok(None),
                }
            }
        };
        visit.account.fallbacks = 1;
        let by = By::Fallback { instead_of: error.as_ref().map(Coded::code) };
        Ok(Some(Answer { json, ..answer_by(Some(type_by(route, event_type.text)), by) }))
    }

    /// Runs versions of several extractors on an event, and merges what they give. If one of them fails, there is no result: a part of
    /// it would pass for the whole.
    fn run_several(
        &self,
        visit: &mut Visit<'_>,
        versions: &[Arc<Version>],
        route: &Route,
        event_type: TypeText<'_>,
    ) -> Result<Answer, Several> {
        let now = self.now();
        let before = visit.account.clone();
        let (mut merging, mut given, mut fuel) = (Merging::default(), Vec::new(), 0);
        for active in versions {
            let Some((version, turn)) = active.turn(now) else {
                return Err(Several::Failed(set_aside(active, now)));
            };
            let answer = match self.run_version(visit, &version, turn, route, event_type) {
                Ran::Gave(answer) => *answer,
                Ran::Failed(error) => return Err(Several::Failed(error)),
                Ran::NoEvent(error) => return Err(Several::NoEvent(error)),
                // The type is certain.
                Ran::OfAnotherType => continue,
            };
            let result = answer.extraction().map_err(|error| {
                let (code, blame) = (codes::RESULT_WRONG_SHAPE, Blame::Extractor);
                let problem = Box::new(Problem::new(Stage::Graph, code, error.to_string()));
                Several::Failed(ServeError::Graph { problem, blame })
            })?;
            if route.shadow.as_ref().is_some_and(|it| it.name == version.name) {
                visit.served = Some(result.clone());
            }
            merging.push(version.digest, result, answer.dropped);
            given.push((version.name.clone(), version.digest));
            fuel += answer.fuel;
        }
        visit.shadow_of(route);
        let merged = merging.finish(route.conflicts).map_err(|problem| {
            let blame = Blame::Extractor;
            Several::Failed(ServeError::Graph { problem: Box::new(problem), blame })
        })?;
        // The event counts once, whoever had a part in it.
        let summary = &mut visit.account.summary;
        let is_empty = merged.result.is_empty();
        summary.results = before.summary.results + u64::from(!is_empty);
        summary.empty = before.summary.empty + u64::from(is_empty);
        summary.in_part = before.summary.in_part + u64::from(!merged.failures.is_empty());
        let json = written(&merged.result)
            .map_err(|error| Several::Failed(ServeError::Fallback(error)))?;
        let by = By::Versions { versions: given, decision: merged.decision };
        let answer = answer_by(Some(type_by(route, event_type.text)), by);
        Ok(Answer { json, dropped: merged.failures, fuel, ..answer })
    }

    /// Runs a version on an event, and notes how it went.
    fn run_version(
        &self,
        visit: &mut Visit<'_>,
        version: &Arc<Version>,
        turn: Turn,
        route: &Route,
        event_type: TypeText<'_>,
    ) -> Ran {
        let (settings, event) = (visit.settings, visit.event);
        let started = Instant::now();
        let ready = match version.ready(settings, self.now()) {
            Ok(ready) => ready,
            Err(error) => {
                self.refused(settings, version, turn, &error);
                // What can't be loaded has read nothing, so that the type isn't known for sure.
                return if event_type.is_certain {
                    Ran::Failed(error.into())
                } else {
                    Ran::OfAnotherType
                };
            }
        };
        let mut runner = version.runner(&ready, settings.tenant.holds_to_graphs);
        let projected = runner.project(event);
        let is_of_type = event_type.is_certain || runner.is_of_type(event, event_type.text);
        if projected.is_err() || !is_of_type {
            version.keep(&ready, runner, self.most_idle);
            self.judge(settings, version, turn, None);
            return match projected {
                Err(error) => Ran::NoEvent(error),
                Ok(()) => Ran::OfAnotherType,
            };
        }
        let made = self.made(&mut runner, &ready, settings, event);
        version.keep(&ready, runner, self.most_idle);
        let mut account = Account { time: started.elapsed(), ..Account::default() };
        account.summary.events = 1;
        account.summary.bytes = event.len() as u64;
        let ran = match made {
            Ok(made) => {
                made.count(&mut visit.account);
                made.count(&mut account);
                account.result_bytes = made.json.len() as u64;
                Ran::Gave(Box::new(made.answer(version, type_by(route, event_type.text))))
            }
            Err(error) => {
                let error = error.of_type(|| type_by(route, event_type.text));
                account.summary.rejects.insert(error.code(), 1);
                Ran::Failed(error)
            }
        };
        version.note(&account);
        let went_well = match &ran {
            Ran::Failed(error) if error.blame() != Blame::Extractor => None,
            ran => Some(!matches!(ran, Ran::Failed(_))),
        };
        self.judge(settings, version, turn, went_well);
        ran
    }

    /// What a version gives for the event that its runner has projected, held to its graph spec. Where all places of a pool are taken,
    /// those of idle instances are given up first.
    fn made(
        &self,
        runner: &mut Runner,
        ready: &Ready,
        settings: &Settings,
        event: &[u8],
    ) -> Result<Made, ServeError> {
        match extracted(runner, ready, settings, event) {
            Err(ServeError::Run { error, .. }) if error.code() == codes::POOL_EXHAUSTED.name => {
                self.give_up_idle();
                runner.project(event).map_err(no_event)?;
                extracted(runner, ready, settings, event)
            }
            made => made,
        }
    }

    /// Has the version that runs beside the one that is served do the same event.
    pub(super) fn shadow(
        &self,
        Shadowing { shadow, settings, served }: &Shadowing,
        event: &[u8],
        answer: &Result<Answer, ServeError>,
    ) {
        let served = match answer {
            Ok(answer) if answer.version().is_some() => answer.extraction().ok(),
            _ => served.clone(),
        };
        let started = Instant::now();
        let mut fuel = 0;
        let own = shadow.version.ready(settings, self.now()).ok().and_then(|ready| {
            let mut runner = shadow.version.runner(&ready, settings.tenant.holds_to_graphs);
            let made = match runner.project(event) {
                Ok(()) => self.made(&mut runner, &ready, settings, event).ok(),
                Err(_) => None,
            };
            shadow.version.keep(&ready, runner, self.most_idle);
            let mut account = Account { time: started.elapsed(), ..Account::default() };
            account.summary.events = 1;
            account.summary.bytes = event.len() as u64;
            if let Some(made) = &made {
                made.count(&mut account);
            }
            fuel = account.summary.fuel;
            shadow.version.note(&account);
            serde_json::from_slice(&made?.json).ok()
        });
        let time = started.elapsed();
        self.pay(fuel_of(fuel, own.is_none(), time), time);
        shadow.count(served, own);
    }
}

impl Visit<'_> {
    /// Notes that the version beside that of the route is to have the event, if there is one and it is due.
    fn shadow_of(&mut self, route: &Route) {
        self.shadow = route.shadow.as_ref().filter(|shadow| shadow.is_due()).cloned();
    }
}

/// What a version gave.
struct Made {
    json: Vec<u8>,
    shape: ResultCounts,
    dropped: Vec<crate::graph::Failure>,
    fuel: u64,
    failed_conversions: u64,
}

impl Made {
    fn count(&self, account: &mut Account) {
        let summary = &mut account.summary;
        summary.fuel += self.fuel;
        summary.failed_conversions += self.failed_conversions;
        if self.shape.is_empty() {
            summary.empty += 1;
            return;
        }
        summary.results += 1;
        summary.in_part += u64::from(!self.dropped.is_empty());
        for failure in &self.dropped {
            *summary.dropped.entry(failure.code.name).or_default() += 1;
        }
    }

    fn answer(self, version: &Version, event_type: Arc<str>) -> Answer {
        let Self { json, shape, dropped, fuel, .. } = self;
        let decision = match dropped.as_slice() {
            [] => Decision::CompiledUnchanged,
            _ => Decision::CompiledFiltered,
        };
        let by = By::Version { name: version.name.clone(), version: version.digest, decision };
        Answer { json, shape: Some(shape), dropped, fuel, ..answer_by(Some(event_type), by) }
    }
}

/// Runs the guest on the event that was projected last, and holds its result to its graph spec.
fn extracted(
    runner: &mut Runner,
    ready: &Ready,
    settings: &Settings,
    event: &[u8],
) -> Result<Made, ServeError> {
    let outcome = runner
        .extract(event, &mut ())
        .map_err(|error| ServeError::Run { event_type: None, error })?;
    let made = |json, dropped| Made {
        json,
        shape: outcome.shape,
        dropped,
        fuel: outcome.fuel,
        failed_conversions: u64::from(outcome.failed_conversions),
    };
    if !settings.tenant.holds_to_graphs || outcome.is_known_to_fit() {
        return Ok(made(outcome.json.to_vec(), Vec::new()));
    }
    let graph = ready.graph.as_ref().map_err(ServeError::graphs)?;
    match Extracted::held(outcome, &graph.spec, graph.options, event) {
        Extracted::Decided(decided) if decided.decision == Decision::CompiledFiltered => {
            let json = written(&decided.result).map_err(ServeError::Fallback)?;
            Ok(made(json, decided.failures))
        }
        Extracted::Decided(decided) => {
            let problem = Box::new(graph_check::problem(&decided));
            Err(ServeError::Graph { problem, blame: Blame::Extractor })
        }
        _ => Ok(made(outcome.json.to_vec(), Vec::new())),
    }
}

fn answer_by(event_type: Option<Arc<str>>, by: By) -> Answer {
    let (json, dropped, time) = (Vec::new(), Vec::new(), Duration::ZERO);
    Answer { event_type, by, json, shape: None, dropped, fuel: 0, time }
}

/// The type of an event that takes a route.
fn type_by(route: &Route, text: &[u8]) -> Arc<str> {
    if route.is_prefix { Arc::from(type_of(text)) } else { Arc::clone(&route.event_type) }
}

fn set_aside(version: &Version, now: Duration) -> ServeError {
    let until = version.set_aside_until().unwrap_or_default();
    let retry_after = until.saturating_sub(now);
    ServeError::SetAside { name: version.name.clone(), version: version.digest, retry_after }
}

fn no_event(error: RunError) -> ServeError {
    ServeError::Run { event_type: None, error }
}

/// A result as the text of JSON.
fn written(result: &Extraction) -> Result<Vec<u8>, ExtractError> {
    serde_json::to_vec(result).map_err(|error| ExtractError::raised(error.to_string()))
}

/// The fuel that an event is charged: of one that has failed, what its counter might have said.
fn fuel_of(fuel: u64, has_failed: bool, time: Duration) -> u64 {
    if has_failed { fuel.max(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)) } else { fuel }
}
