//! From the tree of an expression to its program: what it reads is found, and numbered.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::error::Mistake;
use super::function::{Function, FunctionName, Parameter};
use super::keyed::KeyTest;
use super::number::Number;
use super::program::{Call, Extra, KeyRead, Literals, Op, Program, Step, Unit};
use super::tree::{Node, NodeKind, Operation};
use crate::diagnostics::codes;
use crate::diagnostics::nearest::nearest;
use crate::diagnostics::untrusted::quoted;
use crate::json::WantedKey;
use crate::plan::expr::conversion::PatternBudget;
use crate::plan::expr::{Conversion, Level, Reference, Zone};

/// Makes an expression ready that stands where `innermost` is the current value.
pub(super) fn compile(
    node: &Node,
    innermost: Level,
    strict: bool,
    zone: Option<&Zone>,
    patterns: &mut PatternBudget,
) -> Result<Program, Mistake> {
    let mut compiler = Compiler {
        innermost,
        strict,
        zone,
        patterns,
        inputs: IndexSet::new(),
        keys: Vec::new(),
        literals: Literals::default(),
        scope: Vec::new(),
        variables: 0,
    };
    let here = Here::Path(Reference { path: Vec::new(), level: innermost });
    let part = compiler.part(node, &here)?;
    let (op, origin) = compiler.value(part);
    let elements = match origin.element() {
        Origin::At(level, steps) => Some((level, steps)),
        Origin::Unknown | Origin::ListOf(..) => None,
    };
    let Compiler { inputs, keys, literals, variables, .. } = compiler;
    let inputs: Vec<Reference> = inputs.into_iter().collect();
    let mut taken_apart = vec![false; inputs.len()];
    op.take_apart(false, &mut taken_apart);
    let zone = zone.cloned();
    Ok(Program { op, inputs, taken_apart, keys, elements, literals, variables, zone })
}

struct Compiler<'p> {
    innermost: Level,
    /// Whether a variable that nobody binds is a mistake, and not only where it is evaluated.
    strict: bool,
    zone: Option<&'p Zone>,
    patterns: &'p mut PatternBudget,
    inputs: IndexSet<Reference>,
    keys: Vec<KeyRead>,
    literals: Literals,
    scope: Vec<(String, Bound)>,
    variables: usize,
}

/// What a variable stands for.
#[derive(Clone)]
enum Bound {
    Path(Reference),
    Slot(usize, Origin),
}

/// What the current value is.
enum Here {
    /// What is at a path.
    Path(Reference),
    /// What is known when the expression is evaluated.
    Dynamic(Origin),
}

/// A part that was made ready: a path that may go on, or a value.
enum Part {
    Path(Reference),
    Value(Op, Origin),
}

/// Where in the event a value is from, as far as that is known.
#[derive(Clone)]
enum Origin {
    Unknown,
    At(Level, Vec<Step>),
    /// A list of such.
    ListOf(Level, Vec<Step>),
}

impl Origin {
    fn of(reference: &Reference) -> Self {
        Self::At(reference.level, reference.path.iter().cloned().map(Step::Key).collect())
    }

    fn then(level: Level, steps: &[Step], step: Step) -> Self {
        let steps = steps.iter().cloned().chain([step]).collect();
        Self::At(level, steps)
    }

    fn key(&self, key: &str) -> Self {
        match self {
            Self::At(level, steps) => Self::then(*level, steps, Step::Key(key.to_owned())),
            Self::Unknown | Self::ListOf(..) => Self::Unknown,
        }
    }

    /// Of an element of the list that this is.
    fn element(&self) -> Self {
        match self {
            Self::At(level, steps) => Self::then(*level, steps, Step::Each),
            Self::ListOf(level, steps) => Self::At(*level, steps.clone()),
            Self::Unknown => Self::Unknown,
        }
    }

    fn list(self) -> Self {
        match self {
            Self::At(level, steps) => Self::ListOf(level, steps),
            Self::Unknown | Self::ListOf(..) => Self::Unknown,
        }
    }

    fn flat(&self) -> Self {
        match self.element() {
            Self::At(level, steps) => Self::then(level, &steps, Step::Flat).list(),
            Self::Unknown | Self::ListOf(..) => Self::Unknown,
        }
    }
}

