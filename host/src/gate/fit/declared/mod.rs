//! What an extractor that isn't a plan declares that it reads, against what is known of events.
//!
//! It is asked of each path what is asked of those of plans, by the same checks. The answer is another one: what a plan reads is
//! written in it, and a patch puts it right; a section is made by a compiler, so that the finding is at the line of the source
//! that declares the input, and says in words what may be meant. A module without a source was made by somebody who can't be told in
//! their own words, and of whom it isn't known what they know of events: of it, it is a warning.

mod reads;

use json_patch::PatchOperation;
use serde_json::Value;

use super::check::for_each;
use super::check::keys;
use super::check::path::{Missing, PathUse, WantedAtPath};
use super::scope::{Elements, Scopes};
use super::suggest::{Meant, PathSearch};
use super::unseen::Shown;
use super::{MAX_FINDINGS, Unfit};
use crate::abi::section::Section;
use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::Problem;
use crate::diagnostics::untrusted::{escaped, quoted};
use crate::evidence::Evidence;
use crate::evidence::effort::{Cancel, StepBudgets};
use crate::gate::source::{Declared, SourceDeclaration};
use crate::plan::expr::{ForEach, Level, Over, Reference};
use crate::plan::{EVENT_TYPE, EventPattern, Read, Role, default_ids, innermost};
use reads::{SectionReads, iterations};

/// Checks what `section` declares against what is known of the events that it is for. Of what the source says `unseen`, it isn't
/// asked to be there.
///
/// # Errors
/// [`Unfit`], with a finding for each path that there isn't. Where the section has event types that nothing is known of, nothing is
/// said of paths.
pub(crate) fn fit_declared(
    section: &Section,
    source: &SourceDeclaration,
    evidence: &Evidence,
    cancel: &Cancel,
) -> Result<(), Unfit> {
    let mut findings = findings(section, Some(source), evidence, &StepBudgets::new(cancel));
    findings.retain(|finding| {
        finding.code != codes::UNKNOWN_PATH
            || !declared(source, &finding.pointer).is_some_and(|it| it.is_unseen)
    });
    findings.truncate(MAX_FINDINGS);
    for finding in &mut findings {
        if let Some(declared) = declared(source, &finding.pointer) {
            finding.observed = format!("`{}` reads {}", escaped(&declared.name), finding.observed);
            finding.pointer = place(declared);
        }
    }
    if findings.is_empty() { Ok(()) } else { Err(Unfit::of_code(findings)) }
}

/// What is to be said of what a section reads and no sample shows. Where there is a source, that is what it says `unseen` of, or says it
/// without need; where there is none, all of it, since nobody was asked.
pub(crate) fn declared_warnings(
    section: &Section,
    source: Option<&SourceDeclaration>,
    evidence: &Evidence,
) -> Vec<Problem> {
    let efforts = StepBudgets::new(&Cancel::default());
    let Some(source) = source else {
        let mut findings = findings(section, None, evidence, &efforts);
        findings.truncate(MAX_FINDINGS);
        return findings.iter().map(Problem::from).collect();
    };
    let known = KnownOfSection::new(section, evidence, &efforts);
    let iterations = iterations(section);
    let reads = SectionReads::of(section, &iterations);
    let scopes = known.scopes(evidence);
    let parts = Part::all(section).into_iter();
    let unseen = parts.filter_map(|part| Some((part, part.of(source)?)));
    let unseen = unseen.filter(|(_, declared)| declared.is_unseen);
    let warning = |(part, declared): (Part, &Declared)| {
        let mut shown = Shown::default();
        for read in reads.paths.iter().filter(|it| Part::at(&it.pointer) == Some(part)) {
            shown.path(read, &scopes);
        }
        for (pointer, query, for_each) in &reads.expressions {
            if Part::at(pointer) == Some(part) {
                shown.expression(query, *for_each, &scopes);
            }
        }
        shown.warning(&place(declared))
    };
    unseen.filter_map(warning).collect()
}

/// An input or an iteration, by its place in the section.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Input(usize),
    Rows(usize),
}

impl Part {
    fn all(section: &Section) -> Vec<Self> {
        let inputs = (0..section.inputs().len()).map(Self::Input);
        inputs.chain((0..section.rows().len()).map(Self::Rows)).collect()
    }

