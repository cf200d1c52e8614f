//! Where the paths of a plan start: at the events, and at the elements that each `for_each` goes over.

use serde_json::Value;

use super::mapping::Mapping;
use crate::evidence::effort::{StepBudget, StepBudgets, VALUE};
use crate::evidence::similarity::ranking::only;
use crate::evidence::{
    Evidence, PathIndex, SampleQuery, SampleValues, Seen, at, is_scalar, shown_elements,
};
use crate::plan::expr::{
    CompiledCondition, Condition, Empty, ForEach, Level, Query, Reference, Zone, fuel,
};
use crate::plan::{Plan, Read, Role, innermost};

/// How many iterations are looked into; nothing is said about paths inside of others.
const MAX_ITERATIONS: usize = 64;

/// What samples and schema say about the elements of all iterations of a plan.
pub(crate) struct Elements {
    all: Vec<(ForEach, Evidence)>,
}

impl Elements {
    pub(super) fn new(plan: &Plan, evidence: &Evidence) -> Self {
        let nodes = plan.nodes().iter().filter_map(|node| node.for_each());
        let edges = plan.edges().iter().filter_map(|edge| edge.for_each());
        let spans = plan.span_rules().iter().filter_map(|rule| rule.for_each());
        let all = ForEach::all_levels(nodes.chain(edges).chain(spans));
        // Of all event types: what those of another type have may be in these, too.
        let types: Vec<&str> = evidence.event_types().map(|(name, _)| name).collect();
        Self::of(all, evidence, &types, &Evidence::room())
    }

    /// What events of these types say about the elements of each iteration; they take no more than this room together.
    pub(crate) fn of(
        iterations: Vec<ForEach>,
        evidence: &Evidence,
        types: &[&str],
        room: &StepBudget,
    ) -> Self {
        let known = |for_each: ForEach| {
            let evidence = evidence.elements_within(types, &for_each, room);
            (for_each, evidence)
        };
        Self { all: iterations.into_iter().take(MAX_ITERATIONS).map(known).collect() }
    }
}

/// The iterations of whose elements a plan says that no sample shows them, and no sample does: nothing is to be said of paths in these.
fn unseen(plan: &Plan) -> impl Iterator<Item = &ForEach> {
    let nodes = plan.nodes().iter().enumerate();
    let nodes = nodes.map(|(index, it)| (plan.node_pointer(index), it.for_each()));
    let edges = plan.edges().iter().enumerate();
    let edges = edges.map(|(index, it)| (plan.edge_pointer(index), it.for_each()));
    let spans = plan.span_rules().iter().enumerate();
    let spans = spans.map(|(index, it)| (plan.span_pointer(index), it.for_each()));
    nodes.chain(edges).chain(spans).flat_map(move |(at, for_each)| {
        let levels = (1..=innermost(for_each).0).map(Level);
        levels.filter_map(move |level| {
            let at = format!("{at}{}", "/for_each".repeat(usize::from(level.0)));
            plan.unseen_at(&at).and(for_each?.at(level))
        })
    })
}

/// Where a whole condition is that a test is a part of.
fn whole(pointer: &str) -> &str {
    let parts = ["/all/", "/any/", "/not/"].iter().filter_map(|part| pointer.find(part));
    parts.min().and_then(|end| pointer.get(..end)).unwrap_or(pointer)
}

/// The paths that a plan reads for its properties.
fn read_values(plan: &Plan) -> Vec<ReadValue<'_>> {
    // Of plans, none fails to serialise.
    let written = serde_json::to_value(plan).unwrap_or_default();
    let value = |read: Read<'_>| {
        let mut mapping = read.pointer.as_str();
        let property = loop {
            (mapping, _) = mapping.rsplit_once('/')?;
            if let Some(name) = written.pointer(mapping)?.get("property_name") {
                break name.as_str()?.to_owned();
            }
        };
        Some((mapping.to_owned(), property))
    };
    let reads = plan.reads().into_iter();
    let reads = reads.filter(|it| matches!(it.role, Role::Key | Role::Property));
    let reads = reads.filter_map(|read| {
        let (mapping, property) = value(read.clone())?;
        Some(ReadValue { read, mapping, property })
    });
    reads.collect()
}

