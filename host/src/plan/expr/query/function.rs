//! The functions: what they are called, what they take, and what they give.

use crate::json::{JsonKind, JsonKinds};
use crate::plan::expr::JsonType;

/// What an argument has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Any,
    Number,
    String,
    Array,
    Object,
    ArrayOrString,
    Sized,
    Numbers,
    Strings,
    Arrays,
    Objects,
    /// Numbers, or strings.
    Sortable,
    /// `&expression`
    Expression,
    /// A string that is written out: what is made of it is made when the expression is read.
    Constant,
    /// The same of a number or a string.
    ConstantGroup,
    /// An object that is written out.
    Table,
    /// One of the units of time, written out.
    Unit,
}

impl Parameter {
    /// Whether it takes a value of a type; of an array, whatever its elements are.
    pub(crate) fn takes(self, kind: JsonType) -> bool {
        const fn only(kind: JsonType) -> u8 {
            1 << kind as u8
        }
        let kinds = match self {
            Self::Number => only(JsonType::Number),
            Self::String => only(JsonType::String),
            Self::Object => only(JsonType::Object),
            Self::Array
            | Self::Numbers
            | Self::Strings
            | Self::Arrays
            | Self::Objects
            | Self::Sortable => only(JsonType::Array),
            Self::ArrayOrString => only(JsonType::Array) | only(JsonType::String),
            Self::Sized => only(JsonType::Array) | only(JsonType::String) | only(JsonType::Object),
            Self::Any
            | Self::Expression
            | Self::Constant
            | Self::ConstantGroup
            | Self::Table
            | Self::Unit => u8::MAX,
        };
        kinds & only(kind) != 0
    }

    /// The types of which all elements of an array have to be one; none where they may be anything.
    pub(crate) fn elements(self) -> &'static [JsonType] {
        match self {
            Self::Numbers => &[JsonType::Number],
            Self::Strings => &[JsonType::String],
            Self::Arrays => &[JsonType::Array],
            Self::Objects => &[JsonType::Object],
            Self::Sortable => &[JsonType::Number, JsonType::String],
            _ => &[],
        }
    }

    /// In words.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
            Self::ArrayOrString => "an array or a string",
            Self::Sized => "a string, an array or an object",
            Self::Numbers => "an array of numbers",
            Self::Strings => "an array of strings",
            Self::Arrays => "an array of arrays",
            Self::Objects => "an array of objects",
            Self::Sortable => "an array of numbers, or of strings",
            Self::Expression => "an expression after &",
            Self::Constant => "a string that is written out",
            Self::ConstantGroup => "the number or the name of a group, written out",
            Self::Table => "an object that is written out, like {\"1\": 'one'}",
            Self::Unit => "one of 'ns', 'us', 'ms' and 's'",
        }
    }
}

/// Which function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FunctionName {
    Abs,
    Avg,
    Ceil,
    Contains,
    EndsWith,
    FindFirst,
    FindLast,
    Floor,
    FromItems,
    GroupBy,
    Items,
    Join,
    Keys,
    Length,
    Lower,
    Map,
    Max,
    MaxBy,
    Merge,
    Min,
    MinBy,
    NotNull,
    PadLeft,
    PadRight,
    Replace,
    Reverse,
    Sort,
    SortBy,
    Split,
    StartsWith,
    Sum,
    ToArray,
    ToNumber,
    ToString,
    Trim,
    TrimLeft,
    TrimRight,
    Type,
    Upper,
    Values,
    Zip,
    Date,
    Distinct,
    Duration,
    Epoch,
    FromEpoch,
    MapValue,
    ParseJson,
    Regex,
    Sha256,
    Timestamp,
    ToBoolean,
    ToDouble,
    ToInt64,
    ToJsonText,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) function: FunctionName,
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// How many of these may be left out, from the last one on.
    optional: usize,
    /// Whether the last one may be repeated.
    variadic: bool,
    /// What kinds of values it gives.
    gives: &'static [JsonKind],
}

