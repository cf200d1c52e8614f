//! The code that writes parts of a result.
//!
//! Constant text lies in the data segment and is copied 16 bytes at a time with the length known, which is several times
//! faster than calling a function for it. Generated functions stay far below what the static gate allows a body to have:
//! what is longer is written by several functions, one called after the other.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::RenderError;
use super::compile::MAX_SOURCE_BYTES;
use super::inputs::InputSlot;
use super::parts::{Optional, ResultPart};
use super::text::{comment, indent, literal};
use crate::plan::Nulls;

/// Where constant text begins: address 0 stays unused.
pub(super) const DATA_START: u32 = 16;
/// Constant text up to this length is copied inline.
const MAX_INLINE_BYTES: u32 = 512;
/// Text of a function after which the next one begins.
const FUNCTION_TEXT_BYTES: usize = 64 << 10;
/// Data segments, about: constant texts have one each as long as there aren't more.
const DATA_SEGMENTS: usize = 512;

/// Constant text in the data segment.
#[derive(Clone, Copy)]
pub(super) struct Constant {
    pub(super) address: u32,
    pub(super) length: u32,
}

/// What something that is written may take of a result.
#[derive(Default)]
pub(super) struct Size {
    /// Bytes of constant text.
    pub(super) constant: usize,
    /// The slices of the input block.
    pub(super) slices: Vec<InputSlot>,
}

/// The functions and the constant text of a module that is being written.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) functions: String,
    /// Each constant padded to 16 bytes.
    data: Vec<(u32, Vec<u8>)>,
    data_end: u32,
    known: HashMap<Vec<u8>, Constant>,
    /// What has been written since this was taken.
    pub(super) size: Size,
}

impl Writer {
    /// The place of constant text.
    pub(super) fn intern(&mut self, text: &[u8]) -> Constant {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let address = DATA_START.saturating_add(self.data_end);
        let constant = Constant { address, length: text.len() as u32 };
        // A module with anything near 4 GiB of it is refused.
        self.data_end = self.data_end.saturating_add(constant.length.next_multiple_of(16));
        self.data.push((address, text.to_vec()));
        self.known.insert(text.to_vec(), constant);
        constant
    }

    /// Where constant text ends.
    pub(super) fn data_end(&self) -> u32 {
        DATA_START.saturating_add(self.data_end)
    }

    /// The data segments.
    pub(super) fn data_segments(&self) -> String {
        let mut out = String::new();
        for texts in self.data.chunks(self.data.len().div_ceil(DATA_SEGMENTS).max(1)) {
            let Some((address, _)) = texts.first() else { continue };
            let _ = write!(out, "  (data (i32.const {address})");
            let mut end = *address;
            for (address, text) in texts {
                // Writing to a string can't fail.
                let _ = write!(out, " \"");
                for _ in end..*address {
                    out.push_str("\\00");
                }
                let _ = write!(out, "{}\"", literal(text));
                end = address + text.len() as u32;
            }
            out.push_str(")\n");
        }
        out
    }

    /// Refuses what has become too large to be a module, before more is written.
    pub(super) fn check_size(&self) -> Result<(), RenderError> {
        let used = self.functions.len() + self.data_end as usize;
        RenderError::check_module("source", used, MAX_SOURCE_BYTES)
    }

    /// Writes parts from `$to` on and leaves `$to` after the last: in `body`, at the depth of a function's body, or by calls
    /// of functions with this name and a number. `in_row`: whether there is a row.
    pub(super) fn parts(
        &mut self,
        body: &mut String,
        name: &str,
        in_row: bool,
        parts: &[ResultPart],
    ) {
        let chunks = self.chunks(parts);
        if let [only] = chunks.as_slice() {
            body.push_str(only);
            return;
        }
        for (number, chunk) in chunks.iter().enumerate() {
            let name = format!("{name}_{number}");
            self.function(&name, in_row, chunk);
            indent(body, 2, &call(&name, in_row));
        }
    }

    /// A function that writes what `body` writes.
    pub(super) fn function(&mut self, name: &str, in_row: bool, body: &str) {
        let row = if in_row { " (param $row i32)" } else { "" };
        let head = format!(
            "\n(func ${name} (param $block i32){row} (param $to i32) (result i32)\n  \
               (local $from i32) (local $length i32)"
        );
        indent(&mut self.functions, 1, &head);
        self.functions.push_str(body);
        indent(&mut self.functions, 2, "(local.get $to))");
    }

    /// Code that writes parts from `$to` on and leaves `$to` after the last, in pieces that fit into a function.
    fn chunks(&mut self, parts: &[ResultPart]) -> Vec<String> {
        let mut chunks = Vec::new();
        let mut out = String::new();
        let mut offset = 0;
        for part in parts {
            if out.len() > FUNCTION_TEXT_BYTES {
                advance(&mut out, 2, offset);
                offset = 0;
                chunks.push(std::mem::take(&mut out));
            }
            offset = self.part(&mut out, 2, offset, part);
        }
        advance(&mut out, 2, offset);
        chunks.push(out);
        chunks
    }

    /// Writes parts, at any depth, and leaves `$to` after the last.
    pub(super) fn nested(&mut self, out: &mut String, depth: usize, parts: &[ResultPart]) {
        let offset = parts.iter().fold(0, |offset, part| self.part(out, depth, offset, part));
        advance(out, depth, offset);
    }

