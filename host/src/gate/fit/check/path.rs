//! Paths: whether they exist, from where they start.

use json_patch::Patch;

use super::describe::{no_scalar, shown};
use super::expression;
use crate::diagnostics::codes::{MISSING_FOR_EACH, UNKNOWN_PATH};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::evidence::{Path, PathIndex};
use crate::gate::fit::scope::Scopes;
use crate::gate::fit::suggest::{
    Meant, NearestPath, PathSearch, Sought, other_spellings, parsed, relocate, rewritten,
};
use crate::graph::spec::PropertySpec;
use crate::plan::expr::{ForEach, Iteration, Level, Reference, Template};
use crate::plan::{Plan, Read, Role, innermost};

/// What it costs to write a template anew, for each of its bytes, in steps.
const REWRITE_STEPS: u64 = 10;

/// A path that a plan reads, and where.
pub(in crate::gate::fit) struct PathUse<'p> {
    /// Pointer to what says it.
    pub(in crate::gate::fit) pointer: String,
    pub(in crate::gate::fit) reference: &'p Reference,
    pub(in crate::gate::fit) for_each: Option<&'p ForEach>,
    /// The template that it is written in.
    pub(in crate::gate::fit) template: Option<&'p Template>,
    /// Whether conversions may follow, and whether there are any.
    pub(in crate::gate::fit) has_chain: Option<bool>,
}

/// What is wanted of a path.
#[derive(Default)]
pub(in crate::gate::fit) struct WantedAtPath<'p> {
    /// What the value is called.
    pub(in crate::gate::fit) name: Option<&'p str>,
    /// The property that it is for.
    pub(in crate::gate::fit) property: Option<&'p PropertySpec>,
    pub(in crate::gate::fit) is_key: bool,
    /// What is removed from the plan to be rid of the path, where it can be.
    pub(in crate::gate::fit) removable: Option<String>,
    /// Whether events always have what is looked for, so that few samples are enough to tell.
    pub(in crate::gate::fit) is_always_there: bool,
    /// The paths of which it is one alternative. An alternative may occur only in events of which there is no sample, so it is
    /// reported only if it is clearly a misspelt path that no other alternative reads.
    pub(in crate::gate::fit) alternatives: &'p [&'p Reference],
}

/// An unknown path, and what it leads through where that is an array.
pub(super) struct UnknownPath {
    pub(super) finding: Finding,
    pub(super) through: Option<(Iteration, Path)>,
}

/// A path that isn't there, and what was meant by it.
pub(in crate::gate::fit) struct Missing {
    pub(in crate::gate::fit) finding: Finding,
    pub(in crate::gate::fit) meant: Option<Likely<Meant>>,
    /// Whether what was meant is the very path, somewhere else.
    is_there: bool,
}

