//! An expression in the form in which it is evaluated: what it reads are numbered inputs, and nothing else is in reach.
//!
//! A chain of fields from where an expression stands, from the event or from an element around it is one input, also through the
//! variables of `let`. Where a chain ends (at a bracket, a function, a bare `@`) all of what is there is read.

use std::collections::BTreeMap;

use super::function::{Function, FunctionName, Parameter};
use super::keyed::KeyTest;
use super::shared::SharedPart;
use super::tree::{Comparison, Operation, Slice};
use super::value::{LITERALS, Part, Val};
use crate::json::tape::{Doc, Tape};
use crate::json::{JsonKind, JsonKinds, WantedKey};
use crate::plan::expr::{Conversion, JsonType, Level, Reference, Zone};

/// A part of an expression, made ready.
// Which one it is has a byte of its own: in what a field leaves unused, it takes ten instructions to find out.
#[repr(u8)]
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// What is at the reference with this number.
    Input(usize),
    /// The current value.
    Current,
    /// JSON, and what it is among the literals of the program.
    Literal(String, Val),
    Variable(usize),
    /// A variable that nobody binds, at an offset.
    Undefined(usize),
    /// The values under these keys, one inside the other.
    Fields(Box<Op>, Vec<WantedKey>),
    /// The second one of what the first one gives, null where that is.
    Then(Box<Op>, Box<Op>),
    /// The same, of null as well.
    Pipe(Box<Op>, Box<Op>),
    Index(Box<Op>, i64),
    /// The first element of the list that a filter or a projection gives, none of whose parts can fail: what comes after it isn't looked
    /// at.
    First(Box<Op>),
    Slice(Box<Op>, Slice),
    Flatten(Box<Op>),
    /// The second one of each element; where that is the element itself there is none. Last, whether the list may be a string.
    Project(Box<Op>, Option<Box<Op>>, bool),
    ProjectValues(Box<Op>, Option<Box<Op>>),
    /// The list, the condition, what is made of those that fulfil it. Last, what the condition is where all that it does is to
    /// compare a key.
    Filter(Box<Op>, Box<Op>, Option<Box<Op>>, Option<KeyTest>),
    Or(Box<Op>, Box<Op>),
    And(Box<Op>, Box<Op>),
    Not(Box<Op>),
    Compare(Comparison, Box<Op>, Box<Op>),
    /// Whether its value is of a type, or is not.
    IsType(Box<Op>, JsonType, bool),
    Arithmetic(Operation, Box<Op>, Box<Op>, usize),
    Negate(Box<Op>, usize),
    Plus(Box<Op>, usize),
    Choose(Box<Op>, Box<Op>, Box<Op>),
    List(Vec<Op>),
    /// Keys, each with its place among the literals.
    Object(Vec<((String, Val), Op)>),
    Call(Box<Call>),
    /// A part whose value is kept, for the next one that asks for it.
    Shared(SharedPart, Box<Op>),
    /// Variables by number, and what they are known in.
    Let(Vec<(usize, Op)>, Box<Op>),
}

/// A call of a function.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) function: &'static Function,
    /// Those that are values, with what each has to be.
    pub(crate) arguments: Vec<(Op, Parameter)>,
    pub(crate) extra: Extra,
    /// Where the name is.
    pub(crate) at: usize,
}

/// What a function has beside values.
#[derive(Clone, Debug)]
pub(crate) enum Extra {
    None,
    /// What it evaluates for each element.
    Expression(Op),
    /// The step of `convert` that it is.
    Conversion(Conversion),
    /// JSON for each key, as literals have it.
    Table(BTreeMap<String, (String, Val)>),
    Unit(Unit),
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    Seconds,
}

impl Unit {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ns" => Self::Nanoseconds,
            "us" => Self::Microseconds,
            "ms" => Self::Milliseconds,
            "s" => Self::Seconds,
            _ => return None,
        })
    }

    pub(crate) fn nanoseconds(self) -> i64 {
        10_i64.pow(self.places())
    }

    /// The decimal places of one that a nanosecond is.
    pub(crate) fn places(self) -> u32 {
        match self {
            Self::Nanoseconds => 0,
            Self::Microseconds => 3,
            Self::Milliseconds => 6,
            Self::Seconds => 9,
        }
    }
}

