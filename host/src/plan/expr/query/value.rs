//! Values on their way through an expression: places in the event, or in what was made on the way. They are small and hold nothing, so
//! that a copy costs nothing.

use std::fmt;
use std::num::NonZeroU32;

use crate::json::tape::TapeIndex;
use crate::plan::expr::JsonType;

/// What a place is in: the event or an element around, by its level, or one of the following.
pub(crate) type DocumentNumber = u8;

/// What was made on the way.
pub(super) const MADE: DocumentNumber = u8::MAX;
/// The literals of the expression.
pub(super) const LITERALS: DocumentNumber = u8::MAX - 1;

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) document: DocumentNumber,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Part {
    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// A part of it, by offsets from its beginning that are no further than its end.
    pub(super) fn part(self, start: usize, end: usize) -> Self {
        Self { start: self.start + start as u32, end: self.start + end as u32, ..self }
    }
}

/// So many values, or members, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(super) start: u32,
    pub(super) count: u32,
}

/// What a value is, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Null,
    Boolean(bool),
    /// An integer.
    Small(i32),
    /// A number that was made, by its index.
    Number(u32),
    /// A number as it is written.
    Digits(Part),
    /// The characters of a string.
    Text(Part),
    /// A string as it is written, without its quotes; some of it is escaped.
    Escaped(Part),
    /// An array or object on the tape of its document.
    Taped {
        document: DocumentNumber,
        index: TapeIndex,
        is_object: bool,
    },
    /// An array or object as it is written, whose document has no tape of it.
    Written {
        part: Part,
        is_object: bool,
    },
    /// An array that was made.
    List(Run),
    /// An object that was made, each key once.
    Object(Run),
}

/// A value: its [form](Form), packed into two integers. Those are handed on in registers, also within a `Result` or an `Option`; an
/// enum of as many bytes is handed on in memory.
#[derive(Clone, Copy)]
pub(crate) struct Val {
    /// A byte each, the lowest first: which form, whether it is true or an object, the number of the document, which type of JSON.
    head: NonZeroU32,
    /// In the low half an offset, an index or an integer; in the high half where a part ends, or a count.
    place: u64,
}

const NULL: u8 = 1;
const BOOLEAN: u8 = 2;
const SMALL: u8 = 3;
const NUMBER: u8 = 4;
const DIGITS: u8 = 5;
const TEXT: u8 = 6;
const ESCAPED: u8 = 7;
const TAPED: u8 = 8;
const WRITTEN: u8 = 9;
const LIST: u8 = 10;
const OBJECT: u8 = 11;

impl Val {
    pub(crate) const NULL: Self = Self::new(NULL, JsonType::Null, false, 0, 0, 0);

    #[inline(always)]
    pub(crate) fn boolean(truth: bool) -> Self {
        Self::new(BOOLEAN, JsonType::Boolean, truth, 0, 0, 0)
    }

    #[inline(always)]
    pub(crate) fn small(small: i32) -> Self {
        Self::new(SMALL, JsonType::Number, false, 0, small.cast_unsigned(), 0)
    }

    #[inline(always)]
    pub(crate) fn number(index: u32) -> Self {
        Self::new(NUMBER, JsonType::Number, false, 0, index, 0)
    }

    #[inline(always)]
    pub(crate) fn digits(part: Part) -> Self {
        Self::of_part(DIGITS, JsonType::Number, false, part)
    }

    #[inline(always)]
    pub(crate) fn text(part: Part) -> Self {
        Self::of_part(TEXT, JsonType::String, false, part)
    }

    #[inline(always)]
    pub(crate) fn escaped(part: Part) -> Self {
        Self::of_part(ESCAPED, JsonType::String, false, part)
    }

    #[inline(always)]
    pub(crate) fn taped(document: DocumentNumber, index: TapeIndex, is_object: bool) -> Self {
        Self::new(TAPED, nested(is_object), is_object, document, index, 0)
    }

    #[inline(always)]
    pub(crate) fn written(part: Part, is_object: bool) -> Self {
        Self::of_part(WRITTEN, nested(is_object), is_object, part)
    }

    #[inline(always)]
    pub(crate) fn list(run: Run) -> Self {
        Self::new(LIST, JsonType::Array, false, 0, run.start, run.count)
    }

    #[inline(always)]
    pub(crate) fn object(run: Run) -> Self {
        Self::new(OBJECT, JsonType::Object, false, 0, run.start, run.count)
    }

    #[inline(always)]
    const fn new(
        form: u8,
        kind: JsonType,
        flag: bool,
        document: DocumentNumber,
        low: u32,
        high: u32,
    ) -> Self {
        let head = form as u32 | (flag as u32) << 8 | (document as u32) << 16 | (kind as u32) << 24;
        let head = NonZeroU32::new(head).expect("no form has the number 0");
        Self { head, place: low as u64 | (high as u64) << 32 }
    }

