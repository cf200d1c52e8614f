//! What an event schema declares: which paths there are, and of which types.
//!
//! Three forms are read. A *JSON Schema* (with `properties`, `$ref`, `$schema`, `allOf`, `anyOf` or `oneOf` at its root)
//! declares what its properties do, through local references and combinations. A *table of paths* is an object `paths`
//! whose keys are paths joined by dots, with a list of `types` each. Anything else is a *map of names* to the names of
//! types, or to maps: `{"content": {"amount": "double", "tags": "array<string>"}}`.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::document::{TaskError, object};
use crate::problem::json_fault;
use crate::task::evidence::{Kind, Kinds, Path};

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
    pub kinds: Kinds,
    /// What the value is, in words: the first 200 characters.
    pub description: Option<String>,
}

/// What events look like. Any JSON object may be one; what it declares is as far as its form is known.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSchema {
    text: String,
    value: Map<String, Value>,
    declared: BTreeMap<Path, Declared>,
}

impl EventSchema {
    /// Reads an event schema. `origin` names the text in errors.
    ///
    /// # Errors
    /// [`TaskError`], for text that isn't a JSON object.
    pub fn parse(text: &str, origin: &str) -> Result<Self, TaskError> {
        let document = "event schema";
        if text.trim().is_empty() {
            return Err(TaskError::Empty { document, origin: origin.to_owned() });
        }
        let value = serde_json::from_str(text).map_err(|error| TaskError::NotJson {
            document,
            origin: origin.to_owned(),
            message: json_fault(text, &error),
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
        let declared = reader.declared();
        Self { text, value, declared }
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
}

fn is_json_schema(value: &Map<String, Value>) -> bool {
    ["$schema", "$ref", "properties", "allOf", "anyOf", "oneOf"]
        .iter()
        .any(|key| value.contains_key(*key))
        && !matches!(value.get("properties"), Some(Value::String(_)))
}

struct Reader<'a> {
    root: &'a Map<String, Value>,
    declared: BTreeMap<Vec<&'a str>, Declared>,
    bytes: usize,
    path: Vec<&'a str>,
    /// A number for each path, by that of the path above it and the last key; 0 is the root.
    paths: HashMap<(usize, &'a str), usize>,
    /// How deep was gone, at most, from a part of the schema (by its place in memory) at a path (by its number).
    read: HashMap<(usize, usize), usize>,
    /// What a part of the schema says by itself, by its place in memory.
    parts: HashMap<usize, Part<'a>>,
    visits: usize,
}

/// What a part of a JSON Schema says, whatever path it is about.
#[derive(Clone, Copy)]
struct Part<'a> {
    kinds: Kinds,
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
            parts: HashMap::new(),
            visits: 0,
        }
    }

