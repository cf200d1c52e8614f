//! The properties of an entity or a relationship, found by name.

use std::collections::HashMap;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use super::PropertyType;

/// A property of an entity or a relationship.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PropertySpec {
    /// The name under which values are stored.
    pub column: String,
    /// The name in the ontology; the same as the column where there is no binding.
    pub logical_name: String,
    /// The type of its values.
    #[serde(rename = "sdk_type")]
    pub property_type: PropertyType,
    /// What it is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl PropertySpec {
    /// Whether a result or an id may use `name` for this property.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.logical_name == name || self.column == name
    }
}

/// Properties in their order, of which no two share a logical name or a column. A slice with an index: results choose how
/// many names are looked up, and specs among how many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    list: Vec<PropertySpec>,
    /// By what a name in a result means: a logical name first, else a column.
    by_name: HashMap<String, usize>,
    by_column: HashMap<String, usize>,
}

impl Properties {
    pub(super) fn new(list: Vec<PropertySpec>) -> Self {
        let places = || list.iter().enumerate();
        let by_column: HashMap<String, usize> =
            places().map(|(place, property)| (property.column.clone(), place)).collect();
        let mut by_name = by_column.clone();
        by_name.extend(places().map(|(place, property)| (property.logical_name.clone(), place)));
        Self { list, by_name, by_column }
    }

    /// The property that a name in a result means: a logical name first, else a column.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&PropertySpec> {
        self.by_name.get(name).and_then(|&place| self.list.get(place))
    }

    /// The property that is stored in a column.
    #[must_use]
    pub fn in_column(&self, column: &str) -> Option<&PropertySpec> {
        self.by_column.get(column).and_then(|&place| self.list.get(place))
    }
}

impl Deref for Properties {
    type Target = [PropertySpec];

    fn deref(&self) -> &[PropertySpec] {
        &self.list
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::spec::PropertyType;

    #[test]
    fn a_logical_name_comes_before_a_column_of_the_same_name() {
        let property = |logical_name: &str, column: &str| PropertySpec {
            column: column.to_owned(),
            logical_name: logical_name.to_owned(),
            property_type: PropertyType::String,
            description: None,
        };
        let properties = Properties::new(vec![property("a", "b"), property("b", "c")]);
        let logical = |found: Option<&PropertySpec>| found.map(|found| found.logical_name.clone());
        assert_eq!(logical(properties.named("a")).as_deref(), Some("a"));
        assert_eq!(logical(properties.named("b")).as_deref(), Some("b"));
        assert_eq!(logical(properties.named("c")).as_deref(), Some("b"));
        assert_eq!(logical(properties.in_column("b")).as_deref(), Some("a"));
        assert_eq!(logical(properties.in_column("a")), None);
    }
}
