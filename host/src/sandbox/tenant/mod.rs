//! What a host grants one tenant, in one file: which fields extractors may read, what they may use, and what they share.

mod figures;
mod read;

use std::num::NonZeroU32;
use std::path::Path;

pub use read::TenantError;

pub(crate) use figures::Figures;

use crate::gate::inspect::StructuralLimits;
use crate::gate::policy::FieldPolicy;
use crate::sandbox::{Allocator, Isolation, Limits, Options, WasiGrants};

/// What a host grants one tenant. The default leaves everything as the host has it.
///
/// A [`TenantPolicy`] is a [field policy](FieldPolicy) with figures beside it. What it doesn't say is as the host has it,
/// so an empty policy grants what the host does, and a field policy alone is a whole policy.
///
/// | key | what | as in |
/// |---|---|---|
/// | `deny`, `explicit`, `whole_event` | what may be read of events | [`FieldPolicy`] |
/// | `limits` | what an extractor may use, by name | [`Limits`] |
/// | `structure` | how its module may be built, by name | [`StructuralLimits`] |
/// | `require_confinement` | whether source in Rust is compiled only where the kernel confines the compiler by all of Landlock | [`Confinement`](crate::sandbox::Confinement) |
/// | `isolation` | for how long an instance serves: `per-event`, `per-batch` or `warm` | [`Isolation`] |
/// | `wasi` | what guests may import of WASI, `grant: none`, `core` or `files`, and the `directories` that they may read, `{host, guest}` | [`WasiGrants`] |
/// | `allocator` | where instances come from: `on-demand`, `pooling` or `{pooling: {instances, keep_resident, batch, without_swap}}` | [`Allocator`] |
/// | `check_one_in` | how many results of a known form come to one that is read in full | [`Options::check_one_in`] |
///
/// A key or a limit that isn't known is refused, and so is a figure that could not limit: a misspelt limit would be none.
/// A policy is the host's: it may grant more than the host's own defaults. Who lets tenants write theirs compares first.
///
/// # Example
/// Tenants share an engine, each with limits of their own:
/// ```
/// use retort::{Limits, Pipeline, TenantPolicy};
/// use retort::sandbox::Isolation;
///
/// let host = Pipeline::builder().build()?;
/// let policy = TenantPolicy::parse(
///     "deny: [content.user.email]
/// limits: {deadline_ms: 200, memory_bytes: 4194304}
/// isolation: per-event
/// ",
///     "acme.yaml",
/// )?;
/// let acme = host.for_tenant(&policy)?;
/// assert_eq!(acme.sandbox().limits().deadline_ms, 200);
/// assert_eq!(acme.sandbox().limits().fuel_base, host.sandbox().limits().fuel_base);
/// assert_eq!(acme.sandbox().isolation(), Isolation::PerEvent);
/// assert_eq!(acme.policy().denied().len(), 1);
///
/// let refused = TenantPolicy::parse("limits: {deadlin_ms: 200}", "acme.yaml").unwrap_err();
/// assert!(refused.to_string().contains("did you mean `deadline_ms`?"), "{refused}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantPolicy {
    fields: FieldPolicy,
    limits: Figures<Limits>,
    structure: Figures<StructuralLimits>,
    isolation: Option<Isolation>,
    wasi: Option<WasiGrants>,
    allocator: Option<Allocator>,
    check_one_in: Option<NonZeroU32>,
    require_confinement: bool,
}

impl TenantPolicy {
    /// What may be read of events.
    #[must_use]
    pub fn fields(&self) -> &FieldPolicy {
        &self.fields
    }

    /// What an extractor of this tenant may use, where the host's limits are these.
    #[must_use]
    pub fn limits(&self, host: &Limits) -> Limits {
        self.limits.over(host)
    }

    /// How a module of this tenant may be built, where the host's limits are these.
    #[must_use]
    pub fn structure(&self, host: &StructuralLimits) -> StructuralLimits {
        self.structure.over(host)
    }

    /// For how long an instance may serve, where the policy says so.
    #[must_use]
    pub fn isolation(&self) -> Option<Isolation> {
        self.isolation
    }

    /// What guests may import of WASI and which directories they may read, where the policy says so. It is the whole grant,
    /// and adds nothing to the host's.
    #[must_use]
    pub fn wasi(&self) -> Option<&WasiGrants> {
        self.wasi.as_ref()
    }

    /// The same policy, with the paths of this machine that it names taken as those of a file in `folder`. Otherwise they
    /// are relative to the process's current directory.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        for directory in self.wasi.iter_mut().flat_map(|wasi| &mut wasi.directories) {
            directory.host = folder.join(&directory.host);
        }
        self
    }

    /// Where instances come from, where the policy says so. An engine is built for one allocator, so a tenant who is to have
    /// another needs an engine of its own.
    #[must_use]
    pub fn allocator(&self) -> Option<Allocator> {
        self.allocator
    }

    /// How many results of a known form come to one that is read in full, where the policy says so.
    #[must_use]
    pub fn check_one_in(&self) -> Option<NonZeroU32> {
        self.check_one_in
    }

    /// Whether source of this tenant's is compiled only where the compiler is confined by all of Landlock.
    #[must_use]
    pub fn require_confinement(&self) -> bool {
        self.require_confinement
    }

    /// How to build a sandbox for this tenant alone, where the host builds its own like that.
    #[must_use]
    pub fn options(&self, host: Options) -> Options {
        Options {
            limits: self.limits(&host.limits),
            isolation: self.isolation.unwrap_or(host.isolation),
            allocator: self.allocator.unwrap_or(host.allocator),
            wasi: self.wasi.clone().unwrap_or(host.wasi),
            check_one_in: self.check_one_in.unwrap_or(host.check_one_in),
            ..host
        }
    }
}

impl From<FieldPolicy> for TenantPolicy {
    fn from(fields: FieldPolicy) -> Self {
        Self { fields, ..Self::default() }
    }
}
