//! A tenant as the embedding program has it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::oneshot;

use super::account::Account;
use super::answer::Answer;
use super::error::{HostError, ServeError};
use super::settings::Claim;
use super::shadow::{Promotion, ShadowReport};
use super::shared::{Job, Shared};
use super::state::{QUEUE_UNIT, TenantState};
use super::tenant::Tenant;
use crate::bundle::{Digest, ExtractorName, LoadFailure, Store, Switched, look_at};

/// A tenant of a [`Host`](super::Host). Cheap to clone; it stays usable when the tenant is changed, and refuses events when it is removed.
#[derive(Clone, Debug)]
pub struct TenantHandle {
    pub(super) state: Arc<TenantState>,
}

/// A version that serves a tenant, or has served it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VersionStatus {
    /// The extractor.
    pub name: ExtractorName,
    /// The version.
    pub version: Digest,
    /// Whether it is the one that is served.
    pub is_active: bool,
    /// For how long it is set aside yet, if it is; zero once it may be tried again.
    pub set_aside: Option<Duration>,
    /// Bytes of native code and instances that are kept for its next events.
    pub resident_bytes: u64,
    /// What its events came to, those that it had beside another version included.
    pub account: Account,
}

impl TenantHandle {
    /// The tenant's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.name
    }

    /// Serves an event on this thread, without regard to whose turn it is. A guest may compute until its deadline, and its thread needs a
    /// stack of 2 MiB: in an asynchronous function, [`submit`](Self::submit) is what doesn't hold up others.
    ///
    /// What runs [beside](Self::shadow) the version that is served has the event before this returns.
    ///
    /// # Errors
    /// [`ServeError`]. The next event can be served all the same.
    pub fn run(&self, event: &[u8]) -> Result<Answer, ServeError> {
        let state = &self.state;
        if state.is_gone.load(Ordering::Acquire) || self.shared().is_none() {
            return Err(state.gone());
        }
        state.begin(event.len()).map_err(|exceeded| state.exceeded(exceeded))?;
        let running = Running { state, bytes: event.len() };
        let served = state.serve(event);
        std::mem::forget(running);
        if let Some(shadow) = &served.shadow {
            state.shadow(shadow, event, &served.answer);
        }
        served.answer
    }

    /// Has an event served by the host's workers when it is the tenant's turn. Waits, without holding up its thread, while the tenant's
    /// [queue](Tenant::queue_bytes) is full, while a quota is used up, and until the event is done. An event whose future is dropped before
    /// its turn isn't run. It needs no runtime of its own.
    ///
    /// # Errors
    /// [`ServeError`], but for used up quotas and full queues, which are waited for.
    pub async fn submit(&self, event: impl Into<Vec<u8>>) -> Result<Answer, ServeError> {
        let event = event.into();
        let units = self.units(&event);
        let places = Arc::clone(&self.state.places);
        let place = places.acquire_many_owned(units).await.map_err(|_| self.state.gone())?;
        self.waited(event, place)?.answer().await
    }

    /// The same where the queue isn't waited for.
    ///
    /// # Errors
    /// As for [`submit`](Self::submit), and [`ServeError::QueueFull`].
    pub async fn try_submit(&self, event: impl Into<Vec<u8>>) -> Result<Answer, ServeError> {
        let event = event.into();
        let units = self.units(&event);
        let places = Arc::clone(&self.state.places);
        let place = places.try_acquire_many_owned(units).map_err(|error| match error {
            tokio::sync::TryAcquireError::Closed => self.state.gone(),
            tokio::sync::TryAcquireError::NoPermits => {
                let tenant = self.name().to_owned();
                self.state.refuse(ServeError::QueueFull { tenant })
            }
        })?;
        self.waited(event, place)?.answer().await
    }

    /// How many places an event takes in the queue.
    fn units(&self, event: &[u8]) -> u32 {
        let units = event.len().div_ceil(QUEUE_UNIT).max(1);
        u32::try_from(units).unwrap_or(u32::MAX).min(self.state.all_places)
    }

    /// Puts an event among those that wait.
    fn waited(
        &self,
        event: Vec<u8>,
        place: tokio::sync::OwnedSemaphorePermit,
    ) -> Result<Waiting<'_>, ServeError> {
        let state = &self.state;
        let shared = self.shared().filter(|shared| !shared.is_ending());
        let shared = shared.ok_or_else(|| state.gone())?;
        let (reply, answer) = oneshot::channel();
        let job = Job { tenant: Arc::clone(state), event, reply, _place: place };
        let number = shared.push(state.lane, job).map_err(|_| state.gone())?;
        Ok(Waiting { shared, state, number, answer, is_answered: false })
    }

    fn shared(&self) -> Option<Arc<Shared>> {
        self.state.shared.upgrade()
    }

    /// Looks over the tenant's bundles once more and serves what is active now: events that have begun are served as before, and all that
    /// come after by the new versions. Versions that stay keep their instances. What takes the place of a version that is loaded is loaded before
    /// this returns, so that no event waits for it.
    ///
    /// # Errors
    /// [`HostError::Unknown`], where the host is gone. Bundles that can't be served are among the [failures](Self::failures).
    pub fn refresh(&self) -> Result<(), HostError> {
        self.state.change(None).map(|_| ())
    }

    /// Why a bundle of the tenant isn't served, or an event type of it, by what lies on disk; what is only found when a bundle is loaded is
    /// told [as it happens](super::Happened::Refused).
    #[must_use]
    pub fn failures(&self) -> Vec<LoadFailure> {
        self.state.settings().failures.clone()
    }

    /// The event types and prefixes that are served, each with the versions that serve it: one, or several of extractors that
    /// [share](crate::bundle::Sharing) it; without any by a fallback alone.
    #[must_use]
    pub fn event_types(&self) -> Vec<(Arc<str>, Vec<Digest>)> {
        let settings = self.state.settings();
        let digests =
            |route: &super::settings::Route| route.versions.iter().map(|it| it.digest).collect();
        let routes = settings.routes.iter();
        routes.map(|route| (Arc::clone(&route.event_type), digests(route))).collect()
    }

    /// The most bytes that an event of the tenant may have.
    #[must_use]
    pub fn max_event_bytes(&self) -> usize {
        self.state.settings().gates.sandbox().limits().event_bytes
    }

    /// Pays for what a request brought that is no event, and for what it took to read it.
    #[cfg(feature = "serve")]
    pub(crate) fn pay_spare(&self, bytes: u64, time: Duration) {
        self.state.pay_spare(bytes, time);
    }

    /// For how long nothing more is to be begun, where the tenant has used more than its quotas.
    #[cfg(feature = "serve")]
    pub(crate) fn owes(&self) -> Option<Duration> {
        self.state.owes()
    }

    /// Rejects an event of more bytes than that, of which nothing but the length was kept. Its bytes were [paid for](Self::pay_spare).
    #[cfg(feature = "serve")]
    pub(crate) fn too_large(&self, bytes: u64) -> ServeError {
        self.state.too_large(bytes)
    }

    /// What the tenant's events came to since it was added.
    #[must_use]
    pub fn account(&self) -> Account {
        self.state.account()
    }

    /// The versions that have served since the tenant was added or its policy changed, by name and fingerprint.
    #[must_use]
    pub fn versions(&self) -> Vec<VersionStatus> {
        let settings = self.state.settings();
        let now = self.state.now();
        let status = |version: Arc<super::version::Version>| VersionStatus {
            name: version.name.clone(),
            version: version.digest,
            is_active: settings.versions().any(|it| it.digest == version.digest),
            set_aside: version.set_aside_until().map(|until| until.saturating_sub(now)),
            resident_bytes: version.resident().1,
            account: version.account(),
        };
        let mut versions: Vec<VersionStatus> =
            self.state.versions().into_iter().map(status).collect();
        versions.sort_by(|one, other| {
            (&one.name, one.version.to_string()).cmp(&(&other.name, other.version.to_string()))
        });
        versions
    }

    /// Bytes of native code and instances that are kept for the tenant's next events.
    #[must_use]
    pub fn resident_bytes(&self) -> u64 {
        self.state.resident()
    }

    /// Has the bundle in `path`, a version of an extractor that is served, run beside it on a share of its events, from 0 to 1. What it
    /// gives is compared and given to nobody; what it takes is the tenant's. It takes the place of another one beside the same extractor.
    ///
    /// # Errors
    /// [`HostError::Load`] for a bundle that can't be loaded; [`HostError::NotServed`] where no version of that extractor is served.
    pub fn shadow(&self, path: &Path, share: f64) -> Result<(), HostError> {
        self.state.add_shadow(&Claim::from(&look_at(path)?), share)
    }

    /// How a version does beside the one that is served.
    ///
    /// # Errors
    /// [`HostError::NoShadow`].
    pub fn shadow_report(&self, name: &ExtractorName) -> Result<(Digest, ShadowReport), HostError> {
        let shadow = self.state.shadow_named(name);
        let shadow = shadow.ok_or_else(|| HostError::NoShadow(name.clone()))?;
        Ok((shadow.digest(), shadow.report()))
    }

    /// Ends what runs beside the version of an extractor that is served, and gives its last report.
    ///
    /// # Errors
    /// [`HostError::NoShadow`].
    pub fn end_shadow(&self, name: &ExtractorName) -> Result<ShadowReport, HostError> {
        self.state.end_shadow(name).map(|shadow| shadow.report())
    }

    /// Serves the version that runs beside another one from now on, in the place of that, if it has done well enough: it is activated in
    /// its directory, so that it is served after a new start as well.
    ///
    /// # Errors
    /// [`HostError::NotPromoted`], [`HostError::NoShadow`], and [`HostError::Bundles`] where it can't be activated. The same is served as
    /// before then.
    pub fn promote(
        &self,
        name: &ExtractorName,
        promotion: &Promotion,
    ) -> Result<Switched, HostError> {
        self.promote_by(name, promotion, "host: promote")
    }

    /// The same, of which is noted by what.
    pub(crate) fn promote_by(
        &self,
        name: &ExtractorName,
        promotion: &Promotion,
        by: &str,
    ) -> Result<Switched, HostError> {
        let shadow = self.state.shadow_named(name);
        let shadow = shadow.ok_or_else(|| HostError::NoShadow(name.clone()))?;
        let version = shadow.digest();
        let refused =
            |reason| HostError::NotPromoted { name: shadow.name.clone(), version, reason };
        if let Some(reason) = promotion.objection(&shadow.report()) {
            return Err(refused(reason));
        }
        let root = shadow.version.directory().map(PathBuf::from);
        let root = root.ok_or_else(|| refused("it lies in no directory of bundles".to_owned()))?;
        let now = jiff::Timestamp::now();
        let switched = Store::open(&root)?.activate(name, &version.to_string(), now, by)?;
        self.state.end_shadow(name)?;
        Ok(switched)
    }

    /// Serves another [`Tenant`] under this name from now on. Quotas that are overdrawn stay so; with the same policy, versions that stay
    /// keep their instances.
    ///
    /// # Errors
    /// [`HostError::Policy`]. The same is served as before then.
    pub fn change(&self, tenant: Tenant) -> Result<(), HostError> {
        let weight = f64::from(tenant.weight.get());
        self.state.change(Some(tenant))?;
        if let Some(shared) = self.shared() {
            shared.turns().set_lane(self.state.lane, weight, shared.clock.now());
        }
        Ok(())
    }
}

/// Ends an event whose serving panics.
struct Running<'a> {
    state: &'a TenantState,
    bytes: usize,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.state.panicked(self.bytes);
    }
}

/// An event that waits for its turn, and is taken back when this is dropped.
struct Waiting<'a> {
    shared: Arc<Shared>,
    state: &'a TenantState,
    number: u64,
    answer: oneshot::Receiver<Result<Answer, ServeError>>,
    is_answered: bool,
}

impl Waiting<'_> {
    async fn answer(mut self) -> Result<Answer, ServeError> {
        let answer = (&mut self.answer).await;
        self.is_answered = true;
        answer.unwrap_or_else(|_| Err(self.state.gone()))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            // The event is dropped after the lock is given back.
            let _taken_back = self.shared.turns().cancel(self.state.lane, self.number);
        }
    }
}
