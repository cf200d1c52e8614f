//! What is known about events: from samples, which values occur where; from the event schema, which paths there are.
//!
//! Prompts show it, drafts are made from it, and the gates ask it whether a plan speaks of things that exist.

use super::collections::{self, Collection};
use super::observe::{self, Observed, SampleEvents, Visibility};
use super::path::{Path, PathStep};
use super::{Declared, EventSchema, Samples};
use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::evidence::effort::{Cancel, StepBudget};
use crate::json::JsonKinds;
use crate::plan::expr::ForEach;
use crate::plan::expr::fuel::Cost;

/// How many strings of a path are looked into for JSON.
const MAX_PARSED: usize = 100;

/// What samples and schema say about events, by event type.
#[derive(Clone, Debug)]
pub struct Evidence {
    events: BTreeMap<String, SampleEvents>,
    declared: BTreeMap<Path, Declared>,
    /// What is declared inside of arrays, and of objects with any keys.
    declared_inside: BTreeMap<Vec<PathStep>, Declared>,
    has_schema: bool,
}

impl Evidence {
    /// Looks through the samples, and at where in an event the schema applies: to the event itself, or to the value of
    /// one of its fields, whichever has more of the names that the schema declares.
    #[must_use]
    pub fn new(samples: &Samples, schema: Option<&EventSchema>) -> Self {
        let mut events: BTreeMap<String, SampleEvents> = BTreeMap::new();
        for sample in samples {
            events.entry(sample.event_type().to_owned()).or_default().add(sample);
        }
        events.values_mut().for_each(SampleEvents::settle);
        let (mut declared, mut declared_inside) = (BTreeMap::new(), BTreeMap::new());
        if let Some(schema) = schema {
            let mount = mount(&events, schema);
            let full = |path: &Path| mount.iter().chain(path).cloned().collect();
            declared =
                schema.declared().iter().map(|(path, it)| (full(path), it.clone())).collect();
            let full = |steps: &Vec<PathStep>| {
                PathStep::keys(&mount).iter().chain(steps).cloned().collect()
            };
            let inside = schema.declared_inside().iter();
            declared_inside = inside.map(|(steps, it)| (full(steps), it.clone())).collect();
        }
        Self { events, declared, declared_inside, has_schema: schema.is_some() }
    }

    /// What is known of the elements that a `for_each` goes over, each of them as an event of its own: paths start at the
    /// element, samples are those of these event types, and the schema is what it says about the element. An entry of an
    /// object has the keys `key` and `value`. Where there are more than 10,000 elements of one event type, or all of them
    /// take more than some 32 MiB, the samples are [cut](SampleEvents::is_cut).
    #[must_use]
    pub fn elements(&self, event_types: &[&str], for_each: &ForEach) -> Self {
        self.elements_within(event_types, for_each, &Self::room())
    }

    /// How much memory elements may take, in bytes.
    pub(crate) fn room() -> StepBudget {
        StepBudget::new(observe::MAX_ELEMENTS_BYTES, &Cancel::default())
    }

    /// The same, as far as another effort goes that it is to be taken from.
    pub(crate) fn room_within(effort: &StepBudget) -> StepBudget {
        StepBudget::new(observe::MAX_ELEMENTS_BYTES.min(effort.left()), effort.cancel())
    }

    /// The same, where a step is a byte of memory that the elements take: for several iterations that share it.
    pub(crate) fn elements_within(
        &self,
        event_types: &[&str],
        for_each: &ForEach,
        effort: &StepBudget,
    ) -> Self {
        let element =
            |name: &&str| Some(((*name).to_owned(), self.of(name)?.elements(for_each, effort)?));
        let (declared, declared_inside) = collections::narrowed(self, for_each);
        let events = event_types.iter().filter_map(element).collect();
        Self { events, declared, declared_inside, has_schema: self.has_schema }
    }

