//! Random plans, of everything that a plan may say.

use serde_json::{Map, Value, json};

use super::choices::{Choices, NUMBERS, TEXTS, key};
use super::expression::expression;

/// What a `for_each` goes over: one to four levels as they are written, each without the one within it.
type Over = Vec<Value>;

/// The most levels of it.
const DEEPEST: usize = 4;

/// A plan; valid, by the way in which it is made.
pub(super) fn plan(choices: &mut Choices<'_>) -> Value {
    let mut maker = Maker { overs: Vec::new(), choices };
    maker.plan()
}

struct Maker<'c, 'b> {
    choices: &'c mut Choices<'b>,
    /// What this plan goes over; few, so that rules share them.
    overs: Vec<Over>,
}

impl Maker<'_, '_> {
    fn plan(&mut self) -> Value {
        let mut plan = json!({"event_type": self.event_type(), "function_name": "read"});
        self.maybe(&mut plan, 64, "when", |it| it.condition(0, 3));
        self.maybe(&mut plan, 48, "empty", |_| json!("absent"));
        self.maybe(&mut plan, 48, "time_zone", |it| {
            json!(it.choices.pick(&["Europe/Berlin", "+05:45", "UTC", "America/St_Johns"]))
        });
        if self.choices.chance(80) {
            self.maybe(&mut plan, 64, "session_id_path", |it| json!(it.path(1)));
            self.maybe(&mut plan, 128, "span_handling", |it| it.span(0));
            plan["target_entity_name"] = json!("Thing");
            plan["key_field"] = self.key_fields(0).remove(0);
            plan["property_fields"] = self.properties(0);
            return plan;
        }
        for _ in 0..=self.choices.below(3) {
            let over = self.over();
            self.overs.push(over);
        }
        self.maybe(&mut plan, 64, "session_id_path", |it| json!(it.path(1)));
        let mut nodes = Vec::new();
        let mut overs = Vec::new();
        for index in 0..1 + self.choices.below(4) {
            let (node, over) = self.node(index);
            nodes.push(node);
            overs.push(over);
        }
        let edges = *self.choices.pick(&[1_usize, 0, 2, 3]);
        let edges: Vec<Value> = (0..edges).map(|_| self.edge(&overs)).collect();
        plan["nodes"] = json!(nodes);
        plan["edges"] = json!(edges);
        let spans = self.choices.below(4);
        plan["span_handling"] = match spans {
            0 => Value::Null,
            1 => self.any_span(),
            more => (0..more).map(|_| self.any_span()).collect(),
        };
        self.maybe(&mut plan, 24, "on_duplicate", |_| json!("reject"));
        plan
    }

    fn maybe(
        &mut self,
        to: &mut Value,
        of: u16,
        name: &str,
        make: impl FnOnce(&mut Self) -> Value,
    ) {
        if self.choices.chance(of) {
            to[name] = make(self);
        }
    }

    fn event_type(&mut self) -> Value {
        let types = ["e", "e.x", "e.*", "É \"quoted\"", "e.x.*", "eeeeeeeeeeeeeeeeeeeeeee"];
        match self.choices.below(4) {
            0 => json!("e"),
            1 => json!(self.choices.pick(&types)),
            more => {
                let first = self.choices.below(types.len());
                let is_unseen = self.choices.chance(24);
                let listed = (0..more).map(|next| types[(first + next) % types.len()]);
                let listed = listed.enumerate().map(|(index, name)| match is_unseen && index > 0 {
                    true => json!({"type": name, "unseen": true}),
                    false => json!(name),
                });
                json!(listed.collect::<Vec<_>>())
            }
        }
    }

    fn over(&mut self) -> Over {
        let mut levels = Vec::new();
        let mut is_entries = false;
        while levels.is_empty() || (levels.len() < DEEPEST && self.choices.chance(122)) {
            let outside = (!levels.is_empty()).then_some(is_entries);
            let depth = levels.len() + 1;
            is_entries = self.choices.chance(128);
            let level = self.level(is_entries, outside, depth);
            levels.push(level);
        }
        levels
    }