type Compiled = Result<Part, Mistake>;

impl Compiler<'_> {
    fn part(&mut self, node: &Node, here: &Here) -> Compiled {
        Ok(match &node.kind {
            NodeKind::Current => match here {
                Here::Path(path) => Part::Path(path.clone()),
                Here::Dynamic(origin) => Part::Value(Op::Current, origin.clone()),
            },
            NodeKind::Root => Part::Path(Reference { path: Vec::new(), level: Level::EVENT }),
            NodeKind::Variable(name) => self.variable(name, node.at)?,
            NodeKind::Field(key, _) => {
                let current = match here {
                    Here::Path(path) => Part::Path(path.clone()),
                    Here::Dynamic(origin) => Part::Value(Op::Current, origin.clone()),
                };
                self.field(current, key, node)
            }
            NodeKind::Literal(json) => known(Op::Literal(json.clone(), self.literals.json(json))),
            NodeKind::Sub(left, right) => {
                let left = self.part(left, here)?;
                match (left, &right.kind) {
                    (left, NodeKind::Field(key, _)) => self.field(left, key, right),
                    (Part::Path(path), _) if is_strict(right) => {
                        self.part(right, &Here::Path(path))?
                    }
                    (left, _) => {
                        let (left, origin) = self.value(left);
                        let (right, origin) = self.op(right, &Here::Dynamic(origin))?;
                        Part::Value(Op::Then(left.into(), right.into()), origin)
                    }
                }
            }
            NodeKind::Pipe(left, right) => match self.part(left, here)? {
                Part::Path(path) => self.part(right, &Here::Path(path))?,
                Part::Value(left, origin) => {
                    let (right, origin) = self.op(right, &Here::Dynamic(origin))?;
                    Part::Value(Op::pipe(left, right), origin)
                }
            },
            NodeKind::Or(left, right) => {
                known(Op::Or(self.boxed(left, here)?, self.boxed(right, here)?))
            }
            NodeKind::And(left, right) => {
                known(Op::And(self.boxed(left, here)?, self.boxed(right, here)?))
            }
            NodeKind::Not(inside) => known(Op::Not(self.boxed(inside, here)?)),
            NodeKind::Compare(comparison, left, right) => {
                let (left, right) = (self.op(left, here)?.0, self.op(right, here)?.0);
                known(Op::compare(*comparison, left, right))
            }
            NodeKind::Arithmetic(operation, left, right) => {
                let divides = matches!(
                    operation,
                    Operation::Divide | Operation::Modulo | Operation::FloorDivide
                );
                let is_zero =
                    |json: &str| Number::read(json).is_some_and(|number| number == Number::ZERO);
                if divides && matches!(&right.kind, NodeKind::Literal(json) if is_zero(json)) {
                    let expected = "a divisor other than zero";
                    return Err(Mistake::new(
                        codes::NOT_A_NUMBER,
                        node.at,
                        expected,
                        "0".to_owned(),
                    ));
                }
                let (left, right) = (self.boxed(left, here)?, self.boxed(right, here)?);
                known(Op::Arithmetic(*operation, left, right, node.at))
            }
            NodeKind::Negate(inside) => known(Op::Negate(self.boxed(inside, here)?, node.at)),
            NodeKind::Plus(inside) => known(Op::Plus(self.boxed(inside, here)?, node.at)),
            NodeKind::Ternary(condition, then, otherwise) => known(Op::Choose(
                self.boxed(condition, here)?,
                self.boxed(then, here)?,
                self.boxed(otherwise, here)?,
            )),
            NodeKind::Index(list, index) => {
                let (list, origin) = self.op(list, here)?;
                let element =
                    if *index == 0 { list.first() } else { Op::Index(list.into(), *index) };
                Part::Value(element, origin.element())
            }
            NodeKind::Slice(list, slice) => {
                let (list, origin) = self.op(list, here)?;
                Part::Value(Op::Slice(list.into(), *slice), origin.element().list())
            }
            NodeKind::Flatten(list) => {
                let (list, origin) = self.op(list, here)?;
                Part::Value(Op::Flatten(list.into()), origin.flat())
            }
            NodeKind::Project(list, right) => {
                let may_be_string = matches!(list.kind, NodeKind::Slice(..));
                let (list, origin) = self.op(list, here)?;
                let (right, origin) = self.each(right, origin.element())?;
                Part::Value(Op::Project(list.into(), right, may_be_string), origin.list())
            }
            NodeKind::ProjectValues(object, right) => {
                let (object, _) = self.op(object, here)?;
                let (right, _) = self.each(right, Origin::Unknown)?;
                known(Op::ProjectValues(object.into(), right))
            }
            NodeKind::Filter(list, condition, right) => {
                let (list, origin) = self.op(list, here)?;
                let element = origin.element();
                let (condition, _) = self.op(condition, &Here::Dynamic(element.clone()))?;
                let (right, origin) = self.each(right, element)?;
                let test = KeyTest::of(&condition);
                let filter = Op::Filter(list.into(), condition.into(), right, test);
                Part::Value(filter, origin.list())
            }
            NodeKind::List(items) => {
                let items = items.iter().map(|item| Ok(self.op(item, here)?.0));
                known(Op::List(items.collect::<Result<_, Mistake>>()?))
            }
            NodeKind::Object(members) => {
                let member = |(key, value): &(String, Node)| {
                    let place = self.literals.text(key);
                    Ok(((key.clone(), place), self.op(value, here)?.0))
                };
                known(Op::Object(members.iter().map(member).collect::<Result<_, Mistake>>()?))
            }
            NodeKind::Call(name, arguments) => self.call(name, arguments, node.at, here)?,
            NodeKind::Reference(inside) => {
                let expected =
                    "a value, and an expression after & only as an argument of a function";
                return Err(Mistake::new(codes::INVALID_TYPE, inside.at, expected, None));
            }
            NodeKind::Let(bindings, body) => self.bind(bindings, body, here)?,
        })
    }

    /// The value that a part is.
    fn value(&mut self, part: Part) -> (Op, Origin) {
        match part {
            Part::Value(op, origin) => (op, origin),
            Part::Path(path) => {
                let origin = Origin::of(&path);
                (Op::Input(self.inputs.insert_full(path).0), origin)
            }
        }
    }

    fn op(&mut self, node: &Node, here: &Here) -> Result<(Op, Origin), Mistake> {
        let part = self.part(node, here)?;
        Ok(self.value(part))
    }

    fn boxed(&mut self, node: &Node, here: &Here) -> Result<Box<Op>, Mistake> {
        Ok(self.op(node, here)?.0.into())
    }

    /// What is made of each element; none where that is the element.
    fn each(&mut self, node: &Node, element: Origin) -> Result<(Option<Box<Op>>, Origin), Mistake> {
        if node.is_current() {
            return Ok((None, element));
        }
        let (op, origin) = self.op(node, &Here::Dynamic(element))?;
        Ok((Some(op.into()), origin))
    }

    fn field(&mut self, of: Part, key: &str, node: &Node) -> Part {
        let origin = match &of {
            Part::Path(path) => Origin::of(path).key(key),
            Part::Value(_, origin) => origin.key(key),
        };
        if let Origin::At(level, steps) = &origin {
            let (level, steps) = (*level, steps.clone());
            self.keys.push(KeyRead { level, steps, at: node.at, end: node.end });
        }
        match of {
            Part::Path(mut path) => {
                path.path.push(key.to_owned());
                Part::Path(path)
            }
            Part::Value(Op::Fields(of, mut keys), _) => {
                keys.push(WantedKey::new(key));
                Part::Value(Op::Fields(of, keys), origin)
            }
            Part::Value(of, _) => {
                Part::Value(Op::Fields(of.into(), vec![WantedKey::new(key)]), origin)
            }
        }
    }

    fn variable(&mut self, name: &str, at: usize) -> Compiled {
        if let Some((_, bound)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return Ok(match bound {
                Bound::Path(path) => Part::Path(path.clone()),
                Bound::Slot(slot, origin) => Part::Value(Op::Variable(*slot), origin.clone()),
            });
        }
        if let Some(level) = level(name, self.innermost) {
            return Ok(Part::Path(Reference { path: Vec::new(), level }));
        }
        if !self.strict {
            return Ok(known(Op::Undefined(at)));
        }
        let known = self.scope.iter().map(|(name, _)| format!("${name}"));
        let known: Vec<String> = known.chain(["$event".to_owned()]).collect();
        let expected = format!("a variable that is bound here, like {}", known.join(", "));
        Err(Mistake::new(codes::UNDEFINED_VARIABLE, at, expected, quoted(&format!("${name}"))))
    }

    fn bind(&mut self, bindings: &[(String, Node)], body: &Node, here: &Here) -> Compiled {
        let mut bound = Vec::with_capacity(bindings.len());
        let mut slots = Vec::new();
        for (name, value) in bindings {
            let value = match self.part(value, here)? {
                Part::Path(path) => Bound::Path(path),
                Part::Value(op, origin) => {
                    slots.push((self.variables, op));
                    self.variables += 1;
                    Bound::Slot(self.variables - 1, origin)
                }
            };
            bound.push((name.clone(), value));
        }
        let outside = self.scope.len();
        self.scope.append(&mut bound);
        let body = self.part(body, here);
        self.scope.truncate(outside);
        match body? {
            body if slots.is_empty() => Ok(body),
            body => {
                let (body, origin) = self.value(body);
                Ok(Part::Value(Op::Let(slots, body.into()), origin))
            }
        }
    }

    fn call(&mut self, name: &str, nodes: &[Node], at: usize, here: &Here) -> Compiled {
        let Some(function) = Function::named(name) else {
            let near = nearest(name, Function::names());
            let expected = near.map_or_else(
                || "the name of a function".to_owned(),
                |near| format!("the name of a function, like {near}"),
            );
            return Err(Mistake::new(codes::UNKNOWN_FUNCTION, at, expected, quoted(name)));
        };
        if !function.takes(nodes.len()) {
            let (expected, found) = (function.arity(), nodes.len().to_string());
            return Err(Mistake::new(codes::INVALID_ARITY, at, expected, found));
        }
        let mut call = Call { function, arguments: Vec::new(), extra: Extra::None, at };
        // The list comes before what is made of its elements, or after it.
        let mut list = Origin::Unknown;
        let mut by = None;
        for (index, node) in nodes.iter().enumerate() {
            let Some(parameter) = function.parameter(index) else { continue };
            match (parameter, &node.kind) {
                (Parameter::Expression, NodeKind::Reference(inside)) => by = Some(inside),
                (Parameter::Expression, _) | (_, NodeKind::Reference(_)) => {
                    let found = if parameter == Parameter::Expression { "a value" } else { "&" };
                    let expected = parameter.expected();
                    let found = found.to_owned();
                    return Err(Mistake::new(codes::INVALID_TYPE, node.at, expected, found));
                }
                (Parameter::Constant, _) => {
                    call.extra = Extra::Conversion(self.pattern(node, nodes.get(index + 1))?);
                }
                // It was read with the pattern.
                (Parameter::ConstantGroup, _) => {}
                (Parameter::Table, _) => {
                    let mut entries = BTreeMap::new();
                    for (key, json) in table(node)? {
                        let place = self.literals.json(&json);
                        entries.insert(key, (json, place));
                    }
                    call.extra = Extra::Table(entries);
                }
                (Parameter::Unit, _) => {
                    let unit = literal_text(node).and_then(|unit| Unit::named(&unit));
                    call.extra = Extra::Unit(unit.ok_or_else(|| not_constant(node, parameter))?);
                }
                _ => {
                    let (op, origin) = self.op(node, here)?;
                    call.arguments.push((op, parameter));
                    list = origin;
                }
            }
        }
        if let Some(by) = by {
            call.extra = Extra::Expression(self.op(by, &Here::Dynamic(list.element()))?.0);
        }
        if let Some(conversion) = conversion(function.function) {
            call.extra = Extra::Conversion(conversion.in_zone(self.zone));
        }
        let origin = match function.function {
            FunctionName::SortBy | FunctionName::Reverse | FunctionName::Distinct => list,
            FunctionName::MaxBy | FunctionName::MinBy => list.element(),
            _ => Origin::Unknown,
        };
        Ok(Part::Value(Op::Call(call.into()), origin))
    }

    /// The conversion that a pattern and its group are.
    fn pattern(&mut self, pattern: &Node, group: Option<&Node>) -> Result<Conversion, Mistake> {
        let Some(text) = literal_text(pattern) else {
            return Err(not_constant(pattern, Parameter::Constant));
        };
        let mut arguments = serde_json::json!({"pattern": text});
        if let Some(node) = group {
            let NodeKind::Literal(json) = &node.kind else {
                return Err(not_constant(node, Parameter::ConstantGroup));
            };
            let group: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
            if !group.is_string() && !group.is_u64() {
                return Err(not_constant(node, Parameter::ConstantGroup));
            }
            arguments["group"] = group;
        }
        let step = serde_json::json!({"regex": arguments});
        Conversion::from_json_within(&step, self.patterns).map_err(|error| {
            let at = group.filter(|_| error.at.ends_with("group")).unwrap_or(pattern).at;
            Mistake::new(error.code, at, error.expected, error.observed)
        })
    }
}

