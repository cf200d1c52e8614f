//! When a version is set aside, and when it is tried again.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How many times longer than at first a version is set aside at most, where it fails each time that it is tried again.
const MAX_SPELLS: u32 = 16;

/// How many events in a row a version that was set aside has to serve well before it has all of them again.
const TRIALS: u32 = 3;

/// When a version that fails is set aside. Failures are those that the [extractor is to blame for](crate::sandbox::Blame::Extractor), and
/// results of which nothing fits the graph spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Breaker {
    /// So many failures. Default 10.
    pub failures: u32,
    /// Among the last so many events. Default 50.
    pub of: u32,
    /// For how long the version is set aside, in milliseconds, before it is tried again. Default 30,000. Twice as long after each trial that
    /// fails, up to 16 times.
    pub set_aside_ms: u64,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { failures: 10, of: 50, set_aside_ms: 30_000 }
    }
}

/// For how long others wait for what a trial comes to: it is lost where its thread has panicked.
const TRIAL: Duration = Duration::from_secs(60);

/// Whether a version has an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Serves,
    /// It was set aside, and is tried again with this event.
    Tried,
    SetAside,
}

/// What became of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    SetAside { until: Duration },
    Restored,
}

/// How a version has served.
#[derive(Debug, Default)]
pub(super) enum Standing {
    #[default]
    New,
    Serving {
        last: VecDeque<bool>,
        failures: u32,
    },
    SetAside {
        until: Duration,
        spells: u32,
        /// How many trials went well.
        passed: u32,
        /// Since when it is tried.
        tried: Option<Duration>,
    },
}

impl Standing {
    /// Who has the next event.
    pub(super) fn turn(&mut self, now: Duration) -> Turn {
        match self {
            Self::New | Self::Serving { .. } => Turn::Serves,
            Self::SetAside { until, tried, .. }
                if now >= *until && tried.is_none_or(|at| now >= at.saturating_add(TRIAL)) =>
            {
                *tried = Some(now);
                Turn::Tried
            }
            Self::SetAside { .. } => Turn::SetAside,
        }
    }

    /// Until when it is set aside.
    pub(super) fn until(&self) -> Option<Duration> {
        match self {
            Self::New | Self::Serving { .. } => None,
            Self::SetAside { until, .. } => Some(*until),
        }
    }

    /// Notes how an event went: well or not or, where that says nothing of the version, `None`.
    pub(super) fn note(
        &mut self,
        breaker: &Breaker,
        turn: Turn,
        went_well: Option<bool>,
        now: Duration,
    ) -> Option<Change> {
        let spell = Duration::from_millis(breaker.set_aside_ms);
        match (&mut *self, turn) {
            (Self::SetAside { until, spells, passed, tried }, Turn::Tried) => {
                *tried = None;
                match went_well {
                    None => None,
                    Some(true) => {
                        *passed += 1;
                        let is_restored = *passed >= TRIALS;
                        is_restored.then(|| {
                            *self = Self::New;
                            Change::Restored
                        })
                    }
                    Some(false) => {
                        *spells = spells.saturating_mul(2).min(MAX_SPELLS);
                        *until = now.saturating_add(spell.saturating_mul(*spells));
                        *passed = 0;
                        Some(Change::SetAside { until: *until })
                    }
                }
            }
            // It was begun before.
            (Self::SetAside { .. }, _) => None,
            (Self::New, _) => {
                if went_well == Some(false) {
                    *self = Self::Serving { last: VecDeque::from([false]), failures: 1 };
                }
                self.tripped(breaker, spell, now)
            }
            (Self::Serving { last, failures }, _) => {
                let went_well = went_well?;
                last.push_back(went_well);
                *failures += u32::from(!went_well);
                if last.len() > breaker.of as usize && last.pop_front() == Some(false) {
                    *failures -= 1;
                }
                // Nothing is kept for a version that does well.
                if *failures == 0 {
                    *self = Self::New;
                }
                self.tripped(breaker, spell, now)
            }
        }
    }

