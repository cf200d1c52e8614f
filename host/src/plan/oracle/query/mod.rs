//! Expressions, evaluated on trees: simple, slow and priced by nobody. The tree of the expression and the table of functions are
//! those of the host's evaluator; so are numbers and conversions. Everything else is done here once more.

mod call;
mod value;

use super::row::Row;
use crate::plan::expr::query::number::Number;
use crate::plan::expr::query::tree::{Comparison, Node, NodeKind, Slice};
use crate::plan::expr::{Level, Query, Zone};
pub(super) use value::Tree;

/// An expression has no value: something fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

type Outcome = Result<Tree, Failed>;

/// What an expression sees.
struct Evaluation {
    /// The event, and the elements around the current one, the outermost first.
    levels: Vec<Tree>,
    innermost: Level,
    scope: Vec<(String, Tree)>,
    /// In which times without an offset are read.
    zone: Option<Zone>,
    /// Values that a value may hold: more than one that the host makes, for which it fails.
    most: u64,
    /// Values that all values on the way may still hold, so that no expression takes the memory or the time of its host.
    left: u64,
}

/// Values that a value may hold, beside those of the event.
const MOST: u64 = 1 << 20;
/// Values that go through an evaluation: so many, and so many for each of the event.
const ALL: u64 = 4 << 20;
const ALL_OF_EACH: u64 = 2_000;

impl Row<'_> {
    /// What an expression gives here.
    pub(super) fn query(&self, query: &Query) -> Outcome {
        let levels = self.levels().map(|level| Tree::of(level)).collect();
        let innermost = query.innermost();
        let levels: Vec<Tree> = levels;
        let held = levels.first().map_or(0, Tree::count);
        let (most, left) = (MOST + 2 * held, ALL + ALL_OF_EACH * held);
        let zone = query.zone().cloned();
        let mut evaluation = Evaluation { levels, innermost, scope: Vec::new(), zone, most, left };
        let current = evaluation.at(innermost);
        evaluation.eval(query.tree(), &current)
    }
}

impl Evaluation {
    fn at(&self, level: Level) -> Tree {
        self.levels.get(usize::from(level.0)).cloned().unwrap_or(Tree::Null)
    }

    /// What a part gives, within bounds.
    fn eval(&mut self, node: &Node, current: &Tree) -> Outcome {
        let value = self.unbounded(node, current)?;
        let count = value.count();
        if count > self.most {
            return Err(Failed);
        }
        self.left = self.left.checked_sub(count).ok_or(Failed)?;
        Ok(value)
    }