fn known(op: Op) -> Part {
    Part::Value(op, Origin::Unknown)
}

/// Whether a part of null is null, so that nothing has to be asked of what it is a part of.
fn is_strict(node: &Node) -> bool {
    match &node.kind {
        NodeKind::Field(..) | NodeKind::Current => true,
        NodeKind::Index(of, _)
        | NodeKind::Slice(of, _)
        | NodeKind::Flatten(of)
        | NodeKind::Project(of, _)
        | NodeKind::ProjectValues(of, _)
        | NodeKind::Filter(of, ..)
        | NodeKind::Sub(of, _) => is_strict(of),
        _ => false,
    }
}

/// The level that a variable stands for that nobody binds: `$event`, `$parent`, `$parent2` and so on, outwards.
fn level(name: &str, innermost: Level) -> Option<Level> {
    if name == "event" {
        return Some(Level::EVENT);
    }
    let outwards = match name.strip_prefix("parent")? {
        "" => 1,
        digits => digits.parse().ok().filter(|outwards| *outwards > 1)?,
    };
    innermost.0.checked_sub(outwards).map(Level).filter(|level| !level.is_event())
}

fn literal_text(node: &Node) -> Option<String> {
    match &node.kind {
        NodeKind::Literal(json) => serde_json::from_str(json).ok(),
        _ => None,
    }
}

