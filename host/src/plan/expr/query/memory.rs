//! What expressions make on the way, and what they have found out about an event: kept in a few lists, so that nothing is allocated for a
//! value, and used again for the next event.

use super::error::Failure;
use super::keyed::KeyTables;
use super::number::Number;
use super::shared::SharedPart;
use super::value::{Form, LITERALS, MADE, Part, Run, Val};
use crate::json::tape::{Doc, Tape, TapeIndex};
use crate::json::{scan, string};

/// Bytes of what is kept for one event; what is beyond is evaluated again.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A member of an object: its key, which is a string, and its value.
pub(super) type Member = (Val, Val);

/// All that expressions have made for an event. Values are places in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    text: String,
    tape: Tape,
    values: Vec<Val>,
    members: Vec<Member>,
    numbers: Vec<Number>,
    /// A string whose escapes are read.
    unescaped: Vec<u8>,
    /// A text that is being put together.
    written: String,
    /// What lists and objects are put together from.
    pub(super) stack: Vec<Val>,
    /// What `let` binds.
    pub(super) variables: Vec<Val>,
    /// What is there until the end of the event.
    kept: ArenaMark,
}

/// How far an arena is filled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArenaMark {
    text: usize,
    tape: u32,
    values: usize,
    members: usize,
    numbers: usize,
}

impl Arena {
    fn clear(&mut self) {
        self.kept = ArenaMark::default();
        self.forget();
    }

    /// Forgets what isn't kept.
    fn forget(&mut self) {
        let ArenaMark { text, tape, values, members, numbers } = self.kept;
        self.text.truncate(text);
        self.tape.truncate(tape);
        self.values.truncate(values);
        self.members.truncate(members);
        self.numbers.truncate(numbers);
        self.stack.clear();
        self.variables.clear();
    }

    /// How far it is filled.
    pub(super) fn mark(&self) -> ArenaMark {
        ArenaMark {
            text: self.text.len(),
            tape: self.tape.next_index(),
            values: self.values.len(),
            members: self.members.len(),
            numbers: self.numbers.len(),
        }
    }

    /// A value that has no place in the literals of an expression itself.
    #[inline]
    fn localized(&mut self, value: Val, literals: Doc<'_>) -> Val {
        match value.form() {
            Form::Text(Part { document: LITERALS, .. })
            | Form::Digits(Part { document: LITERALS, .. })
            | Form::Taped { document: LITERALS, .. } => self.copied(value, literals),
            _ => value,
        }
    }

    /// A value of the literals of an expression, by itself.
    fn copied(&mut self, value: Val, literals: Doc<'_>) -> Val {
        match value.form() {
            Form::Text(part) => Val::text(self.push_text(literals.part(part.start, part.end))),
            Form::Digits(part) => Val::digits(self.push_text(literals.part(part.start, part.end))),
            Form::Taped { index, .. } => {
                let (start, end) = literals.tape.range(index);
                self.push_json(literals.part(start, end))
            }
            _ => value,
        }
    }

    fn bytes(&self) -> usize {
        self.text.len()
            + (self.tape.next_index() as usize + self.values.len()) * size_of::<Val>()
            + self.members.len() * size_of::<Member>()
            + self.numbers.len() * size_of::<Number>()
    }

    fn capacity(&self) -> usize {
        let values = self.values.capacity() + self.stack.capacity() + self.variables.capacity();
        self.text.capacity()
            + self.unescaped.capacity()
            + self.written.capacity()
            + self.tape.capacity()
            + values * size_of::<Val>()
            + self.members.capacity() * size_of::<Member>()
            + self.numbers.capacity() * size_of::<Number>()
    }

