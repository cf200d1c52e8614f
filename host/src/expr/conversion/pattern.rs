//! Patterns, compiled when they are read.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::syntax;

use super::read::{ConversionError, ConversionFault};

/// Bytes that the text of a pattern has at most.
const MAX_PATTERN_BYTES: usize = 4 << 10;
/// Bytes that the compiled program of a pattern has at most.
const MAX_PROGRAM_BYTES: usize = 256 << 10;
/// Where compilation stops, so that a program that is refused costs little.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Bytes that what a search makes of the program as it goes may take, each way.
const CACHE_BYTES: usize = 1 << 20;
/// Bytes that tables which are made of the program ahead of a search may take.
const TABLE_BYTES: usize = 1 << 20;
/// Bytes of program that cost a unit of fuel for each byte of text.
const PROGRAM_BYTES_PER_FUEL: usize = 64;

/// A pattern that compiles, within the limit on its size. Made by [`Conversion::from_json`](super::Conversion::from_json)
/// alone.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    group: Option<Group>,
    /// The group as its number.
    number: usize,
    program_bytes: usize,
    regex: Regex,
}

/// Which group of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// By number; 0 is the whole match.
    Number(u16),
    /// By name.
    Name(String),
}

impl Pattern {
    /// Bytes of the longest text that patterns are matched against.
    pub const MAX_TEXT_BYTES: usize = 64 << 10;

    /// Compiles a pattern.
    ///
    /// # Errors
    /// [`ConversionError`]: it isn't one, it has no such group, or it or its program is too large.
    pub(super) fn new(text: String, group: Option<Group>) -> Result<Self, ConversionError> {
        if text.len() > MAX_PATTERN_BYTES {
            let found = text.len();
            return Err(too_large(format!(
                "expected at most {MAX_PATTERN_BYTES} bytes, found {found}"
            )));
        }
        let hir = syntax::parse(&text).map_err(|error| no_pattern(&error))?;
        let config = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES));
        let nfa = NFA::compiler().configure(config).build_from_hir(&hir);
        let program_bytes = match nfa {
            Ok(nfa) => nfa.memory_usage(),
            Err(error) if error.size_limit().is_some() => return Err(too_large_program(None)),
            Err(error) => return Err(no_pattern(&error)),
        };
        if program_bytes > MAX_PROGRAM_BYTES {
            return Err(too_large_program(Some(program_bytes)));
        }
        let config = meta::Config::new()
            // That of the program backwards, which can be several times as large.
            .nfa_size_limit(Some(8 * MAX_PROGRAM_BYTES))
            .onepass_size_limit(Some(TABLE_BYTES))
            .dfa_size_limit(Some(TABLE_BYTES))
            .hybrid_cache_capacity(CACHE_BYTES);
        let regex = meta::Builder::new().configure(config).build_from_hir(&hir);
        let regex = match regex {
            Ok(regex) => regex,
            Err(error) if error.size_limit().is_some() => return Err(too_large_program(None)),
            Err(error) => return Err(no_pattern(&error)),
        };
        let number = group_number(&regex, group.as_ref())?;
        Ok(Self { text, group, number, program_bytes, regex })
    }

    /// The pattern.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The group, where one is named.
    #[must_use]
    pub fn group(&self) -> Option<&Group> {
        self.group.as_ref()
    }

    /// Bytes that its compiled program has.
    #[must_use]
    pub fn program_bytes(&self) -> usize {
        self.program_bytes
    }

    /// Units of fuel that its program adds to the cost of a search, for each byte of the text. The worst texts take time in
    /// proportion to the length of the text and the size of the program.
    #[must_use]
    pub fn fuel_per_byte(&self) -> u64 {
        (self.program_bytes / PROGRAM_BYTES_PER_FUEL) as u64
    }

    /// Where the group of the first match is; none where there is no match, the group took no part in it, or the text is
    /// longer than [`MAX_TEXT_BYTES`](Self::MAX_TEXT_BYTES).
    pub(super) fn find(&self, text: &str) -> Option<Range<usize>> {
        if text.len() > Self::MAX_TEXT_BYTES {
            return None;
        }
        if self.number == 0 {
            return self.regex.find(text).map(|found| found.range());
        }
        // Where groups begin and end, one behind the other. Most patterns have one.
        let (mut few, mut many) = ([None; 8], Vec::new());
        let wanted = 2 * (self.number + 1);
        let slots = match few.get_mut(..wanted) {
            Some(slots) => slots,
            None => {
                many.resize(wanted, None);
                many.as_mut_slice()
            }
        };
        self.regex.search_slots(&text.into(), slots)?;
        match slots {
            [.., Some(start), Some(end)] => Some(start.get()..end.get()),
            _ => None,
        }
    }
}

// A pattern is what it was made from.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.group == other.group
    }
}

impl Eq for Pattern {}

impl Hash for Pattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
        self.group.hash(state);
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").field("text", &self.text).field("group", &self.group).finish()
    }
}

/// The number of a group; without one, of the first group where there is one and of the whole match otherwise.
fn group_number(regex: &Regex, group: Option<&Group>) -> Result<usize, ConversionError> {
    let groups = regex.captures_len();
    let (number, named) = match group {
        None => return Ok(usize::from(groups > 1)),
        Some(Group::Number(number)) => (Some(usize::from(*number)), number.to_string()),
        Some(Group::Name(name)) => {
            let number = regex.group_info().to_index(regex_automata::PatternID::ZERO, name);
            (number, crate::untrusted::quoted(name))
        }
    };
    number.filter(|number| *number < groups).ok_or_else(|| {
        let message = format!("expected a group of the pattern, found {named}");
        ConversionError::new(".regex.group", ConversionFault::Value, message)
    })
}

/// A pattern that the parser or the compiler refuses; they give the reason on the last line.
fn no_pattern(error: &dyn std::error::Error) -> ConversionError {
    let mut reason = error.to_string();
    if let Some(source) = error.source() {
        reason = source.to_string();
    }
    let reason = reason.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    let message = format!("expected a pattern: {}", crate::untrusted::escaped(reason));
    ConversionError::new(".regex.pattern", ConversionFault::Pattern, message)
}

fn too_large_program(bytes: Option<usize>) -> ConversionError {
    let found = match bytes {
        Some(bytes) => bytes.to_string(),
        None => format!("more than {MAX_COMPILED_BYTES}"),
    };
    too_large(format!(
        "expected a program of at most {MAX_PROGRAM_BYTES} bytes, found {found}; classes such as \\w and \\d take less \
         space as (?-u:\\w), and so do repetitions of smaller counts"
    ))
}

fn too_large(message: String) -> ConversionError {
    ConversionError::new(".regex.pattern", ConversionFault::PatternSize, message)
}
