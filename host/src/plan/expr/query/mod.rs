//! Expressions in JMESPath: read, made ready, and evaluated over the bytes of an event.
//!
//! The language is that of the community edition (jmespath.site) with the functions of plans beside its own; docs/plan.md has what
//! differs. A [`Query`] knows which paths of an event it can read: its program has numbered inputs in the place of those, and
//! reaches nothing else. `plan/oracle` has an evaluator of its own, which shares the tree with this one.

mod compile;
mod error;
mod function;
mod functions;
mod keyed;
mod lexer;
mod machine;
mod memory;
pub(crate) mod number;
mod parser;
mod program;
mod shared;
mod simplify;
pub(crate) mod tree;
mod value;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use error::QueryError;
pub(crate) use function::{Function, FunctionName, Parameter};
pub(crate) use machine::Stop;
pub(crate) use memory::Memory;
pub(crate) use program::{KeyRead, Step};
pub(crate) use shared::{QueryScope, SharedParts};
pub(crate) use value::Part;

use error::Mistake;
use machine::{Machine, Outcome};
use program::Program;
use tree::Node;
use value::Val;

use super::conversion::{Json, PatternBudget};
use super::fuel::{self, OutOfFuel};
use super::{JsonType, Level, Lookup, Reference, Zone};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::wording::json_in_line;
use crate::json::{JsonKinds, walk};

/// An expression. Two are equal when they are written in the same way, where the same is the current value.
#[derive(Clone)]
pub struct Query {
    text: String,
    innermost: Level,
    tree: Arc<Node>,
    program: Arc<Program>,
}

impl Query {
    /// Reads an expression that stands where `innermost` is the current value.
    ///
    /// # Errors
    /// [`QueryError`]: the first thing that is wrong, with its column.
    pub fn parse(text: &str, innermost: Level) -> Result<Self, QueryError> {
        Self::parse_within(text, innermost, None, &mut PatternBudget::default())
    }

    /// The same where times without an offset are read in a zone, its patterns taking from the budget of all patterns.
    pub(crate) fn parse_within(
        text: &str,
        innermost: Level,
        zone: Option<&Zone>,
        patterns: &mut PatternBudget,
    ) -> Result<Self, QueryError> {
        Self::read(text, innermost, true, zone, patterns).map_err(|mistake| mistake.in_text(text))
    }

    /// Reads an expression over any value of JSON: the event is that value, and a variable that nobody binds fails where it is
    /// evaluated, as JMESPath has it.
    ///
    /// # Errors
    /// [`QueryError`]: the first thing that is wrong, with its column.
    pub fn parse_alone(text: &str) -> Result<Self, QueryError> {
        let patterns = &mut PatternBudget::default();
        Self::read(text, Level::EVENT, false, None, patterns)
            .map_err(|mistake| mistake.in_text(text))
    }

    fn read(
        text: &str,
        innermost: Level,
        strict: bool,
        zone: Option<&Zone>,
        patterns: &mut PatternBudget,
    ) -> Result<Self, Mistake> {
        let tree = parser::parse(text)?;
        let program = compile::compile(&tree, innermost, strict, zone, patterns)?;
        Ok(Self { text: text.to_owned(), innermost, tree: tree.into(), program: program.into() })
    }

    /// As it is written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is the current value where it stands.
    #[must_use]
    pub fn innermost(&self) -> Level {
        self.innermost
    }

    /// In which it reads times without an offset.
    pub(crate) fn zone(&self) -> Option<&Zone> {
        self.program.zone.as_ref()
    }