/// What is known at every level of every iteration of a plan.
pub(crate) struct Scopes<'t> {
    efforts: &'t StepBudgets,
    empty: Empty,
    time_zone: Option<&'t Zone>,
    event: PathIndex<'t>,
    elements: Vec<(&'t ForEach, PathIndex<'t>)>,
    /// What the plan reads for its properties, and in its conditions.
    values: Vec<ReadValue<'t>>,
    conditions: Vec<Read<'t>>,
}

/// A path that a plan reads for a property.
struct ReadValue<'p> {
    read: Read<'p>,
    /// Pointer to the property's mapping, and its name.
    mapping: String,
    property: String,
}

impl<'t> Scopes<'t> {
    pub(crate) fn new(
        evidence: &'t Evidence,
        elements: &'t Elements,
        event_types: &[&'t str],
        efforts: &'t StepBudgets,
    ) -> Self {
        let known = |(for_each, evidence): &'t (ForEach, Evidence)| {
            let of = shown_elements(for_each);
            let known = PathIndex::of_types(evidence, event_types.to_vec(), efforts);
            (for_each, known.called(format!("elements {of}")))
        };
        Self {
            efforts,
            empty: Empty::Value,
            time_zone: None,
            event: PathIndex::of_types(evidence, event_types.to_vec(), efforts),
            elements: elements.all.iter().map(known).collect(),
            values: Vec::new(),
            conditions: Vec::new(),
        }
    }

