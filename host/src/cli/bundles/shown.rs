//! What `retort bundles` prints.

use std::path::PathBuf;

use retort::bundle::{
    Activation, Catalog, CatalogEntry, Collected, Digest, ExtractorName, Manifest, Sharing,
    Switched, Version, VersionState,
};
use serde::Serialize;

use super::super::files;

/// How many digits of a version are shown to people.
const SHOWN_DIGITS: usize = 12;

/// All extractors of a directory.
#[derive(Serialize)]
pub(super) struct Listed<'a> {
    /// Whether all that is active can be read.
    pub(super) ok: bool,
    /// Whether there is a record of what is active; without one all is.
    record: bool,
    /// What becomes of event types that several extractors declare.
    sharing: Sharing,
    extractors: Vec<ShownExtractor<'a>>,
    /// What is in the place of a version and can't be read.
    unreadable: Vec<String>,
}

/// An extractor with its versions.
#[derive(Serialize)]
pub(super) struct ShownExtractor<'a> {
    #[serde(skip)]
    pub(super) ok: bool,
    name: &'a ExtractorName,
    versions: Vec<ShownVersion<'a>>,
    /// What was active, the last of it now.
    activations: &'a [Activation],
}

#[derive(Serialize)]
struct ShownVersion<'a> {
    version: Digest,
    path: String,
    state: VersionState,
    /// Whether it is there, with a manifest that can be read.
    readable: bool,
    created_at: Option<&'a str>,
    function_name: Option<&'a str>,
    event_types: &'a [String],
}

impl<'a> Listed<'a> {
    pub(super) fn of(catalog: &'a Catalog) -> Self {
        let extractors: Vec<_> = catalog.extractors.iter().map(ShownExtractor::of).collect();
        Self {
            ok: extractors.iter().all(|it| it.ok),
            record: catalog.has_record,
            sharing: catalog.sharing,
            extractors,
            unreadable: paths(&catalog.unreadable),
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text: String = self.extractors.iter().map(ShownExtractor::lines).collect();
        for path in &self.unreadable {
            text.push_str(&format!("{path}: unreadable\n"));
        }
        if self.extractors.is_empty() {
            text.push_str("no bundles\n");
        }
        text
    }
}

impl<'a> ShownExtractor<'a> {
    pub(super) fn of(found: &'a CatalogEntry) -> Self {
        let is_whole = |it: &Version| it.state != VersionState::Active || it.manifest.is_some();
        Self {
            ok: found.versions.iter().all(is_whole),
            name: &found.name,
            versions: found.versions.iter().map(ShownVersion::of).collect(),
            activations: &found.activations,
        }
    }

    /// A line for each version.
    fn lines(&self) -> String {
        let line = |version: &ShownVersion<'_>| format!("{}@{}\n", self.name, version.text());
        self.versions.iter().map(line).collect()
    }

    pub(super) fn text(&self) -> String {
        let mut text = self.lines();
        text.push_str("active since:\n");
        for Activation { versions, since, by } in self.activations.iter().rev() {
            text.push_str(&format!("  {since}  {:<24}  {}\n", short_all(versions), by));
        }
        text
    }
}

impl<'a> ShownVersion<'a> {
    fn of(found: &'a Version) -> Self {
        let manifest = found.manifest.as_ref();
        Self {
            version: found.fingerprint,
            path: files::name(&found.path),
            state: found.state,
            readable: manifest.is_some(),
            created_at: manifest.map(Manifest::created_at),
            function_name: manifest.map(Manifest::function_name),
            event_types: manifest.map_or(&[], Manifest::event_types),
        }
    }

    fn text(&self) -> String {
        let (version, state) = (short(&self.version), self.state.as_str());
        match self.created_at {
            Some(created) => {
                format!("{version}  {state:<7}  {created}  {}", self.event_types.join(", "))
            }
            None => format!("{version}  {state:<7}  not there, or unreadable"),
        }
    }
}

/// What is served of an extractor now, and what was.
#[derive(Serialize)]
pub(super) struct SwitchedReport<'a> {
    ok: bool,
    name: &'a ExtractorName,
    before: &'a [Digest],
    after: &'a [Digest],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    retired: &'a [ExtractorName],
}

impl<'a> SwitchedReport<'a> {
    pub(super) fn of(name: &'a ExtractorName, switched: &'a Switched) -> Self {
        let Switched { before, after, retired, .. } = switched;
        Self { ok: true, name, before, after, retired }
    }

    pub(super) fn text(&self) -> String {
        let (before, after) = (short_all(self.before), short_all(self.after));
        let mut text = match self.before == self.after {
            true => format!("{}: {after} as before\n", self.name),
            false => format!("{}: {before} -> {after}\n", self.name),
        };
        text.extend(self.retired.iter().map(|other| format!("{other}: gave way\n")));
        text
    }
}

/// What becomes of event types that several extractors declare, and what did.
#[derive(Serialize)]
pub(super) struct SharingReport {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Sharing>,
    sharing: Sharing,
}

impl SharingReport {
    pub(super) fn of(sharing: Sharing) -> Self {
        Self { ok: true, before: None, sharing }
    }

    pub(super) fn changed(before: Sharing, sharing: Sharing) -> Self {
        Self { ok: true, before: Some(before), sharing }
    }

    pub(super) fn text(&self) -> String {
        let Self { before, sharing, .. } = self;
        match before {
            None => format!("{sharing}\n"),
            Some(before) if before == sharing => format!("{sharing} as before\n"),
            Some(before) => format!("{before} -> {sharing}\n"),
        }
    }
}

/// What was removed, or would be.
#[derive(Serialize)]
pub(super) struct CollectedReport {
    ok: bool,
    dry_run: bool,
    removed: Vec<String>,
    in_use: Vec<String>,
    left: usize,
}

impl CollectedReport {
    pub(super) fn of(collected: &Collected, dry_run: bool) -> Self {
        let (removed, in_use) = (paths(&collected.removed), paths(&collected.in_use));
        Self { ok: true, dry_run, removed, in_use, left: collected.left }
    }

    pub(super) fn text(&self) -> String {
        let verb = if self.dry_run { "would remove" } else { "removed" };
        let removed = self.removed.iter().map(|path| format!("{verb} {path}\n"));
        let in_use = self.in_use.iter().map(|path| format!("in use {path}\n"));
        let counts = format!("{verb} {} versions, {} left\n", self.removed.len(), self.left);
        removed.chain(in_use).chain([counts]).collect()
    }
}

fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| files::name(path)).collect()
}

pub(in crate::cli) fn short(version: &Digest) -> String {
    version.to_string().chars().take(SHOWN_DIGITS).collect()
}

pub(in crate::cli) fn short_all(versions: &[Digest]) -> String {
    match versions {
        [] => "nothing".to_owned(),
        _ => versions.iter().map(short).collect::<Vec<_>>().join(", "),
    }
}
