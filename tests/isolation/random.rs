//! Rendered extractors over random plans, events, limits and batches.

use proptest::prelude::*;
use retort::Limits;
use retort::gate::{StructuralLimits, inspect};

use super::{Gave, alone, tenant, ways};
use crate::property::{an_event, any_plan};
use crate::support::rendered;

/// What stands before an event of a random sequence.
#[derive(Clone, Debug)]
struct Draft {
    bytes: Vec<u8>,
    /// Where it is cut off, in percent of its length.
    cut: Option<usize>,
    begins_batch: bool,
}

fn draft() -> impl Strategy<Value = Draft> {
    let cut = prop::option::weighted(0.1, 0_usize..100);
    (prop::collection::vec(any::<u8>(), 0..1500), cut, prop::bool::weighted(0.2))
        .prop_map(|(bytes, cut, begins_batch)| Draft { bytes, cut, begins_batch })
}

/// Limits that some events keep and some don't.
fn limits() -> impl Strategy<Value = Limits> {
    let fuel = prop_oneof![4 => Just(1_000_000_u64), 1 => 200_u64..2000];
    let output = prop_oneof![4 => Just(8_usize << 20), 1 => 60_usize..1000];
    let input = prop_oneof![4 => Just(4_usize << 20), 1 => 60_usize..1000];
    (fuel, output, input).prop_map(|(fuel_base, output_bytes, input_bytes)| {
        options!(Limits {
            fuel_base,
            fuel_per_byte: if fuel_base < 2000 { 1 } else { 1000 },
            output_bytes,
            input_bytes,
            ..Limits::default()
        })
    })
}

proptest! {
    // Each plan has to be compiled to native code for each of the ways.
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_event_of_a_rendered_extractor_gives_the_same_whatever_came_before_it(
        plan in prop::collection::vec(any::<u8>(), 0..1000),
        drafts in prop::collection::vec(draft(), 1..24),
        limits in limits(),
    ) {
        let plan = any_plan(&plan);
        let proven = rendered(&plan);
        let unproven = inspect(proven.wasm(), &StructuralLimits::default()).unwrap();
        let events: Vec<Vec<u8>> = drafts.iter().map(|draft| {
            let mut event = an_event(&plan, &draft.bytes).into_bytes();
            if let Some(cut) = draft.cut {
                event.truncate(event.len() * cut / 100);
            }
            event
        }).collect();
        for module in [&proven, &unproven] {
            let (alone, _) = alone(module, &limits, &events);
            for (isolation, allocator) in ways() {
                let extractor = tenant(isolation, allocator, &limits).load(module).unwrap();
                let mut runner = extractor.runner();
                // There and back, so that each event has been before the others and after them.
                let there = 0..events.len();
                for index in there.clone().chain(there.rev()) {
                    if drafts[index].begins_batch {
                        runner.begin_batch();
                    }
                    let gave = Gave::by(&mut runner, &events[index]);
                    prop_assert_eq!(
                        &gave, &alone[index], "event {} of {:?}, {:?}, {:?}",
                        index, events, isolation, allocator
                    );
                }
            }
        }
    }
}
