//! A list of nodes or edges that is being written, whose last item is given properties one after another.

#![allow(unsafe_code, reason = "what is written ahead is added later")]

use alloc::vec::Vec;

use crate::out::Out;
use crate::piece::Name;
use crate::property::Property;
use crate::value;

/// What is written around the name of a property, and behind its value.
const BEFORE_NAME: &[u8; 9] = b"{\"name\":\"";
const BEFORE_VALUE: &[u8; 10] = b"\",\"value\":";
const END: &[u8; 2] = b"},";

/// Items, each with a comma behind it. The last one isn't closed, so that it can be given more properties.
#[derive(Debug)]
pub(crate) struct List {
    out: Out,
    /// Where the first item begins.
    start: usize,
    /// Where the properties of the last item begin that can be taken out: those before that are of the key.
    changeable: usize,
    names: Names,
    /// Where each of its properties begins, up to `noted`. They are looked for when a name may be there twice.
    places: Vec<usize>,
    noted: usize,
}

/// A bit for each name that there is, by its length and some of its letters.
#[derive(Debug, Default)]
struct Names([u64; 4]);

impl Names {
    /// What tells names apart, mostly.
    #[inline(always)]
    fn hash(name: &[u8]) -> usize {
        let [first, .., last] = name else { return 0 };
        let middle = name.get(name.len() / 2).copied().unwrap_or_default();
        let letters = [(*first, 1), (middle, 23), (*last, 11)];
        letters.iter().fold(name.len() * 5, |sum, (letter, by)| sum + usize::from(*letter) * by)
    }

    /// Notes a name; `false` where it can't have been there before.
    #[inline(always)]
    fn note(&mut self, hash: usize) -> bool {
        let bit = 1 << (hash % 64);
        let word = &mut self.0[hash / 64 % 4];
        let seen = *word & bit != 0;
        *word |= bit;
        seen
    }
}

/// A property that is begun, up to its value: it is there when that is.
#[derive(Debug)]
pub struct Head<'l> {
    list: &'l mut List,
    /// How many bytes were written ahead.
    length: usize,
    hash: usize,
}

impl Head<'_> {
    /// Ends it with a value of the event, unless that is absent or null.
    #[inline(always)]
    pub(crate) fn record(self, kind: u32, json: &str) {
        // SAFETY: the head was written when this was made, which has held the list since.
        unsafe { self.list.record(self.length, self.hash, kind, json.as_bytes()) };
    }

    /// Ends it with a value, where that is one.
    #[inline(always)]
    pub(crate) fn value(self, value: &(impl Property + ?Sized)) {
        // SAFETY: the head was written when this was made, which has held the list since.
        unsafe { self.list.value(self.length, self.hash, value) };
    }
}

impl List {
    /// A list behind this text.
    pub(crate) fn behind(head: &[u8], capacity: usize) -> Self {
        let mut out = Out::with_capacity(capacity);
        out.append(head);
        let start = head.len();
        let (names, places) = (Names::default(), Vec::new());
        Self { out, start, changeable: start, names, places, noted: start }
    }

    /// Where an item is to be begun, by writing it up to the bracket before its properties: [`begun`](Self::begun).
    #[inline(always)]
    pub(crate) fn begin(&mut self) -> &mut Out {
        self.close();
        &mut self.out
    }

    #[inline(always)]
    pub(crate) fn begun(&mut self) {
        self.names = Names::default();
        self.places.clear();
        self.noted = self.out.len();
        self.changeable = self.noted;
    }

    #[inline(always)]
    fn close(&mut self) {
        if self.is_empty() {
            return;
        }
        // An edge may have no properties.
        let comma = usize::from(self.out.as_slice().ends_with(b","));
        self.out.put_over(comma, b"]},");
    }

