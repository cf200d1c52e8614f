//! The parts of an expression, evaluated.

use super::super::error::FailureKind;
use super::super::functions;
use super::super::keyed::{Conjuncts, KeyEntry, KeyTablePlace, KeyTest, StableList};
use super::super::memory::Known;
use super::super::program::Op;
use super::super::shared::SharedPart;
use super::super::tree::Slice;
use super::super::value::{Part, Val};
use super::read::Items;
use super::read::of_text;
use super::{Halt, Machine, Outcome, Stop};
use crate::json::WantedKey;
use crate::plan::expr::evaluate::Found;
use crate::plan::expr::{JsonType, Lookup};

/// A text that is sought among those that a table has.
#[derive(Clone, Copy)]
struct Sought {
    place: KeyTablePlace,
    text: Part,
}

impl<'v, L: Lookup> Machine<'v, '_, L> {
    /// What a part gives. Most parts are leaves, which this finds where it is called.
    #[inline(always)]
    pub(in crate::plan::expr::query) fn eval(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        self.spend(0)?;
        match op {
            Op::Current => Ok(current),
            Op::Literal(_, value) => Ok(*value),
            op => self.eval_inner(op, current),
        }
    }

    fn eval_inner(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        Ok(match op {
            Op::Input(number) => self.input(*number)?,
            Op::Current => current,
            Op::Literal(_, value) => *value,
            Op::Variable(slot) => {
                self.memory.arena.variables.get(*slot).copied().unwrap_or(Val::Null)
            }
            Op::Undefined(at) => {
                return self.fail(FailureKind::UndefinedVariable, *at, "a variable that is bound");
            }
            Op::Fields(of, keys) => {
                let mut value = self.eval(of, current)?;
                for key in keys {
                    value = self.field(value, key)?;
                }
                value
            }
            Op::Then(left, right) => match self.eval(left, current)? {
                Val::Null => Val::Null,
                left => self.eval(right, left)?,
            },
            Op::Pipe(left, right) => {
                let left = self.eval(left, current)?;
                self.eval(right, left)?
            }
            Op::Index(list, index) => {
                let list = self.eval(list, current)?;
                self.index(list, *index)?
            }
            Op::First(list) => self.first(list, current)?,
            Op::Slice(list, slice) => {
                let list = self.eval(list, current)?;
                self.slice(list, *slice)?
            }
            Op::Flatten(list) => {
                let list = self.eval(list, current)?;
                self.flatten(list)?
            }
            Op::Project(list, right, may_be_string) => {
                let list = self.eval(list, current)?;
                match self.items(list)? {
                    Some(items) => self.project(items, None, right.as_deref())?,
                    None if *may_be_string && list.kind() == JsonType::String => match right {
                        Some(right) => self.eval(right, list)?,
                        None => list,
                    },
                    None => Val::Null,
                }
            }
            Op::ProjectValues(object, right) => {
                let object = self.eval(object, current)?;
                match self.members(object)? {
                    None => Val::Null,
                    Some(members) => {
                        let base = self.memory.arena.stack.len();
                        for index in 0..members.count as usize {
                            let value = self.memory.arena.member(members, index);
                            let value = value.map_or(Val::Null, |(_, value)| value);
                            self.memory.arena.stack.push(value);
                        }
                        let values = self.memory.arena.list_from(base);
                        match self.items(values)? {
                            Some(items) => self.project(items, None, right.as_deref())?,
                            None => Val::Null,
                        }
                    }
                }
            }
            Op::Filter(list, condition, right, test) => {
                let list = self.eval(list, current)?;
                if let Some(test) = test
                    && let Some(sought) = self.sought(list, test, condition, current)?
                {
                    let base = self.base();
                    let mut next = 0;
                    while let Some((element, behind)) = self.next_found(sought, next) {
                        self.push(element);
                        next = behind;
                    }
                    let found = self.list_from(base)?;
                    let rest = test.rest(condition);
                    return match (rest, right, self.items(found)?) {
                        (None, None, _) => Ok(found),
                        (rest, right, Some(items)) => self.project(items, rest, right.as_deref()),
                        (_, _, None) => Ok(Val::Null),
                    };
                }
                match self.items(list)? {
                    Some(items) => {
                        self.project(items, Some(Conjuncts::all(condition)), right.as_deref())?
                    }
                    None => Val::Null,
                }
            }
            Op::Or(left, right) => match self.eval(left, current)? {
                left if self.is_true(left) => left,
                _ => self.eval(right, current)?,
            },
            Op::And(left, right) => match self.eval(left, current)? {
                left if !self.is_true(left) => left,
                _ => self.eval(right, current)?,
            },
            Op::Not(inside) => {
                let value = self.eval(inside, current)?;
                Val::Boolean(!self.is_true(value))
            }
            Op::Compare(comparison, left, right) => {
                let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
                self.compare(*comparison, left, right)?
            }
            Op::IsType(of, kind, is) => {
                let value = self.eval(of, current)?;
                Val::Boolean((value.kind() == *kind) == *is)
            }
            Op::Arithmetic(operation, left, right, at) => {
                let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
                let (left, right) = (self.number(left, *at)?, self.number(right, *at)?);
                match left.apply(*operation, right) {
                    Some(result) => self.made_number(result)?,
                    None => {
                        let expected = "a result that is a number";
                        return self.fail(FailureKind::NotANumber, *at, expected);
                    }
                }
            }
            Op::Negate(inside, at) => {
                let value = self.eval(inside, current)?;
                let negated = self.number(value, *at)?.negated();
                self.made_number(negated)?
            }
            Op::Plus(inside, at) => {
                let value = self.eval(inside, current)?;
                self.number(value, *at)?;
                value
            }
            Op::Choose(condition, then, otherwise) => {
                let condition = self.eval(condition, current)?;
                let chosen = if self.is_true(condition) { then } else { otherwise };
                self.eval(chosen, current)?
            }
            Op::List(items) => {
                let base = self.memory.arena.stack.len();
                for item in items {
                    let item = self.eval(item, current)?;
                    self.memory.arena.stack.push(item);
                }
                self.list_from(base)?
            }
            Op::Object(members) => {
                let base = self.memory.arena.stack.len();
                for ((_, key), value) in members {
                    let value = self.eval(value, current)?;
                    self.memory.arena.stack.extend([*key, value]);
                }
                self.object_from(base)?
            }
            Op::Call(call) => functions::call(self, call, current)?,
            Op::Shared(part, op) => self.shared(*part, op, current)?,
            Op::Let(bindings, body) => {
                for (slot, value) in bindings {
                    let value = self.eval(value, current)?;
                    if let Some(variable) = self.memory.arena.variables.get_mut(*slot) {
                        *variable = value;
                    }
                }
                self.eval(body, current)?
            }
        })
    }

    /// What is at an input.
    fn input(&mut self, number: usize) -> Outcome<Val> {
        let index = self.inputs.get(number).copied().unwrap_or(usize::MAX);
        Ok(match self.event.found(index) {
            None => Val::Null,
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
    fn shared(&mut self, part: SharedPart, op: &'v Op, current: Val) -> Outcome<Val> {
        let Some(of) = self.event.elements().get(part.level).copied() else {
            return self.eval(op, current);
        };
        if let Some(Known { value, made }) = self.memory.known(part, of) {
            self.count_made(made)?;
            return value.or_else(|failure| self.failed(failure));
        }
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

    /// The first element of what a filter or a projection gives. Elements behind it aren't looked at.
    fn first(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        let (list, condition, right, test) = match op {
            Op::Filter(list, condition, right, test) => (list, Some(&**condition), right, test),
            Op::Project(list, right, false) => (list, None, right, &None),
            op => {
                let list = self.eval(op, current)?;
                return self.index(list, 0);
            }
        };
        self.spend(0)?;
        let list = self.eval(list, current)?;
        let right = right.as_deref();
        if let (Some(test), Some(condition)) = (test, condition)
            && let Some(sought) = self.sought(list, test, condition, current)?
        {
            let rest = test.rest(condition);
            let mut next = 0;
            while let Some((element, behind)) = self.next_found(sought, next) {
                next = behind;
                match self.projected(element, rest, right)? {
                    Val::Null => {}
                    value => return Ok(value),
                }
            }
            return Ok(Val::Null);
        }
        let Some(mut items) = self.items(list)? else { return Ok(Val::Null) };
        let condition = condition.map(Conjuncts::all);
        while let Some(element) = self.next(&mut items) {
            match self.projected(element, condition, right)? {
                Val::Null => {}
                value => return Ok(value),
            }
        }
        Ok(Val::Null)
    }

    /// What is made of an element; null where a condition isn't true for it.
    #[inline]
    fn projected(
        &mut self,
        element: Val,
        condition: Option<Conjuncts<'v>>,
        right: Option<&'v Op>,
    ) -> Outcome<Val> {
        self.spend(0)?;
        if let Some(condition) = condition
            && !self.all_hold(condition, element)?
        {
            return Ok(Val::Null);
        }
        match right {
            Some(right) => self.eval(right, element),
            None => Ok(element),
        }
    }

    /// Whether conditions hold for an element. It goes as deep as an expression nests.
    #[inline]
    fn all_hold(&mut self, conditions: Conjuncts<'v>, element: Val) -> Outcome<bool> {
        let (before, last) = conditions.split();
        if let Some(before) = before
            && !self.all_hold(before, element)?
        {
            return Ok(false);
        }
        let Some(last) = last else { return Ok(true) };
        let holds = self.eval(last, element)?;
        Ok(self.is_true(holds))
    }

    /// What is sought among what the elements of a list have under a key. The first time that a key is asked for all of the list is
    /// gone over, and each further time what was found. `None` of a list that another one may be in the place of, and where no
    /// string is sought.
    fn sought(
        &mut self,
        list: Val,
        test: &KeyTest,
        condition: &'v Op,
        current: Val,
    ) -> Outcome<Option<Sought>> {
        let stable = match list {
            Val::Taped { document: 0, index, is_object: false } => StableList::Event(index),
            Val::List(run) if self.memory.arena.is_kept(run) => StableList::Kept(run),
            _ => return Ok(None),
        };
        let Some(sought) = test.sought(condition) else { return Ok(None) };
        // It is the same for every element, and so isn't of the current one.
        let sought = self.eval(sought, current)?;
        let Some(text) = self.text_part(sought)? else { return Ok(None) };
        let place = match self.memory.tables.known(stable, &test.key) {
            Some(place) => place,
            None => {
                let Some(mut items) = self.items(list)? else { return Ok(None) };
                let place = self.memory.tables.begin_list(&test.key);
                while let Some(element) = self.next(&mut items) {
                    self.spend(0)?;
                    let text = self.field(element, &test.key)?;
                    if text.kind() == JsonType::String {
                        self.memory.tables.push(place, KeyEntry { text, element });
                    }
                }
                self.memory.tables.end_list(place, stable);
                place
            }
        };
        self.spend_looks(self.memory.tables.entries(place).len())?;
        Ok(Some(Sought { place, text }))
    }

    /// The first element from the entry with that number on that has what is sought, and the number of the entry behind it.
    fn next_found(&self, sought: Sought, from: usize) -> Option<(Val, usize)> {
        let text = self.written(sought.text);
        let entries = self.memory.tables.entries(sought.place);
        let is_same = |entry: &KeyEntry| match entry.text {
            Val::Text(part) => part.len() == text.len() && self.written(part) == text,
            _ => self.text(entry.text).is_some_and(|found| found == text),
        };
        let found = entries.get(from..)?.iter().position(is_same)?;
        Some((entries.get(from + found)?.element, from + found + 1))
    }

    pub(super) fn field(&mut self, value: Val, key: &WantedKey) -> Outcome<Val> {
        let object = match value {
            Val::Written { is_object: true, .. } => self.opened(value)?,
            value => value,
        };
        let (found, looks) = match object {
            Val::Taped { document, index, is_object: true } => {
                let doc = self.document(document);
                let (found, looks) = doc.tape.member(doc.text.as_bytes(), index, key);
                (found.map(|member| self.taped(document, member)), looks)
            }
            Val::Object(run) => {
                let members = self.memory.arena.members(run);
                let found = members
                    .iter()
                    .find(|(name, _)| self.text(*name).is_some_and(|name| name == key.text()));
                (found.map(|(_, value)| *value), run.count as usize)
            }
            _ => return Ok(Val::Null),
        };
        self.spend_looks(looks)?;
        Ok(found.unwrap_or(Val::Null))
    }

    fn index(&mut self, list: Val, index: i64) -> Outcome<Val> {
        let Some(mut items) = self.items(list)? else { return Ok(Val::Null) };
        let index = match usize::try_from(index) {
            Ok(index) => Some(index),
            Err(_) => {
                let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
                self.length(list)?.checked_sub(back)
            }
        };
        let Some(index) = index else { return Ok(Val::Null) };
        Ok(match &mut items {
            Items::List(run, _) => self.memory.arena.value(*run, index).unwrap_or(Val::Null),
            Items::Taped(document, inside) => {
                let tape = self.document(*document).tape;
                let (mut looks, mut found) = (0, None);
                while let Some(at) = inside.next(tape) {
                    looks += 1;
                    if looks > index {
                        found = Some(self.taped(*document, at));
                        break;
                    }
                }
                self.spend_looks(looks)?;
                found.unwrap_or(Val::Null)
            }
        })
    }

    fn slice(&mut self, list: Val, slice: Slice) -> Outcome<Val> {
        if let Some(mut items) = self.items(list)? {
            let length = self.length(list)?;
            self.spend_looks(length)?;
            let (start, count) = slice.of(length);
            let step = usize::try_from(slice.step.unsigned_abs()).unwrap_or(usize::MAX);
            let base = self.base();
            let (first, last) = match slice.step > 0 {
                true => (start, usize::MAX),
                // From the lowest index that is taken, and then the other way round.
                false => {
                    (start.saturating_sub(step.saturating_mul(count.saturating_sub(1))), start)
                }
            };
            let (mut index, mut taken) = (0, 0);
            while taken < count
                && let Some(item) = self.next(&mut items)
            {
                if index >= first && index <= last && (index - first).is_multiple_of(step) {
                    self.push(item);
                    taken += 1;
                }
                index += 1;
            }
            if slice.step < 0 {
                self.memory.arena.stack.get_mut(base..).unwrap_or_default().reverse();
            }
            return self.list_from(base);
        }
        if list.kind() != JsonType::String {
            return Ok(Val::Null);
        }
        self.make(list.size().saturating_mul(4))?;
        let text = self.text(list).unwrap_or_default();
        let (start, count) = slice.of(text.chars().count());
        let step = usize::try_from(slice.step.unsigned_abs()).unwrap_or(usize::MAX);
        let sliced: String = if slice.step > 0 {
            text.chars().skip(start).step_by(step).take(count).collect()
        } else {
            let all: Vec<char> = text.chars().take(start + 1).collect();
            all.into_iter().rev().step_by(step).take(count).collect()
        };
        self.make_text(&sliced)
    }

    fn flatten(&mut self, list: Val) -> Outcome<Val> {
        let Some(mut items) = self.items(list)? else { return Ok(Val::Null) };
        let base = self.base();
        while let Some(item) = self.next(&mut items) {
            match self.items(item)? {
                None => self.push(item),
                Some(mut inner) => {
                    while let Some(item) = self.next(&mut inner) {
                        self.spend(0)?;
                        self.push(item);
                    }
                }
            }
        }
        self.list_from(base)
    }

    /// What is made of each element for which a condition is true, null left out.
    fn project(
        &mut self,
        mut items: Items,
        condition: Option<Conjuncts<'v>>,
        right: Option<&'v Op>,
    ) -> Outcome<Val> {
        let base = self.base();
        while let Some(item) = self.next(&mut items) {
            match self.projected(item, condition, right)? {
                Val::Null => {}
                value => self.push(value),
            }
        }
        self.list_from(base)
    }
}
