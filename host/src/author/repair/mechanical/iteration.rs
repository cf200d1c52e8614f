//! What paths start from.

use serde_json::Value;

use crate::plan::expr::{FIRST_OF, ForEach, Iteration, Level, Listed, Over, Query};
use crate::plan::innermost;
use crate::plan::language::{STARTS, start_level};

/// What paths start from: the event, or the elements of an iteration.
#[derive(Clone, Debug)]
pub(super) enum IterationScope {
    Event,
    Elements(ForEach),
    /// A `for_each` that can't be read.
    Unreadable,
}

impl IterationScope {
    /// By the `for_each` of an object, if it has one.
    pub(super) fn of(object: &Value) -> Self {
        match object.get("for_each") {
            None => Self::Event,
            Some(written) => read_for_each(written).map_or(Self::Unreadable, Self::Elements),
        }
    }

    /// The iteration, if there is one that can be read.
    pub(super) fn for_each(&self) -> Option<&ForEach> {
        match self {
            Self::Elements(for_each) => Some(for_each),
            Self::Event | Self::Unreadable => None,
        }
    }

    /// The innermost level.
    pub(super) fn level(&self) -> Level {
        self.for_each().map_or(Level::EVENT, ForEach::level)
    }

    /// The level at which the path of an object starts, by its `from`.
    pub(super) fn level_of(&self, object: &Value) -> Level {
        let innermost = self.level();
        match object.get("from").and_then(Value::as_str) {
            Some(start) if STARTS.contains(&start) => {
                start_level(start, innermost).unwrap_or_default()
            }
            _ => innermost,
        }
    }

    /// The one that is further inside.
    pub(super) fn innermost(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Unreadable, _) | (_, Self::Unreadable) => Self::Unreadable,
            _ if other.level() > self.level() => other,
            _ => self,
        }
    }
}

/// A `for_each` with all its levels, if they can be read.
fn read_for_each(written: &Value) -> Option<ForEach> {
    let levels = (0..).map(Level).zip(written_levels(written));
    let levels = levels.map(|(outside, level)| read_iteration(level, outside));
    let levels: Vec<Iteration> = levels.collect::<Option<_>>()?;
    ForEach::of(levels).filter(|it| it.level() <= Level::DEEPEST)
}

/// What is written for each level of a `for_each`, from the outside in, and no more of it than one too many.
fn written_levels(written: &Value) -> impl Iterator<Item = &Value> {
    let levels = std::iter::successors(Some(written), |it| it.get("for_each"));
    levels.take(usize::from(Level::DEEPEST.0) + 1)
}

/// What paths start from inside of each level of a `for_each`, by the pointers of these: `at` is that of the outermost.
pub(super) fn scopes_of_levels(written: &Value, at: &str) -> Vec<(String, IterationScope)> {
    let mut scope: Option<ForEach> = None;
    let mut is_readable = true;
    let mut at = at.to_owned();
    let mut scopes = Vec::new();
    for level in written_levels(written) {
        let outside = innermost(scope.as_ref());
        let iteration = read_iteration(level, outside).filter(|_| is_readable);
        is_readable = iteration.is_some();
        if let Some(iteration) = iteration {
            scope = Some(match scope.take() {
                Some(outer) => outer.around(iteration),
                None => ForEach::new(iteration),
            });
        }
        let inside = scope.clone().filter(|_| is_readable);
        let inside = inside.map_or(IterationScope::Unreadable, IterationScope::Elements);
        scopes.push((at.clone(), inside));
        at.push_str("/for_each");
    }
    scopes
}

/// One level of a `for_each` in what is at this one, if it can be read, without a condition.
fn read_iteration(written: &Value, outside: Level) -> Option<Iteration> {
    let fields = ["array", "entries", FIRST_OF, "expression"].map(|name| written.get(name));
    let list = match fields {
        [Some(path), None, None, None] => Listed::At(Over::Array, vec![read_path(path)?]),
        [None, Some(path), None, None] => Listed::At(Over::Entries, vec![read_path(path)?]),
        [None, None, Some(Value::Array(paths)), None] => {
            let may_be = (1..=Iteration::MAX_PATHS).contains(&paths.len());
            let paths = may_be.then(|| paths.iter().map(read_path).collect::<Option<_>>())?;
            Listed::At(Over::Array, paths?)
        }
        [None, None, None, Some(text)] => Listed::By(Query::parse(text.as_str()?, outside).ok()?),
        _ => return None,
    };
    Some(Iteration { list, condition: None })
}

fn read_path(written: &Value) -> Option<Vec<String>> {
    serde_json::from_value(written.clone()).ok()
}
