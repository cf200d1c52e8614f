//! What a bundle holds, apart from its manifest.

use serde::Serialize;

use super::digest::{Digest, FieldHasher};
use super::name::ExtractorName;
use crate::gate::source::MAX_RUST_BYTES;
use crate::json::document::DocumentKind;
use crate::render::compile::MAX_SOURCE_BYTES;

/// Everything that goes into a bundle. The fields together decide how the bundle behaves, and all
/// of them go into its [fingerprint](Self::fingerprint).
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// Name of the module and of its source, without extension: an identifier.
    pub module_name: &'a str,
    /// The extractor's name, if it was given one.
    pub name: Option<&'a ExtractorName>,
    /// The extractor function that the module exports.
    pub function_name: &'a str,
    /// The event types that the bundle serves: at least one, none twice.
    pub event_types: &'a [String],
    /// The plan, if there is one: normalised JSON.
    pub plan: Option<&'a [u8]>,
    /// The WebAssembly text that the module was assembled from, if it was: what the plan was rendered to, or somebody's own.
    pub source: Option<&'a [u8]>,
    /// The Rust that the module was compiled from, if it was.
    pub rust: Option<&'a [u8]>,
    /// The module.
    pub module: &'a [u8],
    /// The resolved graph spec: JSON.
    pub graph: &'a [u8],
    /// The limits under which the gates passed: JSON.
    pub limits: &'a [u8],
    /// The event schema that the plan was written from, if known: JSON.
    pub event_schema: Option<&'a [u8]>,
    /// The rule that the plan was written from, if known.
    pub rule: Option<&'a [u8]>,
    /// What made it.
    pub versions: Versions<'a>,
}

/// The versions of what made a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions<'a> {
    /// The binary interface between host and module.
    pub abi: u32,
    /// The package that compiled the module.
    pub compiler_package: &'a str,
    /// The template that the source was rendered from.
    pub template: &'a str,
    /// The wording of prompts and diagnostics.
    pub transcript_builder: &'a str,
    /// What compiled source in Rust; absent where nothing of it was compiled, and in bundles from before it was noted.
    pub rust: Option<RustVersions<'a>>,
}

/// What compiled source in Rust.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RustVersions<'a> {
    /// The compiler, by what it says of itself: its name, version, commit and date.
    pub compiler: &'a str,
    /// The digest of the SDK's source.
    pub sdk: Digest,
}

/// One file of a bundle besides its manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The plan, which is there with its rendering alone.
    Plan,
    /// The module's WebAssembly text, which may be absent where there is no plan.
    Source,
    /// The module's source in Rust, which may be there where neither of these is.
    Rust,
    /// The compiled module.
    Module,
    /// The graph spec.
    Graph,
    /// The limits.
    Limits,
    /// The event schema, which may be absent.
    EventSchema,
    /// The rule, which may be absent.
    Rule,
}

impl Part {
    /// Every part, in the order of the fingerprint.
    pub const ALL: [Self; 8] = [
        Self::Plan,
        Self::Source,
        Self::Rust,
        Self::Module,
        Self::Graph,
        Self::Limits,
        Self::EventSchema,
        Self::Rule,
    ];

    /// Whether every bundle has this part.
    #[must_use]
    pub fn is_required(self) -> bool {
        matches!(self, Self::Module | Self::Graph | Self::Limits)
    }

    /// The part's file name in a bundle whose module has this name.
    #[must_use]
    pub fn file_name(self, module_name: &str) -> String {
        match self {
            Self::Plan => "plan.json".to_owned(),
            Self::Source => format!("{module_name}.wat"),
            Self::Rust => format!("{module_name}.rs"),
            Self::Module => format!("{module_name}{}", super::names::MODULE_EXTENSION),
            Self::Graph => "graph.json".to_owned(),
            Self::Limits => "limits.json".to_owned(),
            Self::EventSchema => "event_schema.json".to_owned(),
            Self::Rule => "rule.md".to_owned(),
        }
    }

    /// The largest size that is stored, and read again, in bytes.
    #[must_use]
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Module => DocumentKind::Module.max_bytes() as u64,
            Self::Source => MAX_SOURCE_BYTES as u64,
            Self::Graph => DocumentKind::GraphSpec.max_bytes() as u64,
            Self::EventSchema => DocumentKind::EventSchema.max_bytes() as u64,
            Self::Plan | Self::Rule => 4 << 20,
            Self::Rust => MAX_RUST_BYTES as u64,
            Self::Limits => 64 << 10,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Source => "source",
            Self::Rust => "rust",
            Self::Module => "module",
            Self::Graph => "graph",
            Self::Limits => "limits",
            Self::EventSchema => "event_schema",
            Self::Rule => "rule",
        }
    }
}

impl<'a> Contents<'a> {
    /// The bytes of one part, or `None` for one that this bundle does without.
    #[must_use]
    pub fn part(&self, part: Part) -> Option<&'a [u8]> {
        match part {
            Part::Plan => self.plan,
            Part::Source => self.source,
            Part::Rust => self.rust,
            Part::Module => Some(self.module),
            Part::Graph => Some(self.graph),
            Part::Limits => Some(self.limits),
            Part::EventSchema => self.event_schema,
            Part::Rule => self.rule,
        }
    }

    /// The parts that there are, with their file names.
    pub(super) fn files(&self) -> impl Iterator<Item = (Part, String, &'a [u8])> {
        Part::ALL
            .into_iter()
            .filter_map(|part| Some((part, part.file_name(self.module_name), self.part(part)?)))
    }

    /// The fingerprint: SHA-256 over every field, labelled, in a fixed order, each after its
    /// length. An absent part and an empty one differ.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        let mut hasher = FingerprintHasher::new();
        for part in Part::ALL {
            if let Some(bytes) = self.part(part) {
                hasher.part(part, bytes);
            }
        }
        hasher.finish(&Naming {
            module: self.module_name,
            name: self.name,
            function: self.function_name,
            event_types: self.event_types,
            versions: self.versions,
        })
    }
}

