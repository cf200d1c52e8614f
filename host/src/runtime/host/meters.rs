//! What is told through the `metrics` facade.
use std::sync::Arc;

use metrics::{Counter, Histogram, SharedString, counter, gauge, histogram};

use super::account::Account;

/// What is counted of one tenant, by the recorder that was installed when the tenant was added.
pub(super) struct Meters {
    tenant: SharedString,
    events: Counter,
    results: Counter,
    fallbacks: Counter,
    bytes: Counter,
    fuel: Counter,
    seconds: Histogram,
}

impl Meters {
    pub(super) fn new(tenant: &Arc<str>) -> Self {
        let tenant = SharedString::from(Arc::clone(tenant));
        Self {
            events: counter!("retort_events_total", "tenant" => tenant.clone()),
            results: counter!("retort_results_total", "tenant" => tenant.clone()),
            fallbacks: counter!("retort_fallbacks_total", "tenant" => tenant.clone()),
            bytes: counter!("retort_event_bytes_total", "tenant" => tenant.clone()),
            fuel: counter!("retort_fuel_total", "tenant" => tenant.clone()),
            seconds: histogram!("retort_event_seconds", "tenant" => tenant.clone()),
            tenant,
        }
    }

    pub(super) fn note(&self, account: &Account) {
        let summary = &account.summary;
        self.events.increment(summary.events);
        self.results.increment(summary.results);
        self.fallbacks.increment(account.fallbacks);
        self.bytes.increment(summary.bytes);
        self.fuel.increment(summary.fuel);
        self.seconds.record(account.time);
        for (code, count) in &summary.rejects {
            counter!("retort_rejects_total", "tenant" => self.tenant.clone(), "code" => *code)
                .increment(*count);
        }
    }

    pub(super) fn refused(&self, code: &'static str) {
        counter!("retort_refused_total", "tenant" => self.tenant.clone(), "code" => code)
            .increment(1);
    }

    pub(super) fn happened(&self, what: &'static str) {
        counter!("retort_versions_total", "tenant" => self.tenant.clone(), "what" => what)
            .increment(1);
    }
}

impl std::fmt::Debug for Meters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meters").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

/// Tells what is resident.
pub(super) fn resident(bytes: u64) {
    gauge!("retort_resident_bytes").set(bytes as f64);
}
