//! Whose turn it is: events of many tenants, and who is served next.
//!
//! Round robin by deficits, where time refills them. Each tenant with events has the same share of the workers' time, by its weight; what
//! its events took is paid from it. Tenants in credit come first, one event each in turn; those in debt have what the others leave, and
//! never the last of the workers. That one is reserved for events whose tenants are in credit for as long as they are expected to take: however
//! long the events of a few take, the others find it free.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

/// The most that a tenant may save up, in seconds of a worker.
const MAX_CREDIT: f64 = 0.05;

/// The most that a tenant may owe, in seconds of a worker.
const MAX_DEBT: f64 = 10.0;

/// What is left, with each event, of how long one before was.
const FADING: f64 = 0.9;

/// Which tenant.
pub(super) type Lane = u64;

/// The events of all tenants that wait.
#[derive(Debug)]
pub(super) struct Turns<J> {
    lanes: HashMap<Lane, State<J>>,
    in_credit: VecDeque<Lane>,
    in_debt: VecDeque<Lane>,
    /// Who has used up a quota, and until when.
    waiting: BTreeSet<(Duration, Lane)>,
    workers: f64,
    /// Of all lanes that have something to do.
    weight: f64,
    numbers: u64,
}

#[derive(Debug)]
struct State<J> {
    queue: VecDeque<(u64, J)>,
    running: usize,
    weight: f64,
    /// Seconds of a worker.
    balance: f64,
    at: Duration,
    /// What the next event may take by those before, which is paid ahead.
    expected: f64,
    place: Place,
}

/// Where a lane stands that has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Nowhere,
    InTurn,
    Waiting(Duration),
    /// As many events run as may.
    Full,
}

/// Whether a lane may have an event begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    Given,
    /// Not before this time.
    At(Duration),
    /// Not before another one ends.
    AtAnEnd,
}

/// What a worker does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<J> {
    /// This event, for which so many seconds were paid ahead.
    Serve(Lane, J),
    /// Nothing, until this time if there is one.
    Wait(Option<Duration>),
}

