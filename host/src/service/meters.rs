//! What is counted, in the text that Prometheus reads.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::runtime::{Account, Host, Notice};

/// What the service counts beside the accounts of its host.
#[derive(Debug, Default)]
pub(super) struct Meters {
    pub(super) connections: AtomicU64,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    /// By route, method and status.
    requests: BTreeMap<(String, &'static str, u16), u64>,
    /// By how they ended.
    answers: BTreeMap<&'static str, u64>,
    /// By tenant and what happened.
    versions: BTreeMap<(String, &'static str), u64>,
}

impl Meters {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        // Nothing panics while it is locked.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn asked(&self, route: &str, method: &'static str, status: u16) {
        *self.counted().requests.entry((route.to_owned(), method, status)).or_default() += 1;
    }

    pub(super) fn answered(&self, end: &'static str) {
        *self.counted().answers.entry(end).or_default() += 1;
    }

    pub(super) fn happened(&self, notice: &Notice) {
        let key = (notice.tenant.to_string(), notice.what.as_str());
        *self.counted().versions.entry(key).or_default() += 1;
    }

    /// All that is counted. Names of tenants, routes and codes hold nothing that would have to be escaped.
    pub(super) fn text(&self, host: &Host, is_config_good: bool) -> String {
        let mut text = String::new();
        let tenants = host.tenants();
        let accounts: Vec<(&str, Account)> =
            tenants.iter().map(|tenant| (tenant.name(), tenant.account())).collect();
        for (name, help, value) in OF_TENANTS {
            head(&mut text, name, "counter", help);
            for (tenant, account) in &accounts {
                sample(&mut text, name, format_args!("tenant=\"{tenant}\""), value(account));
            }
        }
        let name = "retort_rejects_total";
        head(&mut text, name, "counter", "Events without an answer.");
        for (tenant, account) in &accounts {
            for (code, count) in &account.summary.rejects {
                let labels = format!("tenant=\"{tenant}\",code=\"{code}\"");
                sample(&mut text, name, labels, *count);
            }
        }
        let name = "retort_event_seconds_total";
        head(&mut text, name, "counter", "For how long threads were busy with events.");
        for (tenant, account) in &accounts {
            let labels = format!("tenant=\"{tenant}\"");
            sample(&mut text, name, labels, account.time.as_secs_f64());
        }
        let counted = self.counted();
        let name = "retort_versions_total";
        head(&mut text, name, "counter", "What happened to versions.");
        for ((tenant, what), count) in &counted.versions {
            sample(&mut text, name, format_args!("tenant=\"{tenant}\",what=\"{what}\""), *count);
        }
        let name = "retort_requests_total";
        head(&mut text, name, "counter", "Requests by their status.");
        for ((route, method, status), count) in &counted.requests {
            let labels = format!("route=\"{route}\",method=\"{method}\",status=\"{status}\"");
            sample(&mut text, name, labels, *count);
        }
        let name = "retort_answers_total";
        head(&mut text, name, "counter", "Answers to events by how they ended.");
        for (end, count) in &counted.answers {
            sample(&mut text, name, format_args!("end=\"{end}\""), *count);
        }
        drop(counted);
        let connections = self.connections.load(Ordering::Relaxed);
        for (name, help, value) in [
            ("retort_connections", "Connections that are open.", connections),
            (
                "retort_config_ok",
                "Whether the configuration on disk is served.",
                is_config_good.into(),
            ),
            ("retort_resident_bytes", "Native code and instances.", host.resident_bytes()),
        ] {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }
}

type OfTenant = (&'static str, &'static str, fn(&Account) -> u64);

/// What is counted for each tenant.
const OF_TENANTS: [OfTenant; 10] = [
    ("retort_events_total", "Events that were begun.", |it| it.summary.events),
    ("retort_results_total", "Results that aren't empty.", |it| it.summary.results),
    ("retort_partial_results_total", "Results of which a part was dropped.", |it| {
        it.summary.in_part
    }),
    ("retort_empty_total", "Events that were declined.", |it| it.summary.empty),
    ("retort_unrouted_total", "Events whose type nobody serves.", |it| it.summary.unrouted),
    ("retort_refused_total", "Events that weren't begun.", |it| it.refused),
    ("retort_fallbacks_total", "Answers of fallbacks.", |it| it.fallbacks),
    ("retort_event_bytes_total", "Bytes of events.", |it| it.summary.bytes),
    ("retort_result_bytes_total", "Bytes of results.", |it| it.result_bytes),
    ("retort_fuel_total", "Units of fuel.", |it| it.summary.fuel),
];

// A string takes all that is written to it.

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn sample(text: &mut String, name: &str, labels: impl Display, value: impl Display) {
    let _ = writeln!(text, "{name}{{{labels}}} {value}");
}