    /// What it can read, each path once.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.program.inputs.iter()
    }

    /// The same, with whether it takes apart what is there if that is an object or an array: other than to hand it on, to ask
    /// whether it is true, or to compare it with what is neither.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&Reference, bool)> {
        self.program.inputs.iter().zip(self.program.taken_apart.iter().copied())
    }

    /// The kinds of values that it can give, as far as is known before it is evaluated.
    pub(crate) fn gives(&self) -> JsonKinds {
        self.program.op.gives()
    }

    /// The column of an offset in the text.
    pub(crate) fn column(&self, at: usize) -> usize {
        error::column(&self.text, at)
    }

    pub(crate) fn tree(&self) -> &Node {
        &self.tree
    }

    /// The keys that it reads, through arrays as well, with their places.
    pub(crate) fn keys(&self) -> &[KeyRead] {
        &self.program.keys
    }

    /// Where the elements are from, if it gives an array, as far as that is known.
    pub(crate) fn elements(&self) -> Option<(Level, &[Step])> {
        self.program.elements.as_ref().map(|(level, steps)| (*level, steps.as_slice()))
    }

    /// Evaluates it over a JSON text as its event, within the fuel that a text of that length has where nobody says otherwise.
    ///
    /// # Errors
    /// [`QueryFailure`].
    ///
    /// # Example
    ///
    /// ```
    /// # use retort::plan::Query;
    /// let query = Query::parse_alone("tags[?key=='env'].value | [0]")?;
    /// assert_eq!(query.evaluate(r#"{"tags": [{"key": "env", "value": "test"}]}"#)?, r#""test""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn evaluate(&self, text: &str) -> Result<String, QueryFailure> {
        if !crate::json::is_json(text.as_bytes()) {
            let error = serde_json::from_str::<serde_json::Value>(text).err();
            let message = error.map(|error| json_in_line(text, &error)).unwrap_or_default();
            return Err(QueryFailure::NotJson { message });
        }
        let json = text.trim_matches([' ', '\t', '\n', '\r']);
        let event = Document { json, inputs: &self.program.inputs };
        let inputs = (0..self.program.inputs.len()).collect();
        let query = CompiledQuery { program: self.program.clone(), inputs };
        let mut out = Vec::new();
        let allowed = fuel::default_for(text.len());
        match query.run(&event, &mut out, &mut allowed.clone()) {
            Ok(_) => Ok(String::from_utf8(out).unwrap_or_default()),
            Err(Stop::OutOfFuel(OutOfFuel { missing })) => {
                Err(QueryFailure::OutOfFuel { used: allowed.saturating_add(missing), allowed })
            }
            Err(Stop::Failed(failure)) => Err(QueryFailure::Failed(failure.in_text(&self.text))),
        }
    }
}

/// Why an expression has no value for a JSON text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryFailure {
    /// The text isn't JSON.
    #[error("expected JSON: {message}")]
    NotJson {
        /// What is wrong, with line and column.
        message: String,
    },
    /// It costs more than may be spent.
    #[error("it takes {used} of fuel or more, {allowed} are allowed")]
    OutOfFuel {
        /// The fuel that it would have taken, with the step that there wasn't enough for.
        used: u64,
        /// The fuel that it has: what an event of that many bytes has where nobody says otherwise.
        allowed: u64,
    },
    /// A part of it fails.
    #[error("{0}")]
    Failed(QueryError),
}

impl QueryFailure {
    /// The column of the part that fails.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Failed(error) => Some(error.column),
            Self::NotJson { .. } | Self::OutOfFuel { .. } => None,
        }
    }
}

impl Coded for QueryFailure {
    fn entry(&self) -> Code {
        match self {
            Self::NotJson { .. } => codes::INVALID_JSON,
            Self::OutOfFuel { .. } => codes::OUT_OF_FUEL,
            Self::Failed(error) => error.code,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::OutOfFuel { used, allowed } => Some((*used, *allowed)),
            Self::NotJson { .. } | Self::Failed(_) => None,
        }
    }
}

impl Coded for QueryError {
    fn entry(&self) -> Code {
        self.code
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Query").field(&self.text).field(&self.innermost).finish()
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.innermost == other.innermost && self.zone() == other.zone()
    }
}

impl Eq for Query {}

impl Hash for Query {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
        self.innermost.hash(state);
        self.zone().hash(state);
    }
}

/// A document as an event: what is at each input's path is looked for when it is asked for.
struct Document<'d> {
    json: &'d str,
    inputs: &'d [Reference],
}

impl Lookup for Document<'_> {
    fn json(&self, index: usize) -> Option<Json<'_>> {
        let path = &self.inputs.get(index)?.path;
        path.iter().try_fold(self.json, |json, key| walk::member(json, key)).map(Json::from)
    }
}

/// An expression whose inputs are numbers of references, made ready to be evaluated for event after event.
#[derive(Clone, Debug)]
pub(crate) struct CompiledQuery {
    program: Arc<Program>,
    inputs: Vec<usize>,
}

impl CompiledQuery {
    /// Makes an expression ready. `resolve` gives each reference the number under which it is looked up.
    pub(crate) fn new(query: &Query, resolve: &mut dyn FnMut(&Reference) -> usize) -> Self {
        let inputs = query.program.inputs.iter().map(resolve).collect();
        Self { program: query.program.clone(), inputs }
    }

    /// The numbers of those of them that are objects or arrays to be taken apart.
    pub(crate) fn taken_apart(&self) -> impl Iterator<Item = usize> {
        let inputs = self.inputs.iter().copied().zip(&self.program.taken_apart);
        inputs.filter(|(_, is_taken_apart)| **is_taken_apart).map(|(index, _)| index)
    }

