//! Values of expressions, as trees.

use crate::plan::expr::query::number::Number;
use crate::plan::oracle::json::{EventData, EventJson};

/// A value. A number is its JSON.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::plan::oracle) enum Tree {
    Null,
    Boolean(bool),
    Number(String),
    Text(String),
    Array(Vec<Tree>),
    /// Each key once.
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// As deep as an event nests.
    pub(super) fn of(json: &EventJson<'_>) -> Self {
        match &json.data {
            EventData::Null => Self::Null,
            EventData::Boolean(truth) => Self::Boolean(*truth),
            EventData::Number => Self::Number(json.text.to_string()),
            EventData::String(text) => Self::Text(text.clone()),
            EventData::Array(items) => {
                Self::Array(items.iter().map(|item| Self::of(item)).collect())
            }
            EventData::Object(fields) => Self::Object(
                fields.iter().map(|(key, value)| (key.clone(), Self::of(value))).collect(),
            ),
        }
    }

    /// What is known to be JSON.
    pub(super) fn read(json: &str) -> Self {
        EventJson::read(json.trim()).map_or(Self::Null, |json| Self::of(&json))
    }

    /// How many values it holds, itself counted.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::count).sum::<u64>(),
            Self::Object(members) => {
                1 + members.iter().map(|(_, value)| value.count()).sum::<u64>()
            }
            _ => 1,
        }
    }

    pub(super) fn number(number: Number) -> Self {
        Self::Number(number.to_json())
    }

    /// Of equal keys the last one counts, in the place of the first.
    pub(super) fn object(members: Vec<(String, Self)>) -> Self {
        let mut kept: Vec<(String, Self)> = Vec::new();
        for (key, value) in members {
            match kept.iter_mut().find(|(known, _)| *known == key) {
                Some((_, earlier)) => *earlier = value,
                None => kept.push((key, value)),
            }
        }
        Self::Object(kept)
    }

    pub(super) fn field(&self, key: &str) -> Self {
        let Self::Object(members) = self else { return Self::Null };
        let found = members.iter().find(|(name, _)| name == key);
        found.map_or(Self::Null, |(_, value)| value.clone())
    }

    pub(super) fn to_number(&self) -> Option<Number> {
        match self {
            Self::Number(json) => Number::read(json),
            _ => None,
        }
    }

    pub(in crate::plan::oracle) fn is_true(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(truth) => *truth,
            Self::Number(_) => true,
            Self::Text(text) => !text.is_empty(),
            Self::Array(items) => !items.is_empty(),
            Self::Object(members) => !members.is_empty(),
        }
    }

    pub(super) fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(_), Self::Number(_)) => self.to_number() == other.to_number(),
            (Self::Array(ones), Self::Array(others)) => {
                ones.len() == others.len()
                    && ones.iter().zip(others).all(|(one, other)| one.equals(other))
            }
            (Self::Object(ones), Self::Object(others)) => {
                ones.len() == others.len()
                    && ones.iter().all(|(key, one)| {
                        others.iter().any(|(name, other)| name == key && one.equals(other))
                    })
            }
            _ => self == other,
        }
    }

    pub(in crate::plan::oracle) fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Null => "null".to_owned(),
            Self::Boolean(truth) => truth.to_string(),
            Self::Number(json) => json.clone(),
            Self::Text(text) => quoted(text),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(Self::to_json).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let member =
                    |(key, value): &(String, Self)| format!("{}:{}", quoted(key), value.to_json());
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }
}
