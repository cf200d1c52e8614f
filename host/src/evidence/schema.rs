//! What an event schema declares: which paths there are, and of which types.
//!
//! Three forms are read. A *JSON Schema* (with `properties`, `$ref`, `$schema`, `allOf`, `anyOf` or `oneOf` at its root)
//! declares what its properties do, through local references and combinations. A *table of paths* is an object `paths`
//! whose keys are paths joined by dots, with a list of `types` each; `[]` after a key leads to the elements of an array.
//! Anything else is a *map of names* to the names of types, to maps, or to lists of what an array holds:
//! `{"content": {"amount": "double", "tags": "array<string>", "lines": [{"no": "int64"}]}}`.

use std::collections::{BTreeMap, HashMap};

use json_patch::jsonptr::Pointer;
use serde_json::{Map, Value};

use super::rule::{TaskError, object, require_size};
use crate::diagnostics::wording::json_in_text;
use crate::evidence::{Path, PathStep};
use crate::json::document::DocumentKind as Document;
use crate::json::{JsonKind, JsonKinds};

/// How deep a schema is followed. Recursive ones have no end.
const MAX_DEPTH: usize = 12;

/// How many keys a path of a table may have; longer ones are left out. Samples aren't looked through deeper.
const MAX_KEYS: usize = 32;

/// How many paths a schema may declare; what is beyond is left out.
const MAX_PATHS: usize = 50_000;

/// How many bytes the keys of all declared paths may have together, and their descriptions; what is beyond is left out.
const MAX_BYTES: usize = 16 << 20;

/// How many parts of a schema are looked at, each as often as it is referred to.
const MAX_VISITS: usize = 200_000;

/// How much of a description is kept, in characters.
const DESCRIPTION_CHARS: usize = 200;

/// What a schema says about one path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The JSON types that a value may have; empty where the schema doesn't say.
    pub kinds: JsonKinds,
    /// What the value is, in words: the first 200 characters.
    pub description: Option<String>,
}

impl Declared {
    /// Adds what else is said about the same path: kinds, and a description where there was none.
    pub(super) fn merge(&mut self, other: &Self) {
        self.kinds = self.kinds.union(other.kinds);
        if self.description.is_none() {
            self.description.clone_from(&other.description);
        }
    }
}

/// What events look like. Any JSON object may be one; what it declares is as far as its form is known.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSchema {
    text: String,
    value: Map<String, Value>,
    declared: BTreeMap<Path, Declared>,
    declared_inside: BTreeMap<Vec<PathStep>, Declared>,
}

impl EventSchema {
    /// Reads an event schema. `origin` names the text in errors.
    ///
    /// # Errors
    /// [`TaskError`], for text that isn't a JSON object, or holds more values than
    /// [`Kind::EventSchema`](Document::EventSchema) allows.
    pub fn parse(text: &str, origin: &str) -> Result<Self, TaskError> {
        let document = "event schema";
        require_size(Document::EventSchema, text, origin)?;
        if text.trim().is_empty() {
            let (kind, origin) = (Document::EventSchema, origin.to_owned());
            return Err(TaskError::Empty { kind, origin });
        }
        let value = serde_json::from_str(text).map_err(|error| TaskError::NotJson {
            document,
            origin: origin.to_owned(),
            message: json_in_text(text, &error),
        })?;
        Ok(Self::new(text.to_owned(), object(document, origin, value)?))
    }

    /// An event schema from a JSON value.
    ///
    /// # Errors
    /// [`TaskError::NotAnObject`].
    pub fn from_value(value: Value) -> Result<Self, TaskError> {
        let text = value.to_string();
        Ok(Self::new(text, object("event schema", "the event schema", value)?))
    }

    fn new(text: String, value: Map<String, Value>) -> Self {
        let mut reader = Reader::new(&value);
        if is_json_schema(&value) {
            reader.json_schema(&value, 0, MAX_DEPTH);
        } else if let Some(Value::Object(paths)) = value.get("paths") {
            reader.table(paths);
        } else {
            reader.names(&value, MAX_DEPTH);
        }
        let (declared, declared_inside) = reader.declared();
        Self { text, value, declared, declared_inside }
    }