    /// The one that a pointer into the section leads into.
    fn at(pointer: &str) -> Option<Self> {
        let mut keys = pointer.split('/').skip(1);
        match (keys.next()?, keys.next()?.parse().ok()?) {
            ("inputs", index) => Some(Self::Input(index)),
            ("rows", index) => Some(Self::Rows(index)),
            _ => None,
        }
    }

    fn of(self, source: &SourceDeclaration) -> Option<&Declared> {
        match self {
            Self::Input(index) => source.input(index),
            Self::Rows(index) => source.rows(index),
        }
    }
}

fn declared<'d>(source: &'d SourceDeclaration, pointer: &str) -> Option<&'d Declared> {
    Part::at(pointer)?.of(source)
}

/// Line and column, as the source gate has them.
fn place(declared: &Declared) -> String {
    format!("{}:{}", declared.line, declared.column)
}

/// What is known of the events of a section, and of the elements of its iterations.
struct KnownOfSection<'t> {
    elements: Elements,
    types: Vec<&'t str>,
    efforts: &'t StepBudgets,
}

impl<'t> KnownOfSection<'t> {
    fn new(section: &Section, evidence: &'t Evidence, efforts: &'t StepBudgets) -> Self {
        let patterns: Vec<EventPattern> =
            section.event_types().iter().map(|it| EventPattern::new(it)).collect();
        let types = evidence.event_types().map(|(name, _)| name);
        let types: Vec<&str> =
            types.filter(|name| patterns.iter().any(|it| it.matches(name))).collect();
        let all = iterations(section);
        let levels = ForEach::all_levels(all.iter().flatten());
        let elements = Elements::of(levels, evidence, &types, &Evidence::room());
        Self { elements, types, efforts }
    }

    /// What is known at every level. Of iterations without elements nothing is.
    fn scopes<'k>(&'k self, evidence: &'k Evidence) -> Scopes<'k> {
        Scopes::new(evidence, &self.elements, &self.types, self.efforts).where_something_is_known()
    }
}

/// Everything that a section reads and that there isn't, with pointers into the section.
fn findings(
    section: &Section,
    source: Option<&SourceDeclaration>,
    evidence: &Evidence,
    efforts: &StepBudgets,
) -> Vec<Finding> {
    let known = KnownOfSection::new(section, evidence, efforts);
    if known.types.is_empty() {
        return Vec::new();
    }
    let iterations = iterations(section);
    let reads = SectionReads::of(section, &iterations);
    let scopes = known.scopes(evidence);
    let mut findings = for_each::check_reads(&reads.paths, Vec::new(), &scopes);
    findings.iter_mut().for_each(in_words);
    let check = SectionCheck { section, source, reads: &reads, scopes: &scopes };
    let paths = reads.paths.iter().filter(|it| it.role != Role::ForEach);
    findings.extend(paths.filter_map(|read| check.path(read)));
    for (pointer, query, for_each) in &reads.expressions {
        let mut unknown = keys(pointer, query, check.name(pointer), *for_each, &scopes);
        unknown.iter_mut().for_each(in_words);
        findings.extend(unknown);
    }
    findings
}

struct SectionCheck<'c, 's, 't> {
    section: &'s Section,
    source: Option<&'c SourceDeclaration>,
    reads: &'c SectionReads<'s>,
    scopes: &'c Scopes<'t>,
}

