//! Cases in files, each a test of its own, by kind and file: `hostile::memory/grow`. Files are found when this is run, so
//! that a new one is a test without a line of code.
//!
//! Here is as well what needs data or a compiler that a checkout doesn't hold: where it is missing, such a test is ignored, and
//! says why.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should say where")]

#[macro_use]
#[path = "../options.rs"]
mod options;

mod answer;
mod bundle;
mod corpora;
mod diagnostics;
mod draft;
mod evaluation;
mod event;
mod expression;
mod extraction;
mod fallback;
mod faults;
mod graph;
mod guest;
mod hostile;
mod inspect;
mod plan;
mod policy;
mod prompt;
mod proof;
mod registry;
mod render;
mod retry;
mod revalidation;
mod smoke;
#[path = "../support.rs"]
mod support;
mod trial;
mod wasi;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(ended) = hostile::worker() {
        return ended;
    }
    let arguments = Arguments::from_args();
    trial::show_output(arguments.nocapture || arguments.show_output);
    let trials: [fn() -> Vec<Trial>; 25] = [
        answer::trials,
        bundle::trials,
        corpora::trials,
        diagnostics::trials,
        draft::trials,
        evaluation::trials,
        event::trials,
        expression::trials,
        extraction::trials,
        fallback::trials,
        faults::trials,
        graph::trials,
        guest::trials,
        inspect::trials,
        plan::trials,
        policy::trials,
        prompt::trials,
        proof::trials,
        registry::trials,
        revalidation::trials,
        render::trials,
        retry::trials,
        smoke::trials,
        wasi::trials,
        // The longest, and what is about all of its cases last.
        hostile::trials,
    ];
    let trials = trials.into_iter().flat_map(|of_kind| of_kind()).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
