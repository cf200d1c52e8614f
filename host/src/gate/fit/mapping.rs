//! The mappings of a plan, each with the property that it is for, and what their values are made of.

use serde_json::Value;

use crate::evidence::PathIndex;
use crate::evidence::similarity::spelling;
use crate::gate::fit::suggest::Sought;
use crate::graph::spec::{Properties, PropertySpec, PropertyType};
use crate::plan::FieldMapping;
use crate::plan::expr::{Conversion, Expression, ForEach, Reference, Source};

/// A mapping of the plan, with the property that it is for.
pub(super) struct Mapping<'a> {
    /// Pointer into the plan.
    pub(super) at: String,
    pub(super) field: &'a FieldMapping,
    /// The property of that name.
    pub(super) property: Option<&'a PropertySpec>,
    pub(super) is_key: bool,
    pub(super) for_each: Option<&'a ForEach>,
}

impl<'a> Mapping<'a> {
    /// Those of a list, for some of these properties.
    pub(super) fn all(
        fields: &'a [FieldMapping],
        properties: &'a Properties,
        is_key: bool,
        for_each: Option<&'a ForEach>,
        at: impl Fn(usize) -> String,
    ) -> Vec<Self> {
        let mapping = |(place, field): (usize, &'a FieldMapping)| {
            let property = properties.named(field.property_name());
            Self { at: at(place), field, property, is_key, for_each }
        };
        fields.iter().enumerate().map(mapping).collect()
    }

    pub(super) fn name(&self) -> &'a str {
        self.field.property_name()
    }

    /// Whether it is for this property.
    pub(super) fn is_of(&self, property: &PropertySpec) -> bool {
        self.property.is_some_and(|it| std::ptr::eq(it, property))
    }

    /// The path, where the value is what is there, as it is.
    pub(super) fn plain(&self) -> Option<&'a Reference> {
        self.field.reference().filter(|_| self.field.value().convert.is_empty())
    }

    /// Its keys; none where the value is something else.
    pub(super) fn path(&self) -> &'a [String] {
        self.plain().map_or(&[], |reference| &reference.path)
    }

    pub(super) fn property_type(&self) -> Option<&'a PropertyType> {
        self.property.map(|property| &property.property_type)
    }

    /// What is looked for in the place of a path.
    pub(super) fn sought<'s>(&'s self, given: &'s [String]) -> Sought<'s> {
        let name = self.property.map_or(self.name(), |it| &it.logical_name);
        let property_type = self.property_type();
        Sought { given, name: Some(name), property_type, is_key: self.is_key }
    }

    /// Whether the path ends in the property's name, or in its column's.
    pub(super) fn reads_its_name(&self, path: &[String]) -> bool {
        spelling::ends_in(path, self.name())
            || self.property.is_some_and(|it| {
                spelling::ends_in(path, &it.column) || spelling::ends_in(path, &it.logical_name)
            })
    }

    /// Whether it reads a path as it is, with which nothing is wrong by itself, as far as is known.
    pub(super) fn is_sound(&self, known: &PathIndex<'_>) -> bool {
        self.property.is_some()
            && self.plain().is_some()
            && known.admits_path(self.path())
            && !known.contradicts(self.path(), self.property_type())
    }

    /// The mapping as it is `written` in its plan, for another property, as one of a key or not.
    pub(super) fn written_for(&self, name: &str, is_key: bool, written: &Value) -> Value {
        let mut mapping = written.pointer(&self.at).cloned().unwrap_or_default();
        if let Value::Object(fields) = &mut mapping {
            fields.insert("property_name".to_owned(), Value::from(name));
            if is_key {
                fields.remove("nulls");
            }
        }
        mapping
    }

    /// The values of which it may be: itself, or each alternative.
    pub(super) fn leaves(&self) -> Vec<Leaf<'a>> {
        let mut leaves = Vec::new();
        add(&mut leaves, self.at.clone(), self.field.value(), &[]);
        let is_alternative = leaves.len() > 1;
        leaves.iter_mut().for_each(|leaf| leaf.is_alternative = is_alternative);
        leaves
    }
}

/// A value that a mapping may take.
pub(super) struct Leaf<'a> {
    /// Pointer to the object that says where it comes from.
    pub(super) at: String,
    pub(super) source: &'a Source,
    /// Its own conversions.
    pub(super) own: &'a [Conversion],
    /// Those of the values around it, which come after.
    pub(super) after: Vec<Conversion>,
    /// Whether it is one of several: another may be there where this one isn't.
    pub(super) is_alternative: bool,
}

impl Leaf<'_> {
    /// All conversions, in their order, with others in the place of its own.
    pub(super) fn chain(&self, own: &[Conversion]) -> Vec<Conversion> {
        own.iter().chain(&self.after).cloned().collect()
    }

    pub(super) fn is_converted(&self) -> bool {
        !self.own.is_empty() || !self.after.is_empty()
    }
}

/// Values nest as deep as the plan's reader lets them.
fn add<'a>(leaves: &mut Vec<Leaf<'a>>, at: String, value: &'a Expression, after: &[Conversion]) {
    let Source::Coalesce(values) = &value.source else {
        let (source, own) = (&value.source, value.convert.as_slice());
        let after = after.to_vec();
        leaves.push(Leaf { at, source, own, after, is_alternative: false });
        return;
    };
    let after: Vec<Conversion> = value.convert.iter().chain(after).cloned().collect();
    for (index, value) in values.iter().enumerate() {
        add(leaves, format!("{at}/coalesce/{index}"), value, &after);
    }
}