    /// One level: `outside` whether the one around it is over entries, where there is one.
    fn level(&mut self, is_entries: bool, outside: Option<bool>, depth: usize) -> Value {
        let mut level = json!({});
        if is_entries {
            level["entries"] = json!(self.path_over(["map", "a"], outside));
        } else if self.choices.chance(24) {
            level["expression"] = json!(self.list(depth - 1));
        } else if self.choices.chance(48) {
            let paths = 2 + self.choices.below(2);
            let paths = (0..paths).map(|_| self.path_over(["items", "parts"], outside));
            level["first_of"] = json!(paths.collect::<Vec<_>>());
        } else {
            level["array"] = json!(self.path_over(["items", "parts"], outside));
        }
        self.maybe(&mut level, 28, "where", |it| it.condition(depth, 2));
        self.maybe(&mut level, 12, "unseen", |_| json!(true));
        level
    }

    /// An expression that often gives an array.
    fn list(&mut self, level: usize) -> String {
        let list = *self.choices.pick(&["items", "parts", "items[].parts[]", "@"]);
        match self.choices.below(10) {
            0..=2 => "items".to_owned(),
            3 => format!("({list})[::-1] || parts"),
            4 => format!("items || parts || ({list})"),
            5 => format!("[{list}, $event.items][]"),
            6 => format!("{list}[?a || b]"),
            7 => format!("map(&{{key: 'a', value: @, items: [@]}}, {list})"),
            8 => format!("items({list})[]"),
            _ => expression(self.choices, level),
        }
    }

    fn path_over(&mut self, usual: [&str; 2], outside: Option<bool>) -> Vec<String> {
        let mut path = vec![(*self.choices.pick(&usual)).to_owned()];
        if self.choices.chance(64) {
            path = self.path(usize::from(outside.is_none()));
        }
        // The elements of an entry are in its value; the entry itself can't be gone over.
        if outside == Some(true) && (path.is_empty() || self.choices.chance(200)) {
            path = vec!["value".to_owned()];
        }
        path
    }

    /// One of the plan's, or the outer levels of one, or none.
    fn some_over(&mut self) -> Option<Over> {
        if self.choices.chance(96) {
            return None;
        }
        let index = self.choices.below(self.overs.len());
        let mut over = self.overs[index].clone();
        if self.choices.chance(80) {
            over.truncate(1 + self.choices.below(over.len()));
        }
        Some(over)
    }

    fn node(&mut self, index: usize) -> (Value, Option<Over>) {
        let over = self.some_over();
        let level = over.as_ref().map_or(0, Vec::len);
        let entity = *self.choices.pick(&["A", "B", "Thing"]);
        let mut node = json!({
            "entity_name": entity, "name": format!("n{index}"), "key_fields": self.key_fields(level),
            "property_fields": self.properties(level),
        });
        if let Some(over) = &over {
            node["for_each"] = for_each(over);
        }
        self.maybe(&mut node, 96, "when", |it| it.condition(level, 2));
        (node, over)
    }

    fn edge(&mut self, nodes: &[Option<Over>]) -> Value {
        let mut over: Option<Over> = None;
        let mut ends = [None, None];
        for end in &mut ends {
            let index = self.choices.below(nodes.len() + 1);
            let Some(of_node) = nodes.get(index) else { continue };
            let Some(agreed) = agreed(over.as_ref(), of_node.as_ref()) else { continue };
            over = agreed;
            *end = Some(index);
        }
        let own = if self.choices.chance(64) { self.some_over() } else { None };
        let own = own.filter(|own| agreed(over.as_ref(), Some(own)).is_some());
        let over = agreed(over.as_ref(), own.as_ref()).flatten();
        let level = over.as_ref().map_or(0, Vec::len);
        let [from, to] = ends.map(|end| match end {
            Some(index) => json!(format!("n{index}")),
            None => json!({"entity_name": "Other", "key_fields": self.key_fields(level)}),
        });
        let mut edge = json!({
            "relationship_name": self.choices.pick(&["R", "S"]), "from": from, "to": to,
            "property_fields": self.properties(level),
        });
        if let Some(own) = own {
            edge["for_each"] = for_each(&own);
        }
        self.maybe(&mut edge, 64, "when", |it| it.condition(level, 2));
        self.maybe(&mut edge, 64, "edge_id", |it| json!(it.template(level)));
        edge
    }

