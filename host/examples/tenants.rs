//! A host of two tenants on one engine, with four threads, a fallback and a swap: `cargo run -p retort --example tenants`
#![allow(clippy::print_stdout, reason = "an example says what it did")]

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use retort::runtime::{Dispatched, Dispatcher};
use retort::{GraphSpec, Pipeline, Registry, Samples, Store, Task, TenantPolicy};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// A tenant's bundles of now. Threads go on with those that they have until they ask again.
type Serving = RwLock<Arc<Registry>>;

fn open(bundles: &Path, pipeline: &Pipeline) -> Result<Arc<Registry>> {
    let registry = Registry::open(bundles, pipeline);
    let refused = registry.failures().first().map(|failure| failure.error.to_string());
    refused.map_or(Ok(Arc::new(registry)), |refused| Err(refused.into()))
}

fn store(host: &Pipeline, event_type: &str, bundles: &Path) -> Result<()> {
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

fn main() -> Result<()> {
    let host = Pipeline::builder().build()?;
    let folder = tempfile::tempdir()?;
    let [now, later] = ["now", "later"].map(|name| folder.path().join(name));
    store(&host, "placed", &now)?;
    store(&host, "shipped", &later)?;
    let acme = TenantPolicy::parse("limits: {memory_bytes: 4194304}", "acme.yaml")?;
    let globex = TenantPolicy::parse("isolation: per-event", "globex.yaml")?;
    let [acme, globex] = [host.for_tenant(&acme)?, host.for_tenant(&globex)?];
    let tenants = [Serving::new(open(&now, &acme)?), Serving::new(open(&now, &globex)?)];
    let [placed, shipped, fallback] = [const { AtomicU64::new(0) }; 3];
    let serve = |serving: &Serving| -> Result<()> {
        let registry = Arc::clone(&serving.read().unwrap_or_else(PoisonError::into_inner));
        let mut dispatcher = Dispatcher::new(&registry);
        for event_type in ["placed", "shipped", "lost"] {
            let event =
                format!(r#"{{"event_type": "{event_type}", "session_id": "s", "id": "7"}}"#);
            let served = match dispatcher.dispatch(event.as_bytes())? {
                Dispatched::Served(served) if served.event_type() == "placed" => &placed,
                Dispatched::Served(_) => &shipped,
                Dispatched::Unrouted { .. } => &fallback,
                // Of a registry that loads each bundle with its first event.
                Dispatched::Refused { error, .. } => return Err(error.clone().into()),
            };
            served.fetch_add(1, Relaxed);
        }
        Ok(())
    };
    for fresh in [&now, &later] {
        *tenants[0].write().unwrap_or_else(PoisonError::into_inner) = open(fresh, &acme)?;
        thread::scope(|threads| {
            let [first, second] = &tenants;
            let threads = [first, second, first, second].map(|it| threads.spawn(|| serve(it)));
            threads.into_iter().try_for_each(|it| it.join().unwrap_or_else(|_| Err("panic".into())))
        })?;
    }
    // Two threads of one tenant see the swap.
    let counts = [placed, shipped, fallback].map(AtomicU64::into_inner);
    assert_eq!(counts, [6, 2, 16]);
    println!("{} served, {} to the fallback", counts[0] + counts[1], counts[2]);
    Ok(())
}
