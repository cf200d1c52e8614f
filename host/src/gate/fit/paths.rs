//! Paths: whether they exist, and whether what is there is of the right type.

use serde_json::Value;

use super::known::{Known, is_scalar, smallest};
use super::names::propose;
use super::nearest::{Nearest, Search, Sought};
use super::{Mapping, PATH_NOT_SCALAR, TYPE_MISMATCH, UNKNOWN_PATH, UNSUPPORTED_TYPE, likeness};
use crate::finding::{Finding, patch};
use crate::graph::spec::{Entity, PropertyType};
use crate::graph::validate::value::{Fit, expected, fit};
use crate::plan::{Nulls, Plan};
use crate::problem::Stage;
use crate::task::evidence::{Seen, at, dotted};
use crate::untrusted::{bounded, quoted};

/// The paths of the key and the properties. Nothing is said about one whose property isn't known: it has no type, and goes.
pub(super) fn check(mappings: &[Mapping<'_>], entity: &Entity, known: &Known<'_>) -> Vec<Finding> {
    let sound = mappings.iter().filter(|it| it.is_sound(known)).map(Mapping::path);
    let search = Search::new(known, &entity.name, sound);
    let key = mappings.iter().find(|it| it.is_key).map_or(&[][..], Mapping::path);
    let live = Live::new(key, known);
    let judged = mappings.iter().filter(|it| it.is_key || it.property.is_some());
    judged
        .filter_map(|mapping| {
            if !known.admits_path(mapping.path()) {
                return unknown(mapping, entity, known, &search);
            }
            not_scalar(mapping, known, &search).or_else(|| mismatch(mapping, known, &search, &live))
        })
        .collect()
}

/// The session, the span and the text that a model still has to read. The defaults need not exist: an event without them
/// belongs to no session and claims no span.
pub(super) fn roles(plan: &Plan, known: &Known<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut role = |at: &str, path: &[String], name: Option<&str>| {
        if name.is_some_and(|name| path == [name]) {
            return;
        }
        let search = Search::new(known, "", []);
        let sought = Sought { given: path, name, property_type: None, is_key: false };
        if !known.admits_path(path) {
            let nearest = search.slip(&sought);
            // The ids of sessions and spans are on every event: few samples are enough to tell.
            let is_told = name.is_some() || !known.is_thin() || known.is_blocked(path);
            if is_told || nearest.as_ref().is_some_and(Nearest::is_clear_slip) {
                findings.push(repath(unknown_at(at, path, known), at, nearest));
            }
        } else if name.is_some() && !known.admits(path, None) && known.values(path).next().is_some()
        {
            let finding = no_scalar(at, path, known);
            findings.push(repath(finding, at, search.named(&sought)));
        }
    };
    role("/session_id_path", plan.session_id_path(), Some("session_id"));
    if let Some(span) = plan.span_handling() {
        role("/span_handling/span_id_path", span.span_id_path(), Some("span_id"));
        if let Some(path) = span.partial_when_path() {
            role("/span_handling/partial_when_path", path, None);
        }
    }
    findings
}

fn unknown(
    mapping: &Mapping<'_>,
    entity: &Entity,
    known: &Known<'_>,
    search: &Search<'_, '_>,
) -> Option<Finding> {
    let at = format!("{}/source_path", mapping.at);
    let finding = unknown_at(&at, mapping.path(), known);
    // A key of another property than the entity's is renamed; its type is the key's then.
    let key = entity.key_properties().next().filter(|_| mapping.is_key);
    let property = key.or(mapping.property);
    let sought = Sought {
        given: mapping.path(),
        name: Some(property.map_or(mapping.field.property_name(), |it| &it.logical_name)),
        property_type: property.map(|it| &it.property_type),
        is_key: mapping.is_key,
    };
    let nearest = search.slip(&sought);
    let is_slip = nearest.as_ref().is_some_and(Nearest::is_clear_slip);
    if known.is_thin() && !is_slip && !known.is_blocked(mapping.path()) {
        return None;
    }
    Some(match nearest {
        Some(nearest) => repath(finding, &at, Some(nearest)),
        None if mapping.is_key => finding,
        None => finding.perhaps(patch::remove(&mapping.at)),
    })
}

fn unknown_at(at: &str, path: &[String], known: &Known<'_>) -> Finding {
    let count = known.samples().map_or(0, |samples| samples.count());
    let or_declared =
        if known.evidence().has_schema() { ", and the event schema doesn't declare" } else { "" };
    Finding::new(
        Stage::Fit,
        UNKNOWN_PATH,
        at,
        format!("a path that events of type {} have", quoted(known.event_type())),
        format!("{}, which none of {count} samples has{or_declared}", shown(path)),
    )
}

/// A key has to be a scalar in at least one sample, or no event ever gives a node.
fn not_scalar(
    mapping: &Mapping<'_>,
    known: &Known<'_>,
    search: &Search<'_, '_>,
) -> Option<Finding> {
    if !mapping.is_key || known.admits(mapping.path(), None) {
        return None;
    }
    let at = format!("{}/source_path", mapping.at);
    let finding = no_scalar(&at, mapping.path(), known);
    Some(repath(finding, &at, inside(mapping, search)))
}

fn no_scalar(at: &str, path: &[String], known: &Known<'_>) -> Finding {
    let found = known
        .values(path)
        .next()
        .map_or_else(|| known.declared_kinds(path).to_string(), |(_, value)| described(value));
    let finding = Finding::new(
        Stage::Fit,
        PATH_NOT_SCALAR,
        at,
        "a path at which a string, a number or a boolean is",
        format!("{found} at {}", shown(path)),
    );
    show(finding, known.values(path).map(|(seen, _)| seen))
}

/// The samples that give a node: those with a key. Without any, all of them, and the evidence is weak.
struct Live<'p> {
    key: &'p [String],
    some: bool,
}