    fn any_span(&mut self) -> Value {
        let over = self.some_over();
        let mut span = self.span(over.as_ref().map_or(0, Vec::len));
        if let Some(over) = &over {
            span["for_each"] = for_each(over);
        }
        span
    }

    fn span(&mut self, level: usize) -> Value {
        let mut span = json!({});
        self.maybe(&mut span, 96, "span_id_path", |it| json!(it.path(1)));
        self.maybe(&mut span, 48, "when", |it| it.condition(level, 2));
        match self.choices.below(3) {
            1 => span["partial_when_path"] = json!(self.path(1)),
            2 => span["partial_when"] = self.condition(level, 2),
            _ => {}
        }
        span
    }

    fn key_fields(&mut self, level: usize) -> Vec<Value> {
        let count = 1 + self.choices.below(2);
        (0..count).map(|index| self.field(&format!("k{index}"), level, true)).collect()
    }

    fn properties(&mut self, level: usize) -> Value {
        let count = if self.choices.chance(12) { 40 } else { self.choices.below(5) };
        (0..count).map(|index| self.field(&format!("p{index}"), level, false)).collect()
    }

    fn field(&mut self, name: &str, level: usize, is_key: bool) -> Value {
        let mut field = self.value(level, 2, if is_key { 24 } else { 80 });
        field["property_name"] = json!(name);
        if field.get("source_path").is_some() && !is_key {
            self.maybe(&mut field, 64, "nulls", |_| json!("keep"));
        }
        if field.get("convert").is_some() || field.get("expression").is_some() {
            self.maybe(&mut field, 24, "on_error", |_| json!("reject"));
        }
        if field.get("constant").is_none() {
            self.maybe(&mut field, 12, "unseen", |_| json!(true));
        }
        field
    }

    /// A value; `convert`: how often it is converted, of 256 times.
    fn value(&mut self, level: usize, depth: usize, convert: u16) -> Value {
        let mut value = match self.choices.below(9) {
            0..=4 => Value::Object(self.reference(level)),
            8 => json!({"expression": expression(self.choices, level)}),
            5 => json!({"constant": self.constant()}),
            6 => json!({"template": self.template(level)}),
            _ if depth == 0 => json!({"constant": "deep"}),
            _ => {
                let values = 2 + self.choices.below(2);
                let values = (0..values).map(|_| self.value(level, depth - 1, convert));
                json!({"coalesce": values.collect::<Vec<_>>()})
            }
        };
        self.maybe(&mut value, convert, "convert", Self::conversions);
        value
    }

    fn conversions(&mut self) -> Value {
        const STEPS: &[&str] = &[
            "\"to_string\"",
            "\"trim\"",
            "\"lower\"",
            "\"upper\"",
            "\"to_int64\"",
            "\"to_double\"",
            "\"to_boolean\"",
            "\"to_json_text\"",
            "\"timestamp\"",
            "\"date\"",
            "\"length\"",
            r#"{"split":{"separator":"/","index":-1}}"#,
            r#"{"split":{"separator":"a","index":1}}"#,
            r#"{"regex":{"pattern":"v(\\d+)"}}"#,
            r#"{"regex":{"pattern":"(?P<all>.*)","group":"all"}}"#,
            r#"{"parse_json":[]}"#,
            r#"{"parse_json":["a"]}"#,
        ];
        let count = 1 + self.choices.below(3);
        let steps = (0..count).map(|_| self.choices.pick(STEPS));
        steps.map(|step| serde_json::from_str::<Value>(step).unwrap()).collect()
    }

