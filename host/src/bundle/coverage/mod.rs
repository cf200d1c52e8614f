//! What a plan makes of the samples, for whoever has to say whether that is right: property by property, with what looks wrong.
//!
//! The gates know types and paths. A plan that reads another field of the same type passes them; that a property never comes out,
//! or that all events give the same, is for a person to see.

mod failed;
mod given;
mod text;

use serde::Serialize;

pub use failed::{FailedConversion, FailedValue};
pub(in crate::bundle) use given::Given;

use crate::bundle::smoke::Smoked;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Problem, Stage};
use crate::diagnostics::untrusted::escaped;
use crate::evidence::{Evidence, Rule, Samples};
use crate::gate::fit::{declared_warnings, unseen_warnings};
use crate::gate::source::{SourceDeclaration, VettedSource};
use crate::graph::spec::{GraphSpec, Properties};
use crate::plan::oracle::Alternatives;
use crate::plan::{FieldMapping, Plan};
use crate::sandbox::Extractor;
use given::Owner;

/// What a plan makes of the samples. Its `Display` is a table of a few lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Coverage {
    /// Samples that were run.
    pub samples: u64,
    /// Samples that weren't, because the extractor doesn't declare their event types.
    #[serde(skip_serializing_if = "is_none")]
    pub skipped: u64,
    /// Those that gave a node or an edge.
    pub nonempty: u64,
    /// The properties of the plan, in its order; or, of a module without one, those that came out.
    pub properties: Vec<PropertyCoverage>,
    /// What the graph spec declares of the entities and relationships of the plan, and the plan leaves out.
    pub left_out: Vec<LeftOut>,
    /// Conversions that failed, and on what.
    pub failed_conversions: Vec<FailedConversion>,
    /// Nodes and edges that were dropped, since others of the same event have their ids.
    pub dropped_duplicates: u64,
    /// Whether samples that differ gave the same nodes and edges, all of them, but for ids.
    pub identical_results: bool,
    /// What looks wrong.
    pub warnings: Vec<Problem>,
}

/// What came out of one property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PropertyCoverage {
    /// The entity or relationship.
    pub of: String,
    /// Its name, as the plan has it.
    pub property: String,
    /// JSON Pointer to its mapping in the plan; empty where there is no plan.
    pub pointer: String,
    /// In how many samples it came out, and not as null.
    pub samples: u64,
    /// How many values are different ones.
    pub distinct: u64,
    /// Up to three of them, as JSON, escaped and cut.
    pub examples: Vec<String>,
}

/// A property of the graph spec that the plan doesn't map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// The entity or relationship.
    pub of: String,
    /// Its name in the graph spec.
    pub property: String,
    /// Whether the rule names it.
    pub in_rule: bool,
}

impl Coverage {
    /// What `smoked` made of these samples, with what looks wrong about it.
    #[must_use]
    pub fn new(
        smoked: &Smoked,
        plan: Option<&Plan>,
        samples: &Samples,
        graph: Option<&GraphSpec>,
        rule: Option<&Rule>,
    ) -> Self {
        let given = smoked.given();
        let is_same = given.texts.len() > 1 && given.results.len() == 1;
        let mut coverage = Self {
            samples: given.samples,
            skipped: smoked.skipped() as u64,
            nonempty: given.nonempty,
            properties: match plan {
                Some(plan) => of_plan(plan, given),
                None => of_module(given),
            },
            left_out: match (plan, graph) {
                (Some(plan), Some(graph)) => left_out(plan, graph, rule),
                _ => Vec::new(),
            },
            failed_conversions: plan.map_or_else(Vec::new, |plan| {
                failed::conversions(plan, samples, &given.failed_lines)
            }),
            dropped_duplicates: given.dropped_duplicates,
            identical_results: is_same,
            warnings: Vec::new(),
        };
        coverage.warnings = coverage.warnings(given);
        if let Some(plan) = plan {
            let alternatives = coverage.never_taken(plan, samples);
            coverage.warnings.extend(alternatives);
        }
        coverage
    }

    /// The alternatives that no sample takes, of values that come out at all. What the plan says is unseen has a warning of its own.
    fn never_taken(&self, plan: &Plan, samples: &Samples) -> Vec<Problem> {
        let mut alternatives = Alternatives::of(plan);
        if alternatives.all.is_empty() {
            return Vec::new();
        }
        for sample in samples {
            // Of one that can't be read nothing comes out.
            let _ = alternatives.note(plan, sample.text());
        }
        let is_given = |at: &str| {
            let mapping = at.split_once("/coalesce/").map_or(at, |(mapping, _)| mapping);
            self.properties.iter().any(|it| it.pointer == mapping && it.samples > 0)
        };
        let never = alternatives.all.difference(&alternatives.taken);
        let never = never.filter(|at| is_given(at) && plan.unseen_at(at).is_none());
        let warning = |at: &String| {
            let message = "this alternative is the value in none of the samples".to_owned();
            Problem::new(Stage::Smoke, codes::ALTERNATIVE_NEVER_TAKEN, message).at(at.clone())
        };
        never.map(warning).collect()
    }

