//! Agent telemetry: an evaluated option.

use std::borrow::Cow;

use serde::Deserialize;

use super::{ByHand, Property, Scalar, Text, write, write_empty};

/// The plan and its hand-written twins.
pub const BY_HAND: ByHand = ByHand { event_type: EVENT_TYPE, plan: PLAN, by_value, by_type };

const EVENT_TYPE: &str = "TOOL_COMPLETED";
const ENTITY: &str = "Option";
const KEY: (&str, &str) = ("option_id", "/content/result/option_id");
const PROPERTIES: &[(&str, &str)] = &[
    ("request_id", "/content/result/request_id"),
    ("label", "/content/result/option_label"),
    ("confidence", "/content/result/confidence"),
];
const PLAN: &str = r#"{
  "event_type": "TOOL_COMPLETED",
  "target_entity_name": "Option",
  "function_name": "extract_option",
  "key_field": {
    "property_name": "option_id",
    "source_path": [
      "content",
      "result",
      "option_id"
    ]
  },
  "property_fields": [
    {
      "property_name": "request_id",
      "source_path": [
        "content",
        "result",
        "request_id"
      ]
    },
    {
      "property_name": "label",
      "source_path": [
        "content",
        "result",
        "option_label"
      ]
    },
    {
      "property_name": "confidence",
      "source_path": [
        "content",
        "result",
        "confidence"
      ]
    }
  ],
  "span_handling": {}
}"#;

fn by_value(event: &[u8], out: &mut Vec<u8>) -> bool {
    super::by_value(event, out, EVENT_TYPE, ENTITY, KEY, PROPERTIES)
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    event_type: Cow<'a, str>,
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    span_id: Cow<'a, str>,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default)]
    result: Outcome<'a>,
}

#[derive(Default, Deserialize)]
struct Outcome<'a> {
    #[serde(borrow)]
    option_id: Option<Text<'a>>,
    #[serde(borrow)]
    request_id: Option<Text<'a>>,
    #[serde(borrow)]
    option_label: Option<Text<'a>>,
    confidence: Option<f64>,
}

fn by_type(event: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(event) = serde_json::from_slice::<Event<'_>>(event) else { return false };
    let result = &event.content.result;
    let Some(key) = result.option_id.as_deref().filter(|_| event.event_type == EVENT_TYPE) else {
        return write_empty(out);
    };
    let mut properties = vec![Property { name: KEY.0, value: Scalar::Text(Cow::Borrowed(key)) }];
    let texts = [&result.request_id, &result.option_label];
    for (value, (name, _)) in texts.into_iter().zip(PROPERTIES) {
        if let Some(value) = value {
            properties.push(Property { name, value: Scalar::Text(Cow::Borrowed(value)) });
        }
    }
    if let Some(value) = result.confidence {
        properties.push(Property { name: "confidence", value: Scalar::Float(value) });
    }
    write(out, &event.session_id, &event.span_id, ENTITY, (KEY.0, key), properties)
}