    /// Writes a part at `$to + offset`; gives the offset after it from what `$to` is then.
    fn part(&mut self, out: &mut String, depth: usize, offset: u32, part: &ResultPart) -> u32 {
        match part {
            ResultPart::About(text) => {
                indent(out, depth, &format!("\n;; {text}"));
                offset
            }
            ResultPart::Constant(text) => self.copy_constant(out, depth, offset, text),
            ResultPart::Json(slot) => self.copy_json(out, depth, offset, *slot),
            ResultPart::Text(slot) => self.copy_text(out, depth, offset, *slot),
            ResultPart::Optional(optional) => {
                advance(out, depth, offset);
                self.optional(out, depth, optional);
                0
            }
        }
    }

    /// Copies constant text to `$to + offset`; gives the offset after.
    fn copy_constant(&mut self, out: &mut String, depth: usize, offset: u32, text: &str) -> u32 {
        self.size.constant = self.size.constant.saturating_add(text.len());
        let constant = self.intern(text.as_bytes());
        indent(out, depth, &format!(";; {}", comment(text)));
        if constant.length > MAX_INLINE_BYTES {
            let copy = format!(
                "(memory.copy (i32.add (local.get $to) (i32.const {offset})) (i32.const {}) (i32.const {}))",
                constant.address, constant.length
            );
            indent(out, depth, &copy);
            return offset.saturating_add(constant.length);
        }
        for chunk in (0..constant.length).step_by(16) {
            let line = format!(
                "(v128.store offset={} (local.get $to) (v128.load offset={} (i32.const 0)))",
                offset + chunk,
                constant.address + chunk
            );
            indent(out, depth, &line);
        }
        offset + constant.length
    }

    /// Copies a value to `$to + offset` and sets `$to` after it.
    fn copy_json(&mut self, out: &mut String, depth: usize, offset: u32, slot: InputSlot) -> u32 {
        self.size.slices.push(slot);
        let lines = format!(
            "(local.set $to (i32.add (local.get $to) (i32.const {offset})))\n\
             (local.set $from (i32.add (local.get $block) {}))\n\
             (local.set $length {})\n\
             (if (i32.le_u (local.get $length) (i32.const 16))\n  \
               (then (v128.store (local.get $to) (v128.load (local.get $from))))\n  \
               (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))\n\
             (local.set $to (i32.add (local.get $to) (local.get $length)))",
            slot.offset(),
            slot.length(),
        );
        indent(out, depth, &lines);
        0
    }

    /// Copies a scalar's text to `$to + offset` and sets `$to` after it.
    fn copy_text(&mut self, out: &mut String, depth: usize, offset: u32, slot: InputSlot) -> u32 {
        self.size.slices.push(slot);
        let lines = format!(
            "(local.set $to (call $put_text\n  \
               (i32.add (local.get $to) (i32.const {offset}))\n  \
               (local.get $block)\n  \
               {}))",
            slot.address()
        );
        indent(out, depth, &lines);
        0
    }

    fn optional(&mut self, out: &mut String, depth: usize, optional: &Optional) {
        indent(out, depth, &format!(";; {}", optional.about));
        // Null is the first kind that is present; denied is the first that isn't again.
        let (first, kinds) = match optional.nulls {
            Nulls::Omit => (2, 6),
            Nulls::Keep => (1, 7),
        };
        let condition = format!(
            "(if (i32.lt_u (i32.sub {} (i32.const {first})) (i32.const {kinds}))\n  (then",
            optional.value.kind(),
        );
        indent(out, depth, &condition);
        let constant =
            |text: &str| (!text.is_empty()).then(|| ResultPart::Constant(text.to_owned()));
        let parts = [
            constant(&optional.head),
            Some(ResultPart::Json(optional.value)),
            constant(optional.tail),
        ];
        self.nested(out, depth + 2, &parts.into_iter().flatten().collect::<Vec<_>>());
        indent(out, depth, "  ))");
    }
}

/// Adds to `$to`.
fn advance(out: &mut String, depth: usize, offset: u32) {
    if offset > 0 {
        let line = format!("(local.set $to (i32.add (local.get $to) (i32.const {offset})))");
        indent(out, depth, &line);
    }
}

/// A call of a function that writes something.
pub(super) fn call(name: &str, in_row: bool) -> String {
    let row = if in_row { " (local.get $row)" } else { "" };
    format!("(local.set $to (call ${name} (local.get $block){row} (local.get $to)))")
}

/// What something takes that is about to be written: its constant text and every slice of the block that it may hold.
pub(super) fn need(size: &Size) -> String {
    let mut sum = "(i64.add ".repeat(size.slices.len());
    // Writing to a string can't fail.
    let _ = write!(sum, "(i64.const {})", size.constant);
    for slice in &size.slices {
        let _ = write!(sum, "\n  {})", slice.wide_length());
    }
    sum
}

/// Whether an input that the host has judged is true: its text is `true`, which is the only one of that length.
pub(super) fn truthy(slot: InputSlot) -> String {
    format!("(i32.eq {} (i32.const 4))", slot.length())
}

/// Whether an input that the host has judged isn't true.
pub(super) fn not_truthy(slot: InputSlot) -> String {
    format!("(i32.ne {} (i32.const 4))", slot.length())
}

/// Whether an input is a boolean, a number or a string.
pub(super) fn scalar(slot: InputSlot) -> String {
    format!("(i32.le_u (i32.sub {} (i32.const 2)) (i32.const 2))", slot.kind())
}

/// Whether an input is anything but a boolean, a number or a string.
pub(super) fn not_scalar(slot: InputSlot) -> String {
    format!("(i32.gt_u (i32.sub {} (i32.const 2)) (i32.const 2))", slot.kind())
}
