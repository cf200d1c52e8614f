//! Text to a tenant's policy.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

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
use crate::sandbox::{Allocator, Isolation, Limits, MAX_STACK_BYTES, Pool, WasiGrants};

/// How much of the name of a text is repeated, in characters.
const ORIGIN_CHARS: usize = 200;

/// Why a text is no policy of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
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

/// A limit by name, what it may say, and why.
type Range = (&'static str, RangeInclusive<u64>, &'static str);

const DAY_MS: u64 = 86_400_000;

/// The limits that have bounds of their own. The others may be anything: less than what is needed refuses all that runs
/// into it, and more than what there is to be had is the host's to decide.
const RANGES: &[Range] = &[
    (
        "deadline_ms",
        1..=DAY_MS,
        "a deadline is what stops an event at last, so there is always one, of a day at most",
    ),
    ("compile_ms", 1..=DAY_MS, "a compiler has to come to an end, within a day at most"),
    (
        "stack_bytes",
        1..=MAX_STACK_BYTES as u64,
        "nothing runs without a stack, and one that outgrows its thread ends the process",
    ),
    ("memory_bytes", 0..=1 << 32, "addresses of a guest have 32 bits"),
    ("table_elements", 0..=u32::MAX as u64, "indices of a table have 32 bits"),
    ("compile_memory_bytes", 64 << 20..=u64::MAX, "the program that compiles has to fit as well"),
    ("event_bytes", 0..=i32::MAX as u64, "offsets into an event have 31 bits"),
    ("input_bytes", 0..=i32::MAX as u64, "the length of an input block is a positive i32"),
    ("output_bytes", 0..=u32::MAX as u64, "the length of a result has 32 bits"),
];

/// The figures of a pool, each of which has bounds.
const POOL_RANGES: &[Range] = &[
    (
        "instances",
        1..=16_384,
        "each takes 4 GiB and some of address space, of which a process has 128 TiB",
    ),
    ("keep_resident", 0..=1 << 32, "a memory has no more bytes"),
    ("batch", 1..=16_384, "memories are given back one at a time at least, and there are no more"),
];

/// An error if a figure of a part of the policy isn't within its range. One that has none may be anything.
fn within(
    ranges: &[Range],
    part: &str,
    (name, found): (&str, u64),
    origin: &str,
) -> Result<(), TenantError> {
    let of_figure = ranges.iter().find(|(of, ..)| *of == name);
    match of_figure.filter(|(_, range, _)| !range.contains(&found)) {
        None => Ok(()),
        Some((_, range, reason)) => Err(TenantError::OutOfRange {
            origin: bounded(origin, ORIGIN_CHARS),
            at: format!("{part}.{name}"),
            found,
            least: *range.start(),
            most: *range.end(),
            reason,
        }),
    }
}

impl TenantPolicy {
    /// Reads a policy from JSON or YAML: an object of the keys that [`TenantPolicy`] lists, each of them optional.
    ///
    /// `origin` names the text in errors; a name that ends in `.json`, `.yaml` or `.yml` also decides the syntax.
    /// Otherwise text that begins with `{` is JSON, and anything else YAML.
    ///
    /// # Errors
    /// [`TenantError`]: what [`FieldPolicy::parse`](crate::gate::policy::FieldPolicy::parse) refuses, and limits that aren't known or could not limit.
    pub fn parse(text: &str, origin: &str) -> Result<Self, TenantError> {
        let WrittenPolicy {
            deny,
            explicit,
            whole_event,
            limits,
            structure,
            isolation,
            wasi,
            allocator,
            check_one_in,
            require_confinement,
        } = policy::read(text, origin)?;
        for figure in limits.given() {
            within(RANGES, "limits", figure, origin)?;
        }
        let allocator = allocator.map(|WrittenAllocator(allocator)| allocator);
        if let Some(Allocator::Pooling(Pool { instances, keep_resident, batch, .. })) = allocator {
            for figure in [
                ("instances", u64::from(instances)),
                ("keep_resident", keep_resident as u64),
                ("batch", batch as u64),
            ] {
                within(POOL_RANGES, "allocator.pooling", figure, origin)?;
            }
        }
        let fields = policy::Written { deny, explicit, whole_event }.policy(origin)?;
        Ok(Self {
            fields,
            limits,
            structure,
            isolation,
            wasi,
            allocator,
            check_one_in,
            require_confinement,
        })
    }
}

/// A policy as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPolicy {
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
    wasi: Option<WasiGrants>,
    allocator: Option<WrittenAllocator>,
    check_one_in: Option<NonZeroU32>,
    #[serde(default)]
    require_confinement: bool,
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
            let names: BTreeSet<&str> = ranges.iter().map(|(name, ..)| *name).collect();
            assert_eq!(names.len(), ranges.len(), "{names:?}");
        }
    }
}
