//! The extractor of a plan with several nodes, with edges or with rows.
//!
//! A result is four lists. Every item of a list is written by a function of its own, which begins it with a comma or, where
//! there is to be none, gives back what it was given. So no item has to know of another; after the last one the first byte
//! of the list becomes its bracket. What there is one of for each row is written by a second function, a loop of one fixed
//! form around the first one.
//!
//! An item checks that it fits before its first byte is written. Where it doesn't, it gives back a negative number, and the
//! extractor gives up.

use super::items::{ItemPiece, ListItem};
use super::lower::Lowered;
use super::parts::ResultPart;
use super::text::indent;
use super::write::{self, Writer, call};
use super::{RenderError, frame};
use crate::abi::result::form::ItemList;
use crate::plan::Plan;

/// Writes the extractor and the functions that it calls.
pub(super) fn write(
    writer: &mut Writer,
    plan: &Plan,
    lowered: &Lowered<'_>,
    items: &[ListItem],
    capacity: u32,
) -> Result<(), RenderError> {
    let empty = writer.intern(frame::EMPTY.as_bytes());
    let decline = frame::decline(empty);
    let mut written = Items { writer, lowered, capacity };
    let (mut nodes, mut edges) = (String::new(), String::new());
    let (mut full, mut partial) = (String::new(), String::new());
    for item in items {
        let calls = match item.list {
            ItemList::Nodes => &mut nodes,
            ItemList::Edges => &mut edges,
            ItemList::Full => &mut full,
            ItemList::Partial => &mut partial,
        };
        written.item(calls, item)?;
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
    /// Writes the functions of an item, and a call to `calls`.
    fn item(&mut self, calls: &mut String, item: &ListItem) -> Result<(), RenderError> {
        let parts = item.pieces.iter().flat_map(ItemPiece::parts);
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
            text.push_str(&format!("  (if {} (then (return (local.get $to))))\n", unless.code()));
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
