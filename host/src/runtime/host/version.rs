//! A version of an extractor at work: loaded when it is needed, with the instances that wait for its next events.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::account::Account;
use super::breaker::{Breaker, Change, Standing, Turn};
use super::settings::{Claim, Settings};
use crate::bundle::{BundleLoadError, Digest, ExtractorName, Hold};
use crate::runtime::GraphsError;
use crate::runtime::bundle_graph::BundleGraph;
use crate::runtime::served::{Serving, load_serving};
use crate::sandbox::Runner;

/// Bytes that are taken of everybody's, as a load of a bundle takes them, that aren't native code: by measurement.
const BUNDLE_BYTES: usize = 24 << 10;

/// What is resident, of a tenant and of its host.
#[derive(Clone, Debug, Default)]
pub(super) struct Residency {
    pub(super) tenant: Arc<AtomicU64>,
    pub(super) host: Arc<AtomicU64>,
}

impl Residency {
    fn change(&self, from: u64, to: u64) {
        for counter in [&self.tenant, &self.host] {
            counter.fetch_add(to.wrapping_sub(from), Ordering::Relaxed);
        }
    }
}

/// A version of an extractor.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) name: ExtractorName,
    pub(super) digest: Digest,
    pub(super) path: PathBuf,
    residency: Residency,
    /// Who loads it has this; the others wait for that.
    loading: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ready: Option<Arc<Ready>>,
    idle: Vec<Runner>,
    /// What it is counted with among what is resident.
    bytes: u64,
    used: Duration,
    account: Account,
    standing: Standing,
    /// What has its events while it is set aside, once that was looked up, and what keeps that from being removed.
    before: Option<(Arc<Version>, Arc<Hold>)>,
}

/// A version that is loaded.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) serving: Serving,
    pub(super) graph: Result<BundleGraph, GraphsError>,
}

impl Ready {
    fn runner(&self, holds_to_graphs: bool) -> Runner {
        let runner = self.serving.module().runner();
        match &self.graph {
            Ok(graph) if holds_to_graphs => {
                runner.holding_to(Arc::clone(&graph.spec), graph.options)
            }
            _ => runner,
        }
    }
}

impl Version {
    pub(super) fn new(claim: &Claim, residency: Residency) -> Self {
        let Claim { name, digest, path } = claim.clone();
        let (loading, state) = Default::default();
        Self { name, digest, path, residency, loading, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is locked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The directory that it lies in with the other versions.
    pub(super) fn directory(&self) -> Option<&Path> {
        self.path.parent()
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.state().ready.is_some()
    }

    /// The version, loaded if it isn't yet.
    pub(super) fn ready(
        &self,
        settings: &Settings,
        now: Duration,
    ) -> Result<Arc<Ready>, BundleLoadError> {
        let ready = |state: &mut State| {
            state.used = now;
            state.ready.clone()
        };
        if let Some(ready) = ready(&mut self.state()) {
            return Ok(ready);
        }
        let _loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = ready(&mut self.state()) {
            return Ok(ready);
        }
        let hold = settings.hold_of(self.digest);
        let serving = load_serving(&self.path, self.digest, hold, &settings.gates)?;
        let graph = BundleGraph::read(&serving);
        let ready = Arc::new(Ready { serving, graph });
        let mut state = self.state();
        state.ready = Some(Arc::clone(&ready));
        self.count(&mut state);
        Ok(ready)
    }

    /// A runner for one event.
    pub(super) fn runner(&self, ready: &Arc<Ready>, holds_to_graphs: bool) -> Runner {
        let idle = self.state().idle.pop();
        idle.unwrap_or_else(|| ready.runner(holds_to_graphs))
    }

    /// Keeps a runner for the next event, beside at most so many others.
    pub(super) fn keep(&self, ready: &Arc<Ready>, mut runner: Runner, most: usize) {
        // An event is a batch of its own.
        runner.begin_batch();
        let mut state = self.state();
        let is_current = state.ready.as_ref().is_some_and(|it| Arc::ptr_eq(it, ready));
        if is_current && state.idle.len() < most {
            state.idle.push(runner);
            self.count(&mut state);
        }
    }

    fn count(&self, state: &mut State) {
        let of_code = state
            .ready
            .as_ref()
            .map_or(0, |ready| ready.serving.module().native_bytes().saturating_add(BUNDLE_BYTES));
        let of_runners: usize = state.idle.iter().map(Runner::resident_bytes).sum();
        let bytes = of_code.saturating_add(of_runners) as u64;
        self.residency.change(state.bytes, bytes);
        state.bytes = bytes;
    }

    /// Gives up what it keeps for its next events, and its code as well if that isn't to be kept. Whether there was anything.
    pub(super) fn give_up(&self, keeps_code: bool) -> bool {
        let mut state = self.state();
        let idle = std::mem::take(&mut state.idle);
        let ready = if keeps_code { None } else { state.ready.take() };
        self.count(&mut state);
        drop(state);
        !idle.is_empty() || ready.is_some()
    }

    /// When it was used last, and what is resident of it.
    pub(super) fn resident(&self) -> (Duration, u64) {
        let state = self.state();
        (state.used, state.bytes)
    }

    pub(super) fn account(&self) -> Account {
        self.state().account.clone()
    }

    pub(super) fn note(&self, account: &Account) {
        self.state().account.add(account);
    }

    pub(super) fn set_aside_until(&self) -> Option<Duration> {
        self.state().standing.until()
    }

    /// Who has the next event: this version, or what stands in for it if there is something.
    pub(super) fn turn(self: &Arc<Self>, now: Duration) -> Option<(Arc<Self>, Turn)> {
        let mut state = self.state();
        match state.standing.turn(now) {
            Turn::SetAside => {
                let (before, _) = state.before.clone()?;
                drop(state);
                let turn = before.state().standing.turn(now);
                (turn != Turn::SetAside).then_some((before, turn))
            }
            turn => Some((Arc::clone(self), turn)),
        }
    }

    /// Notes how an event went.
    pub(super) fn judge(
        &self,
        breaker: &Breaker,
        turn: Turn,
        went_well: Option<bool>,
        now: Duration,
    ) -> Option<Change> {
        self.state().standing.note(breaker, turn, went_well, now)
    }

    /// Sets it aside at once.
    pub(super) fn set_aside(&self, breaker: &Breaker, turn: Turn, now: Duration) -> Change {
        self.state().standing.set_aside(breaker, turn, now)
    }

    /// What has its events while it is set aside. Gives what had them until now.
    pub(super) fn stand_in(&self, before: Option<(Arc<Self>, Arc<Ready>)>) -> Option<Arc<Self>> {
        let held = |(version, ready): (_, Arc<Ready>)| (version, Arc::clone(ready.serving.hold()));
        let earlier = std::mem::replace(&mut self.state().before, before.map(held));
        earlier.map(|(version, _)| version)
    }
}

impl Drop for Version {
    fn drop(&mut self) {
        let bytes = self.state().bytes;
        self.residency.change(bytes, 0);
    }
}
