//! From offsets in a module to lines of the source that it was compiled from, by the debug information in it.

use std::borrow::Cow;
use std::fmt;

use addr2line::Context;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use wasmparser::{Parser, Payload};

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// How far before an offset is looked for a line, in bytes.
const MAX_BEFORE: usize = 4 << 10;

/// What the debug information of a module says. It is a compiler's, of a source that nobody vouches for: what can't be read of it
/// is left out.
pub(super) struct Places<'a> {
    context: Context<Slice<'a>>,
    /// Where the code begins, which is what addresses count from.
    code: usize,
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
    /// The function that it is in.
    pub(super) function: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl<'a> Places<'a> {
    /// Those of a module that has code and debug information.
    pub(super) fn of(module: &'a [u8]) -> Option<Self> {
        let mut code = None;
        let mut sections: Vec<(&str, &[u8])> = Vec::new();
        for payload in Parser::new(0).parse_all(module) {
            match payload.ok()? {
                Payload::CodeSectionStart { range, .. } => code = Some(range.start),
                Payload::CustomSection(section) => sections.push((section.name(), section.data())),
                _ => {}
            }
        }
        let data = |id: SectionId| -> Result<Slice<'a>, gimli::Error> {
            let found = sections.iter().find(|(name, _)| *name == id.name());
            Ok(EndianSlice::new(found.map_or(&[][..], |(_, data)| data), LittleEndian))
        };
        let context = Context::from_dwarf(Dwarf::load(data).ok()?).ok()?;
        Some(Self { context, code: code? })
    }

    /// Where an offset is, or, where the compiler has given its code to no line, what of this file is before it in the function, which
    /// begins `within` bytes earlier: of a loop without an end nothing may be left but a jump.
    pub(super) fn up_to(&self, offset: usize, within: usize, file: &str) -> Vec<Place> {
        let places = self.of_offset(offset);
        if !places.is_empty() {
            return places;
        }
        let before = offset.saturating_sub(within.min(MAX_BEFORE))..offset;
        let mut places = before.rev().map(|offset| self.of_offset(offset));
        places.find(|places| places.iter().any(|place| place.file == file)).unwrap_or_default()
    }

    /// Where an offset is, and the places that what is there was inlined into, the innermost one first.
    fn of_offset(&self, offset: usize) -> Vec<Place> {
        let mut places = Vec::new();
        let Some(address) = offset.checked_sub(self.code) else { return places };
        let Ok(mut frames) = self.context.find_frames(address as u64).skip_all_loads() else {
            return places;
        };
        while let Ok(Some(frame)) = frames.next() {
            let location = frame.location.and_then(|it| Some((it.file?, it.line?, it.column)));
            // What the innermost one was inlined into says nothing of where in it that is.
            let Some((file, line, column)) = location else { return places };
            let function = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            places.push(Place {
                file: file.trim_start_matches("./").trim_start_matches('/').to_owned(),
                line,
                column: column.unwrap_or(0),
                function: function.map(Cow::into_owned),
            });
        }
        places
    }
}
