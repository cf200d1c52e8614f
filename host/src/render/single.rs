//! The extractor of a plan that makes one node of an event.
//!
//! The result is written straight from its first byte to its last: an event that gives no node is declined before
//! anything is written, and the size of the result is checked once.

use super::inputs::InputSlot;
use super::lower::{Claim, Lowered, LoweredNode, LoweredValue};
use super::parts::{NEXT_PROPERTY, ResultPart, ResultParts, described, place};
use super::text::{indent, path};
use super::write::{self, Writer, call};
use super::{RenderError, frame};
use crate::plan::{Partial, Plan};

/// Properties a generated function writes at most: a function's body stays far below what the static gate allows.
const PROPERTIES_PER_FUNCTION: usize = 32;

/// The one node of a plan, and the claim that may come with it; `None` where a plan is of another form.
pub(super) fn form<'l, 'p>(
    lowered: &'l Lowered<'p>,
) -> Option<(&'l LoweredNode<'p>, Option<&'l Claim<'p>>)> {
    let claim = match lowered.claims.as_slice() {
        [] => None,
        [claim] if claim.rows.is_none() => Some(claim),
        _ => return None,
    };
    match lowered.nodes.as_slice() {
        [node] if node.rows.is_none() && lowered.edges.is_empty() => Some((node, claim)),
        _ => None,
    }
}

/// Writes the extractor and the functions that it calls.
pub(super) fn write(
    writer: &mut Writer,
    plan: &Plan,
    lowered: &Lowered<'_>,
    node: &LoweredNode<'_>,
    claim: Option<&Claim<'_>>,
    capacity: u32,
) -> Result<(), RenderError> {
    let empty = writer.intern(frame::EMPTY.as_bytes());
    let mut properties = ResultParts::default();
    for property in &node.properties {
        properties.property(NEXT_PROPERTY, property, "");
    }
    let head = head(plan, lowered, node);
    frame::check_constant(head.as_slice().iter().chain(properties.as_slice()), capacity)?;
    let mut calls = String::new();
    for (number, group) in properties.as_slice().chunks(PROPERTIES_PER_FUNCTION).enumerate() {
        let name = format!("properties_{number}");
        let mut body = String::new();
        writer.nested(&mut body, 2, group);
        writer.function(&name, false, &body);
        indent(&mut calls, 2, &format!("\n{}", call(&name, false)));
        writer.check_size()?;
    }
    // The text comes first, because the check of the result's size needs to know all that is copied.
    let mut body = String::new();
    writer.parts(&mut body, "head", false, head.as_slice());
    body.push_str(&calls);
    spans(writer, &mut body, claim);

    let size = std::mem::take(&mut writer.size);
    let mut read =
        frame::signature(plan, "(local $from i32) (local $length i32) (local $need i64)");
    let decline = frame::decline(empty);
    frame::decline_other_events(&mut read, &lowered.filter, &decline);
    conditions(&mut read, node, &decline);
    let sum = write::need(&size);
    indent(
        &mut read,
        2,
        &format!(
            "\n;; the result must fit: its constant text and every slice of the block that it may hold\n\
             (local.set $need {sum})\n\
             (if (i64.gt_u (local.get $need) (i64.extend_i32_u (global.get $output_cap)))\n  \
               (then (return (i64.or (i64.const 0xffffffff00000000) (i64.and (local.get $need) (i64.const 0xffffffff))))))\n\
             \n(local.set $to (global.get $output))"
        ),
    );
    read.push_str(&body);
    indent(&mut read, 2, frame::RETURN);
    writer.functions.push_str(&read);
    RenderError::check_result(size.constant, capacity)
}

/// Declines events that give no node.
fn conditions(out: &mut String, node: &LoweredNode<'_>, decline: &str) {
    if let Some(when) = node.when {
        let line = format!("\n;; when\n(if {} (then {decline}))", write::not_truthy(when));
        indent(out, 2, &line);
    }
    for (field, (_, value)) in node.rule.key_fields().iter().zip(&node.id.keys) {
        if let LoweredValue::Slot(slot) = value {
            let line = format!(
                "\n;; key: an event without a scalar at {} is declined\n(if {}\n  (then {decline}))",
                described(field.value()),
                write::not_scalar(*slot)
            );
            indent(out, 2, &line);
        }
    }
}

/// All of the node but what may be left out.
fn head(plan: &Plan, lowered: &Lowered<'_>, node: &LoweredNode<'_>) -> ResultParts {
    let mut parts = ResultParts::default();
    parts.about(format!("session_id_path: {}", path(plan.session_id_path())));
    parts.constant(r#"{"nodes":["#);
    frame::node_head(&mut parts, lowered.session, node);
    parts
}

/// What follows the node.
fn spans(writer: &mut Writer, out: &mut String, claim: Option<&Claim<'_>>) {
    const FULL: &str = r#"}]}],"edges":[],"fully_handled_span_ids":["#;
    const PARTIAL: &str = r#"],"partially_handled_span_ids":["#;
    const END: &str = "]}";
    let none = ResultPart::Constant([FULL, PARTIAL, END].concat());
    let Some(claim) = claim else {
        indent(out, 2, "\n;; span_handling: none");
        return writer.nested(out, 2, &[none]);
    };
    let quoted = |before: String, after: String| {
        [
            ResultPart::Constant(before + "\""),
            ResultPart::Text(claim.id),
            ResultPart::Constant("\"".to_owned() + &after),
        ]
    };
    let full = quoted(FULL.to_owned(), [PARTIAL, END].concat());
    indent(out, 2, &format!("\n;; span_handling: {}", place(claim.rule.span_id())));
    let holds = |slot: InputSlot, rest: String| format!("(i32.and {} {rest})", write::truthy(slot));
    let mut condition = holds(claim.truthy, write::scalar(claim.id));
    if let Some(when) = claim.when {
        condition = holds(when, condition);
    }
    indent(out, 2, &format!("(if {condition}\n  (then"));
    if let Some(partial) = claim.partial {
        let about = match claim.rule.partial() {
            Some(Partial::Truthy(reference)) => place(reference),
            _ => "a condition".to_owned(),
        };
        indent(out, 4, &format!(";; partial by {about}"));
        indent(out, 4, &format!("(if {}\n  (then", write::truthy(partial)));
        writer.nested(out, 6, &quoted([FULL, PARTIAL].concat(), END.to_owned()));
        indent(out, 5, ")\n(else");
        writer.nested(out, 6, &full);
        indent(out, 5, "))");
    } else {
        writer.nested(out, 4, &full);
    }
    indent(out, 3, ")\n(else");
    writer.nested(out, 4, &[none]);
    indent(out, 3, "))");
}
