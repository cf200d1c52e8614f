//! What is known about events: from samples, which values occur where; from the event schema, which paths there are.
//!
//! Prompts show it, drafts are made from it, and the gates ask it whether a plan speaks of things that exist.

mod kind;
mod observe;
pub mod redact;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

pub use kind::{Kind, Kinds};
pub use observe::{Observed, SampleEvents, Seen, Visibility};

use crate::task::Samples;
use crate::task::{Declared, EventSchema};

/// Object keys from an event's root to a value.
pub type Path = Vec<String>;

/// The value at a path, if there is one. An absent key and a value that isn't an object on the way are both absence.
#[must_use]
pub fn at<'v>(event: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(event, |value, key| value.as_object()?.get(key))
}

/// A path for people: joined by dots, and as JSON where a key holds a dot itself.
#[must_use]
pub fn dotted(path: &[String]) -> String {
    if path.iter().any(|key| key.contains('.') || key.is_empty()) {
        return serde_json::to_string(path).unwrap_or_default();
    }
    path.join(".")
}

/// What samples and schema say about events, by event type.
#[derive(Clone, Debug)]
pub struct Evidence {
    events: BTreeMap<String, SampleEvents>,
    declared: BTreeMap<Path, Declared>,
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
        let declared = schema.map_or_else(BTreeMap::new, |schema| {
            let mount = mount(&events, schema);
            let full = |path: &Path| mount.iter().chain(path).cloned().collect();
            schema.declared().iter().map(|(path, it)| (full(path), it.clone())).collect()
        });
        Self { events, declared, has_schema: schema.is_some() }
    }

    /// Takes what may not be shown out of the texts in which samples are shown. What they hold is known all the same.
    pub fn hide(&mut self, visibility: impl Fn(&[String]) -> Visibility) {
        self.events.values_mut().for_each(|events| events.hide(&visibility));
    }

    /// The samples of one event type; `None` where there are none.
    #[must_use]
    pub fn of(&self, event_type: &str) -> Option<&SampleEvents> {
        self.events.get(event_type)
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

    /// Whether a path occurs in a sample of this event type, or is declared by the schema.
    #[must_use]
    pub fn knows(&self, event_type: &str, path: &[String]) -> bool {
        self.of(event_type).is_some_and(|events| events.seen(path).next().is_some())
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

    use super::{Evidence, Kind};
    use crate::task::EventSchema;
    use crate::task::Samples;

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
        assert_eq!((who.present, who.kinds.contains(Kind::Null)), (2, true));
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
}