    pub(super) fn doc(&self) -> Doc<'_> {
        Doc { text: &self.text, tape: &self.tape }
    }

    /// Offsets have 32 bits: far more than may be made for one event is refused.
    fn offset(&self) -> u32 {
        self.text.len() as u32
    }

    /// A text.
    pub(super) fn push_text(&mut self, text: &str) -> Part {
        let start = self.offset();
        self.text.push_str(text);
        Part { document: MADE, start, end: self.offset() }
    }

    /// What was [put together](Self::begin_text).
    pub(super) fn push_written(&mut self, written: String) -> Part {
        let part = self.push_text(&written);
        self.written = written;
        part
    }

    /// An empty text to put another one together in, which may be of what was made before. Its memory is used again.
    pub(super) fn begin_text(&mut self) -> String {
        let mut text = std::mem::take(&mut self.written);
        text.clear();
        text
    }

    /// A number.
    pub(super) fn push_number(&mut self, number: Number) -> Val {
        if let Some(small) = number.to_integer().and_then(|integer| i32::try_from(integer).ok()) {
            return Val::small(small);
        }
        self.numbers.push(number);
        // Far fewer may be made.
        Val::number(self.numbers.len() as u32 - 1)
    }

    pub(super) fn number(&self, index: u32) -> Option<Number> {
        self.numbers.get(index as usize).copied()
    }

    /// The text that the inside of a valid string stands for.
    pub(super) fn push_unescaped(&mut self, inside: &str) -> Option<Part> {
        self.unescaped.clear();
        string::unescape_into(&mut self.unescaped, inside.as_bytes())?;
        self.push_read()
    }

    /// The same of a part of what was made.
    pub(super) fn push_unescaped_part(&mut self, part: Part) -> Option<Part> {
        self.unescaped.clear();
        let inside = self.text.get(part.start as usize..part.end as usize)?;
        string::unescape_into(&mut self.unescaped, inside.as_bytes())?;
        self.push_read()
    }

    fn push_read(&mut self) -> Option<Part> {
        let start = self.offset();
        self.text.push_str(simdutf8::basic::from_utf8(&self.unescaped).ok()?);
        Some(Part { document: MADE, start, end: self.offset() })
    }

    /// A part of the text that is JSON, with nothing around it: where its value is on the tape, and whether it is a string with escapes.
    pub(super) fn parsed(&mut self, part: Part) -> Option<(TapeIndex, bool)> {
        let index = self.tape.next_index();
        let text = self.text.as_bytes().get(..part.end as usize)?;
        match self.tape.read(text, part.start as usize, 0) {
            Ok(end) if end == part.end as usize => Some((index, self.tape.placed(index).2)),
            _ => {
                self.tape.truncate(index);
                None
            }
        }
    }

    /// An array or object, as valid JSON without white space around it; null if it isn't.
    pub(super) fn push_json(&mut self, json: &str) -> Val {
        let part = self.push_text(json);
        let index = self.tape.next_index();
        let is_object = scan::byte(self.text.as_bytes(), part.start as usize) == b'{';
        match self.tape.read(self.text.as_bytes(), part.start as usize, 0) {
            Ok(_) => Val::taped(MADE, index, is_object),
            Err(_) => Val::NULL,
        }
    }

    /// A list of the values on the stack from `base` on.
    pub(super) fn list_from(&mut self, base: usize) -> Val {
        let start = self.values.len();
        self.values.extend_from_slice(self.stack.get(base..).unwrap_or_default());
        self.stack.truncate(base);
        Val::list(Run { start: start as u32, count: (self.values.len() - start) as u32 })
    }

    /// Whether a list is there until the end of the event.
    pub(super) fn is_kept(&self, run: Run) -> bool {
        run.count > 0 && run.start as usize + run.count as usize <= self.kept.values
    }

    pub(super) fn values(&self, run: Run) -> &[Val] {
        let start = run.start as usize;
        self.values.get(start..start + run.count as usize).unwrap_or_default()
    }

    pub(super) fn value(&self, run: Run, index: usize) -> Option<Val> {
        self.values(run).get(index).copied()
    }

    /// Where the next member will be.
    pub(super) fn next_member(&self) -> usize {
        self.members.len()
    }

    pub(super) fn push_member(&mut self, member: Member) {
        self.members.push(member);
    }

    /// The members from `start` on, as they are.
    pub(super) fn object_from(&self, start: usize) -> Run {
        Run { start: start as u32, count: (self.members.len() - start) as u32 }
    }

    pub(super) fn members(&self, run: Run) -> &[Member] {
        let start = run.start as usize;
        self.members.get(start..start + run.count as usize).unwrap_or_default()
    }

    pub(super) fn member(&self, run: Run, index: usize) -> Option<Member> {
        self.members(run).get(index).copied()
    }

    pub(super) fn set_member(&mut self, index: usize, member: Member) {
        if let Some(place) = self.members.get_mut(index) {
            *place = member;
        }
    }

    pub(super) fn truncate_members(&mut self, length: usize) {
        self.members.truncate(length);
    }
}

/// A part with that text, without the white space of JSON around it.
pub(super) fn trimmed(part: Part, text: &str) -> Part {
    let space = [' ', '\n', '\r', '\t'];
    let start = text.len() - text.trim_start_matches(space).len();
    part.part(start, text.trim_end_matches(space).len().max(start))
}

/// What a part that expressions share has come to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) value: Result<Val, Failure>,
    /// The bytes that were made for it.
    pub(super) made: usize,
}

/// What a part has come to last.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    /// The number of the element that it is of; 0 for none.
    of: u32,
    known: Option<Known>,
}

/// Strings of the event that are remembered as JSON. The oldest one goes first.
const TEXTS: usize = 8;

/// A string of the event that was read as JSON.
#[derive(Clone, Copy, Debug)]
struct ReadText {
    /// What is between its quotes, or a part of that: two parts may begin in the same place.
    inside: Part,
    /// Where its value is on the tape of what was made; `None` of one that isn't JSON.
    index: Option<TapeIndex>,
}