    /// Begins a property. `None` for a long name.
    #[inline(always)]
    pub(crate) fn head(&mut self, name: &[u8]) -> Option<Head<'_>> {
        let length = self.out.write_ahead((BEFORE_NAME, Name(name), BEFORE_VALUE))?;
        Some(Head { list: self, length, hash: Names::hash(name) })
    }

    /// Ends the property whose head was written ahead.
    ///
    /// # Safety
    /// It has that many bytes, and nothing was done with the list since.
    #[inline(never)]
    unsafe fn record(&mut self, head: usize, hash: usize, kind: u32, json: &[u8]) {
        if !value::is_some(kind) {
            return;
        }
        let from = self.out.len();
        // SAFETY: as for the caller.
        unsafe { self.out.put_behind(head, (json, END)) };
        if self.names.note(hash) {
            self.only_one(from);
        }
    }

    /// The same with any value.
    ///
    /// # Safety
    /// As for [`record`](Self::record).
    #[inline(never)]
    unsafe fn value(&mut self, head: usize, hash: usize, value: &(impl Property + ?Sized)) {
        let from = self.out.len();
        // SAFETY: as for the caller.
        unsafe { self.out.put_behind(head, b"") };
        self.end(from, hash, value);
    }

    /// Adds a property of any name.
    #[cold]
    #[inline(never)]
    pub(crate) fn named(&mut self, name: &str, value: &(impl Property + ?Sized)) {
        let from = self.out.len();
        self.out.put(BEFORE_NAME);
        self.out.escaped(name);
        let hash = Names::hash(self.out.piece(from + BEFORE_NAME.len(), self.out.len()));
        self.out.put(BEFORE_VALUE);
        self.end(from, hash, value);
    }

    fn end(&mut self, from: usize, hash: usize, value: &(impl Property + ?Sized)) {
        if !value.write(&mut self.out) {
            self.out.truncate(from);
            return;
        }
        self.out.put(END);
        if self.names.note(hash) {
            self.only_one(from);
        }
    }

    /// Adds a part of a node's key: of the same name the first one counts.
    #[inline(never)]
    pub(crate) fn key(&mut self, name: &[u8], text: &[u8], is_quoted: bool) {
        let from = self.out.len();
        if is_quoted {
            self.out.put((BEFORE_NAME, name, BEFORE_VALUE, b'"', text, b"\"},"));
        } else {
            self.out.put((BEFORE_NAME, name, BEFORE_VALUE, text, END));
        }
        if self.names.note(Names::hash(name)) {
            self.only_one(from);
        }
        self.changeable = self.out.len();
    }

    /// Takes out a property of the same name as the last one, or that one where the other can't be changed.
    #[cold]
    #[inline(never)]
    fn only_one(&mut self, last: usize) {
        self.note_places(last);
        let text = |from: usize| self.out.piece(from, self.out.len());
        // Not in the name: a quote in that has a backslash before it.
        let mut ends = text(last).windows(BEFORE_VALUE.len());
        let Some(end) = ends.position(|it| it == BEFORE_VALUE) else { return };
        let Some(head) = text(last).get(..end + BEFORE_VALUE.len()) else { return };
        let is_same = |from: &usize| text(*from).starts_with(head);
        let Some(index) = self.places.iter().position(is_same) else { return };
        let Some(from) = self.places.get(index).copied() else { return };
        if from < self.changeable {
            return self.out.truncate(last);
        }
        let next = self.places.get(index + 1).copied().unwrap_or(last);
        self.out.remove(from, next);
        self.places.remove(index);
        self.noted -= next - from;
        for later in self.places.iter_mut().skip(index) {
            *later -= next - from;
        }
    }

    /// Notes where the properties before this one begin.
    fn note_places(&mut self, last: usize) {
        let (mut depth, mut in_string, mut is_escaped) = (0_u32, false, false);
        for (index, byte) in self.out.piece(self.noted, last).iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => {
                    if depth == 0 {
                        self.places.push(self.noted + index);
                    }
                    depth += 1;
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.noted = last;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.out.len() == self.start
    }

    /// The whole result: these are its nodes.
    pub(crate) fn finish(&mut self, edges: &mut Self, full: &[u8], partial: &[u8]) -> Vec<u8> {
        self.close();
        edges.close();
        let edges = edges.out.as_slice().split_last().map_or(&[][..], |(_, items)| items);
        let comma = usize::from(!self.is_empty());
        // The commas behind the last ones are left out.
        self.out.put_over(
            comma,
            (
                (b"],\"edges\":[", edges),
                (b"],\"fully_handled_span_ids\":[", full),
                (b"],\"partially_handled_span_ids\":[", partial, b"]}"),
            ),
        );
        self.out.take()
    }
}
