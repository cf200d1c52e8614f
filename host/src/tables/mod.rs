//! Results as typed columns: the tables of graph specs, and what they are filled with.
//!
//! What doesn't ask for graph specs or streams is in the crate `retort-columns`. docs/columns.md says what the tables are.

mod event;
mod sink;

pub use self::event::EventRows;
pub use self::sink::{ColumnMaker, ColumnSink, SharedFiles};

use retort_columns::{
    Entity, EventsError, FaultKind, FilesError, Graph, Property, Relationship, Tables, TablesError,
    ValueType,
};

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::graph::{self, GraphSpec, PropertySpec, PropertyType};

/// The tables of the results that fit any of these specs.
///
/// ```
/// use std::sync::Arc;
/// use retort::GraphSpec;
/// use retort::columns::Rows;
///
/// let graph = GraphSpec::parse(
///     "entities:
/// - name: Order
///   keys: {primary: [order_id]}
///   properties:
///   - {name: order_id, type: string}
///   - {name: total, type: double}
/// ",
///     "shop.yaml",
/// )?;
/// let tables = retort::tables([&graph])?;
/// let names: Vec<_> = tables.list().iter().map(|table| table.name()).collect();
/// assert_eq!(names, ["Order", "retort_spans", "retort_rejects"]);
/// // Takes results, and gives record batches.
/// let rows = Rows::new(Arc::new(tables));
/// # assert!(rows.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TablesError`], where two specs mean different things by one name.
pub fn tables<'g>(specs: impl IntoIterator<Item = &'g GraphSpec>) -> Result<Tables, TablesError> {
    let mut known: Vec<&GraphSpec> = Vec::new();
    for spec in specs {
        // Bundles of one project have equal ones.
        if !known.contains(&spec) {
            known.push(spec);
        }
    }
    let graphs: Vec<Graph> = known.into_iter().map(graph).collect();
    Tables::new(&graphs)
}

/// A spec as tables are made of it.
fn graph(spec: &GraphSpec) -> Graph {
    let entity = |it: &graph::Entity| Entity {
        name: it.name.clone(),
        keys: it.key_columns.clone(),
        properties: it.properties.iter().map(property).collect(),
    };
    let relationship = |it: &graph::Relationship| Relationship {
        name: it.name.clone(),
        from_entity: it.from_entity.clone(),
        properties: it.properties.iter().map(property).collect(),
    };
    Graph {
        entities: spec.entities().iter().map(entity).collect(),
        relationships: spec.relationships().iter().map(relationship).collect(),
    }
}

fn property(spec: &PropertySpec) -> Property {
    let value_type = match &spec.property_type {
        PropertyType::String => ValueType::Text,
        PropertyType::Bytes => ValueType::Bytes,
        PropertyType::Int64 => ValueType::Integer,
        PropertyType::Double | PropertyType::Float64 => ValueType::Double,
        PropertyType::Boolean | PropertyType::Bool => ValueType::Boolean,
        PropertyType::Date => ValueType::Date,
        PropertyType::Timestamp => ValueType::Timestamp,
        PropertyType::Unsupported(_) => ValueType::Json,
    };
    Property { name: spec.logical_name.clone(), column: spec.column.clone(), value_type }
}

impl Coded for FilesError {
    fn entry(&self) -> Code {
        match self {
            Self::NotEmpty { .. } => codes::OUT_NOT_EMPTY,
            Self::Lost { .. } => codes::STATE_MISMATCH,
            Self::InUse { .. } => codes::STATE_IN_USE,
            _ => codes::FILE_NOT_WRITABLE,
        }
    }
}

impl Coded for EventsError {
    fn entry(&self) -> Code {
        match self {
            Self::Invalid(_) => codes::PARQUET_INVALID,
            Self::TooLarge { .. } => codes::PARQUET_TOO_LARGE,
            Self::NoColumn { .. } => codes::COLUMN_NOT_FOUND,
            Self::Unsupported { .. } => codes::COLUMN_UNSUPPORTED,
            _ => codes::FILE_NOT_READABLE,
        }
    }
}

impl Coded for TablesError {
    fn entry(&self) -> Code {
        codes::TABLES_CONFLICT
    }
}

/// The registered code of a fault.
#[must_use]
pub fn fault_code(kind: FaultKind) -> Code {
    match kind {
        FaultKind::UnknownEntity => codes::UNKNOWN_ENTITY,
        FaultKind::UnknownRelationship => codes::UNKNOWN_RELATIONSHIP,
        FaultKind::UnknownProperty => codes::UNKNOWN_PROPERTY,
        FaultKind::PropertyTwice => codes::PROPERTY_TWICE,
        FaultKind::MissingKey => codes::MISSING_KEY,
        FaultKind::EndpointLeftOut => codes::ENDPOINT_LEFT_OUT,
        FaultKind::TypeMismatch => codes::TYPE_MISMATCH,
        FaultKind::OutOfRange => codes::VALUE_OUT_OF_RANGE,
        FaultKind::Inexact => codes::VALUE_INEXACT,
        FaultKind::TooLarge => codes::ROWS_TOO_LARGE,
        _ => codes::RESULT_WRONG_SHAPE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_its_code() {
        for kind in FaultKind::ALL {
            assert_eq!(fault_code(kind).name, kind.code());
        }
    }
}
