//! What the limits of a guest cost: the call into it alone, in engines that count nothing, fuel, and fuel and deadline.
//!
//! The library has no way to run an event without limits. So what is compared is the same module, compiled in the same way but
//! for what is counted, on blocks of events that it has run on before, within its limits: it ends, with nobody looking.

use std::hint::black_box;
use std::time::{Duration, Instant};

use retort::gate::{Proof, ResetSafety};
use retort::internal::bare::{Bare, Metering};
use retort::internal::block::BlockWriter;
use retort::internal::codes;
use retort::internal::event::{Projection, Projector};
use retort::{Bundle, Pipeline};

use super::report::MeteringFigures;
use super::turns::{MIN_ROUNDS, ROUNDS, Spread, ratio};
use crate::cli::error::CliError;

/// Events whose blocks are held, at most.
const MAX_EVENTS: usize = 1_000;
/// Bytes of these blocks, at most.
const MAX_BYTES: usize = 64 << 20;
/// How long a turn takes, about.
const TURN: Duration = Duration::from_millis(5);
/// How long all turns of a bundle may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Why nothing can be said of a bundle.
pub(super) const NOT_RENDERED: &str = "what metering costs is measured of modules that this version renders from their plans, and of no other";

/// The figures of a bundle, with the least metering first; none where the module isn't one that this host renders.
pub(super) fn measure(
    bundle: &Bundle,
    pipeline: &Pipeline,
    events: &[&[u8]],
) -> Result<Vec<MeteringFigures>, CliError> {
    let inspected = bundle.module().inspected();
    let is_rendered =
        matches!(inspected.reset_safety(), ResetSafety::Proven { how: Proof::Rendered });
    if !is_rendered || bundle.module().extractor().imports_wasi() {
        return Ok(Vec::new());
    }
    let blocks = blocks(bundle, pipeline, events);
    let capacity = blocks.iter().map(Vec::len).max().unwrap_or_default();
    let mut guests = Vec::with_capacity(Metering::ALL.len());
    for metering in Metering::ALL {
        let guest = Bare::new(inspected, capacity, metering).map_err(CliError::refused)?;
        guests.push((metering, guest, Vec::new()));
    }
    // All that an event has is the block, and it ended within the limits: the result is what it was.
    let mut failed = false;
    let mut turn = |guest: &mut Bare, repeat: u32| {
        let start = Instant::now();
        for _ in 0..repeat {
            for block in &blocks {
                failed |= black_box(guest.call(black_box(block))).is_err();
            }
        }
        start.elapsed()
    };
    let warm = guests.iter_mut().map(|(_, guest, _)| turn(guest, 1)).max().unwrap_or_default();
    let repeat = (TURN.as_nanos() / warm.as_nanos().max(1)).clamp(1, 10_000) as u32;
    let calls = f64::from(repeat) * blocks.len().max(1) as f64;
    let start = Instant::now();
    for round in 0..ROUNDS {
        if round >= MIN_ROUNDS && start.elapsed() >= TIME_LIMIT {
            break;
        }
        for (_, guest, times) in &mut guests {
            times.push(turn(guest, repeat).as_nanos() as f64 / calls);
        }
    }
    if failed {
        let message = format!(
            "`{}`: expected the guest to end as it did within its limits, found that it failed",
            bundle.manifest().function_name()
        );
        return Err(CliError::Refused { code: codes::BENCH_EVENT_FAILED, message });
    }
    let least: Vec<f64> = guests.first().map(|(.., times)| times.clone()).unwrap_or_default();
    let figures = |(metering, _, times): (Metering, Bare, Vec<f64>)| MeteringFigures {
        fuel: metering.fuel,
        deadline: metering.deadline,
        ratio: ratio(&times, &least),
        ns_per_event: Spread::of(times),
    };
    Ok(guests.into_iter().map(figures).collect())
}

/// The blocks that the guest gets for these events, as far as they are held; with what the policy withholds left out.
fn blocks(bundle: &Bundle, pipeline: &Pipeline, events: &[&[u8]]) -> Vec<Vec<u8>> {
    let section = bundle.module().inspected().section();
    let projector = match pipeline.policy().withheld(section) {
        Some(withheld) => Projector::withholding(section, &["event_type".to_owned()], withheld),
        None => Projector::of(section),
    };
    let mut projection = Projection::default();
    let mut writer = BlockWriter::default();
    let mut blocks: Vec<Vec<u8>> = Vec::new();
    let mut bytes = 0;
    for event in events.iter().take(MAX_EVENTS) {
        // The events are well: they have given results.
        if projector.project(event, &mut projection).is_err() {
            continue;
        }
        let limits = pipeline.sandbox().limits().input_bytes;
        if let Ok(block) = writer.write(&projector, event, &projection, limits) {
            bytes += block.len();
            blocks.push(block.to_vec());
        }
        if bytes >= MAX_BYTES {
            break;
        }
    }
    blocks
}
