//! The plan language as one table: for each kind of object its fields, and of each field what it holds, whether it is
//! required, what excludes it, and which other names get written for it.
//!
//! The parser checks objects against it, the [schema](super::schema()) is generated from it, and the repair of plans
//! looks up in it what a place should hold. Values and conditions are written in two dialects: that of plans, and that of a
//! module's section (docs/abi.md), which has its own tables in [`section`] and shares the reader and the writer.
//!
//! A new field is an entry of its kind in `table.rs`: with it, it is known, checked, in the schema (whose published text
//! `retort plan schema` writes) and known to repairs. What it means is read where the kind is (`parse/`, or `read.rs` for
//! values and conditions), kept in the model, and written in `normal.rs` (or `write.rs`).

mod dialect;
mod located;
mod read;
mod scope;
pub(crate) mod section;
mod table;
pub(crate) mod write;

pub(crate) use super::place::PlanPlace;
pub(crate) use dialect::Dialect;
pub(crate) use located::{LocatedObject, LocatedValue, ReadContext};
pub(crate) use scope::{PathScope, STARTS, start_level, start_word};
pub(crate) use table::{Alternative, Field, FieldRule, ObjectKind, Shape};
