//! Text to a tenant's policy.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::TenantPolicy;
use super::figures::Figures;
use crate::gate::inspect::StructuralLimits;
use crate::policy::{self, Entry, PolicyError};
use crate::problem::{Coded, Problem, Stage};
use crate::sandbox::{Allocator, Isolation, Limits, MAX_STACK_BYTES, Pool, Wasi};
use crate::untrusted::bounded;

/// How much of the name of a text is repeated, in characters.
const ORIGIN_CHARS: usize = 200;

/// Why a text is no policy of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TenantError {
    /// What every policy may get wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A limit that would not limit, or that nothing could pass.
    #[error("{origin}: {at}: expected {least} to {most}, found {found}: {reason}")]
    OutOfRange {
        /// Where the text is from.
        origin: String,
        /// Which limit, like `limits.stack_bytes`.
        at: String,
        /// What it says.
        found: u64,
        /// The least that it may say.
        least: u64,
        /// The most that it may say.
        most: u64,
        /// Why.
        reason: &'static str,
    },
}

impl TenantError {
    /// The codes that no other error has.
    pub const CODES: &'static [&'static str] = &["policy_limit_out_of_range"];

    /// Where: `line:column` of the text, or a path such as `limits.stack_bytes`. `None` where the text as a whole is meant.
    #[must_use]
    pub fn path(&self) -> Option<String> {
        match self {
            Self::Policy(error) => error.path(),
            Self::OutOfRange { at, .. } => Some(at.clone()),
        }
    }

    /// This error as data.
    #[must_use]
    pub fn problem(&self) -> Problem {
        match self {
            Self::Policy(error) => error.problem(),
            Self::OutOfRange { at, found, most, .. } => {
                Problem::new(Stage::Policy, self.code(), self.to_string())
                    .at(at)
                    .limit(*found, *most)
            }
        }
    }
}

impl Coded for TenantError {
    fn code(&self) -> &'static str {
        match self {
            Self::Policy(error) => error.code(),
            Self::OutOfRange { .. } => "policy_limit_out_of_range",
        }
    }
}

/// What a limit may say.
struct Range {
    name: &'static str,
    least: u64,
    most: u64,
    reason: &'static str,
}

/// The limits that have bounds of their own. The others may be anything: less than what is needed refuses all that runs
/// into it, and more than what there is to be had is the host's to decide.
const RANGES: &[Range] = &[
    Range {
        name: "deadline_ms",
        least: 1,
        most: 86_400_000,
        reason: "a deadline is what stops an event at last, so there is always one, of a day at most",
    },
    Range {
        name: "compile_ms",
        least: 1,
        most: 86_400_000,
        reason: "a compiler has to come to an end, within a day at most",
    },
    Range {
        name: "stack_bytes",
        least: 0,
        most: MAX_STACK_BYTES as u64,
        reason: "a stack that outgrows its thread ends the process",
    },
    Range {
        name: "memory_bytes",
        least: 0,
        most: 1 << 32,
        reason: "addresses of a guest have 32 bits",
    },
    Range {
        name: "table_elements",
        least: 0,
        most: u32::MAX as u64,
        reason: "indices of a table have 32 bits",
    },
    Range {
        name: "compile_ms",
        least: 1,
        most: 86_400_000,
        reason: "a helper that doesn't answer has to be given up at some time, within a day at most",
    },
    Range {
        name: "event_bytes",
        least: 0,
        most: u32::MAX as u64,
        reason: "offsets into an event have 32 bits",
    },
    Range {
        name: "input_bytes",
        least: 0,
        most: i32::MAX as u64,
        reason: "the length of an input block is a positive i32",
    },
    Range {
        name: "output_bytes",
        least: 0,
        most: u32::MAX as u64,
        reason: "the length of a result has 32 bits",
    },
];

pub(super) fn policy(text: &str, origin: &str) -> Result<TenantPolicy, TenantError> {
    let written: Written = policy::read(text, origin)?;
    let Written { deny, explicit, whole_event, limits, structure, isolation, wasi, allocator } =
        written;
    for (name, found) in limits.given() {
        let range = RANGES.iter().find(|range| range.name == name);
        if let Some(Range { least, most, reason, .. }) =
            range.filter(|range| !(range.least..=range.most).contains(&found))
        {
            return Err(TenantError::OutOfRange {
                origin: bounded(origin, ORIGIN_CHARS),
                at: format!("limits.{name}"),
                found,
                least: *least,
                most: *most,
                reason,
            });
        }
    }
    let fields = policy::Written { deny, explicit, whole_event }.policy(origin)?;
    let allocator = allocator.map(|WrittenAllocator(allocator)| allocator);
    Ok(TenantPolicy { fields, limits, structure, isolation, wasi, allocator })
}

/// A policy as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    deny: Vec<Entry>,
    #[serde(default)]
    explicit: Vec<Entry>,
    #[serde(default)]
    whole_event: bool,
    #[serde(default)]
    limits: Figures<Limits>,
    #[serde(default)]
    structure: Figures<StructuralLimits>,
    isolation: Option<Isolation>,
    wasi: Option<Wasi>,
    allocator: Option<WrittenAllocator>,
}

/// `on-demand`, `pooling`, or an object of `pooling` with its figures.
struct WrittenAllocator(Allocator);

impl<'de> Deserialize<'de> for WrittenAllocator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Allocator;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`on-demand`, `pooling`, or an object of `pooling`")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Allocator, E> {
                match name {
                    "on-demand" => Ok(Allocator::OnDemand),
                    "pooling" => Ok(Allocator::Pooling(Pool::default())),
                    _ => Err(E::invalid_value(Unexpected::Str(name), &self)),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Allocator, A::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Pooling {
                    pooling: Pool,
                }
                let Pooling { pooling } = Pooling::deserialize(MapAccessDeserializer::new(fields))?;
                Ok(Allocator::Pooling(pooling))
            }
        }
        deserializer.deserialize_any(Either).map(Self)
    }
}