impl Function {
    const fn new(
        function: FunctionName,
        name: &'static str,
        parameters: &'static [Parameter],
        gives: &'static [JsonKind],
    ) -> Self {
        Self { function, name, parameters, optional: 0, variadic: false, gives }
    }

    const fn optional(mut self, optional: usize) -> Self {
        self.optional = optional;
        self
    }

    const fn variadic(mut self) -> Self {
        self.variadic = true;
        self
    }

    /// The function of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        FUNCTIONS.iter().find(|function| function.name == name)
    }

    /// The names of all.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> + Clone {
        FUNCTIONS.iter().map(|function| function.name)
    }

    /// What the argument with this index has to be.
    pub(crate) fn parameter(&self, index: usize) -> Option<Parameter> {
        self.parameters.get(index).or(self.parameters.last()).copied()
    }

    /// Whether it takes so many arguments.
    pub(crate) fn takes(&self, arguments: usize) -> bool {
        let most = if self.variadic { usize::MAX } else { self.parameters.len() };
        (self.least()..=most).contains(&arguments)
    }

    fn least(&self) -> usize {
        self.parameters.len() - self.optional
    }

    /// How many arguments it takes, in words.
    pub(crate) fn arity(&self) -> String {
        let (least, most) = (self.least(), self.parameters.len());
        let several = if most == 1 { "argument" } else { "arguments" };
        if self.variadic {
            format!("at least {least} {several} of {}", self.name)
        } else if least == most {
            format!("{most} {several} of {}", self.name)
        } else {
            format!("{least} to {most} {several} of {}", self.name)
        }
    }

    /// What kinds of values it gives; all of them where that depends on its arguments.
    pub(crate) fn gives(&self) -> JsonKinds {
        let mut kinds = JsonKinds::default();
        self.gives.iter().for_each(|kind| kinds.insert(*kind));
        kinds
    }
}

const ANY: &[JsonKind] = &JsonKind::ALL;
const ARRAY: &[JsonKind] = &[JsonKind::Array];
const BOOLEAN: &[JsonKind] = &[JsonKind::Boolean];
const INTEGER: &[JsonKind] = &[JsonKind::Integer];
const NUMBER: &[JsonKind] = &[JsonKind::Integer, JsonKind::Number];
const OBJECT: &[JsonKind] = &[JsonKind::Object];
const STRING: &[JsonKind] = &[JsonKind::String];
const INTEGER_OR_NULL: &[JsonKind] = &[JsonKind::Integer, JsonKind::Null];
const NUMBER_OR_NULL: &[JsonKind] = &[JsonKind::Integer, JsonKind::Number, JsonKind::Null];
const STRING_OR_NULL: &[JsonKind] = &[JsonKind::String, JsonKind::Null];
const BOOLEAN_OR_NULL: &[JsonKind] = &[JsonKind::Boolean, JsonKind::Null];

use FunctionName as F;
use Parameter as P;

