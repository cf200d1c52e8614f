//! What the tenants of a host share, and the workers that serve their events.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tracing::{Dispatch, dispatcher};

use super::answer::Answer;
use super::clock::Clock;
use super::error::{HostError, ServeError};
use super::meters;
use super::notice::Listener;
use super::quota::Exceeded;
use super::state::TenantState;
use super::turns::{Lane, Leave, Next, Turns};
use super::version::Version;
use crate::bundle::pipeline::Pipeline;

/// The stack of a worker: that of a program's first thread on most systems.
const STACK_BYTES: usize = 8 << 20;

/// What the tenants of a host share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) gates: Pipeline,
    pub(super) clock: Clock,
    pub(super) listener: Listener,
    /// How many instances of a version are kept at most.
    pub(super) most_idle: usize,
    pub(super) resident: Arc<AtomicU64>,
    pub(super) most_resident: Option<u64>,
    pub(super) tenants: RwLock<HashMap<Arc<str>, Arc<TenantState>>>,
    pub(super) turns: Mutex<Turns<Job>>,
    /// That there may be something to do, for the reserved worker and for the others.
    changed: [Condvar; 2],
    ending: AtomicBool,
    /// Whether what waits is served before the workers end.
    drains: AtomicBool,
    /// Whether somebody looks for what can be given up.
    is_giving_up: AtomicBool,
}

/// An event that waits.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) tenant: Arc<TenantState>,
    pub(super) event: Vec<u8>,
    pub(super) reply: oneshot::Sender<Result<Answer, ServeError>>,
    pub(super) _place: OwnedSemaphorePermit,
}

impl Shared {
    pub(super) fn new(
        gates: Pipeline,
        listener: Listener,
        workers: usize,
        most_resident: Option<u64>,
    ) -> Self {
        Self {
            gates,
            clock: Clock::default(),
            listener,
            most_idle: workers,
            resident: Arc::default(),
            most_resident,
            tenants: RwLock::default(),
            turns: Mutex::new(Turns::new(workers)),
            changed: Default::default(),
            ending: AtomicBool::new(false),
            drains: AtomicBool::new(false),
            is_giving_up: AtomicBool::new(false),
        }
    }

    pub(super) fn turns(&self) -> MutexGuard<'_, Turns<Job>> {
        // Nothing panics while it is locked.
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Has the workers end: at once, or after what waits.
    pub(super) fn end(&self, drains: bool) {
        self.drains.store(drains, Ordering::Release);
        self.ending.store(true, Ordering::Release);
        // Whoever is about to wait has seen it, or hears of it.
        drop(self.turns());
        self.changed.iter().for_each(Condvar::notify_all);
    }

    /// Adds an event to those that wait.
    pub(super) fn push(&self, lane: Lane, job: Job) -> Result<u64, Job> {
        let number = self.turns().push(lane, job, self.clock.now())?;
        self.changed.iter().for_each(Condvar::notify_one);
        Ok(number)
    }

    /// The versions of all tenants.
    pub(super) fn all_versions(&self) -> Vec<(Option<Arc<TenantState>>, Arc<Version>)> {
        let tenants = self.tenants.read().unwrap_or_else(PoisonError::into_inner);
        let versions = tenants.values().flat_map(|tenant| {
            tenant.versions().into_iter().map(|version| (Some(Arc::clone(tenant)), version))
        });
        versions.collect()
    }

    /// Gives up what was used the longest ago, where more is resident than may.
    pub(super) fn require_residency(&self, tenant: &TenantState) {
        let resident = || self.resident.load(Ordering::Relaxed);
        let Some(most) = self.most_resident.filter(|most| resident() > *most) else { return };
        // One is enough.
        if self.is_giving_up.swap(true, Ordering::Acquire) {
            return;
        }
        tenant.give_up(self.all_versions(), most, resident);
        meters::resident(resident());
        self.is_giving_up.store(false, Ordering::Release);
    }

    /// Starts so many workers. One of several is kept for tenants in credit.
    pub(super) fn start(
        self: &Arc<Self>,
        workers: usize,
    ) -> Result<Vec<JoinHandle<()>>, HostError> {
        let listener = dispatcher::get_default(Dispatch::clone);
        let start = |number: usize| {
            let (shared, listener) = (Arc::clone(self), listener.clone());
            let is_reserved = number == 0 && workers > 1;
            let work = move || {
                dispatcher::with_default(&listener, || shared.work(is_reserved));
            };
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            builder.name("retort-host".to_owned()).spawn(work).map_err(HostError::Worker)
        };
        let mut started = Vec::with_capacity(workers);
        for number in 0..workers {
            match start(number) {
                Ok(worker) => started.push(worker),
                Err(error) => {
                    self.end(false);
                    return Err(error);
                }
            }
        }
        Ok(started)
    }

    fn work(&self, is_reserved: bool) {
        let changed = &self.changed[usize::from(is_reserved)];
        let mut turns = self.turns();
        loop {
            if self.is_ending() && !self.drains.load(Ordering::Acquire) {
                return;
            }
            let leave = |_, job: &Job| match job.tenant.begin(job.event.len()) {
                Ok(()) => Leave::Given,
                Err(Exceeded { until: Some(until), .. }) => Leave::At(until),
                Err(Exceeded { until: None, .. }) => Leave::AtAnEnd,
            };
            let now = self.clock.now();
            match turns.next(now, is_reserved, leave) {
                Next::Serve(lane, job) => {
                    let paid = turns.expected(lane);
                    drop(turns);
                    let started = Instant::now();
                    job.serve();
                    let took = started.elapsed();
                    turns = self.turns();
                    turns.end(lane, took, paid, self.clock.now());
                    // Who waits for this end is looked at right away.
                    self.changed.iter().for_each(Condvar::notify_one);
                }
                Next::Wait(_) if self.is_ending() && turns.is_empty() => return,
                Next::Wait(None) => {
                    turns = changed.wait(turns).unwrap_or_else(PoisonError::into_inner);
                }
                Next::Wait(Some(until)) => {
                    let timeout = until.saturating_sub(now);
                    let waited = changed.wait_timeout(turns, timeout);
                    turns = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }
}

impl Job {
    /// Serves the event. A panic, which is a defect of ours, costs that event alone.
    fn serve(self) {
        let Self { tenant, event, reply, .. } = self;
        let served = catch_unwind(AssertUnwindSafe(|| tenant.serve(&event)));
        let Ok(served) = served else {
            tenant.panicked(event.len());
            let _ = reply.send(Err(ServeError::Panicked));
            return;
        };
        let Some(shadow) = served.shadow else {
            // Whoever asked may have gone in the meantime.
            let _ = reply.send(served.answer);
            return;
        };
        let _ = reply.send(served.answer.clone());
        // A panic here has nothing to take back.
        let _ = catch_unwind(AssertUnwindSafe(|| tenant.shadow(&shadow, &event, &served.answer)));
    }
}
