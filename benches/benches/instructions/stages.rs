//! What is counted: each stage of an event by itself, and what makes an extractor of a plan.

use std::hint::black_box;

use retort::Pipeline;
use retort::gate::Inspected;
use retort::internal::bare::{Bare, Metering};
use retort::internal::block::BlockWriter;
use retort::internal::event::{Projection, Projector};
use retort::internal::result::{self, Reducer};
use retort::sandbox::{Cache, Options, Sandbox};
use retort_benches::dataset::inspected;

use super::sets::Set;

/// The function whose instructions are counted, by its name alone: in what form the rest of a symbol is shown depends on versions.
pub(super) const COUNTED: &str = "*counted_pass*";

/// One of them. The first five are what a whole event is made of, but for what the sandbox does around the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Validating the event and finding the declared values in it.
    Project,
    /// Evaluating what is computed, and writing the block.
    CopyIn,
    /// Copying the block into the guest's memory and calling it, under fuel and deadline.
    Guest,
    /// Checking the result, and looking for what appears twice in it.
    Check,
    /// A whole event, on a kept instance.
    Event,
    /// A plan to a module, inspected and proven.
    Render,
    /// The module to native code.
    Compile,
    /// The module with native code that was kept.
    Load,
}

impl Stage {
    pub(super) const ALL: [Self; 8] = [
        Self::Project,
        Self::CopyIn,
        Self::Guest,
        Self::Check,
        Self::Event,
        Self::Render,
        Self::Compile,
        Self::Load,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::CopyIn => "copy_in",
            Self::Guest => "guest",
            Self::Check => "check",
            Self::Event => "event",
            Self::Render => "render",
            Self::Compile => "compile",
            Self::Load => "load",
        }
    }

    /// Gets everything ready, passes over the events once, and then once more, which is counted.
    pub(super) fn run(self, set: &Set) {
        match self {
            Self::Project => project(set),
            Self::CopyIn => copy_in(set),
            Self::Guest => guest(set),
            Self::Check => result(set),
            Self::Event => event(set),
            Self::Render => again(|| _ = black_box(inspected(black_box(&set.plan)))),
            Self::Compile => {
                let (sandbox, module) = (sandbox(None), inspected(&set.plan));
                again(|| assert!(black_box(sandbox.load(black_box(&module))).is_ok()));
            }
            Self::Load => load(set),
        }
    }
}

/// Once to warm up, then once more, which is counted.
fn again(mut pass: impl FnMut()) {
    pass();
    counted_pass(&mut pass);
}

/// What is counted is what this calls: valgrind is told its name, which therefore is no other function's.
#[inline(never)]
fn counted_pass(pass: &mut dyn FnMut()) {
    pass();
    // Something after the call, so that it stays one.
    black_box(());
}

fn sandbox(cache: Option<Cache>) -> Sandbox {
    let mut options = Options::default();
    options.cache = cache;
    Sandbox::with_options(options).expect("an engine")
}

fn project(set: &Set) {
    let module = inspected(&set.plan);
    let projector = Projector::of(module.section());
    let mut projection = Projection::default();
    again(|| {
        for event in &set.events {
            assert!(projector.project(black_box(event), &mut projection).is_ok());
        }
    });
}

/// Each event's projection.
fn projections(set: &Set, projector: &Projector) -> Vec<Projection> {
    let projection = |event: &Vec<u8>| {
        let mut projection = Projection::default();
        projector.project(event, &mut projection).expect("the events are well");
        projection
    };
    set.events.iter().map(projection).collect()
}

fn copy_in(set: &Set) {
    let module = inspected(&set.plan);
    let projector = Projector::of(module.section());
    let projections = projections(set, &projector);
    let mut writer = BlockWriter::default();
    again(|| {
        for (event, projection) in set.events.iter().zip(&projections) {
            let block = writer.write(&projector, black_box(event), projection, usize::MAX);
            black_box(block.is_ok());
            writer.release();
        }
    });
}

/// The blocks of the events; those are left out that a plan turns down before its guest is called.
fn blocks(set: &Set, module: &Inspected) -> Vec<Vec<u8>> {
    let projector = Projector::of(module.section());
    let projections = projections(set, &projector);
    let mut writer = BlockWriter::default();
    let block = |(event, projection): (&Vec<u8>, &Projection)| {
        writer.write(&projector, event, projection, usize::MAX).ok().map(<[u8]>::to_vec)
    };
    set.events.iter().zip(&projections).filter_map(block).collect()
}

fn guest(set: &Set) {
    let module = inspected(&set.plan);
    let blocks = blocks(set, &module);
    let capacity = blocks.iter().map(Vec::len).max().unwrap_or_default();
    let metering = Metering { fuel: true, deadline: true };
    let mut bare = Bare::new(&module, capacity, metering).expect("it imports nothing");
    again(|| {
        for block in &blocks {
            assert!(black_box(bare.call(black_box(block))).is_ok());
        }
    });
}

/// What guests gave, checked. Results that are kept were reduced before: what is found twice is
/// looked for, and nothing rewritten, which few events need.
fn result(set: &Set) {
    let module = inspected(&set.plan);
    let mut runner = sandbox(None).load(&module).expect("the module loads").runner();
    let kept = |event: &Vec<u8>| runner.run(event).ok().map(|outcome| outcome.json.to_vec());
    let results: Vec<Vec<u8>> = set.events.iter().filter_map(kept).collect();
    let mut reducer = Reducer::default();
    again(|| {
        for json in &results {
            match module.section().on_duplicate() {
                Some(rule) => assert!(reducer.check(black_box(json), rule).is_ok()),
                None => assert!(black_box(result::check(black_box(json))).is_ok()),
            }
        }
    });
}

fn event(set: &Set) {
    let mut runner = sandbox(None).load(&inspected(&set.plan)).expect("the module loads").runner();
    again(|| {
        for event in &set.events {
            black_box(runner.run(black_box(event)).is_ok());
        }
    });
}

/// Each time in an engine that hasn't seen the module; but for the engine, which is made in either case, that is what a start takes.
fn load(set: &Set) {
    let directory = tempfile::tempdir().expect("a directory");
    let cache = || Some(Cache::new(directory.path().join("native")));
    let module = inspected(&set.plan);
    // Filled once.
    sandbox(cache()).load(&module).expect("the module loads");
    let mut options = Options::default();
    options.cache = cache();
    let gates = Pipeline::builder().options(options).build().expect("gates");
    again(|| assert!(black_box(gates.load(black_box(&module))).is_ok()));
}
