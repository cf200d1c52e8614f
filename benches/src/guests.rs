//! Guests by hand, honest ones and hostile ones. They pass the static gate, and nothing vouches for them.

use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::render::compile_text;

/// Where the empty result stands in each of them, and its length.
const EMPTY_AT: u32 = 16;
const EMPTY: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

/// The empty result as an extractor returns it.
const EMPTY_RESULT: u64 = (EMPTY_AT as u64) << 32 | EMPTY.len() as u64;

/// A guest of one function's body, which has `$block` and `$size` and some locals, and ends with a result.
fn guest(pages: u32, max_pages: u32, body: &str) -> Inspected {
    let wasm = compile_text(&text(pages, max_pages, body)).expect("it is written well");
    inspect(&wasm, &StructuralLimits::default()).expect("it is admitted")
}

/// The same as text.
fn text(pages: u32, max_pages: u32, body: &str) -> String {
    let data = EMPTY.replace('"', "\\\"");
    format!(
        r#"(module
            (memory (export "memory") {pages} {max_pages})
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
            (func $again (param i32) (result i32)
                (i32.add (call $again (local.get 0)) (i32.const 1)))
            (func (export "f") (param $block i32) (param $size i32) (result i64)
                (local $at i32) (local $sum i32)
                {body})
            (data (i32.const {EMPTY_AT}) "{data}")
            (@custom "retort" "{{\"abi\":1,\"function\":\"f\",\"event_types\":[\"e\"],\"inputs\":[{{\"path\":[\"text\"],\"as\":\"json\"}}]}}"))"#
    )
}

/// Adds up its block, byte for byte: nothing but a loop.
///
/// # Panics
/// Never: the guest is the same each time.
#[must_use]
pub fn counting() -> Inspected {
    let body = format!(
        "(loop $next
            (local.set $sum (i32.add (local.get $sum)
                (i32.load8_u (i32.add (local.get $block) (local.get $at)))))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br_if $next (i32.lt_u (local.get $at) (local.get $size))))
        (i32.store (i32.const 1024) (local.get $sum))
        (i64.const {EMPTY_RESULT})"
    );
    guest(1, 1, &body)
}

/// Copies its block to the middle of a memory of so many MiB: it touches memory in three places,
/// as a rendered extractor does.
///
/// # Panics
/// When the static gate refuses so much memory: from 17 MiB on.
#[must_use]
pub fn copying(mebibytes: u32) -> Inspected {
    let middle = mebibytes << 19;
    let body = format!(
        "(memory.copy (i32.const {middle}) (local.get $block) (local.get $size))
        (i64.const {EMPTY_RESULT})"
    );
    guest(16 * mebibytes, 16 * mebibytes, &body)
}

/// What a hostile guest does with each event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// Runs until it is stopped.
    Stall,
    /// Grows its memory as far as it goes, and writes to each page.
    Memory,
    /// Traps at once.
    Trap,
    /// Overflows its stack.
    Stack,
    /// Returns the largest result that there may be, valid up to its last bytes.
    Flood,
    /// Traps at once for events without a `text`, and declines the others.
    Moody,
}

/// A hostile guest.
///
/// # Panics
/// Never: the guests are the same each time.
#[must_use]
pub fn hostile(attack: Attack) -> Inspected {
    let wasm = compile_text(&hostile_text(attack)).expect("it is written well");
    inspect(&wasm, &StructuralLimits::default()).expect("it is admitted")
}

/// The same as text, for events of the type `e`.
#[must_use]
pub fn hostile_text(attack: Attack) -> String {
    let body = match attack {
        Attack::Stall => "(loop $forever (br $forever)) (unreachable)".to_owned(),
        Attack::Memory => format!(
            "(drop (memory.grow (i32.const 255)))
            (loop $next
                (i32.store8 (local.get $at) (i32.const 0x5a))
                (local.set $at (i32.add (local.get $at) (i32.const 4096)))
                (br_if $next (i32.lt_u (local.get $at) (i32.const {}))))
            (i64.const {EMPTY_RESULT})",
            16 << 20
        ),
        Attack::Trap => "(unreachable)".to_owned(),
        Attack::Moody => format!(
            "(if (i32.eqz (i32.load8_u (i32.add (local.get $block) (i32.const 8)))) (then (unreachable)))
            (i64.const {EMPTY_RESULT})"
        ),
        Attack::Stack => "(drop (call $again (local.get $block))) (unreachable)".to_owned(),
        // The head of a result and then one string without an end: the host has to read all of it to know.
        Attack::Flood => format!(
            "(drop (memory.grow (i32.const 255)))
            (memory.fill (i32.const 65536) (i32.const 0x61) (i32.const {length}))
            (memory.copy (i32.const 65536) (i32.const {EMPTY_AT}) (i32.const 49))
            (i32.store8 (i32.const 65585) (i32.const 0x22))
            (i64.const {result})",
            length = 8 << 20,
            result = 65536_u64 << 32 | 8 << 20,
        ),
    };
    let (pages, most) =
        if matches!(attack, Attack::Memory | Attack::Flood) { (1, 256) } else { (1, 1) };
    text(pages, most, &body)
}
