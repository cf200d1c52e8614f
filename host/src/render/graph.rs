//! The extractor of a plan with several nodes, with edges or with rows.
//!
//! A result is four lists. Every item of a list is written by a function of its own, which begins it with a comma or, where
//! there is to be none, gives back what it was given. So no item has to know of another; after the last one the first byte
//! of the list becomes its bracket. What there is one of for each row is written by a second function, a loop of one fixed
//! form around the first one.
//!
//! An item checks that it fits before its first byte is written. Where it doesn't, it gives back a negative number, and the
//! extractor gives up.

use std::collections::HashSet;

use super::lower::{Claim, Lowered, LoweredEdge, LoweredNode, LoweredValue, NodeId};
use super::parts::{NEXT_PROPERTY, ResultPart, ResultParts};
use super::text::{comment, indent};
use super::write::{self, Writer, call};
use super::{RenderError, frame};
use crate::plan::Plan;

/// An item of a list, or one for each row.
struct ListItem<'i> {
    /// The function's name.
    name: String,
    /// What it is, for a comment.
    about: String,
    rows: Option<usize>,
    /// Each a reason to write nothing.
    unless: Vec<String>,
    pieces: &'i [ItemPiece<'i>],
}

/// A piece of an item.
enum ItemPiece<'i> {
    Parts(&'i ResultParts),
    /// Parts that begin with a comma each, in brackets of which the closing one comes after.
    List(&'i ResultParts),
}

/// Writes the extractor and the functions that it calls.
pub(super) fn write(
    writer: &mut Writer,
    plan: &Plan,
    lowered: &Lowered<'_>,
    capacity: u32,
) -> Result<(), RenderError> {
    let empty = writer.intern(frame::EMPTY.as_bytes());
    let decline = frame::decline(empty);
    let mut items = Items { writer, lowered, capacity };
    let (mut nodes, mut edges) = (String::new(), String::new());
    let (mut full, mut partial) = (String::new(), String::new());
    for (index, node) in lowered.nodes.iter().enumerate() {
        items.node(&mut nodes, index, node)?;
    }
    for (index, edge) in lowered.edges.iter().enumerate() {
        items.edge(&mut edges, index, edge)?;
    }
    for (index, claim) in lowered.claims.iter().enumerate() {
        items.claim(&mut full, index, claim, false)?;
        items.claim(&mut partial, index, claim, true)?;
    }

    let locals = "(local $from i32) (local $first i32) (local $any i32)";
    let mut read = frame::signature(plan, locals);
    frame::decline_other_events(&mut read, &lowered.filter, &decline);
    indent(&mut read, 2, "\n(local.set $to (global.get $output))");
    let any =
        "(local.set $any (i32.or (local.get $any) (i32.ne (local.get $to) (local.get $first))))";
    for (before, calls, after) in [
        (r#"{"nodes":"#, nodes, any.to_owned()),
        (
            r#"],"edges":"#,
            edges,
            format!("{any}\n(if (i32.eqz (local.get $any)) (then {decline}))"),
        ),
        (r#"],"fully_handled_span_ids":"#, full, String::new()),
        (r#"],"partially_handled_span_ids":"#, partial, String::new()),
    ] {
        read.push('\n');
        writer.nested(&mut read, 2, &[ResultPart::Constant(before.to_owned())]);
        indent(&mut read, 2, "(local.set $first (local.get $to))");
        read.push_str(&calls);
        indent(&mut read, 2, &after);
        indent(&mut read, 2, CLOSE);
    }
    read.push('\n');
    writer.nested(&mut read, 2, &[ResultPart::Constant("]}".to_owned())]);
    indent(&mut read, 2, frame::RETURN);
    writer.functions.push_str(&read);
    Ok(())
}

/// Gives a list that has been written its bracket.
const CLOSE: &str = "(local.set $to (call $open_list (local.get $first) (local.get $to)))";

/// Gives up where an item didn't fit.
const GIVE_UP: &str = "(if (i32.lt_s (local.get $to) (i32.const 0))\n  \
     (then (return (call $too_large (local.get $to)))))";

struct Items<'w, 'l, 'p> {
    writer: &'w mut Writer,
    lowered: &'l Lowered<'p>,
    /// Bytes that a result may have.
    capacity: u32,
}

impl Items<'_, '_, '_> {
    fn node(
        &mut self,
        calls: &mut String,
        index: usize,
        node: &LoweredNode<'_>,
    ) -> Result<(), RenderError> {
        let mut parts = ResultParts::default();
        parts.constant(",");
        frame::node_head(&mut parts, self.lowered.session, node);
        for property in &node.properties {
            parts.property(NEXT_PROPERTY, property, "");
        }
        parts.constant("}]}");
        let mut unless: Vec<String> = node.when.map(write::not_truthy).into_iter().collect();
        unless.extend(missing(&node.id));
        let item = ListItem {
            name: format!("node_{index}"),
            about: format!("nodes[{index}]: \"{}\"", comment(node.rule.name())),
            rows: node.rows,
            unless,
            pieces: &[ItemPiece::Parts(&parts)],
        };
        self.item(calls, &item)
    }

    fn edge(
        &mut self,
        calls: &mut String,
        index: usize,
        edge: &LoweredEdge<'_>,
    ) -> Result<(), RenderError> {
        let relationship = edge.rule.relationship_name();
        let session = self.lowered.session;
        let (mut head, mut properties, mut end) =
            (ResultParts::default(), ResultParts::default(), ResultParts::default());
        head.constant(r#",{"edge_id":""#);
        match edge.edge_id {
            Some(slot) => head.text(&LoweredValue::Slot(slot)),
            None => {
                head.node_id(session, &edge.from);
                head.constant(&format!(":{relationship}:"));
                head.node_id(session, &edge.to);
            }
        }
        head.constant(&format!(r#"","relationship_name":"{relationship}","from_node_id":""#));
        head.node_id(session, &edge.from);
        head.constant(r#"","to_node_id":""#);
        head.node_id(session, &edge.to);
        head.constant(r#"","properties":"#);
        for property in &edge.properties {
            properties.property(",", property, "}");
        }
        end.constant("]}");
        let pieces = if edge.properties.is_empty() {
            head.constant("[]}");
            vec![ItemPiece::Parts(&head)]
        } else {
            vec![ItemPiece::Parts(&head), ItemPiece::List(&properties), ItemPiece::Parts(&end)]
        };
        let mut unless: Vec<String> = edge.when.map(write::not_truthy).into_iter().collect();
        unless.extend(edge.edge_id.map(write::not_scalar));
        unless.extend(missing(&edge.from).chain(missing(&edge.to)));
        let mut seen = HashSet::new();
        unless.retain(|reason| seen.insert(reason.clone()));
        let item = ListItem {
            name: format!("edge_{index}"),
            about: format!("edges[{index}]: \"{}\"", comment(relationship)),
            rows: edge.rows,
            unless,
            pieces: &pieces,
        };
        self.item(calls, &item)
    }

    /// A claim on a span, in the list of those fully or partially handled.
    fn claim(
        &mut self,
        calls: &mut String,
        index: usize,
        claim: &Claim<'_>,
        partial: bool,
    ) -> Result<(), RenderError> {
        let mut unless: Vec<String> = claim.when.map(write::not_truthy).into_iter().collect();
        match (claim.partial, partial) {
            (None, true) => return Ok(()),
            (None, false) => {}
            (Some(slot), true) => unless.push(write::not_truthy(slot)),
            (Some(slot), false) => unless.push(write::truthy(slot)),
        }
        unless.push(write::not_truthy(claim.truthy));
        unless.push(write::not_scalar(claim.id));
        let mut parts = ResultParts::default();
        parts.constant(",\"");
        parts.text(&LoweredValue::Slot(claim.id));
        parts.constant("\"");
        let how = if partial { "partially" } else { "fully" };
        let item = ListItem {
            name: format!("span_{index}_{how}"),
            about: format!("span_handling[{index}]: {how} handled"),
            rows: claim.rows,
            unless,
            pieces: &[ItemPiece::Parts(&parts)],
        };
        self.item(calls, &item)
    }

    /// Writes the functions of an item, and a call to `calls`.
    fn item(&mut self, calls: &mut String, item: &ListItem<'_>) -> Result<(), RenderError> {
        let parts = item.pieces.iter().flat_map(|piece| match piece {
            ItemPiece::Parts(parts) | ItemPiece::List(parts) => parts.as_slice(),
        });
        frame::check_constant(parts, self.capacity)?;
        let in_row = item.rows.is_some();
        let mut body = String::new();
        for (number, piece) in item.pieces.iter().enumerate() {
            let name = format!("{}_{number}", item.name);
            match piece {
                ItemPiece::Parts(parts) => {
                    self.writer.parts(&mut body, &name, in_row, parts.as_slice())
                }
                ItemPiece::List(parts) => {
                    indent(&mut body, 2, "(local.set $first (local.get $to))");
                    self.writer.parts(&mut body, &name, in_row, parts.as_slice());
                    indent(&mut body, 2, CLOSE);
                }
            }
        }
        let size = std::mem::take(&mut self.writer.size);
        let row = if in_row { " (param $row i32)" } else { "" };
        let mut text = format!(
            "\n;; {}\n(func ${} (param $block i32){row} (param $to i32) (result i32)\n  \
               (local $from i32) (local $length i32) (local $first i32)\n",
            item.about, item.name
        );
        for unless in &item.unless {
            text.push_str(&format!("  (if {unless} (then (return (local.get $to))))\n"));
        }
        text.push_str(&format!(
            "  (local.set $from (call $room (local.get $to) {}))\n  \
               (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))\n",
            write::need(&size)
        ));
        let functions = &mut self.writer.functions;
        indent(functions, 1, &text);
        functions.push_str(&body);
        indent(functions, 2, "(local.get $to))");
        let name = match item.rows {
            None => item.name.clone(),
            Some(rows) => self.each_row(&item.name, rows),
        };
        indent(calls, 2, &format!("{}\n{GIVE_UP}", call(&name, false)));
        self.writer.check_size()
    }

    /// A function that calls another one for each row; gives its name.
    fn each_row(&mut self, name: &str, rows: usize) -> String {
        let each = format!("each_{name}");
        let Some(table) = self.lowered.inputs.table(rows) else { return each };
        // The one form of a loop for which the static gate has a bound: see gate::inspect::rows.
        let text = format!(
            "\n(func ${each} (param $block i32) (param $to i32) (result i32)\n  \
               (local $row i32) (local $left i32)\n  \
               (local.set $row (i32.add (local.get $block) {first}))\n  \
               (local.set $left {count})\n  \
               (block $done\n    \
                 (loop $next\n      \
                   (br_if $done (i32.eqz (local.get $left)))\n      \
                   (local.set $to (call ${name} (local.get $block) (local.get $row) (local.get $to)))\n      \
                   (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))\n      \
                   (local.set $row (i32.add (local.get $row) (i32.const {stride})))\n      \
                   (local.set $left (i32.sub (local.get $left) (i32.const 1)))\n      \
                   (br $next)))\n  \
               (local.get $to))",
            first = table.head.offset(),
            count = table.head.length(),
            stride = table.stride,
        );
        indent(&mut self.writer.functions, 1, &text);
        each
    }
}

/// Conditions under which a node with this id isn't there: its key is made of scalars.
fn missing(id: &NodeId<'_>) -> impl Iterator<Item = String> {
    id.keys.iter().filter_map(|(_, value)| match value {
        LoweredValue::Slot(slot) => Some(write::not_scalar(*slot)),
        LoweredValue::Constant(_) => None,
    })
}
