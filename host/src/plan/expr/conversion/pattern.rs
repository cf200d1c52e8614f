//! Patterns, compiled when they are read.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use regex_automata::meta::{self, Regex};
use regex_automata::nfa::thompson::{self, NFA, State};
use regex_automata::{Anchored, Input};
use regex_syntax::ast::parse::Parser;
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Hir, HirKind};
use serde::{Deserialize, Serialize};

use super::error::ConversionError;
use super::pattern_cost;
use crate::diagnostics::codes;

/// Bytes that the text of a pattern has at most.
const MAX_PATTERN_BYTES: usize = 4 << 10;
/// Steps that translating a pattern takes at most: some 35 milliseconds, as for eight times `[\s\S]` where case is folded, or
/// two hundred times `[\w]`, of which a program has room for fourteen.
const MAX_STEPS: usize = 16 << 20;
/// Groups that a pattern has at most: a search keeps the bounds of each for every state of the program.
const MAX_GROUPS: usize = 16;
/// Bytes that the compiled program of a pattern has at most. One `\w` takes 18,000: all letters of Unicode.
const MAX_PROGRAM_BYTES: usize = 256 << 10;
/// Where compilation stops, so that a program that is refused costs little.
const MAX_COMPILED_BYTES: usize = 1 << 20;
/// Bytes that each table may take that is made of a program, ahead of searches or in their course.
const MAX_TABLE_BYTES: usize = 256 << 10;
/// Bytes that the programs of all patterns of a plan have at most.
const MAX_PROGRAMS_BYTES: usize = 4 << 20;
/// Bytes that their texts have at most: reading one can take as long as compiling a program of 256 times its size.
const MAX_TEXTS_BYTES: usize = 16 << 10;
/// Steps that translating them takes at most.
const MAX_STEPS_IN_ALL: usize = 64 << 20;
/// All patterns of a plan: each has tables of its own that it fills while it searches.
const MAX_PATTERNS: usize = 64;
/// Width times bytes of text that one search takes on: some 50 milliseconds for the worst patterns that were found.
const MAX_WORK: usize = 2 << 20;
const ADVICE: &str =
    "smaller counts in repetitions help, and classes without Unicode, such as [0-9A-Za-z_] for \\w";
const ADVICE_ON_CASE: &str =
    "smaller classes help, and (?i:...) around no more than what has upper and lower case";
/// States up to which a search takes a nanosecond or less for each of them and each byte of text.
const NARROW: usize = 64;
/// Units of fuel for each byte of text and each state beyond those: what worst texts of such patterns were found to take.
const FUEL_PER_WIDE_STATE: u64 = 16;

/// A pattern that compiles, within the limit on its size. Made by [`Conversion::from_json`](super::Conversion::from_json)
/// alone.
#[derive(Clone)]
pub struct Pattern {
    text: String,
    group: Option<Group>,
    /// The group as its number.
    number: usize,
    width: usize,
    /// Whether it is looked for where the text begins before it is anywhere else: then no second pass has to find out where the
    /// match begins.
    begins_with_text: bool,
    regex: Regex,
}

/// What is left for all patterns of a plan: 64 of them, 4 MiB of programs, 16 KiB of text and 64 Mi steps of translation at
/// first; and four times as much for a section, in which a value of a plan may appear several times. What is read and compiled
/// takes from it, also where it is refused then; so no plan keeps its reader busy for longer than some tenths of a second, and
/// what a module's patterns need while they search is bounded as well.
#[derive(Clone, Debug)]
pub struct PatternBudget {
    /// How many plans it is for.
    factor: usize,
    /// What is left of each [`BudgetPart`]; none once a pattern was refused because there wasn't enough.
    left: Option<[usize; 4]>,
}

/// What patterns take.
#[derive(Clone, Copy)]
enum BudgetPart {
    Patterns,
    Text,
    Steps,
    Program,
}

impl BudgetPart {
    /// What it is called, how much of it all patterns of a plan have, and what helps.
    const fn told(self) -> (&'static str, usize, &'static str) {
        match self {
            Self::Patterns => ("patterns", MAX_PATTERNS, "fewer of them help"),
            Self::Text => ("bytes of patterns", MAX_TEXTS_BYTES, ADVICE),
            Self::Steps => ("steps of translation of patterns", MAX_STEPS_IN_ALL, ADVICE_ON_CASE),
            Self::Program => ("bytes of program of patterns", MAX_PROGRAMS_BYTES, ADVICE),
        }
    }
}

impl Default for PatternBudget {
    fn default() -> Self {
        Self::times(1)
    }
}

impl PatternBudget {
    /// The budget of a section.
    #[must_use]
    pub fn of_section() -> Self {
        Self::times(4)
    }