    /// The same as a plan reads values.
    pub(crate) fn read_by(self, plan: &'t Plan) -> Self {
        let is_unseen = |for_each: &ForEach, known: &PathIndex<'_>| {
            known.count() == 0 && unseen(plan).any(|it| it.goes_over_what(for_each))
        };
        let mut elements = self.elements;
        elements.retain(|(for_each, known)| !is_unseen(for_each, known));
        let mut conditions = plan.reads();
        conditions.retain(|it| matches!(it.role, Role::Gate | Role::When));
        let (empty, time_zone, values) = (plan.empty(), plan.time_zone(), read_values(plan));
        Self { empty, time_zone, elements, values, conditions, ..self }
    }

    /// The same without the elements of which nothing is known: none were seen, and none are declared.
    pub(super) fn where_something_is_known(self) -> Self {
        let mut elements = self.elements;
        elements.retain(|(_, known)| known.paths().len() > 0);
        Self { elements, ..self }
    }

    /// The paths at a level that the plan reads for its properties.
    pub(super) fn paths_read(
        &self,
        level: Level,
        for_each: Option<&ForEach>,
    ) -> impl Iterator<Item = &[String]> {
        let start = for_each.and_then(|it| it.at(level));
        self.values.iter().filter_map(move |it| {
            let Reference { path, level: of } = &it.read.reference;
            let other = it.read.for_each.and_then(|it| it.at(level));
            let is_same = match (start, other) {
                (Some(one), Some(other)) => one.goes_over_what(other),
                _ => level.is_event(),
            };
            (*of == level && is_same).then_some(path.as_slice())
        })
    }

    /// Whether another value of the plan than the one at a pointer reads what is at a path. What reads it for a property of the same
    /// name means the same by it; and a text may hold again what others read, as a condition may ask for it.
    pub(super) fn is_read_elsewhere(
        &self,
        pointer: &str,
        reference: &Reference,
        for_each: Option<&ForEach>,
    ) -> bool {
        let own = self.values.iter().find(|it| it.read.pointer == pointer);
        let start = for_each.and_then(|it| it.at(reference.level));
        let is_same_start =
            |other: Option<&ForEach>| match (start, other.and_then(|it| it.at(reference.level))) {
                (Some(one), Some(other)) => one.goes_over_what(other),
                _ => reference.level.is_event(),
            };
        let Some(own) = own else {
            // Of the tests of one condition one may be for what another one isn't.
            return self.conditions.iter().any(|it| {
                it.pointer != pointer
                    && whole(&it.pointer) == whole(pointer)
                    && it.reference == *reference
                    && is_same_start(it.for_each)
            });
        };
        let is_template = |it: &ReadValue<'_>| it.read.pointer.ends_with("/template");
        self.values.iter().any(|it| {
            let is_alike = own.property == it.property;
            let is_same = it.read.pointer == pointer;
            let is_text = is_template(own) || is_template(it);
            let is_other = match (it.mapping == own.mapping, is_text) {
                (true, _) => !is_same || is_template(own),
                (false, true) => false,
                (false, false) => !is_alike,
            };
            is_other && it.read.reference == *reference && is_same_start(it.read.for_each)
        })
    }

    pub(crate) fn efforts(&self) -> &'t StepBudgets {
        self.efforts
    }

    /// What is known of events.
    pub(super) fn event(&self) -> &PathIndex<'t> {
        &self.event
    }

    /// What is known of what paths of a level start at.
    pub(crate) fn at(&self, for_each: Option<&ForEach>, level: Level) -> Option<&PathIndex<'t>> {
        if level.is_event() {
            return Some(&self.event);
        }
        let wanted = for_each?.at(level)?;
        let mut elements = self.elements.iter();
        elements.find(|(it, _)| it.goes_over_what(wanted)).map(|(_, known)| known)
    }

    /// What is known at every level, from the event's on, as far as iterations are looked into.
    pub(super) fn levels(
        &self,
        for_each: Option<&ForEach>,
    ) -> impl DoubleEndedIterator<Item = (Level, &PathIndex<'t>)> {
        let levels = (0..=innermost(for_each).0).map(Level);
        levels.filter_map(move |level| Some((level, self.at(for_each, level)?)))
    }

    /// The one level at which there is a path, if it is there at one alone.
    pub(crate) fn only_level_with(
        &self,
        path: &[String],
        for_each: Option<&ForEach>,
    ) -> Option<Level> {
        let having = self.levels(for_each).filter(|(_, known)| known.has(path));
        only(having.map(|(level, _)| level))
    }

    /// What is known of what the path of a mapping starts at; of the innermost level where it has none.
    pub(super) fn of(&self, mapping: &Mapping<'_>) -> Option<&PathIndex<'t>> {
        let level = mapping.plain().map_or(innermost(mapping.for_each), |it| it.level);
        self.at(mapping.for_each, level)
    }

    /// The samples, or elements, for which these conditions hold and those of the `for_each`; none where there is no effort left to tell.
    pub(super) fn relevant(
        &self,
        for_each: Option<&ForEach>,
        conditions: &[&Condition],
    ) -> Option<RelevantSamples<'t>> {
        let level = innermost(for_each);
        let effort = &self.efforts.values;
        let of_elements = for_each.map(ForEach::conditions).unwrap_or_default();
        let conditions = conditions.iter().copied().chain(of_elements);
        let tests: Vec<Test> = conditions.map(Test::new).collect();
        let seen = self.at(for_each, level)?.seen().take_while(|_| effort.take(VALUE));
        let empty = self.empty;
        let seen = seen.filter(|seen| tests.iter().all(|test| test.holds(seen, empty, effort)));
        let mut seen: Vec<&Seen> = seen.collect();
        if effort.is_over() {
            seen.clear();
        }
        Some(RelevantSamples { seen, has_keys: true, empty, time_zone: self.time_zone, effort })
    }
}

/// The samples, or elements, that something of a plan is made of.
pub(super) struct RelevantSamples<'t> {
    seen: Vec<&'t Seen>,
    has_keys: bool,
    empty: Empty,
    time_zone: Option<&'t Zone>,
    effort: &'t StepBudget,
}

/// What is at a path of a sample, as a plan reads it.
fn read<'s>(seen: &'s Seen, reference: &Reference, empty: Empty) -> Option<&'s Value> {
    let found = at(seen.at_level(reference.level)?, &reference.path)?;
    (empty == Empty::Value || found != "").then_some(found)
}