/// What a fingerprint covers besides the parts.
pub(super) struct Naming<'a> {
    pub(super) module: &'a str,
    pub(super) name: Option<&'a ExtractorName>,
    pub(super) function: &'a str,
    pub(super) event_types: &'a [String],
    pub(super) versions: Versions<'a>,
}

/// A [fingerprint](Contents::fingerprint) of parts that come in pieces, in the order of [`Part::ALL`].
pub(super) struct FingerprintHasher(FieldHasher);

impl FingerprintHasher {
    pub(super) fn new() -> Self {
        Self(FieldHasher::new("retort bundle 1"))
    }

    /// A part with all its bytes.
    pub(super) fn part(&mut self, part: Part, bytes: &[u8]) {
        self.0.field(part.label(), bytes);
    }

    /// Begins a part of this many bytes, which follow in [pieces](Self::piece).
    pub(super) fn begin(&mut self, part: Part, bytes: u64) {
        self.0.begin(part.label(), bytes);
    }

    /// The next piece of the part that was begun.
    pub(super) fn piece(&mut self, bytes: &[u8]) {
        self.0.piece(bytes);
    }

    pub(super) fn finish(self, naming: &Naming<'_>) -> Digest {
        let mut hasher = self.0;
        let Versions { abi, compiler_package, template, transcript_builder, rust } =
            naming.versions;
        hasher.field("abi_version", &abi.to_le_bytes());
        hasher.field("template_version", template.as_bytes());
        hasher.field("compiler_package_version", compiler_package.as_bytes());
        hasher.field("transcript_builder_version", transcript_builder.as_bytes());
        if let Some(RustVersions { compiler, sdk }) = rust {
            hasher.field("rust_compiler", compiler.as_bytes());
            hasher.field("rust_sdk", sdk.as_bytes());
        }
        hasher.field("module_name", naming.module.as_bytes());
        if let Some(name) = naming.name {
            hasher.field("name", name.as_str().as_bytes());
        }
        hasher.field("function_name", naming.function.as_bytes());
        for event_type in naming.event_types {
            hasher.field("event_type", event_type.as_bytes());
        }
        hasher.finish()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A bundle's contents with nothing of interest in them.
    pub(in crate::bundle) fn sample(event_types: &[String]) -> Contents<'_> {
        Contents {
            module_name: "extractor",
            name: None,
            function_name: "extract_order",
            event_types,
            plan: Some(b"{\"plan\":1}\n"),
            source: Some(b"(module)\n"),
            rust: None,
            module: b"\0asm\x01\0\0\0",
            graph: b"{\"entities\":[]}\n",
            limits: b"{}\n",
            event_schema: Some(b"{\"type\":\"object\"}\n"),
            rule: None,
            versions: Versions {
                abi: 1,
                compiler_package: "0.1.0",
                template: "1",
                transcript_builder: "1",
                rust: None,
            },
        }
    }

    #[test]
    fn every_field_changes_the_fingerprint() {
        let types = ["a".to_owned(), "b".to_owned()];
        let name = ExtractorName::of_function("extract_order");
        let swapped = ["b".to_owned(), "a".to_owned()];
        let base = sample(&types);
        let versions = base.versions;
        let by = |compiler, sdk: &[u8]| {
            let rust = Some(RustVersions { compiler, sdk: Digest::of(sdk) });
            Contents { versions: Versions { rust, ..versions }, ..base }
        };
        let others = [
            Contents { module_name: "other", ..base },
            Contents { name: Some(&name), ..base },
            Contents { function_name: "other", ..base },
            Contents { event_types: &types[..1], ..base },
            Contents { event_types: &swapped, ..base },
            Contents { plan: Some(b"x"), ..base },
            Contents { plan: None, ..base },
            Contents { source: Some(b"x"), ..base },
            Contents { source: None, ..base },
            Contents { source: None, rust: base.source, ..base },
            Contents { rust: Some(b""), ..base },
            Contents { module: b"x", ..base },
            Contents { graph: b"x", ..base },
            Contents { limits: b"x", ..base },
            Contents { event_schema: None, ..base },
            Contents { event_schema: Some(b""), ..base },
            Contents { rule: Some(b""), ..base },
            Contents { event_schema: None, rule: base.event_schema, ..base },
            Contents { plan: base.source, source: base.plan, ..base },
            Contents { versions: Versions { abi: 2, ..versions }, ..base },
            Contents { versions: Versions { compiler_package: "2", ..versions }, ..base },
            Contents { versions: Versions { template: "2", ..versions }, ..base },
            Contents { versions: Versions { transcript_builder: "2", ..versions }, ..base },
            by("rustc 1", b""),
            by("rustc 2", b""),
            by("rustc 1", b"x"),
        ];
        let distinct: BTreeSet<_> =
            others.iter().chain([&base]).map(Contents::fingerprint).collect();
        assert_eq!(distinct.len(), others.len() + 1);
        assert_eq!(base.fingerprint(), sample(&types).fingerprint());
    }
}
