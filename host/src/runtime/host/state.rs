//! A tenant of a host: what it is served with, and what it has used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;

use tokio::sync::Semaphore;
use tracing::info;

use super::account::Account;
use super::breaker::{Change, Turn};
use super::clock::Clock;
use super::error::{HostError, ServeError};
use super::meters::Meters;
use super::notice::{Happened, Notice};
use super::quota::{Exceeded, Meter};
use super::settings::{Claim, Settings};
use super::shadow::Shadow;
use super::shared::Shared;
use super::tenant::Tenant;
use super::turns::Lane;
use super::version::{Ready, Residency, Version};
#[cfg(feature = "serve")]
use crate::abi::event::EventError;
use crate::bundle::{BundleLoadError, Catalog, Digest, ExtractorName};
use crate::diagnostics::problem::Coded;
use crate::runtime::event_type::TypeReader;
#[cfg(feature = "serve")]
use crate::sandbox::RunError;

/// Bytes of an event that count as one of what may wait.
pub(super) const QUEUE_UNIT: usize = 1 << 10;

/// A tenant of a host.
#[derive(Debug)]
pub(super) struct TenantState {
    pub(super) name: Arc<str>,
    pub(super) lane: Lane,
    pub(super) shared: Weak<Shared>,
    clock: Clock,
    /// How many instances of a version are kept at most, and how many bytes of all tenants.
    pub(super) most_idle: usize,
    most_resident: Option<u64>,
    settings: RwLock<Arc<Settings>>,
    /// Who changes the settings has this.
    changing: Mutex<()>,
    meter: Mutex<Meter>,
    account: Mutex<Account>,
    /// Every version that has served since the tenant was added.
    versions: Mutex<HashMap<Digest, Arc<Version>>>,
    shadows: Mutex<HashMap<ExtractorName, Arc<Shadow>>>,
    readers: Mutex<Vec<TypeReader>>,
    residency: Residency,
    meters: Meters,
    /// Places for events that wait, one for each KiB.
    pub(super) places: Arc<Semaphore>,
    pub(super) all_places: u32,
    pub(super) is_gone: AtomicBool,
}