    fn times(factor: usize) -> Self {
        let parts =
            [BudgetPart::Patterns, BudgetPart::Text, BudgetPart::Steps, BudgetPart::Program];
        Self { factor, left: Some(parts.map(|part| factor * part.told().1)) }
    }

    /// Whether a pattern was refused because there wasn't enough left; so will be all that follow.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.left.is_none()
    }

    fn take(&mut self, part: BudgetPart, amount: usize) -> Result<(), ConversionError> {
        self.left = self.left.and_then(|mut left| {
            left[part as usize] = left[part as usize].checked_sub(amount)?;
            Some(left)
        });
        if !self.is_spent() {
            return Ok(());
        }
        let (what, most, advice) = part.told();
        let most = self.factor * most;
        let (at, code) = (".regex.pattern", codes::PATTERN_TOO_LARGE);
        let expected = format!("at most {most} {what} in all");
        Err(ConversionError::new(at, code, expected, format!("more; {advice}")))
    }
}

/// Which group of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Group {
    /// By number; 0 is the whole match.
    Number(u16),
    /// By name.
    Name(String),
}

impl Pattern {
    /// Bytes of the longest text that a pattern of usual size is matched against.
    pub const MAX_TEXT_BYTES: usize = 64 << 10;

    /// Compiles a pattern, within a budget that other patterns have a part in.
    ///
    /// # Errors
    /// [`ConversionError`]: it isn't one, it has no such group, or it or its program is too large.
    pub(super) fn new(
        text: String,
        group: Option<Group>,
        budget: &mut PatternBudget,
    ) -> Result<Self, ConversionError> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(too_large("bytes", MAX_PATTERN_BYTES, text.len(), ADVICE));
        }
        budget.take(BudgetPart::Patterns, 1)?;
        budget.take(BudgetPart::Text, text.len())?;
        let ast = Parser::new().parse(&text).map_err(|error| no_pattern(&error))?;
        let Some(steps) = pattern_cost::steps(&text, &ast, MAX_STEPS) else {
            let found = format!("more than {MAX_STEPS}");
            return Err(too_large("steps of translation", MAX_STEPS, found, ADVICE_ON_CASE));
        };
        budget.take(BudgetPart::Steps, steps)?;
        let hir = Translator::new().translate(&text, &ast).map_err(|error| no_pattern(&error))?;
        let groups = hir.properties().explicit_captures_len();
        if groups > MAX_GROUPS {
            return Err(too_large("groups", MAX_GROUPS, groups, ADVICE));
        }
        let config = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES));
        let program = NFA::compiler().configure(config).build_from_hir(&hir);
        let compiled = program.as_ref().map_or(MAX_COMPILED_BYTES, NFA::memory_usage);
        budget.take(BudgetPart::Program, compiled)?;
        let program = match program {
            Ok(program) if program.memory_usage() <= MAX_PROGRAM_BYTES => program,
            Ok(program) => {
                let bytes = program.memory_usage();
                return Err(too_large("bytes of program", MAX_PROGRAM_BYTES, bytes, ADVICE));
            }
            Err(error) if error.size_limit().is_some() => return Err(endless_program()),
            Err(error) => return Err(no_pattern(&error)),
        };
        let config = meta::Config::new()
            // Of the program that reads backwards, too, and that one is often several times as large.
            .nfa_size_limit(Some(8 * MAX_PROGRAM_BYTES))
            .onepass_size_limit(Some(MAX_TABLE_BYTES))
            .dfa_size_limit(Some(MAX_TABLE_BYTES))
            .hybrid_cache_capacity(MAX_TABLE_BYTES);
        let regex = match meta::Builder::new().configure(config).build_from_hir(&hir) {
            Ok(regex) => regex,
            Err(error) if error.size_limit().is_some() => return Err(endless_program()),
            Err(error) => return Err(no_pattern(&error)),
        };
        let number = group_number(&regex, group.as_ref())?;
        let begins_with_text = is_repeated_class(&hir);
        Ok(Self { text, group, number, width: width(&program), begins_with_text, regex })
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

    /// Bytes of the longest text that it is matched against: [`MAX_TEXT_BYTES`](Self::MAX_TEXT_BYTES), and less for a
    /// pattern with many states. So no search takes longer than some tens of milliseconds.
    #[must_use]
    pub fn max_text_bytes(&self) -> usize {
        (MAX_WORK / self.width.max(1)).min(Self::MAX_TEXT_BYTES)
    }

    /// Units of fuel that a search costs for each byte of the text: one for each of the first 64 states of the program that
    /// can be busy at the same time, and 16 for each one beyond.
    #[must_use]
    pub fn fuel_per_byte(&self) -> u64 {
        let (narrow, wide) = (self.width.min(NARROW), self.width.saturating_sub(NARROW));
        (narrow as u64).saturating_add(FUEL_PER_WIDE_STATE.saturating_mul(wide as u64))
    }

    /// Where the group of the first match is; none where there is no match, the group took no part in it, or the text is
    /// too long.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        if text.len() > self.max_text_bytes() {
            return None;
        }
        let input = Input::new(text);
        if self.begins_with_text {
            // What matches there is the leftmost match.
            let found = self.find_in(&input.clone().anchored(Anchored::Yes));
            if found.is_some() {
                return found;
            }
        }
        self.find_in(&input)
    }

    fn find_in(&self, input: &Input<'_>) -> Option<Range<usize>> {
        if self.number == 0 {
            return self.regex.search(input).map(|found| found.range());
        }
        // Where groups begin and end, one after another. Most patterns have one.
        let (mut few, mut many) = ([None; 8], Vec::new());
        let wanted = 2 * (self.number + 1);
        let slots = match few.get_mut(..wanted) {
            Some(slots) => slots,
            None => {
                many.resize(wanted, None);
                many.as_mut_slice()
            }
        };
        self.regex.search_slots(input, slots)?;
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
            (number, crate::diagnostics::untrusted::quoted(name))
        }
    };
    number.filter(|number| *number < groups).ok_or_else(|| {
        let (at, code) = (".regex.group", codes::INVALID_PATTERN);
        ConversionError::new(at, code, "a group of the pattern", named)
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
    let expected = format!("a pattern: {}", crate::diagnostics::untrusted::escaped(reason));
    ConversionError::new(".regex.pattern", codes::INVALID_PATTERN, expected, None)
}

/// States of a program that a text can keep busy at the same time. Those that stand for the second and later bytes of a
/// character don't count: where one of them is busy, the state for the first byte isn't.
fn width(program: &NFA) -> usize {
    let continues = |from: u8, to: u8| from >= 0x80 && to <= 0xbf;
    let counts = |state: &&State| match state {
        State::ByteRange { trans } => !continues(trans.start, trans.end),
        State::Sparse(ranges) => !ranges.transitions.iter().all(|it| continues(it.start, it.end)),
        _ => true,
    };
    program.states().iter().filter(counts).count()
}

/// Whether a pattern is characters of one class, as many as there are, such as `.+` or `([^:]*)`. Where such a pattern doesn't match
/// at the beginning of a text, that is known from the first character.
fn is_repeated_class(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => is_repeated_class(&capture.sub),
        HirKind::Repetition(repetition) => {
            repetition.min <= 1 && matches!(repetition.sub.kind(), HirKind::Class(_))
        }
        _ => false,
    }
}

