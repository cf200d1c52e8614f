//! The JSON of an input and of an iteration, read.

use super::{Input, InputKind, Rows};
use crate::plan::expr::Iteration;
use crate::plan::language::{LocatedObject, LocatedValue, PathScope, section};

/// An input of a section; `None` where what is wrong was noted.
pub(in crate::abi) fn input(written: &LocatedValue<'_>) -> Option<Input> {
    let object = written.object(&section::INPUT)?;
    let written = object.alternative()?;
    let is_truthy = object.get("as").is_some_and(|it| it.value == "truthy");
    let what = match written.name() {
        "when" => InputKind::When(written.condition(PathScope::UNREAD)?),
        "path" if is_truthy => {
            object.exclusive("as", "on_error");
            InputKind::Truthy(object.reference(PathScope::UNREAD)?)
        }
        _ => InputKind::Value(object.expression(PathScope::UNREAD)),
    };
    let on_error = object.get("on_error").and_then(|it| it.word()).unwrap_or_default();
    Some(Input { what, rows: index(&object, "rows"), only_if: index(&object, "if"), on_error })
}

/// An iteration of a section; `None` where what is wrong was noted.
pub(in crate::abi) fn rows(written: &LocatedValue<'_>) -> Option<Rows> {
    let object = written.object(&section::ROWS)?;
    let list = object.list(PathScope::UNREAD, |path| path.segments());
    let condition = object.condition("where", PathScope::UNREAD);
    Some(Rows {
        iteration: Iteration { list: list?, condition },
        within: index(&object, "within"),
        only_if: index(&object, "if"),
    })
}

/// An index into a list of the section.
fn index(object: &LocatedObject<'_>, name: &str) -> Option<usize> {
    object.get(name).and_then(|written| whole_number(&written))
}

pub(in crate::abi) fn whole_number(written: &LocatedValue<'_>) -> Option<usize> {
    let number = written.value.as_u64().and_then(|number| usize::try_from(number).ok());
    if number.is_none() {
        written.wrong_type("a whole number");
    }
    number
}
