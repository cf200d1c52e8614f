//! How much is read of each kind of document.

use crate::json::tally;

/// What a host is given to read, by people, models and programs, besides streams of events and the files of bundles.
///
/// Each kind has a limit on its bytes, and each that becomes a tree of JSON values one on those as well: a list of
/// objects takes nearly a hundred times its bytes as a tree. Reading stops at the limit, whatever is after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// `retort.toml`.
    ProjectFile,
    /// What is to be extracted, in words or as JSON.
    Rule,
    /// What events look like.
    EventSchema,
    /// A graph spec, in whatever form.
    GraphSpec,
    /// An ontology, in the place of a graph spec.
    Ontology,
    /// The binding of an ontology.
    Binding,
    /// What a tenant may do.
    Policy,
    /// A plan.
    Plan,
    /// Any JSON, for an expression to be tried on.
    Value,
    /// A module in the binary format.
    Module,
    /// A module in the text format.
    Wat,
    /// The source of an extractor, in Rust.
    Rust,
    /// A saved report of a gate.
    Report,
    /// The figures of an earlier bench.
    BenchReport,
    /// A result of one event.
    Result,
    /// Sample events.
    Samples,
    /// What samples are expected to give.
    Expected,
    /// Requests and answers of a model, as they were recorded.
    Recording,
}

impl DocumentKind {
    /// Every kind.
    pub const ALL: [Self; 18] = [
        Self::ProjectFile,
        Self::Rule,
        Self::EventSchema,
        Self::GraphSpec,
        Self::Ontology,
        Self::Binding,
        Self::Policy,
        Self::Plan,
        Self::Value,
        Self::Module,
        Self::Wat,
        Self::Rust,
        Self::Report,
        Self::BenchReport,
        Self::Result,
        Self::Samples,
        Self::Expected,
        Self::Recording,
    ];

    /// What a message calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ProjectFile => "a project file",
            Self::Rule => "a rule",
            Self::EventSchema => "an event schema",
            Self::GraphSpec => "a graph spec",
            Self::Ontology => "an ontology",
            Self::Binding => "a binding",
            Self::Policy => "a policy",
            Self::Plan => "a plan",
            Self::Value => "a JSON value",
            Self::Module => "a module",
            Self::Wat => "a WAT file",
            Self::Rust => "Rust source",
            Self::Report => "a report",
            Self::BenchReport => "a report of a bench",
            Self::Result => "a result",
            Self::Samples => "a file of sample events",
            Self::Expected => "a file of expected results",
            Self::Recording => "a recording",
        }
    }

    /// How many bytes it may have.
    #[must_use]
    pub const fn max_bytes(self) -> usize {
        match self {
            // A dozen lines; a parser of TOML takes two hundred times its bytes.
            Self::ProjectFile => 64 << 10,
            // Words that go into every prompt. The longest known to us take 20 KB.
            Self::Rule => 1 << 20,
            // What a bundle holds. Those of large vendors take some hundreds of KB.
            Self::EventSchema => 4 << 20,
            // Resolved and in JSON, as bundles hold it. In YAML, which people write, less is read.
            Self::GraphSpec | Self::Ontology | Self::Binding => 4 << 20,
            // Tens of thousands of paths.
            Self::Policy => 1 << 20,
            // Four times what an answer may hold, for the white space of a plan that is laid out for people.
            Self::Plan => 1 << 20,
            // The largest event.
            Self::Value => 16 << 20,
            // Beyond every limit of the static gate that anybody sets, which has a code of its own.
            Self::Module => 16 << 20,
            // Twice what is compiled, for the same reason.
            Self::Wat => 8 << 20,
            Self::Rust => 4 << 20,
            // Every problem of the largest plan.
            Self::Report => 4 << 20,
            // Some ten KB for each mode and number of threads of a bundle.
            Self::BenchReport => 16 << 20,
            // What an extractor may give.
            Self::Result => 8 << 20,
            // Four events of the largest size; a sample run needs a few of each type.
            Self::Samples => 64 << 20,
            // Results of some hundreds of samples, which people have looked at.
            Self::Expected => 16 << 20,
            // Ten attempts with the longest prompts and answers.
            Self::Recording => 64 << 20,
        }
    }

    /// How many values its JSON may hold in all, the keys of objects counted with them; `None` where its bytes, or limits
    /// of its own parser, bound it.
    #[must_use]
    pub const fn max_values(self) -> Option<usize> {
        match self {
            // 45 MB as a tree at most.
            Self::Rule | Self::EventSchema | Self::Report | Self::Expected => Some(200_000),
            // 230 MB as a tree at most; 10 MB of what events mostly hold.
            Self::Result | Self::Samples | Self::BenchReport => Some(1_000_000),
            _ => None,
        }
    }

    /// How many values it may hold, if the JSON of `text` holds more: to be asked before a tree of it is built.
    #[must_use]
    pub fn exceeded_values(self, text: &str) -> Option<usize> {
        self.max_values().filter(|allowed| !tally::is_within(text, *allowed))
    }
}
