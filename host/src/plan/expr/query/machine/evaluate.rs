//! The parts of an expression, evaluated.

use super::super::error::FailureKind;
use super::super::functions;
use super::super::memory::Known;
use super::super::program::Op;
use super::super::shared::SharedPart;
use super::super::tree::{Comparison, Operation};
use super::super::value::{DocumentNumber, Form, Part, Val};
use super::read::{of_text, on_tape};
use super::{Halt, Machine, Outcome, Stop};
use crate::json::WantedKey;
use crate::json::tape::TapeIndex;
use crate::plan::expr::evaluate::Found;
use crate::plan::expr::{JsonType, Lookup};

impl<'v, L: Lookup> Machine<'v, '_, L> {
    /// What a part gives. Most parts are leaves, which this finds where it is called.
    #[inline(always)]
    pub(in crate::plan::expr::query) fn eval(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        self.spend(0)?;
        match op {
            Op::Current => Ok(current),
            Op::Literal(_, value) => Ok(*value),
            op => self.eval_part(op, current),
        }
    }

    /// Each kind of part has a function of its own, which isn't inlined: none saves registers on the stack that only another one needs.
    fn eval_part(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        match op {
            Op::Input(number) => self.input(*number),
            Op::Current => Ok(current),
            Op::Literal(_, value) => Ok(*value),
            Op::Variable(slot) => {
                Ok(self.memory.arena.variables.get(*slot).copied().unwrap_or(Val::NULL))
            }
            Op::Undefined(at) => {
                self.fail(FailureKind::UndefinedVariable, *at, "a variable that is bound")
            }
            Op::Fields(of, keys) => self.fields(of, keys, current),
            Op::Then(left, right) => self.then(left, right, current),
            Op::Pipe(left, right) => self.pipe(left, right, current),
            Op::Index(list, index) => self.index(list, *index, current),
            Op::First(list) => self.first(list, current),
            Op::Slice(list, slice) => self.slice(list, *slice, current),
            Op::Flatten(list) => self.flatten(list, current),
            Op::Project(list, right, may_be_string) => {
                self.project_list(list, right.as_deref(), *may_be_string, current)
            }
            Op::ProjectValues(object, right) => {
                self.project_values(object, right.as_deref(), current)
            }
            Op::Filter(list, condition, right, test) => {
                self.filter(list, condition, right.as_deref(), test.as_ref(), current)
            }
            Op::Or(left, right) => self.or(left, right, current),
            Op::And(left, right) => self.and(left, right, current),
            Op::Not(inside) => self.not(inside, current),
            Op::Compare(comparison, left, right) => {
                self.comparison(*comparison, left, right, current)
            }
            Op::IsType(of, kind, is) => self.is_type(of, *kind, *is, current),
            Op::Arithmetic(operation, left, right, at) => {
                self.arithmetic(*operation, left, right, *at, current)
            }
            Op::Negate(inside, at) => self.negate(inside, *at, current),
            Op::Plus(inside, at) => self.plus(inside, *at, current),
            Op::Choose(condition, then, otherwise) => {
                self.choose(condition, then, otherwise, current)
            }
            Op::List(items) => self.list(items, current),
            Op::Object(members) => self.object(members, current),
            Op::Call(call) => functions::call(self, call, current),
            Op::Shared(part, op) => self.shared(*part, op, current),
            Op::Let(bindings, body) => self.bind(bindings, body, current),
        }
    }

    #[inline(never)]
    fn fields(&mut self, of: &'v Op, keys: &'v [WantedKey], current: Val) -> Outcome<Val> {
        let mut value = self.eval(of, current)?;
        for key in keys {
            value = self.field(value, key)?;
        }
        Ok(value)
    }

    #[inline(never)]
    fn then(&mut self, left: &'v Op, right: &'v Op, current: Val) -> Outcome<Val> {
        let left = self.eval(left, current)?;
        if left.is_null() { Ok(left) } else { self.eval(right, left) }
    }

    #[inline(never)]
    fn pipe(&mut self, left: &'v Op, right: &'v Op, current: Val) -> Outcome<Val> {
        let left = self.eval(left, current)?;
        self.eval(right, left)
    }

    #[inline(never)]
    fn or(&mut self, left: &'v Op, right: &'v Op, current: Val) -> Outcome<Val> {
        let left = self.eval(left, current)?;
        if self.is_true(left) { Ok(left) } else { self.eval(right, current) }
    }

    #[inline(never)]
    fn and(&mut self, left: &'v Op, right: &'v Op, current: Val) -> Outcome<Val> {
        let left = self.eval(left, current)?;
        if self.is_true(left) { self.eval(right, current) } else { Ok(left) }
    }

    #[inline(never)]
    fn not(&mut self, inside: &'v Op, current: Val) -> Outcome<Val> {
        let value = self.eval(inside, current)?;
        Ok(Val::boolean(!self.is_true(value)))
    }

    #[inline(never)]
    fn comparison(
        &mut self,
        comparison: Comparison,
        left: &'v Op,
        right: &'v Op,
        current: Val,
    ) -> Outcome<Val> {
        let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
        self.compare(comparison, left, right)
    }

    #[inline(never)]
    fn is_type(&mut self, of: &'v Op, kind: JsonType, is: bool, current: Val) -> Outcome<Val> {
        let value = self.eval(of, current)?;
        Ok(Val::boolean((value.kind() == kind) == is))
    }

    #[inline(never)]
    fn arithmetic(
        &mut self,
        operation: Operation,
        left: &'v Op,
        right: &'v Op,
        at: usize,
        current: Val,
    ) -> Outcome<Val> {
        let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
        let (left, right) = (self.number(left, at)?, self.number(right, at)?);
        match left.apply(operation, right) {
            Some(result) => self.made_number(result),
            None => self.fail(FailureKind::NotANumber, at, "a result that is a number"),
        }
    }

    #[inline(never)]
    fn negate(&mut self, inside: &'v Op, at: usize, current: Val) -> Outcome<Val> {
        let value = self.eval(inside, current)?;
        let negated = self.number(value, at)?.negated();
        self.made_number(negated)
    }

    #[inline(never)]
    fn plus(&mut self, inside: &'v Op, at: usize, current: Val) -> Outcome<Val> {
        let value = self.eval(inside, current)?;
        self.number(value, at)?;
        Ok(value)
    }

    #[inline(never)]
    fn choose(
        &mut self,
        condition: &'v Op,
        then: &'v Op,
        otherwise: &'v Op,
        current: Val,
    ) -> Outcome<Val> {
        let condition = self.eval(condition, current)?;
        let chosen = if self.is_true(condition) { then } else { otherwise };
        self.eval(chosen, current)
    }

    #[inline(never)]
    fn list(&mut self, items: &'v [Op], current: Val) -> Outcome<Val> {
        let base = self.base();
        for item in items {
            let item = self.eval(item, current)?;
            self.push(item);
        }
        self.list_from(base)
    }

    #[inline(never)]
    fn object(&mut self, members: &'v [((String, Val), Op)], current: Val) -> Outcome<Val> {
        let base = self.base();
        for ((_, key), value) in members {
            let value = self.eval(value, current)?;
            self.push(*key);
            self.push(value);
        }
        self.object_from(base)
    }

    #[inline(never)]
    fn bind(&mut self, bindings: &'v [(usize, Op)], body: &'v Op, current: Val) -> Outcome<Val> {
        for (slot, value) in bindings {
            let value = self.eval(value, current)?;
            if let Some(variable) = self.memory.arena.variables.get_mut(*slot) {
                *variable = value;
            }
        }
        self.eval(body, current)
    }

    /// What is at an input.
    #[inline(never)]
    fn input(&mut self, number: usize) -> Outcome<Val> {
        let index = self.inputs.get(number).copied().unwrap_or(usize::MAX);
        Ok(match self.event.found(index) {
            None => Val::NULL,
            Some(Found::Placed { document, start, end, escaped, taped }) => {
                let first = self.document(document).text.as_bytes().get(start as usize);
                let part = Part { document, start, end };
                of_text(first.copied(), part, escaped, taped)
            }
            Some(Found::Text(json)) => {
                // What isn't in a document is looked at in one of its own.
                self.made_json(json)?
            }
        })
    }

    /// A part whose value is kept. To read it again costs a step, and what was made for it counts again.
    #[inline(never)]
    fn shared(&mut self, part: SharedPart, op: &'v Op, current: Val) -> Outcome<Val> {
        let Some(of) = self.event.elements().get(part.level).copied() else {
            return self.eval(op, current);
        };
        let Some(Known { value, made }) = self.memory.known(part, of) else {
            return self.keep(part, of, op, current);
        };
        let made = *made;
        match *value {
            Ok(value) => self.count_made(made).map(|()| value),
            Err(failure) => {
                self.count_made(made)?;
                self.failed(failure)
            }
        }
    }

    /// Evaluates a part whose value is to be kept for that element.
    #[inline(never)]
    fn keep(&mut self, part: SharedPart, of: u32, op: &'v Op, current: Val) -> Outcome<Val> {
        let (left, from) = (self.left, self.memory.arena.mark());
        let value = match (self.eval(op, current), self.stopped) {
            (Ok(value), _) => Ok(value),
            (Err(Halt), Some(Stop::Failed(failure))) => Err(failure),
            (Err(halt), _) => return Err(halt),
        };
        let known = Known { value, made: left - self.left };
        let value = self.memory.keep(part, of, known, from, self.literals);
        value.map_err(|_| Halt)
    }

    #[inline]
    pub(super) fn field(&mut self, value: Val, key: &WantedKey) -> Outcome<Val> {
        match value.form() {
            Form::Taped { document, index, is_object: true } => {
                self.taped_field(document, index, key)
            }
            Form::Object(_) | Form::Written { is_object: true, .. } => {
                self.field_of_made(value, key)
            }
            _ => Ok(Val::NULL),
        }
    }

    #[inline(never)]
    fn taped_field(
        &mut self,
        document: DocumentNumber,
        object: TapeIndex,
        key: &WantedKey,
    ) -> Outcome<Val> {
        let doc = self.document(document);
        let (found, looks) = doc.tape.member(doc.text.as_bytes(), object, key);
        let found = found.map_or(Val::NULL, |member| on_tape(doc, document, member));
        self.spend_looks(looks)?;
        Ok(found)
    }

    /// The same of an object that was made, or that is on no tape yet.
    #[inline(never)]
    fn field_of_made(&mut self, value: Val, key: &WantedKey) -> Outcome<Val> {
        let object = self.opened(value)?;
        if let Form::Taped { document, index, is_object: true } = object.form() {
            return self.taped_field(document, index, key);
        }
        let Form::Object(run) = object.form() else { return Ok(Val::NULL) };
        let members = self.memory.arena.members(run);
        let found = members
            .iter()
            .find(|(name, _)| self.text(*name).is_some_and(|name| name == key.text()))
            .map_or(Val::NULL, |(_, value)| *value);
        self.spend_looks(run.count as usize)?;
        Ok(found)
    }
}
