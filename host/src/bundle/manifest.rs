//! `manifest.json`: what a bundle is for, and a digest of each of its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contents::{Contents, Naming, Part, RustVersions, Versions};
use super::digest::Digest;
use super::name::ExtractorName;
use super::names::{MODULE_EXTENSION, is_function_name, is_module_name};
use crate::abi::event::MAX_EVENT_TYPE_BYTES;
use crate::abi::section::MAX_EVENT_TYPES;
use crate::diagnostics::untrusted::sanitize;

/// The manifest's file name.
pub const MANIFEST_FILE: &str = "manifest.json";

/// The largest manifest that is read, in bytes.
pub(crate) const MAX_BYTES: u64 = 1 << 20;

/// How much of a value that a manifest holds is repeated in a message.
pub(super) const VALUE_CHARS: usize = 120;

/// A bundle's manifest, checked field by field.
///
/// A value of this type is well-formed. Whether it tells the truth about the files beside it is
/// for [`load`](super::load) to find out.
//
// The fields are in alphabetical order: that of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Manifest {
    abi_version: u32,
    compiler_package_version: String,
    created_at: String,
    event_types: Vec<String>,
    files: BTreeMap<String, Digest>,
    fingerprint: String,
    function_name: String,
    module_filename: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<ExtractorName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rust: Option<FromRust>,
    template_version: String,
    transcript_builder_version: String,
}

/// Longest text by which a compiler is known, in bytes.
const MAX_COMPILER_BYTES: usize = 2048;

/// What a module was compiled from, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct FromRust {
    compiler: String,
    sdk: Digest,
    source: Digest,
}

/// Why a manifest is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if path.is_empty() { String::new() } else { format!("`{path}`: ") })]
pub struct ManifestError {
    path: String,
    message: String,
}

