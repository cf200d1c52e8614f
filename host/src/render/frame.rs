//! What is around the parts of a result in every form of an extractor.

use super::RenderError;
use super::inputs::InputSlot;
use super::lower::{EventFilter, LoweredNode};
use super::parts::{ResultPart, ResultParts};
use super::text::{comment, indent};
use super::write::{Constant, not_truthy};
use crate::plan::Plan;

/// The result of a declined event.
pub(super) use crate::abi::result::form::EMPTY;

/// Gives back what was written.
pub(super) const RETURN: &str = "\n;; the address in the high half, the length in the low half\n\
     (i64.or\n  \
       (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))\n  \
       (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))";

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
pub(super) fn decline_other_events(out: &mut String, filter: &EventFilter<'_>, decline: &str) {
    match filter {
        EventFilter::Type(event_type, slot) => of_type(out, event_type, *slot, decline),
        EventFilter::Flag(flag) => {
            let line = format!(
                "\n;; event_type, when: any other event is declined\n(if {} (then {decline}))",
                not_truthy(*flag)
            );
            indent(out, 2, &line);
        }
    }
}

/// Declines every event whose type is another one.
fn of_type(out: &mut String, event_type: &str, slot: InputSlot, decline: &str) {
    // The host writes strings canonically, so equal strings are equal bytes.
    let expected = serde_json::Value::from(event_type).to_string();
    let about = format!("\n;; event_type: any other than \"{}\" is declined", comment(event_type));
    indent(out, 2, &about);
    let first = format!(
        "(if (i32.or\n    \
             (i32.ne {} (i32.const 4))\n    \
             (i32.ne {} (i32.const {})))\n  \
           (then {decline}))\n\
         (local.set $from (i32.add (local.get $block) {}))",
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
pub(super) fn node_head(parts: &mut ResultParts, session: InputSlot, node: &LoweredNode<'_>) {
    let entity = node.rule.entity_name();
    parts.constant(r#"{"node_id":""#);
    parts.node_id(session, &node.id);
    parts.constant(&format!(r#"","entity_name":"{entity}","labels":["{entity}"],"properties":["#));
    for (index, (name, value)) in node.id.keys.iter().enumerate() {
        let before = if index == 0 { "" } else { "}," };
        parts.constant(&format!("{before}{{\"name\":\"{name}\",\"value\":"));
        parts.json(value);
    }
}

/// Refuses constant text that is too much for any result, before it is written.
pub(super) fn check_constant<'a>(
    parts: impl IntoIterator<Item = &'a ResultPart>,
    allowed: u32,
) -> Result<(), RenderError> {
    let bytes = |part: &ResultPart| match part {
        ResultPart::Constant(text) => text.len(),
        ResultPart::Optional(optional) => optional.head.len(),
        ResultPart::About(_) | ResultPart::Text(_) | ResultPart::Json(_) => 0,
    };
    RenderError::check_result(parts.into_iter().map(bytes).fold(0, usize::saturating_add), allowed)
}
