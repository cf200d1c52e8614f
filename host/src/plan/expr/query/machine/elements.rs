//! What goes over the elements of lists: projections, filters, and what takes some of them.

use super::super::keyed::{Conjuncts, KeyEntry, KeyTablePlace, KeyTest, StableList};
use super::super::program::Op;
use super::super::tree::Slice;
use super::super::value::{Form, Part, Val};
use super::read::{Items, Rest};
use super::{Machine, Outcome};
use crate::plan::expr::{JsonType, Lookup};

/// A text that is sought among those that a table has.
#[derive(Clone, Copy)]
struct Sought {
    place: KeyTablePlace,
    text: Part,
}

impl<'v, L: Lookup> Machine<'v, '_, L> {
    #[inline(never)]
    pub(super) fn project_list(
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
    pub(super) fn project_values(
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
    pub(super) fn filter(
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

    /// The first element of what a filter or a projection gives. Elements behind it aren't looked at.
    #[inline(never)]
    pub(super) fn first(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
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

    #[inline(never)]
    pub(super) fn index(&mut self, list: &'v Op, index: i64, current: Val) -> Outcome<Val> {
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
    pub(super) fn slice(&mut self, list: &'v Op, slice: Slice, current: Val) -> Outcome<Val> {
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
    pub(super) fn flatten(&mut self, list: &'v Op, current: Val) -> Outcome<Val> {
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