    fn declared(self) -> BTreeMap<Path, Declared> {
        let owned = |path: Vec<&str>| path.into_iter().map(str::to_owned).collect();
        self.declared.into_iter().map(|(path, declared)| (owned(path), declared)).collect()
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
        let part = self.part(schema);
        if let Some(target) = part.target {
            self.json_schema(target, at, depth - 1);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(parts)) = schema.get(key) else { continue };
            for part in parts.iter().filter_map(Value::as_object) {
                self.json_schema(part, at, depth - 1);
            }
        }
        self.note(part.kinds, schema.get("description"));
        let Some(Value::Object(properties)) = schema.get("properties") else { return };
        for (name, property) in properties {
            if self.is_full() {
                return;
            }
            let numbers = self.paths.len();
            let below = *self.paths.entry((at, name)).or_insert(numbers + 1);
            self.path.push(name);
            match property {
                Value::Object(property) => self.json_schema(property, below, depth - 1),
                _ => self.note(Kinds::default(), None),
            }
            self.path.pop();
        }
    }

    /// Counts a visit; whether there has been enough of them, or of what was found.
    fn is_full(&mut self) -> bool {
        self.visits += 1;
        self.visits > MAX_VISITS || self.declared.len() >= MAX_PATHS || self.bytes > MAX_BYTES
    }

    fn part(&mut self, schema: &'a Map<String, Value>) -> Part<'a> {
        let place = std::ptr::from_ref(schema).addr();
        if let Some(part) = self.parts.get(&place) {
            return *part;
        }
        let target = schema.get("$ref").and_then(|it| self.target(it));
        let part = Part { kinds: kinds_of_json_schema(schema), target };
        self.parts.insert(place, part);
        part
    }

    /// What a reference within the document leads to.
    fn target(&self, reference: &Value) -> Option<&'a Map<String, Value>> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        let mut place = None;
        for token in pointer.strip_prefix('/')?.split('/') {
            let token = token.replace("~1", "/").replace("~0", "~");
            let object = place.unwrap_or(self.root);
            place = Some(object.get(&token)?.as_object()?);
        }
        place
    }

    fn table(&mut self, paths: &'a Map<String, Value>) {
        for (path, entry) in paths {
            if self.is_full() {
                break;
            }
            // What is below an array has no path; the array has, if only by what is said of its items.
            let (path, is_array) = match path.split_once("[]") {
                Some((array, _)) => (array, true),
                None => (path.as_str(), false),
            };
            self.path = path.split('.').take(MAX_KEYS + 1).collect();
            if self.path.len() > MAX_KEYS {
                continue;
            }
            if is_array {
                self.note(Kinds::from_iter([Kind::Array]), None);
                continue;
            }
            let kinds = match entry.get("types") {
                Some(Value::Array(types)) => {
                    types.iter().filter_map(Value::as_str).flat_map(kinds_named).collect()
                }
                _ => Kinds::default(),
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
            self.path.push(name);
            match entry {
                Value::Object(inner) => {
                    self.note(Kinds::from_iter([Kind::Object]), None);
                    self.names(inner, depth - 1);
                }
                Value::String(name) => self.note(kinds_named(name).collect(), None),
                _ => self.note(Kinds::default(), None),
            }
            self.path.pop();
        }
    }

    /// Adds to what is known of the path where the reader is.
    fn note(&mut self, kinds: Kinds, description: Option<&Value>) {
        if self.path.is_empty() {
            return;
        }
        if !self.declared.contains_key(&self.path) {
            self.bytes += self.path.iter().map(|key| key.len()).sum::<usize>();
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

fn kinds_of_json_schema(schema: &Map<String, Value>) -> Kinds {
    let mut kinds: Kinds = match schema.get("type") {
        Some(Value::String(name)) => kinds_named(name).collect(),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).flat_map(kinds_named).collect()
        }
        _ => Kinds::default(),
    };
    let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    if kinds.is_empty() {
        kinds = values.chain(schema.get("const")).map(Kind::of).collect();
    }
    if kinds.is_empty() && schema.contains_key("properties") {
        kinds = Kinds::from_iter([Kind::Object]);
    }
    kinds
}

/// The JSON types that a type's name stands for, in any of the three forms.
fn kinds_named(name: &str) -> impl Iterator<Item = Kind> {
    let name = name.trim().to_ascii_lowercase();
    let base = name.split(['<', '(', '[']).next().unwrap_or_default();
    let kinds: &[Kind] = match base {
        "null" => &[Kind::Null],
        "boolean" | "bool" => &[Kind::Boolean],
        "integer" | "int" | "int32" | "int64" | "long" => &[Kind::Integer],
        "number" | "double" | "float" | "float64" | "numeric" => &[Kind::Integer, Kind::Number],
        "string" | "text" | "timestamp" | "datetime" | "date" | "bytes" | "uuid" => &[Kind::String],
        "array" | "list" => &[Kind::Array],
        "object" | "map" | "struct" | "record" => &[Kind::Object],
        _ => &[],
    };
    kinds.iter().copied()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::EventSchema;
    use crate::task::evidence::Kind;

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn all_three_forms_say_the_same() {
        let forms = [
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}},
                "$defs": {"a": {"properties": {"b": {"type": ["integer", "null"]}, "c": {"enum": ["x"]}}}}}),
            json!({"paths": {"a": {"types": ["object"]}, "a.b": {"types": ["int64", "null"]}, "a.c": {"types": ["string"]}}}),
            json!({"a": {"b": "integer", "c": "string"}}),
        ];
        for form in forms {
            let schema = EventSchema::from_value(form.clone()).expect("an object");
            let kinds = |dotted| schema.declared()[&path(dotted)].kinds;
            assert!(kinds("a").contains(Kind::Object), "{form}");
            assert!(kinds("a.b").contains(Kind::Integer), "{form}");
            assert!(kinds("a.c").contains(Kind::String), "{form}");
            assert_eq!(schema.declared().len(), 3, "{form}");
        }
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
