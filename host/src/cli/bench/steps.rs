//! Where the time of an event goes.

use std::time::Instant;

use retort::sandbox::{Observer, Step};

use super::report::{StepValues, Steps, fine, rounded};
use super::turns::median;

/// Adds up the nanoseconds of each step.
#[derive(Default)]
pub(super) struct StepClock {
    last: Option<Instant>,
    spent: StepValues,
}

impl StepClock {
    /// The next event begins.
    pub(super) fn begin(&mut self) {
        self.last = Some(Instant::now());
    }

    /// What each of so many events took.
    pub(super) fn of_each(self, events: usize) -> StepValues {
        self.spent.each(|step| step / events.max(1) as f64)
    }
}

impl Observer for StepClock {
    fn ended(&mut self, step: Step) {
        let now = Instant::now();
        let spent = self.last.map(|last| now.saturating_duration_since(last));
        *self.spent.of(step) += spent.unwrap_or_default().as_nanos() as f64;
        self.last = Some(now);
    }
}

impl StepValues {
    fn of(&mut self, step: Step) -> &mut f64 {
        match step {
            Step::Project => &mut self.project,
            Step::CopyIn => &mut self.copy_in,
            Step::Instantiate => &mut self.instantiate,
            Step::Guest => &mut self.guest,
            Step::Check => &mut self.check,
        }
    }

    fn each(self, figure: impl Fn(f64) -> f64) -> Self {
        Self {
            project: figure(self.project),
            copy_in: figure(self.copy_in),
            instantiate: figure(self.instantiate),
            guest: figure(self.guest),
            check: figure(self.check),
        }
    }
}

/// The median of each step, and what part of their sum it is.
pub(super) fn medians(turns: &[StepValues]) -> Steps {
    let of = |step: fn(&StepValues) -> f64| median(turns.iter().map(step).collect());
    let ns = StepValues {
        project: of(|it| it.project),
        copy_in: of(|it| it.copy_in),
        instantiate: of(|it| it.instantiate),
        guest: of(|it| it.guest),
        check: of(|it| it.check),
    };
    let all: f64 = ns.named().iter().map(|(_, step)| step).sum();
    let part = |step: f64| if all > 0.0 { fine(step / all) } else { 0.0 };
    Steps { ns_per_event: ns.each(rounded), share: ns.each(part) }
}