/// All functions: those of JMESPath in the order of the alphabet, then those of plans.
const FUNCTIONS: &[Function] = &[
    Function::new(F::Abs, "abs", &[P::Number], NUMBER),
    Function::new(F::Avg, "avg", &[P::Numbers], NUMBER_OR_NULL),
    Function::new(F::Ceil, "ceil", &[P::Number], NUMBER),
    Function::new(F::Contains, "contains", &[P::ArrayOrString, P::Any], BOOLEAN),
    Function::new(F::EndsWith, "ends_with", &[P::String, P::String], BOOLEAN),
    Function::new(
        F::FindFirst,
        "find_first",
        &[P::String, P::String, P::Number, P::Number],
        INTEGER_OR_NULL,
    )
    .optional(2),
    Function::new(
        F::FindLast,
        "find_last",
        &[P::String, P::String, P::Number, P::Number],
        INTEGER_OR_NULL,
    )
    .optional(2),
    Function::new(F::Floor, "floor", &[P::Number], NUMBER),
    Function::new(F::FromItems, "from_items", &[P::Arrays], OBJECT),
    Function::new(F::GroupBy, "group_by", &[P::Objects, P::Expression], OBJECT),
    Function::new(F::Items, "items", &[P::Object], ARRAY),
    Function::new(F::Join, "join", &[P::String, P::Strings], STRING),
    Function::new(F::Keys, "keys", &[P::Object], ARRAY),
    Function::new(F::Length, "length", &[P::Sized], INTEGER),
    Function::new(F::Lower, "lower", &[P::String], STRING),
    Function::new(F::Map, "map", &[P::Expression, P::Array], ARRAY),
    Function::new(F::Max, "max", &[P::Sortable], ANY),
    Function::new(F::MaxBy, "max_by", &[P::Array, P::Expression], ANY),
    Function::new(F::Merge, "merge", &[P::Object], OBJECT).variadic(),
    Function::new(F::Min, "min", &[P::Sortable], ANY),
    Function::new(F::MinBy, "min_by", &[P::Array, P::Expression], ANY),
    Function::new(F::NotNull, "not_null", &[P::Any], ANY).variadic(),
    Function::new(F::PadLeft, "pad_left", &[P::String, P::Number, P::String], STRING).optional(1),
    Function::new(F::PadRight, "pad_right", &[P::String, P::Number, P::String], STRING).optional(1),
    Function::new(F::Replace, "replace", &[P::String, P::String, P::String, P::Number], STRING)
        .optional(1),
    Function::new(F::Reverse, "reverse", &[P::ArrayOrString], &[JsonKind::Array, JsonKind::String]),
    Function::new(F::Sort, "sort", &[P::Sortable], ARRAY),
    Function::new(F::SortBy, "sort_by", &[P::Array, P::Expression], ARRAY),
    Function::new(F::Split, "split", &[P::String, P::String, P::Number], ARRAY).optional(1),
    Function::new(F::StartsWith, "starts_with", &[P::String, P::String], BOOLEAN),
    Function::new(F::Sum, "sum", &[P::Numbers], NUMBER),
    Function::new(F::ToArray, "to_array", &[P::Any], ARRAY),
    Function::new(F::ToNumber, "to_number", &[P::Any], NUMBER_OR_NULL),
    Function::new(F::ToString, "to_string", &[P::Any], STRING),
    Function::new(F::Trim, "trim", &[P::String, P::String], STRING).optional(1),
    Function::new(F::TrimLeft, "trim_left", &[P::String, P::String], STRING).optional(1),
    Function::new(F::TrimRight, "trim_right", &[P::String, P::String], STRING).optional(1),
    Function::new(F::Type, "type", &[P::Any], STRING),
    Function::new(F::Upper, "upper", &[P::String], STRING),
    Function::new(F::Values, "values", &[P::Object], ARRAY),
    Function::new(F::Zip, "zip", &[P::Array], ARRAY).variadic(),
    Function::new(F::Date, "date", &[P::Any], STRING_OR_NULL),
    Function::new(F::Distinct, "distinct", &[P::Array], ARRAY),
    Function::new(F::Duration, "duration", &[P::Any, P::Any, P::Unit], NUMBER_OR_NULL),
    Function::new(F::Epoch, "epoch", &[P::Any, P::Unit], NUMBER_OR_NULL),
    Function::new(F::FromEpoch, "from_epoch", &[P::Any, P::Unit], STRING_OR_NULL),
    Function::new(F::MapValue, "map_value", &[P::Any, P::Table], ANY),
    Function::new(F::ParseJson, "parse_json", &[P::Any], ANY),
    Function::new(F::Regex, "regex", &[P::Any, P::Constant, P::ConstantGroup], STRING_OR_NULL)
        .optional(1),
    Function::new(F::Sha256, "sha256", &[P::Any], STRING_OR_NULL),
    Function::new(F::Timestamp, "timestamp", &[P::Any], STRING_OR_NULL),
    Function::new(F::ToBoolean, "to_boolean", &[P::Any], BOOLEAN_OR_NULL),
    Function::new(F::ToDouble, "to_double", &[P::Any], NUMBER_OR_NULL),
    Function::new(F::ToInt64, "to_int64", &[P::Any], INTEGER_OR_NULL),
    Function::new(F::ToJsonText, "to_json_text", &[P::Any], STRING_OR_NULL),
];
