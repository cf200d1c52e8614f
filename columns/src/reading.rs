//! Results as text that is borrowed: nothing of them is copied but what was escaped.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A result of the ABI's version 1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultText<'a> {
    #[serde(borrow)]
    pub(crate) nodes: Vec<NodeText<'a>>,
    #[serde(borrow)]
    pub(crate) edges: Vec<EdgeText<'a>>,
    #[serde(borrow, default)]
    pub(crate) fully_handled_span_ids: Vec<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) partially_handled_span_ids: Vec<Text<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeText<'a> {
    #[serde(borrow)]
    pub(crate) node_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) entity_name: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) labels: Vec<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) properties: Vec<PropertyText<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EdgeText<'a> {
    #[serde(borrow)]
    pub(crate) edge_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) relationship_name: Text<'a>,
    #[serde(borrow)]
    pub(crate) from_node_id: Text<'a>,
    #[serde(borrow)]
    pub(crate) to_node_id: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) properties: Vec<PropertyText<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PropertyText<'a> {
    #[serde(borrow)]
    pub(crate) name: Text<'a>,
    #[serde(borrow)]
    pub(crate) value: &'a RawValue,
}

/// A line of results, as `retort run` writes it.
#[derive(Debug, Deserialize)]
pub(crate) struct LineText<'a> {
    #[serde(borrow, default)]
    pub(crate) file: Option<Text<'a>>,
    pub(crate) line: i64,
    #[serde(borrow)]
    pub(crate) event_type: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) bundle: Option<Text<'a>>,
    #[serde(borrow, default)]
    pub(crate) bundles: Vec<Text<'a>>,
    #[serde(borrow)]
    pub(crate) result: ResultText<'a>,
    #[serde(borrow, default)]
    pub(crate) dropped: Vec<RejectText<'a>>,
}

/// A line of rejects, or a part of a result that was dropped.
#[derive(Debug, Deserialize)]
pub(crate) struct RejectText<'a> {
    #[serde(borrow, default)]
    pub(crate) file: Option<Text<'a>>,
    #[serde(default)]
    pub(crate) line: i64,
    #[serde(borrow)]
    pub(crate) code: Text<'a>,
    #[serde(borrow, default)]
    pub(crate) path: Option<Text<'a>>,
    #[serde(borrow)]
    pub(crate) message: Text<'a>,
}

/// A string, borrowed where it is written as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }

        deserializer.deserialize_str(TextVisitor)
    }
}
