//! The module of one plan.
//!
//! The result of an extractor is a template: constant text with slices of the input block between. The generated code
//! copies one after the other. Constant text lies in the data segment and is copied 16 bytes at a time with the length
//! known, which is several times faster than calling a function for it.

use std::fmt::Write as _;

use super::inputs::{Inputs, Record};
use super::text::{comment, indent, literal, path};
use super::{INPUT_CAPACITY, OUTPUT_CAPACITY, RenderError};
use crate::abi::section::{Input, Section};
use crate::plan::{FieldMapping, Nulls, Plan};

/// Where constant text begins: address 0 stays unused.
const DATA_START: u32 = 16;
/// Spare bytes behind each area, for copies that write more than they were asked for.
const SPARE: u32 = 64;
const PAGE: u32 = 1 << 16;
/// Properties a generated function writes at most: a function's body stays far below what the static gate allows.
const PROPERTIES_PER_FUNCTION: usize = 32;

const EMPTY: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

/// A part of the template.
enum Part<'a> {
    /// Constant text.
    Constant(String),
    /// The text of a scalar inside a JSON string.
    Text(Record),
    /// The value as JSON.
    Json(Record),
    /// A property that is left out when the value is.
    Optional { field: &'a FieldMapping, at: String, record: Record },
}

/// The module's text.
pub(super) fn module(plan: &Plan) -> Result<String, RenderError> {
    let mut inputs = Inputs::default();
    let event_type = inputs.declare(Input::json(&["event_type".to_owned()]));
    let key = inputs.declare(Input::json(plan.key_field().source_path()));
    let session = inputs.declare(Input::json(plan.session_id_path()));
    let span = plan.span_handling().map(|handling| Span {
        id: inputs.declare(Input::json(handling.span_id_path())),
        id_truthy: inputs.declare(Input::truthy(handling.span_id_path())),
        partial: handling.partial_when_path().map(|path| inputs.declare(Input::truthy(path))),
    });
    let properties: Vec<Part<'_>> = plan
        .property_fields()
        .iter()
        .enumerate()
        .map(|(index, field)| Part::Optional {
            field,
            at: format!("property_fields[{index}]"),
            record: inputs.declare(Input::json(field.source_path())),
        })
        .collect();
    let section = Section::new(
        plan.function_name(),
        vec![plan.event_type().to_owned()],
        inputs.into_declared(),
    )
    .map_err(RenderError::Declaration)?;

    // Most of a result's constant text is names: where they alone are too much, nothing needs to be written.
    let capacity = OUTPUT_CAPACITY as usize;
    let heads = plan.property_fields().iter().map(|field| property_head(field).len());
    let names = heads.fold(plan.target_entity_name().len(), usize::saturating_add);
    if names > capacity {
        return Err(RenderError::TooLarge { used: names, allowed: capacity });
    }

    let mut writer = Writer::default();
    let empty = writer.intern(EMPTY.as_bytes());
    let mut functions = String::new();
    for (number, group) in properties.chunks(PROPERTIES_PER_FUNCTION).enumerate() {
        writer.property_function(&mut functions, number, group);
    }
    let guard = Guard { event_type: plan.event_type(), record: event_type, key };
    writer.read_function(&mut functions, plan, &guard, session, span.as_ref(), empty);

    if writer.most_constant > capacity {
        return Err(RenderError::TooLarge { used: writer.most_constant, allowed: capacity });
    }
    Ok(writer.module(plan, &section, &functions))
}

/// Which events are for the extractor.
struct Guard<'a> {
    event_type: &'a str,
    record: Record,
    key: Record,
}

/// The inputs that decide about spans.
struct Span {
    id: Record,
    id_truthy: Record,
    partial: Option<Record>,
}

/// Constant text in the data segment.
#[derive(Clone, Copy)]
struct Constant {
    address: u32,
    length: u32,
}

#[derive(Default)]
struct Writer {
    /// The data segment, each constant padded to 16 bytes.
    data: Vec<(u32, Vec<u8>)>,
    data_end: u32,
    /// Constant text of the largest result.
    most_constant: usize,
    /// For each slice of the input block that a result may hold, the offset of its length.
    slices: Vec<u32>,
}

impl Writer {
    fn intern(&mut self, text: &[u8]) -> Constant {
        let address = DATA_START + self.data_end;
        self.data_end += (text.len() as u32).next_multiple_of(16);
        self.data.push((address, text.to_vec()));
        Constant { address, length: text.len() as u32 }
    }

