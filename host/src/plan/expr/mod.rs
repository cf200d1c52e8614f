//! What plans and declared inputs have in common: paths, values, conversions and conditions.
//!
//! A plan says with these what a property's value is, and the section of a module what the host is to put into a slot. Both
//! have their own JSON for them: docs/plan.md and docs/abi.md say which.

mod condition;
pub(crate) mod conversion;
mod evaluate;
pub(crate) mod fuel;
pub(crate) mod query;
mod reference;
mod template;
mod value;

pub use condition::{Condition, JsonType, Test};
pub use conversion::Zone;
pub(crate) use conversion::{Chain, Conversion, Converted, Json};
pub(crate) use evaluate::{
    CompiledCondition, CompiledTest, CompiledValue, Evaluated, Found, Lookup, is_truthy,
};
pub(crate) use fuel::OutOfFuel;
pub(crate) use query::{CompiledQuery, Memory, QueryScope, SharedParts};
pub use query::{Query, QueryError, QueryFailure};
pub(crate) use reference::FIRST_OF;
pub use reference::{ForEach, Iteration, Level, Listed, Over, Reference};
pub use template::{Piece, Template, TemplateError};
pub use value::{Empty, Expression, OnDuplicate, OnError, Source};
