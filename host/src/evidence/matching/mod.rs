//! Names and types against the paths that occur in events.
//!
//! A property is wanted, by its name, its type and what the rule says about it; the [`Scorer`] ranks the places in the
//! events where it may be found. Drafts are made of it, and so are suggestions for a path that doesn't exist.
//!
//! # How a path is scored
//! Names are parted into words, abbreviations are written out, and words are compared: the same, the same stem, meaning
//! much the same, the beginning of the other, or misspelt. From that come two shares. How much of the property's name the
//! path explains, wherever in it (`issue_id` is `issue.id`, `author_login` is `user.login`); and how much of the path is
//! explained, by the name, the entity, or the hint, where the last key weighs most and a key that nearly all paths begin
//! with weighs nothing. The score is the product of both, and what the hint says fills a part of what it leaves open. It is
//! then lowered by whatever speaks against the path: the hint excludes it, nothing speaks of its last key, it is missing in
//! samples, values of a key repeat, values are addresses or moments and none is wanted. Words that tell what a value is of
//! weigh more than words for its form (`id`, `sha`), its unit, or that it is a moment, since the type says that too; and a
//! word that occurs in other paths weighs more, because a path without it is then likely another one. The weights are in
//! `weights`, each with its reason.
//!
//! A path whose values aren't of the property's type is a candidate for a plan only with the conversion that makes them so.
//! It is listed after those that fit as they are, because what is wrong with a plan may be just that.
//!
//! Things that there are several of in an event, and objects that are an entity of their own, are found by what they are
//! called, and by whether the entity's key and properties are in them.

mod hint;
mod home;
mod score;
mod survey;
mod weights;

pub(crate) use home::Called;
pub(crate) use score::{Aim, Scorer};
pub(crate) use survey::{Survey, ValuePlace};

pub(crate) use crate::evidence::similarity::words::{Word, words};

use crate::evidence::Path;
use crate::graph::spec::PropertyType;
use crate::plan::expr::Conversion;

/// A property for which a path is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    /// The property's name.
    pub name: &'a str,
    /// The type of its values; `None` where any scalar will do.
    pub property_type: Option<&'a PropertyType>,
    /// What the rule says about it, in words.
    pub hint: Option<&'a str>,
    /// The name of the entity that it is a property of; may be empty.
    pub entity: &'a str,
    /// Whether it is the key: then its value has to be there, and to tell events apart.
    pub is_key: bool,
}

/// A path where a property may be found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// The path, from the event's root.
    pub path: Path,
    /// How well it suits, from 0 to 1. Above about 0.5 it is likely to be what is meant.
    pub score: f64,
    /// Whether every value that was seen there is of the property's type, as it is.
    pub fits_type: bool,
    /// The conversion that makes every value that was seen there be of the type; where they are of it already, the one
    /// that writes them alike, like timestamps of several offsets. `None` where there is nothing to do, or nothing helps.
    pub convert: Option<Conversion>,
}

impl Candidate {
    /// Whether the values can be had in the property's type.
    #[must_use]
    pub(crate) fn is_usable(&self) -> bool {
        self.fits_type || self.convert.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{Aim, Candidate, Scorer, Survey, Wanted};
    use crate::evidence::Samples;
    use crate::evidence::effort::{Cancel, StepBudget};
    use crate::evidence::{Evidence, dotted};
    use crate::graph::spec::PropertyType;

    const SAMPLES: &str = r#"{"event_type":"order.placed","ts":"2026-01-01T00:00:00Z","data":{"order":{"id":1,"number":7,"buyer":{"mailAddress":"a@x","id":5},"total":{"amount":1.5,"currency":"EUR"},"expressDelivery":true}}}
{"event_type":"order.placed","ts":"2026-01-02T00:00:00Z","data":{"order":{"id":2,"number":7,"buyer":{"mailAddress":"b@x","id":5},"total":{"amount":2,"currency":"EUR"},"expressDelivery":false}}}"#;

    fn candidates(
        wanted: &Wanted<'_>,
        evidence: &Evidence,
        event_types: &[&str],
    ) -> Vec<Candidate> {
        let effort = StepBudget::new(u64::MAX, &Cancel::default());
        Scorer::new(&Survey::new(evidence, event_types, &effort)).rank(&Aim::new(wanted), None)
    }

    fn best(name: &str, property_type: &PropertyType, is_key: bool) -> String {
        let samples = Samples::parse(SAMPLES, "samples").expect("samples");
        let evidence = Evidence::new(&samples, None);
        let wanted = Wanted {
            name,
            property_type: Some(property_type),
            hint: None,
            entity: "Order",
            is_key,
        };
        let found = candidates(&wanted, &evidence, &["order.placed"]);
        assert!(found.iter().all(|it| (0.0..=1.0).contains(&it.score)));
        assert!(found.is_sorted_by(|a, b| (a.fits_type, a.score) >= (b.fits_type, b.score)));
        found.first().filter(|it| it.fits_type).map_or_else(String::new, |it| dotted(&it.path))
    }

    #[test]
    fn names_of_other_spelling_and_nesting_are_found() {
        use PropertyType::{Boolean, Double, Int64, String, Timestamp};
        for (name, property_type, path) in [
            ("order_id", Int64, "data.order.id"),
            ("customer_id", Int64, "data.order.buyer.id"),
            ("customer_email", String, "data.order.buyer.mailAddress"),
            ("totalAmount", Double, "data.order.total.amount"),
            ("is_express_delivery", Boolean, "data.order.expressDelivery"),
            ("placed_at", Timestamp, "ts"),
        ] {
            assert_eq!(best(name, &property_type, false), path, "{name}");
        }
        assert_eq!(best("order_id", &Int64, true), "data.order.id");
    }
}