    /// Copies constant text to `$to + offset`; gives the offset behind.
    fn copy_constant(&mut self, out: &mut String, depth: usize, offset: u32, text: &str) -> u32 {
        self.most_constant += text.len();
        let constant = self.intern(text.as_bytes());
        indent(out, depth, &format!(";; {}", comment(text)));
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

    /// Copies a value to `$to + offset` and sets `$to` behind it.
    fn copy_json(&mut self, out: &mut String, depth: usize, offset: u32, record: Record) {
        self.slices.push(record.length());
        let lines = format!(
            "(local.set $to (i32.add (local.get $to) (i32.const {offset})))\n\
             (local.set $from (i32.add (local.get $block) (i32.load offset={} (local.get $block))))\n\
             (local.set $length (i32.load offset={} (local.get $block)))\n\
             (if (i32.le_u (local.get $length) (i32.const 16))\n  \
               (then (v128.store (local.get $to) (v128.load (local.get $from))))\n  \
               (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))\n\
             (local.set $to (i32.add (local.get $to) (local.get $length)))",
            record.offset(),
            record.length(),
        );
        indent(out, depth, &lines);
    }

    /// Copies a scalar's text to `$to + offset` and sets `$to` behind it.
    fn copy_text(&mut self, out: &mut String, depth: usize, offset: u32, record: Record) {
        self.slices.push(record.length());
        let lines = format!(
            "(local.set $to (call $put_text\n  \
               (i32.add (local.get $to) (i32.const {offset}))\n  \
               (local.get $block)\n  \
               (i32.add (local.get $block) (i32.const {}))))",
            record.kind()
        );
        indent(out, depth, &lines);
    }

    /// Writes parts from `$to` on and leaves `$to` behind the last.
    fn parts(&mut self, out: &mut String, depth: usize, parts: &[Part<'_>]) {
        let mut offset = 0;
        for part in parts {
            match part {
                Part::Constant(text) => offset = self.copy_constant(out, depth, offset, text),
                Part::Json(record) => {
                    self.copy_json(out, depth, offset, *record);
                    offset = 0;
                }
                Part::Text(record) => {
                    self.copy_text(out, depth, offset, *record);
                    offset = 0;
                }
                Part::Optional { field, at, record } => {
                    let about = format!(
                        ";; {at}: \"{}\" from {}",
                        comment(field.property_name()),
                        path(field.source_path())
                    );
                    indent(out, depth, &about);
                    // Null is the first kind that is present; denied is the first that isn't again.
                    let (first, kinds) = match field.nulls() {
                        Nulls::Omit => (2, 6),
                        Nulls::Keep => (1, 7),
                    };
                    let condition = format!(
                        "(if (i32.lt_u (i32.sub (i32.load offset={} (local.get $block)) (i32.const {first})) (i32.const {kinds}))\n  (then",
                        record.kind()
                    );
                    indent(out, depth, &condition);
                    let head = Part::Constant(property_head(field));
                    self.parts(out, depth + 2, &[head, Part::Json(*record)]);
                    indent(out, depth, "  ))");
                }
            }
        }
        if offset > 0 {
            let line = format!("(local.set $to (i32.add (local.get $to) (i32.const {offset})))");
            indent(out, depth, &line);
        }
    }

    /// A function that writes some properties: behind the value of the one before, without the last closing brace.
    fn property_function(&mut self, out: &mut String, number: usize, group: &[Part<'_>]) {
        let head = format!(
            "\n(func $properties_{number} (param $block i32) (param $to i32) (result i32)\n  \
               (local $from i32) (local $length i32)"
        );
        indent(out, 1, &head);
        self.parts(out, 2, group);
        indent(out, 2, "(local.get $to))");
    }

    /// The extractor itself.
    fn read_function(
        &mut self,
        out: &mut String,
        plan: &Plan,
        guard: &Guard<'_>,
        session: Record,
        span: Option<&Span>,
        empty: Constant,
    ) {
        // The text comes first, because the check of the result's size needs to know all that is copied.
        let mut body = String::new();
        self.node(&mut body, plan, guard.key, session);
        self.spans(&mut body, plan, span);

        let head = format!(
            "\n;; The extractor: one input block in, the address and the length of one result out.\n\
             (func $read (export \"{}\") (param $block i32) (param $size i32) (result i64)\n  \
               (local $to i32) (local $from i32) (local $length i32) (local $need i64)",
            plan.function_name()
        );
        indent(out, 1, &head);
        let decline = format!("(return (i64.const {}))", packed(empty.address, empty.length));
        Self::guard_event_type(out, guard, &decline);
        indent(
            out,
            2,
            &format!(
                "\n;; key_field: an event without a scalar at {} is declined",
                path(plan.key_field().source_path())
            ),
        );
        let key = format!(
            "(if (i32.gt_u (i32.sub (i32.load offset={} (local.get $block)) (i32.const 2)) (i32.const 2))\n  (then {decline}))",
            guard.key.kind()
        );
        indent(out, 2, &key);
        self.check_size(out);
        indent(out, 2, "\n(local.set $to (global.get $output))");
        out.push_str(&body);
        let result = "\n;; the address in the high half, the length in the low half\n\
             (i64.or\n  \
               (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))\n  \
               (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))";
        indent(out, 2, result);
    }

    /// Declines every event whose type isn't the plan's.
    fn guard_event_type(out: &mut String, guard: &Guard<'_>, decline: &str) {
        // The host writes strings canonically, so equal strings are equal bytes.
        let expected = serde_json::Value::from(guard.event_type).to_string();
        let about = format!(
            "\n;; event_type: any other than \"{}\" is declined",
            comment(guard.event_type)
        );
        indent(out, 2, &about);
        let first = format!(
            "(if (i32.or\n    \
                 (i32.ne (i32.load offset={} (local.get $block)) (i32.const 4))\n    \
                 (i32.ne (i32.load offset={} (local.get $block)) (i32.const {})))\n  \
               (then {decline}))\n\
             (local.set $from (i32.add (local.get $block) (i32.load offset={} (local.get $block))))",
            guard.record.kind(),
            guard.record.length(),
            expected.len(),
            guard.record.offset(),
        );
        indent(out, 2, &first);
        let mut at = 0;
        let mut rest = expected.as_bytes();
        while let Some(chunk) = rest.first() {
            let (load, constant, width) = if let Some(word) = rest.first_chunk() {
                ("i64.load", i64::from_le_bytes(*word), 8)
            } else if let Some(word) = rest.first_chunk() {
                ("i64.load32_u", i64::from(u32::from_le_bytes(*word)), 4)
            } else if let Some(word) = rest.first_chunk() {
                ("i64.load16_u", i64::from(u16::from_le_bytes(*word)), 2)
            } else {
                ("i64.load8_u", i64::from(*chunk), 1)
            };
            let compare = format!(
                "(if (i64.ne ({load} offset={at} (local.get $from)) (i64.const {constant:#x})) (then {decline}))"
            );
            indent(out, 2, &compare);
            at += width;
            rest = rest.get(width..).unwrap_or_default();
        }
    }

    /// Refuses a result that wouldn't fit before the first byte of it is written.
    fn check_size(&self, out: &mut String) {
        indent(
            out,
            2,
            "\n;; the result must fit: its constant text and every slice of the block that it may hold",
        );
        let mut sum = "(i64.add ".repeat(self.slices.len());
        // Writing to a string can't fail.
        let _ = write!(sum, "(i64.const {})", self.most_constant);
        for length in &self.slices {
            let _ = write!(sum, "\n  (i64.load32_u offset={length} (local.get $block)))");
        }
        indent(out, 2, &format!("(local.set $need {sum})"));
        let refuse = "(if (i64.gt_u (local.get $need) (i64.extend_i32_u (global.get $output_cap)))\n  \
               (then (return (i64.or (i64.const 0xffffffff00000000) (i64.and (local.get $need) (i64.const 0xffffffff))))))";
        indent(out, 2, refuse);
    }

    fn node(&mut self, out: &mut String, plan: &Plan, key: Record, session: Record) {
        let entity = plan.target_entity_name();
        let key_name = plan.key_field().property_name();
        indent(out, 2, &format!("\n;; session_id_path: {}", path(plan.session_id_path())));
        self.parts(
            out,
            2,
            &[Part::Constant(r#"{"nodes":[{"node_id":""#.to_owned()), Part::Text(session)],
        );
        let about = format!(
            "\n;; target_entity_name, key_field: \"{key_name}\" from {}",
            path(plan.key_field().source_path())
        );
        indent(out, 2, &about);
        let head = format!(
            r#"","entity_name":"{entity}","labels":["{entity}"],"properties":[{{"name":"{key_name}","value":"#
        );
        let parts = [
            Part::Constant(format!(":{entity}:{key_name}=")),
            Part::Text(key),
            Part::Constant(head),
            Part::Json(key),
        ];
        self.parts(out, 2, &parts);
        for number in 0..plan.property_fields().len().div_ceil(PROPERTIES_PER_FUNCTION) {
            let call = format!(
                "\n(local.set $to (call $properties_{number} (local.get $block) (local.get $to)))"
            );
            indent(out, 2, &call);
        }
    }

    fn spans(&mut self, out: &mut String, plan: &Plan, span: Option<&Span>) {
        const FULL: &str = r#"}]}],"edges":[],"fully_handled_span_ids":["#;
        const PARTIAL: &str = r#"],"partially_handled_span_ids":["#;
        const END: &str = "]}";
        let none = Part::Constant([FULL, PARTIAL, END].concat());
        let (Some(span), Some(handling)) = (span, plan.span_handling()) else {
            indent(out, 2, "\n;; span_handling: none");
            return self.parts(out, 2, &[none]);
        };
        let quoted = |before: String, after: String| {
            [
                Part::Constant(before + "\""),
                Part::Text(span.id),
                Part::Constant("\"".to_owned() + &after),
            ]
        };
        let full = quoted(FULL.to_owned(), [PARTIAL, END].concat());
        indent(
            out,
            2,
            &format!("\n;; span_handling.span_id_path: {}", path(handling.span_id_path())),
        );
        // A value that is judged true has the text `true`, which is the only one of that length.
        indent(
            out,
            2,
            &format!("(if (i32.and {} {})\n  (then", truthy(span.id_truthy), scalar(span.id)),
        );
        if let (Some(partial), Some(partial_path)) = (span.partial, handling.partial_when_path()) {
            indent(out, 4, &format!(";; span_handling.partial_when_path: {}", path(partial_path)));
            indent(out, 4, &format!("(if {}\n  (then", truthy(partial)));
            self.parts(out, 6, &quoted([FULL, PARTIAL].concat(), END.to_owned()));
            indent(out, 5, ")\n(else");
            self.parts(out, 6, &full);
            indent(out, 5, "))");
        } else {
            self.parts(out, 4, &full);
        }
        indent(out, 3, ")\n(else");
        self.parts(out, 4, &[none]);
        indent(out, 3, "))");
    }

    fn module(&self, plan: &Plan, section: &Section, functions: &str) -> String {
        let input = (DATA_START + self.data_end + SPARE).next_multiple_of(PAGE);
        let output = input + INPUT_CAPACITY + SPARE;
        let pages = (output + OUTPUT_CAPACITY + SPARE).div_ceil(PAGE);
        let mut out = format!(
            ";; Rendered by Retort, template {template}: events of type \"{event_type}\" to nodes of {entity}.\n(module\n",
            template = super::TEMPLATE_VERSION,
            event_type = comment(plan.event_type()),
            entity = plan.target_entity_name(),
        );
        let head = format!(
            "(memory (export \"memory\") {pages} {pages})\n\
             (global $input i32 (i32.const {input}))\n\
             (global $input_cap i32 (i32.const {INPUT_CAPACITY}))\n\
             (global $output i32 (i32.const {output}))\n\
             (global $output_cap i32 (i32.const {OUTPUT_CAPACITY}))\n\n"
        );
        indent(&mut out, 1, &head);
        out.push_str(retort_guest_template::PRELUDE);
        out.push_str(functions);
        indent(
            &mut out,
            1,
            "\n;; The constant text, in the order in which the code above asks for it.",
        );
        for (address, text) in &self.data {
            // Writing to a string can't fail.
            let _ = writeln!(out, "  (data (i32.const {address}) \"{}\")", literal(text));
        }
        indent(
            &mut out,
            1,
            "\n;; What the extractor declares: the host copies these inputs into it and nothing else.",
        );
        let _ = writeln!(out, "  (@custom \"retort\" \"{}\")\n)", literal(&section.to_json()));
        out
    }
}

/// What stands before a property's value, behind the value of the property before.
fn property_head(field: &FieldMapping) -> String {
    format!("}},{{\"name\":\"{}\",\"value\":", field.property_name())
}

/// An address and a length as an extractor returns them, written as a signed constant.
fn packed(address: u32, length: u32) -> i64 {
    i64::from(address) << 32 | i64::from(length)
}

/// Whether an input that the host has judged is true.
fn truthy(record: Record) -> String {
    format!("(i32.eq (i32.load offset={} (local.get $block)) (i32.const 4))", record.length())
}

/// Whether an input is a boolean, a number or a string.
fn scalar(record: Record) -> String {
    format!(
        "(i32.le_u (i32.sub (i32.load offset={} (local.get $block)) (i32.const 2)) (i32.const 2))",
        record.kind()
    )
}