impl PathUse<'_> {
    /// What is wrong with a path that isn't there; nothing where it may be, all the same.
    pub(super) fn unknown(
        &self,
        wanted: &WantedAtPath<'_>,
        search: &PathSearch<'_, '_>,
        scopes: &Scopes<'_>,
    ) -> Option<UnknownPath> {
        let Missing { finding, meant, is_there } = self.missing(wanted, search, scopes)?;
        let (meant, sure) = match meant {
            Some(Likely { item: Meant::Element { iteration, rest }, .. }) => {
                let finding = through(&self.pointer, &iteration, &rest);
                return Some(UnknownPath { finding, through: Some((iteration, rest)) });
            }
            Some(Likely { item, applicability }) => (Some(item), Some(applicability)),
            None => (None, None),
        };
        // Each path of a template is put right in the whole of it.
        let may_write = |template: &Template| {
            search.effort().take(REWRITE_STEPS * template.text().len() as u64)
        };
        let meant = meant.filter(|_| self.template.is_none_or(may_write));
        let item = meant.and_then(|meant| self.moved(meant));
        let replaced = item.zip(sure).map(|(item, applicability)| Likely { item, applicability });
        // An unfinished search that found nothing proves nothing.
        let is_removable = !is_there && !search.effort().is_over();
        let removable = wanted.removable.as_ref().filter(|_| is_removable);
        let removed = || removable.map(|at| Likely::new(patch::remove(at), false));
        let finding = finding.suggesting(replaced.or_else(removed));
        Some(UnknownPath { finding, through: None })
    }

    /// The same, with what was meant in the place of what would fix a plan.
    pub(in crate::gate::fit) fn missing(
        &self,
        wanted: &WantedAtPath<'_>,
        search: &PathSearch<'_, '_>,
        scopes: &Scopes<'_>,
    ) -> Option<Missing> {
        let Self { pointer, reference, for_each, .. } = self;
        let known = scopes.at(*for_each, reference.level)?;
        let path = &reference.path;
        if known.admits_path(path) {
            return None;
        }
        let finding = unknown_at(pointer, path, known);
        // Where little is known, one key may well be in several objects.
        let is_telling = !known.is_thin() || path.len() > 1;
        let is_alternative = wanted.alternatives.len() > 1;
        let there = relocate(reference, *for_each, scopes).filter(|meant| match meant {
            Meant::Reference(new) | Meant::InElement(new) => {
                is_telling && !wanted.alternatives.contains(&new)
            }
            Meant::Element { .. } | Meant::Json { .. } => is_telling && !is_alternative,
        });
        if let Some(meant) = there {
            let is_certain = match &meant {
                Meant::Reference(new) => self.may_be_meant(new, wanted, scopes),
                // What is there shows that nothing can be where it was looked for.
                Meant::InElement(_) | Meant::Element { .. } | Meant::Json { .. } => true,
            };
            let meant = Some(Likely::new(meant, is_certain));
            return Some(Missing { finding, meant, is_there: true });
        }
        let nearest = self.nearest(wanted, search);
        let is_typo = nearest.as_ref().is_some_and(NearestPath::is_clear_typo);
        let is_sure = wanted.is_always_there || !known.is_thin() || known.is_blocked(path);
        if !is_typo && (!is_sure || is_alternative) {
            return None;
        }
        let meant = nearest.map(|nearest| {
            let (path, level) = (nearest.path.item.clone(), self.reference.level);
            let new = Reference { path, level };
            let is_free = self.may_be_meant(&new, wanted, scopes);
            nearest.path.only_if(is_free).map(|_| Meant::Reference(new))
        });
        Some(Missing { finding, meant, is_there: false })
    }

    /// Whether nothing speaks against another path's being the one that was meant: no other value reads it, and the name of the
    /// property says no more of what was written than of it.
    fn may_be_meant(
        &self,
        new: &Reference,
        wanted: &WantedAtPath<'_>,
        scopes: &Scopes<'_>,
    ) -> bool {
        let name = wanted.property.map(|it| it.logical_name.as_str()).or(wanted.name);
        let says = |path: &[String]| name.map_or(0.0, |it| spelling::affinity(it, path));
        // An id is no value of anything else, and the same keys in one are that path and no other.
        let is_joined = other_spellings(&self.reference.path).contains(&new.path);
        is_joined
            || wanted.is_always_there
            || (says(&self.reference.path) <= says(&new.path)
                && !scopes.is_read_elsewhere(&self.pointer, new, self.for_each))
    }

    /// What makes the plan read what was found somewhere else, where that can be written.
    fn moved(&self, meant: Meant) -> Option<Patch> {
        match meant {
            Meant::Reference(new) | Meant::InElement(new) => self.rewritten(&new),
            Meant::Json { path, rest } => {
                let at = self.pointer.strip_suffix("/source_path")?;
                Some(parsed(at, &path, &rest, self.has_chain?))
            }
            Meant::Element { .. } => None,
        }
    }

    fn rewritten(&self, new: &Reference) -> Option<Patch> {
        rewritten(&self.pointer, self.reference, new, innermost(self.for_each), self.template)
    }

    /// The path that is most like this one, and none of its alternatives.
    fn nearest(
        &self,
        wanted: &WantedAtPath<'_>,
        search: &PathSearch<'_, '_>,
    ) -> Option<NearestPath> {
        let property = wanted.property;
        let sought = Sought {
            given: &self.reference.path,
            name: property.map(|it| it.logical_name.as_str()).or(wanted.name),
            property_type: property
                .map(|it| &it.property_type)
                .filter(|_| self.has_chain != Some(true)),
            is_key: wanted.is_key,
        };
        let level = self.reference.level;
        let mut alternatives = wanted.alternatives.iter().filter(|it| it.level == level);
        // An id that events always have is none where none of them has it.
        let nearest = if wanted.is_always_there {
            search.most_alike(&sought)?
        } else {
            search.nearest(&sought)?
        };
        (!alternatives.any(|it| it.path == nearest.path.item)).then_some(nearest)
    }
}

