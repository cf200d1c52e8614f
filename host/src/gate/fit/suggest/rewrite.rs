//! Parts of a plan written anew, as JSON and as patches of it.

use json_patch::Patch;
use serde_json::{Value, json};

use crate::diagnostics::finding::patch;
use crate::plan::expr::{Level, Piece, Reference, Template};
use crate::plan::language::start_word;

/// Whether there is a list at a place of a plan as it is written.
pub(in crate::gate::fit) fn has_list(written: &Value, at: &str) -> bool {
    written.pointer(at).is_some_and(|it| it.as_array().is_some_and(|it| !it.is_empty()))
}

/// A plan of the short form in the long one, with this node.
pub(in crate::gate::fit) fn in_long_form(written: &Value, node: Value) -> Patch {
    let properties = "/property_fields";
    let mut edits = vec![
        patch::add("/nodes", json!([node])),
        patch::remove("/target_entity_name"),
        patch::remove("/key_field"),
    ];
    if !has_list(written, properties) {
        // An empty list may be written or not.
        edits.push(patch::add(properties, json!([])));
    }
    edits.push(patch::remove(properties));
    edits.into_iter().reduce(patch::both).unwrap_or_default()
}

/// What makes a plan read another reference, where what is at `pointer` says so; `None` where that can't be written there.
pub(in crate::gate::fit) fn rewritten(
    pointer: &str,
    old: &Reference,
    new: &Reference,
    deepest: Level,
    template: Option<&Template>,
) -> Option<Patch> {
    if let Some(template) = template {
        let text = template_with(template, old, new, deepest)?;
        return Some(patch::replace(pointer, text));
    }
    let path = patch::replace(pointer, &new.path);
    if old.level == new.level {
        return Some(path);
    }
    let (base, field) = pointer.rsplit_once('/')?;
    let takes_from = matches!(field, "source_path" | "span_id_path");
    let from = match (takes_from, start_word(new.level, deepest)) {
        (false, _) => return None,
        (true, Some(from)) => patch::add(&format!("{base}/from"), from),
        (true, None) => patch::remove(&format!("{base}/from")),
    };
    Some(if old.path == new.path { from } else { patch::both(path, from) })
}

/// A template with one path in the place of another; `None` where it would be read in another way.
fn template_with(
    template: &Template,
    old: &Reference,
    new: &Reference,
    deepest: Level,
) -> Option<String> {
    let piece = |piece: &Piece| match piece {
        Piece::Value(reference) if reference == old => Piece::Value(new.clone()),
        piece => piece.clone(),
    };
    let wanted = Template::of(template.pieces().iter().map(piece).collect());
    let read = Template::parse(wanted.text(), deepest).ok()?;
    (read == wanted).then(|| wanted.text().to_owned())
}

/// What makes a mapping read JSON inside of a string: `at` is the object with its path, `has_chain` whether it has
/// conversions.
pub(in crate::gate::fit) fn parsed(
    at: &str,
    path: &[String],
    rest: &[String],
    has_chain: bool,
) -> Patch {
    let step = json!({"parse_json": rest});
    let path = patch::replace(&format!("{at}/source_path"), path);
    let convert = match has_chain {
        true => patch::add(&format!("{at}/convert/0"), step),
        false => patch::add(&format!("{at}/convert"), json!([step])),
    };
    patch::both(path, convert)
}