    /// The schema as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The schema as an object.
    #[must_use]
    pub fn value(&self) -> &Map<String, Value> {
        &self.value
    }

    /// Every path that it declares, objects included, relative to whatever the schema is about.
    #[must_use]
    pub fn declared(&self) -> &BTreeMap<Path, Declared> {
        &self.declared
    }

    /// What it declares inside of arrays, and of objects with any keys.
    #[must_use]
    pub fn declared_inside(&self) -> &BTreeMap<Vec<PathStep>, Declared> {
        &self.declared_inside
    }
}

fn is_json_schema(value: &Map<String, Value>) -> bool {
    ["$schema", "$ref", "properties", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| value.contains_key(*key))
        && !matches!(value.get("properties"), Some(Value::String(_)))
}

/// A step of a path, as the reader takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part<'a> {
    Key(&'a str),
    Element,
    Value,
}

impl Part<'_> {
    fn len(self) -> usize {
        match self {
            Self::Key(key) => key.len(),
            Self::Element | Self::Value => 0,
        }
    }

    fn step(self) -> PathStep {
        match self {
            Self::Key(key) => PathStep::Key(key.to_owned()),
            Self::Element => PathStep::Element,
            Self::Value => PathStep::Value,
        }
    }
}

struct Reader<'a> {
    root: &'a Map<String, Value>,
    declared: BTreeMap<Vec<Part<'a>>, Declared>,
    bytes: usize,
    path: Vec<Part<'a>>,
    /// A number for each path, by that of the path above it and the last key; 0 is the root.
    paths: HashMap<(usize, Part<'a>), usize>,
    /// How deep was gone, at most, from a part of the schema (by its place in memory) at a path (by its number).
    read: HashMap<(usize, usize), usize>,
    /// What a part of the schema says by itself, by its place in memory.
    said: HashMap<usize, Said<'a>>,
    visits: usize,
}

/// What a part of a JSON Schema says, whatever path it is about.
#[derive(Clone, Copy)]
struct Said<'a> {
    kinds: JsonKinds,
    target: Option<&'a Map<String, Value>>,
}

impl<'a> Reader<'a> {
    fn new(root: &'a Map<String, Value>) -> Self {
        Self {
            root,
            declared: BTreeMap::new(),
            bytes: 0,
            path: Vec::new(),
            paths: HashMap::new(),
            read: HashMap::new(),
            said: HashMap::new(),
            visits: 0,
        }
    }

