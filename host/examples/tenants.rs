//! A host of two tenants with four threads, a fallback and a swap: `cargo run -p retort --example tenants`
#![allow(clippy::print_stdout, reason = "an example says what it did")]

use std::path::Path;
use std::{error::Error, thread};

use retort::graph::Extraction;
use retort::runtime::{Tenant, TenantHandle};
use retort::{GraphSpec, Host, Pipeline, Samples, Store, Task, TenantPolicy};

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let (gates, folder) = (Pipeline::builder().build()?, tempfile::tempdir()?);
    store(&gates, "placed", folder.path())?;
    let host = Host::builder().pipeline(gates.clone()).build()?;
    let tenant = |policy| -> Result<Tenant> {
        let tenant = Tenant::default().policy(TenantPolicy::parse(policy, "policy")?);
        Ok(tenant.directory(folder.path()).fallback("lost", |_| Ok(Extraction::default())))
    };
    let acme = host.add("acme", tenant("limits: {memory_bytes: 4194304}")?)?;
    let globex = host.add("globex", tenant("isolation: per-event")?)?;
    let serve = |tenant: &TenantHandle| -> Result<()> {
        for event_type in ["placed", "shipped", "lost"] {
            let event = format!(r#"{{"event_type":"{event_type}","session_id":"s","id":"7"}}"#);
            tenant.run(event.as_bytes())?;
        }
        Ok(())
    };
    for _ in 0..2 {
        thread::scope(|threads| {
            let threads = [&acme, &globex, &acme, &globex].map(|it| threads.spawn(|| serve(it)));
            threads.into_iter().try_for_each(|it| it.join().unwrap_or_else(|_| Err("panic".into())))
        })?;
        // One tenant takes up what is new, and the other one serves as before.
        store(&gates, "shipped", folder.path())?;
        acme.refresh()?;
    }
    let accounts = [acme.account(), globex.account()];
    let results = accounts.each_ref().map(|it| (it.summary.results, it.fallbacks));
    println!("results and fallbacks: acme {:?}, globex {:?}", results[0], results[1]);
    assert_eq!(results, [(6, 4), (4, 4)]);
    Ok(())
}

/// Puts an extractor for events of this type into a directory.
fn store(gates: &Pipeline, event_type: &str, bundles: &Path) -> Result<()> {
    let graph =
        "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";
    let sample = format!(r#"{{"event_type": "{event_type}", "session_id": "s", "id": "1"}}"#);
    let plan = format!(
        r#"{{"event_type": "{event_type}", "target_entity_name": "Order", "function_name": "read_{event_type}",
            "key_field": {{"property_name": "id", "source_path": ["id"]}}}}"#
    );
    let task = Task::new(GraphSpec::parse(graph, "graph")?, Samples::parse(&sample, "samples")?);
    gates.accept(&plan, &task)?.store(&Store::open(bundles)?, retort::jiff::Timestamp::now())?;
    Ok(())
}
