//! The sample run. Its cases are in `cases/smoke.rs`.

mod guest;

use std::collections::BTreeSet;

use retort::bundle::{SmokeError, SmokeOptions};
use retort::gate::{StructuralLimits, inspect};
use retort::internal::smoke::{MAX_FUEL, smoke};
use retort::{Coded, Limits, Samples};

use self::guest::{Does, guest, load};

#[test]
fn samples_take_so_much_fuel_together() {
    let event = "{\"event_type\":\"a\",\"outcome\":0}\n";
    let each = Limits::default().fuel(event.trim_end().len());
    let enough = (MAX_FUEL / each + 1) as usize;
    let extractor =
        load(&guest(&[Does::Traps("unreachable")], &BTreeSet::from(["a"])), Limits::default());
    for (samples, processed) in [(enough, enough), (enough + 1, enough), (enough + 50, enough)] {
        let parsed = Samples::parse(&event.repeat(samples), "events").unwrap();
        let failed = smoke(&extractor, None, &parsed, None, SmokeOptions::default());
        let Err(SmokeError::Failed(failed)) = failed else { panic!("{failed:?}") };
        let report = failed.report();
        assert_eq!(report.events_processed, processed as u64);
        let ended = report.exceptions.last().unwrap().starts_with("samples_out_of_fuel: ");
        assert_eq!(ended, samples > processed, "{:?}", report.exceptions.last());
        let last = failed.samples().last().unwrap();
        assert_eq!(last.line, processed + usize::from(ended));
    }
}

#[test]
fn a_module_that_is_none_has_no_report() {
    // `module_import_failure`: the static gate turns it down, and nothing is run.
    let rejected = inspect(b"\0asm\x01\0\0\0\x01", &StructuralLimits::default()).unwrap_err();
    assert_eq!(rejected.problems()[0].code(), "malformed_module");
}

/// The host gives an extractor no event of a type that it doesn't declare, so that it need not look.
#[test]
fn samples_of_other_event_types_are_not_run() {
    let extractor =
        load(&guest(&[Does::Traps("unreachable")], &BTreeSet::from(["a"])), Limits::default());
    let samples = "{\"event_type\":\"a\",\"outcome\":0}\n{\"event_type\":\"b\",\"outcome\":0}\n";
    let samples = Samples::parse(&format!("{samples}{samples}"), "events").unwrap();
    let failed = smoke(&extractor, None, &samples, None, SmokeOptions::default());
    let Err(SmokeError::Failed(failed)) = failed else { panic!("{failed:?}") };
    assert_eq!(failed.report().events_processed, 2);
    let lines: Vec<usize> = failed.samples().iter().map(|run| run.line).collect();
    assert_eq!(lines, [1, 3]);
    // The third one is about all samples.
    assert_eq!(failed.lines(), [Some(1), Some(3), None]);
    assert_eq!(failed.problems().len(), 3);
}
