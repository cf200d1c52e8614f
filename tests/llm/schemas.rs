//! The schema of a plan, at services that enforce what providers document.

use jsonschema::Validator;
use retort::author::llm::LlmRequest;
use retort::plan;
use serde_json::{Value, json};

use super::restrictions::refused;
use super::server::{Reply, Server};
use super::{PROVIDERS, config, connect};
use crate::support::workspace_root;

/// An answer with this text, in the protocol of a provider.
fn saying(provider: &str, text: &str) -> Reply {
    match provider {
        "openai" => Reply::chat(text, "stop"),
        "anthropic" => {
            let input: Value = serde_json::from_str(text).unwrap();
            let call = json!({"type": "tool_use", "id": "t", "name": "submit", "input": input});
            Reply::new(200, json!({"content": [call], "stop_reason": "tool_use"}))
        }
        "gemini" => {
            let content = json!({"parts": [{"text": text}]});
            Reply::new(200, json!({"candidates": [{"content": content, "finishReason": "STOP"}]}))
        }
        other => panic!("{other}"),
    }
}

/// The schema that a provider is sent.
fn sent<'a>(provider: &str, body: &'a Value) -> &'a Value {
    match provider {
        "openai" => &body["response_format"]["json_schema"]["schema"],
        "anthropic" => &body["tools"][0]["input_schema"],
        "gemini" => &body["generationConfig"]["responseJsonSchema"],
        other => panic!("{other}"),
    }
}

/// What a provider is sent when it is asked for a plan. It refuses nothing, and so is asked once.
async fn asked(provider: &'static str) -> Value {
    asked_for(provider, retort::internal::answer::schema()).await
}

/// The same for an answer of this schema.
async fn asked_for(provider: &'static str, schema: Value) -> Value {
    let server =
        Server::restricted([saying(provider, "{}")], move |body| refused(provider, body)).await;
    let request = LlmRequest::prompt("An answer, please.", schema);
    let client = connect(provider, &config(server.url()));
    assert_eq!(client.generate_json(request).await.unwrap().text, "{}");
    let received = server.received();
    assert_eq!(received.len(), 1, "{provider}");
    received[0].json()
}

#[tokio::test]
async fn no_provider_refuses_the_schemas_of_answers() {
    for provider in PROVIDERS {
        asked(provider).await;
        let body = asked_for(provider, retort::internal::answer::rust_schema()).await;
        assert!(sent(provider, &body)["properties"]["source"].is_object(), "{provider}: {body}");
    }
    assert_eq!(asked("openai").await["response_format"]["json_schema"]["strict"], true);
}

/// The services here refuse what the provider would: the schema of plans as it is, to begin with.
#[test]
fn what_is_documented_as_refused_is_refused() {
    let bodies = |schema: Value| {
        [
            (
                "openai",
                json!({"response_format": {"json_schema": {"strict": true, "schema": schema}}}),
            ),
            ("anthropic", json!({"tools": [{"input_schema": schema}]})),
            ("gemini", json!({"generationConfig": {"responseJsonSchema": schema}})),
        ]
    };
    for (provider, body) in bodies(plan::schema()) {
        assert!(refused(provider, &body).is_some(), "{provider}");
    }
    let of = |properties: Value| {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "additionalProperties": false, "required": required, "properties": properties})
    };
    let text = json!({"type": "string"});
    let deep = (0..10).fold(of(json!({})), |inner, _| of(json!({"a": inner})));
    let wide: serde_json::Map<String, Value> =
        (0..5_001).map(|i| (i.to_string(), text.clone())).collect();
    let listed: Vec<String> = (0..1_001).map(|i| i.to_string()).collect();
    let itself =
        json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}});
    for (provider, schema, wrong) in [
        ("openai", json!({"anyOf": [text]}), "at the top level"),
        ("openai", of(json!({"a": {"type": "string", "default": ""}})), "default"),
        ("openai", of(json!({"a": {"allOf": [text]}})), "allOf"),
        ("openai", of(json!({"a": {"type": "object", "properties": {}}})), "additionalProperties"),
        (
            "openai",
            json!({"type": "object", "additionalProperties": false, "properties": {"a": text}}),
            "every key",
        ),
        ("openai", of(json!({"a": {"$ref": "#/$defs/a", "description": "d"}})), "$ref"),
        ("openai", of(json!({"a": {"enum": ["x"]}})), "'type' key"),
        (
            "openai",
            of(
                json!({"a": {"anyOf": [of(json!({"b": text})), of(json!({"b": text, "c": text}))]}}),
            ),
            "first keys",
        ),
        ("openai", deep, "11 levels"),
        ("openai", of(Value::Object(wide)), "5001 properties"),
        ("openai", of(json!({"a": {"type": "string", "enum": listed}})), "1001 enum values"),
        ("openai", of(json!({"a".repeat(120_001): text})), "characters"),
        ("anthropic", json!({"oneOf": [text]}), "oneOf"),
        ("gemini", json!({"const": 1}), "const"),
        ("gemini", json!({"enum": [true]}), "enum"),
        ("gemini", json!({"$ref": "#/$defs/a", "description": "d"}), "$ref"),
        ("gemini", json!({"$ref": "#/$defs/a", "$defs": {"a": itself}}), "needs itself"),
    ] {
        let (_, body) = bodies(schema).into_iter().find(|(of, _)| *of == provider).unwrap();
        let said = refused(provider, &body).unwrap_or_default();
        assert!(said.contains(wrong), "{provider}: expected {wrong}, found {said:?}");
    }
}

