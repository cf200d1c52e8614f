//! The module of one plan: what all forms of it have in common.

use super::inputs::Slot;
use super::lower::{Gate, Lowered, Node, lower};
use super::parts::{Part, Parts};
use super::text::{comment, indent, literal};
use super::write::{Constant, Writer, not_truthy};
use super::{
    Capacities, MAX_MODULE_BYTES, MAX_SECTION_BYTES, MAX_SOURCE_BYTES, RenderError, declarable,
    graph, single,
};
use crate::abi::section::Section;
use crate::plan::Plan;
use crate::plan::expr::OnDuplicate;

/// Spare bytes behind each area, for copies that write more than they were asked for, and for what stands around the
/// lists of a result.
const SPARE: u32 = 64;
const SPARE_OUTPUT: u32 = 256;
const PAGE: u32 = 1 << 16;
/// Bytes of text that become one byte of code, at least.
const CODE_TEXT_RATIO: usize = 4;

/// The result of a declined event.
pub(super) const EMPTY: &str =
    r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;

/// Gives back what was written.
pub(super) const RETURN: &str = "\n;; the address in the high half, the length in the low half\n\
     (i64.or\n  \
       (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))\n  \
       (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))";

/// The module's text.
pub(super) fn module(plan: &Plan) -> Result<String, RenderError> {
    declarable::check(plan)?;
    let lowered = lower(plan);
    let section = section(plan, &lowered)?;
    let output_capacity = super::capacities(&section).output;
    let mut writer = Writer::default();
    let prelude = match single::form(&lowered) {
        Some((node, claim)) => {
            single::write(&mut writer, plan, &lowered, node, claim, output_capacity)?;
            retort_guest_template::PRELUDE.to_owned()
        }
        None => {
            graph::write(&mut writer, plan, &lowered, output_capacity)?;
            format!("{}\n{}", retort_guest_template::PRELUDE, retort_guest_template::LISTS)
        }
    };
    assembled(plan, &section, &writer, &prelude)
}

/// What the extractor declares.
fn section(plan: &Plan, lowered: &Lowered<'_>) -> Result<Section, RenderError> {
    let patterns = plan.event_types().patterns().iter().map(ToString::to_string).collect();
    let (inputs, rows) = lowered.inputs.declared();
    let has_rows = !rows.is_empty();
    let mut section = Section::new(plan.function_name(), patterns, inputs)
        .and_then(|section| if has_rows { section.with_rows(rows) } else { Ok(section) })
        .map_err(declarable::refused)?;
    let one_entity_twice = plan.nodes().iter().enumerate().any(|(index, node)| {
        plan.nodes()[..index].iter().any(|other| other.entity_name() == node.entity_name())
    });
    let can_repeat =
        has_rows || one_entity_twice || plan.edges().len() > 1 || plan.span_rules().len() > 1;
    if can_repeat || plan.on_duplicate() != OnDuplicate::Last {
        section = section.with_on_duplicate(plan.on_duplicate());
    }
    Ok(section)
}

fn assembled(
    plan: &Plan,
    section: &Section,
    writer: &Writer,
    prelude: &str,
) -> Result<String, RenderError> {
    let Capacities { input: input_capacity, output: output_capacity } = super::capacities(section);
    let declaration = section.to_json();
    if declaration.len() > MAX_SECTION_BYTES {
        return Err(RenderError::Module {
            what: "declaration",
            used: declaration.len(),
            allowed: MAX_SECTION_BYTES,
        });
    }
    let code = (writer.functions.len() + prelude.len()) / CODE_TEXT_RATIO;
    let used = code + writer.data_end() as usize + declaration.len();
    if used > MAX_MODULE_BYTES {
        return Err(RenderError::Module { what: "module", used, allowed: MAX_MODULE_BYTES });
    }
    let input = (writer.data_end() + SPARE).next_multiple_of(PAGE);
    let output = input + input_capacity + SPARE;
    let pages = (output + output_capacity + SPARE_OUTPUT).div_ceil(PAGE);
    let mut out = format!(
        ";; Rendered by Retort, template {template}: events of type {types} to {entities}.\n(module\n",
        template = super::TEMPLATE_VERSION,
        types = listed(section.event_types().iter().map(|it| format!("\"{}\"", comment(it)))),
        entities = listed(plan.nodes().iter().map(|node| comment(node.entity_name()))),
    );
    let head = format!(
        "(memory (export \"memory\") {pages} {pages})\n\
         (global $input i32 (i32.const {input}))\n\
         (global $input_cap i32 (i32.const {input_capacity}))\n\
         (global $output i32 (i32.const {output}))\n\
         (global $output_cap i32 (i32.const {output_capacity}))\n\n"
    );
    indent(&mut out, 1, &head);
    out.push_str(prelude);
    out.push_str(&writer.functions);
    indent(
        &mut out,
        1,
        "\n;; The constant text, in the order in which the code above asks for it.",
    );
    out.push_str(&writer.data_segments());
    indent(
        &mut out,
        1,
        "\n;; What the extractor declares: the host copies these inputs into it and nothing else.",
    );
    out.push_str("  (@custom \"retort\" \"");
    out.push_str(&literal(&declaration));
    out.push_str("\")\n)\n");
    if out.len() > MAX_SOURCE_BYTES {
        return Err(RenderError::Module {
            what: "source",
            used: out.len(),
            allowed: MAX_SOURCE_BYTES,
        });
    }
    Ok(out)
}

