//! Session, span and free text: what of a plan isn't a property.

use super::assign::Assignment;
use super::brief::{Brief, Said};
use super::lookup::Lookup;
use super::prose;
use crate::evidence::Path;
use crate::evidence::matching::{Aim, Scorer, Survey, Wanted, words};
use crate::graph::spec::PropertyType;

/// From here on, a path is what a clause speaks of.
const SPOKEN_OF: f64 = 0.5;

/// From here on, a path is what a name speaks of, where the rule says nothing.
const NAMED: f64 = 0.75;

/// From here on, a path holds the free text that a clause speaks of.
const FREE_TEXT: f64 = 0.45;

/// How much it speaks for a path that its values are long.
const LONG: f64 = 0.25;

/// What is left of the score of free text for each object between it and the entity that the clause doesn't name.
const DEEPER: f64 = 0.9;

/// From here on, a place that no property takes holds free text, where the rule says nothing.
const SURELY_PROSE: f64 = 0.5;

/// Session and span of an event, and its free text.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    /// `None` for the plan's default.
    pub(super) session: Option<Path>,
    /// `None` where no span is known.
    pub(super) span: Option<Path>,
    pub(super) partial: Option<Path>,
}

/// Finds them. `entity` is the entity's name.
pub(super) fn roles(
    brief: &Brief,
    entity: &str,
    assignment: &Assignment,
    survey: &Survey<'_>,
    lookup: Lookup<'_>,
) -> Roles {
    let finder = Finder { entity, assignment, survey, lookup };
    let span = finder.identity(&brief.span, "span");
    let partial = span.as_ref().and_then(|_| finder.free_text(brief));
    Roles { session: finder.identity(&brief.session, "session"), span, partial }
}

struct Finder<'a> {
    entity: &'a str,
    assignment: &'a Assignment,
    survey: &'a Survey<'a>,
    lookup: Lookup<'a>,
}

impl Finder<'_> {
    /// Where the id of the session or span is: where the rule says, else where such ids usually are, else where the
    /// rule's words lead, else at the path whose name says so.
    fn identity(&self, said: &Said, role: &str) -> Option<Path> {
        if let Some(path) = &said.path {
            return Some(path.clone());
        }
        let usual = vec![format!("{role}_id")];
        if self.survey.place(&usual).is_some() {
            return Some(usual);
        }
        let clause = said.text.first().map(|text| {
            let mut kept: Vec<String> = self.telling(text);
            // The clause says what the session is: one `session` is what it speaks of, a second one is in the path.
            if let Some(place) = kept.iter().position(|word| word == role) {
                kept.remove(place);
            }
            kept.join(" ")
        });
        let spoken = clause
            .filter(|clause| !clause.is_empty())
            .and_then(|clause| self.best(&clause, SPOKEN_OF));
        spoken.or_else(|| self.best(&format!("{role}_id"), NAMED))
    }

    /// The words of a text that occur in paths.
    fn telling(&self, text: &str) -> Vec<String> {
        let tells = |word: &crate::evidence::matching::Word| {
            self.survey.rarity(word) > 0.0 && !word.is_filler()
        };
        words(text).into_iter().filter(tells).map(|word| word.text().to_owned()).collect()
    }

    fn best(&self, name: &str, floor: f64) -> Option<Path> {
        let wanted = Wanted { name, property_type: None, hint: None, entity: "", is_key: false };
        let found = Scorer::new(self.survey).rank(&Aim::new(&wanted), None);
        found.into_iter().next().filter(|it| it.score >= floor).map(|it| it.path)
    }

    /// Where the text is that only a model can read.
    fn free_text(&self, brief: &Brief) -> Option<Path> {
        let said = &brief.partial;
        if let Some(path) = &said.path {
            return Some(path.clone());
        }
        if said.text.is_empty() {
            return self.unread_prose();
        }
        if said.text.iter().any(|text| denies(text)) {
            return None;
        }
        let phrases =
            said.text.iter().flat_map(|text| text.split(['/', '(', ')', ',', ';', '\u{2014}']));
        let phrases = phrases.flat_map(|part| part.split(" or "));
        let found = phrases.filter_map(|phrase| self.prose_at(phrase));
        found.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, path)| path)
    }

    /// The text that a phrase speaks of, with how well it does.
    fn prose_at(&self, phrase: &str) -> Option<(f64, Path)> {
        if let Some(path) = prose::paths(phrase, self.lookup).into_iter().next() {
            return Some((1.0, path));
        }
        let name = self.telling(phrase).join(" ");
        if name.is_empty() {
            return None;
        }
        let spoken = words(&name);
        let wanted = Wanted {
            name: &name,
            property_type: Some(&PropertyType::String),
            hint: None,
            entity: self.entity,
            is_key: false,
        };
        let anchor = self.assignment.anchor.as_slice();
        let found = Scorer::new(self.survey).rank(&Aim::new(&wanted), Some(anchor));
        let judged = found.into_iter().filter(|it| it.fits_type).filter_map(|it| {
            let place = self.survey.place(&it.path).filter(|it| it.holds_urls() != Some(true))?;
            let between = it.path.strip_prefix(anchor).unwrap_or(&it.path).split_last()?.1;
            let unnamed = between.iter().filter(|key| {
                !words(key).iter().any(|word| {
                    spoken.iter().any(|it| it.alike(word, self.survey.effort()) > FREE_TEXT)
                })
            });
            let depth = unnamed.fold(1.0, |left, _| left * DEEPER);
            let score = (it.score * depth) * (1.0 - LONG) + place.prose() * LONG;
            (it.score >= FREE_TEXT).then_some((score, it.path))
        });
        judged.max_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// Free text that no property takes, in the object that the entity is: what a rule says nothing about may still be
    /// worth reading.
    fn unread_prose(&self) -> Option<Path> {
        let taken: Vec<&Path> =
            self.assignment.properties.iter().filter_map(super::assign::Choice::path).collect();
        let places = self.survey.places().iter().filter(|place| {
            place.path.split_last().is_some_and(|(_, parent)| parent == self.assignment.anchor)
                && !taken.contains(&&place.path)
        });
        let judged = places.map(|place| (place.prose(), &place.path));
        let best = judged.max_by(|(a, _), (b, _)| a.total_cmp(b));
        best.filter(|(score, _)| *score >= SURELY_PROSE).map(|(_, path)| path.clone())
    }
}

/// Whether a text says that there is no free text.
fn denies(text: &str) -> bool {
    let text = text.to_lowercase();
    let none = [
        "never",
        "no free text",
        "no free-text",
        "without free text",
        "always fully",
        "always handled in full",
    ];
    none.iter().any(|it| text.contains(it)) || (text.contains("fully") && !text.contains("part"))
}
