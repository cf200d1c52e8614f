//! The description as a client reads it.

use serde_json::{Map, Value, json};

use super::super::fixture::{Answer, Service};

/// A description.
pub(super) struct Described {
    document: Value,
}

/// A route with its method.
#[derive(Clone)]
pub(super) struct Operation {
    pub(super) name: String,
    pub(super) method: String,
    /// With the examples of its parameters.
    pub(super) path: String,
    /// That of its body.
    pub(super) example: Option<Value>,
    responses: Map<String, Value>,
    components: Value,
}

impl Described {
    pub(super) fn of(service: &Service) -> Self {
        Self { document: service.get("/openapi.json", "").json() }
    }

    pub(super) fn operations(&self) -> Vec<Operation> {
        let mut found = Vec::new();
        for (path, methods) in self.document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                found.push(self.read(path, method, operation));
            }
        }
        found
    }

    pub(super) fn operation(&self, name: &str) -> Operation {
        let found = self.operations().into_iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("no {name}"))
    }

    fn read(&self, path: &str, method: &str, operation: &Value) -> Operation {
        let mut path = path.to_owned();
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "path" {
                let name = format!("{{{}}}", parameter["name"].as_str().unwrap());
                assert!(path.contains(&name), "{path}: {parameter}");
                path = path.replace(&name, parameter["example"].as_str().unwrap());
            }
        }
        assert!(!path.contains('{'), "{path}");
        let content = operation["requestBody"]["content"].as_object();
        let example = content.and_then(|it| it.values().next()?.get("example").cloned());
        Operation {
            name: operation["operationId"].as_str().unwrap().to_owned(),
            method: method.to_uppercase(),
            path,
            example,
            responses: operation["responses"].as_object().unwrap().clone(),
            components: self.document["components"].clone(),
        }
    }

    /// Each status of each operation, with the codes that it comes with.
    pub(super) fn all(&self) -> Vec<(String, u16, Option<String>)> {
        let mut all = Vec::new();
        for operation in self.operations() {
            for (status, response) in &operation.responses {
                let content = response["content"].as_object().unwrap().values().next().unwrap();
                let codes = content["schema"]["properties"]["code"]["enum"].as_array();
                let status = status.parse().unwrap();
                match codes {
                    None => all.push((operation.name.clone(), status, None)),
                    Some(codes) => all.extend(codes.iter().map(|code| {
                        (operation.name.clone(), status, Some(code.as_str().unwrap().to_owned()))
                    })),
                }
            }
        }
        all.sort();
        all
    }
}

impl Operation {
    /// The same of another extractor.
    pub(super) fn of_extractor(&self, name: &str) -> Self {
        // What a path would take for a step is escaped.
        let name = name.replace('.', "%2e");
        Self { path: self.path.replace("read_order", &name), ..self.clone() }
    }

    /// Holds an answer to what is described, and gives the code of a refusal.
    pub(super) fn check(&self, answer: &Answer) -> Option<String> {
        let status = answer.status.to_string();
        let response = self.responses.get(&status);
        let response = response.unwrap_or_else(|| panic!("{}: {answer:?}", self.name));
        let head = answer.head.to_ascii_lowercase();
        for name in response["headers"].as_object().into_iter().flat_map(Map::keys) {
            assert!(head.contains(&format!("\n{}: ", name.to_ascii_lowercase())), "{name}: {head}");
        }
        let content = response["content"].as_object().unwrap();
        let (media_type, content) = content.iter().next().unwrap();
        assert!(head.contains(&format!("\ncontent-type: {media_type}")), "{media_type}: {head}");
        let example = &content["example"];
        if media_type != "application/json" {
            let last = |text: &str| text.lines().last().map(shape_of_text);
            if answer.body.lines().count() == 1 {
                assert_eq!(last(&answer.body), last(example.as_str().unwrap()), "{answer:?}");
            }
            return None;
        }
        let found = answer.json();
        let mut schema = content["schema"].clone();
        schema["components"] = self.components.clone();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for value in [&found, example] {
            let errors: Vec<_> = validator.iter_errors(value).map(|it| it.to_string()).collect();
            assert!(errors.is_empty(), "{}: {value}: {errors:?}", self.name);
        }
        assert_shaped_alike(&found, example, &self.name);
        found["code"].as_str().filter(|_| answer.status >= 400).map(str::to_owned)
    }
}

/// What a line says, but for numbers.
fn shape_of_text(line: &str) -> Value {
    serde_json::from_str(line).map_or(json!(line), |value| shape(&value))
}

fn shape(value: &Value) -> Value {
    match value {
        Value::Object(map) => map.iter().map(|(key, it)| (key.clone(), shape(it))).collect(),
        Value::Array(items) => items.iter().take(1).map(shape).collect(),
        Value::String(_) => json!("text"),
        Value::Number(_) => json!(0),
        Value::Bool(_) => json!(true),
        Value::Null => Value::Null,
    }
}

/// That an example has what an answer has: the same keys all the way down, with values of the same types.
fn assert_shaped_alike(found: &Value, example: &Value, name: &str) {
    match (found, example) {
        (Value::Object(found), Value::Object(example)) if !example.contains_key("openapi") => {
            let keys = |map: &Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            let (mut one, mut other) = (keys(found), keys(example));
            one.sort();
            other.sort();
            assert_eq!(one, other, "{name}");
            found.iter().for_each(|(key, it)| assert_shaped_alike(it, &example[key], name));
        }
        (Value::Array(found), Value::Array(example)) => {
            if let (Some(found), Some(example)) = (found.first(), example.first()) {
                assert_shaped_alike(found, example, name);
            }
        }
        (Value::Object(_), Value::Object(_)) => assert_eq!(found["openapi"], example["openapi"]),
        _ => assert_eq!(shape(found), shape(example), "{name}"),
    }
}