/// What expressions remember while one event is served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(super) arena: Arena,
    /// The strings that were read as JSON.
    texts: Vec<ReadText>,
    /// Which one of them is the oldest, where there are as many as may be.
    oldest_text: usize,
    /// The lists in which something was looked up by a key.
    pub(super) tables: KeyTables,
    /// What parts of expressions have come to.
    kept: Vec<Kept>,
}

impl Memory {
    /// Forgets everything: an event comes, over which expressions share so many parts.
    pub(crate) fn begin(&mut self, parts: usize) {
        self.arena.clear();
        self.tables.begin();
        self.texts.clear();
        self.kept.clear();
        self.kept.resize(parts, Kept::default());
    }

    /// Forgets what an expression has made and nobody will ask for.
    pub(super) fn end(&mut self) {
        self.arena.forget();
    }

    /// Bytes that are held on to.
    pub(crate) fn capacity(&self) -> usize {
        self.arena.capacity() + self.tables.capacity() + self.kept.capacity() * size_of::<Kept>()
    }

    /// Whether a string of the event was read as JSON, of which this is what is between its quotes, or a part of that. `None` where it
    /// wasn't and nothing more is kept for the event.
    pub(crate) fn has_read(&self, inside: Part) -> Option<bool> {
        let has_read = self.texts.iter().any(|text| text.inside == inside);
        (has_read || self.arena.bytes() <= MAX_KEPT_BYTES).then_some(has_read)
    }

    /// What a string of the event is as JSON, white space around it left out, where it is [read](Self::has_read): its place in what was
    /// [made](Self::made), `None` where it isn't JSON. It is read once for all that ask. `written` is what is written in that part.
    pub(crate) fn json_in(&mut self, inside: Part, written: &str) -> Option<TapeIndex> {
        if let Some(known) = self.texts.iter().find(|text| text.inside == inside) {
            return known.index;
        }
        let text = match memchr::memchr(b'\\', written.as_bytes()) {
            Some(_) => self.arena.push_unescaped(written),
            None => Some(self.arena.push_text(written)),
        };
        let index = text.and_then(|text| {
            let text = trimmed(text, self.arena.doc().part(text.start, text.end));
            self.arena.parsed(text).map(|(index, _)| index)
        });
        self.arena.kept = self.arena.mark();
        let read = ReadText { inside, index };
        if self.texts.len() < TEXTS {
            self.texts.push(read);
        } else {
            self.oldest_text = (self.oldest_text + 1) % TEXTS;
            if let Some(oldest) = self.texts.get_mut(self.oldest_text) {
                *oldest = read;
            }
        }
        index
    }

    /// What was made, of which [`json_in`](Self::json_in) gives places.
    pub(crate) fn made(&self) -> Doc<'_> {
        self.arena.doc()
    }

    #[inline]
    pub(super) fn known(&self, part: SharedPart, of: u32) -> Option<&Known> {
        self.kept.get(part.number).filter(|kept| kept.of == of)?.known.as_ref()
    }

    /// Keeps what a part has come to, if there is room: all that was made since `from`. `literals` are those of the expression that it
    /// is of, which others don't know. Gives its value.
    pub(super) fn keep(
        &mut self,
        part: SharedPart,
        of: u32,
        mut known: Known,
        from: ArenaMark,
        literals: Doc<'_>,
    ) -> Result<Val, Failure> {
        if part.number >= self.kept.len() || self.arena.bytes() > MAX_KEPT_BYTES {
            return known.value;
        }
        if !literals.text.is_empty() {
            self.localize(&mut known, from, literals);
        }
        self.arena.kept = self.arena.mark();
        if let Some(kept) = self.kept.get_mut(part.number) {
            *kept = Kept { of, known: Some(known) };
        }
        known.value
    }

    /// Makes what has come to be since `from` independent of the literals of an expression.
    fn localize(&mut self, known: &mut Known, from: ArenaMark, literals: Doc<'_>) {
        if let Ok(value) = &mut known.value {
            *value = self.arena.localized(*value, literals);
        }
        // A part reads nothing that was made before it but what is kept.
        for index in from.values..self.arena.values.len() {
            let Some(value) = self.arena.values.get(index).copied() else { break };
            let value = self.arena.localized(value, literals);
            if let Some(place) = self.arena.values.get_mut(index) {
                *place = value;
            }
        }
        for index in from.members..self.arena.members.len() {
            let Some((key, value)) = self.arena.members.get(index).copied() else { break };
            let key = self.arena.localized(key, literals);
            let value = self.arena.localized(value, literals);
            self.arena.set_member(index, (key, value));
        }
    }
}