impl<J> Turns<J> {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            lanes: HashMap::new(),
            in_credit: VecDeque::new(),
            in_debt: VecDeque::new(),
            waiting: BTreeSet::new(),
            workers: workers as f64,
            weight: 0.0,
            numbers: 0,
        }
    }

    /// Adds a tenant, or gives one another weight.
    pub(super) fn set_lane(&mut self, lane: Lane, weight: f64, now: Duration) {
        let mut more = 0.0;
        let state = self.lanes.entry(lane).or_insert_with(|| State {
            queue: VecDeque::new(),
            running: 0,
            weight,
            balance: MAX_CREDIT,
            at: now,
            expected: 0.0,
            place: Place::Nowhere,
        });
        if state.is_busy() {
            more = weight - state.weight;
        }
        state.weight = weight;
        self.weight += more;
    }

    /// Removes a tenant, and gives back its events that wait.
    pub(super) fn remove_lane(&mut self, lane: Lane) -> Vec<J> {
        let Some(state) = self.lanes.remove(&lane) else { return Vec::new() };
        if state.is_busy() {
            self.weight -= state.weight;
        }
        if let Place::Waiting(until) = state.place {
            self.waiting.remove(&(until, lane));
        }
        self.in_credit.retain(|it| *it != lane);
        self.in_debt.retain(|it| *it != lane);
        state.queue.into_iter().map(|(_, job)| job).collect()
    }

    /// Adds an event, and gives it a number; or gives it back where there is no such tenant.
    pub(super) fn push(&mut self, lane: Lane, job: J, now: Duration) -> Result<u64, J> {
        let Some(state) = self.lanes.get_mut(&lane) else { return Err(job) };
        self.numbers += 1;
        if !state.is_busy() {
            self.weight += state.weight;
        }
        state.queue.push_back((self.numbers, job));
        if state.place == Place::Nowhere {
            self.place(lane, now);
        }
        Ok(self.numbers)
    }

    /// Takes an event back that hasn't begun.
    pub(super) fn cancel(&mut self, lane: Lane, number: u64) -> Option<J> {
        let state = self.lanes.get_mut(&lane)?;
        // Numbers are given in order.
        let place = state.queue.binary_search_by_key(&number, |(it, _)| *it).ok()?;
        let (_, job) = state.queue.remove(place)?;
        if !state.is_busy() {
            self.weight -= state.weight;
        }
        Some(job)
    }

    /// What a worker does next; a reserved one serves nobody who is in debt. `leave` says whether a tenant may have an event begun,
    /// which it is then.
    pub(super) fn next(
        &mut self,
        now: Duration,
        is_reserved: bool,
        mut leave: impl FnMut(Lane, &J) -> Leave,
    ) -> Next<J> {
        while let Some((until, lane)) = self.waiting.first().copied() {
            if until > now {
                break;
            }
            self.waiting.pop_first();
            self.place(lane, now);
        }
        // Who is in debt may have come out of it by now, and the other way round: each is looked at once.
        for _ in 0..self.in_credit.len() {
            let Some(lane) = self.in_credit.pop_front() else { break };
            let balance = self.refilled(lane, now);
            if balance <= 0.0 {
                self.in_debt.push_back(lane);
            } else if is_reserved && balance <= self.expected(lane) {
                self.in_credit.push_back(lane);
            } else if let Some(next) = self.served(lane, now, &mut leave) {
                return next;
            }
        }
        for _ in 0..self.in_debt.len() {
            let Some(lane) = self.in_debt.pop_front() else { break };
            if is_reserved && self.refilled(lane, now) <= self.expected(lane) {
                self.in_debt.push_back(lane);
            } else if let Some(next) = self.served(lane, now, &mut leave) {
                return next;
            }
        }
        Next::Wait(self.wakes(now, is_reserved))
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.lanes.values().all(|state| state.queue.is_empty())
    }

    /// When there may be something to do without any event that comes or ends.
    fn wakes(&self, now: Duration, is_reserved: bool) -> Option<Duration> {
        let waiting = self.waiting.first().map(|(until, _)| *until);
        // Time pays debts.
        let debtors = self.in_debt.iter().chain(&self.in_credit).filter(|_| is_reserved);
        let debts = debtors.filter_map(|lane| {
            let state = self.lanes.get(lane).filter(|state| state.expected < MAX_CREDIT)?;
            let seconds = (state.expected - state.balance) / self.rate(state) + 0.001;
            Some(now.saturating_add(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
        });
        debts.chain(waiting).min()
    }

    /// Ends an event that took so long.
    pub(super) fn end(&mut self, lane: Lane, took: Duration, paid: f64, now: Duration) {
        let Some(state) = self.lanes.get_mut(&lane) else { return };
        let took = took.as_secs_f64();
        state.running = state.running.saturating_sub(1);
        state.balance = (state.balance - (took - paid)).max(-MAX_DEBT);
        // One short event among long ones promises nothing.
        state.expected = took.max(state.expected * FADING);
        if !state.is_busy() {
            self.weight -= state.weight;
        }
        if state.place == Place::Full {
            self.place(lane, now);
        }
    }

    /// What is paid ahead for the next event of a tenant.
    pub(super) fn expected(&self, lane: Lane) -> f64 {
        self.lanes.get(&lane).map_or(0.0, |state| state.expected)
    }

    /// The next event of a tenant, if it may have one begun.
    fn served(
        &mut self,
        lane: Lane,
        now: Duration,
        leave: &mut impl FnMut(Lane, &J) -> Leave,
    ) -> Option<Next<J>> {
        let state = self.lanes.get_mut(&lane)?;
        state.place = Place::Nowhere;
        let (_, job) = state.queue.front()?;
        match leave(lane, job) {
            Leave::Given => {}
            Leave::At(until) => {
                state.place = Place::Waiting(until);
                self.waiting.insert((until, lane));
                return None;
            }
            Leave::AtAnEnd => {
                state.place = Place::Full;
                return None;
            }
        }
        let (_, job) = state.queue.pop_front()?;
        state.running += 1;
        state.balance -= state.expected;
        if !state.queue.is_empty() {
            self.place(lane, now);
        }
        Some(Next::Serve(lane, job))
    }

    /// Puts a tenant at the end of those in credit or in debt.
    fn place(&mut self, lane: Lane, now: Duration) {
        let balance = self.refilled(lane, now);
        let Some(state) = self.lanes.get_mut(&lane) else { return };
        if state.queue.is_empty() {
            state.place = Place::Nowhere;
            return;
        }
        state.place = Place::InTurn;
        if balance > 0.0 {
            self.in_credit.push_back(lane);
        } else {
            self.in_debt.push_back(lane);
        }
    }

    /// Seconds that a tenant gets for each second.
    fn rate(&self, state: &State<J>) -> f64 {
        self.workers * state.weight / self.weight.max(state.weight)
    }

    fn refilled(&mut self, lane: Lane, now: Duration) -> f64 {
        let Some(rate) = self.lanes.get(&lane).map(|state| self.rate(state)) else { return 0.0 };
        let Some(state) = self.lanes.get_mut(&lane) else { return 0.0 };
        let passed = now.saturating_sub(state.at).as_secs_f64();
        state.at = state.at.max(now);
        state.balance = (state.balance + rate * passed).min(MAX_CREDIT);
        state.balance
    }
}

impl<J> State<J> {
    fn is_busy(&self) -> bool {
        self.running > 0 || !self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests;
