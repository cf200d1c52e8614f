//! The JSON of an input, written: every key in the order of docs/abi.md, what is at its default left out.

use serde::{Serialize, Serializer};

use super::{Input, InputKind, Rows};
use crate::plan::expr::{Expression, Level, Source};
use crate::plan::language::Dialect;
use crate::plan::language::write::Members;

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let section = Dialect::Section;
        let what = match &self.what {
            InputKind::Value(value) => section
                .write_value(value, Level::EVENT)
                .with_some("as", is_plain(value).then_some("json")),
            InputKind::Truthy(reference) => {
                section.write_reference(reference, Level::EVENT).with("as", "truthy")
            }
            InputKind::When(condition) => {
                Members::new().with("when", section.write_condition(condition, Level::EVENT))
            }
        };
        what.with_some("rows", self.rows)
            .with_some("if", self.only_if)
            .with_some("on_error", (!self.on_error.is_omit()).then_some("reject"))
            .serialize(serializer)
    }
}

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let condition = self.iteration.condition.as_ref();
        Dialect::Section
            .write_list(&self.iteration)
            .with_some("within", self.within)
            .with_some("if", self.only_if)
            .with_some(
                "where",
                condition.map(|it| Dialect::Section.write_condition(it, Level::EVENT)),
            )
            .serialize(serializer)
    }
}

/// Whether it is what is at a path, as it is.
fn is_plain(value: &Expression) -> bool {
    matches!(value.source, Source::Path(_)) && value.convert.is_empty()
}
