//! GitHub webhooks: the repository that an event came from.

use std::borrow::Cow;

use serde::Deserialize;

use super::{ByHand, Property, Scalar, Text, write, write_empty};

/// The plan and its hand-written twins.
pub const BY_HAND: ByHand = ByHand { event_type: EVENT_TYPE, plan: PLAN, by_value, by_type };

const EVENT_TYPE: &str = "github";
const ENTITY: &str = "Repository";
const KEY: (&str, &str) = ("repository_id", "/content/repository/id");
const PROPERTIES: &[(&str, &str)] = &[
    ("full_name", "/content/repository/full_name"),
    ("private", "/content/repository/private"),
    ("owner", "/content/repository/owner/login"),
    ("html_url", "/content/repository/html_url"),
    ("default_branch", "/content/repository/default_branch"),
    ("open_issues", "/content/repository/open_issues_count"),
    ("sender", "/content/sender/login"),
    ("action", "/content/action"),
];
const PLAN: &str = r#"{
  "event_type": "github",
  "target_entity_name": "Repository",
  "function_name": "extract_repository",
  "key_field": {
    "property_name": "repository_id",
    "source_path": [
      "content",
      "repository",
      "id"
    ]
  },
  "property_fields": [
    {
      "property_name": "full_name",
      "source_path": [
        "content",
        "repository",
        "full_name"
      ]
    },
    {
      "property_name": "private",
      "source_path": [
        "content",
        "repository",
        "private"
      ]
    },
    {
      "property_name": "owner",
      "source_path": [
        "content",
        "repository",
        "owner",
        "login"
      ]
    },
    {
      "property_name": "html_url",
      "source_path": [
        "content",
        "repository",
        "html_url"
      ]
    },
    {
      "property_name": "default_branch",
      "source_path": [
        "content",
        "repository",
        "default_branch"
      ]
    },
    {
      "property_name": "open_issues",
      "source_path": [
        "content",
        "repository",
        "open_issues_count"
      ]
    },
    {
      "property_name": "sender",
      "source_path": [
        "content",
        "sender",
        "login"
      ]
    },
    {
      "property_name": "action",
      "source_path": [
        "content",
        "action"
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
    #[serde(borrow)]
    repository: Option<Repository<'a>>,
    #[serde(borrow)]
    sender: Option<Account<'a>>,
    #[serde(borrow)]
    action: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Repository<'a> {
    id: i64,
    #[serde(borrow)]
    full_name: Option<Text<'a>>,
    private: Option<bool>,
    #[serde(borrow)]
    owner: Option<Account<'a>>,
    #[serde(borrow)]
    html_url: Option<Text<'a>>,
    #[serde(borrow)]
    default_branch: Option<Text<'a>>,
    open_issues_count: Option<i64>,
}

#[derive(Deserialize)]
struct Account<'a> {
    #[serde(borrow)]
    login: Option<Text<'a>>,
}

fn text<'a>(value: &'a Option<Text<'a>>) -> Option<Scalar<'a>> {
    value.as_deref().map(|value| Scalar::Text(Cow::Borrowed(value)))
}

fn login<'a>(account: &'a Option<Account<'a>>) -> Option<Scalar<'a>> {
    account.as_ref().and_then(|account| text(&account.login))
}

fn by_type(event: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(event) = serde_json::from_slice::<Event<'_>>(event) else { return false };
    let content = &event.content;
    let Some(repository) = content.repository.as_ref().filter(|_| event.event_type == EVENT_TYPE)
    else {
        return write_empty(out);
    };
    let values = [
        text(&repository.full_name),
        repository.private.map(Scalar::Boolean),
        login(&repository.owner),
        text(&repository.html_url),
        text(&repository.default_branch),
        repository.open_issues_count.map(Scalar::Integer),
        login(&content.sender),
        text(&content.action),
    ];
    let mut properties = vec![Property { name: KEY.0, value: Scalar::Integer(repository.id) }];
    for (value, (name, _)) in values.into_iter().zip(PROPERTIES) {
        properties.extend(value.map(|value| Property { name, value }));
    }
    write(
        out,
        &event.session_id,
        &event.span_id,
        ENTITY,
        (KEY.0, &repository.id.to_string()),
        properties,
    )
}