    /// The same, with what is to be said of all that the plan says is unseen; that nothing came out of it is no more than that.
    #[must_use]
    pub fn knowing(mut self, plan: &Plan, evidence: &Evidence) -> Self {
        let unseen = unseen_warnings(plan, evidence);
        let places = unseen.iter().filter(|it| it.code == codes::UNSEEN_PATH);
        let places: Vec<&str> = places.filter_map(|it| it.path.as_deref()).collect();
        self.warnings.retain(|warning| {
            let at = warning.path.as_deref().unwrap_or_default();
            let follows = places.iter().any(|place| decides(place, at));
            warning.code != codes::PROPERTY_NEVER_GIVEN || !follows
        });
        self.warnings.splice(0..0, unseen);
        self
    }

    /// The same of code, with what is to be said of the inputs that it declares and no sample shows: of source in Rust that is what it
    /// says `unseen` of, of a module without any all of it.
    #[must_use]
    pub fn knowing_code(
        mut self,
        extractor: &Extractor,
        source: Option<&VettedSource>,
        evidence: &Evidence,
    ) -> Self {
        let section = extractor.section();
        let source = source.and_then(|source| SourceDeclaration::of(source, section));
        self.warnings.splice(0..0, declared_warnings(section, source, evidence));
        self
    }

    fn warnings(&self, given: &Given) -> Vec<Problem> {
        let mut found = Vec::new();
        let mut warn = |code: Code, pointer: &str, message: String| {
            found.push(Problem::new(Stage::Smoke, code, message).at(pointer));
        };
        // Where nothing came out at all, none of its properties did.
        for it in self.properties.iter().filter(|it| it.samples == 0 && self.nonempty > 0) {
            let (of, property) = (escaped(&it.of), escaped(&it.property));
            let message = format!("{of}.{property} came out in none of {} samples", self.nonempty);
            warn(codes::PROPERTY_NEVER_GIVEN, &it.pointer, message);
        }
        for it in self.left_out.iter().filter(|it| it.in_rule) {
            let (of, property) = (escaped(&it.of), escaped(&it.property));
            let message =
                format!("{of}.{property} is named in the rule, and the plan leaves it out");
            warn(codes::PROPERTY_LEFT_OUT, "", message);
        }
        if given.failed_conversions > 0 {
            let (failed, count) = (given.failed_conversions, given.failed_samples);
            let place = self.failed_conversions.first().map_or("", |it| it.pointer.as_str());
            let which: Vec<String> = self
                .failed_conversions
                .iter()
                .take(3)
                .map(|it| format!("{}.{}", escaped(&it.of), escaped(&it.property)))
                .collect();
            let of = match which.is_empty() {
                true => String::new(),
                false => format!(" of {}", which.join(", ")),
            };
            let (failed, count) = (counted(failed, "conversion"), counted(count, "sample"));
            let message = format!("{failed}{of} failed, in {count}");
            warn(codes::CONVERSIONS_FAILED, place, message);
        }
        if given.dropped_duplicates > 0 {
            let (dropped, count) = (given.dropped_duplicates, given.dropped_samples);
            let (dropped, count) = (counted(dropped, "node or edge"), counted(count, "sample"));
            let message = format!("{dropped} dropped in {count}, since others have their ids");
            warn(codes::ROWS_DROPPED, "", message);
        }
        if self.identical_results {
            let message = format!(
                "the {} samples that gave something gave the same, though {} of them differ",
                self.nonempty,
                given.texts.len()
            );
            warn(codes::IDENTICAL_RESULTS, "", message);
        }
        found
    }
}

/// Whether what is at one place of a plan decides whether there is a value of the mapping at another: it is around it or in it, or it is
/// a condition or an iteration of what has the mapping.
fn decides(place: &str, mapping: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let owner = ["/key_field", "/property_fields/"]
        .iter()
        .find_map(|list| Some(mapping.split_once(list)?.0))
        .unwrap_or(mapping);
    let guards = ["when", "for_each"].map(|guard| format!("{owner}/{guard}"));
    is_in(place, mapping)
        || is_in(mapping, place)
        || is_in(place, "/when")
        || guards.iter().any(|guard| is_in(place, guard))
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

fn counted(count: u64, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what}"),
        (_, "node or edge") => format!("{count} nodes or edges"),
        _ => format!("{count} {what}s"),
    }
}

