//! Expressions, evaluated over the bytes of an event.
//!
//! Everything is paid for: each part that is evaluated, and what it goes over or makes, before it is made. It goes as deep as an
//! expression nests, and never as deep as an event does.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{Failure, FailureKind};
use super::functions;
use super::keyed::{KeyEntry, KeyTest, StableList};
use super::memory::{Known, Member, Memory};
use super::number::Number;
use super::program::{Op, Program};
use super::shared::SharedPart;
use super::tree::{Comparison, Slice};
use super::value::{DocumentNumber, LITERALS, MADE, Part, Run, Val};
use crate::json::string;
use crate::json::tape::{Doc, Inside, TapeIndex};
use crate::plan::expr::conversion::{Data, MAX_TEXT_BYTES};
use crate::plan::expr::evaluate::Found;
use crate::plan::expr::fuel::{self, OutOfFuel};
use crate::plan::expr::{JsonType, Lookup, Zone};

/// Bytes of all lists and texts that the evaluation of one expression may make.
const MAX_MADE_BYTES: usize = 64 << 20;

/// Why an evaluation has ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    OutOfFuel(OutOfFuel),
    Failed(Failure),
}

/// That an evaluation has ended early. Why is kept in the machine, so that what is handed on fits into registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halt;

/// Bytes that a value or a member is counted as that is made.
pub(super) const ITEM: usize = size_of::<Val>();
/// How many keys of an object are compared one by one.
const FEW_KEYS: usize = 16;

pub(super) type Outcome<T> = Result<T, Halt>;

/// What evaluates one expression for one event.
pub(super) struct Machine<'v, 'f, L> {
    event: &'v L,
    inputs: &'v [usize],
    fuel: &'f mut u64,
    /// Bytes that may still be made.
    left: usize,
    /// Whether what a string holds as JSON is null where it is an object or an array: something that is read may hold what a
    /// policy denies.
    pub(super) withholds_nested: bool,
    literals: Doc<'v>,
    /// Why it has ended early, if it has.
    stopped: Option<Stop>,
    pub(super) memory: &'f mut Memory,
    /// In which times without an offset are read.
    pub(super) zone: Option<&'v Zone>,
}

/// The elements of an array, one after the other.
#[derive(Clone, Copy)]
pub(super) enum Items {
    Taped(DocumentNumber, Inside),
    List(Run, usize),
}

impl<'v, 'f, L: Lookup> Machine<'v, 'f, L> {
    /// For a program whose inputs are found under these numbers.
    pub(super) fn new(
        program: &'v Program,
        inputs: &'v [usize],
        event: &'v L,
        fuel: &'f mut u64,
        memory: &'f mut Memory,
    ) -> Self {
        memory.arena.variables.resize(program.variables, Val::Null);
        let withholds_nested = inputs.iter().any(|index| event.withholds_nested(*index));
        Self {
            event,
            inputs,
            fuel,
            left: MAX_MADE_BYTES,
            withholds_nested,
            literals: program.literals.doc(),
            stopped: None,
            memory,
            zone: program.zone.as_ref(),
        }
    }

