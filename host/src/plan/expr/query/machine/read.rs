//! Values, read: what they are, and what is in them.

use std::borrow::Cow;

use super::super::error::FailureKind;
use super::super::memory::Member;
use super::super::number::Number;
use super::super::value::{DocumentNumber, LITERALS, MADE, Part, Run, Val};
use super::{ITEM, Machine, Outcome};
use crate::json::string;
use crate::json::tape::{Doc, Inside, TapeIndex};
use crate::plan::expr::conversion::Data;
use crate::plan::expr::{JsonType, Lookup};

/// The elements of an array, one after the other.
#[derive(Clone, Copy)]
pub(in crate::plan::expr::query) enum Items {
    Taped(DocumentNumber, Inside),
    List(Run, usize),
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
        match value {
            Val::Text(part) => Some(Cow::Borrowed(self.written(part))),
            Val::Escaped(part) => string::unescape(self.written(part)).map(Cow::Owned),
            _ => None,
        }
    }

    /// A string as a part of some document, without escapes.
    pub(in crate::plan::expr::query) fn text_part(&mut self, value: Val) -> Outcome<Option<Part>> {
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

    pub(in crate::plan::expr::query) fn number_of(&self, value: Val) -> Option<Number> {
        match value {
            Val::Small(small) => Some(Number::from(i64::from(small))),
            Val::Number(index) => self.memory.arena.number(index),
            Val::Digits(part) => Number::read(self.written(part)),
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
    pub(super) fn opened(&mut self, value: Val) -> Outcome<Val> {
        let Val::Written { part, .. } = value else { return Ok(value) };
        self.make(part.len())?;
        let json = self.written(part).to_owned();
        Ok(self.memory.arena.push_json(&json))
    }

    /// The elements of an array; none of anything else.
    pub(in crate::plan::expr::query) fn items(&mut self, value: Val) -> Outcome<Option<Items>> {
        let list = match value {
            Val::Written { is_object: false, .. } => self.opened(value)?,
            value => value,
        };
        let items = match list {
            Val::Taped { document, index, is_object: false } => {
                Items::Taped(document, self.document(document).tape.inside(index))
            }
            Val::List(run) => Items::List(run, 0),
            _ => return Ok(None),
        };
        self.spend(0)?;
        Ok(Some(items))
    }

    /// The next element.
    #[inline]
    pub(in crate::plan::expr::query) fn next(&self, items: &mut Items) -> Option<Val> {
        match items {
            Items::Taped(document, inside) => {
                let doc = self.document(*document);
                let index = inside.next(doc.tape)?;
                Some(on_tape(doc, *document, index))
            }
            Items::List(run, next) => {
                *next += 1;
                self.memory.arena.value(*run, *next - 1)
            }
        }
    }

    /// How many elements an array has.
    pub(in crate::plan::expr::query) fn length(&mut self, list: Val) -> Outcome<usize> {
        let count = match self.items(list)? {
            Some(Items::Taped(document, inside)) => inside.count(self.document(document).tape),
            Some(Items::List(run, _)) => return Ok(run.count as usize),
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
}

/// A value on the tape of a document with this number.
#[inline]
fn on_tape(doc: Doc<'_>, document: DocumentNumber, index: TapeIndex) -> Val {
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
