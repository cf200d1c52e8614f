//! Parts that several expressions have in common, and parts that are the same for many rows: evaluated once.
//!
//! Plans say `parse_json(body)` in each property that is made of it, and `$event.messages[].content[]` for each element. When a
//! declaration is made ready, the largest such parts are [found](SharedParts::count) and [marked](SharedParts::mark), and in them those that
//! others have as well; what one gives is kept for as long as the event, or the element, that it reads.

use std::collections::HashMap;

use super::CompiledQuery;
use super::program::{Extra, Op};
use super::value::Val;

/// Bytes of all descriptions of parts together: a declaration of more is evaluated as it is written from there on.
const MAX_DESCRIPTIONS: usize = 4 << 20;

/// A part that is evaluated once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedPart {
    /// Which one of a declaration.
    pub(super) number: usize,
    /// The innermost level that it reads: for another element there it is evaluated again.
    pub(super) level: usize,
}

/// Where an expression stands, and what it reads there.
pub(crate) struct QueryScope<'a> {
    /// Of an input by its number: its level, and what tells it from all others.
    pub(crate) place: &'a dyn Fn(usize) -> (usize, String),
    /// The level that it is evaluated for.
    pub(crate) level: usize,
    /// Whether a policy may withhold something that it reads.
    pub(crate) withheld: bool,
}

/// The marked part that another one is in.
#[derive(Clone, Copy)]
struct Enclosing {
    /// How often it is asked for.
    uses: usize,
    /// The innermost level that it reads.
    level: usize,
}

impl Default for Enclosing {
    /// None: what is used once is asked for once.
    fn default() -> Self {
        Self { uses: 1, level: 0 }
    }
}

impl Enclosing {
    /// Whether it asks for such a part less often than all together do, or for more elements than that has values.
    fn asks_less(self, uses: usize, level: usize) -> bool {
        uses > self.uses || level < self.level
    }
}

/// The parts of all expressions of a declaration.
#[derive(Default)]
pub(crate) struct SharedParts {
    /// How often each occurs, by its description; what is evaluated for more rows than it has values counts twice.
    uses: HashMap<String, usize>,
    numbers: HashMap<String, usize>,
    described: usize,
}

impl SharedParts {
    /// Counts the parts of an expression.
    pub(crate) fn count(&mut self, query: &CompiledQuery, scope: &QueryScope<'_>) {
        self.count_in(&mut query.program.op.clone(), scope, &query.inputs);
    }

    /// Marks the parts of an expression that are worth it. All have been counted.
    pub(crate) fn mark(&mut self, query: &mut CompiledQuery, scope: &QueryScope<'_>) {
        let mut program = (*query.program).clone();
        if self.mark_in(&mut program.op, scope, &query.inputs, Enclosing::default()) {
            query.program = program.into();
        }
    }

    /// How many parts are marked.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// As deep as expressions nest.
    fn count_in(&mut self, op: &mut Op, scope: &QueryScope<'_>, inputs: &[usize]) {
        if let Some((description, level)) = self.described(op, scope, inputs) {
            *self.uses.entry(description).or_default() += if level < scope.level { 2 } else { 1 };
        }
        op.around().into_iter().for_each(|inner| self.count_in(inner, scope, inputs));
    }

    fn mark_in(
        &mut self,
        op: &mut Op,
        scope: &QueryScope<'_>,
        inputs: &[usize],
        enclosing: Enclosing,
    ) -> bool {
        let described = self.described(op, scope, inputs);
        let described = described.and_then(|(description, level)| {
            let uses = self.uses.get(&description).copied().unwrap_or_default();
            enclosing.asks_less(uses, level).then_some((description, Enclosing { uses, level }))
        });
        let within = described.as_ref().map_or(enclosing, |(_, own)| *own);
        let mut has_marked = false;
        for inner in op.around() {
            has_marked |= self.mark_in(inner, scope, inputs, within);
        }
        if let Some((description, own)) = described {
            let next = self.numbers.len();
            let number = *self.numbers.entry(description).or_insert(next);
            let inside = std::mem::replace(op, Op::Current);
            *op = Op::Shared(SharedPart { number, level: own.level }, inside.into());
            has_marked = true;
        }
        has_marked
    }

