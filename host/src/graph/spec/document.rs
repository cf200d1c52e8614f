//! The documents as they are written, before names are resolved.
//!
//! Fields that are [`Ignored`] are part of a form but mean nothing to Retort (tables, notes for
//! people, vocabulary of other tools); they are listed so that a misspelt field is an error rather
//! than one of them.

#![expect(dead_code, reason = "fields that are ignored are listed, and not read")]

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A field that may be there, whatever it holds.
type Ignored = Option<IgnoredAny>;

/// Which fields the root holds: enough to tell the forms apart.
#[derive(Deserialize)]
pub(super) struct Header {
    pub(super) graph: Option<IgnoredAny>,
    pub(super) binding: Option<IgnoredAny>,
    pub(super) entities: Option<IgnoredAny>,
}

/// The combined form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CombinedDocument {
    pub(super) graph: SpecDocument,
    version: Ignored,
}

/// The ontology form and the resolved form, and the content of the combined form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecDocument {
    #[serde(alias = "ontology")]
    pub(super) name: Option<String>,
    pub(super) property_types: Option<Vec<String>>,
    pub(super) entities: Option<Vec<EntityDeclaration>>,
    pub(super) relationships: Option<Vec<RelationshipDeclaration>>,
    version: Ignored,
    description: Ignored,
    node_id: Ignored,
    annotations: Ignored,
    synonyms: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntityDeclaration {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) extends: Option<String>,
    pub(super) keys: Option<DeclaredKeys>,
    pub(super) key_columns: Option<Vec<String>>,
    pub(super) properties: Option<Vec<PropertyDeclaration>>,
    pub(super) labels: Option<Vec<String>>,
    binding: Ignored,
    source: Ignored,
    annotations: Ignored,
    synonyms: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeclaredKeys {
    pub(super) primary: Option<Vec<String>>,
    alternate: Ignored,
    additional: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PropertyDeclaration {
    pub(super) name: Option<String>,
    pub(super) column: Option<String>,
    pub(super) logical_name: Option<String>,
    #[serde(rename = "type")]
    pub(super) ontology_type: Option<String>,
    pub(super) sdk_type: Option<String>,
    pub(super) description: Option<String>,
    annotations: Ignored,
    synonyms: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationshipDeclaration {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) extends: Option<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) from_entity: Option<String>,
    pub(super) to_entity: Option<String>,
    pub(super) from_columns: Option<Vec<ColumnDeclaration>>,
    pub(super) to_columns: Option<Vec<ColumnDeclaration>>,
    pub(super) properties: Option<Vec<PropertyDeclaration>>,
    pub(super) binding: Option<EdgeBinding>,
    source: Ignored,
    keys: Ignored,
    cardinality: Ignored,
    annotations: Ignored,
    synonyms: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EdgeBinding {
    pub(super) from_columns: Option<Vec<ColumnDeclaration>>,
    pub(super) to_columns: Option<Vec<ColumnDeclaration>>,
    source: Ignored,
}

/// A binding file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingDocument {
    binding: IgnoredAny,
    pub(super) ontology: String,
    pub(super) entities: Option<Vec<BoundEntity>>,
    pub(super) relationships: Option<Vec<BoundRelationship>>,
    target: Ignored,
    version: Ignored,
    description: Ignored,
    annotations: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoundEntity {
    pub(super) name: String,
    pub(super) properties: Option<Vec<BoundProperty>>,
    source: Ignored,
    annotations: Ignored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoundProperty {
    pub(super) name: String,
    pub(super) column: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoundRelationship {
    pub(super) name: String,
    pub(super) from_columns: Option<Vec<ColumnDeclaration>>,
    pub(super) to_columns: Option<Vec<ColumnDeclaration>>,
    pub(super) properties: Option<Vec<BoundProperty>>,
    source: Ignored,
    annotations: Ignored,
}

/// An endpoint column: `column`, or `{column: key}`.
pub(super) struct ColumnDeclaration {
    pub(super) column: String,
    pub(super) references: Option<String>,
}

impl<'de> Deserialize<'de> for ColumnDeclaration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ColumnVisitor)
    }
}

struct ColumnVisitor;

impl<'de> Visitor<'de> for ColumnVisitor {
    type Value = ColumnDeclaration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a column, or one `column: key` pair")
    }

    fn visit_str<E: Error>(self, column: &str) -> Result<Self::Value, E> {
        Ok(ColumnDeclaration { column: column.to_owned(), references: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Some((column, key)) = map.next_entry::<String, String>()? else {
            return Err(A::Error::custom("expected one `column: key` pair, found none"));
        };
        if map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            return Err(A::Error::custom("expected one `column: key` pair, found several"));
        }
        Ok(ColumnDeclaration { column, references: Some(key) })
    }
}
