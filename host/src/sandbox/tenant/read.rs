//! Text to a tenant's policy.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use thiserror::Error;

use super::TenantPolicy;
use super::figures::Figures;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::bounded;
use crate::gate::inspect::StructuralLimits;
use crate::gate::policy::{self, PolicyEntry, PolicyError};
use crate::sandbox::{Allocator, Isolation, Limits, MAX_STACK_BYTES, Pool, Wasi};

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

impl Coded for TenantError {
    fn entry(&self) -> Code {
        match self {
            Self::Policy(error) => error.entry(),
            Self::OutOfRange { .. } => codes::POLICY_LIMIT_OUT_OF_RANGE,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            Self::Policy(error) => error.place(),
            Self::OutOfRange { at, .. } => Some(at.clone()),
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::Policy(error) => error.usage(),
            Self::OutOfRange { found, most, .. } => Some((*found, *most)),
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
        least: 1,
        most: MAX_STACK_BYTES as u64,
        reason: "nothing runs without a stack, and one that outgrows its thread ends the process",
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
        name: "compile_memory_bytes",
        least: 64 << 20,
        most: u64::MAX,
        reason: "the program that compiles has to fit as well",
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

/// The figures of a pool, each of which has bounds.
const POOL_RANGES: &[Range] = &[
    Range {
        name: "instances",
        least: 1,
        most: 16_384,
        reason: "each takes 4 GiB and some of address space, of which a process has 128 TiB",
    },
    Range { name: "keep_resident", least: 0, most: 1 << 32, reason: "a memory has no more bytes" },
    Range {
        name: "batch",
        least: 1,
        most: 16_384,
        reason: "memories are given back one at a time at least, and there are no more",
    },
];

/// An error if a figure of a part of the policy isn't within its range. One that has none may be anything.
fn within(
    ranges: &[Range],
    part: &str,
    (name, found): (&str, u64),
    origin: &str,
) -> Result<(), TenantError> {
    let range = ranges.iter().find(|range| range.name == name);
    match range.filter(|range| !(range.least..=range.most).contains(&found)) {
        None => Ok(()),
        Some(&Range { least, most, reason, .. }) => Err(TenantError::OutOfRange {
            origin: bounded(origin, ORIGIN_CHARS),
            at: format!("{part}.{name}"),
            found,
            least,
            most,
            reason,
        }),
    }
}

impl TenantPolicy {
    /// Reads a policy from JSON or YAML: an object of the keys that the [module](super) lists, each of them optional.
    ///
    /// `origin` names the text in errors; a name that ends in `.json`, `.yaml` or `.yml` also decides the syntax.
    /// Otherwise text that begins with `{` is JSON, and anything else YAML.
    ///
    /// # Errors
    /// [`TenantError`]: what [`FieldPolicy::parse`](crate::gate::policy::FieldPolicy::parse) refuses, and limits that aren't known or could not limit.
    pub fn parse(text: &str, origin: &str) -> Result<Self, TenantError> {
        policy(text, origin)
    }
}

pub(super) fn policy(text: &str, origin: &str) -> Result<TenantPolicy, TenantError> {
    let written: Written = policy::read(text, origin)?;
    let Written { deny, explicit, whole_event, limits, structure, isolation, wasi, allocator } =
        written;
    for figure in limits.given() {
        within(RANGES, "limits", figure, origin)?;
    }
    let allocator = allocator.map(|WrittenAllocator(allocator)| allocator);
    if let Some(Allocator::Pooling(Pool { instances, keep_resident, batch })) = allocator {
        for figure in [
            ("instances", u64::from(instances)),
            ("keep_resident", keep_resident as u64),
            ("batch", batch as u64),
        ] {
            within(POOL_RANGES, "allocator.pooling", figure, origin)?;
        }
    }
    let fields = policy::Written { deny, explicit, whole_event }.policy(origin)?;
    Ok(TenantPolicy { fields, limits, structure, isolation, wasi, allocator })
}

/// A policy as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    deny: Vec<PolicyEntry>,
    #[serde(default)]
    explicit: Vec<PolicyEntry>,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_figure_has_two_ranges() {
        for ranges in [RANGES, POOL_RANGES] {
            let names: BTreeSet<&str> = ranges.iter().map(|range| range.name).collect();
            assert_eq!(names.len(), ranges.len(), "{names:?}");
        }
    }
}