    /// What tells a part from all others, and the innermost level that it reads; `None` where it is no part by itself, or is not
    /// worth being kept.
    fn described(
        &mut self,
        op: &Op,
        scope: &QueryScope<'_>,
        inputs: &[usize],
    ) -> Option<(String, usize)> {
        if self.described > MAX_DESCRIPTIONS || !op.is_costly() {
            return None;
        }
        let (mut alone, mut level, mut read) = (op.clone(), 0, Vec::new());
        let is_closed = alone.take_out(true, &mut |number| {
            let place = inputs.get(number).map(|input| (scope.place)(*input));
            let (own, name) = place.unwrap_or_default();
            level = level.max(own);
            read.push(name);
        });
        let description = format!("{} {read:?} {alone:?}", scope.withheld);
        self.described += description.len();
        is_closed.then_some((description, level))
    }
}

impl Op {
    /// Whether it goes over something or makes something, so that its value is worth being kept.
    fn is_costly(&self) -> bool {
        match self {
            Self::Call(_)
            | Self::Flatten(_)
            | Self::Project(..)
            | Self::ProjectValues(..)
            | Self::Filter(..) => true,
            Self::Pipe(left, _) | Self::Then(left, _) => left.is_costly(),
            Self::Fields(of, _) | Self::Index(of, _) | Self::First(of) | Self::Slice(of, _) => {
                of.is_costly()
            }
            _ => false,
        }
    }

    /// Takes out of it what is one expression's alone, the numbers of inputs, which it hands out in their order, and places in the
    /// text. Whether it depends on nothing else than those: on no variable, and where it is `outside` not on a current value.
    fn take_out(&mut self, outside: bool, each: &mut dyn FnMut(usize)) -> bool {
        match self {
            Self::Variable(_) | Self::Undefined(_) | Self::Let(..) | Self::Shared(..) => {
                return false;
            }
            Self::Current if outside => return false,
            Self::Input(number) => each(std::mem::take(number)),
            Self::Arithmetic(.., at) | Self::Negate(_, at) | Self::Plus(_, at) => *at = 0,
            Self::Literal(_, place) => *place = Val::NULL,
            Self::Object(members) => {
                members.iter_mut().for_each(|((_, place), _)| *place = Val::NULL)
            }
            Self::Call(call) => {
                call.at = 0;
                if let Extra::Table(table) = &mut call.extra {
                    table.values_mut().for_each(|(_, place)| *place = Val::NULL);
                }
            }
            _ => {}
        }
        let mut is_closed = true;
        for inner in self.around() {
            is_closed &= inner.take_out(outside, each);
        }
        for inner in self.inside() {
            is_closed &= inner.take_out(false, each);
        }
        is_closed
    }

    /// The parts that are evaluated where it is.
    pub(super) fn around(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Or(left, right)
            | Self::And(left, right)
            | Self::Compare(_, left, right)
            | Self::Arithmetic(_, left, right, _) => vec![left, right],
            Self::Choose(condition, then, otherwise) => vec![condition, then, otherwise],
            Self::List(items) => items.iter_mut().collect(),
            Self::Object(members) => members.iter_mut().map(|(_, value)| value).collect(),
            Self::Call(call) => call.arguments.iter_mut().map(|(argument, _)| argument).collect(),
            Self::Let(bindings, body) => {
                bindings.iter_mut().map(|(_, value)| value).chain([&mut **body]).collect()
            }
            op => op.first_operand().into_iter().collect(),
        }
    }

    /// The parts that are evaluated for what it gives, or for each element of that.
    fn inside(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Then(_, each) | Self::Pipe(_, each) => vec![each],
            Self::Project(_, each, _) | Self::ProjectValues(_, each) => {
                each.iter_mut().map(|each| &mut **each).collect()
            }
            Self::Filter(_, condition, each, _) => {
                std::iter::once(&mut **condition).chain(each.as_deref_mut()).collect()
            }
            Self::Call(call) => match &mut call.extra {
                Extra::Expression(each) => vec![each],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }
}