    /// Sets it aside at once, as after too many failures.
    pub(super) fn set_aside(&mut self, breaker: &Breaker, turn: Turn, now: Duration) -> Change {
        if let Some(change) = match turn {
            Turn::Tried => self.note(breaker, turn, Some(false), now),
            Turn::Serves | Turn::SetAside => None,
        } {
            return change;
        }
        let until = now.saturating_add(Duration::from_millis(breaker.set_aside_ms));
        *self = Self::SetAside { until, spells: 1, passed: 0, tried: None };
        Change::SetAside { until }
    }

    fn tripped(&mut self, breaker: &Breaker, spell: Duration, now: Duration) -> Option<Change> {
        let Self::Serving { failures, .. } = self else { return None };
        if *failures < breaker.failures.max(1) {
            return None;
        }
        let until = now.saturating_add(spell);
        *self = Self::SetAside { until, spells: 1, passed: 0, tried: None };
        Some(Change::SetAside { until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKER: Breaker = Breaker { failures: 3, of: 5, set_aside_ms: 1_000 };

    fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn serve(standing: &mut Standing, went_well: bool, now: Duration) -> Option<Change> {
        let turn = standing.turn(now);
        assert_ne!(turn, Turn::SetAside);
        standing.note(&BREAKER, turn, Some(went_well), now)
    }

    #[test]
    fn failures_far_apart_set_nothing_aside() {
        let mut standing = Standing::default();
        for event in 0..100 {
            assert_eq!(serve(&mut standing, event % 3 != 0, secs(0)), None, "{event}");
        }
        for _ in 0..5 {
            assert_eq!(serve(&mut standing, true, secs(0)), None);
        }
        assert!(matches!(standing, Standing::New));
    }

    #[test]
    fn a_version_is_set_aside_tried_and_restored() {
        let mut standing = Standing::default();
        for went_well in [false, true, false, true] {
            assert_eq!(serve(&mut standing, went_well, secs(0)), None);
        }
        let until = secs(1);
        assert_eq!(serve(&mut standing, false, secs(0)), Some(Change::SetAside { until }));
        assert_eq!((standing.turn(secs(0)), standing.until()), (Turn::SetAside, Some(until)));
        // One at a time.
        assert_eq!((standing.turn(until), standing.turn(until)), (Turn::Tried, Turn::SetAside));
        let failed = standing.note(&BREAKER, Turn::Tried, Some(false), until);
        assert_eq!(failed, Some(Change::SetAside { until: secs(3) }));
        for _ in 0..2 {
            assert_eq!(serve(&mut standing, true, secs(3)), None);
        }
        assert_eq!(serve(&mut standing, true, secs(3)), Some(Change::Restored));
        assert_eq!(standing.turn(secs(3)), Turn::Serves);
    }

    #[test]
    fn what_says_nothing_of_a_version_changes_nothing() {
        let mut standing = Standing::default();
        for _ in 0..2 {
            serve(&mut standing, false, secs(0));
        }
        assert_eq!(standing.note(&BREAKER, Turn::Serves, None, secs(0)), None);
        assert!(serve(&mut standing, false, secs(0)).is_some());
        // A trial without a verdict is followed by another one.
        assert_eq!(standing.turn(secs(1)), Turn::Tried);
        assert_eq!(standing.note(&BREAKER, Turn::Tried, None, secs(1)), None);
        assert_eq!(standing.turn(secs(1)), Turn::Tried);
        // So is one of which nothing is heard.
        assert_eq!(standing.turn(secs(60)), Turn::SetAside);
        assert_eq!(standing.turn(secs(61)), Turn::Tried);
    }

    #[test]
    fn a_version_that_never_does_well_is_tried_less_and_less() {
        let (mut standing, mut now) = (Standing::default(), secs(0));
        for _ in 0..3 {
            serve(&mut standing, false, now);
        }
        let mut spells = Vec::new();
        for _ in 0..6 {
            let until = standing.until().unwrap_or_default();
            spells.push((until - now).as_secs());
            now = until;
            serve(&mut standing, false, now);
        }
        assert_eq!(spells, [1, 2, 4, 8, 16, 16]);
    }
}