    /// The arrays, and the objects that are used as maps from keys to values, of events of these types: those that samples
    /// have, and those that the schema declares, by code point of their paths. What is inside of the elements of one is in
    /// [`Evidence::elements`].
    #[must_use]
    pub fn arrays(&self, event_types: &[&str]) -> Vec<Collection> {
        collections::collections(self, event_types)
    }

    /// Whether every string that samples of these event types have at a path holds an object or an array as JSON, and there
    /// is one.
    #[must_use]
    pub fn holds_json(&self, event_types: &[&str], path: &[String]) -> bool {
        let events = event_types.iter().filter_map(|name| self.of(name));
        let values = events.flat_map(|events| events.seen(path)).map(|(_, value)| value);
        holds_json(values, &StepBudget::new(u64::MAX, &Cancel::default()))
    }

    /// Takes what may not be shown out of the texts in which samples are shown. What they hold is known all the same.
    pub fn hide(&mut self, visibility: impl Fn(&[PathStep]) -> Visibility) {
        self.events.values_mut().for_each(|events| events.hide(&visibility));
    }

    /// The samples of one event type; `None` where there are none.
    #[must_use]
    pub fn of(&self, event_type: &str) -> Option<&SampleEvents> {
        self.events.get(event_type)
    }

    /// An event type as samples have it, if any has.
    pub(crate) fn name_of(&self, event_type: &str) -> Option<&str> {
        self.events.get_key_value(event_type).map(|(name, _)| name.as_str())
    }

    /// The event types of the samples, by code point, with their samples.
    pub fn event_types(&self) -> impl Iterator<Item = (&str, &SampleEvents)> {
        self.events.iter().map(|(name, events)| (name.as_str(), events))
    }

    /// Whether there is an event schema. Without one, samples are all that is known.
    #[must_use]
    pub fn has_schema(&self) -> bool {
        self.has_schema
    }

    /// What the schema declares, by path from the event's root.
    #[must_use]
    pub fn declared(&self) -> &BTreeMap<Path, Declared> {
        &self.declared
    }

    /// What the schema declares inside of arrays, and of objects with any keys, by the steps from the event's root.
    #[must_use]
    pub fn declared_inside(&self) -> &BTreeMap<Vec<PathStep>, Declared> {
        &self.declared_inside
    }

    /// The kinds of values that the schema declares somewhere in an event.
    #[must_use]
    pub fn declared_at(&self, steps: &[PathStep]) -> JsonKinds {
        let path: Option<Path> = steps.iter().map(PathStep::key).collect();
        let declared = match path {
            Some(path) => self.declared.get(&path),
            None => self.declared_inside.get(steps),
        };
        declared.map(|declared| declared.kinds).unwrap_or_default()
    }

    /// Whether a path occurs in a sample of this event type, or is declared by the schema.
    #[must_use]
    pub fn knows(&self, event_type: &str, path: &[String]) -> bool {
        self.of(event_type).is_some_and(|events| events.has(path))
            || self.declared.contains_key(path)
    }

    /// Every path that occurs in samples of this event type or is declared, by code point.
    #[must_use]
    pub fn paths(&self, event_type: &str) -> BTreeMap<&Path, Cow<'_, Observed>> {
        let declared = self.declared.keys().map(|path| (path, Cow::Owned(Observed::default())));
        let mut paths: BTreeMap<_, _> = declared.collect();
        if let Some(events) = self.of(event_type) {
            paths.extend(events.observed().iter().map(|(path, it)| (path, Cow::Borrowed(it))));
        }
        paths
    }
}

/// What it costs to read a text as JSON.
pub(crate) const JSON: Cost = Cost { what: "json", step: 100, byte: 10 };