/// The first few of something, for a comment.
fn listed(mut all: impl Iterator<Item = String>) -> String {
    let few: Vec<String> = all.by_ref().take(4).collect();
    let more = if all.next().is_some() { ", ..." } else { "" };
    format!("{}{more}", few.join(", "))
}

/// The head of the extractor's function.
pub(super) fn signature(plan: &Plan, locals: &str) -> String {
    let mut out = String::new();
    let head = format!(
        "\n;; The extractor: one input block in, the address and the length of one result out.\n\
         (func $read (export \"{}\") (param $block i32) (param $size i32) (result i64)\n  \
           (local $to i32) {locals}",
        plan.function_name()
    );
    indent(&mut out, 1, &head);
    out
}

/// Returns the result of a declined event, written as a signed constant.
pub(super) fn decline(empty: Constant) -> String {
    let packed = i64::from(empty.address) << 32 | i64::from(empty.length);
    format!("(return (i64.const {packed}))")
}

/// Declines every event that isn't for the extractor.
pub(super) fn gate(out: &mut String, gate: &Gate<'_>, decline: &str) {
    match gate {
        Gate::Type(event_type, slot) => of_type(out, event_type, *slot, decline),
        Gate::Flag(flag) => {
            let line = format!(
                "\n;; event_type, when: any other event is declined\n(if {} (then {decline}))",
                not_truthy(*flag)
            );
            indent(out, 2, &line);
        }
    }
}

/// Declines every event whose type is another one.
fn of_type(out: &mut String, event_type: &str, slot: Slot, decline: &str) {
    // The host writes strings canonically, so equal strings are equal bytes.
    let expected = serde_json::Value::from(event_type).to_string();
    let about = format!("\n;; event_type: any other than \"{}\" is declined", comment(event_type));
    indent(out, 2, &about);
    let first = format!(
        "(if (i32.or\n    \
             (i32.ne (i32.load offset={} (local.get $block)) (i32.const 4))\n    \
             (i32.ne (i32.load offset={} (local.get $block)) (i32.const {})))\n  \
           (then {decline}))\n\
         (local.set $from (i32.add (local.get $block) (i32.load offset={} (local.get $block))))",
        slot.kind(),
        slot.length(),
        expected.len(),
        slot.offset(),
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

/// A node up to the value of the last property of its key, without the closing brace.
pub(super) fn node_head(parts: &mut Parts, session: Slot, node: &Node<'_>) {
    let entity = node.rule.entity_name();
    parts.constant(r#"{"node_id":""#);
    parts.id(session, &node.id);
    parts.constant(&format!(r#"","entity_name":"{entity}","labels":["{entity}"],"properties":["#));
    for (index, (name, value)) in node.id.keys.iter().enumerate() {
        let before = if index == 0 { "" } else { "}," };
        parts.constant(&format!("{before}{{\"name\":\"{name}\",\"value\":"));
        parts.json(value);
    }
}

/// Refuses constant text that is too much for any result, before it is written.
pub(super) fn check_constant<'a>(
    parts: impl IntoIterator<Item = &'a Part>,
    allowed: u32,
) -> Result<(), RenderError> {
    let bytes = |part: &Part| match part {
        Part::Constant(text) => text.len(),
        Part::Optional(optional) => optional.head.len(),
        Part::About(_) | Part::Text(_) | Part::Json(_) => 0,
    };
    let used = parts.into_iter().map(bytes).fold(0, usize::saturating_add);
    let allowed = allowed as usize;
    if used > allowed { Err(RenderError::TooLarge { used, allowed }) } else { Ok(()) }
}