impl ManifestError {
    fn root(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    fn expected(path: impl Into<String>, expected: &str, found: &Value) -> Self {
        let found = sanitize(&found.to_string(), VALUE_CHARS);
        Self { path: path.into(), message: format!("expected {expected}, found {found}") }
    }

    /// The field at fault, like `event_types[1]`; empty for the root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

/// The field set, exactly. Types are looked at one by one afterwards, in the contract's order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestFields {
    fingerprint: Value,
    compiler_package_version: Value,
    template_version: Value,
    transcript_builder_version: Value,
    created_at: Value,
    event_types: Value,
    module_filename: Value,
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    rust: Option<Value>,
    function_name: Value,
    abi_version: Value,
    files: Value,
}

impl Manifest {
    /// Reads a manifest: UTF-8, JSON, an object, exactly the known fields, then each field.
    ///
    /// # Errors
    /// [`ManifestError`] for the first thing that does not fit, in that order.
    pub fn from_json(bytes: &[u8]) -> Result<Self, ManifestError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| ManifestError::root(format!("expected UTF-8: {error}")))?;
        // A derived reader would take a list for an object's fields in order.
        let is_object = text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with('{');
        let fields: ManifestFields = if is_object {
            serde_json::from_str(text).map_err(|error| {
                ManifestError::root(sanitize(&error.to_string(), 2 * VALUE_CHARS))
            })?
        } else {
            serde_json::from_str::<serde::de::IgnoredAny>(text)
                .map_err(|error| ManifestError::root(format!("expected JSON: {error}")))?;
            return Err(ManifestError::root("expected an object"));
        };
        let text = text_field;
        // In the contract's order, by which the first fault is the one to report.
        let mut manifest = Self {
            fingerprint: text("fingerprint", &fields.fingerprint)?,
            compiler_package_version: text(
                "compiler_package_version",
                &fields.compiler_package_version,
            )?,
            template_version: text("template_version", &fields.template_version)?,
            transcript_builder_version: text(
                "transcript_builder_version",
                &fields.transcript_builder_version,
            )?,
            created_at: text("created_at", &fields.created_at)?,
            event_types: event_types(&fields.event_types)?,
            module_filename: named(
                "module_filename",
                &fields.module_filename,
                |name| name.strip_suffix(MODULE_EXTENSION).is_some_and(is_module_name),
                "an identifier that isn't a keyword, followed by .wasm",
            )?,
            function_name: named(
                "function_name",
                &fields.function_name,
                is_function_name,
                "an identifier that isn't reserved",
            )?,
            abi_version: version("abi_version", &fields.abi_version)?,
            files: BTreeMap::new(),
            name: fields.name.as_ref().map(extractor_name).transpose()?,
            rust: fields.rust.as_ref().map(from_rust).transpose()?,
        };
        manifest.files = files(&fields.files, manifest.module_name())?;
        if let Some(rust) = &manifest.rust {
            let name = Part::Rust.file_name(manifest.module_name());
            if manifest.files.get(&name) != Some(&rust.source) {
                let found = Value::String(rust.source.to_string());
                let expected = format!("the digest of {name}");
                return Err(ManifestError::expected("rust.source", &expected, &found));
            }
        }
        Ok(manifest)
    }

    /// The manifest of these contents, made at `created_at`.
    ///
    /// # Errors
    /// [`ManifestError`] if a loader would refuse it.
    pub fn new(
        contents: &Contents<'_>,
        created_at: jiff::Timestamp,
    ) -> Result<Self, ManifestError> {
        let Versions { abi, compiler_package, template, transcript_builder, rust } =
            contents.versions;
        let rust = rust.map(|RustVersions { compiler, sdk }| FromRust {
            compiler: compiler.to_owned(),
            sdk,
            source: Digest::of(contents.rust.unwrap_or_default()),
        });
        let mut manifest = Self {
            abi_version: abi,
            compiler_package_version: compiler_package.to_owned(),
            created_at: written(created_at),
            event_types: contents.event_types.to_vec(),
            files: contents.files().map(|(_, name, bytes)| (name, Digest::of(bytes))).collect(),
            fingerprint: contents.fingerprint().to_string(),
            function_name: contents.function_name.to_owned(),
            module_filename: Part::Module.file_name(contents.module_name),
            name: contents.name.cloned(),
            rust,
            template_version: template.to_owned(),
            transcript_builder_version: transcript_builder.to_owned(),
        };
        let own = manifest.own_digest();
        manifest.files.insert(MANIFEST_FILE.to_owned(), own);
        let text = manifest.to_json();
        if text.len() as u64 > MAX_BYTES {
            let message = format!("expected at most {MAX_BYTES} bytes, found {}", text.len());
            return Err(ManifestError::root(message));
        }
        Self::from_json(text.as_bytes())
    }

    /// The file's text: sorted keys, two spaces of indent, a line break at the end.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("strings, numbers and maps with string keys always serialise");
        text.push('\n');
        text
    }

    /// The digest of the manifest's text without its own entry in `files`: the value of that
    /// entry. It is what notices a change of `created_at`, which the fingerprint leaves out.
    pub(super) fn own_digest(&self) -> Digest {
        let mut rest = self.clone();
        rest.files.remove(MANIFEST_FILE);
        Digest::of(rest.to_json().as_bytes())
    }

    /// What the contents of the bundle are identified by. Any text that isn't empty, until it is
    /// compared with the content.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The event types that the bundle serves: at least one, none twice.
    #[must_use]
    pub fn event_types(&self) -> &[String] {
        &self.event_types
    }

    /// The module's file name: an identifier and `.wasm`.
    #[must_use]
    pub fn module_filename(&self) -> &str {
        &self.module_filename
    }

    /// The module's file name without its extension.
    #[must_use]
    pub fn module_name(&self) -> &str {
        self.module_filename.strip_suffix(MODULE_EXTENSION).unwrap_or(&self.module_filename)
    }

    /// The extractor function.
    #[must_use]
    pub fn function_name(&self) -> &str {
        &self.function_name
    }

    /// The name of the extractor that the bundle is a version of: the one that it was given, else the function's.
    #[must_use]
    pub fn name(&self) -> ExtractorName {
        self.name.clone().unwrap_or_else(|| ExtractorName::of_function(&self.function_name))
    }

    /// Whether it was given a name, which then isn't the function's by chance.
    pub(super) fn has_own_name(&self) -> bool {
        self.name.is_some()
    }

    /// When the bundle was made: in bundles of [`Store`](super::Store), RFC 3339 in UTC with
    /// microseconds. Nothing depends on it.
    #[must_use]
    pub fn created_at(&self) -> &str {
        &self.created_at
    }

    /// The versions of what made the bundle.
    #[must_use]
    pub fn versions(&self) -> Versions<'_> {
        Versions {
            abi: self.abi_version,
            compiler_package: &self.compiler_package_version,
            template: &self.template_version,
            transcript_builder: &self.transcript_builder_version,
            rust: self
                .rust
                .as_ref()
                .map(|FromRust { compiler, sdk, .. }| RustVersions { compiler, sdk: *sdk }),
        }
    }

    /// What its fingerprint covers besides the files.
    pub(super) fn naming(&self) -> Naming<'_> {
        Naming {
            module: self.module_name(),
            name: self.name.as_ref(),
            function: &self.function_name,
            event_types: &self.event_types,
            versions: self.versions(),
        }
    }

    /// The digest of each file of the bundle, by file name. The manifest's own is that of its
    /// text without that entry.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<String, Digest> {
        &self.files
    }
}

/// A time as manifests have it.
pub(crate) fn written(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S.%6f+00:00").to_string()
}

fn text_field(path: &str, value: &Value) -> Result<String, ManifestError> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        _ => Err(ManifestError::expected(path, "a string that isn't empty", value)),
    }
}

