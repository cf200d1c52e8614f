//! Random events that are made for a plan: mostly what it looks for, and something else in some places.

use std::collections::BTreeMap;

use retort::plan::{EventPattern, ForEach, Iteration, Over, Plan};
use serde_json::Value;

use super::choices::{Choices, NUMBERS, TEXTS, key};

/// What a plan looks for at some place.
#[derive(Default)]
struct Wanted {
    fields: BTreeMap<String, Wanted>,
    /// What the elements of an array here are to be.
    elements: Option<Box<Wanted>>,
    /// What the entries of an object here are to be, as objects with a key and a value.
    entries: Option<Box<Wanted>>,
    /// Whether the value itself is read.
    value: bool,
    /// Whether it is one of several places for the same.
    is_alternative: bool,
}

impl Wanted {
    fn at(&mut self, path: &[String]) -> &mut Self {
        path.iter().fold(self, |wanted, key| wanted.fields.entry(key.clone()).or_default())
    }

    /// Whatever elements of these levels are to be, wherever they are.
    fn elements(&mut self, levels: &[&Iteration], make: &mut dyn FnMut(&mut Self)) {
        let Some((outer, inner)) = levels.split_first() else { return make(self) };
        // What an expression gives may be at a path that it reads.
        let read = outer.query().into_iter().flat_map(|query| query.references());
        let read: Vec<_> = read.map(|reference| reference.path.clone()).collect();
        let paths = if read.is_empty() { outer.paths() } else { &read };
        for path in paths {
            let wanted = self.at(path);
            wanted.is_alternative = outer.paths().len() > 1;
            let elements = match outer.over() {
                Over::Array => wanted.elements.get_or_insert_default(),
                Over::Entries => wanted.entries.get_or_insert_default(),
            };
            elements.elements(inner, make);
        }
    }

    fn of(plan: &Plan) -> Self {
        let mut root = Self::default();
        let nodes = plan.nodes().iter().map(|node| node.for_each());
        let spans = plan.span_rules().iter().map(|span| span.for_each());
        for for_each in nodes.chain(spans).flatten() {
            root.elements(&for_each.levels(), &mut |_| {});
        }
        for read in plan.reads() {
            let reference = &read.reference;
            let levels = read.for_each.map(ForEach::levels).unwrap_or_default();
            let levels = &levels[..usize::from(reference.level.0)];
            root.elements(levels, &mut |element| element.at(&reference.path).value = true);
        }
        root
    }
}

/// An event for a plan, and perhaps for that only nearly.
pub(super) fn event(plan: &Plan, choices: &mut Choices<'_>) -> String {
    let mut root = Wanted::of(plan);
    // It has to be a string in most cases, whoever else looks at it.
    root.fields.remove("event_type");
    let event_type = event_type(plan, choices);
    let hints = hints(plan);
    let mut writer = Writer { choices, hints, out: String::new() };
    writer.object(&root, Some(&event_type));
    writer.out
}

/// The text of the event type.
fn event_type(plan: &Plan, choices: &mut Choices<'_>) -> String {
    let pattern = choices.pick(plan.event_types().patterns());
    let text = match (pattern, choices.below(16)) {
        (EventPattern::Prefix(prefix), 15) => prefix.trim_end_matches('.').to_owned(),
        (EventPattern::Prefix(prefix), _) => format!("{prefix}y"),
        (EventPattern::Exact(exact), 15) => format!("{exact}x"),
        (EventPattern::Exact(_), 14) => return "null".to_owned(),
        (EventPattern::Exact(exact), _) => exact.clone(),
    };
    spelled(&text, choices)
}