    /// What is declared by keys alone, and what is inside of something.
    fn declared(self) -> (BTreeMap<Path, Declared>, BTreeMap<Vec<PathStep>, Declared>) {
        let (mut by_keys, mut inside) = (BTreeMap::new(), BTreeMap::new());
        for (path, declared) in self.declared {
            let key = |part: &Part<'_>| match part {
                Part::Key(key) => Some((*key).to_owned()),
                Part::Element | Part::Value => None,
            };
            match path.iter().map(key).collect::<Option<Path>>() {
                Some(path) => by_keys.insert(path, declared),
                None => inside.insert(path.into_iter().map(Part::step).collect(), declared),
            };
        }
        (by_keys, inside)
    }

    /// Reads a part of a JSON Schema about the path where the reader is, whose number is `at`.
    fn json_schema(&mut self, schema: &'a Map<String, Value>, at: usize, depth: usize) {
        if depth == 0 || self.is_full() {
            return;
        }
        let place = std::ptr::from_ref(schema).addr();
        let deepest = self.read.entry((place, at)).or_default();
        if *deepest >= depth {
            return;
        }
        *deepest = depth;
        let said = self.said(schema);
        if let Some(target) = said.target {
            self.json_schema(target, at, depth - 1);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(parts)) = schema.get(key) else { continue };
            for part in parts.iter().filter_map(Value::as_object) {
                self.json_schema(part, at, depth - 1);
            }
        }
        self.note(said.kinds, schema.get("description"));
        let parts = |key: &str| schema.get(key).and_then(Value::as_object).into_iter().flatten();
        for (name, property) in parts("properties") {
            self.below(Part::Key(name), property, at, depth);
        }
        for (_, property) in parts("patternProperties") {
            self.below(Part::Value, property, at, depth);
        }
        if let Some(any @ Value::Object(_)) = schema.get("additionalProperties") {
            self.below(Part::Value, any, at, depth);
        }
        let first = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
        let items = schema.get("items");
        for item in first.chain(items).filter(|it| it.is_object()) {
            self.below(Part::Element, item, at, depth);
        }
    }

    /// Reads a part of a JSON Schema about what is one step below the path where the reader is.
    fn below(&mut self, part: Part<'a>, schema: &'a Value, at: usize, depth: usize) {
        if self.is_full() {
            return;
        }
        let numbers = self.paths.len();
        let below = *self.paths.entry((at, part)).or_insert(numbers + 1);
        self.path.push(part);
        match schema {
            Value::Object(schema) => self.json_schema(schema, below, depth - 1),
            _ => self.note(JsonKinds::default(), None),
        }
        self.path.pop();
    }

    /// Counts a visit; whether there has been enough of them, or of what was found.
    fn is_full(&mut self) -> bool {
        self.visits += 1;
        self.visits > MAX_VISITS || self.declared.len() >= MAX_PATHS || self.bytes > MAX_BYTES
    }

    fn said(&mut self, schema: &'a Map<String, Value>) -> Said<'a> {
        let place = std::ptr::from_ref(schema).addr();
        if let Some(said) = self.said.get(&place) {
            return *said;
        }
        let target = schema.get("$ref").and_then(|it| self.target(it));
        let said = Said { kinds: kinds_of_json_schema(schema), target };
        self.said.insert(place, said);
        said
    }

    /// What a reference within the document leads to.
    fn target(&self, reference: &Value) -> Option<&'a Map<String, Value>> {
        let pointer = Pointer::parse(reference.as_str()?.strip_prefix('#')?).ok()?;
        let mut place = None;
        for token in pointer.tokens() {
            let object = place.unwrap_or(self.root);
            place = Some(object.get(token.decoded().as_ref())?.as_object()?);
        }
        place
    }

    fn table(&mut self, paths: &'a Map<String, Value>) {
        for (path, entry) in paths {
            if self.is_full() {
                break;
            }
            self.path.clear();
            for key in path.split('.').take(MAX_KEYS + 1) {
                let name = key.trim_end_matches("[]");
                if !name.is_empty() || name == key {
                    self.path.push(Part::Key(name));
                }
                let arrays = (key.len() - name.len()) / 2;
                for _ in 0..arrays.min(MAX_KEYS) {
                    // An array is one, if only by what is said of its elements.
                    self.note(JsonKinds::from_iter([JsonKind::Array]), None);
                    self.path.push(Part::Element);
                }
            }
            if self.path.len() > MAX_KEYS {
                continue;
            }
            let kinds = match entry.get("types") {
                Some(Value::Array(types)) => {
                    types.iter().filter_map(Value::as_str).flat_map(kinds_named).collect()
                }
                _ => JsonKinds::default(),
            };
            self.note(kinds, entry.get("description"));
        }
    }

    fn names(&mut self, names: &'a Map<String, Value>, depth: usize) {
        if depth == 0 {
            return;
        }
        for (name, entry) in names {
            if self.is_full() {
                return;
            }
            self.path.push(Part::Key(name));
            self.named(entry, depth - 1);
            self.path.pop();
        }
    }

    /// Reads what a map of names says about the path where the reader is.
    fn named(&mut self, entry: &'a Value, depth: usize) {
        match entry {
            Value::Object(inner) => {
                self.note(JsonKinds::from_iter([JsonKind::Object]), None);
                self.names(inner, depth);
            }
            Value::String(name) => {
                self.note(kinds_named(name).collect(), None);
                if let Some(element) = element_named(name) {
                    self.path.push(Part::Element);
                    self.note(kinds_named(element).collect(), None);
                    self.path.pop();
                }
            }
            Value::Array(elements) => {
                self.note(JsonKinds::from_iter([JsonKind::Array]), None);
                if let (Some(element), Some(deeper)) = (elements.first(), depth.checked_sub(1)) {
                    self.path.push(Part::Element);
                    self.named(element, deeper);
                    self.path.pop();
                }
            }
            _ => self.note(JsonKinds::default(), None),
        }
    }

    /// Adds to what is known of the path where the reader is.
    fn note(&mut self, kinds: JsonKinds, description: Option<&Value>) {
        if self.path.is_empty() {
            return;
        }
        if !self.declared.contains_key(&self.path) {
            self.bytes += self.path.iter().map(|part| part.len()).sum::<usize>();
            if self.bytes > MAX_BYTES {
                return;
            }
        }
        let declared = self.declared.entry(self.path.clone()).or_default();
        declared.kinds = declared.kinds.union(kinds);
        if let (None, Some(Value::String(text))) = (&declared.description, description) {
            let kept: String = text.chars().take(DESCRIPTION_CHARS).collect();
            self.bytes += kept.len();
            declared.description = Some(kept);
        }
    }
}

