//! Templates with a typo: a brace too few or too many, or a path written as others write it.

use super::{Context, IterationScope, Remedy, replace};
use crate::evidence::similarity::ranking::first_of;
use crate::plan::expr::Template;

/// How long a template is that is looked at: every place in it is tried.
const MAX_CHARS: usize = 500;

/// The template that is meant: one change away, with paths that are all known. Certain where no other is.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let text = context.plan.get(at)?.as_str()?;
    let scope = context.plan.scope(at)?;
    if text.chars().count() > MAX_CHARS || matches!(scope, IterationScope::Unreadable) {
        return None;
    }
    let is_known = |template: &Template| {
        template.references().all(|reference| {
            let known = context.known(scope, reference.level);
            // An object has no text.
            let has = known.map(|it| it.has(&reference.path) && it.admits(&reference.path, None));
            has.is_some_and(|has| has || reference.path.is_empty())
        })
    };
    let mut found: Vec<(String, Template)> = Vec::new();
    for candidate in changed(text) {
        // The element itself is meant by nobody who didn't write so.
        if candidate.matches("{}").count() > text.matches("{}").count() {
            continue;
        }
        let Ok(template) = Template::parse(&candidate, scope.level()) else { continue };
        let is_new = !found.iter().any(|(_, it)| it.pieces() == template.pieces());
        if is_new && is_known(&template) {
            found.push((candidate, template));
        }
    }
    let reads = |template: &Template| template.references().count();
    // The one that reads the most: a brace that is doubled makes text of what was to be a path.
    let most = found.iter().map(|(_, template)| reads(template)).max()?;
    let best = found.into_iter().filter(|(_, template)| reads(template) == most);
    replace(at, first_of(best.map(|(text, _)| text))?.only_if(most > 0))
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
        let (before, after) = text.split_at(at);
        changed.push(format!("{before}{{{after}"));
        changed.push(format!("{before}}}{after}"));
        if let Some(rest) = after.strip_prefix(['{', '}']) {
            changed.push(format!("{before}{rest}"));
        }
    }
    changed.retain(|it| it != text);
    changed
}