impl<'c> SectionCheck<'c, '_, '_> {
    /// The name of an input, where there is a source.
    fn name(&self, pointer: &str) -> Option<&'c str> {
        let declared = declared(self.source?, pointer)?;
        Some(&declared.name)
    }

    /// A path that isn't there. Those of the session, of spans and of the type need not be: an event without them belongs to no session and
    /// claims no span.
    fn path(&self, read: &Read<'_>) -> Option<Finding> {
        let Reference { path, level } = &read.reference;
        let is_type = path.iter().eq([EVENT_TYPE]);
        if level.is_event() && (is_type || default_ids().contains(path)) {
            return None;
        }
        let known = self.scopes.at(read.for_each, *level)?;
        let mut alternatives = self.reads.alternatives(read);
        let is_there = |it: &&Reference| {
            let known = self.scopes.at(read.for_each, it.level);
            known.is_some_and(|known| known.admits_path(&it.path))
        };
        if !alternatives.iter().any(is_there) {
            // Where none of them is there, each has to be reported.
            alternatives.clear();
        }
        let others = self.reads.paths.iter().filter(|it| self.starts_alike(read, it));
        let others: Vec<&[String]> = others.map(|it| it.reference.path.as_slice()).collect();
        // What another input reads may be meant here as well: one has a value as it is, the other one a test of it.
        let search = PathSearch::new(known, "", []).beside(others);
        let path_use = PathUse {
            pointer: read.pointer.clone(),
            reference: &read.reference,
            for_each: read.for_each,
            template: None,
            has_chain: Some(self.is_converted(&read.pointer)),
        };
        let name = self.name(&read.pointer);
        let wanted = WantedAtPath { name, alternatives: &alternatives, ..WantedAtPath::default() };
        let Missing { mut finding, meant, .. } = path_use.missing(&wanted, &search, self.scopes)?;
        if let Some(meant) = meant {
            let meant = said(&meant.item, innermost(read.for_each));
            finding.observed.push_str(&format!("; perhaps {meant}"));
        }
        Some(finding)
    }

    /// Whether another path that is read starts where this one does.
    fn starts_alike(&self, read: &Read<'_>, other: &Read<'_>) -> bool {
        let level = read.reference.level;
        let start = |it: &Read<'_>| it.for_each.and_then(|it| it.at(level)).cloned();
        let is_same = match (start(read), start(other)) {
            (Some(one), Some(other)) => one.goes_over_what(&other),
            _ => level.is_event(),
        };
        other.reference.level == level && other.pointer != read.pointer && is_same
    }

    fn is_converted(&self, pointer: &str) -> bool {
        let Some(Part::Input(index)) = Part::at(pointer) else { return true };
        let input = self.section.inputs().get(index);
        input.is_none_or(|input| !input.is_as_it_is())
    }
}

/// What was meant, as a declaration has it whose paths start at a level.
fn said(meant: &Meant, own: Level) -> String {
    match meant {
        Meant::Reference(new) | Meant::InElement(new) => written(new, own),
        Meant::Element { iteration, rest } => {
            let over = list(iteration.path());
            let over = match iteration.over() {
                Over::Array => over,
                Over::Entries => format!("entries {over}"),
            };
            format!("rows over each {over}, with a column at {}", list(rest))
        }
        Meant::Json { path, rest } => {
            let step = serde_json::json!({"parse_json": rest});
            format!("{} as [r#\"{}\"#]", list(path), escaped(&step.to_string()))
        }
    }
}

fn written(new: &Reference, own: Level) -> String {
    let path = list(&new.path);
    match own.0.saturating_sub(new.level.0) {
        0 => path,
        _ if new.level.is_event() => format!("event {path}"),
        1 => format!("parent {path}"),
        up => format!("parent{up} {path}"),
    }
}

/// A path as sources write it.
fn list(path: &[String]) -> String {
    let keys: Vec<String> = path.iter().map(|key| quoted(key)).collect();
    format!("[{}]", keys.join(", "))
}

/// Says what would fix a plan in words: no patch fixes a source.
fn in_words(finding: &mut Finding) {
    let Some(suggestion) = finding.suggestion.take() else { return };
    let [operation] = suggestion.patch.0.as_slice() else { return };
    let meant = match operation {
        PatchOperation::Replace(replace) => match &replace.value {
            Value::String(text) => format!("expression {}", quoted(text)),
            Value::Array(keys) => {
                let keys = keys.iter().filter_map(Value::as_str).map(str::to_owned);
                list(&keys.collect::<Vec<_>>())
            }
            _ => return,
        },
        PatchOperation::Move(moved) if moved.path.as_str().ends_with("/entries") => {
            "each entries [..]".to_owned()
        }
        PatchOperation::Move(_) => "each [..], without `entries`".to_owned(),
        _ => return,
    };
    finding.observed.push_str(&format!("; perhaps {meant}"));
}
