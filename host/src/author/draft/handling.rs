//! Session, span and free text: what of a plan isn't a property.

use std::collections::{BTreeMap, BTreeSet};

use super::assign::{Assignment, CLEAR_LEAD};
use super::doubt::Doubt;
use super::literal::{Handling, Named};
use crate::diagnostics::untrusted::quoted;
use crate::evidence::matching::{Aim, Scorer, Survey, Wanted};
use crate::evidence::{Path, dotted};

/// From here on, a path has the name of the session's or the span's id.
const HAS_NAME: f64 = 0.75;

/// From here on, texts are prose, of which nobody but a reader can say what they hold.
const PROSE: f64 = 0.5;

/// Session, span and free text, each where the rule says; else the ids where they usually are, or at the path of that name, and
/// the free text where no property takes long text.
pub(super) fn find(
    named: &Named<'_>,
    assignment: &Assignment,
    survey: &Survey<'_>,
    doubts: &mut Vec<Doubt>,
) -> Handling {
    let mut identity = |said: &Option<Path>, role: &str| {
        let usual = vec![format!("{role}_id")];
        if said.is_some() || survey.place(&usual).is_some() {
            return said.clone().or(Some(usual));
        }
        let path = named_like(&[&format!("{role}_id"), role], survey);
        doubts.push(Doubt::new(
            role,
            match &path {
                Some(path) => {
                    format!("{} is taken for its name alone", quoted(&dotted(path)))
                }
                None => "neither the rule nor the samples have a path of its name".to_owned(),
            },
        ));
        path
    };
    let session = identity(&named.handling.session, "session");
    let span = identity(&named.handling.span, "span");
    let free_text = span.as_ref().and_then(|_| free_text(named, assignment, survey, doubts));
    Handling { session, span, free_text }
}

/// The path that clearly has one of these names.
fn named_like(names: &[&str], survey: &Survey<'_>) -> Option<Path> {
    let mut scores: BTreeMap<Path, f64> = BTreeMap::new();
    for name in names {
        let wanted = Wanted { name, property_type: None, hint: None, entity: "", is_key: false };
        for found in Scorer::new(survey).rank(&Aim::new(&wanted), None) {
            let score = scores.entry(found.path).or_default();
            *score = score.max(found.score);
        }
    }
    let mut ranked: Vec<(Path, f64)> = scores.into_iter().collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let next = ranked.get(1).map_or(0.0, |(_, score)| *score);
    let best = ranked.into_iter().next().filter(|(_, score)| *score >= HAS_NAME);
    best.filter(|(_, score)| score - next >= CLEAR_LEAD).map(|(path, _)| path)
}

/// Text that only a reader understands, and that no property takes: at a path that the rule names, else in the object that the
/// entity is.
fn free_text(
    named: &Named<'_>,
    assignment: &Assignment,
    survey: &Survey<'_>,
    doubts: &mut Vec<Doubt>,
) -> Option<Path> {
    if named.handling.free_text.is_some() {
        return named.handling.free_text.clone();
    }
    let taken: BTreeSet<&Path> = assignment.choices().filter_map(|choice| choice.path()).collect();
    let free = || survey.places().iter().filter(|place| !taken.contains(&place.path));
    let mentioned = free().find(|it| it.looks.prose > 0.0 && named.paths.contains(&it.path));
    let beside = || {
        let is_beside =
            |path: &Path| path.split_last().is_some_and(|(_, above)| above == assignment.anchor);
        let prose = free().filter(|it| it.looks.prose >= PROSE && is_beside(&it.path));
        prose.max_by(|a, b| a.looks.prose.total_cmp(&b.looks.prose))
    };
    let path = mentioned.or_else(beside)?.path.clone();
    doubts.push(Doubt::new(
        "partial_when_path",
        format!("{} holds long text that no property takes", quoted(&dotted(&path))),
    ));
    Some(path)
}