    #[inline(always)]
    const fn of_part(form: u8, kind: JsonType, flag: bool, part: Part) -> Self {
        Self::new(form, kind, flag, part.document, part.start, part.end)
    }

    #[inline(always)]
    fn tag(self) -> u8 {
        self.head.get() as u8
    }

    #[inline(always)]
    fn flag(self) -> bool {
        self.head.get() & 1 << 8 != 0
    }

    #[inline(always)]
    fn document(self) -> DocumentNumber {
        (self.head.get() >> 16) as u8
    }

    #[inline(always)]
    fn low(self) -> u32 {
        self.place as u32
    }

    #[inline(always)]
    fn high(self) -> u32 {
        (self.place >> 32) as u32
    }

    #[inline(always)]
    fn part(self) -> Part {
        Part { document: self.document(), start: self.low(), end: self.high() }
    }

    #[inline(always)]
    fn run(self) -> Run {
        Run { start: self.low(), count: self.high() }
    }

    #[inline(always)]
    pub(crate) fn form(self) -> Form {
        match self.tag() {
            BOOLEAN => Form::Boolean(self.flag()),
            SMALL => Form::Small(self.low().cast_signed()),
            NUMBER => Form::Number(self.low()),
            DIGITS => Form::Digits(self.part()),
            TEXT => Form::Text(self.part()),
            ESCAPED => Form::Escaped(self.part()),
            TAPED => {
                Form::Taped { document: self.document(), index: self.low(), is_object: self.flag() }
            }
            WRITTEN => Form::Written { part: self.part(), is_object: self.flag() },
            LIST => Form::List(self.run()),
            OBJECT => Form::Object(self.run()),
            _ => Form::Null,
        }
    }

    #[inline(always)]
    pub(crate) fn is_null(self) -> bool {
        self.tag() == NULL
    }

    #[inline(always)]
    pub(crate) fn kind(self) -> JsonType {
        JsonType::numbered((self.head.get() >> 24) as u8)
    }

    /// Bytes that reading it takes, by itself and without what is in it.
    pub(super) fn size(self) -> usize {
        match self.tag() {
            SMALL | NUMBER | LIST | OBJECT => 16,
            DIGITS | TEXT | ESCAPED | WRITTEN => self.part().len(),
            _ => 4,
        }
    }
}

fn nested(is_object: bool) -> JsonType {
    if is_object { JsonType::Object } else { JsonType::Array }
}

impl fmt::Debug for Val {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.form().fmt(f)
    }
}

const _: () = assert!(size_of::<Val>() == 16 && size_of::<Option<Val>>() == 16);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every form, with the value that is made of it.
    fn values(document: u8, low: u32, high: u32, flag: bool) -> Vec<(Form, Val)> {
        let part = Part { document, start: low, end: high };
        let run = Run { start: low, count: high };
        let small = low.cast_signed();
        vec![
            (Form::Null, Val::NULL),
            (Form::Boolean(flag), Val::boolean(flag)),
            (Form::Small(small), Val::small(small)),
            (Form::Number(low), Val::number(low)),
            (Form::Digits(part), Val::digits(part)),
            (Form::Text(part), Val::text(part)),
            (Form::Escaped(part), Val::escaped(part)),
            (
                Form::Taped { document, index: low, is_object: flag },
                Val::taped(document, low, flag),
            ),
            (Form::Written { part, is_object: flag }, Val::written(part, flag)),
            (Form::List(run), Val::list(run)),
            (Form::Object(run), Val::object(run)),
        ]
    }

    fn kind(form: Form) -> JsonType {
        match form {
            Form::Null => JsonType::Null,
            Form::Boolean(_) => JsonType::Boolean,
            Form::Small(_) | Form::Number(_) | Form::Digits(_) => JsonType::Number,
            Form::Text(_) | Form::Escaped(_) => JsonType::String,
            Form::Taped { is_object: false, .. }
            | Form::Written { is_object: false, .. }
            | Form::List(_) => JsonType::Array,
            Form::Taped { .. } | Form::Written { .. } | Form::Object(_) => JsonType::Object,
        }
    }

    proptest! {
        #[test]
        fn a_value_has_the_form_that_it_was_made_of(document: u8, low: u32, high: u32, flag: bool) {
            for (form, value) in values(document, low, high, flag) {
                prop_assert_eq!(value.form(), form);
                prop_assert_eq!(value.is_null(), form == Form::Null);
                prop_assert_eq!(value.kind(), kind(form));
            }
        }
    }
}