fn unknown_at(at: &str, path: &[String], known: &PathIndex<'_>) -> Finding {
    let count = known.count();
    let or_declared =
        if known.evidence.has_schema() { ", and the event schema doesn't declare" } else { "" };
    Finding::new(
        Stage::Fit,
        UNKNOWN_PATH,
        at,
        format!("a path that {} have", known.of),
        format!("{}, which none of {count} samples has{or_declared}", shown(path)),
    )
}

/// A path that leads through an array.
fn through(at: &str, iteration: &Iteration, rest: &[String]) -> Finding {
    let array = shown(iteration.path());
    let inside = if rest.is_empty() { "each element".to_owned() } else { shown(rest) };
    Finding::new(
        Stage::Fit,
        MISSING_FOR_EACH,
        at,
        format!("a for_each over the array {array}, and {inside} inside of it"),
        format!("a path through the array {array}, which leads nowhere"),
    )
}

/// At each level, the search for a path that may be one that another value reads as well.
pub(super) fn searches<'k, 't>(
    scopes: &'k Scopes<'t>,
    for_each: Option<&ForEach>,
) -> Vec<(Level, PathSearch<'k, 't>)> {
    let search = |(level, known)| {
        (level, PathSearch::new(known, "", []).beside(scopes.paths_read(level, for_each)))
    };
    scopes.levels(for_each).map(search).collect()
}

/// The search at a level; none where nothing is known of that.
pub(super) fn at_level<'s, 'k, 't>(
    searches: &'s [(Level, PathSearch<'k, 't>)],
    level: Level,
) -> Option<&'s PathSearch<'k, 't>> {
    searches.iter().find(|(it, _)| *it == level).map(|(_, search)| search)
}

/// The paths that are read for something else than a property: conditions, the session, spans, ids of edges. The defaults
/// need not exist: an event without them belongs to no session and claims no span.
pub(in crate::gate::fit) fn roles(plan: &Plan, scopes: &Scopes<'_>) -> Vec<Finding> {
    let reads = plan.reads();
    let is_role = |read: &&Read<'_>| {
        matches!(read.role, Role::Gate | Role::When | Role::Session | Role::Span | Role::EdgeId)
    };
    let mut findings = Vec::new();
    let mut expressions = plan.expressions();
    for read in reads.iter().filter(is_role) {
        // An expression is looked at as a whole, where the first of its paths is.
        if read.pointer.ends_with("/expression") {
            if let Some(at) = expressions.iter().position(|(pointer, _)| *pointer == read.pointer) {
                let (pointer, query) = expressions.swap_remove(at);
                findings.extend(expression::keys(&pointer, query, None, read.for_each, scopes));
            }
            continue;
        }
        findings.extend(role(read, plan, scopes));
    }
    findings
}

fn role(read: &Read<'_>, plan: &Plan, scopes: &Scopes<'_>) -> Option<Finding> {
    let path = read.reference.path.as_slice();
    let default = read.default_path();
    if default.as_deref() == Some(path) {
        return None;
    }
    let name = default.as_ref().and_then(|default| default.last()).map(String::as_str);
    let known = scopes.at(read.for_each, read.reference.level)?;
    let paths = scopes.paths_read(read.reference.level, read.for_each);
    let search = PathSearch::new(known, "", []).beside(paths);
    let template = plan.edges().iter().enumerate().find_map(|(index, edge)| {
        let is_its = read.pointer == format!("{}/edge_id", plan.edge_pointer(index));
        edge.edge_id().filter(|_| is_its)
    });
    let path_use = PathUse {
        pointer: read.pointer.clone(),
        reference: &read.reference,
        for_each: read.for_each,
        template,
        has_chain: None,
    };
    let wanted = WantedAtPath { name, is_always_there: name.is_some(), ..WantedAtPath::default() };
    if let Some(unknown) = path_use.unknown(&wanted, &search, scopes) {
        return Some(unknown.finding);
    }
    // An id has to be a scalar somewhere.
    if name.is_none() || known.admits(path, None) || known.values(path).next().is_none() {
        return None;
    }
    let sought = Sought { given: path, name, property_type: None, is_key: false };
    let named = search.named(&sought);
    let finding = no_scalar(&read.pointer, path, known);
    Some(finding.suggesting(named.map(|it| it.replacing(&read.pointer))))
}
