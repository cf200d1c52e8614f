//! What counts how much when a path is scored for a property, or an object for things.

use crate::evidence::similarity::words::{Class, Word};

/// From here on, two words are taken to mean the same thing.
pub(super) const MEANT: f64 = 0.7;

/// The weights of the scores. They were set by judgement; a test leaves each out in turn, and whatever then changes nothing that
/// rules are measured by is removed. None is about a name of one business or product, and none should be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// What a word weighs that tells the form of a value, compared with one that tells what it is of: `id` has to be there,
    /// but `before` is a sha without saying so.
    pub(super) form: f64,
    /// What a word for a moment weighs: the type says it too.
    pub(super) time: f64,
    /// What a unit of measure weighs: it is mostly left out of one of the two names.
    pub(super) unit: f64,
    /// What a word weighs that holds a name together.
    pub(super) glue: f64,
    /// How much more a word of the name weighs where it occurs in some path: then a path without it is another one.
    pub(super) known_word: f64,
    /// What it counts for a word of the name to be found in a key above the last.
    pub(super) in_parent: f64,
    /// What it counts to be found in the name of the entity alone: `job_id` is the `id` of an object that says nowhere that
    /// it is a job.
    pub(super) in_entity: f64,
    /// What it counts to be found in the event type alone: the time of an `order.placed` is when it was placed.
    pub(super) in_event_type: f64,
    /// What being the key explains of a last key that says `id`: whatever a key is called, that is where it is kept.
    pub(super) key_by_id: f64,
    /// What the entity's name explains of the last key: a property seldom repeats its entity, but a field may.
    pub(super) leaf_by_entity: f64,
    /// What is left of the score of an address where none is wanted.
    pub(super) address: f64,
    /// What it counts for a word for a checksum that the values are checksums.
    pub(super) by_shape: f64,
    /// What it counts for a word for a moment that the values are moments.
    pub(super) by_type: f64,
    /// What a key above the last weighs, compared with the last one.
    pub(super) parent: f64,
    /// What the event type explains of a key.
    pub(super) by_event_type: f64,
    /// What a last key weighs that stands for the object above it, where that object is what the property names:
    /// `dismissed_by` is `dismissed_by.login`.
    pub(super) identity: f64,
    /// The part of the score that is there even if nothing of the path is explained.
    pub(super) unexplained: f64,
    /// How much of what a name leaves open its hint may fill.
    pub(super) hint: f64,
    /// What a hint's word counts in a key above the last.
    pub(super) hint_in_parent: f64,
    /// What is left of the score of a path, or an object, that the hint excludes.
    pub(super) excluded: f64,
    /// What is left of the score of a path outside of the object that the entity is, of otherwise equal ones.
    pub(super) elsewhere: f64,
    /// What is left of the score of a path at which no value was ever seen.
    pub(super) unseen: f64,
    /// What is left of the score of a moment where none is wanted: dates are seldom kept as mere text.
    pub(super) moment: f64,
    /// What is left of the score of a path of whose last key neither name nor hint have a word.
    pub(super) strange_leaf: f64,
    /// How much of the score goes for each step by which another key would stand better for the object.
    pub(super) identity_step: f64,
    /// What is left of the score of values without an `@` where an email is wanted.
    pub(super) no_email: f64,
    /// How much of the score hangs on the share of samples that have the path.
    pub(super) coverage: f64,
    /// The same for a key, without which nothing is extracted.
    pub(super) key_coverage: f64,
    /// How much of a key's score hangs on how seldom its values repeat. Samples are often about the same few things.
    pub(super) key_uniqueness: f64,
    /// Of an object: what its own key weighs beside the keys above it and what is said, since the thing is called by it.
    pub(super) object_last: f64,
    /// What the keys above it weigh: what it belongs to.
    pub(super) object_above: f64,
    /// What it weighs how much of what is said occurs in its path.
    pub(super) object_said: f64,
    /// What the name of the relationship explains of a key of an object.
    pub(super) object_by_relationship: f64,
    /// What a word of an entity's name weighs that says of what kind it is, compared with the last one.
    pub(super) object_kind: f64,
}

