//! The activation record of a directory of bundles: which versions of which extractors are served, and what was before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::manifest::written;
use super::name::ExtractorName;
use super::read::{ReadError, Regular};
use super::sharing::Sharing;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// The record's file name in the directory of bundles.
pub const RECORD_FILE: &str = ".active.json";

/// The largest record that is read or written, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// How many activations of one extractor are kept, the one in force among them.
pub const MAX_ACTIVATIONS: usize = 16;

/// The longest command that is noted, in bytes.
const MAX_COMMAND_BYTES: usize = 200;

/// The only schema so far.
const SCHEMA: u32 = 1;

/// Which versions of which extractors are served, and what was before.
///
/// A value of this type is well-formed. Whether the versions are there is for whoever opens them to find out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    schema: u32,
    #[serde(default, skip_serializing_if = "Sharing::is_off")]
    pub(super) sharing: Sharing,
    names: BTreeMap<ExtractorName, Vec<Activation>>,
}

/// What was served of an extractor from some time on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Activation {
    /// The versions: one, as a rule, and none once it is retired. Bundles that are named by their functions alone may be
    /// several, if they have no event type in common.
    #[cfg_attr(feature = "serve", schema(value_type = Vec<String>))]
    pub versions: Vec<Digest>,
    /// Since when, as manifests write times.
    pub since: String,
    /// The command that made it so.
    pub by: String,
}

/// Why the activation record of a directory is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: expected an activation record: {message}", path.display())]
pub struct RecordError {
    pub(super) path: PathBuf,
    pub(super) message: String,
}

impl Coded for RecordError {
    fn entry(&self) -> Code {
        codes::ACTIVATION_RECORD_INVALID
    }
}

impl Activation {
    /// From this time on, by this command, of which as much is noted as the record holds.
    pub(crate) fn new(versions: Vec<Digest>, at: jiff::Timestamp, by: &str) -> Self {
        let mut end = by.len().min(MAX_COMMAND_BYTES);
        while !by.is_char_boundary(end) {
            end -= 1;
        }
        Self { versions, since: written(at), by: by.get(..end).unwrap_or_default().to_owned() }
    }
}

impl Record {
    /// One of nothing.
    pub(super) fn empty() -> Self {
        Self { schema: SCHEMA, sharing: Sharing::Off, names: BTreeMap::new() }
    }

    /// The record of an open directory, which messages call `root`; `None` where it has none.
    pub(super) fn read(dir: &Dir, root: &Path) -> Result<Option<Self>, RecordError> {
        let failed = |message| RecordError { path: root.join(RECORD_FILE), message };
        match Regular::open(dir, RECORD_FILE, MAX_BYTES).and_then(Regular::read) {
            Ok(bytes) => Self::from_json(&bytes).map(Some).map_err(failed),
            Err(ReadError::Missing) => Ok(None),
            // Another one takes its place between the look at it and the opening, or while it is read.
            Err(ReadError::Changed { .. }) => Self::read(dir, root),
            Err(ReadError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Reads a record strictly: there is one form of each.
    pub(super) fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let record: Self =
            serde_json::from_slice(bytes).map_err(|error| sanitize(&error.to_string(), 240))?;
        if record.schema != SCHEMA {
            return Err(format!("expected schema {SCHEMA}, found {}", record.schema));
        }
        for (name, activations) in &record.names {
            if activations.is_empty() || activations.len() > MAX_ACTIVATIONS {
                let found = activations.len();
                return Err(format!(
                    "`{name}`: expected 1 to {MAX_ACTIVATIONS} activations, found {found}"
                ));
            }
            for Activation { versions, since, by } in activations {
                let time = since.parse::<jiff::Timestamp>();
                if time.map_or(true, |time| written(time) != *since) {
                    let since = sanitize(since, 120);
                    return Err(format!("`{name}`: expected a time, found `{since}`"));
                }
                if !versions.is_sorted_by(|one, next| one < next) {
                    return Err(format!("`{name}`: expected versions in order, each once"));
                }
                if by.len() > MAX_COMMAND_BYTES {
                    return Err(format!(
                        "`{name}`: expected a command of {MAX_COMMAND_BYTES} bytes"
                    ));
                }
            }
        }
        // A name twice, for one, would not show otherwise.
        if record.to_json().as_bytes() != bytes {
            return Err("found the same in another form than records are written in".to_owned());
        }
        Ok(record)
    }

    /// The file's text.
    pub(super) fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("strings, numbers and maps with string keys always serialise");
        text.push('\n');
        text
    }

    /// Whether it is as small as a reader takes it.
    pub(super) fn is_readable(text: &str) -> bool {
        text.len() as u64 <= MAX_BYTES
    }

    /// All versions that are served.
    pub(super) fn active(&self) -> BTreeSet<Digest> {
        self.names.values().filter_map(|it| it.last()).flat_map(|it| it.versions.clone()).collect()
    }

    /// All versions that it names: those that are served, and those that were.
    pub(super) fn known(&self) -> BTreeSet<Digest> {
        self.names.values().flatten().flat_map(|it| it.versions.clone()).collect()
    }

    /// The names, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &ExtractorName> {
        self.names.keys()
    }

    /// What was served of an extractor, the last of them now.
    pub(super) fn activations(&self, name: &ExtractorName) -> &[Activation] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// The versions of an extractor that are served.
    pub(super) fn current(&self, name: &ExtractorName) -> &[Digest] {
        self.activations(name).last().map_or(&[], |it| &it.versions)
    }

