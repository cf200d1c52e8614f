//! What a person is told before anything is measured: what isn't, and what to know of the figures.

use retort::internal::codes;

use super::input::Events;
use super::report::Build;
use super::subject::{Subject, Warm};
use crate::cli::output;

/// Says what isn't measured, and why; whether something is measured of every bundle.
pub(super) fn tell(subjects: &[Subject], warmed: &[Warm<'_>], events: &Events) -> bool {
    let none_at_all = warmed.iter().all(|warm| warm.events.is_empty());
    events.rejects.tell(&events.origin, none_at_all);
    let mut is_complete = true;
    for (subject, warm) in subjects.iter().zip(warmed) {
        let is_empty = warm.events.is_empty();
        is_complete &= !is_empty;
        warm.rejects.tell(&events.origin, is_empty);
        if is_empty && warm.rejects.is_empty() && !events.is_all_rejected() {
            let declared = subject.event_types().join(", ");
            let message = format!(
                "{}: expected events of the types that `{}` declares ({declared}), found none",
                events.origin,
                subject.name()
            );
            output::coded(codes::NO_EVENTS_OF_TYPE.name, message);
            continue;
        }
        let name = subject.name();
        if !is_empty && warm.is_all_declined() {
            output::note(format_args!(
                "`{name}` declined every event: its figures are those of declining"
            ));
        }
        if !subject.is_reset_safe() {
            output::note(format_args!(
                "`{name}` isn't proven to keep nothing: each event has an instance as new, whatever the mode"
            ));
        }
    }
    let figures = events.figures();
    let rejected: u64 = figures.rejected.values().sum();
    if rejected > 0 || figures.unrouted > 0 || !figures.complete {
        let all = if figures.complete { "" } else { " (more weren't read)" };
        output::note(format_args!(
            "{}: of {} lines{all}, {rejected} are no event and {} of no type that is measured",
            figures.origin, figures.lines, figures.unrouted
        ));
    }
    if Build::THIS == Build::Debug {
        output::note("this is a debug build: its figures say nothing of a release build's");
    }
    is_complete
}