fn not_constant(node: &Node, parameter: Parameter) -> Mistake {
    let found = match &node.kind {
        NodeKind::Literal(json) => quoted(json),
        _ => "an expression".to_owned(),
    };
    Mistake::new(codes::INVALID_VALUE, node.at, parameter.expected(), found)
}

/// The words for codes that are written out, as JSON in backquotes or in braces. What is in double quotes there is a string: a
/// table reads nothing.
fn table(node: &Node) -> Result<BTreeMap<String, String>, Mistake> {
    match &node.kind {
        NodeKind::Literal(json) => {
            let table: BTreeMap<String, Box<serde_json::value::RawValue>> =
                serde_json::from_str(json).map_err(|_| not_constant(node, Parameter::Table))?;
            Ok(table.into_iter().map(|(key, value)| (key, value.get().to_owned())).collect())
        }
        NodeKind::Object(members) => members
            .iter()
            .map(|(key, value)| match &value.kind {
                NodeKind::Literal(json) => Ok((key.clone(), json.clone())),
                NodeKind::Field(text, true) => {
                    Ok((key.clone(), serde_json::Value::from(text.as_str()).to_string()))
                }
                _ => Err(not_constant(value, Parameter::Table)),
            })
            .collect(),
        _ => Err(not_constant(node, Parameter::Table)),
    }
}

/// The step of `convert` that a function is.
fn conversion(function: FunctionName) -> Option<Conversion> {
    Some(match function {
        FunctionName::Date => Conversion::Date(None),
        FunctionName::ParseJson => Conversion::ParseJson { path: Vec::new() },
        FunctionName::Timestamp => Conversion::Timestamp(None),
        FunctionName::ToBoolean => Conversion::ToBoolean,
        FunctionName::ToDouble => Conversion::ToDouble,
        FunctionName::ToInt64 => Conversion::ToInt64,
        FunctionName::ToJsonText => Conversion::ToJsonText,
        _ => return None,
    })
}
