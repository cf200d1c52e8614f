//! Which paths a section reads, in the form in which those of a plan are judged.

use crate::abi::section::{Input, InputKind, Rows, Section};
use crate::plan::expr::{Condition, Expression, ForEach, Query, Reference, Source};
use crate::plan::{Read, Role, innermost};

/// Where the alternatives of a value are.
const COALESCE: &str = "/coalesce/";

/// The iterations of a section, each with those around it.
pub(super) fn iterations(section: &Section) -> Vec<Option<ForEach>> {
    let rows = section.rows();
    (0..rows.len()).map(|index| Rows::for_each(rows, index)).collect()
}

/// What a section reads. Pointers lead into the section.
#[derive(Default)]
pub(super) struct SectionReads<'s> {
    /// Every path that isn't in an expression, but for what iterations made by one are made of.
    pub(super) paths: Vec<Read<'s>>,
    /// Every expression, with what its levels count in.
    pub(super) expressions: Vec<(String, &'s Query, Option<&'s ForEach>)>,
}

impl<'s> SectionReads<'s> {
    /// `iterations` are those of the section.
    pub(super) fn of(section: &'s Section, iterations: &'s [Option<ForEach>]) -> Self {
        let mut reads = Self::default();
        for (index, for_each) in iterations.iter().enumerate() {
            if let Some(for_each) = for_each {
                reads.rows(&format!("/rows/{index}"), for_each);
            }
        }
        for (index, input) in section.inputs().iter().enumerate() {
            let for_each = input.rows.and_then(|rows| iterations.get(rows)?.as_ref());
            reads.input(&format!("/inputs/{index}"), input, for_each);
        }
        reads
    }

    /// Those of the same value that a path is an alternative of.
    pub(super) fn alternatives(&self, read: &Read<'_>) -> Vec<&Reference> {
        let value = |pointer: &str| Some(pointer.split_once(COALESCE)?.0.to_owned());
        let Some(own) = value(&read.pointer) else { return Vec::new() };
        let same = self.paths.iter().filter(|it| value(&it.pointer).as_ref() == Some(&own));
        same.map(|it| &it.reference).collect()
    }

    fn rows(&mut self, at: &str, for_each: &'s ForEach) {
        let (iteration, outer) = (for_each.innermost(), for_each.outer());
        let over = format!("{at}/{}", iteration.field());
        if let Some(query) = iteration.query() {
            self.expressions.push((over, query, outer));
        } else {
            let paths = iteration.paths();
            for (index, path) in paths.iter().enumerate() {
                let reference = Reference { path: path.clone(), level: innermost(outer) };
                let is_one = paths.len() == 1;
                let at = if is_one { over.clone() } else { format!("{over}/{index}") };
                self.path(at, &reference, outer, Role::ForEach);
            }
        }
        if let Some(condition) = &iteration.condition {
            self.condition(&format!("{at}/where"), condition, Some(for_each));
        }
    }

    fn input(&mut self, at: &str, input: &'s Input, for_each: Option<&'s ForEach>) {
        match &input.what {
            InputKind::Value(value) => self.value(at, value, for_each),
            InputKind::Truthy(reference) => {
                self.path(format!("{at}/path"), reference, for_each, Role::Property);
            }
            InputKind::When(condition) => {
                self.condition(&format!("{at}/when"), condition, for_each);
            }
        }
    }

    /// No deeper than a section lets values nest.
    fn value(&mut self, at: &str, value: &'s Expression, for_each: Option<&'s ForEach>) {
        match &value.source {
            Source::Path(reference) => {
                self.path(format!("{at}/path"), reference, for_each, Role::Property);
            }
            Source::Constant(_) => {}
            Source::Template(template) => {
                for reference in template.references() {
                    self.path(format!("{at}/template"), reference, for_each, Role::Property);
                }
            }
            Source::Coalesce(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.value(&format!("{at}{COALESCE}{index}"), value, for_each);
                }
            }
            Source::Query(query) => {
                self.expressions.push((format!("{at}/expression"), query, for_each));
            }
        }
    }

    /// No deeper than a section lets conditions nest.
    fn condition(&mut self, at: &str, condition: &'s Condition, for_each: Option<&'s ForEach>) {
        match condition {
            Condition::Test(reference, _) => {
                self.path(format!("{at}/path"), reference, for_each, Role::When);
            }
            Condition::Query(query) => {
                self.expressions.push((format!("{at}/expression"), query, for_each));
            }
            Condition::Not(inner) => self.condition(&format!("{at}/not"), inner, for_each),
            Condition::All(all) | Condition::Any(all) => {
                for (index, condition) in all.iter().enumerate() {
                    self.condition(&format!("{at}/{index}"), condition, for_each);
                }
            }
        }
    }

    fn path(
        &mut self,
        pointer: String,
        reference: &Reference,
        for_each: Option<&'s ForEach>,
        role: Role,
    ) {
        let reference = reference.clone();
        let (takes_nested, convert) = (false, Vec::new());
        self.paths.push(Read { pointer, reference, for_each, role, takes_nested, convert });
    }
}
