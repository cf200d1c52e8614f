//! The normalised form of a plan: every field in one order.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::model::{FieldMapping, Nulls, Plan, SpanRule};

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("event_type", self.event_type())?;
        map.serialize_entry("target_entity_name", self.target_entity_name())?;
        map.serialize_entry("function_name", &self.function_name)?;
        map.serialize_entry("key_field", self.key_field())?;
        map.serialize_entry("property_fields", self.property_fields())?;
        map.serialize_entry("session_id_path", &self.session_id_path)?;
        map.serialize_entry("span_handling", &self.span_handling())?;
        map.end()
    }
}

impl Serialize for FieldMapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("property_name", &self.property_name)?;
        map.serialize_entry("source_path", self.source_path())?;
        if self.nulls != Nulls::Omit {
            map.serialize_entry("nulls", &self.nulls)?;
        }
        map.end()
    }
}

impl Serialize for SpanRule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("span_id_path", self.span_id_path())?;
        map.serialize_entry("partial_when_path", &self.partial_when_path())?;
        map.end()
    }
}