    pub(super) fn eval(&mut self, op: &'v Op, current: Val) -> Outcome<Val> {
        self.spend(0)?;
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
                    && let Some(found) = self.keyed(list, test, condition, current)?
                {
                    let rest = (!test.is_all()).then_some(&**condition);
                    return match (rest, right) {
                        (None, None) => Ok(Val::List(found)),
                        (rest, right) => {
                            self.project(Items::List(found, 0), rest, right.as_deref())
                        }
                    };
                }
                match self.items(list)? {
                    Some(items) => self.project(items, Some(condition), right.as_deref())?,
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

    /// A copy of valid JSON.
    pub(super) fn made_json(&mut self, json: &str) -> Outcome<Val> {
        let first = json.as_bytes().first().copied();
        if matches!(first, Some(b'{' | b'[')) {
            self.spend(json.len())?;
            return Ok(self.memory.arena.push_json(json));
        }
        let part = self.memory.arena.push_text(json);
        let escaped = memchr::memchr(b'\\', json.as_bytes()).is_some();
        Ok(of_text(first, part, escaped, None))
    }

    /// What a place is in.
    #[inline]
    pub(super) fn document(&self, number: DocumentNumber) -> Doc<'_> {
        match number {
            MADE => self.memory.arena.doc(),
            LITERALS => self.literals,
            level => self.event.document(level),
        }
    }

    /// The text of a part.
    #[inline]
    pub(super) fn written(&self, part: Part) -> &str {
        self.document(part.document).part(part.start, part.end)
    }

    /// A value on the tape of a document.
    #[inline]
    fn taped(&self, document: DocumentNumber, index: TapeIndex) -> Val {
        let doc = self.document(document);
        let (start, end) = doc.tape.range(index);
        let first = doc.text.as_bytes().get(start as usize).copied();
        let escaped = first == Some(b'"') && doc.tape.is_escaped(index);
        of_text(first, Part { document, start, end }, escaped, Some(index))
    }

    /// Ends the evaluation: the expression fails.
    #[cold]
    pub(super) fn fail<T>(
        &mut self,
        kind: FailureKind,
        at: usize,
        expected: &'static str,
    ) -> Outcome<T> {
        self.failed(Failure { kind, at, expected })
    }

    #[cold]
    fn failed<T>(&mut self, failure: Failure) -> Outcome<T> {
        self.stopped = Some(Stop::Failed(failure));
        Err(Halt)
    }

    /// Why the evaluation has ended early.
    pub(super) fn stop(&mut self, Halt: Halt) -> Stop {
        self.stopped.take().unwrap_or(Stop::OutOfFuel(OutOfFuel { missing: 0 }))
    }

    #[inline]
    fn pay(&mut self, cost: u64) -> Outcome<()> {
        fuel::spend(self.fuel, cost).map_err(|spent| {
            self.stopped = Some(Stop::OutOfFuel(spent));
            Halt
        })
    }

    /// Pays for a step, and for so many bytes that are gone over.
    #[inline]
    pub(super) fn spend(&mut self, bytes: usize) -> Outcome<()> {
        self.pay(fuel::STEP.of(bytes))
    }

    /// Pays for so many values that were looked at.
    fn spend_looks(&mut self, looks: usize) -> Outcome<()> {
        self.pay(fuel::LOOK.step.saturating_mul(looks as u64))
    }

    /// Pays for what a conversion does.
    pub(super) fn spend_cost(&mut self, cost: fuel::Cost, bytes: usize) -> Outcome<()> {
        self.pay(cost.of(bytes))
    }

    /// Pays for bytes that are to be made.
    pub(super) fn make(&mut self, bytes: usize) -> Outcome<()> {
        self.spend(bytes)?;
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.fail(FailureKind::TooLarge, 0, "less to be made on the way"),
        }
    }

    /// The value of JSON that a text is; `None` where it isn't JSON. What is in it are places in the text.
    pub(super) fn parsed(&mut self, part: Part) -> Outcome<Option<Val>> {
        let text = self.written(part);
        let space = [' ', '\n', '\r', '\t'];
        let start = text.len() - text.trim_start_matches(space).len();
        let mut part = part.part(start, text.trim_end_matches(space).len().max(start));
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

    /// A list of the values on the stack from `base` on.
    pub(super) fn list_from(&mut self, base: usize) -> Outcome<Val> {
        let count = self.memory.arena.stack.len().saturating_sub(base);
        self.make(count.saturating_mul(ITEM))?;
        Ok(self.memory.arena.list_from(base))
    }

    /// Puts a value on the stack, for a list.
    pub(super) fn push(&mut self, value: Val) {
        self.memory.arena.stack.push(value);
    }

    /// Where a list on the stack begins.
    pub(super) fn base(&self) -> usize {
        self.memory.arena.stack.len()
    }

    /// An object of the keys and values on the stack from `base` on; of equal keys the last one counts, in the place of the first.
    pub(super) fn object_from(&mut self, base: usize) -> Outcome<Val> {
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
        Ok(Val::Object(self.distinct_from(start)))
    }

    /// The members from `start` on: of equal keys the last one, in the place of the first.
    fn distinct_from(&mut self, start: usize) -> Run {
        let all = self.memory.arena.object_from(start);
        let count = all.count as usize;
        // By index: where it has its place, and what it is. Most objects have each key once.
        let mut moved: Option<Vec<Member>> = None;
        if count <= FEW_KEYS {
            let repeats = (1..count)
                .any(|later| (0..later).any(|earlier| self.is_same_key(all, earlier, later)));
            if !repeats {
                return all;
            }
        }
        {
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
            if kept.len() < count {
                moved = Some(kept);
            }
        }
        if let Some(kept) = moved {
            self.memory.arena.truncate_members(start);
            kept.into_iter().for_each(|member| self.memory.arena.push_member(member));
        }
        self.memory.arena.object_from(start)
    }

    fn is_same_key(&self, all: Run, one: usize, other: usize) -> bool {
        let key = |index| self.memory.arena.member(all, index).and_then(|(key, _)| self.text(key));
        key(one) == key(other)
    }

    /// A number that is made.
    pub(super) fn made_number(&mut self, number: Number) -> Outcome<Val> {
        self.make(ITEM)?;
        Ok(self.memory.arena.push_number(number))
    }

    /// A text that is made.
    pub(super) fn make_text(&mut self, text: &str) -> Outcome<Val> {
        self.make(text.len())?;
        Ok(Val::Text(self.memory.arena.push_text(text)))
    }

    /// The characters of a string.
    pub(super) fn text(&self, value: Val) -> Option<Cow<'_, str>> {
        match value {
            Val::Text(part) => Some(Cow::Borrowed(self.written(part))),
            Val::Escaped(part) => string::unescape(self.written(part)).map(Cow::Owned),
            _ => None,
        }
    }

