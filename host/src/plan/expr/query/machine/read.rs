//! Values, read: what they are, and what is in them.

use std::borrow::Cow;
use std::num::NonZeroU32;

use super::super::error::FailureKind;
use super::super::memory::Member;
use super::super::number::Number;
use super::super::value::{DocumentNumber, Form, LITERALS, MADE, Part, Run, Val};
use super::{ITEM, Machine, Outcome};
use crate::json::string;
use crate::json::tape::{Doc, Inside, TapeIndex};
use crate::plan::expr::conversion::Data;
use crate::plan::expr::{JsonType, Lookup};

/// The elements of an array, one after the other. Two integers, which are handed on in registers.
#[derive(Clone, Copy)]
pub(in crate::plan::expr::query) struct Items {
    /// One more than the number of the document on whose tape they are, or [`LISTED`].
    of: NonZeroU32,
    /// The number of the next one in the low half, where they end in the high half.
    place: u64,
}

// The document has room for that there is none.
const _: () = assert!(size_of::<Option<Items>>() == 16);

/// Where elements are.
pub(super) enum Rest {
    /// On the tape of a document.
    Taped(DocumentNumber, Inside),
    /// In a list that was made.
    List(Run),
}

/// Elements of a list that was made.
const LISTED: NonZeroU32 = NonZeroU32::MAX;

impl Items {
    #[inline(always)]
    fn taped(document: DocumentNumber, inside: Inside) -> Self {
        Self::new(NonZeroU32::MIN.saturating_add(document.into()), inside.next, inside.end)
    }

    #[inline(always)]
    fn listed(run: Run) -> Self {
        Self::new(LISTED, run.start, run.start + run.count)
    }

    #[inline(always)]
    fn new(of: NonZeroU32, next: u32, end: u32) -> Self {
        Self { of, place: u64::from(next) | u64::from(end) << 32 }
    }

    /// Those that are left.
    #[inline(always)]
    pub(super) fn rest(self) -> Rest {
        let (next, end) = (self.place as u32, (self.place >> 32) as u32);
        if self.of == LISTED {
            Rest::List(Run { start: next, count: end - next })
        } else {
            Rest::Taped((self.of.get() - 1) as DocumentNumber, Inside { next, end })
        }
    }
}