impl<'p> Live<'p> {
    fn new(key: &'p [String], known: &Known<'_>) -> Self {
        Self { key, some: known.values(key).any(|(_, value)| is_scalar(value)) }
    }

    fn has(&self, seen: &Seen) -> bool {
        !self.some || at(seen.event(), self.key).is_some_and(is_scalar)
    }
}

fn mismatch(
    mapping: &Mapping<'_>,
    known: &Known<'_>,
    search: &Search<'_, '_>,
    live: &Live<'_>,
) -> Option<Finding> {
    let property_type = mapping.property_type()?;
    let kept = mapping.field.nulls() == Nulls::Keep;
    let path = mapping.path();
    let samples = known.samples()?;
    let values: Vec<(&Seen, &Value)> = samples
        .seen(path)
        .filter(|(seen, value)| live.has(seen) && (kept || !value.is_null()))
        .collect();
    let fails = |(_, value): &&(&Seen, &Value)| fit(property_type, value) != Fit::Valid;
    let failing: Vec<(&Seen, &Value)> = values.iter().filter(fails).copied().collect();
    let source = format!("{}/source_path", mapping.at);
    let wanted = format!(
        "{} for {} ({})",
        expected(property_type),
        quoted(mapping.field.property_name()),
        bounded(property_type.as_str(), 40)
    );
    // What the schema declares is no value: words for types are used loosely in schemas, and samples decide.
    let (_, value) = failing.first()?;
    if !live.some && failing.len() < values.len() {
        return None;
    }
    let code = match fit(property_type, value) {
        Fit::Unsupported => UNSUPPORTED_TYPE,
        Fit::Valid | Fit::Mismatch => TYPE_MISMATCH,
    };
    let observed = format!(
        "{} at {}, in {} of {} samples with a value there",
        described(value),
        shown(path),
        failing.len(),
        values.len()
    );
    let event = smallest(failing.iter().map(|(seen, _)| *seen));
    let only_null = failing.iter().all(|(_, value)| value.is_null());
    let place = if only_null { format!("{}/nulls", mapping.at) } else { source.clone() };
    let mut finding = Finding::new(Stage::Fit, code, place, wanted, observed);
    finding.event = event;
    if only_null {
        return Some(finding.mended_by(patch::remove(&format!("{}/nulls", mapping.at))));
    }
    if matches!(property_type, PropertyType::Unsupported(_)) {
        return Some(finding.perhaps(patch::remove(&mapping.at)));
    }
    Some(repath(finding, &source, inside(mapping, search)))
}

/// What to read instead of a path of the wrong type: something inside of it, or what has the property's name.
fn inside(mapping: &Mapping<'_>, search: &Search<'_, '_>) -> Option<Nearest> {
    let name = mapping.property.map_or(mapping.field.property_name(), |it| &it.logical_name);
    let sought = Sought {
        given: mapping.path(),
        name: Some(name),
        property_type: mapping.property_type(),
        is_key: mapping.is_key,
    };
    if let Some(named) = search.named(&sought).filter(|it| it.certain) {
        return Some(named);
    }
    let slip = search.slip(&sought)?;
    let is_inside = slip.path.starts_with(mapping.path());
    let said = likeness::affinity(name, &slip.path) > likeness::affinity(name, mapping.path());
    (is_inside || said).then_some(Nearest { certain: slip.certain && is_inside, ..slip })
}

fn repath(finding: Finding, at: &str, nearest: Option<Nearest>) -> Finding {
    propose(finding, nearest.map(|it| (patch::replace(at, &it.path), it.certain)))
}

fn show<'s>(finding: Finding, samples: impl Iterator<Item = &'s Seen>) -> Finding {
    match smallest(samples) {
        Some(event) => finding.shown_by(event),
        None => finding,
    }
}

/// A value of an event, as far as a finding repeats it: of text, only how long it is.
fn described(value: &Value) -> String {
    match value {
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        value => crate::graph::text::described(value),
    }
}

pub(super) fn shown(path: &[String]) -> String {
    quoted(&dotted(path))
}
