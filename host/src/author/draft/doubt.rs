//! What a person should look at.

use serde::Serialize;

use super::assign::{Assignment, Choice};
use crate::diagnostics::untrusted::quoted;
use crate::evidence::dotted;

/// From here on, a name says what a path holds.
const SURE_SCORE: f64 = 0.8;

/// From here on, no other path is likely to be meant.
const SURE_LEAD: f64 = 0.05;

/// Something about a sketch that a person should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// What it is about: an entity, a property as `Entity.property`, or a field of the plan.
    pub about: String,
    /// Why.
    pub why: String,
}

impl Doubt {
    pub(super) fn new(about: impl Into<String>, why: impl Into<String>) -> Self {
        Self { about: about.into(), why: why.into() }
    }
}

/// What is doubtful about a node's properties.
pub(super) fn of_properties(entity: &str, assignment: &Assignment) -> Vec<Doubt> {
    assignment.choices().filter_map(|choice| of_property(entity, choice)).collect()
}

fn of_property(entity: &str, choice: &Choice) -> Option<Doubt> {
    let about = format!("{entity}.{}", choice.name);
    let path_at = |index: usize| choice.candidates.get(index).map(|it| quoted(&dotted(&it.path)));
    let Some(candidate) = choice.candidate() else {
        let why = match (path_at(0), path_at(1)) {
            (Some(one), Some(other)) => format!("left out: {one} and {other} suit alike"),
            (Some(one), None) => format!("left out: {one} suits another property better"),
            _ => "left out: no path of the samples has its name and its type".to_owned(),
        };
        return Some(Doubt::new(about, why));
    };
    let path = quoted(&dotted(&candidate.path));
    if choice.is_named {
        return None;
    }
    if choice.lead < SURE_LEAD {
        let next = choice.candidates.iter().find(|it| it.path != candidate.path);
        let next = next.map_or_else(String::new, |it| {
            format!(", and {} nearly as well", quoted(&dotted(&it.path)))
        });
        return Some(Doubt::new(about, format!("{path} suits it{next}")));
    }
    (candidate.score < SURE_SCORE)
        .then(|| Doubt::new(about, format!("{path} has only a part of its name")))
}