/// Whether each of these values that isn't null holds an object or an array as JSON, and there is one. No where there is no
/// effort left to read them.
pub(crate) fn holds_json<'v>(values: impl Iterator<Item = &'v Value>, effort: &StepBudget) -> bool {
    let mut texts = values.filter(|value| !value.is_null()).take(MAX_PARSED).peekable();
    let holds = |value: &Value| {
        let text = value.as_str().filter(|it| it.trim_start().starts_with(['{', '[']));
        text.is_some_and(|text| {
            effort.take(JSON.of(text.len())) && serde_json::from_str::<Value>(text).is_ok()
        })
    };
    texts.peek().is_some() && texts.all(holds)
}

/// The path of the value that the schema is about: the empty one for the event itself.
fn mount(events: &BTreeMap<String, SampleEvents>, schema: &EventSchema) -> Path {
    let names: Vec<&String> = schema
        .declared()
        .keys()
        .filter(|path| path.len() == 1)
        .flat_map(|path| path.first())
        .collect();
    let mut overlap: BTreeMap<Path, usize> = BTreeMap::new();
    let shared = |value: &Value| {
        value
            .as_object()
            .map_or(0, |it| names.iter().filter(|name| it.contains_key(**name)).count())
    };
    for seen in events.values().flat_map(SampleEvents::samples) {
        *overlap.entry(Path::new()).or_default() += shared(seen.event());
        for (key, value) in seen.event().as_object().into_iter().flatten() {
            *overlap.entry(vec![key.clone()]).or_default() += shared(value);
        }
    }
    // Of equals the first, which is the event itself.
    let best = overlap.into_iter().rev().max_by_key(|(_, count)| *count);
    best.map(|(path, _)| path).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Evidence;
    use crate::evidence::Samples;
    use crate::evidence::{EventSchema, dotted};
    use crate::gate::policy::FieldPolicy;
    use crate::json::JsonKind;
    use crate::plan::expr::{ForEach, Iteration, Over};

    const SAMPLES: &str = r#"{"event_type":"a","content":{"id":1,"who":{"name":"x"}}}
{"event_type":"a","content":{"id":2,"who":null}}
{"event_type":"b","content":{"id":"3"}}"#;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn paths_are_known_by_event_type() {
        let samples = Samples::parse(SAMPLES, "samples").expect("samples");
        let evidence = Evidence::new(&samples, None);
        assert!(evidence.knows("a", &path("content.who.name")));
        assert!(!evidence.knows("b", &path("content.who.name")));
        let seen = evidence.of("a").expect("samples");
        let who = &seen.observed()[&path("content.who")];
        assert_eq!((who.present, who.kinds.contains(JsonKind::Null)), (2, true));
        assert_eq!(seen.observed()[&path("content.id")].distinct, 2);
    }

    #[test]
    fn what_is_shown_of_an_event_is_redacted_and_what_is_known_is_not() {
        let event = r#"{"event_type":"a","to":["ada@example.org",{"note":"by Ada Lovelace"}],"key":"ghp_0123456789abcdef0123",
            "state":"open","at":["2026-03-02T10:00:00Z",123456789012],"by":{"ada@example.org":true,"203.0.113.7":null}}"#;
        let samples = Samples::parse(&event.replace('\n', ""), "samples").expect("a sample");
        let evidence = Evidence::new(&samples, None);
        let seen = evidence.of("a").and_then(|it| it.samples().next()).expect("a sample");
        assert_eq!(
            seen.text(),
            r#"{"at":["2026-03-02T10:00:00Z","<integer of 12 digits>"],"by":{"<IP address>":null,"<email>":true},"#
                .to_owned()
                + r#""event_type":"a","key":"<token>","state":"open","to":["<email>",{"note":"<text of 15 characters>"}]}"#
        );
        assert_eq!(seen.event()["to"][0], "ada@example.org");
    }

    #[test]
    fn a_schema_may_be_about_a_part_of_the_event() {
        let samples = Samples::parse(SAMPLES, "samples").expect("samples");
        for (schema, wanted) in [
            (json!({"id": "int64", "who": {"mail": "string"}}), "content.who.mail"),
            (json!({"event_type": "string", "content": {"size": "int64"}}), "content.size"),
        ] {
            let schema = EventSchema::from_value(schema).expect("an object");
            assert!(Evidence::new(&samples, Some(&schema)).knows("b", &path(wanted)), "{wanted}");
        }
    }
    const LISTS: &str = r#"{"event_type":"a","jobs":[{"id":1,"steps":[{"no":1},{"no":2}]},{"id":2}],"tags":["x","y"],"by":{"u-1":{"n":1},"u-2":{"n":2}}}
{"event_type":"a","jobs":[],"tags":"none","by":{"u-3":{"n":3},"u-4":{"n":4}},"args":"{\"city\":\"Rome\"}"}
{"event_type":"b","jobs":[{"id":9}],"args":"a text"}"#;

    fn iteration(over: Over, dotted: &str) -> Iteration {
        Iteration::new(over, path(dotted))
    }

    #[test]
    fn elements_are_events_of_their_own() {
        let samples = Samples::parse(LISTS, "samples").expect("samples");
        let schema = json!({"jobs": [{"name": "string", "steps": [{"log": "string"}]}]});
        let schema = EventSchema::from_value(schema).expect("an object");
        let evidence = Evidence::new(&samples, Some(&schema));
        let jobs = iteration(Over::Array, "jobs");
        let outer = evidence.elements(&["a", "b"], &ForEach::new(jobs.clone()));
        let count = |evidence: &Evidence, name| evidence.of(name).map(|it| it.count());
        assert_eq!((count(&outer, "a"), count(&outer, "b")), (Some(2), Some(1)));
        assert!(outer.knows("a", &path("id")) && outer.knows("a", &path("name")));
        assert!(!outer.knows("a", &path("jobs")) && !outer.knows("b", &path("log")));
        assert_eq!(outer.of("b").and_then(|it| it.samples().next()).map(|it| it.line()), Some(3));
        let steps = ForEach::new(jobs).around(iteration(Over::Array, "steps"));
        let inner = evidence.elements(&["a", "b"], &steps);
        assert_eq!((count(&inner, "a"), count(&inner, "b")), (Some(2), None));
        assert!(inner.knows("b", &path("log")) && inner.knows("a", &path("no")));
        assert_eq!(
            outer.elements(&["a"], &ForEach::new(iteration(Over::Array, "steps"))).paths("a"),
            inner.paths("a")
        );
    }

    #[test]
    fn entries_have_a_key_and_a_value() {
        let samples = Samples::parse(LISTS, "samples").expect("samples");
        let schema = json!({"properties": {"by": {"properties": {"u-9": {"properties": {"m": {"type": "string"}}}},
            "additionalProperties": {"properties": {"k": {"type": "integer"}}}}}});
        let schema = EventSchema::from_value(schema).expect("an object");
        let evidence = Evidence::new(&samples, Some(&schema));
        let entries = ForEach::new(iteration(Over::Entries, "by"));
        let entries = evidence.elements(&["a"], &entries);
        let known: Vec<String> = entries.paths("a").keys().map(|path| dotted(path)).collect();
        assert_eq!(known, ["", "key", "value", "value.k", "value.m", "value.n"]);
        assert_eq!(entries.of("a").map(|it| it.observed()[&path("key")].distinct), Some(4));
    }

    #[test]
    fn a_path_that_is_too_long_to_be_listed_is_known_all_the_same() {
        let prefix = "k".repeat(990);
        let sample =
            json!({"event_type": "a", &prefix: {"short": 1, "longer_than_that": {"x": 2}}});
        let samples = Samples::parse(&sample.to_string(), "samples").expect("samples");
        let evidence = Evidence::new(&samples, None);
        let seen = evidence.of("a").expect("samples");
        let listed: Vec<usize> = seen.observed().keys().map(Vec::len).collect();
        assert_eq!((listed, seen.unlisted()), (vec![1, 1, 2], 2));
        for (keys, there) in [
            (vec!["short"], true),
            (vec!["longer_than_that"], true),
            (vec!["longer_than_that", "x"], true),
            (vec!["longer_than_that", "y"], false),
        ] {
            let path: Vec<String> =
                std::iter::once(prefix.as_str()).chain(keys).map(str::to_owned).collect();
            assert_eq!(evidence.knows("a", &path), there);
            assert_eq!(seen.seen(&path).count(), usize::from(there));
        }
    }

    #[test]
    fn what_elements_take_in_memory_has_an_end() {
        // Each level of these maps holds all that is below it.
        let mut nested = json!(0);
        for _ in 0..20 {
            nested = json!({"10000001": nested, "10000002": "x".repeat(400_000), "10000003": 1});
        }
        let sample = json!({"event_type": "a", "m": nested}).to_string();
        let samples = Samples::parse(&sample, "samples").expect("samples");
        let evidence = Evidence::new(&samples, None);
        let room = Evidence::room();
        let mut path = vec!["m".to_owned()];
        let mut cut = 0;
        for _ in 0..20 {
            let over = Iteration::new(Over::Entries, path.clone());
            let elements = evidence.elements_within(&["a"], &ForEach::new(over), &room);
            cut += usize::from(elements.of("a").is_some_and(|it| it.is_cut()));
            path.push("10000001".to_owned());
        }
        assert!(room.is_over() && (10..20).contains(&cut), "{cut}");
        assert!(room.taken() <= super::observe::MAX_ELEMENTS_BYTES);
    }

    #[test]
    fn arrays_and_maps_are_found() {
        let samples = Samples::parse(LISTS, "samples").expect("samples");
        let evidence = Evidence::new(&samples, None);
        let found = |evidence: &Evidence| -> Vec<(Over, String, usize, String)> {
            let collections = evidence.arrays(&["a"]);
            let told = collections.iter().map(|it| {
                let path = dotted(it.iteration.path());
                (it.iteration.over(), path, it.elements, it.kinds.to_string())
            });
            told.collect()
        };
        assert_eq!(
            found(&evidence),
            [
                (Over::Entries, "by".to_owned(), 4, "object".to_owned()),
                (Over::Array, "jobs".to_owned(), 2, "object".to_owned()),
                (Over::Array, "tags".to_owned(), 2, "string".to_owned()),
            ]
        );
        let jobs = ForEach::new(iteration(Over::Array, "jobs"));
        assert_eq!(found(&evidence.elements(&["a"], &jobs)).len(), 1);
        assert!(evidence.holds_json(&["a"], &path("args")));
        assert!(!evidence.holds_json(&["a", "b"], &path("args")));
        assert!(!evidence.holds_json(&["a"], &path("tags")));
    }

    #[test]
    fn what_is_shown_of_elements_leaves_out_what_is_denied() {
        let samples = r#"{"event_type":"a","users":[{"login":"ada","state":"open","note":"x"}],"of":{"k":{"note":"y"}}}"#;
        let samples = Samples::parse(samples, "samples").expect("samples");
        let policy = r#"{"deny": ["users.note", "of.*.note"]}"#;
        let policy = FieldPolicy::parse(policy, "policy.json").expect("a policy");
        let mut evidence = Evidence::new(&samples, None);
        evidence.hide(|steps| policy.visibility(steps));
        let shown = |for_each: Iteration| {
            let elements = evidence.elements(&["a"], &ForEach::new(for_each));
            let seen = elements.of("a").and_then(|it| it.samples().next());
            seen.map_or_else(String::new, |it| it.text().to_owned())
        };
        assert_eq!(
            shown(iteration(Over::Array, "users")),
            r#"{"login":"<text of 3 characters>","state":"open"}"#
        );
        assert_eq!(shown(iteration(Over::Entries, "of")), r#"{"key":"k","value":{}}"#);
        let users = ForEach::new(iteration(Over::Array, "users"));
        assert!(evidence.elements(&["a"], &users).knows("a", &path("note")));
    }
}
