//! Templates with a slip: a brace too few or too many, or a path written as others write it.

use super::context::Context;
use super::owner::Around;
use crate::plan::expr::{ForEach, Level, Template};

/// How long a template is that is looked at: every place in it is tried.
const MAX_CHARS: usize = 500;

/// The template that is meant, and whether no other is: one change away, with paths that are all known.
pub(super) fn mended(context: &Context<'_, '_>, at: &str) -> Option<(String, bool)> {
    let text = context.value.pointer(at)?.as_str()?;
    if text.chars().count() > MAX_CHARS {
        return None;
    }
    let for_each = match context.owner(at).map(|owner| &owner.around) {
        Some(Around::Elements(for_each)) => Some(for_each),
        Some(Around::Unread) => return None,
        _ => None,
    };
    let innermost = for_each.map_or(Level::EVENT, ForEach::level);
    let mut found: Vec<(String, Template)> = Vec::new();
    for candidate in changed(text) {
        // The element itself is meant by nobody who didn't write so.
        if candidate.matches("{}").count() > text.matches("{}").count() {
            continue;
        }
        let Ok(template) = Template::parse(&candidate, innermost) else { continue };
        let Some(known) = all_known(context, for_each, &template) else { continue };
        if known && !found.iter().any(|(_, it)| it.pieces() == template.pieces()) {
            found.push((candidate, template));
        }
    }
    let reads = |template: &Template| template.references().count();
    // The one that reads the most: a brace that is doubled makes text of what was to be a path.
    let most = found.iter().map(|(_, template)| reads(template)).max()?;
    let mut best = found.into_iter().filter(|(_, template)| reads(template) == most);
    let (text, _) = best.next()?;
    Some((text, most > 0 && best.next().is_none()))
}

/// Whether every path of a template is known; `None` where it isn't known what paths there are.
fn all_known(
    context: &Context<'_, '_>,
    for_each: Option<&ForEach>,
    template: &Template,
) -> Option<bool> {
    let mut all = true;
    for reference in template.references() {
        let known = context.known_at(for_each, reference.level)?;
        // An object has no text.
        let is_text = || known.has(&reference.path) && known.admits(&reference.path, None);
        all &= reference.path.is_empty() || is_text();
    }
    Some(all)
}

/// Every text that is one change away: a brace added or taken out, or paths as others write them.
fn changed(text: &str) -> Vec<String> {
    let mut changed = vec![
        text.replace("${", "{"),
        text.replace("{{", "{").replace("}}", "}"),
        text.replace("{$", "{$.").replace("{$..", "{$."),
        text.replace("{^", "{^.").replace("{^..", "{^."),
        text.replace("{ ", "{").replace(" }", "}"),
        text.replace("['", ".").replace("[\"", ".").replace("']", "").replace("\"]", ""),
        text.replace("{^.", "{$."),
        text.replace("{.", "{"),
    ];
    let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    for at in places {
        let (before, behind) = text.split_at(at);
        changed.push(format!("{before}{{{behind}"));
        changed.push(format!("{before}}}{behind}"));
        if let Some(rest) = behind.strip_prefix(['{', '}']) {
            changed.push(format!("{before}{rest}"));
        }
    }
    changed.retain(|it| it != text);
    changed
}
