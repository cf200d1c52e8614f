//! What a guest may use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plan::expr::fuel;

/// The limits of one sandbox. All are on by default; a missing key in the serialised form means its default.
///
/// Every error that is about one of them says what was used and what was allowed
/// ([`Problem::used`](crate::diagnostics::problem::Problem::used)), the exact figure where it can be known and otherwise the least that
/// it was.
///
/// **Fuel is exact**: an event is served if and only if what its guest takes is within its fuel, the initialisation of an
/// instance that is made for it included. A guest is stopped at the next
/// function entry, loop head or bulk operation; code without any runs on, is stopped when it has ended, and its result is
/// refused. By that a body of 64 KiB, the most that the static gate takes, can overrun its fuel by some 65,000 units at most,
/// some tens of microseconds.
///
/// **The deadline** is one for all of an event: reading it, evaluating its inputs, making an instance, the call, and
/// checking the result. It is never early, and at most two ticks of 10 ms late where a guest runs. The host looks at it
/// before each row, conversion and template, and between the other steps. Those are linear in bytes that are limited
/// themselves; a single conversion is bounded by its fuel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Fuel for every event, whatever its size. Default 10,000,000, some ten milliseconds: a rendered extractor takes some
    /// hundreds, a guest in Rust that parses and prints JSON some ten thousands, and what the host works out for the plans that
    /// are known to us less than a twentieth of it.
    pub fuel_base: u64,
    /// Fuel on top for each byte of the input block. Default 1,000: work may grow with what a guest is given, and with
    /// nothing else.
    pub fuel_per_byte: u64,
    /// Wall-clock time of one event, from reading it to its checked result, in milliseconds. Default 1,000: the base
    /// fuel is used up within some ten milliseconds, so even on a busy machine this stops only what fuel can't measure.
    pub deadline_ms: u64,
    /// Linear memory in bytes. Default 16 MiB: the two capacities of a rendered extractor and room for a guest with an
    /// allocator.
    pub memory_bytes: usize,
    /// Elements of all tables together. Default 10,000: twice what the static gate lets a table start with. Rendered
    /// extractors have none, a Rust guest some dozens.
    pub table_elements: usize,
    /// WebAssembly stack in bytes. Default 512 KiB: threads of the host have 2 MiB, and a stack that outgrows its thread
    /// ends the process. More than 1 MiB is refused.
    pub stack_bytes: usize,
    /// Bytes of an input block. Default 4 MiB, the capacity of a rendered extractor with iterations; one without takes 1 MiB,
    /// and neither takes more whatever this says.
    pub input_bytes: usize,
    /// Bytes of a result. Default 8 MiB, the capacity of a rendered extractor with iterations; one without writes 1 MiB, and
    /// neither writes more whatever this says.
    pub output_bytes: usize,
    /// Rows of one event, over all iterations that are declared. Default 65,536: more than any event of the corpora that
    /// Retort was tried on, and as many as fill the input block with a few columns each.
    pub max_rows: usize,
    /// Bytes of an event. Default 16 MiB: the largest that the queues which carry events deliver; reading one takes some 20
    /// ms.
    pub event_bytes: usize,
    /// Wall-clock time to compile a module in a [helper process](super::run_compile_helper), including its start but not the
    /// wait for its turn, in milliseconds.
    /// Default 10,000: what the static gate takes is compiled in less, but for the very worst module that was found.
    pub compile_ms: u64,
    /// Bytes of address space that such a process may have, its own program included. Default 512 MiB: the program and a small
    /// module take less than 64 MiB, the worst that the static gate takes some 200. What this process compiles itself, because
    /// it has rendered it, is bounded by the renderer.
    pub compile_memory_bytes: usize,
    /// Bytes that a guest may write to its standard output and standard error for one event. Default 64 KiB: a panic's message
    /// and a good deal of what a developer prints.
    pub log_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            fuel_base: fuel::DEFAULT_BASE,
            fuel_per_byte: fuel::DEFAULT_PER_BYTE,
            deadline_ms: 1_000,
            memory_bytes: 16 << 20,
            table_elements: 10_000,
            stack_bytes: 512 << 10,
            input_bytes: crate::render::ROWS_INPUT_CAPACITY as usize,
            output_bytes: crate::render::ROWS_OUTPUT_CAPACITY as usize,
            max_rows: crate::abi::block::DEFAULT_MAX_ROWS,
            event_bytes: crate::abi::event::DEFAULT_MAX_EVENT_BYTES,
            compile_ms: 10_000,
            compile_memory_bytes: 512 << 20,
            log_bytes: 64 << 10,
        }
    }
}

impl Limits {
    /// The fuel that a call with an input block of `bytes` bytes gets.
    #[must_use]
    pub fn fuel(&self, bytes: usize) -> u64 {
        fuel::allowance(self.fuel_base, self.fuel_per_byte, bytes)
    }

    /// The deadline as a duration.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(self.deadline_ms)
    }
}
