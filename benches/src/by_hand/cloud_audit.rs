//! Cloud audit: an API call.

use std::borrow::Cow;

use serde::Deserialize;

use super::{ByHand, Property, Scalar, Text, write, write_empty};

/// The plan and its hand-written twins.
pub const BY_HAND: ByHand = ByHand { event_type: EVENT_TYPE, plan: PLAN, by_value, by_type };

const EVENT_TYPE: &str = "AWS.CloudTrail";
const ENTITY: &str = "ApiCall";
const KEY: (&str, &str) = ("event_id", "/content/eventID");
const PROPERTIES: &[(&str, &str)] = &[
    ("name", "/content/eventName"),
    ("source", "/content/eventSource"),
    ("region", "/content/awsRegion"),
    ("at", "/content/eventTime"),
    ("actor", "/content/userIdentity/arn"),
    ("address", "/content/sourceIPAddress"),
    ("read_only", "/content/readOnly"),
];
const PLAN: &str = r#"{
  "event_type": "AWS.CloudTrail",
  "target_entity_name": "ApiCall",
  "function_name": "extract_call",
  "key_field": {
    "property_name": "event_id",
    "source_path": [
      "content",
      "eventID"
    ]
  },
  "property_fields": [
    {
      "property_name": "name",
      "source_path": [
        "content",
        "eventName"
      ]
    },
    {
      "property_name": "source",
      "source_path": [
        "content",
        "eventSource"
      ]
    },
    {
      "property_name": "region",
      "source_path": [
        "content",
        "awsRegion"
      ]
    },
    {
      "property_name": "at",
      "source_path": [
        "content",
        "eventTime"
      ]
    },
    {
      "property_name": "actor",
      "source_path": [
        "content",
        "userIdentity",
        "arn"
      ]
    },
    {
      "property_name": "address",
      "source_path": [
        "content",
        "sourceIPAddress"
      ]
    },
    {
      "property_name": "read_only",
      "source_path": [
        "content",
        "readOnly"
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
#[serde(rename_all = "camelCase")]
struct Content<'a> {
    #[serde(borrow, rename = "eventID")]
    event_id: Option<Text<'a>>,
    #[serde(borrow)]
    event_name: Option<Text<'a>>,
    #[serde(borrow)]
    event_source: Option<Text<'a>>,
    #[serde(borrow)]
    aws_region: Option<Text<'a>>,
    #[serde(borrow)]
    event_time: Option<Text<'a>>,
    #[serde(borrow)]
    user_identity: Option<Identity<'a>>,
    #[serde(borrow, rename = "sourceIPAddress")]
    source_ip_address: Option<Text<'a>>,
    read_only: Option<bool>,
}

#[derive(Deserialize)]
struct Identity<'a> {
    #[serde(borrow)]
    arn: Option<Text<'a>>,
}

fn by_type(event: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(event) = serde_json::from_slice::<Event<'_>>(event) else { return false };
    let content = &event.content;
    let Some(key) = content.event_id.as_deref().filter(|_| event.event_type == EVENT_TYPE) else {
        return write_empty(out);
    };
    let actor = content.user_identity.as_ref().and_then(|identity| identity.arn.as_deref());
    let texts = [
        content.event_name.as_deref(),
        content.event_source.as_deref(),
        content.aws_region.as_deref(),
        content.event_time.as_deref(),
        actor,
        content.source_ip_address.as_deref(),
    ];
    let mut properties = vec![Property { name: KEY.0, value: Scalar::Text(Cow::Borrowed(key)) }];
    for (value, (name, _)) in texts.into_iter().zip(PROPERTIES) {
        if let Some(value) = value {
            properties.push(Property { name, value: Scalar::Text(Cow::Borrowed(value)) });
        }
    }
    if let Some(value) = content.read_only {
        properties.push(Property { name: "read_only", value: Scalar::Boolean(value) });
    }
    write(out, &event.session_id, &event.span_id, ENTITY, (KEY.0, key), properties)
}