    /// Notes what is served of an extractor from now on. Whether that is anything else than before.
    pub(super) fn activate(&mut self, name: &ExtractorName, mut activation: Activation) -> bool {
        activation.versions.sort_unstable();
        activation.versions.dedup();
        let activations = self.names.entry(name.clone()).or_default();
        if activations.last().is_some_and(|it| it.versions == activation.versions) {
            return false;
        }
        activations.push(activation);
        if activations.len() > MAX_ACTIVATIONS {
            activations.remove(0);
        }
        true
    }

    /// What was served of an extractor before, other than nothing.
    pub(super) fn before(&self, name: &ExtractorName) -> Option<&[Digest]> {
        let (_, earlier) = self.activations(name).split_last()?;
        earlier.iter().rev().map(|it| it.versions.as_slice()).find(|it| !it.is_empty())
    }

    /// Goes back to [what was served before](Self::before), of which is noted when and by what.
    pub(super) fn roll_back(&mut self, name: &ExtractorName, now: jiff::Timestamp, by: &str) {
        let Some(activations) = self.names.get_mut(name) else { return };
        activations.pop();
        while activations.last().is_some_and(|it| it.versions.is_empty()) {
            activations.pop();
        }
        if let Some(last) = activations.last_mut() {
            *last = Activation::new(std::mem::take(&mut last.versions), now, by);
        }
    }

    /// Forgets what was served before the last `keep` changes.
    pub(super) fn forget(&mut self, keep: usize) {
        for activations in self.names.values_mut() {
            let rest = activations.len().saturating_sub(keep.saturating_add(1));
            activations.drain(..rest);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn name(text: &str) -> ExtractorName {
        text.parse().unwrap()
    }

    fn at(second: i64) -> jiff::Timestamp {
        jiff::Timestamp::from_second(second).unwrap()
    }

    fn of(versions: &[&[u8]]) -> Activation {
        Activation::new(versions.iter().map(|it| Digest::of(it)).collect(), at(1), "test")
    }

    fn sample() -> Record {
        let mut record = Record::empty();
        assert!(record.activate(&name("orders"), of(&[b"1"])));
        assert!(record.activate(&name("orders"), of(&[b"2"])));
        assert!(record.activate(&name("parcels"), of(&[b"4", b"3", b"4"])));
        record
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let shared = Record { sharing: Sharing::Last, ..sample() };
        assert!(!sample().to_json().contains("sharing") && shared.to_json().contains("\"last\""));
        for record in [Record::empty(), sample(), shared] {
            assert_eq!(Record::from_json(record.to_json().as_bytes()), Ok(record));
        }
    }

    #[test]
    fn whatever_else_is_refused() {
        let text = sample().to_json();
        let changed = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        };
        let version = Digest::of(b"1").to_string();
        let twice = format!("{},\n    {}", "\"orders\": []", "\"orders\": [");
        for bad in [
            String::new(),
            "[]\n".to_owned(),
            "{}\n".to_owned(),
            text.trim_end().to_owned(),
            changed("\"schema\": 1", "\"schema\": 2"),
            changed("\"schema\": 1", "\"schema\": 1, \"more\": 2"),
            changed("\"schema\": 1", "\"schema\": 1,\n  \"sharing\": \"off\""),
            changed("\"schema\": 1", "\"schema\": 1,\n  \"sharing\": \"all\""),
            changed("\"by\": \"test\"", "\"by\": \"test\", \"more\": 2"),
            changed("\"by\": \"test\"", &format!("\"by\": \"{}\"", "x".repeat(201))),
            changed("1970-01-01", "1970-31-01"),
            changed("\"orders\"", "\"../orders\""),
            changed(&version, &version.to_uppercase()),
            changed(&version, "abc"),
            changed("\"orders\": [", &twice),
            changed("\"schema\": 1", "\"schema\":  1"),
        ] {
            assert!(Record::from_json(bad.as_bytes()).is_err(), "{bad}");
        }
        for end in 0..text.len() {
            assert!(Record::from_json(&text.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn going_back_is_to_what_was_served() {
        let mut record = sample();
        let orders = name("orders");
        record.activate(&orders, of(&[]));
        assert_eq!(record.current(&orders), []);
        assert_eq!(record.before(&orders), Some(&[Digest::of(b"2")][..]));
        record.roll_back(&orders, at(5), "back");
        assert_eq!(record.current(&orders), [Digest::of(b"2")]);
        assert_eq!(record.activations(&orders).last().unwrap().by, "back");
        record.roll_back(&orders, at(6), "back");
        assert_eq!(record.current(&orders), [Digest::of(b"1")]);
        assert_eq!(record.before(&orders), None);
    }

    #[test]
    fn what_was_before_is_bounded_and_can_be_forgotten() {
        let (mut record, orders) = (Record::empty(), name("orders"));
        for number in 0..100_u8 {
            assert!(record.activate(&orders, of(&[&[number]])));
            assert!(!record.activate(&orders, of(&[&[number]])), "nothing changes");
        }
        assert_eq!(record.activations(&orders).len(), MAX_ACTIVATIONS);
        record.forget(2);
        let kept = [97, 98, 99_u8].map(|number| Digest::of(&[number]));
        assert_eq!(record.known(), BTreeSet::from(kept));
        record.forget(0);
        assert_eq!(record.known(), record.active());
    }
}
