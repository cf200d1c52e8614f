//! Which faults no gate can know, by one rule: those whose plan is as good as the right one by all that samples, event
//! schema and graph spec say.
//!
//! A fault can be known where its plan can't be read; where it names event types, or reads paths, that neither samples nor
//! the schema have; where a result over the samples doesn't fit the graph spec, or there is none; where a key isn't made of
//! the properties of the entity's key in their order, or it, a session or a span is nowhere a scalar; and where a conversion fails on every value
//! that samples have. The right plan is checked the same way: what it does too is no fault.
//!
//! The rule knows nothing of the gates: it is computed from the oracle, the graph validator and the samples.

use std::collections::{BTreeMap, BTreeSet};

use retort::evidence::{Evidence, SampleEvents, at};
use retort::graph::{ValidateOptions, validate};
use retort::plan::{
    self, Endpoint, EventPattern, FieldMapping, ForEach, Plan, Reference, Role, eval,
};
use serde_json::{Value, json};

use super::case::Case;

const AS_GOOD: &str = "is as good as what is right, by samples, schema and graph spec";

/// What is right, as far as faults are measured by it.
pub(super) struct Right<'c> {
    case: &'c Case,
    pub(super) plan: Plan,
    value: Value,
    unknown_paths: BTreeSet<Place>,
    wrong_keys: BTreeSet<String>,
}

impl<'c> Right<'c> {
    pub(super) fn new(case: &'c Case) -> Self {
        let plan = plan::from_value(&case.plan).unwrap();
        let value = serde_json::to_value(&plan).unwrap();
        let unknown_paths = unknown_paths(case, &plan);
        let wrong_keys = wrong_keys(case, &plan);
        Self { case, plan, value, unknown_paths, wrong_keys }
    }

    /// Why no gate can know that the plan in a text isn't the right one, if none can.
    pub(super) fn unknowable(&self, text: &str) -> Option<&'static str> {
        let Ok(plan) = plan::parse(text) else { return None };
        let is_known = has_types_without_samples(self.case, &plan)
            || !unknown_paths(self.case, &plan).is_subset(&self.unknown_paths)
            || !wrong_keys(self.case, &plan).is_subset(&self.wrong_keys)
            || breaks_graph(self.case, &plan)
            || self.is_futile(&plan);
        (!is_known).then_some(AS_GOOD)
    }

    /// Whether there is a mapping, other than the right one, of which a conversion fails on every value that samples have.
    fn is_futile(&self, plan: &Plan) -> bool {
        let value = serde_json::to_value(plan).unwrap();
        mappings(plan).into_iter().any(|at| {
            let mapping = value.pointer(&at).unwrap();
            let is_as_right = self.value.pointer(&at) == Some(mapping);
            let converts = mapping.get("convert").is_some() && mapping.get("source_path").is_some();
            let name = mapping["property_name"].as_str().unwrap();
            !is_as_right && converts && fails_always(self.case, plan, &value, &at, name)
        })
    }
}

fn types<'c>(case: &'c Case, plan: &Plan) -> Vec<&'c str> {
    let types = case.task.evidence().event_types().map(|(name, _)| name);
    types.filter(|name| plan.event_types().matches(name)).collect()
}

fn has_types_without_samples(case: &Case, plan: &Plan) -> bool {
    let has_sample = |pattern: &EventPattern| {
        case.task.evidence().event_types().any(|(name, _)| pattern.matches(name))
    };
    !plan.event_types().patterns().iter().all(has_sample)
}

/// A path with where it starts.
pub(super) type Place = (Vec<(bool, Vec<String>)>, Vec<String>);

fn place(for_each: Option<&ForEach>, reference: &Reference) -> Place {
    let levels = for_each.map(ForEach::levels).unwrap_or_default().into_iter();
    let levels = levels.take(usize::from(reference.level.0));
    let over = |it: &retort::plan::Iteration| {
        (it.over() == retort::plan::Over::Array, it.paths().concat())
    };
    (levels.map(over).collect(), reference.path.clone())
}

/// The paths of a plan that no sample has where they start, and the schema doesn't declare; and those of keys, sessions and
/// spans where there are values, and no scalar ever.
fn unknown_paths(case: &Case, plan: &Plan) -> BTreeSet<Place> {
    unknown_reads(case, plan).into_iter().map(|(_, place)| place).collect()
}

/// The same, with the pointers to them.
pub(super) fn unknown_reads(case: &Case, plan: &Plan) -> Vec<(String, Place)> {
    let types = types(case, plan);
    let mut known: BTreeMap<Vec<(bool, Vec<String>)>, Evidence> = BTreeMap::new();
    let mut unknown = Vec::new();
    for read in plan.reads() {
        let is_default = match read.role {
            Role::Session => read.reference.path == ["session_id"],
            Role::Span => read.reference.path == ["span_id"],
            _ => false,
        };
        let (levels, path) = place(read.for_each, &read.reference);
        let around = read.for_each.and_then(|it| it.at(read.reference.level)).cloned();
        let evidence = match around {
            None => case.task.evidence(),
            Some(around) => known
                .entry(levels.clone())
                .or_insert_with(|| case.task.evidence().elements(&types, &around)),
        };
        let is_whole =
            read.pointer.ends_with("_path") && !read.pointer.ends_with("partial_when_path");
        let is_scalar = !matches!(read.role, Role::Key | Role::Session | Role::Span)
            || !is_whole
            || may_be_scalar(evidence, &types, &path);
        let is_sound = is_default || (exists(evidence, &types, &path) && is_scalar);
        if !is_sound {
            unknown.push((read.pointer, (levels, path)));
        }
    }
    unknown
}

