//! A host of two tenants on one engine, with four threads, a fallback and a swap: `cargo run -p retort --example tenants`
#![allow(clippy::print_stdout, reason = "an example says what it did")]

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use retort::runtime::{Dispatched, Dispatcher};
use retort::{GraphSpec, Pipeline, Registry, Samples, Store, Task, TenantPolicy};

/// A tenant's gates, and its bundles of now. Threads go on with those that they have until they ask again.
struct Tenant {
    pipeline: Pipeline,
    serving: RwLock<Arc<Registry>>,
}

impl Tenant {
    fn new(host: &Pipeline, policy: &str, bundles: &Path) -> Result<Self, Box<dyn Error>> {
        let pipeline = host.for_tenant(&TenantPolicy::parse(policy, "policy.yaml")?)?;
        Ok(Self { serving: RwLock::new(Arc::new(Registry::open(bundles, &pipeline))), pipeline })
    }

    fn serving(&self) -> Arc<Registry> {
        Arc::clone(&self.serving.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn swap(&self, bundles: &Path) {
        let fresh = Arc::new(Registry::open(bundles, &self.pipeline));
        *self.serving.write().unwrap_or_else(PoisonError::into_inner) = fresh;
    }
}

fn store(host: &Pipeline, event_type: &str, bundles: &Path) -> Result<(), Box<dyn Error>> {
    let graph =
        "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";
    let sample = format!(r#"{{"event_type": "{event_type}", "session_id": "s", "id": "1"}}"#);
    let plan = format!(
        r#"{{"event_type": "{event_type}", "target_entity_name": "Order", "function_name": "read_order",
            "key_field": {{"property_name": "id", "source_path": ["id"]}}}}"#
    );
    let task = Task::new(GraphSpec::parse(graph, "graph")?, Samples::parse(&sample, "samples")?);
    host.accept(&plan, &task)?.store(&Store::open(bundles)?, retort::jiff::Timestamp::now())?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let host = Pipeline::builder().build()?;
    let folder = tempfile::tempdir()?;
    let [now, later] = ["now", "later"].map(|name| folder.path().join(name));
    store(&host, "placed", &now)?;
    store(&host, "shipped", &later)?;
    let acme = Tenant::new(&host, "limits: {memory_bytes: 4194304}", &now)?;
    let globex = Tenant::new(&host, "isolation: per-event", &now)?;
    let (served, fallback) = (AtomicU64::new(0), AtomicU64::new(0));
    let serve = &|tenant: &Tenant| {
        let registry = tenant.serving();
        let mut dispatcher = Dispatcher::new(&registry);
        for event_type in ["placed", "shipped", "lost"] {
            let event =
                format!(r#"{{"event_type": "{event_type}", "session_id": "s", "id": "7"}}"#);
            match dispatcher.dispatch(event.as_bytes()) {
                Ok(Dispatched::Served(_)) => served.fetch_add(1, Relaxed),
                Ok(Dispatched::Unrouted) | Err(_) => fallback.fetch_add(1, Relaxed),
            };
        }
    };
    for (tenant, bundles) in [(&acme, &later), (&globex, &now)] {
        thread::scope(|threads| {
            for tenant in [&acme, &globex, &acme, &globex] {
                threads.spawn(move || serve(tenant));
            }
        });
        tenant.swap(bundles);
    }
    println!("{} served, {} to the fallback", served.into_inner(), fallback.into_inner());
    Ok(())
}