/// What is written out in an expression, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Literals {
    text: String,
    tape: Tape,
}

impl Literals {
    pub(super) fn doc(&self) -> Doc<'_> {
        Doc { text: &self.text, tape: &self.tape }
    }

    /// A string.
    pub(super) fn text(&mut self, text: &str) -> Val {
        Val::text(self.part(text))
    }

    fn part(&mut self, text: &str) -> Part {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        // Expressions are shorter than that.
        Part { document: LITERALS, start, end: self.text.len() as u32 }
    }

    /// Valid JSON without white space around it.
    pub(super) fn json(&mut self, json: &str) -> Val {
        match JsonType::of(json.as_bytes()) {
            JsonType::Null => Val::NULL,
            JsonType::Boolean => Val::boolean(json == "true"),
            JsonType::Number => match json.parse::<i32>() {
                // One that is written otherwise stays as it is written.
                Ok(small) if small.to_string() == json => Val::small(small),
                _ => Val::digits(self.part(json)),
            },
            JsonType::String => match serde_json::from_str::<String>(json) {
                Ok(text) => self.text(&text),
                Err(_) => Val::NULL,
            },
            JsonType::Array | JsonType::Object => {
                let (start, index) = (self.text.len(), self.tape.next_index());
                self.text.push_str(json);
                let is_object = json.starts_with('{');
                // It was read as JSON before.
                match self.tape.read(self.text.as_bytes(), start, 0) {
                    Ok(_) => Val::taped(LITERALS, index, is_object),
                    Err(_) => Val::NULL,
                }
            }
        }
    }
}

/// An expression made ready, and what it reads.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) op: Op,
    /// What the inputs are, by number.
    pub(super) inputs: Vec<Reference>,
    /// Whether of each of them an object or an array is taken apart.
    pub(super) taken_apart: Vec<bool>,
    /// The keys that it reads, as they are written.
    pub(super) keys: Vec<KeyRead>,
    /// Where the elements are from, if it gives an array: what the path to them starts from, and the steps.
    pub(super) elements: Option<(Level, Vec<Step>)>,
    /// What is written out in it.
    pub(super) literals: Literals,
    /// How many variables there are.
    pub(super) variables: usize,
    /// In which times without an offset are read.
    pub(super) zone: Option<Zone>,
}

/// A key as an expression reads it: of what it is a key, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRead {
    /// What the path to it starts from, and what is before it there.
    pub(crate) level: Level,
    /// The steps to it, the last of which is its name.
    pub(crate) steps: Vec<Step>,
    /// Where it is written, in bytes.
    pub(crate) at: usize,
    pub(crate) end: usize,
}

/// A step of a path that may lead through arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    /// Any element.
    Each,
    /// Any element if it is an array, and itself if it isn't.
    Flat,
}

impl Op {
    /// The kinds of values that it can give, as far as that is known.
    pub(super) fn gives(&self) -> JsonKinds {
        let of = |kinds: &[JsonKind]| kinds.iter().copied().collect::<JsonKinds>();
        match self {
            Self::Literal(json, _) => serde_json::from_str(json)
                .map_or(of(&JsonKind::ALL), |json| of(&[JsonKind::of(&json)])),
            Self::Flatten(_)
            | Self::ProjectValues(..)
            | Self::Filter(..)
            | Self::Project(_, _, false) => of(&[JsonKind::Array, JsonKind::Null]),
            Self::Not(_) | Self::IsType(..) => of(&[JsonKind::Boolean]),
            Self::Compare(Comparison::Equal | Comparison::NotEqual, ..) => of(&[JsonKind::Boolean]),
            Self::Compare(..) => of(&[JsonKind::Boolean, JsonKind::Null]),
            Self::Arithmetic(..) | Self::Negate(..) | Self::Plus(..) => {
                of(&[JsonKind::Integer, JsonKind::Number])
            }
            Self::List(_) => of(&[JsonKind::Array]),
            Self::Object(_) => of(&[JsonKind::Object]),
            Self::Or(left, right) | Self::And(left, right) => left.gives().union(right.gives()),
            Self::Choose(_, then, otherwise) => then.gives().union(otherwise.gives()),
            Self::Then(_, right) => right.gives().union(of(&[JsonKind::Null])),
            Self::Pipe(_, right) => right.gives(),
            Self::Shared(_, part) => part.gives(),
            Self::Let(_, body) => body.gives(),
            Self::Call(call) => call.function.gives(),
            Self::Input(_)
            | Self::Current
            | Self::Variable(_)
            | Self::Undefined(_)
            | Self::Fields(..)
            | Self::Index(..)
            | Self::First(_)
            | Self::Slice(..)
            | Self::Project(_, _, true) => of(&JsonKind::ALL),
        }
    }