/// Whether a path occurs in a sample of these types, or is declared; or there are fewer than five samples, and one of
/// another type has it; or it is behind a null, of whose fields nothing is known; or nothing at all is known.
fn exists(evidence: &Evidence, types: &[&str], path: &[String]) -> bool {
    let of_types = || types.iter().filter_map(|name| evidence.of(name));
    let here = || of_types().flat_map(SampleEvents::samples).map(|seen| seen.event());
    let anywhere = || evidence.event_types().flat_map(|(_, it)| it.samples()).map(|it| it.event());
    let is_there = |mut events: Box<dyn Iterator<Item = &Value> + '_>| {
        events.any(|event| at(event, path).is_some())
    };
    let behind_null = || {
        let found = (1..path.len()).rev().find_map(|length| {
            let values: Vec<&Value> =
                anywhere().filter_map(|event| at(event, &path[..length])).collect();
            (!values.is_empty()).then_some((length, values))
        });
        found.is_some_and(|(length, values)| {
            let mut declared = evidence.declared().keys();
            values.iter().all(|it| it.is_null())
                && !declared.any(|it| it.len() > length && it.starts_with(&path[..length]))
        })
    };
    path.is_empty()
        || evidence.declared().contains_key(path)
        || is_there(Box::new(here()))
        || (here().count() < 5 && is_there(Box::new(anywhere())))
        || behind_null()
        || (anywhere().next().is_none() && evidence.declared().is_empty())
}

fn may_be_scalar(evidence: &Evidence, types: &[&str], path: &[String]) -> bool {
    let of_types = types.iter().filter_map(|name| evidence.of(name));
    let values: Vec<&Value> = of_types
        .flat_map(SampleEvents::samples)
        .filter_map(|seen| at(seen.event(), path))
        .filter(|value| !value.is_null())
        .collect();
    values.is_empty() || values.iter().any(|it| it.is_string() || it.is_number() || it.is_boolean())
}

/// The keys that aren't made of the properties of their entity's key in their order, by entity.
fn wrong_keys(case: &Case, plan: &Plan) -> BTreeSet<String> {
    let nodes = plan.nodes().iter().map(|node| (node.entity_name(), node.key_fields()));
    let ends = plan.edges().iter().flat_map(|edge| [edge.from(), edge.to()]);
    let external = ends.filter_map(|end| match end {
        Endpoint::Node(_) => None,
        Endpoint::External { entity_name, key_fields } => {
            Some((entity_name.as_str(), key_fields.as_slice()))
        }
    });
    let mut wrong = BTreeSet::new();
    for (entity, keys) in nodes.chain(external) {
        let Some(declared) = case.task.graph().entity(entity) else {
            wrong.insert(entity.to_owned());
            continue;
        };
        let properties: Vec<_> = declared.key_properties().collect();
        let mut pairs = properties.iter().zip(keys);
        let is_in_place = properties.len() == keys.len()
            && pairs.all(|(it, key)| it.is_named(key.property_name()));
        if !is_in_place {
            let names: Vec<&str> = keys.iter().map(FieldMapping::property_name).collect();
            wrong.insert(format!("{entity} {names:?}"));
        }
    }
    wrong
}

/// Whether a result over the samples doesn't fit the graph spec, or there is none.
fn breaks_graph(case: &Case, plan: &Plan) -> bool {
    let options = options!(ValidateOptions {
        allow_external_endpoints: case.smoke.allow_external_endpoints,
        ..ValidateOptions::default()
    });
    let mut silent: Vec<&EventPattern> = plan.event_types().patterns().iter().collect();
    for (name, events) in case.task.evidence().event_types() {
        if !plan.event_types().matches(name) {
            continue;
        }
        for seen in events.samples() {
            let Ok(result) = eval(plan, &seen.event().to_string()) else { return true };
            if !result.nodes.is_empty() || !result.edges.is_empty() {
                silent.retain(|pattern| !pattern.matches(name));
            }
            if !validate(case.task.graph(), &result, options).ok() {
                return true;
            }
        }
    }
    !silent.is_empty()
}

/// The pointers of the mappings of nodes and edges.
fn mappings(plan: &Plan) -> Vec<String> {
    let mut places = Vec::new();
    for (node, rule) in plan.nodes().iter().enumerate() {
        let keys = (0..rule.key_fields().len()).map(|key| plan.key_pointer(node, key));
        let others = 0..rule.property_fields().len();
        places.extend(keys.chain(others.map(|it| plan.property_pointer(node, it))));
    }
    for (edge, rule) in plan.edges().iter().enumerate() {
        let at = plan.edge_pointer(edge);
        let properties = 0..rule.property_fields().len();
        places.extend(properties.map(|it| format!("{at}/property_fields/{it}")));
    }
    places
}

/// Whether a conversion of a mapping fails somewhere, and no result has the property.
fn fails_always(case: &Case, plan: &Plan, value: &Value, at: &str, name: &str) -> bool {
    let mut strict = value.clone();
    strict.pointer_mut(at).unwrap()["on_error"] = json!("reject");
    let strict = plan::from_value(&strict).unwrap();
    let mut fails = false;
    let samples = case.task.evidence().event_types().flat_map(|(_, events)| events.samples());
    for seen in samples {
        let text = seen.event().to_string();
        fails |= eval(&strict, &text).is_err();
        let result = eval(plan, &text).unwrap_or_default();
        let nodes = result.nodes.iter().flat_map(|node| &node.properties);
        let edges = result.edges.iter().flat_map(|edge| &edge.properties);
        if nodes.chain(edges).any(|it| it.name == name) {
            return false;
        }
    }
    fails
}
