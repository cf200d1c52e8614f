//! Results of extractors as typed columns.
//!
//! [`Tables`] are made of a [`Graph`]: a table for each entity and for each relationship, one of claims on spans and one of what was
//! rejected. [`Rows`] takes results, the JSON of docs/abi.md as it was checked, and gives Arrow record batches; no tree of JSON is
//! made in between. docs/columns.md says what tables and columns are called and what is in them.
//!
//! ```
//! use std::sync::Arc;
//! use retort_columns::{Entity, EventOrigin, Graph, Property, Rows, Tables, ValueType};
//!
//! let property = |name: &str, value_type| Property { name: name.into(), column: name.into(), value_type };
//! let order = Entity {
//!     name: "Order".into(),
//!     keys: vec!["order_id".into()],
//!     properties: vec![property("order_id", ValueType::Text), property("items", ValueType::Integer)],
//! };
//! let tables = Arc::new(Tables::new([&Graph { entities: vec![order], relationships: vec![] }])?);
//! let mut rows = Rows::new(tables);
//! let origin = EventOrigin { input: None, line: 1, event_type: "order_placed", bundle: "3f0c" };
//! let added = rows.add(&origin, br#"{"nodes": [{"node_id": "s1:Order:order_id=A-7", "entity_name": "Order", "labels": ["Order"],
//!     "properties": [{"name": "order_id", "value": "A-7"}, {"name": "items", "value": 3}]}], "edges": [],
//!     "fully_handled_span_ids": [], "partially_handled_span_ids": []}"#);
//! assert!(added.faults.is_empty());
//! let batches = rows.take()?;
//! let (table, orders) = &batches[0];
//! assert_eq!((*table, orders.num_rows(), orders.schema().field(2).name().as_str()), (0, 1, "items"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adding;
mod builder;
mod ddl;
mod events;
mod fault;
mod files;
mod graph;
mod names;
mod reading;
mod rows;
mod session;
mod tables;
mod value;

pub use arrow_array;
pub use arrow_ipc;
pub use arrow_schema;
pub use parquet;

pub use ddl::Dialect;
pub use events::{EventTexts, EventsError, ParquetEvents, is_parquet};
pub use fault::{Fault, FaultCounts, FaultKind};
pub use files::{FileFormat, FileMark, FileOptions, FileSet, FilesError, RowStream};
pub use graph::{Entity, Graph, Property, Relationship, ValueType};
pub use rows::{Added, EventOrigin, Rejected, Rows};
pub use tables::{Column, ColumnType, REJECTS, SPANS, Table, TableKind, Tables, TablesError};