    /// Notes the inputs of which objects and arrays are taken apart; `taken` says whether what this gives is.
    pub(super) fn take_apart(&self, taken: bool, inputs: &mut [bool]) {
        match self {
            Self::Input(number) => {
                if let Some(input) = inputs.get_mut(*number) {
                    *input |= taken;
                }
            }
            Self::Current | Self::Literal(..) | Self::Variable(_) | Self::Undefined(_) => {}
            Self::Fields(of, _)
            | Self::Index(of, _)
            | Self::First(of)
            | Self::Slice(of, _)
            | Self::Flatten(of)
            | Self::Project(of, None, _)
            | Self::ProjectValues(of, None) => of.take_apart(true, inputs),
            Self::Project(of, Some(each), _)
            | Self::ProjectValues(of, Some(each))
            | Self::Then(of, each)
            | Self::Pipe(of, each) => {
                of.take_apart(true, inputs);
                each.take_apart(taken, inputs);
            }
            Self::Filter(of, condition, each, _) => {
                of.take_apart(true, inputs);
                condition.take_apart(false, inputs);
                if let Some(each) = each {
                    each.take_apart(taken, inputs);
                }
            }
            Self::Or(left, right) | Self::And(left, right) => {
                left.take_apart(taken, inputs);
                right.take_apart(taken, inputs);
            }
            Self::Shared(_, part) => part.take_apart(taken, inputs),
            Self::IsType(of, ..) | Self::Not(of) | Self::Negate(of, _) | Self::Plus(of, _) => {
                of.take_apart(false, inputs);
            }
            Self::Compare(_, left, right) => {
                let is_scalar = |op: &Self| matches!(op, Self::Literal(json, _) if !json.starts_with(['{', '[']));
                left.take_apart(!is_scalar(right), inputs);
                right.take_apart(!is_scalar(left), inputs);
            }
            Self::Arithmetic(_, left, right, _) => {
                left.take_apart(false, inputs);
                right.take_apart(false, inputs);
            }
            Self::Choose(condition, then, otherwise) => {
                condition.take_apart(false, inputs);
                then.take_apart(taken, inputs);
                otherwise.take_apart(taken, inputs);
            }
            Self::List(items) => items.iter().for_each(|item| item.take_apart(true, inputs)),
            Self::Object(members) => {
                members.iter().for_each(|(_, value)| value.take_apart(true, inputs));
            }
            Self::Call(call) => {
                for (argument, parameter) in &call.arguments {
                    let takes = match parameter {
                        Parameter::Number | Parameter::String => false,
                        // Of what they take, conversions of time and number take no object.
                        Parameter::Any => !matches!(
                            call.function.function,
                            FunctionName::Date
                                | FunctionName::Duration
                                | FunctionName::Epoch
                                | FunctionName::FromEpoch
                                | FunctionName::Regex
                                | FunctionName::Sha256
                                | FunctionName::Timestamp
                                | FunctionName::ToBoolean
                                | FunctionName::ToDouble
                                | FunctionName::ToInt64
                                | FunctionName::ToNumber
                                | FunctionName::MapValue
                        ),
                        _ => true,
                    };
                    argument.take_apart(takes, inputs);
                }
                if let Extra::Expression(by) = &call.extra {
                    by.take_apart(true, inputs);
                }
            }
            Self::Let(bindings, body) => {
                bindings.iter().for_each(|(_, value)| value.take_apart(true, inputs));
                body.take_apart(taken, inputs);
            }
        }
    }
}