impl<L: Lookup> Machine<'_, '_, L> {
    /// What a place is in.
    #[inline]
    pub(in crate::plan::expr::query) fn document(&self, number: DocumentNumber) -> Doc<'_> {
        match number {
            0 => self.outer,
            MADE => self.memory.arena.doc(),
            LITERALS => self.literals,
            level => self.event.document(level),
        }
    }

    /// The text of a part.
    #[inline]
    pub(in crate::plan::expr::query) fn written(&self, part: Part) -> &str {
        self.document(part.document).part(part.start, part.end)
    }

    /// A value on the tape of a document.
    #[inline]
    pub(super) fn taped(&self, document: DocumentNumber, index: TapeIndex) -> Val {
        on_tape(self.document(document), document, index)
    }

    /// The characters of a string.
    pub(in crate::plan::expr::query) fn text(&self, value: Val) -> Option<Cow<'_, str>> {
        match value.form() {
            Form::Text(part) => Some(Cow::Borrowed(self.written(part))),
            Form::Escaped(part) => string::unescape(self.written(part)).map(Cow::Owned),
            _ => None,
        }
    }

    /// A string as a part of some document, without escapes.
    pub(in crate::plan::expr::query) fn text_part(&mut self, value: Val) -> Outcome<Option<Part>> {
        Ok(match value.form() {
            Form::Text(part) => Some(part),
            Form::Escaped(part) => {
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

    pub(in crate::plan::expr::query) fn number_of(&self, value: Val) -> Option<Number> {
        match value.form() {
            Form::Small(small) => Some(Number::from(i64::from(small))),
            Form::Number(index) => self.memory.arena.number(index),
            Form::Digits(part) => Number::read(self.written(part)),
            _ => None,
        }
    }

    pub(super) fn number(&mut self, value: Val, at: usize) -> Outcome<Number> {
        self.spend(value.size().min(64))?;
        match self.number_of(value) {
            Some(number) => Ok(number),
            None => self.fail(FailureKind::InvalidType, at, "numbers on both sides"),
        }
    }

    /// Whether it counts as true: all but null, `false`, and what is empty.
    pub(in crate::plan::expr::query) fn is_true(&self, value: Val) -> bool {
        match value.form() {
            Form::Null => false,
            Form::Boolean(truth) => truth,
            Form::Small(_) | Form::Number(_) | Form::Digits(_) => true,
            Form::Text(part) | Form::Escaped(part) => part.len() > 0,
            Form::List(run) | Form::Object(run) => run.count > 0,
            Form::Taped { document, index, .. } => {
                let tape = self.document(document).tape;
                tape.inside(index).next(tape).is_some()
            }
            Form::Written { part, .. } => {
                let inside = self.written(part).as_bytes().get(1..).unwrap_or_default();
                let first = inside.iter().find(|byte| !byte.is_ascii_whitespace());
                !matches!(first, Some(b']' | b'}') | None)
            }
        }
    }

    /// An array or object that is on a tape or was made; one that is neither is put on a tape.
    pub(super) fn opened(&mut self, value: Val) -> Outcome<Val> {
        let Form::Written { part, .. } = value.form() else { return Ok(value) };
        self.make(part.len())?;
        let json = self.written(part).to_owned();
        Ok(self.memory.arena.push_json(&json))
    }

    /// The elements of an array; none of anything else.
    pub(in crate::plan::expr::query) fn items(&mut self, value: Val) -> Outcome<Option<Items>> {
        let list = match value.form() {
            Form::Written { is_object: false, .. } => self.opened(value)?,
            _ => value,
        };
        let items = match list.form() {
            Form::Taped { document, index, is_object: false } => {
                Items::taped(document, self.document(document).tape.inside(index))
            }
            Form::List(run) => Items::listed(run),
            _ => return Ok(None),
        };
        self.spend(0)?;
        Ok(Some(items))
    }

    /// The next element.
    #[inline]
    pub(in crate::plan::expr::query) fn next(&self, items: &mut Items) -> Option<Val> {
        match items.rest() {
            Rest::Taped(document, mut inside) => {
                let doc = self.document(document);
                let index = inside.next(doc.tape)?;
                *items = Items::taped(document, inside);
                Some(on_tape(doc, document, index))
            }
            Rest::List(run) => {
                let value = self.memory.arena.value(run, 0)?;
                *items = Items::listed(Run { start: run.start + 1, count: run.count - 1 });
                Some(value)
            }
        }
    }

    /// How many elements an array has.
    pub(in crate::plan::expr::query) fn length(&mut self, list: Val) -> Outcome<usize> {
        let count = match self.items(list)?.map(Items::rest) {
            Some(Rest::Taped(document, inside)) => inside.count(self.document(document).tape),
            Some(Rest::List(run)) => return Ok(run.count as usize),
            None => 0,
        };
        self.spend_looks(count)?;
        Ok(count)
    }

    /// The members of an object, each key once; none of anything else.
    pub(in crate::plan::expr::query) fn members(&mut self, value: Val) -> Outcome<Option<Run>> {
        if value.kind() != JsonType::Object {
            return Ok(None);
        }
        self.spend(0)?;
        match self.opened(value)?.form() {
            Form::Object(members) => {
                self.spend_looks(members.count as usize)?;
                Ok(Some(members))
            }
            Form::Taped { document, index, .. } => {
                let mut inside = self.document(document).tape.inside(index);
                let start = self.memory.arena.next_member();
                loop {
                    let doc = self.document(document);
                    let Some(member) = inside.next(doc.tape) else { break };
                    let Some((key, escaped)) = doc.tape.key(doc.text.as_bytes(), member) else {
                        break;
                    };
                    let part = Part { document, start: key.start as u32, end: key.end as u32 };
                    let key = if escaped { Val::escaped(part) } else { Val::text(part) };
                    self.make(2 * ITEM)?;
                    let value = self.taped(document, member);
                    self.memory.arena.push_member((key, value));
                }
                Ok(Some(self.distinct_from(start)))
            }
            _ => Ok(None),
        }
    }

    pub(in crate::plan::expr::query) fn member(
        &self,
        members: Run,
        index: usize,
    ) -> Option<Member> {
        self.memory.arena.member(members, index)
    }

    /// A value as conversions take it. `json` is that of a value that was made; none of null.
    pub(in crate::plan::expr::query) fn data<'d>(
        &'d self,
        value: Val,
        json: &'d str,
    ) -> Option<Data<'d>> {
        Some(match value.form() {
            Form::Null => return None,
            Form::Boolean(truth) => Data::Boolean(truth),
            Form::Text(_) | Form::Escaped(_) => Data::String(self.text(value)?),
            Form::Digits(part) => Data::Number(self.written(part).into()),
            Form::Small(_) | Form::Number(_) => {
                Data::Number(self.number_of(value)?.to_json().into())
            }
            Form::Taped { document, index, is_object } => {
                let doc = self.document(document);
                let (start, end) = doc.tape.range(index);
                let json = doc.part(start, end).into();
                if is_object { Data::Object(json) } else { Data::Array(json) }
            }
            Form::Written { part, is_object: true } => Data::Object(self.written(part).into()),
            Form::Written { part, .. } => Data::Array(self.written(part).into()),
            Form::List(_) => Data::Array(json.into()),
            Form::Object(_) => Data::Object(json.into()),
        })
    }
}

/// A value on the tape of a document with this number.
#[inline]
pub(super) fn on_tape(doc: Doc<'_>, document: DocumentNumber, index: TapeIndex) -> Val {
    let (start, end, escaped) = doc.tape.placed(index);
    let first = doc.text.as_bytes().get(start as usize).copied();
    of_text(first, Part { document, start, end }, escaped, Some(index))
}

/// The value that is written in a part, by its first byte.
#[inline]
pub(super) fn of_text(
    first: Option<u8>,
    part: Part,
    escaped: bool,
    taped: Option<TapeIndex>,
) -> Val {
    match first {
        Some(b'"') => {
            let part = Part { start: part.start + 1, end: part.end - 1, ..part };
            if escaped { Val::escaped(part) } else { Val::text(part) }
        }
        Some(bracket @ (b'{' | b'[')) => {
            let is_object = bracket == b'{';
            match taped {
                Some(index) => Val::taped(part.document, index, is_object),
                None => Val::written(part, is_object),
            }
        }
        Some(b't') => Val::boolean(true),
        Some(b'f') => Val::boolean(false),
        Some(b'n') | None => Val::NULL,
        Some(_) => Val::digits(part),
    }
}