    /// The numbers under which what it reads is looked up.
    pub(crate) fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// Whether something that it reads may give no object and no array.
    pub(crate) fn withholds_nested(&self, event: &impl Lookup) -> bool {
        self.inputs.iter().any(|index| event.withholds_nested(*index))
    }

    /// Appends the JSON of its value, also of null, and gives the type.
    pub(crate) fn run(
        &self,
        event: &impl Lookup,
        out: &mut Vec<u8>,
        fuel: &mut u64,
    ) -> Result<JsonType, Stop> {
        self.with_value(event, fuel, |machine, value| {
            machine.write(value, out)?;
            Ok(value.kind())
        })
    }

    /// What `then` makes of its value.
    fn with_value<L: Lookup, T>(
        &self,
        event: &L,
        fuel: &mut u64,
        then: impl FnOnce(&mut Machine<'_, '_, L>, Val) -> Outcome<T>,
    ) -> Result<T, Stop> {
        let mut remembered = event.memory().and_then(|memory| memory.try_borrow_mut().ok());
        let mut own = None;
        let memory: &mut Memory = match &mut remembered {
            Some(memory) => memory,
            // Nothing is remembered.
            None => own.insert(Memory::default()),
        };
        let mut machine = Machine::new(&self.program, &self.inputs, event, fuel, memory);
        // An expression that reads the current value has an input in its place.
        let outcome = machine.eval(&self.program.op, Val::NULL);
        let outcome = outcome.and_then(|value| then(&mut machine, value));
        // Whatever ends an evaluation early says why.
        let unknown = Stop::OutOfFuel(OutOfFuel { missing: 0 });
        let outcome = outcome.map_err(|_| machine.stopped().unwrap_or(unknown));
        memory.end();
        outcome
    }

    /// Whether its value counts as true. One that has none doesn't.
    ///
    /// # Errors
    /// [`OutOfFuel`], as soon as something costs more than is left.
    pub(crate) fn holds(&self, event: &impl Lookup, fuel: &mut u64) -> Result<bool, OutOfFuel> {
        match self.with_value(event, fuel, |machine, value| Ok(machine.is_true(value))) {
            Ok(holds) => Ok(holds),
            Err(Stop::Failed(_)) => Ok(false),
            Err(Stop::OutOfFuel(spent)) => Err(spent),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::{Query, QueryFailure};
    use crate::plan::expr::Level;
    use crate::plan::oracle::expression;

    /// What is read, as paths with their levels.
    fn reads(text: &str, level: u8) -> Vec<String> {
        let query = Query::parse(text, Level(level)).unwrap();
        query.references().map(|it| format!("{}:{}", it.level.0, it.path.join("."))).collect()
    }

    #[test]
    fn chains_of_keys_are_what_is_read() {
        for (text, level, expected) in [
            ("a.b", 0, vec!["0:a.b"]),
            ("a.b[?c.d].e", 0, vec!["0:a.b"]),
            ("a.b[0].c || a.d", 1, vec!["1:a.b", "1:a.d"]),
            ("$.x == y && $event.z", 2, vec!["0:x", "2:y", "0:z"]),
            ("$parent.a.b", 2, vec!["1:a.b"]),
            ("let $a = a.b, $c = $.d in [$a.e, $c[0], $a.e]", 1, vec!["1:a.b.e", "0:d"]),
            ("a | b | c", 0, vec!["0:a.b.c"]),
            ("a | [b, c]", 0, vec!["0:a.b", "0:a.c"]),
            ("a.[b, c]", 0, vec!["0:a"]),
            ("keys(@)", 1, vec!["1:"]),
            ("*", 0, vec!["0:"]),
            ("a[?b == $.c.d]", 1, vec!["1:a", "0:c.d"]),
            ("map(&b, a.c)", 0, vec!["0:a.c"]),
            ("`{\"a\": 1}`.a", 0, vec![]),
            ("map_value(a, {\"1\": \"b\"})", 0, vec!["0:a"]),
        ] {
            assert_eq!(reads(text, level), expected, "{text}");
        }
    }

    #[test]
    fn what_doubles_at_every_step_ends() {
        let doubled = format!("@{}", "|[@,@]".repeat(40));
        for text in [doubled.clone(), format!("({doubled}) == ({doubled})")] {
            let query = Query::parse_alone(&text).unwrap();
            let failure = query.evaluate("1").unwrap_err();
            assert!(
                matches!(failure, QueryFailure::OutOfFuel { .. } | QueryFailure::Failed(_)),
                "{failure}"
            );
            assert_eq!(expression(&query, "1"), None);
        }
        // It is shared where nothing looks into it.
        let query = Query::parse_alone(&format!("{doubled} | length(@)")).unwrap();
        assert_eq!(query.evaluate("1"), Ok("2".to_owned()));
    }
}