/// A program whose size nobody has waited for.
fn endless_program() -> ConversionError {
    let found = format!("more than {MAX_COMPILED_BYTES}");
    too_large("bytes of program", MAX_PROGRAM_BYTES, found, ADVICE)
}

fn too_large(what: &str, most: usize, found: impl fmt::Display, advice: &str) -> ConversionError {
    let (at, code) = (".regex.pattern", codes::PATTERN_TOO_LARGE);
    let expected = format!("a pattern with at most {most} {what}");
    ConversionError::new(at, code, expected, format!("{found}; {advice}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use proptest::prelude::*;

    use crate::diagnostics::codes::{self, Code};

    use super::{Group, Pattern, PatternBudget};

    fn pattern(text: &str) -> Result<Pattern, (Code, String)> {
        Pattern::new(text.to_owned(), None, &mut PatternBudget::default()).map_err(|error| {
            assert_eq!(error.at, ".regex.pattern");
            let message = error.to_string();
            assert!(!message.contains('\n'), "{message}");
            (error.code, message)
        })
    }

    #[test]
    fn usual_patterns_read_a_lot_of_text() {
        for text in [
            r"\d+",
            r"^v(\d+)\.(\d+)",
            r"(\w+)@(\w+)\.(\w+)",
            r"(?i)error: (.*)",
            r"refs/(heads|tags)/(.+)",
            r"https?://([^/:]+)(?::(\d+))?(/[^?#]*)?(\?[^#]*)?",
            r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            r"^(\S+) (\S+) (\S+) \[([^\]]+)\] (\w+) (\w+) (\w+) (\w+) (\w+)$",
            r"(?i)^(GET|POST) .*",
            r"(?i)\p{L}+",
            r"(?i)### version\s+([\s\S]*?)\s+###",
        ] {
            let pattern = pattern(text).unwrap();
            assert!(pattern.max_text_bytes() >= 16 << 10, "{text}: {}", pattern.width);
            assert!(pattern.fuel_per_byte() <= 64, "{text}: {}", pattern.fuel_per_byte());
        }
    }

    proptest! {
        #[test]
        fn a_match_at_the_beginning_is_the_one_that_a_search_finds(
            which in 0..8usize, text in "[a:0\né]{0,9}"
        ) {
            let patterns = [".+", ".*", "(.+)", "[^:]+?", "((?s:.)?)", r"(?<a>\d*)", r"\p{L}+", "[a0]{1,3}"];
            let pattern = pattern(patterns[which]).unwrap();
            prop_assert!(pattern.begins_with_text);
            let searched = Pattern { begins_with_text: false, ..pattern.clone() };
            prop_assert_eq!(pattern.find(&text), searched.find(&text));
        }
    }

    #[test]
    fn what_is_too_large_is_told_with_its_size() {
        for (text, expected) in [
            (r"\w{20}".to_owned(), "at most 262144 bytes of program, found 35"),
            (
                r"(?:\w{50}){100}".to_owned(),
                "at most 262144 bytes of program, found more than 1048576",
            ),
            ("((a{100}){100}){100}".to_owned(), "found more than 1048576"),
            ("a{4294967295}".to_owned(), "found more than 1048576"),
            ("(a)".repeat(17), "at most 16 groups, found 17"),
            ("a".repeat(5_000), "at most 4096 bytes, found 5000"),
            (
                format!("(?i){}", r"[\s\S]".repeat(9)),
                "at most 16777216 steps of translation, found more than 16777216",
            ),
            (format!("(?i){}a{}", "[".repeat(90), r"[\S]b]".repeat(90)), "steps of translation"),
            (r"\p{age=16.0}".repeat(210), "steps of translation"),
        ] {
            let (code, message) = pattern(&text).unwrap_err();
            assert_eq!(code, codes::PATTERN_TOO_LARGE, "{text}");
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_told_with_the_reason() {
        for (text, expected) in [
            ("(", "unclosed group"),
            ("a{2,1}", "invalid repetition count range"),
            (r"(?=a)", "look-around"),
            (r"(a)\1", "backreferences"),
            (r"\p{Nonsense}", "Unicode property not found"),
            (r"(?-u:\xff)", "invalid UTF-8"),
            (&"(".repeat(4_000), "unclosed group"),
            (&format!("{}a{}", "(?:".repeat(1_000), ")".repeat(1_000)), "nest"),
        ] {
            let (code, message) = pattern(text).unwrap_err();
            assert_eq!(code, codes::INVALID_PATTERN, "{text}");
            assert!(message.contains(expected), "{text}: {message}");
        }
    }

    #[test]
    fn a_group_is_one_of_the_pattern() {
        for (group, found) in
            [(Group::Number(2), "found 2"), (Group::Name("b".into()), "found \"b\"")]
        {
            let error = Pattern::new("(?<a>.)".into(), Some(group), &mut PatternBudget::default())
                .unwrap_err();
            assert_eq!((error.at.as_str(), error.code), (".regex.group", codes::INVALID_PATTERN));
            assert!(error.to_string().contains(found), "{error}");
        }
    }

    #[test]
    fn all_patterns_of_a_plan_share_one_budget() {
        let long = format!("(?:{}){{0}}", "a".repeat(4_000));
        let folded = format!("(?i){}", r"[\u{80}-\u{10fffd}]".repeat(8));
        for (text, refused_at) in [
            (r"\w{14}", 17),
            (r"\w{50}", 4),
            (r"a{4294967295}", 4),
            (&long, 4),
            (&folded, 4),
            (r"(?i)[\w.-]", 64),
        ] {
            let mut budget = PatternBudget::default();
            let in_all = (0..).find(|_| {
                let error = Pattern::new(text.to_owned(), None, &mut budget).err();
                error.is_some_and(|error| error.expected.contains("in all"))
            });
            assert_eq!(in_all, Some(refused_at), "{text}");
            assert!(budget.is_spent());
            assert!(Pattern::new("a".into(), None, &mut budget).is_err());
        }
    }

    /// The worst patterns that were found, each with text that keeps its states busy.
    #[test]
    fn many_states_read_less_text() {
        for (text, input) in [
            (r"(([ab]{1,60}){1,30})9", "ab"),
            (r"((?:a?){1000})a{100}9", "a"),
            (r"(a.{300}b)9", "ab"),
        ] {
            let pattern = pattern(text).unwrap();
            let most = pattern.max_text_bytes();
            assert!(most < Pattern::MAX_TEXT_BYTES && most * pattern.width <= super::MAX_WORK);
            let input: String = input.chars().cycle().take(most - 1).chain(['9']).collect();
            assert!(pattern.find(&input).is_some(), "{text}");
            assert!(pattern.find(&format!("{input}9")).is_none(), "{text}");
        }
    }
}