/// What the plan compares with.
fn hints(plan: &Plan) -> Vec<String> {
    fn collect(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    match (name.as_str(), value) {
                        ("equals", value) => found.push(value.to_string()),
                        ("one_of", Value::Array(all)) => {
                            found.extend(all.iter().map(ToString::to_string));
                        }
                        ("starts_with", Value::String(prefix)) => {
                            found.push(Value::from(format!("{prefix}...")).to_string());
                        }
                        (_, value) => collect(value, found),
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(&serde_json::to_value(plan).unwrap(), &mut found);
    found
}

/// The text of a JSON string, in one of several spellings of the same content.
fn spelled(content: &str, choices: &mut Choices<'_>) -> String {
    let canonical = Value::from(content).to_string();
    match choices.below(8) {
        7 => {
            let units: String =
                content.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{units}\"")
        }
        6 => canonical.replace('/', "\\/").replace('a', "\\u0061"),
        _ => canonical,
    }
}

struct Writer<'c, 'b> {
    choices: &'c mut Choices<'b>,
    hints: Vec<String>,
    out: String,
}

impl Writer<'_, '_> {
    fn wanted(&mut self, wanted: &Wanted) {
        if self.choices.chance(12) {
            return self.anything(2);
        }
        let has_object = !wanted.fields.is_empty() || wanted.entries.is_some();
        match (has_object, wanted.elements.is_some(), wanted.value) {
            (true, true, _) if self.choices.chance(128) => self.array(wanted),
            (true, _, true) | (true, true, false) if self.choices.chance(64) => self.scalar(),
            (true, ..) => self.object(wanted, None),
            (false, true, true) if self.choices.chance(64) => self.scalar(),
            (false, true, _) => self.array(wanted),
            (false, false, _) => self.scalar(),
        }
    }

    fn array(&mut self, wanted: &Wanted) {
        self.out.push('[');
        let element = wanted.elements.as_deref();
        for index in 0..[2, 0, 1, 3, 4, 3][self.choices.below(6)] {
            if index > 0 {
                self.out.push(',');
            }
            self.space();
            match element {
                Some(element) => self.wanted(element),
                None => self.anything(1),
            }
        }
        self.space();
        self.out.push(']');
    }

    /// An object; `event_type`: the text of that field, for the event itself.
    fn object(&mut self, wanted: &Wanted, event_type: Option<&str>) {
        // An event's keys hide each other where they are repeated, and some are left out.
        let mut members: Vec<(String, Option<&Wanted>)> = Vec::new();
        for (key, wanted) in &wanted.fields {
            if self.choices.chance(16) {
                members.push((key.clone(), None));
            }
            let seldom = if wanted.is_alternative { 64 } else { 10 };
            if !self.choices.chance(seldom) {
                members.push((key.clone(), Some(wanted)));
            }
            if self.choices.chance(8) {
                members.push((key.clone(), Some(wanted)));
            }
        }
        if let Some(entry) = &wanted.entries {
            for _ in 0..[2, 0, 1, 3][self.choices.below(4)] {
                members.push((key(self.choices), entry.fields.get("value")));
            }
        }
        if self.choices.chance(24) {
            members.push((key(self.choices), None));
        }
        if event_type.is_some() {
            members.retain(|(key, _)| key != "event_type");
        }
        let at = event_type.map(|_| self.choices.below(members.len() + 1));
        self.out.push('{');
        for index in 0..=members.len() {
            let separate = |out: &mut String| {
                if !out.ends_with('{') {
                    out.push(',');
                }
            };
            if let (Some(event_type), true) = (event_type, at == Some(index)) {
                separate(&mut self.out);
                self.out.push_str(&format!("\"event_type\":{event_type}"));
            }
            let Some((key, wanted)) = members.get(index) else { break };
            separate(&mut self.out);
            self.space();
            let key = spelled(key, self.choices);
            self.out.push_str(&key);
            self.space();
            self.out.push(':');
            self.space();
            match wanted {
                Some(wanted) => self.wanted(wanted),
                None => self.anything(2),
            }
        }
        self.out.push('}');
    }

    /// A value that nobody has asked for.
    fn anything(&mut self, depth: usize) {
        match self.choices.below(8) {
            0 => self.out.push_str("null"),
            1 if depth > 0 => {
                self.out.push('[');
                for index in 0..self.choices.below(3) {
                    self.out.push_str(if index > 0 { "," } else { "" });
                    self.anything(depth - 1);
                }
                self.out.push(']');
            }
            2 if depth > 0 => {
                self.out.push('{');
                for index in 0..self.choices.below(3) {
                    self.out.push_str(if index > 0 { "," } else { "" });
                    let key = key(self.choices);
                    let key = spelled(&key, self.choices);
                    self.out.push_str(&key);
                    self.out.push(':');
                    self.anything(depth - 1);
                }
                self.out.push('}');
            }
            3 => self.out.push_str("[]"),
            4 => self.out.push_str("{ }"),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) {
        let text = match self.choices.below(8) {
            0 | 1 => {
                let text = *self.choices.pick(TEXTS);
                spelled(text, self.choices)
            }
            2 => (*self.choices.pick(NUMBERS)).to_owned(),
            3 => (*self.choices.pick(&["true", "false", "null"])).to_owned(),
            4 | 5 if !self.hints.is_empty() => self.choices.pick(&self.hints).clone(),
            6 => {
                // Around the lengths at which copying changes its ways.
                let lengths = [14_usize, 15, 16, 17, 61, 62, 63, 64, 65, 66, 200, 3000];
                let length = *self.choices.pick(&lengths);
                let text = self.choices.pick(&["x", "é", "\""]).repeat(length);
                spelled(&text, self.choices)
            }
            _ => {
                let key = key(self.choices);
                spelled(&key, self.choices)
            }
        };
        self.out.push_str(&text);
    }

    fn space(&mut self) {
        let space = self.choices.pick(&["", "", "", "", "", " ", "\n\t", "\r "]);
        self.out.push_str(space);
    }
}