    fn constant(&mut self) -> Value {
        match self.choices.below(4) {
            0 => json!(self.choices.pick(TEXTS)),
            1 => json!(self.choices.below(3)),
            2 => json!(self.choices.chance(128)),
            _ => {
                let number = *self.choices.pick(NUMBERS);
                serde_json::from_str(number).unwrap_or_else(|_| json!(1.5))
            }
        }
    }

    fn condition(&mut self, level: usize, depth: usize) -> Value {
        if depth > 0 && self.choices.chance(96) {
            return match self.choices.below(3) {
                0 => json!({"not": self.condition(level, depth - 1)}),
                1 => {
                    json!({"all": [self.condition(level, depth - 1), self.condition(level, depth - 1)]})
                }
                _ => {
                    json!({"any": [self.condition(level, depth - 1), self.condition(level, depth - 1)]})
                }
            };
        }
        if self.choices.chance(12) {
            return json!({"expression": expression(self.choices, level)});
        }
        let mut test = self.reference(level);
        let (name, of) = match self.choices.below(6) {
            0 => ("exists", json!(true)),
            1 => ("truthy", json!(true)),
            2 => ("equals", self.constant()),
            3 => ("one_of", json!([self.constant(), self.constant()])),
            4 => ("starts_with", json!(self.choices.pick(&["a", "refs/", "é"]))),
            _ => {
                let types = ["string", "number", "boolean", "object", "array", "null"];
                ("is_type", json!(self.choices.pick(&types)))
            }
        };
        test.insert(name.to_owned(), of);
        if self.choices.chance(8) {
            test.insert("unseen".to_owned(), json!(true));
        }
        Value::Object(test)
    }

    /// `source_path`, and `from` where it isn't the innermost element.
    fn reference(&mut self, level: usize) -> Map<String, Value> {
        let outside = &["event", "parent", "parent2", "parent3"][..level];
        let from = if outside.is_empty() || !self.choices.chance(72) {
            None
        } else {
            Some(*self.choices.pick(outside))
        };
        let least = usize::from(level == 0 || from == Some("event"));
        let mut reference = Map::new();
        reference.insert("source_path".to_owned(), json!(self.path(least)));
        if let Some(from) = from {
            reference.insert("from".to_owned(), json!(from));
        }
        reference
    }

    fn path(&mut self, least: usize) -> Vec<String> {
        let most = *self.choices.pick(&[1, 2, 1, 1, 3]);
        let length = if least == 0 && self.choices.chance(48) { 0 } else { most };
        (0..length.max(least)).map(|_| key(self.choices)).collect()
    }

    fn template(&mut self, level: usize) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.choices.below(4) {
            text.push_str(["", ":", "{{", "}}", "é\"", "/"][self.choices.below(6)]);
            let (marker, least) = match (level, self.choices.below(4)) {
                (0, 0..=2) => ("", 1),
                (_, 3) => ("$", 1),
                (2.., 2) => (&"^^^"[..1 + self.choices.below(level - 1)], 0),
                _ => ("", 0),
            };
            let path = self.path(least);
            let keys: Vec<String> = path.iter().map(|key| in_template(key)).collect();
            let dot = if marker.is_empty() || keys.is_empty() { "" } else { "." };
            text.push_str(&format!("{{{marker}{dot}{}}}", keys.join(".")));
        }
        text
    }
}

/// A key as it is written in a template.
fn in_template(key: &str) -> String {
    let is_plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain { key.to_owned() } else { json!(key).to_string() }
}

fn for_each(over: &Over) -> Value {
    let levels = over.iter().rev().cloned();
    let nested = levels.reduce(|inner, mut outer| {
        outer["for_each"] = inner;
        outer
    });
    nested.unwrap()
}

/// The deeper one of two that agree; `None`: they don't.
fn agreed(one: Option<&Over>, other: Option<&Over>) -> Option<Option<Over>> {
    match (one, other) {
        (Some(one), Some(other)) if one.starts_with(other) => Some(Some(one.clone())),
        (Some(one), Some(other)) if other.starts_with(one) => Some(Some(other.clone())),
        (Some(_), Some(_)) => None,
        (one, other) => Some(one.or(other).cloned()),
    }
}