    /// A string as a part of some document, without escapes.
    pub(super) fn text_part(&mut self, value: Val) -> Outcome<Option<Part>> {
        Ok(match value {
            Val::Text(part) => Some(part),
            Val::Escaped(part) => {
                self.make(part.len())?;
                match part.document {
                    MADE => self.memory.arena.push_unescaped_part(part),
                    LITERALS => {
                        let inside = self.literals.part(part.start, part.end);
                        self.memory.arena.push_unescaped(inside)
                    }
                    level => {
                        let inside = self.event.document(level).part(part.start, part.end);
                        self.memory.arena.push_unescaped(inside)
                    }
                }
            }
            _ => None,
        })
    }

    pub(super) fn number_of(&self, value: Val) -> Option<Number> {
        match value {
            Val::Small(small) => Some(Number::from(i64::from(small))),
            Val::Number(index) => self.memory.arena.number(index),
            Val::Digits(part) => Number::read(self.written(part)),
            _ => None,
        }
    }

    fn number(&mut self, value: Val, at: usize) -> Outcome<Number> {
        self.spend(value.size().min(64))?;
        match self.number_of(value) {
            Some(number) => Ok(number),
            None => self.fail(FailureKind::InvalidType, at, "numbers on both sides"),
        }
    }

    /// Whether it counts as true: all but null, `false`, and what is empty.
    pub(super) fn is_true(&self, value: Val) -> bool {
        match value {
            Val::Null => false,
            Val::Boolean(truth) => truth,
            Val::Small(_) | Val::Number(_) | Val::Digits(_) => true,
            Val::Text(part) | Val::Escaped(part) => part.len() > 0,
            Val::List(run) | Val::Object(run) => run.count > 0,
            Val::Taped { document, index, .. } => {
                let tape = self.document(document).tape;
                tape.inside(index).next(tape).is_some()
            }
            Val::Written { part, .. } => {
                let inside = self.written(part).as_bytes().get(1..).unwrap_or_default();
                let first = inside.iter().find(|byte| !byte.is_ascii_whitespace());
                !matches!(first, Some(b']' | b'}') | None)
            }
        }
    }

    /// An array or object that is on a tape or was made; one that is neither is put on a tape.
    fn opened(&mut self, value: Val) -> Outcome<Val> {
        let Val::Written { part, .. } = value else { return Ok(value) };
        self.make(part.len())?;
        let json = self.written(part).to_owned();
        Ok(self.memory.arena.push_json(&json))
    }

    /// The elements of an array; none of anything else.
    pub(super) fn items(&mut self, value: Val) -> Outcome<Option<Items>> {
        if value.kind() != JsonType::Array {
            return Ok(None);
        }
        self.spend(0)?;
        Ok(match self.opened(value)? {
            Val::Taped { document, index, .. } => {
                Some(Items::Taped(document, self.document(document).tape.inside(index)))
            }
            Val::List(run) => Some(Items::List(run, 0)),
            _ => None,
        })
    }