fn of_plan(plan: &Plan, given: &Given) -> Vec<PropertyCoverage> {
    let mut all = Vec::new();
    for (index, rule) in plan.nodes().iter().enumerate() {
        let keys = rule.key_fields().iter().enumerate();
        let keys = keys.map(|(key, it)| (plan.key_pointer(index, key), it));
        let others = rule.property_fields().iter().enumerate();
        let others = others.map(|(other, it)| (plan.property_pointer(index, other), it));
        let owner = Owner::Node(index);
        all.extend(keys.chain(others).map(|(pointer, it)| {
            covered(given, &owner, rule.entity_name(), it.property_name(), pointer)
        }));
    }
    for (index, rule) in plan.edges().iter().enumerate() {
        let owner = Owner::Edge(index);
        let at = plan.edge_pointer(index);
        all.extend(rule.property_fields().iter().enumerate().map(|(property, it)| {
            let pointer = format!("{at}/property_fields/{property}");
            covered(given, &owner, rule.relationship_name(), it.property_name(), pointer)
        }));
    }
    all
}

fn of_module(given: &Given) -> Vec<PropertyCoverage> {
    let named = |owner: &Owner| match owner {
        Owner::Named(name) => escaped(name),
        Owner::Node(_) | Owner::Edge(_) => String::new(),
    };
    let all = given.properties.keys();
    all.map(|(owner, property)| {
        let covered = covered(given, owner, &named(owner), property, String::new());
        PropertyCoverage { property: escaped(property), ..covered }
    })
    .collect()
}

fn covered(
    given: &Given,
    owner: &Owner,
    of: &str,
    property: &str,
    pointer: String,
) -> PropertyCoverage {
    let seen = given.properties.get(&(owner.clone(), property.to_owned()));
    PropertyCoverage {
        of: of.to_owned(),
        property: property.to_owned(),
        pointer,
        samples: seen.map_or(0, |seen| seen.samples),
        distinct: seen.map_or(0, |seen| seen.distinct),
        examples: seen.map_or_else(Vec::new, |seen| seen.examples.clone()),
    }
}

/// What the graph spec declares of what the plan makes, and no rule of the plan for that maps.
pub(crate) fn left_out(plan: &Plan, graph: &GraphSpec, rule: Option<&Rule>) -> Vec<LeftOut> {
    let words = rule.map(|rule| rule.text().to_lowercase()).unwrap_or_default();
    let mut found: Vec<LeftOut> = Vec::new();
    let mut add = |of: &str, declared: &Properties, mapped: &[&FieldMapping]| {
        for property in declared.iter() {
            let is_mapped = mapped.iter().any(|it| property.is_named(it.property_name()));
            let is_known =
                found.iter().any(|it| it.of == of && it.property == property.logical_name);
            if !is_mapped && !is_known {
                let in_rule =
                    names(&words, &property.logical_name) || names(&words, &property.column);
                let (of, property) = (of.to_owned(), property.logical_name.clone());
                found.push(LeftOut { of, property, in_rule });
            }
        }
    };
    for node in plan.nodes() {
        let Some(entity) = graph.entity(node.entity_name()) else { continue };
        let same = plan.nodes().iter().filter(|it| it.entity_name() == node.entity_name());
        let mapped: Vec<_> =
            same.flat_map(|it| it.key_fields().iter().chain(it.property_fields())).collect();
        add(&entity.name, &entity.properties, &mapped);
    }
    for edge in plan.edges() {
        let Some(relationship) = graph.relationship(edge.relationship_name()) else { continue };
        let is_same =
            |it: &&crate::plan::EdgeRule| it.relationship_name() == edge.relationship_name();
        let mapped: Vec<_> =
            plan.edges().iter().filter(is_same).flat_map(|it| it.property_fields()).collect();
        add(&relationship.name, &relationship.properties, &mapped);
    }
    found
}

/// Whether a text in lower case names a property: as it is written, or its words with spaces between them.
fn names(text: &str, property: &str) -> bool {
    let property = property.to_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let occurs = |name: &str| {
        !name.is_empty()
            && text.match_indices(name).any(|(at, found)| {
                let before = text.get(..at).and_then(|it| it.chars().next_back());
                let after = text.get(at + found.len()..).and_then(|it| it.chars().next());
                !before.is_some_and(is_part) && !after.is_some_and(is_part)
            })
    };
    occurs(&property) || (property.contains('_') && occurs(&property.replace('_', " ")))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_rule_names_a_property_by_whole_words() {
        for (text, property, expected) in [
            ("take `order_id` and the total.", "order_id", true),
            ("take the order id", "order_id", true),
            ("take the Total", "total", false),
            ("take the total", "Total", true),
            ("subtotals only", "total", false),
            ("total_net", "total", false),
            ("", "total", false),
        ] {
            assert_eq!(names(text, property), expected, "{text} {property}");
        }
    }
}
