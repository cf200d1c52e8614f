//! A host for many tenants: their bundles, named and versioned, with fallbacks, quotas and fairness.

mod account;
mod answer;
mod breaker;
mod builder;
mod clock;
mod error;
mod handle;
mod meters;
mod notice;
mod quota;
mod serve;
mod settings;
mod shadow;
mod shared;
mod state;
mod tenant;
mod turns;
mod version;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

pub use account::Account;
pub use answer::{Answer, By};
pub use breaker::Breaker;
pub use builder::HostBuilder;
pub use error::{HostError, ServeError};
pub use handle::{TenantHandle, VersionStatus};
pub use notice::{Happened, Notice};
pub use quota::{Quota, Quotas};
pub use shadow::{Promotion, ShadowReport};
pub use tenant::Tenant;

use shared::Shared;
use state::TenantState;
use turns::Lane;

/// Serves the events of many tenants: their bundles, named and versioned, with fallbacks, quotas and fairness.
///
/// It has one engine and some workers; each [`Tenant`] has bundles, a policy, quotas and fallbacks of its own, and can be added,
/// changed and removed while others are served. Its [`TenantHandle`] takes events: [on the caller's thread](TenantHandle::run), or by the
/// [workers](TenantHandle::submit), which share their time out between the tenants.
///
/// ```
/// use retort::Host;
/// use retort::runtime::{By, Tenant};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bundles = tempfile::tempdir()?;
/// let host = Host::builder().on_notice(|notice| eprintln!("{notice:?}")).build()?;
/// let acme = host.add("acme", Tenant::default().directory(bundles.path()))?;
///
/// let answer = acme.run(br#"{"event_type": "order_placed", "content": {"id": "A-7"}}"#)?;
/// assert_eq!(answer.by, By::Nobody);
/// assert_eq!(acme.account().summary.unrouted, 1);
/// # Ok(())
/// # }
/// ```
///
/// # What serves an event
/// The active version of the extractor that declares its type. A result is held to the graph spec of its bundle, and what doesn't fit is
/// dropped from it. Where the version fails, or nothing of its result fits, the tenant's [fallback](Tenant::fallback) of the type is asked.
/// A version that fails too often is [set aside](Breaker): the version before it has its events, or the fallback, and it is tried again
/// later, with one event at a time. What happens to versions is [told](HostBuilder::on_notice).
///
/// # Fairness
/// Each tenant whose events wait has the same share of the workers' time, by its [weight](Tenant::weight), and pays for what its events took.
/// Who has used up their share has what the others leave, and never the last worker: one of several is kept for short events of tenants that haven't. So a
/// tenant's waits depend on what it uses itself. Quotas are held besides: by [`run`](TenantHandle::run) with an error that says when to come
/// again, by [`submit`](TenantHandle::submit) by waiting. An event that was begun ends by itself, at its deadline at the latest.
///
/// # What is known of it
/// [Accounts](Account) by tenant and version, [notices](Notice), traces, and metrics of the `metrics` facade, none of which hold anything of
/// an event:
///
/// | metric | kind | labels | what |
/// |---|---|---|---|
/// | `retort_events_total` | counter | `tenant` | events that were begun |
/// | `retort_results_total` | counter | `tenant` | results that aren't empty |
/// | `retort_rejects_total` | counter | `tenant`, `code` | events without an answer |
/// | `retort_refused_total` | counter | `tenant`, `code` | events that weren't begun |
/// | `retort_fallbacks_total` | counter | `tenant` | answers of fallbacks |
/// | `retort_event_bytes_total` | counter | `tenant` | bytes of events |
/// | `retort_fuel_total` | counter | `tenant` | units of fuel |
/// | `retort_event_seconds` | histogram | `tenant` | for how long a thread was busy with an event |
/// | `retort_versions_total` | counter | `tenant`, `what` | what happened to versions, by [`Happened::as_str`] |
/// | `retort_resident_bytes` | gauge | | native code and instances, when some of them were given up |
///
/// # What it takes of the system
/// Two open files a bundle: its directory, which holds it, and once it has served an event the image of its memory. Where a third of the open files
/// that the process may have are taken for the first, the directory of a tenant is held as a whole, so that nothing is
/// [removed](crate::Store::collect) from it meanwhile. What can't be opened for want of files can't be loaded, and its version is set aside; where there are none for the second alone, events are
/// rejected as [`host_failed`](crate::diagnostics::codes::HOST_FAILED).
///
/// # Its end
/// When it is dropped, events that wait are refused, and those that have begun end by themselves.
#[derive(Debug)]
pub struct Host {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    lanes: Mutex<Lane>,
}

