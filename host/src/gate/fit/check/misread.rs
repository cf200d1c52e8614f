//! Paths that exist and are right by type, but belong to another property by their names.

use std::collections::BTreeSet;

use super::describe::shown;
use crate::diagnostics::codes::{FIELDS_SWAPPED, PATH_READ_TWICE};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::PathIndex;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::gate::fit::mapping::Mapping;
use crate::gate::fit::suggest::PathSearch;
use crate::plan::expr::Level;

/// What is read by two mappings crosswise, and what is read twice. Names alone speak here, so they have to speak clearly:
/// nothing is said where a property's name occurs anywhere on the path that it reads. Paths are compared that start at the
/// same `level`, which `search` looks through.
pub(super) fn check(
    mappings: &[Mapping<'_>],
    owner: &str,
    level: Level,
    search: &PathSearch<'_, '_>,
) -> Vec<Finding> {
    let known = search.known();
    let at_level = |it: &&Mapping<'_>| it.plain().is_some_and(|it| it.level == level);
    let sound = mappings.iter().filter(at_level).filter(|it| it.is_sound(known));
    let sound: Vec<Sound<'_>> = sound.map(Sound::new).collect();
    let effort = &known.efforts.values;
    let mut findings = Vec::new();
    let mut involved: BTreeSet<usize> = BTreeSet::new();
    for (i, one) in sound.iter().enumerate() {
        for (j, other) in sound.iter().enumerate().skip(i + 1) {
            if involved.contains(&i) || involved.contains(&j) {
                continue;
            }
            let (is_same, steps) =
                (one.mapping.path() == other.mapping.path(), one.steps + other.steps);
            let found = if is_same && one.reads_its_name != other.reads_its_name {
                let astray = if one.reads_its_name { other } else { one };
                read_twice(astray.mapping, owner, search)
            } else if !is_same && one.is_astray && other.is_astray && effort.take(steps) {
                swapped(one.mapping, other.mapping, known)
            } else {
                None
            };
            if let Some(finding) = found {
                findings.push(finding);
                involved.extend([i, j]);
            }
        }
    }
    findings
}

/// A mapping with which nothing is wrong by itself.
struct Sound<'m> {
    mapping: &'m Mapping<'m>,
    reads_its_name: bool,
    /// Whether its name is nowhere on the path that it reads.
    is_astray: bool,
    /// What it costs to compare its name and its path with those of another one.
    steps: u64,
}

impl<'m> Sound<'m> {
    fn new(mapping: &'m Mapping<'m>) -> Self {
        let (path, name) = (mapping.path(), spelling::plain(mapping.name()));
        let reads_its_name = mapping.reads_its_name(path);
        let is_on_path = path.iter().any(|segment| spelling::plain(segment) == name);
        let bytes: usize = path.iter().map(String::len).sum::<usize>() + name.len();
        let steps = 1_000 + 20 * bytes as u64;
        Self { mapping, reads_its_name, is_astray: !reads_its_name && !is_on_path, steps }
    }
}

/// Two of them, neither of which has its name on its own path.
fn swapped(one: &Mapping<'_>, other: &Mapping<'_>, known: &PathIndex<'_>) -> Option<Finding> {
    let crosswise = is_anothers(one, other.path()) && is_anothers(other, one.path());
    let exactly = usize::from(one.reads_its_name(other.path()))
        + usize::from(other.reads_its_name(one.path()));
    let in_part = |it: &Mapping<'_>, path: &[String]| {
        spelling::affinity(it.field.property_name(), path) >= 0.4
    };
    let clear = exactly == 2
        || (exactly == 1
            && in_part(one, other.path())
            && in_part(other, one.path())
            && says_nothing(one)
            && says_nothing(other));
    let fits = known.admits(other.path(), one.property_type())
        && known.admits(one.path(), other.property_type());
    if !crosswise || !clear || !fits {
        return None;
    }
    let at = format!("{}/source_path", one.at);
    let patch = patch::both(
        patch::replace(&at, other.path()),
        patch::replace(&format!("{}/source_path", other.at), one.path()),
    );
    let finding = Finding::new(
        Stage::Fit,
        FIELDS_SWAPPED,
        at,
        format!("{} from {}", quoted(one.name()), shown(other.path())),
        format!(
            "{} from {}, and {} from {}",
            quoted(one.name()),
            shown(one.path()),
            quoted(other.name()),
            shown(other.path())
        ),
    );
    Some(finding.with_fix(patch))
}

/// Whether a mapping whose name is nowhere on its path would better read another one.
fn is_anothers(mapping: &Mapping<'_>, path: &[String]) -> bool {
    let name = mapping.name();
    spelling::affinity(name, path) > spelling::affinity(name, mapping.path())
}

fn says_nothing(mapping: &Mapping<'_>) -> bool {
    spelling::affinity(mapping.name(), mapping.path()) < 0.2
}

/// Of two that read one path, another one has it by its name; if there is a path of this one's name beside it, that was meant.
fn read_twice(astray: &Mapping<'_>, owner: &str, search: &PathSearch<'_, '_>) -> Option<Finding> {
    let path = astray.path();
    let name = &astray.property?.logical_name;
    let nearest = search.named(&astray.sought(path)).filter(Likely::is_certain)?.item;
    let beside = nearest.split_last().map(|(_, it)| it) == path.split_last().map(|(_, it)| it);
    // Several properties may be read from one value on purpose. A key that is another property's value isn't one of them.
    if !beside || !astray.reads_its_name(&nearest) || spelling::affinity(name, path) >= 0.5 {
        return None;
    }
    let at = format!("{}/source_path", astray.at);
    let finding = Finding::new(
        Stage::Fit,
        PATH_READ_TWICE,
        &at,
        format!(
            "{} of {} from a path of its own, {}",
            quoted(name),
            quoted(owner),
            shown(&nearest)
        ),
        format!("{}, which another property has by its name", shown(path)),
    );
    Some(finding.with_fix(patch::replace(&at, &nearest)))
}