/// Every plan of the project, as each provider has it said: under strict mode with null where something is left out.
#[tokio::test]
async fn what_providers_are_sent_takes_every_plan() {
    let plans = plans();
    assert!(plans.len() > 30, "{}", plans.len());
    for provider in PROVIDERS {
        let body = asked(provider).await;
        let schema = sent(provider, &body);
        let validator = jsonschema::validator_for(schema).unwrap();
        for (name, plan) in &plans {
            let mut said = plan.clone();
            if *provider == "openai" {
                in_full(schema, schema, &mut said);
            }
            fits(&validator, &said).unwrap_or_else(|error| panic!("{provider}, {name}: {error}"));
        }
    }
}

fn fits(validator: &Validator, value: &Value) -> Result<(), String> {
    validator.validate(value).map_err(|error| format!("{error} at {}", error.instance_path()))
}

/// An answer in strict form means what it says without the nulls, to the digit and in its order.
#[tokio::test]
async fn an_answer_of_strict_mode_is_read_without_its_nulls() {
    let body = asked("openai").await;
    let schema = sent("openai", &body);
    for (name, plan) in plans() {
        let mut said = plan.clone();
        in_full(schema, schema, &mut said);
        assert!(said.to_string().matches("null").count() > 10, "{name}");
        let server = Server::start([Reply::chat(&said.to_string(), "stop")]).await;
        let request = LlmRequest::prompt("A plan, please.", retort::internal::answer::schema());
        let answer = connect("openai", &config(server.url())).generate_json(request).await.unwrap();
        let read = plan::parse(&answer.text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read, plan::from_value(&plan).unwrap(), "{name}");
    }
    let exact = r#"{"b": null, "a": {"constant": 1.50, "from": null}, "c": [null]}"#;
    for (refuses_strict, expected) in
        [(false, r#"{"a": {"constant": 1.50}, "c": [null]}"#), (true, exact)]
    {
        let server = Server::restricted([Reply::chat(exact, "stop")], move |body| {
            let is_strict = body["response_format"]["json_schema"]["strict"] == true;
            (refuses_strict && is_strict).then(|| "Invalid schema for response_format".to_owned())
        })
        .await;
        let request = LlmRequest::prompt("A plan, please.", retort::internal::answer::schema());
        let answer = connect("openai", &config(server.url())).generate_json(request).await.unwrap();
        assert_eq!(answer.text, expected);
    }
}

/// The plans of the project that are right.
fn plans() -> Vec<(String, Value)> {
    let folder = workspace_root();
    let mut open: Vec<_> =
        ["examples", "evaluation/tasks", "tests/plans"].map(|it| folder.join(it)).into();
    let mut plans = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|it| it == "json") {
            let text = std::fs::read_to_string(&path).unwrap();
            if plan::parse(&text).is_ok() {
                plans.push((path.display().to_string(), serde_json::from_str(&text).unwrap()));
            }
        }
    }
    plans
}

/// Says null of all properties that a value leaves out.
fn in_full(root: &Value, schema: &Value, value: &mut Value) {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return in_full(root, &root["$defs"][name], value);
    }
    for branch in schema["anyOf"].as_array().into_iter().flatten() {
        in_full(root, branch, value);
    }
    match value {
        Value::Object(members) if schema["type"] == "object" => {
            for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
                in_full(root, schema, members.entry(name.as_str()).or_insert(Value::Null));
            }
        }
        Value::Array(elements) if schema["type"] == "array" => {
            elements.iter_mut().for_each(|it| in_full(root, &schema["items"], it));
        }
        _ => {}
    }
}
