//! A sketch, with what it rests on.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::assign::Choice;
use super::doubt::Doubt;
use super::outline::{Node, Outline};
use crate::diagnostics::untrusted::quoted;
use crate::evidence::dotted;
use crate::evidence::matching::Survey;

/// Where a sketch takes a value from, and what supports that.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mapping {
    /// The entity, and its property.
    pub entity: String,
    /// The property's name.
    pub property: String,
    /// The path, with dots; of an element of an array, from the element.
    pub path: String,
    /// Whether the rule names the path for the property; otherwise name and type alone support it.
    pub named_in_rule: bool,
    /// How well name and type suit, from 0 to 1.
    pub score: f64,
    /// By how much the score is ahead of that of the next path.
    pub lead: f64,
    /// The share of the samples that have a value there; `None` in elements.
    pub coverage: Option<f64>,
}

/// A first sketch of a plan, from names and types, with what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    pub(super) plan: Value,
    pub(super) mappings: Vec<Mapping>,
    pub(super) doubts: Vec<Doubt>,
    pub(super) compared: u64,
    pub(super) is_whole: bool,
}

impl Sketch {
    /// The plan, as JSON of the plan schema.
    #[must_use]
    pub fn plan(&self) -> &Value {
        &self.plan
    }

    /// Every property that the plan reads, in its order.
    #[must_use]
    pub fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    /// What a person should look at before the plan is used.
    #[must_use]
    pub fn doubts(&self) -> &[Doubt] {
        &self.doubts
    }

    /// Whether all was looked at that rule, graph spec and samples hold. Where that takes too many steps, what would come last
    /// is left out, and the sketch is made of the rest.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// How many properties were compared with paths, each with each.
    #[must_use]
    pub fn compared(&self) -> u64 {
        self.compared
    }
}

/// A line for each mapping, and one for each doubt.
impl fmt::Display for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "A first sketch from names and types; nothing has read the rule. What it rests on:"
        )?;
        for it in &self.mappings {
            let Mapping { entity, property, path, score, lead, .. } = it;
            write!(f, "  {entity}.{property}: {}, ", quoted(path))?;
            match it.named_in_rule {
                true => write!(f, "named in the rule")?,
                false => write!(f, "score {score:.2}, {lead:.2} ahead of the next path")?,
            }
            match it.coverage {
                Some(coverage) => writeln!(f, ", in {:.0} % of the samples", coverage * 100.0)?,
                None => writeln!(f)?,
            }
        }
        writeln!(f, "A person should look at:")?;
        for Doubt { about, why } in &self.doubts {
            writeln!(f, "  {about}: {why}")?;
        }
        write!(f, "  the rule: whether it leaves out some of these events, or asks for more values")
    }
}

/// What an outline's mappings rest on. `survey` is of the events.
pub(super) fn mappings(outline: &Outline, survey: &Survey<'_>) -> Vec<Mapping> {
    let of_node = |node: &Node| {
        let is_element = node.home.iteration.is_some();
        let mapping = |choice: &Choice| {
            let candidate = choice.candidate()?;
            let place = survey.place(&candidate.path);
            Some(Mapping {
                entity: node.entity.clone(),
                property: choice.name.clone(),
                path: dotted(&candidate.path),
                named_in_rule: choice.is_named,
                score: candidate.score,
                lead: choice.lead,
                coverage: place.filter(|_| !is_element).map(|it| it.coverage),
            })
        };
        node.home.assignment.choices().filter_map(mapping).collect::<Vec<_>>()
    };
    outline.nodes.iter().flat_map(of_node).collect()
}