fn kinds_of_json_schema(schema: &Map<String, Value>) -> JsonKinds {
    let mut kinds: JsonKinds = match schema.get("type") {
        Some(Value::String(name)) => kinds_named(name).collect(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).flat_map(kinds_named).collect()
        }
        _ => JsonKinds::default(),
    };
    let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    if kinds.is_empty() {
        kinds = values.chain(schema.get("const")).map(JsonKind::of).collect();
    }
    let says = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    if kinds.is_empty() && says(&["properties", "patternProperties"]) {
        kinds = JsonKinds::from_iter([JsonKind::Object]);
    }
    if kinds.is_empty() && says(&["items", "prefixItems"]) {
        kinds = JsonKinds::from_iter([JsonKind::Array]);
    }
    kinds
}

/// The name of the type of an array's elements: `array<string>`.
fn element_named(name: &str) -> Option<&str> {
    let (base, element) = name.trim().strip_suffix('>')?.split_once('<')?;
    kinds_named(base).any(|kind| kind == JsonKind::Array).then_some(element)
}

/// The JSON types that a type's name means, in any of the three forms.
fn kinds_named(name: &str) -> impl Iterator<Item = JsonKind> {
    let name = name.trim().to_ascii_lowercase();
    let base = name.split(['<', '(', '[']).next().unwrap_or_default();
    let kinds: &[JsonKind] = match base {
        "null" => &[JsonKind::Null],
        "boolean" | "bool" => &[JsonKind::Boolean],
        "integer" | "int" | "int32" | "int64" | "long" => &[JsonKind::Integer],
        "number" | "double" | "float" | "float64" | "numeric" => {
            &[JsonKind::Integer, JsonKind::Number]
        }
        "string" | "text" | "timestamp" | "datetime" | "date" | "bytes" | "uuid" => {
            &[JsonKind::String]
        }
        "array" | "list" => &[JsonKind::Array],
        "object" | "map" | "struct" | "record" => &[JsonKind::Object],
        _ => &[],
    };
    kinds.iter().copied()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::EventSchema;
    use crate::evidence::PathStep;
    use crate::json::{JsonKind, JsonKinds};

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn all_three_forms_say_the_same() {
        let forms = [
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"properties": {"b": {"type": ["integer", "null"]}, "c": {"enum": ["x"]},
                    "d": {"items": {"properties": {"e": {"items": {"type": "string"}}}}}}}}}),
            json!({"paths": {"a": {"types": ["object"]}, "a.b": {"types": ["int64", "null"]}, "a.c": {"types": ["string"]},
                "a.d[].e[]": {"types": ["string"]}, "a.d[]": {"types": ["object"]}}}),
            json!({"a": {"b": "integer", "c": "string", "d": [{"e": "array<string>"}]}}),
        ];
        for form in forms {
            let schema = EventSchema::from_value(form.clone()).expect("an object");
            let kinds = |dotted| schema.declared()[&path(dotted)].kinds;
            assert!(kinds("a").contains(JsonKind::Object), "{form}");
            assert!(kinds("a.b").contains(JsonKind::Integer), "{form}");
            assert!(kinds("a.c").contains(JsonKind::String), "{form}");
            assert!(kinds("a.d").contains(JsonKind::Array), "{form}");
            assert_eq!(schema.declared().len(), 4, "{form}");
            let key = |key: &str| PathStep::Key(key.to_owned());
            let element = vec![key("a"), key("d"), PathStep::Element];
            let inner = [&element[..], &[key("e")]].concat();
            let innermost = [&inner[..], &[PathStep::Element]].concat();
            let inside: Vec<_> =
                schema.declared_inside().iter().map(|(steps, it)| (steps, it.kinds)).collect();
            let kinds = |kind| JsonKinds::from_iter([kind]);
            let expected = [
                (&element, kinds(JsonKind::Object)),
                (&inner, kinds(JsonKind::Array)),
                (&innermost, kinds(JsonKind::String)),
            ];
            assert_eq!(inside, expected, "{form}");
        }
    }

    #[test]
    fn what_any_key_holds_is_declared_as_a_value() {
        let schema = json!({"properties": {"a": {"additionalProperties": {"type": "string"},
            "patternProperties": {"^x": {"type": "integer"}}}, "b": {"additionalProperties": false}}});
        let schema = EventSchema::from_value(schema).expect("an object");
        let steps = vec![PathStep::Key("a".to_owned()), PathStep::Value];
        let kinds = schema.declared_inside()[&steps].kinds;
        assert_eq!(kinds, JsonKinds::from_iter([JsonKind::Integer, JsonKind::String]));
        assert_eq!(schema.declared_inside().len(), 1);
    }

    #[test]
    fn a_schema_without_an_end_is_cut_off() {
        let recursive = json!({"$ref": "#/$defs/n", "$defs": {"n": {"properties": {
            "left": {"$ref": "#/$defs/n"}, "right": {"$ref": "#/$defs/n"}}}}});
        let schema = EventSchema::from_value(recursive).expect("an object");
        assert!(schema.declared().len() < super::MAX_PATHS + 2);
        assert!(schema.declared().contains_key(&path("left.right")));
    }

    #[test]
    fn a_schema_that_fans_out_is_read_once() {
        let again = vec![json!({"$ref": "#/$defs/a"}); 60];
        for properties in
            [json!({}), json!({"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/a"}})]
        {
            let fan = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": again, "properties": properties}}});
            let start = Instant::now();
            let schema = EventSchema::from_value(fan).expect("an object");
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
            assert_eq!(schema.declared().contains_key(&path("x.y")), properties["x"].is_object());
        }
    }

    fn bytes(schema: &EventSchema) -> usize {
        let keys = schema.declared().keys().flatten().map(String::len).sum::<usize>();
        let texts = schema.declared().values().flat_map(|it| &it.description);
        keys + texts.map(String::len).sum::<usize>()
    }

    #[test]
    fn what_is_kept_of_a_schema_is_bounded() {
        let long = "d".repeat(10_000);
        let fields = |name: &str| {
            let names =
                (0..6).map(|index| (format!("{name}{index}"), json!({"$ref": "#/$defs/n"})));
            names.collect::<serde_json::Map<_, _>>()
        };
        for name in ["f".to_owned(), "k".repeat(5_000)] {
            let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"description": long, "properties": fields(&name)}}});
            let schema = EventSchema::from_value(schema).expect("an object");
            assert!(bytes(&schema) < super::MAX_BYTES + 1_000 && schema.declared().len() > 500);
            let first = schema.declared().values().next().and_then(|it| it.description.as_deref());
            assert_eq!(first, Some(&long[..200]));
        }
        let table = json!({"paths": {"a.b": {}, format!("a{}", ".b".repeat(32)): {}, ".".repeat(1_000_000): {}}});
        let schema = EventSchema::from_value(table).expect("an object");
        assert_eq!(schema.declared().keys().collect::<Vec<_>>(), [&path("a.b")]);
    }
}