    /// As deep as expressions nest.
    fn unbounded(&mut self, node: &Node, current: &Tree) -> Outcome {
        Ok(match &node.kind {
            NodeKind::Current => current.clone(),
            NodeKind::Root => self.at(Level::EVENT),
            NodeKind::Variable(name) => self.variable(name)?,
            NodeKind::Field(key, _) => current.field(key),
            NodeKind::Literal(json) => Tree::read(json),
            NodeKind::Sub(left, right) => match self.eval(left, current)? {
                Tree::Null => Tree::Null,
                left => self.eval(right, &left)?,
            },
            NodeKind::Pipe(left, right) => {
                let left = self.eval(left, current)?;
                self.eval(right, &left)?
            }
            NodeKind::Or(left, right) => {
                let left = self.eval(left, current)?;
                if left.is_true() { left } else { self.eval(right, current)? }
            }
            NodeKind::And(left, right) => {
                let left = self.eval(left, current)?;
                if left.is_true() { self.eval(right, current)? } else { left }
            }
            NodeKind::Not(inside) => Tree::Boolean(!self.eval(inside, current)?.is_true()),
            NodeKind::Ternary(condition, then, otherwise) => {
                let condition = self.eval(condition, current)?;
                self.eval(if condition.is_true() { then } else { otherwise }, current)?
            }
            NodeKind::Compare(comparison, left, right) => {
                let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
                compare(*comparison, &left, &right)
            }
            NodeKind::Arithmetic(operation, left, right) => {
                let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
                let (left, right) = (number(&left)?, number(&right)?);
                Tree::number(left.apply(*operation, right).ok_or(Failed)?)
            }
            NodeKind::Negate(inside) => {
                Tree::number(number(&self.eval(inside, current)?)?.negated())
            }
            NodeKind::Plus(inside) => {
                let value = self.eval(inside, current)?;
                number(&value)?;
                value
            }
            NodeKind::Index(list, index) => match self.eval(list, current)? {
                Tree::Array(items) => {
                    let from_end = items.len() as i64 + index;
                    let index = if *index < 0 { from_end } else { *index };
                    let found = usize::try_from(index).ok().and_then(|index| items.get(index));
                    found.cloned().unwrap_or(Tree::Null)
                }
                _ => Tree::Null,
            },
            NodeKind::Slice(list, slice) => match self.eval(list, current)? {
                Tree::Array(items) => Tree::Array(sliced(&items, *slice)),
                Tree::Text(text) => {
                    let characters: Vec<char> = text.chars().collect();
                    Tree::Text(sliced(&characters, *slice).into_iter().collect())
                }
                _ => Tree::Null,
            },
            NodeKind::Flatten(list) => match self.eval(list, current)? {
                Tree::Array(items) => Tree::Array(
                    items
                        .into_iter()
                        .flat_map(|item| match item {
                            Tree::Array(inner) => inner,
                            other => vec![other],
                        })
                        .collect(),
                ),
                _ => Tree::Null,
            },
            NodeKind::Project(list, right) => match self.eval(list, current)? {
                Tree::Array(items) => self.each(items, right)?,
                text @ Tree::Text(_) if matches!(list.kind, NodeKind::Slice(..)) => {
                    self.eval(right, &text)?
                }
                _ => Tree::Null,
            },
            NodeKind::ProjectValues(object, right) => match self.eval(object, current)? {
                Tree::Object(members) => {
                    self.each(members.into_iter().map(|(_, value)| value).collect(), right)?
                }
                _ => Tree::Null,
            },
            NodeKind::Filter(list, condition, right) => match self.eval(list, current)? {
                Tree::Array(items) => {
                    let mut kept = Vec::new();
                    for item in items {
                        // What is made of one comes before the condition of the next: either may fail.
                        if self.eval(condition, &item)?.is_true() {
                            let value = self.eval(right, &item)?;
                            kept.extend(Some(value).filter(|value| *value != Tree::Null));
                        }
                    }
                    Tree::Array(kept)
                }
                _ => Tree::Null,
            },
            NodeKind::List(items) => {
                let items = items.iter().map(|item| self.eval(item, current));
                Tree::Array(items.collect::<Result<_, _>>()?)
            }
            NodeKind::Object(members) => {
                let mut object = Vec::new();
                for (key, value) in members {
                    object.push((key.clone(), self.eval(value, current)?));
                }
                Tree::object(object)
            }
            NodeKind::Call(name, arguments) => self.call(name, arguments, current)?,
            NodeKind::Reference(_) => return Err(Failed),
            NodeKind::Let(bindings, body) => {
                let mut bound = Vec::new();
                for (name, value) in bindings {
                    bound.push((name.clone(), self.eval(value, current)?));
                }
                let outside = self.scope.len();
                self.scope.append(&mut bound);
                let value = self.eval(body, current);
                self.scope.truncate(outside);
                value?
            }
        })
    }

    fn variable(&self, name: &str) -> Outcome {
        if let Some((_, value)) = self.scope.iter().rev().find(|(known, _)| known == name) {
            return Ok(value.clone());
        }
        if name == "event" {
            return Ok(self.at(Level::EVENT));
        }
        let outwards = match name.strip_prefix("parent").ok_or(Failed)? {
            "" => 1,
            digits => digits.parse().map_err(|_| Failed)?,
        };
        self.innermost.0.checked_sub(outwards).map(|level| self.at(Level(level))).ok_or(Failed)
    }

    /// What is made of each, null left out.
    fn each(&mut self, items: Vec<Tree>, right: &Node) -> Outcome {
        let mut list = Vec::new();
        for item in items {
            match self.eval(right, &item)? {
                Tree::Null => {}
                value => list.push(value),
            }
        }
        Ok(Tree::Array(list))
    }
}

fn number(value: &Tree) -> Result<Number, Failed> {
    value.to_number().ok_or(Failed)
}

fn compare(comparison: Comparison, left: &Tree, right: &Tree) -> Tree {
    match (comparison, left.to_number(), right.to_number()) {
        (Comparison::Equal, ..) => Tree::Boolean(left.equals(right)),
        (Comparison::NotEqual, ..) => Tree::Boolean(!left.equals(right)),
        (_, Some(left), Some(right)) => {
            comparison.orders(left.cmp(&right)).map_or(Tree::Null, Tree::Boolean)
        }
        _ => Tree::Null,
    }
}

/// As Python slices.
fn sliced<T: Clone>(items: &[T], slice: Slice) -> Vec<T> {
    let length = items.len() as i128;
    let step = i128::from(slice.step);
    let bound = |index: i64| {
        let index = i128::from(index);
        let index = if index < 0 { index + length } else { index };
        if step > 0 { index.clamp(0, length) } else { index.clamp(-1, length - 1) }
    };
    let mut at = slice.start.map_or(if step > 0 { 0 } else { length - 1 }, bound);
    let stop = slice.stop.map_or(if step > 0 { length } else { -1 }, bound);
    let mut out = Vec::new();
    while if step > 0 { at < stop } else { at > stop } {
        out.extend(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned());
        at += step;
    }
    out
}