/// Nothing panics while one of these is locked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TenantState {
    pub(super) fn new(
        name: &str,
        lane: Lane,
        shared: &Arc<Shared>,
        tenant: Tenant,
    ) -> Result<Self, HostError> {
        let name = Arc::from(name);
        let residency = Residency { tenant: Arc::default(), host: Arc::clone(&shared.resident) };
        let gates = shared.gates.for_tenant(&tenant.policy)?;
        let now = shared.clock.now();
        let places = tenant.queue_bytes.div_ceil(QUEUE_UNIT).clamp(1, 1 << 20);
        let meter = Mutex::new(Meter::new(&tenant.quotas, now));
        let mut versions = HashMap::new();
        let settings = Settings::new(
            tenant,
            gates,
            None,
            |claim| known(&mut versions, claim, &residency),
            |_| None,
        );
        Ok(Self {
            lane,
            shared: Arc::downgrade(shared),
            clock: shared.clock,
            most_idle: shared.most_idle,
            most_resident: shared.most_resident,
            settings: RwLock::new(Arc::new(settings)),
            changing: Mutex::default(),
            meter,
            account: Mutex::default(),
            versions: Mutex::new(versions),
            shadows: Mutex::default(),
            readers: Mutex::default(),
            residency,
            meters: Meters::new(&name),
            name,
            places: Arc::new(Semaphore::new(places)),
            all_places: places as u32,
            is_gone: AtomicBool::new(false),
        })
    }

    pub(super) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks over what the tenant has once more, or serves another one in its place.
    pub(super) fn change(&self, tenant: Option<Tenant>) -> Result<Arc<Settings>, HostError> {
        let Some(shared) = self.shared.upgrade() else {
            return Err(HostError::Unknown(self.name.to_string()));
        };
        let _changing = locked(&self.changing);
        let before = self.settings();
        let tenant = tenant.unwrap_or_else(|| before.tenant.clone());
        let is_policy_same = tenant.policy == before.tenant.policy;
        let gates = match is_policy_same {
            true => before.gates.clone(),
            false => shared.gates.for_tenant(&tenant.policy)?,
        };
        let quotas = tenant.quotas.clone();
        let mut versions = locked(&self.versions);
        if !is_policy_same {
            // What was loaded runs by the policy that it was loaded with.
            versions.clear();
            locked(&self.shadows).clear();
        }
        let shadows = locked(&self.shadows).clone();
        let settings = Arc::new(Settings::new(
            tenant,
            gates,
            Some(&before),
            |claim| known(&mut versions, claim, &self.residency),
            |version| shadows.get(&version.name).cloned(),
        ));
        drop(versions);
        self.load_ahead(&before, &settings);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&settings);
        locked(&self.meter).change(&quotas, shared.clock.now());
        self.tell_of_change(&before, &settings);
        Ok(settings)
    }

    /// Loads what takes the place of a version that is loaded, which goes on meanwhile: no event waits for that. What can't be loaded is
    /// refused when it is needed.
    fn load_ahead(&self, before: &Settings, after: &Settings) {
        let is_loaded =
            |name: &ExtractorName| before.versions().any(|it| it.name == *name && it.is_loaded());
        for version in after.versions().filter(|it| is_loaded(&it.name)) {
            let _ = version.ready(after, self.now());
        }
    }

    /// Tells which versions are served now, and which no more, whose instances are given up.
    fn tell_of_change(&self, before: &Settings, after: &Settings) {
        let digests = |settings: &Settings| -> HashMap<Digest, Arc<Version>> {
            settings.versions().map(|it| (it.digest, Arc::clone(it))).collect()
        };
        let (before, after) = (digests(before), digests(after));
        for (digest, version) in &after {
            if !before.contains_key(digest) {
                self.tell(version, Happened::Begun);
            }
        }
        for (digest, version) in &before {
            if !after.contains_key(digest) {
                version.give_up(false);
                self.give_up_unserved(version.stand_in(None));
                self.tell(version, Happened::Ended);
            }
        }
    }

    /// Gives up a version that nothing is served by any more, so that it can be removed.
    fn give_up_unserved(&self, version: Option<Arc<Version>>) {
        let settings = self.settings();
        let is_served =
            |version: &Version| settings.versions().any(|it| it.digest == version.digest);
        if let Some(version) = version.filter(|version| !is_served(version)) {
            version.give_up(false);
        }
    }

    /// Begins an event of so many bytes.
    pub(super) fn begin(&self, bytes: usize) -> Result<(), Exceeded> {
        locked(&self.meter).begin(bytes, self.now())
    }

    /// Ends an event that was begun.
    pub(super) fn end(&self, account: &Account, fuel: u64) {
        locked(&self.meter).end(fuel, account.time, !account.summary.rejects.is_empty());
        locked(&self.account).add(account);
        self.meters.note(account);
    }

    /// Ends an event of so many bytes that was begun, and whose serving has panicked.
    pub(super) fn panicked(&self, bytes: usize) {
        let mut account = Account::default();
        account.summary.events = 1;
        account.summary.bytes = bytes as u64;
        account.summary.rejects.insert(ServeError::Panicked.code(), 1);
        self.end(&account, 0);
    }

    /// Ends an event that is longer than any may be, of which nothing but its length was kept.
    #[cfg(feature = "serve")]
    pub(super) fn too_large(&self, bytes: u64) -> ServeError {
        let allowed = self.settings().gates.sandbox().limits().event_bytes;
        let used = usize::try_from(bytes).unwrap_or(usize::MAX);
        let error = RunError::from(EventError::TooLarge { used, allowed });
        let mut account = Account::default();
        account.summary.events = 1;
        account.summary.bytes = bytes;
        account.summary.rejects.insert(error.code(), 1);
        locked(&self.meter).pay_rejected();
        locked(&self.account).add(&account);
        self.meters.note(&account);
        ServeError::Run { event_type: None, error }
    }

    /// Pays for what was read and is no event.
    #[cfg(feature = "serve")]
    pub(super) fn pay_spare(&self, bytes: u64, time: Duration) {
        locked(&self.meter).pay_spare(bytes, time);
    }

    /// For how long no event can be begun, where a quota by the second is used up.
    #[cfg(feature = "serve")]
    pub(super) fn owes(&self) -> Option<Duration> {
        let now = self.now();
        let until = locked(&self.meter).exceeded(now)?.until;
        until.map(|until| until.saturating_sub(now))
    }

    /// Serves nothing any more.
    pub(super) fn end_service(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.places.close();
        self.versions().iter().for_each(|version| _ = version.give_up(false));
    }

    /// Notes an event that wasn't begun.
    pub(super) fn refuse(&self, error: ServeError) -> ServeError {
        locked(&self.account).refused += 1;
        self.meters.refused(error.code());
        error
    }

    pub(super) fn exceeded(&self, exceeded: Exceeded) -> ServeError {
        let Exceeded { quota, allowed, until } = exceeded;
        let retry_after = until.map(|until| until.saturating_sub(self.now()));
        self.refuse(ServeError::Quota {
            tenant: self.name.to_string(),
            quota,
            allowed,
            retry_after,
        })
    }

    pub(super) fn gone(&self) -> ServeError {
        ServeError::Gone { tenant: self.name.to_string() }
    }

    /// Pays for what was run beside an event.
    pub(super) fn pay(&self, fuel: u64, time: Duration) {
        locked(&self.meter).pay(fuel, time);
    }

    pub(super) fn account(&self) -> Account {
        locked(&self.account).clone()
    }

    pub(super) fn versions(&self) -> Vec<Arc<Version>> {
        locked(&self.versions).values().cloned().collect()
    }

    pub(super) fn resident(&self) -> u64 {
        self.residency.tenant.load(Ordering::Relaxed)
    }

    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Something that reads the type of events, if there is one at hand.
    pub(super) fn reader(&self) -> Option<TypeReader> {
        locked(&self.readers).pop()
    }

    pub(super) fn give_back(&self, reader: TypeReader) {
        locked(&self.readers).push(reader);
    }

    /// Gives up what instances all tenants keep.
    pub(super) fn give_up_idle(&self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.all_versions().iter().for_each(|(_, version)| _ = version.give_up(true));
        }
    }

    /// Gives up what was used the longest ago, where more is resident than may.
    pub(super) fn require_residency(&self, settings: &Settings) {
        if let Some(most) = settings.tenant.quotas.resident_bytes
            && self.resident() > most.get()
        {
            let versions = self.versions().into_iter().map(|version| (None, version)).collect();
            self.give_up(versions, most.get(), || self.resident());
        }
        if self.most_resident.is_some_and(|most| self.residency.host.load(Ordering::Relaxed) > most)
            && let Some(shared) = self.shared.upgrade()
        {
            shared.require_residency(self);
        }
    }

    /// Gives versions up, those used the longest ago first, until a tenth of what is allowed is free.
    pub(super) fn give_up(
        &self,
        versions: Vec<(Option<Arc<Self>>, Arc<Version>)>,
        most: u64,
        resident: impl Fn() -> u64,
    ) {
        let mut versions: Vec<_> = versions
            .into_iter()
            .map(|(tenant, version)| (version.resident(), tenant, version))
            .filter(|((_, bytes), ..)| *bytes > 0)
            .collect();
        versions.sort_by_key(|((used, _), ..)| *used);
        for (_, tenant, version) in versions {
            if resident() <= most / 10 * 9 {
                return;
            }
            if version.give_up(false) {
                tenant.as_deref().unwrap_or(self).tell(&version, Happened::Unloaded);
            }
        }
    }

    /// Notes how an event went with a version, and finds what stands in for one that is set aside.
    pub(super) fn judge(
        &self,
        settings: &Settings,
        version: &Arc<Version>,
        turn: Turn,
        went_well: Option<bool>,
    ) {
        match version.judge(&settings.tenant.breaker, turn, went_well, self.now()) {
            None => {}
            Some(Change::Restored) => {
                self.give_up_unserved(version.stand_in(None));
                self.tell(version, Happened::Restored);
            }
            Some(Change::SetAside { until }) => self.set_aside(settings, version, until),
        }
    }

    /// Sets a version aside that can't be loaded.
    pub(super) fn refused(
        &self,
        settings: &Settings,
        version: &Arc<Version>,
        turn: Turn,
        error: &BundleLoadError,
    ) {
        let breaker = &settings.tenant.breaker;
        let Change::SetAside { until } = version.set_aside(breaker, turn, self.now()) else {
            return;
        };
        self.tell(version, Happened::Refused(error.clone()));
        self.set_aside(settings, version, until);
    }

    fn set_aside(&self, settings: &Settings, version: &Arc<Version>, until: Duration) {
        let before = self.before(settings, version);
        let retry_after = until.saturating_sub(self.now());
        let instead = before.as_ref().map(|(before, _)| before.digest);
        version.stand_in(before);
        self.tell(version, Happened::SetAside { instead, retry_after });
    }

    /// The version of the same extractor that served the same types before, as far as the directory's record knows.
    fn before(&self, settings: &Settings, version: &Version) -> Option<(Arc<Version>, Arc<Ready>)> {
        let catalog = Catalog::read(version.directory()?).ok()?;
        let entry = catalog.extractors.iter().find(|it| it.name == version.name)?;
        let types = |digest: Digest| {
            let found = entry.versions.iter().find(|it| it.fingerprint == digest)?;
            Some((found.path.clone(), found.manifest.as_ref()?.event_types().to_vec()))
        };
        let (_, own) = types(version.digest)?;
        let earlier = entry.activations.iter().rev().flat_map(|it| &it.versions);
        let earlier = earlier.copied().filter(|it| *it != version.digest);
        earlier.filter_map(|digest| Some((digest, types(digest)?))).find_map(
            |(digest, (path, its))| {
                let claim = Claim { name: version.name.clone(), digest, path };
                let serves_the_same = own.iter().all(|it| its.contains(it));
                let before = serves_the_same.then(|| self.version(&claim))?;
                let ready = before.ready(settings, self.now()).ok()?;
                Some((before, ready))
            },
        )
    }

    fn version(&self, claim: &Claim) -> Arc<Version> {
        known(&mut locked(&self.versions), claim, &self.residency)
    }

    /// Has a version run beside the one of the same extractor that is served.
    pub(super) fn add_shadow(&self, claim: &Claim, share: f64) -> Result<(), HostError> {
        let is_served = self.settings().versions().any(|it| it.name == claim.name);
        if !is_served {
            return Err(HostError::NotServed(claim.name.clone()));
        }
        let version = self.version(claim);
        let settings = self.settings();
        let hold = Arc::clone(version.ready(&settings, self.now())?.serving.hold());
        let shadow = Arc::new(Shadow::new(Arc::clone(&version), hold, share.clamp(0.0, 1.0)));
        locked(&self.shadows).insert(claim.name.clone(), shadow);
        self.change(None)?;
        self.tell(&version, Happened::Shadowed);
        Ok(())
    }

    pub(super) fn shadow_named(&self, name: &ExtractorName) -> Option<Arc<Shadow>> {
        locked(&self.shadows).get(name).cloned()
    }

    pub(super) fn end_shadow(&self, name: &ExtractorName) -> Result<Arc<Shadow>, HostError> {
        let ended = locked(&self.shadows).remove(name);
        let shadow = ended.ok_or_else(|| HostError::NoShadow(name.clone()))?;
        self.change(None)?;
        self.give_up_unserved(Some(Arc::clone(&shadow.version)));
        Ok(shadow)
    }

    pub(super) fn tell(&self, version: &Version, what: Happened) {
        let code = match &what {
            Happened::Refused(error) => Some(error.code()),
            _ => None,
        };
        let (tenant, name) = (&*self.name, version.name.as_str());
        info!(tenant, extractor = name, version = %version.digest, what = what.as_str(), code);
        self.meters.happened(what.as_str());
        let Some(shared) = self.shared.upgrade() else { return };
        if let Some(listener) = &shared.listener.0 {
            listener(&Notice {
                tenant: Arc::clone(&self.name),
                name: version.name.clone(),
                version: version.digest,
                what,
            });
        }
    }
}

/// A version as it is known already, or anew.
fn known(
    versions: &mut HashMap<Digest, Arc<Version>>,
    claim: &Claim,
    residency: &Residency,
) -> Arc<Version> {
    let version = versions
        .entry(claim.digest)
        .or_insert_with(|| Arc::new(Version::new(claim, residency.clone())));
    Arc::clone(version)
}