/// A text that has to be a name of some kind.
fn named(
    path: &str,
    value: &Value,
    is_name: impl Fn(&str) -> bool,
    expected: &str,
) -> Result<String, ManifestError> {
    let name = text_field(path, value)?;
    if is_name(&name) { Ok(name) } else { Err(ManifestError::expected(path, expected, value)) }
}

fn extractor_name(value: &Value) -> Result<ExtractorName, ManifestError> {
    let name = value.as_str().and_then(|name| name.parse().ok());
    name.ok_or_else(|| ManifestError::expected("name", "the name of an extractor", value))
}

fn from_rust(value: &Value) -> Result<FromRust, ManifestError> {
    const FIELD: &str = "rust";
    let fields = value.as_object().filter(|fields| fields.len() == 3);
    let field = |name: &str| {
        let found = fields.and_then(|fields| fields.get(name));
        let expected = "an object of `compiler`, `sdk` and `source`";
        found.ok_or_else(|| ManifestError::expected(FIELD, expected, value))
    };
    let digest = |name: &str| digest(format!("{FIELD}.{name}"), field(name)?);
    let is_short = |text: &str| text.len() <= MAX_COMPILER_BYTES;
    let expected = format!("at most {MAX_COMPILER_BYTES} bytes");
    Ok(FromRust {
        compiler: named("rust.compiler", field("compiler")?, is_short, &expected)?,
        sdk: digest("sdk")?,
        source: digest("source")?,
    })
}

fn digest(path: String, value: &Value) -> Result<Digest, ManifestError> {
    let digest = value.as_str().and_then(|text| text.parse().ok());
    digest.ok_or_else(|| ManifestError::expected(path, "64 lowercase hexadecimal digits", value))
}

fn version(path: &str, value: &Value) -> Result<u32, ManifestError> {
    let version = value.as_u64().and_then(|version| u32::try_from(version).ok());
    version
        .filter(|version| *version > 0)
        .ok_or_else(|| ManifestError::expected(path, "a version number", value))
}

fn event_types(value: &Value) -> Result<Vec<String>, ManifestError> {
    const FIELD: &str = "event_types";
    let items = value
        .as_array()
        .filter(|items| !items.is_empty())
        .ok_or_else(|| ManifestError::expected(FIELD, "a list that isn't empty", value))?;
    if items.len() > MAX_EVENT_TYPES {
        let expected = format!("at most {MAX_EVENT_TYPES} event types");
        return Err(ManifestError::expected(FIELD, &expected, &items.len().into()));
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut types = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let path = format!("{FIELD}[{i}]");
        let event_type = text_field(&path, item)?;
        if event_type.len() > MAX_EVENT_TYPE_BYTES {
            let expected = format!("at most {MAX_EVENT_TYPE_BYTES} bytes");
            return Err(ManifestError::expected(path, &expected, &event_type.len().into()));
        }
        if !seen.insert(event_type.clone()) {
            return Err(ManifestError::expected(path, "each event type once", item));
        }
        types.push(event_type);
    }
    Ok(types)
}

