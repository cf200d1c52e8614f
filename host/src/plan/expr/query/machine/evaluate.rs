//! The parts of an expression, evaluated.

use super::super::error::FailureKind;
use super::super::functions;
use super::super::keyed::{Conjuncts, KeyEntry, KeyTablePlace, KeyTest, StableList};
use super::super::memory::Known;
use super::super::program::Op;
use super::super::shared::SharedPart;
use super::super::tree::{Comparison, Operation, Slice};
use super::super::value::{Form, Part, Val};
use super::read::{Items, Rest, of_text};
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
            op => self.eval_part(op, current),
        }
    }

    /// The function of each kind of part is a call of its own, so that none saves the registers that another one takes.
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
    fn project_list(
        &mut self,
        list: &'v Op,
        right: Option<&'v Op>,
        may_be_string: bool,
        current: Val,
    ) -> Outcome<Val> {
        let list = self.eval(list, current)?;
        match (self.items(list)?, right) {
            (Some(items), right) => self.project(items, None, right),
            (None, _) if !may_be_string || list.kind() != JsonType::String => Ok(Val::NULL),
            (None, Some(right)) => self.eval(right, list),
            (None, None) => Ok(list),
        }
    }

    #[inline(never)]
    fn project_values(
        &mut self,
        object: &'v Op,
        right: Option<&'v Op>,
        current: Val,
    ) -> Outcome<Val> {
        let object = self.eval(object, current)?;
        let Some(members) = self.members(object)? else { return Ok(Val::NULL) };
        let base = self.base();
        for index in 0..members.count as usize {
            let value = self.memory.arena.member(members, index);
            self.push(value.map_or(Val::NULL, |(_, value)| value));
        }
        let values = self.memory.arena.list_from(base);
        match self.items(values)? {
            Some(items) => self.project(items, None, right),
            None => Ok(Val::NULL),
        }
    }

    #[inline(never)]
    fn filter(
        &mut self,
        list: &'v Op,
        condition: &'v Op,
        right: Option<&'v Op>,
        test: Option<&KeyTest>,
        current: Val,
    ) -> Outcome<Val> {
        let list = self.eval(list, current)?;
        if let Some(test) = test
            && let Some(sought) = self.sought(list, test, condition, current)?
        {
            let base = self.base();
            let mut next = 0;
            while let Some((at, element)) = self.next_found(sought, next) {
                self.push(element);
                next = at + 1;
            }
            let found = self.list_from(base)?;
            return match (test.rest(condition), right, self.items(found)?) {
                (None, None, _) => Ok(found),
                (rest, right, Some(items)) => self.project(items, rest, right),
                (_, _, None) => Ok(Val::NULL),
            };
        }
        match self.items(list)? {
            Some(items) => self.project(items, Some(Conjuncts::all(condition)), right),
            None => Ok(Val::NULL),
        }
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
    #[inline(never)]
    fn first(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        let (list, condition, right, test) = match op {
            Op::Filter(list, condition, right, test) => (list, Some(&**condition), right, test),
            Op::Project(list, right, false) => (list, None, right, &None),
            op => {
                let list = self.eval(op, current)?;
                return self.element(list, 0);
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
            while let Some((at, element)) = self.next_found(sought, next) {
                next = at + 1;
                match self.projected(element, rest, right)? {
                    value if value.is_null() => {}
                    value => return Ok(value),
                }
            }
            return Ok(Val::NULL);
        }
        let Some(mut items) = self.items(list)? else { return Ok(Val::NULL) };
        let condition = condition.map(Conjuncts::all);
        while let Some(element) = self.next(&mut items) {
            match self.projected(element, condition, right)? {
                value if value.is_null() => {}
                value => return Ok(value),
            }
        }
        Ok(Val::NULL)
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
            return Ok(Val::NULL);
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
        let stable = match list.form() {
            Form::Taped { document: 0, index, is_object: false } => StableList::Event(index),
            Form::List(run) if self.memory.arena.is_kept(run) => StableList::Kept(run),
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

    /// The first entry from the one with that number on that has what is sought: its number, and the element.
    #[inline]
    fn next_found(&self, sought: Sought, from: usize) -> Option<(usize, Val)> {
        let text = self.written(sought.text);
        let entries = self.memory.tables.entries(sought.place);
        let is_same = |entry: &KeyEntry| match entry.text.form() {
            Form::Text(part) => part.len() == text.len() && self.written(part) == text,
            _ => self.text(entry.text).is_some_and(|found| found == text),
        };
        let at = from + entries.get(from..)?.iter().position(is_same)?;
        Some((at, entries.get(at)?.element))
    }

    pub(super) fn field(&mut self, value: Val, key: &WantedKey) -> Outcome<Val> {
        let object = match value.form() {
            Form::Written { is_object: true, .. } => self.opened(value)?,
            _ => value,
        };
        let (found, looks) = match object.form() {
            Form::Taped { document, index, is_object: true } => {
                let doc = self.document(document);
                let (found, looks) = doc.tape.member(doc.text.as_bytes(), index, key);
                (found.map(|member| self.taped(document, member)), looks)
            }
            Form::Object(run) => {
                let members = self.memory.arena.members(run);
                let found = members
                    .iter()
                    .find(|(name, _)| self.text(*name).is_some_and(|name| name == key.text()));
                (found.map(|(_, value)| *value), run.count as usize)
            }
            _ => return Ok(Val::NULL),
        };
        self.spend_looks(looks)?;
        Ok(found.unwrap_or(Val::NULL))
    }

    #[inline(never)]
    fn index(&mut self, list: &'v Op, index: i64, current: Val) -> Outcome<Val> {
        let list = self.eval(list, current)?;
        self.element(list, index)
    }

    fn element(&mut self, list: Val, index: i64) -> Outcome<Val> {
        let Some(items) = self.items(list)? else { return Ok(Val::NULL) };
        let index = match usize::try_from(index) {
            Ok(index) => Some(index),
            Err(_) => {
                let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
                self.length(list)?.checked_sub(back)
            }
        };
        let Some(index) = index else { return Ok(Val::NULL) };
        Ok(match items.rest() {
            Rest::List(run) => self.memory.arena.value(run, index).unwrap_or(Val::NULL),
            Rest::Taped(document, mut inside) => {
                let tape = self.document(document).tape;
                let (mut looks, mut found) = (0, None);
                while let Some(at) = inside.next(tape) {
                    looks += 1;
                    if looks > index {
                        found = Some(self.taped(document, at));
                        break;
                    }
                }
                self.spend_looks(looks)?;
                found.unwrap_or(Val::NULL)
            }
        })
    }

    #[inline(never)]
    fn slice(&mut self, list: &'v Op, slice: Slice, current: Val) -> Outcome<Val> {
        let list = self.eval(list, current)?;
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
            return Ok(Val::NULL);
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

    #[inline(never)]
    fn flatten(&mut self, list: &'v Op, current: Val) -> Outcome<Val> {
        let list = self.eval(list, current)?;
        let Some(mut items) = self.items(list)? else { return Ok(Val::NULL) };
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
                value if value.is_null() => {}
                value => self.push(value),
            }
        }
        self.list_from(base)
    }
}