impl<'t> RelevantSamples<'t> {
    /// Those that have all these keys; without any, all of them, and the evidence is weak.
    pub(super) fn with_keys(self, keys: &[&Reference]) -> Self {
        let is_key =
            |seen: &Seen, key: &Reference| read(seen, key, self.empty).is_some_and(is_scalar);
        if !self.effort.take(VALUE * (self.seen.len() * keys.len()) as u64) {
            return Self { seen: Vec::new(), has_keys: false, ..self };
        }
        let having = self.seen.iter().filter(|seen| keys.iter().all(|key| is_key(seen, key)));
        let having: Vec<&Seen> = having.copied().collect();
        if having.is_empty() {
            Self { has_keys: false, ..self }
        } else {
            Self { seen: having, has_keys: true, ..self }
        }
    }

    /// Whether there are any with all their keys.
    pub(super) fn has_keys(&self) -> bool {
        self.has_keys
    }

    /// Where times without an offset are.
    pub(super) fn time_zone(&self) -> Option<&'t Zone> {
        self.time_zone
    }

    /// What looking at values is taken from.
    pub(super) fn effort(&self) -> &'t StepBudget {
        self.effort
    }

    /// What an expression gives for each, null where it gives nothing; none where it fails. Without samples, and without effort
    /// left to look at them, nothing.
    pub(super) fn evaluated(&self, query: &Query) -> Vec<(&'t Seen, Option<Value>)> {
        let mut results = Vec::new();
        let query = SampleQuery::new(query, self.empty);
        for seen in &self.seen {
            let given = self.effort.left().min(SampleQuery::fuel(seen));
            let mut fuel = given;
            let result = query.over(|level| seen.at_level(level), &mut fuel);
            if !self.effort.take(given - fuel + VALUE * query.paths() as u64) {
                break;
            }
            // What it costs is for the sample run to say.
            results.extend(result.ok().map(|result| (*seen, result)));
        }
        results
    }

    /// The values at a path, null included: each once, however many elements are inside of what has it. None where there is no
    /// effort left to look at them.
    pub(super) fn values(&self, reference: &Reference) -> Vec<(&'t Seen, &'t Value)> {
        let mut values: Vec<(&Seen, &Value)> = Vec::new();
        if !self.effort.take(VALUE * self.seen.len() as u64) {
            return values;
        }
        for seen in &self.seen {
            let Some(value) = read(seen, reference, self.empty) else { continue };
            if values.last().is_none_or(|(_, last)| !std::ptr::eq(*last, value)) {
                values.push((*seen, value));
            }
        }
        values
    }
}

/// A condition, made ready.
struct Test {
    compiled: CompiledCondition,
    references: Vec<Reference>,
    /// Whether it looks into arrays and objects.
    is_whole: bool,
}

impl Test {
    fn new(condition: &Condition) -> Self {
        let mut references = Vec::new();
        let compiled = CompiledCondition::new(condition, &mut |reference| {
            references.push(reference.clone());
            references.len() - 1
        });
        Self { compiled, references, is_whole: has_expression(condition) }
    }

    fn holds(&self, seen: &Seen, empty: Empty, effort: &StepBudget) -> bool {
        let value = |reference: &Reference| {
            let value = at(seen.at_level(reference.level)?, &reference.path)?;
            Some(if self.is_whole { value.to_string() } else { compared(value) })
        };
        let values = SampleValues(self.references.iter().map(value).collect(), empty);
        let given = effort.left().min(fuel::default_for(seen.bytes()));
        let mut fuel = given;
        let holds = self.compiled.holds(&values, &mut fuel).unwrap_or(true);
        effort.take(given - fuel + VALUE * self.references.len() as u64);
        holds
    }
}

/// No deeper than conditions nest.
fn has_expression(condition: &Condition) -> bool {
    match condition {
        Condition::Test(..) => false,
        Condition::Query(_) => true,
        Condition::All(all) | Condition::Any(all) => all.iter().any(has_expression),
        Condition::Not(inner) => has_expression(inner),
    }
}

/// The JSON of a value as far as conditions look at it: of arrays and objects, whether they are empty.
fn compared(value: &Value) -> String {
    match value {
        Value::Array(elements) if !elements.is_empty() => "[0]".to_owned(),
        Value::Object(fields) if !fields.is_empty() => r#"{"":0}"#.to_owned(),
        value => value.to_string(),
    }
}
