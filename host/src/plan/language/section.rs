//! The dialect of a module's section: what docs/abi.md says of inputs and rows, whose values and conditions are those of
//! plans under other names. How long lists may be and how deep things nest is checked once a section is read.

use FieldRule::{Beside, OneOf};
use Shape::{Chain, Object, Objects, Path, Paths, Section};

use super::table::{
    ALL, ANY, CONSTANT, EMPTY, EQUALS, EXISTS, Field, FieldRule, IS_TYPE, NOT, ON_DUPLICATE,
    ON_ERROR, ONE_OF, ObjectKind, ObjectTable, STARTS_WITH, Shape, TIME_ZONE, TRUTHY, alone, with,
};

use crate::plan::expr::Iteration;

const ANY_NUMBER: usize = usize::MAX;

const PATH: Field = Field::new("path", Path);
const LEVEL: Field = Field::new("level", Section);
const TEMPLATE: Field = Field::new("template", Section);
const COALESCE: Field = Field::new("coalesce", Objects(ObjectKind::Choice));
const EXPRESSION: Field = Field::new("expression", Section);
const AS: Field = Field::new("as", Chain).entries(1, ANY_NUMBER);
const IF: Field = Field::new("if", Section);

/// A section as a whole.
pub(crate) static SECTION: ObjectTable = ObjectTable::new(
    "section",
    &[
        Field::new("abi", Section).required(),
        Field::new("function", Section).required(),
        Field::new("event_types", Section).required(),
        Field::new("inputs", Section).required(),
        Field::new("rows", Section),
        ON_DUPLICATE,
        EMPTY,
        TIME_ZONE,
    ],
    &[],
);

/// An input.
pub(crate) static INPUT: ObjectTable = ObjectTable::new(
    "input",
    &[
        PATH,
        TEMPLATE,
        COALESCE,
        CONSTANT,
        EXPRESSION,
        Field::new("when", Object(ObjectKind::Condition)),
        LEVEL,
        AS,
        Field::new("rows", Section),
        IF,
        ON_ERROR,
    ],
    &[
        OneOf(&[
            alone("path"),
            alone("template"),
            alone("coalesce"),
            alone("constant"),
            alone("expression"),
            alone("when"),
        ]),
        Beside("level", &["path"]),
        Beside("as", SOURCES),
        Beside("on_error", SOURCES),
    ],
);

const SOURCES: &[&str] = &["path", "template", "coalesce", "constant", "expression"];

/// A value of a `coalesce`.
pub(super) static VALUE: ObjectTable = ObjectTable::new(
    "value",
    &[PATH, TEMPLATE, COALESCE, CONSTANT, EXPRESSION, LEVEL, AS],
    &[
        OneOf(&[
            alone("path"),
            alone("template"),
            alone("coalesce"),
            alone("constant"),
            alone("expression"),
        ]),
        Beside("level", &["path"]),
    ],
);

/// An expression.
pub(super) static QUERY: ObjectTable =
    ObjectTable::new("expression", &[Field::new("text", Section).required(), LEVEL], &[]);

/// A piece of a template that isn't text.
pub(super) static PIECE: ObjectTable =
    ObjectTable::new("piece", &[PATH, LEVEL], &[OneOf(&[alone("path")])]);

pub(super) static CONDITION: ObjectTable = ObjectTable::new(
    "condition",
    &[
        PATH,
        LEVEL,
        EXISTS,
        TRUTHY,
        EQUALS,
        ONE_OF.entries(1, ANY_NUMBER),
        STARTS_WITH,
        IS_TYPE,
        ALL.entries(1, ANY_NUMBER),
        ANY.entries(1, ANY_NUMBER),
        NOT,
        EXPRESSION,
    ],
    &[
        OneOf(&[
            with("exists", "path"),
            with("truthy", "path"),
            with("equals", "path"),
            with("one_of", "path"),
            with("starts_with", "path"),
            with("is_type", "path"),
            alone("all"),
            alone("any"),
            alone("not"),
            alone("expression"),
        ]),
        Beside("level", &["path"]),
    ],
);

/// An iteration.
pub(crate) static ROWS: ObjectTable = ObjectTable::new(
    "rows",
    &[
        Field::new("array", Path),
        Field::new("entries", Path),
        Field::new("first_of", Paths).entries(2, Iteration::MAX_PATHS),
        EXPRESSION,
        Field::new("within", Section),
        IF,
        Field::new("where", Object(ObjectKind::Condition)),
    ],
    &[OneOf(&[alone("array"), alone("entries"), alone("first_of"), alone("expression")])],
);
