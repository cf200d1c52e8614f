//! Values and conditions, written: those of plans and those of a module's section. What is at its default is left out.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::dialect::Dialect;
use super::scope::start_word;
use crate::plan::expr::{
    Condition, Conversion, Expression, ForEach, Iteration, Level, Listed, Piece, Query, Reference,
    Source, Test,
};

/// JSON whose objects keep the order in which their members were added: those of `serde_json` are sorted.
pub(crate) enum OrderedJson {
    Value(Value),
    List(Vec<OrderedJson>),
    Object(Members),
}

/// The members of a JSON object, in the order in which they were added.
#[derive(Default)]
pub(crate) struct Members(Vec<(&'static str, OrderedJson)>);

impl Members {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with(mut self, name: &'static str, json: impl Into<OrderedJson>) -> Self {
        self.0.push((name, json.into()));
        self
    }

    /// With a member where there is something to write.
    pub(crate) fn with_some(
        self,
        name: &'static str,
        json: Option<impl Into<OrderedJson>>,
    ) -> Self {
        match json {
            Some(json) => self.with(name, json),
            None => self,
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(it, _)| *it == name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn and(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }
}

impl OrderedJson {
    /// Adds a member that is true to the object at a pointer. There is nothing to add it to where there is none.
    pub(crate) fn mark(&mut self, pointer: &str, name: &'static str) {
        let Some(path) = pointer.strip_prefix('/') else {
            if let (Self::Object(members), "") = (self, pointer) {
                members.0.push((name, true.into()));
            }
            return;
        };
        // No field of a plan has a name that a pointer would escape.
        let (token, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
        let inner = match self {
            Self::Object(members) => {
                members.0.iter_mut().find(|(it, _)| *it == token).map(|(_, inner)| inner)
            }
            Self::List(items) => token.parse().ok().and_then(|index: usize| items.get_mut(index)),
            Self::Value(_) => None,
        };
        if let Some(inner) = inner {
            inner.mark(rest, name);
        }
    }
}

impl<T: Into<Value>> From<T> for OrderedJson {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl From<Members> for OrderedJson {
    fn from(members: Members) -> Self {
        Self::Object(members)
    }
}

impl FromIterator<OrderedJson> for OrderedJson {
    fn from_iter<I: IntoIterator<Item = OrderedJson>>(items: I) -> Self {
        Self::List(items.into_iter().collect())
    }
}

impl FromIterator<Members> for OrderedJson {
    fn from_iter<I: IntoIterator<Item = Members>>(items: I) -> Self {
        items.into_iter().map(Self::Object).collect()
    }
}

impl Serialize for OrderedJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, json) in &self.0 {
            map.serialize_entry(name, json)?;
        }
        map.end()
    }
}

/// As plans write it.
impl Serialize for ForEach {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        for_each(self).serialize(serializer)
    }
}

pub(crate) fn for_each(for_each: &ForEach) -> Members {
    let written = |(level, it): (u8, &Iteration)| {
        let level = Level(level).inside();
        let condition = it.condition.as_ref();
        let condition = condition.map(|it| Dialect::Plan.write_condition(it, level));
        Dialect::Plan.write_list(it).with_some("where", condition)
    };
    let levels: Vec<Members> = (0..).zip(for_each.levels()).map(written).collect();
    let nested = levels.into_iter().rev().reduce(|inner, outer| outer.with("for_each", inner));
    nested.unwrap_or_default()
}

impl Dialect {
    /// A value where paths start at this level.
    pub(crate) fn write_value(self, value: &Expression, level: Level) -> Members {
        let source = match &value.source {
            Source::Path(reference) => self.write_reference(reference, level),
            Source::Constant(constant) => Members::new().with("constant", constant.clone()),
            Source::Template(template) => Members::new().with(
                "template",
                match self {
                    Self::Plan => template.text().into(),
                    Self::Section => {
                        template.pieces().iter().map(write_piece).collect::<OrderedJson>()
                    }
                },
            ),
            Source::Coalesce(values) => {
                let values = values.iter().map(|value| self.write_value(value, level));
                Members::new().with("coalesce", values.collect::<OrderedJson>())
            }
            Source::Query(query) => self.write_query(query),
        };
        let steps = Some(&value.convert).filter(|steps| !steps.is_empty());
        let steps = steps.map(|steps| steps.iter().map(Conversion::to_json).collect::<Value>());
        source.with_some(self.convert(), steps)
    }

    /// A condition where paths start at this level.
    pub(crate) fn write_condition(self, condition: &Condition, level: Level) -> Members {
        let all = |conditions: &[Condition]| {
            conditions.iter().map(|it| self.write_condition(it, level)).collect::<OrderedJson>()
        };
        match condition {
            Condition::All(conditions) => Members::new().with("all", all(conditions)),
            Condition::Any(conditions) => Members::new().with("any", all(conditions)),
            Condition::Not(inner) => Members::new().with("not", self.write_condition(inner, level)),
            Condition::Query(query) => self.write_query(query),
            Condition::Test(reference, test) => {
                let tested = self.write_reference(reference, level);
                match test {
                    Test::Exists => tested.with("exists", true),
                    Test::Truthy => tested.with("truthy", true),
                    Test::Equals(value) => tested.with("equals", value.clone()),
                    Test::OneOf(values) => tested.with("one_of", values.clone()),
                    Test::StartsWith(text) => tested.with("starts_with", text.as_str()),
                    Test::IsType(json_type) => tested.with("is_type", json!(json_type)),
                }
            }
        }
    }

    /// What an iteration goes over.
    pub(crate) fn write_list(self, iteration: &Iteration) -> Members {
        match &iteration.list {
            Listed::By(query) => self.write_query(query),
            Listed::At(_, paths) => match paths.as_slice() {
                [path] => Members::new().with(iteration.field(), path.clone()),
                paths => Members::new().with(iteration.field(), paths.to_vec()),
            },
        }
    }

    fn write_query(self, query: &Query) -> Members {
        let text = query.text();
        let written: OrderedJson = match self {
            Self::Plan => text.into(),
            Self::Section => {
                let level = Some(query.innermost().0).filter(|level| *level > 0);
                Members::new().with("text", text).with_some("level", level).into()
            }
        };
        Members::new().with("expression", written)
    }

    pub(crate) fn write_reference(self, reference: &Reference, level: Level) -> Members {
        let path = Members::new().with(self.path(), reference.path.clone());
        path.and(self.write_level(reference.level, level))
    }

    /// What a path starts from, where that isn't the level of what it is in.
    pub(crate) fn write_level(self, start: Level, level: Level) -> Members {
        match self {
            Self::Section if start.is_event() => Members::new(),
            Self::Section => Members::new().with("level", start.0),
            Self::Plan => Members::new().with_some("from", start_word(start, level)),
        }
    }
}

fn write_piece(piece: &Piece) -> OrderedJson {
    match piece {
        Piece::Text(text) => text.as_str().into(),
        Piece::Value(reference) => Dialect::Section.write_reference(reference, Level::EVENT).into(),
    }
}
