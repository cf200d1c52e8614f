//! Values, made.

use foldhash::{HashMap, HashMapExt};
use std::borrow::Cow;

use super::super::memory::Member;
use super::super::memory::trimmed;
use super::super::number::Number;
use super::super::value::{Form, LITERALS, MADE, Part, Run, Val};
use super::read::of_text;
use super::{FEW_KEYS, ITEM, Machine, Outcome};
use crate::plan::expr::Lookup;
use crate::plan::expr::conversion::MAX_TEXT_BYTES;
use crate::plan::expr::fuel::Cost;

impl<L: Lookup> Machine<'_, '_, L> {
    /// A copy of valid JSON.
    pub(in crate::plan::expr::query) fn made_json(&mut self, json: &str) -> Outcome<Val> {
        let first = json.as_bytes().first().copied();
        if matches!(first, Some(b'{' | b'[')) {
            self.spend(json.len())?;
            return Ok(self.memory.arena.push_json(json));
        }
        let part = self.memory.arena.push_text(json);
        let escaped = memchr::memchr(b'\\', json.as_bytes()).is_some();
        Ok(of_text(first, part, escaped, None))
    }

    /// The value of JSON that a text is; `None` where it isn't JSON. What is in it are places in the text.
    pub(in crate::plan::expr::query) fn parsed(&mut self, part: Part) -> Outcome<Option<Val>> {
        let mut part = trimmed(part, self.written(part));
        if part.document != MADE {
            self.make(part.len())?;
            let doc = if part.document == LITERALS {
                self.literals
            } else {
                self.event.document(part.document)
            };
            part = self.memory.arena.push_text(doc.part(part.start, part.end));
        }
        let first = self.written(part).as_bytes().first().copied();
        let parsed = self.memory.arena.parsed(part);
        Ok(parsed.map(|(index, escaped)| of_text(first, part, escaped, Some(index))))
    }

    /// The value of JSON that a string of the event is, inner `None` where it isn't JSON: read once for all that ask. What was made for it
    /// counts again. `None` where it is no such string, or no more is remembered.
    pub(in crate::plan::expr::query) fn json_of_event(
        &mut self,
        value: Val,
        cost: Cost,
    ) -> Outcome<Option<Option<Val>>> {
        let (Form::Text(part) | Form::Escaped(part)) = value.form() else { return Ok(None) };
        if part.document != 0 || part.len() > MAX_TEXT_BYTES {
            return Ok(None);
        }
        let Some(has_read) = self.memory.has_read(part) else { return Ok(None) };
        if has_read {
            self.spend_cost(cost, 0)?;
            self.count_made(part.len())?;
        } else {
            self.spend_cost(cost, part.len())?;
            self.make(part.len())?;
        }
        let written = self.outer.part(part.start, part.end);
        let index = self.memory.json_in(part, written);
        Ok(Some(index.map(|index| self.taped(MADE, index))))
    }

    /// Puts a value on the stack, for a list.
    pub(in crate::plan::expr::query) fn push(&mut self, value: Val) {
        self.memory.arena.stack.push(value);
    }

    /// Where a list on the stack begins.
    pub(in crate::plan::expr::query) fn base(&self) -> usize {
        self.memory.arena.stack.len()
    }

    /// A list of the values on the stack from `base` on.
    pub(in crate::plan::expr::query) fn list_from(&mut self, base: usize) -> Outcome<Val> {
        let count = self.memory.arena.stack.len().saturating_sub(base);
        self.make(count.saturating_mul(ITEM))?;
        Ok(self.memory.arena.list_from(base))
    }

    /// An object of the keys and values on the stack from `base` on; of equal keys the last one counts, in the place of the first.
    pub(in crate::plan::expr::query) fn object_from(&mut self, base: usize) -> Outcome<Val> {
        let count = self.memory.arena.stack.len().saturating_sub(base) / 2;
        self.make(count.saturating_mul(2 * ITEM))?;
        let start = self.memory.arena.next_member();
        for index in 0..count {
            let at = base + 2 * index;
            let Some([key, value]) = self.memory.arena.stack.get(at..at + 2) else { break };
            let member = (*key, *value);
            self.memory.arena.push_member(member);
        }
        self.memory.arena.stack.truncate(base);
        Ok(Val::object(self.distinct_from(start)))
    }

    /// The members from `start` on: of equal keys the last one, in the place of the first.
    pub(super) fn distinct_from(&mut self, start: usize) -> Run {
        let all = self.memory.arena.object_from(start);
        let count = all.count as usize;
        // Most objects have each key once, and few of them.
        let is_repeated = |later| (0..later).any(|earlier| self.is_same_key(all, earlier, later));
        if count <= FEW_KEYS && !(1..count).any(is_repeated) {
            return all;
        }
        let mut places: HashMap<Cow<'_, str>, usize> = HashMap::with_capacity(count);
        let mut kept: Vec<Member> = Vec::with_capacity(count);
        for (key, value) in self.memory.arena.members(all) {
            let Some(name) = self.text(*key) else { continue };
            let next = kept.len();
            match kept.get_mut(*places.entry(name).or_insert(next)) {
                Some((_, kept)) => *kept = *value,
                None => kept.push((*key, *value)),
            }
        }
        drop(places);
        self.memory.arena.truncate_members(start);
        kept.into_iter().for_each(|member| self.memory.arena.push_member(member));
        self.memory.arena.object_from(start)
    }

    fn is_same_key(&self, all: Run, one: usize, other: usize) -> bool {
        let key = |index| self.memory.arena.member(all, index).and_then(|(key, _)| self.text(key));
        key(one) == key(other)
    }

    /// A number that is made.
    pub(in crate::plan::expr::query) fn made_number(&mut self, number: Number) -> Outcome<Val> {
        self.make(ITEM)?;
        Ok(self.memory.arena.push_number(number))
    }

    /// A text that was put together in what [`begin_text`](super::super::memory::Arena::begin_text) gave.
    pub(in crate::plan::expr::query) fn make_written(&mut self, text: String) -> Outcome<Val> {
        self.make(text.len())?;
        Ok(Val::text(self.memory.arena.push_written(text)))
    }

    /// A text that is made.
    pub(in crate::plan::expr::query) fn make_text(&mut self, text: &str) -> Outcome<Val> {
        self.make(text.len())?;
        Ok(Val::text(self.memory.arena.push_text(text)))
    }
}