    /// The next element.
    #[inline]
    pub(super) fn next(&self, items: &mut Items) -> Option<Val> {
        match items {
            Items::Taped(document, inside) => {
                let index = inside.next(self.document(*document).tape)?;
                Some(self.taped(*document, index))
            }
            Items::List(run, next) => {
                *next += 1;
                self.memory.arena.value(*run, *next - 1)
            }
        }
    }

    /// How many elements an array has.
    pub(super) fn length(&mut self, list: Val) -> Outcome<usize> {
        let count = match self.items(list)? {
            Some(Items::Taped(document, inside)) => inside.count(self.document(document).tape),
            Some(Items::List(run, _)) => return Ok(run.count as usize),
            None => 0,
        };
        self.spend_looks(count)?;
        Ok(count)
    }

    /// A part whose value is kept. To read it again costs a step, and what was made for it counts again.
    fn shared(&mut self, part: SharedPart, op: &'v Op, current: Val) -> Outcome<Val> {
        let Some(of) = self.event.elements().get(part.level).copied() else {
            return self.eval(op, current);
        };
        if let Some(Known { value, made }) = self.memory.known(part, of) {
            self.left = match self.left.checked_sub(made) {
                Some(left) => left,
                None => return self.fail(FailureKind::TooLarge, 0, "less to be made on the way"),
            };
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

    /// The elements of a list that have under a key what is sought there. The first time that a key is asked for all of the list is
    /// gone over, and each further time what was found. `None` of a list that another one may be in the place of, and where no
    /// string is sought.
    fn keyed(
        &mut self,
        list: Val,
        test: &KeyTest,
        condition: &'v Op,
        current: Val,
    ) -> Outcome<Option<Run>> {
        let stable = match list {
            Val::Taped { document: 0, index, is_object: false } => StableList::Event(index),
            Val::List(run) if self.memory.arena.is_kept(run) => StableList::Kept(run),
            _ => return Ok(None),
        };
        let Some(sought) = test.sought(condition) else { return Ok(None) };
        // It is the same for every element, and so isn't of the current one.
        let sought = self.eval(sought, current)?;
        let Some(sought) = self.text_part(sought)? else { return Ok(None) };
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
        let all = self.memory.tables.len(place);
        self.spend_looks(all)?;
        let base = self.base();
        for index in 0..all {
            let Some(KeyEntry { text, element }) = self.memory.tables.entry(place, index) else {
                break;
            };
            let is_same = match text {
                Val::Text(part) => self.written(part) == self.written(sought),
                _ => self.text(text).is_some_and(|text| text == self.written(sought)),
            };
            if is_same {
                self.push(element);
            }
        }
        match self.list_from(base)? {
            Val::List(run) => Ok(Some(run)),
            _ => Ok(None),
        }
    }

    /// The members of an object, each key once; none of anything else.
    pub(super) fn members(&mut self, value: Val) -> Outcome<Option<Run>> {
        if value.kind() != JsonType::Object {
            return Ok(None);
        }
        self.spend(0)?;
        match self.opened(value)? {
            Val::Object(members) => {
                self.spend_looks(members.count as usize)?;
                Ok(Some(members))
            }
            Val::Taped { document, index, .. } => {
                let mut inside = self.document(document).tape.inside(index);
                let start = self.memory.arena.next_member();
                loop {
                    let doc = self.document(document);
                    let Some(member) = inside.next(doc.tape) else { break };
                    let Some((key, escaped)) = doc.tape.key(doc.text.as_bytes(), member) else {
                        break;
                    };
                    let part = Part { document, start: key.start as u32, end: key.end as u32 };
                    let key = if escaped { Val::Escaped(part) } else { Val::Text(part) };
                    self.make(2 * ITEM)?;
                    let value = self.taped(document, member);
                    self.memory.arena.push_member((key, value));
                }
                Ok(Some(self.distinct_from(start)))
            }
            _ => Ok(None),
        }
    }

    pub(super) fn member(&self, members: Run, index: usize) -> Option<Member> {
        self.memory.arena.member(members, index)
    }

    fn field(&mut self, value: Val, key: &str) -> Outcome<Val> {
        if value.kind() != JsonType::Object {
            return Ok(Val::Null);
        }
        let (found, looks) = match self.opened(value)? {
            Val::Taped { document, index, .. } => {
                let doc = self.document(document);
                let (found, looks) = doc.tape.member(doc.text.as_bytes(), index, key);
                (found.map(|member| self.taped(document, member)), looks)
            }
            Val::Object(run) => {
                let members = self.memory.arena.members(run);
                let found = members
                    .iter()
                    .find(|(name, _)| self.text(*name).is_some_and(|name| name == key));
                (found.map(|(_, value)| *value), run.count as usize)
            }
            _ => (None, 0),
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
        condition: Option<&'v Op>,
        right: Option<&'v Op>,
    ) -> Outcome<Val> {
        let base = self.base();
        while let Some(item) = self.next(&mut items) {
            self.spend(0)?;
            if let Some(condition) = condition {
                let holds = self.eval(condition, item)?;
                if !self.is_true(holds) {
                    continue;
                }
            }
            let value = match right {
                Some(right) => self.eval(right, item)?,
                None => item,
            };
            if !matches!(value, Val::Null) {
                self.push(value);
            }
        }
        self.list_from(base)
    }

    fn compare(&mut self, comparison: Comparison, left: Val, right: Val) -> Outcome<Val> {
        Ok(match comparison {
            Comparison::Equal => Val::Boolean(self.equal(left, right)?),
            Comparison::NotEqual => Val::Boolean(!self.equal(left, right)?),
            _ => {
                self.spend(left.size().min(64) + right.size().min(64))?;
                let order = match (self.number_of(left), self.number_of(right)) {
                    (Some(left), Some(right)) => comparison.orders(left.cmp(&right)),
                    _ => None,
                };
                order.map_or(Val::Null, Val::Boolean)
            }
        })
    }

    /// Whether two values are equal, however they are written. What is inside of them waits in a list, so that no value is too
    /// deep.
    pub(super) fn equal(&mut self, left: Val, right: Val) -> Outcome<bool> {
        let mut pairs: Vec<(Val, Val)> = Vec::new();
        let mut next = Some((left, right));
        while let Some((left, right)) = next {
            self.spend(left.size().min(right.size()))?;
            if left.kind() != right.kind() {
                return Ok(false);
            }
            let same = match left.kind() {
                JsonType::Null => true,
                JsonType::Boolean => self.is_true(left) == self.is_true(right),
                JsonType::Number => self.number_of(left) == self.number_of(right),
                JsonType::String => self.text(left) == self.text(right),
                JsonType::Array => {
                    let (Some(mut ones), Some(mut others)) =
                        (self.items(left)?, self.items(right)?)
                    else {
                        return Ok(false);
                    };
                    loop {
                        match (self.next(&mut ones), self.next(&mut others)) {
                            (Some(one), Some(other)) => {
                                self.make(2 * ITEM)?;
                                pairs.push((one, other));
                            }
                            (None, None) => break true,
                            _ => break false,
                        }
                    }
                }
                JsonType::Object => {
                    let (Some(ones), Some(others)) = (self.members(left)?, self.members(right)?)
                    else {
                        return Ok(false);
                    };
                    self.make((ones.count as usize).saturating_mul(2 * ITEM))?;
                    let by_key: HashMap<Cow<'_, str>, Val> =
                        (self.memory.arena.members(others).iter())
                            .filter_map(|(key, value)| Some((self.text(*key)?, *value)))
                            .collect();
                    let ones = self.memory.arena.members(ones);
                    ones.len() == by_key.len()
                        && ones.iter().all(|(key, one)| {
                            let other = self.text(*key).and_then(|key| by_key.get(&key).copied());
                            pairs.extend(other.map(|other| (*one, other)));
                            other.is_some()
                        })
                }
            };
            if !same {
                return Ok(false);
            }
            next = pairs.pop();
        }
        Ok(true)
    }

    /// A value as conversions take it. `json` is that of a value that was made; none of null.
    pub(super) fn data<'d>(&'d self, value: Val, json: &'d str) -> Option<Data<'d>> {
        Some(match value {
            Val::Null => return None,
            Val::Boolean(truth) => Data::Boolean(truth),
            Val::Text(_) | Val::Escaped(_) => Data::String(self.text(value)?),
            Val::Digits(part) => Data::Number(self.written(part).into()),
            Val::Small(_) | Val::Number(_) => Data::Number(self.number_of(value)?.to_json().into()),
            Val::Taped { document, index, is_object } => {
                let doc = self.document(document);
                let (start, end) = doc.tape.range(index);
                let json = doc.part(start, end).into();
                if is_object { Data::Object(json) } else { Data::Array(json) }
            }
            Val::Written { part, is_object: true } => Data::Object(self.written(part).into()),
            Val::Written { part, .. } => Data::Array(self.written(part).into()),
            Val::List(_) => Data::Array(json.into()),
            Val::Object(_) => Data::Object(json.into()),
        })
    }

    /// Whether some object in a value as it is written has a key twice.
    pub(super) fn repeats_keys(&mut self, value: Val) -> Outcome<bool> {
        let Val::Taped { document, index, .. } = value else { return Ok(false) };
        let (start, end) = self.document(document).tape.range(index);
        self.spend((end - start) as usize)?;
        let doc = self.document(document);
        Ok(doc.tape.repeats_keys(doc.text, index))
    }

    /// Appends the JSON of a value: strings canonical, what is of the event as it is there. It goes as deep as the expression
    /// that has made the value.
    pub(super) fn write(&mut self, value: Val, out: &mut Vec<u8>) -> Outcome<()> {
        let most = out.len().saturating_add(MAX_TEXT_BYTES);
        self.write_within(value, out, most)
    }

    fn write_within(&mut self, value: Val, out: &mut Vec<u8>, most: usize) -> Outcome<()> {
        self.spend(value.size())?;
        match value {
            Val::Null => out.extend_from_slice(b"null"),
            Val::Boolean(truth) => {
                out.extend_from_slice(if truth { b"true" } else { b"false" });
            }
            Val::Digits(part) => out.extend_from_slice(self.written(part).as_bytes()),
            Val::Small(_) | Val::Number(_) => {
                let json = self.number_of(value).map(Number::to_json).unwrap_or_default();
                out.extend_from_slice(json.as_bytes());
            }
            Val::Text(_) | Val::Escaped(_) => {
                string::push_string(out, &self.text(value).unwrap_or_default());
            }
            Val::Written { .. } | Val::Taped { .. } => {
                let value = self.opened(value)?;
                if !self.repeats_keys(value)? {
                    if let Val::Taped { document, index, .. } = value {
                        let doc = self.document(document);
                        let (start, end) = doc.tape.range(index);
                        out.extend_from_slice(doc.part(start, end).as_bytes());
                    }
                } else if let Some(members) = self.members(value)? {
                    // Of equal keys the last one is the value's, here as everywhere.
                    self.write_within(Val::Object(members), out, most)?;
                } else if let Some(mut items) = self.items(value)? {
                    let base = self.base();
                    while let Some(item) = self.next(&mut items) {
                        self.push(item);
                    }
                    let list = self.list_from(base)?;
                    self.write_within(list, out, most)?;
                }
            }
            Val::List(run) => {
                out.push(b'[');
                for index in 0..run.count as usize {
                    if index > 0 {
                        out.push(b',');
                    }
                    let item = self.memory.arena.value(run, index).unwrap_or(Val::Null);
                    self.write_within(item, out, most)?;
                }
                out.push(b']');
            }
            Val::Object(run) => {
                out.push(b'{');
                for index in 0..run.count as usize {
                    if index > 0 {
                        out.push(b',');
                    }
                    let Some((key, value)) = self.member(run, index) else { break };
                    self.spend(key.size())?;
                    string::push_string(out, &self.text(key).unwrap_or_default());
                    out.push(b':');
                    self.write_within(value, out, most)?;
                }
                out.push(b'}');
            }
        }
        if out.len() > most {
            return self.fail(FailureKind::TooLarge, 0, "a result of at most 16 MiB");
        }
        Ok(())
    }
}

/// The value that is written in a part, by its first byte.
#[inline]
fn of_text(first: Option<u8>, part: Part, escaped: bool, taped: Option<TapeIndex>) -> Val {
    match first {
        Some(b'"') => {
            let part = Part { start: part.start + 1, end: part.end - 1, ..part };
            if escaped { Val::Escaped(part) } else { Val::Text(part) }
        }
        Some(bracket @ (b'{' | b'[')) => {
            let is_object = bracket == b'{';
            match taped {
                Some(index) => Val::Taped { document: part.document, index, is_object },
                None => Val::Written { part, is_object },
            }
        }
        Some(b't') => Val::Boolean(true),
        Some(b'f') => Val::Boolean(false),
        Some(b'n') | None => Val::Null,
        Some(_) => Val::Digits(part),
    }
}