impl Host {
    /// The defaults for everything, and ways to change that before the host is built.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// Serves one more tenant.
    ///
    /// # Errors
    /// [`HostError::Exists`], and [`HostError::Policy`] where its policy can't be had on this host's engine. Bundles that can't be served are
    /// among its [failures](TenantHandle::failures).
    pub fn add(&self, name: &str, tenant: Tenant) -> Result<TenantHandle, HostError> {
        if self.tenant(name).is_ok() {
            return Err(HostError::Exists(name.to_owned()));
        }
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        *lanes += 1;
        let lane = *lanes;
        drop(lanes);
        let weight = f64::from(tenant.weight.get());
        // Without any lock: its bundles are looked over.
        let state = Arc::new(TenantState::new(name, lane, &self.shared, tenant)?);
        let mut tenants = self.shared.tenants.write().unwrap_or_else(PoisonError::into_inner);
        if tenants.contains_key(name) {
            return Err(HostError::Exists(name.to_owned()));
        }
        self.shared.turns().set_lane(lane, weight, self.shared.clock.now());
        tenants.insert(Arc::clone(&state.name), Arc::clone(&state));
        Ok(TenantHandle { state })
    }

    /// The tenant of this name.
    ///
    /// # Errors
    /// [`HostError::Unknown`].
    pub fn tenant(&self, name: &str) -> Result<TenantHandle, HostError> {
        let tenants = self.shared.tenants.read().unwrap_or_else(PoisonError::into_inner);
        let state = tenants.get(name).cloned();
        state.map(|state| TenantHandle { state }).ok_or_else(|| HostError::Unknown(name.to_owned()))
    }

    /// All tenants, in the order of their names.
    #[must_use]
    pub fn tenants(&self) -> Vec<TenantHandle> {
        let tenants = self.shared.tenants.read().unwrap_or_else(PoisonError::into_inner);
        let handles = tenants.values().map(|state| TenantHandle { state: Arc::clone(state) });
        let mut handles: Vec<TenantHandle> = handles.collect();
        drop(tenants);
        handles.sort_by(|one, other| one.name().cmp(other.name()));
        handles
    }

    /// Serves a tenant no more. Its events that wait are refused; those that have begun end by themselves. Gives what they came to so far.
    ///
    /// # Errors
    /// [`HostError::Unknown`].
    pub fn remove(&self, name: &str) -> Result<Account, HostError> {
        let mut tenants = self.shared.tenants.write().unwrap_or_else(PoisonError::into_inner);
        let state = tenants.remove(name).ok_or_else(|| HostError::Unknown(name.to_owned()))?;
        drop(tenants);
        state.end_service();
        // The events are dropped after the lock is given back.
        let waiting = self.shared.turns().remove_lane(state.lane);
        drop(waiting);
        Ok(state.account())
    }

    /// Bytes of native code and instances that are kept for the next events of all tenants, more or less.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        self.shared.resident.load(Ordering::Relaxed)
    }

    /// Takes no more events for the workers, has them serve those that wait, and waits for that: until the last quota that is used up lets
    /// them. It holds up its thread.
    pub fn close(mut self) {
        self.shared.end(true);
        for worker in std::mem::take(&mut self.workers) {
            // What panics on a worker is caught, and is the event's.
            let _ = worker.join();
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.shared.end(false);
        for tenant in self.tenants() {
            tenant.state.end_service();
            drop(self.shared.turns().remove_lane(tenant.state.lane));
        }
    }
}