fn files(value: &Value, module_name: &str) -> Result<BTreeMap<String, Digest>, ManifestError> {
    const FIELD: &str = "files";
    let entries = value
        .as_object()
        .ok_or_else(|| ManifestError::expected(FIELD, "an object of digests", value))?;
    let parts = Part::ALL.map(|part| (part.file_name(module_name), part.is_required()));
    let own = (MANIFEST_FILE.to_owned(), true);
    let known = || [&own].into_iter().chain(&parts);
    let is_missing = |(name, required): &&(String, bool)| *required && !entries.contains_key(name);
    if let Some((missing, _)) = known().find(is_missing) {
        return Err(ManifestError::expected(FIELD, &format!("a digest of {missing}"), value));
    }
    let has = |part: Part| entries.contains_key(&part.file_name(module_name));
    if has(Part::Plan) && !has(Part::Source) {
        let rendered = Part::Source.file_name(module_name);
        return Err(ManifestError::expected(FIELD, &format!("a digest of {rendered}"), value));
    }
    if has(Part::Rust) && has(Part::Source) {
        let (rust, text) = (Part::Rust, Part::Source);
        let [rust, text] = [rust, text].map(|part| part.file_name(module_name));
        return Err(ManifestError::expected(FIELD, &format!("either {rust} or {text}"), value));
    }
    let mut digests = BTreeMap::new();
    for (name, found) in entries {
        if !known().any(|(known, _)| known == name) {
            let name = Value::String(name.clone());
            return Err(ManifestError::expected(FIELD, "only files of a bundle", &name));
        }
        digests.insert(name.clone(), digest(format!("{FIELD}.{name}"), found)?);
    }
    Ok(digests)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::super::contents::tests::sample;
    use super::*;

    fn manifest() -> Manifest {
        let created_at = "2026-05-08T01:02:03.000004Z".parse().unwrap();
        Manifest::new(&sample(&["order".to_owned()]), created_at).unwrap()
    }

    #[test]
    fn the_text_has_sorted_keys_two_spaces_and_a_final_break() {
        let text = manifest().to_json();
        let sorted: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text, format!("{}\n", serde_json::to_string_pretty(&sorted).unwrap()));
        assert!(text.starts_with("{\n  \"abi_version\": 1,\n"), "{text}");
        assert_eq!(manifest().created_at(), "2026-05-08T01:02:03.000004+00:00");
        assert_eq!(Manifest::from_json(text.as_bytes()).unwrap(), manifest());
    }

    #[test]
    fn the_first_fault_is_named_with_its_place() {
        let good: Value = serde_json::from_str(&manifest().to_json()).unwrap();
        let refuse = |pointer: &str, value: Value| {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = value;
            Manifest::from_json(bad.to_string().as_bytes()).unwrap_err()
        };
        assert_eq!(
            refuse("/event_types", vec!["a"; MAX_EVENT_TYPES + 1].into()).to_string(),
            "`event_types`: expected at most 1024 event types, found 1025"
        );
        assert_eq!(
            refuse("/event_types", vec!["a".repeat(MAX_EVENT_TYPE_BYTES + 1)].into()).to_string(),
            "`event_types[0]`: expected at most 1024 bytes, found 1025"
        );
        assert_eq!(
            refuse("/event_types", serde_json::json!(["a", "a"])).to_string(),
            "`event_types[1]`: expected each event type once, found \"a\""
        );
        assert_eq!(refuse("/abi_version", 0.into()).path(), "abi_version");
        assert_eq!(refuse("/abi_version", 1.5.into()).path(), "abi_version");
        assert_eq!(refuse("/files/plan.json", "AB".into()).path(), "files.plan.json");
        assert_eq!(refuse("/files", serde_json::json!({})).path(), "files");
        assert_eq!(refuse("/function_name", "retort_buffer".into()).path(), "function_name");
    }

    #[test]
    fn what_compiled_rust_is_said_with_the_source_that_it_compiled() {
        let types = ["order".to_owned()];
        let base = sample(&types);
        let by = |compiler| {
            let rust = Some(RustVersions { compiler, sdk: Digest::of(b"sdk") });
            let versions = Versions { rust, ..base.versions };
            Contents { plan: None, source: None, rust: Some(b"fn f() {}"), versions, ..base }
        };
        let made = |contents: &Contents<'_>| Manifest::new(contents, jiff::Timestamp::UNIX_EPOCH);
        let manifest = made(&by("rustc 1.96.0")).unwrap();
        assert_eq!(manifest.versions(), by("rustc 1.96.0").versions);
        let good: Value = serde_json::from_str(&manifest.to_json()).unwrap();
        assert_eq!(good["rust"]["source"], good["files"]["extractor.rs"]);
        // One from before it was said.
        let mut before = good.clone();
        before.as_object_mut().unwrap().remove("rust");
        let before = Manifest::from_json(before.to_string().as_bytes()).unwrap();
        assert_eq!(before.versions().rust, None);

        for (pointer, value, path) in [
            ("/rust/source", Digest::of(b"another").to_string().into(), "rust.source"),
            ("/rust/source", "AB".into(), "rust.source"),
            ("/rust/sdk", 7.into(), "rust.sdk"),
            ("/rust/compiler", "".into(), "rust.compiler"),
            ("/rust", serde_json::json!({"compiler": "rustc"}), "rust"),
            ("/rust", "rustc".into(), "rust"),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = value;
            let error = Manifest::from_json(bad.to_string().as_bytes()).unwrap_err();
            assert_eq!(error.path(), path);
        }
        // Of what wasn't compiled from Rust nothing compiled it.
        assert!(made(&Contents { rust: None, ..by("rustc 1.96.0") }).is_err());
        assert!(made(&by(&"x".repeat(MAX_COMPILER_BYTES + 1))).is_err());
    }

    #[test]
    fn a_repeated_field_is_refused() {
        let text = manifest().to_json().replacen('{', "{\"abi_version\": 1,", 1);
        let error = Manifest::from_json(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("duplicate field"), "{error}");
    }

    #[test]
    fn contents_that_no_loader_would_take_have_no_manifest() {
        let types = ["order".to_owned(), "order".to_owned()];
        let created_at = jiff::Timestamp::UNIX_EPOCH;
        for contents in [
            sample(&types),
            sample(&[]),
            Contents { function_name: "fn", ..sample(&types[..1]) },
            Contents { module_name: "../x", ..sample(&types[..1]) },
        ] {
            assert!(Manifest::new(&contents, created_at).is_err(), "{contents:?}");
        }
    }
}