/// The weights that everything is scored by.
pub(super) const WEIGHTS: Weights = Weights {
    form: 0.6,
    time: 0.3,
    unit: 0.25,
    glue: 0.15,
    known_word: 1.4,
    in_parent: 0.95,
    in_entity: 0.8,
    in_event_type: 0.7,
    key_by_id: 0.85,
    leaf_by_entity: 0.85,
    address: 0.7,
    by_shape: 0.9,
    by_type: 0.9,
    parent: 0.45,
    by_event_type: 0.6,
    identity: 0.3,
    unexplained: 0.45,
    hint: 0.6,
    hint_in_parent: 0.7,
    excluded: 0.5,
    elsewhere: 0.97,
    unseen: 0.99,
    moment: 0.75,
    strange_leaf: 0.7,
    identity_step: 0.005,
    no_email: 0.6,
    coverage: 0.06,
    key_coverage: 0.4,
    key_uniqueness: 0.1,
    object_last: 0.45,
    object_above: 0.15,
    object_said: 0.4,
    object_by_relationship: 0.85,
    object_kind: 0.5,
};

impl Weights {
    /// What a word of a name weighs.
    pub(super) fn of(&self, word: &Word) -> f64 {
        match word.class() {
            Class::Glue => self.glue,
            Class::Time => self.time,
            Class::Unit => self.unit,
            Class::Form | Class::Count => self.form,
            Class::Other => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use super::{WEIGHTS, Weights};
    use crate::evidence::effort::{Cancel, StepBudget};
    use crate::evidence::matching::{Aim, Called, Scorer, Survey, Wanted};
    use crate::evidence::{Evidence, Samples};
    use crate::graph::GraphSpec;

    const ORDERS: &str = r#"{"event_type":"order.placed","ts":"2026-01-01T00:00:00Z","sent":"2026-01-01T00:00:09Z","order":{"id":1,"seq":4,"buyer":"ann","buyer_page":"https://shop/1","order_state":"open","states":"new"}}
{"event_type":"order.placed","ts":"2026-01-02T00:00:00Z","sent":"2026-01-02T00:00:09Z","order":{"id":2,"seq":5,"buyer":"bob","buyer_page":"https://shop/2","order_state":"done","states":"old"}}"#;

    const ORDER: &str = "entities:
- name: Order
  keys: {primary: [order_ref]}
  properties:
  - {name: order_ref, type: int64}
  - {name: placed_at, type: timestamp}
  - {name: page, type: string}
  - {name: buyer_info, type: string}
  - {name: state, type: string}
";

    /// What a rule looks for in some samples.
    struct Measured {
        evidence: Evidence,
        graph: GraphSpec,
        /// What the rule says of properties, by their names.
        hints: Vec<(String, String)>,
        /// What it says of things beside the main one.
        things: Vec<Called>,
    }

    impl Measured {
        fn new(samples: &str, graph: &str, rule: &Value) -> Self {
            let samples = Samples::parse(samples, "samples").expect("samples");
            let graph = GraphSpec::parse(graph, "graph.yaml").expect("a graph spec");
            let mut hints = Vec::new();
            collect_hints(rule, &mut hints);
            let text = |it: &Value, key: &str| it[key].as_str().unwrap_or_default().to_owned();
            let called = |it: &Value| {
                let [entity, from, relationship] =
                    ["entity", "from", "relationship"].map(|key| text(it, key));
                Called::new(&entity, &from, &relationship)
            };
            let children = rule["extended"]["children"].as_array().into_iter().flatten();
            let alone = graph.entities().iter().map(|it| Called::new(&it.name, "", ""));
            let things = children.map(called).chain(alone).collect();
            Self { evidence: Evidence::new(&samples, None), graph, hints, things }
        }

        /// Of these weights, those without which something else is found.
        fn changing(&self, without: &[(&'static str, Weights)]) -> Vec<&'static str> {
            let effort = StepBudget::new(u64::MAX, &Cancel::default());
            let survey = Survey::new(&self.evidence, &[], &effort);
            let found = |weights| self.found(Scorer { survey: &survey, weights });
            let right = found(&WEIGHTS);
            let changes = without.iter().filter(|(_, weights)| found(weights) != right);
            changes.map(|(name, _)| *name).collect()
        }

        /// For each property the best path, and how good it is; for each thing the best object.
        fn found(&self, scorer: Scorer<'_>) -> Vec<String> {
            let mut found = Vec::new();
            for thing in &self.things {
                let types: Vec<&str> = self.evidence.event_types().map(|(name, _)| name).collect();
                let arrays = self.evidence.arrays(&types);
                let arrays = arrays.iter().map(|it| it.iteration.path());
                let objects = scorer.survey.places().iter().filter_map(|it| it.path.split_last());
                let all = arrays.chain(objects.map(|(_, object)| object));
                let scored = all.map(|path| (scorer.called(thing, path), path));
                let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
                found.push(format!("{:?}", best.map(|(_, path)| path)));
            }
            for entity in self.graph.entities() {
                for property in entity.properties.iter() {
                    let name = &property.logical_name;
                    let hint = self.hints.iter().find(|(of, _)| of == name);
                    let mut anchor = Vec::new();
                    for hint in [None, hint.map(|(_, hint)| hint.as_str())] {
                        let wanted = Wanted {
                            name,
                            property_type: Some(&property.property_type),
                            hint,
                            entity: &entity.name,
                            is_key: entity.key_properties().any(|it| it == property),
                        };
                        let ranked = scorer.rank(&Aim::new(&wanted), Some(&anchor));
                        let score = |place: usize| ranked.get(place).map_or(0.0, |it| it.score);
                        let (first, margin) = (score(0), score(0) - score(1));
                        let is_sure = first >= 0.7 && margin >= 0.1;
                        let path = ranked.first().map_or(&[][..], |it| &it.path);
                        found.push(format!("{name} {path:?} {is_sure} {}", first >= 0.4));
                        anchor = path.iter().take(1).cloned().collect();
                    }
                }
            }
            found
        }
    }

    /// Every `hint` beside the name of a property.
    fn collect_hints(rule: &Value, hints: &mut Vec<(String, String)>) {
        let text = |key: &str| rule.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(name), Some(hint)) = (text("property").or(text("name")), text("hint")) {
            hints.push((name, hint));
        }
        let values: Vec<&Value> = match rule {
            Value::Object(fields) => fields.values().collect(),
            Value::Array(items) => items.iter().collect(),
            _ => Vec::new(),
        };
        values.into_iter().for_each(|value| collect_hints(value, hints));
    }

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).expect("a file of the checkout")
    }

    fn json(path: &Path) -> Value {
        serde_json::from_str(&read(path)).expect("JSON")
    }

    fn sorted(folder: &Path) -> Vec<PathBuf> {
        let files = std::fs::read_dir(folder).expect("a folder");
        let mut files: Vec<PathBuf> = files.map(|it| it.expect("a file").path()).collect();
        files.sort();
        files
    }

    /// The examples, the cases that drafts are measured on, and the corpus of webhooks with a few events of each type.
    fn measured(corpus: &Path) -> Vec<Measured> {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut measured = vec![Measured::new(ORDERS, ORDER, &Value::Null)];
        for example in sorted(&root.join("examples")) {
            let samples = read(&example.join("samples.ndjson"));
            let graph = read(&example.join("graph.yaml"));
            measured.push(Measured::new(&samples, &graph, &Value::Null));
        }
        for case in sorted(&root.join("tests/draft/cases")) {
            let case = json(&case);
            let samples = case["samples"].as_array().into_iter().flatten();
            let samples: String = samples.map(|it| format!("{it}\n")).collect();
            measured.push(Measured::new(&samples, &case["graph"].to_string(), &case["rule"]));
        }
        let events = read(&corpus.join("events.ndjson"));
        let graph = json(&corpus.join("graph_spec.json"));
        for rule in sorted(&corpus.join("rules")) {
            let rule = json(&rule);
            let of_type = |name: &Value| {
                let name = name.to_string();
                events.lines().filter(move |it| it.contains(&name)).take(1)
            };
            let types = rule["event_types"].as_array().into_iter().flatten();
            let samples = types.flat_map(of_type);
            let samples: String = samples.flat_map(|line| [line, "\n"]).collect();
            let mut graph = graph.clone();
            let name = &rule["core"]["entity"];
            let entities = graph["entities"].as_array_mut().expect("entities");
            entities.retain(|it| it["name"] == *name);
            graph["relationships"] = Value::Array(Vec::new());
            measured.push(Measured::new(&samples, &graph.to_string(), &rule));
        }
        measured
    }

    #[test]
    #[allow(clippy::print_stderr, reason = "whoever runs the tests learns what was not run")]
    fn no_weight_can_be_left_out() {
        let corpus =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora/github_webhooks");
        // Without the corpora beside the checkout, too little is measured.
        if !corpus.exists() {
            eprintln!("skipped: no corpora beside the checkout");
            return;
        }
        // As much as if it weren't there: a factor is one, and what is added, or taken off, is nothing.
        let mut idle = vec![
            ("form", Weights { form: 1.0, ..WEIGHTS }),
            ("time", Weights { time: 1.0, ..WEIGHTS }),
            ("unit", Weights { unit: 1.0, ..WEIGHTS }),
            ("glue", Weights { glue: 1.0, ..WEIGHTS }),
            ("known_word", Weights { known_word: 1.0, ..WEIGHTS }),
            ("in_parent", Weights { in_parent: 1.0, ..WEIGHTS }),
            ("in_entity", Weights { in_entity: 1.0, ..WEIGHTS }),
            ("in_event_type", Weights { in_event_type: 0.0, ..WEIGHTS }),
            ("key_by_id", Weights { key_by_id: 0.0, ..WEIGHTS }),
            ("leaf_by_entity", Weights { leaf_by_entity: 1.0, ..WEIGHTS }),
            ("address", Weights { address: 1.0, ..WEIGHTS }),
            ("by_shape", Weights { by_shape: 0.0, ..WEIGHTS }),
            ("by_type", Weights { by_type: 0.0, ..WEIGHTS }),
            ("parent", Weights { parent: 1.0, ..WEIGHTS }),
            ("by_event_type", Weights { by_event_type: 0.0, ..WEIGHTS }),
            ("identity", Weights { identity: 1.0, ..WEIGHTS }),
            ("unexplained", Weights { unexplained: 0.0, ..WEIGHTS }),
            ("hint", Weights { hint: 1.0, ..WEIGHTS }),
            ("hint_in_parent", Weights { hint_in_parent: 1.0, ..WEIGHTS }),
            ("excluded", Weights { excluded: 1.0, ..WEIGHTS }),
            ("elsewhere", Weights { elsewhere: 1.0, ..WEIGHTS }),
            ("unseen", Weights { unseen: 1.0, ..WEIGHTS }),
            ("moment", Weights { moment: 1.0, ..WEIGHTS }),
            ("strange_leaf", Weights { strange_leaf: 1.0, ..WEIGHTS }),
            ("identity_step", Weights { identity_step: 0.0, ..WEIGHTS }),
            ("no_email", Weights { no_email: 1.0, ..WEIGHTS }),
            ("coverage", Weights { coverage: 0.0, ..WEIGHTS }),
            ("key_coverage", Weights { key_coverage: 0.0, ..WEIGHTS }),
            ("key_uniqueness", Weights { key_uniqueness: 0.0, ..WEIGHTS }),
            ("object_last", Weights { object_last: 0.0, ..WEIGHTS }),
            ("object_above", Weights { object_above: 0.0, ..WEIGHTS }),
            ("object_said", Weights { object_said: 0.0, ..WEIGHTS }),
            ("object_by_relationship", Weights { object_by_relationship: 0.0, ..WEIGHTS }),
            ("object_kind", Weights { object_kind: 1.0, ..WEIGHTS }),
        ];
        for one in measured(&corpus) {
            let changing = one.changing(&idle);
            idle.retain(|(name, _)| !changing.contains(name));
        }
        let idle: Vec<&str> = idle.iter().map(|(name, _)| *name).collect();
        assert_eq!(idle, [""; 0], "weights that change nothing");
    }
}
