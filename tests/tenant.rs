//! Tenants' policies: `tenant/refused.yaml` are texts that are none.

use std::fs;
use std::num::NonZeroU32;

use retort::bundle::{self, Expect};
use retort::diagnostics::Stage;
use retort::gate::{FieldPolicy, StructuralLimits};
use retort::sandbox::{Allocator, Isolation, Options, Pool, TenantError};
use retort::{Coded, GraphSpec, Limits, Pipeline, Samples, Store, Task, TenantPolicy};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::workspace_root;

const PLAN: &str = r#"{
  "event_type": "placed", "target_entity_name": "Order", "function_name": "read_order",
  "key_field": {"property_name": "id", "source_path": ["content", "id"]}
}"#;
const EVENT: &str = r#"{"event_type":"placed","session_id":"s","content":{"id":"a"}}"#;

fn task() -> Task {
    let graph =
        "entities: [{name: Order, keys: {primary: [id]}, properties: [{name: id, type: string}]}]";
    let samples = Samples::parse(EVENT, "samples").unwrap();
    Task::new(GraphSpec::parse(graph, "graph.yaml").unwrap(), samples)
}

fn tenant(text: &str) -> TenantPolicy {
    TenantPolicy::parse(text, "policy.yaml").unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn read(path: &str) -> String {
    fs::read_to_string(workspace_root().join(path)).unwrap()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    text: String,
    #[serde(default)]
    origin: String,
    code: String,
    path: Option<String>,
    says: Option<String>,
}

fn refused(path: &str) -> Vec<Refused> {
    serde_saphyr::from_str(&read(path)).unwrap()
}

#[test]
fn what_is_no_policy_of_a_tenant_is_refused() {
    for case in refused("tests/tenant/refused.yaml") {
        let text = &case.text;
        let Err(error) = TenantPolicy::parse(text, &case.origin) else {
            panic!("{text}: not refused")
        };
        assert_eq!(error.code(), case.code, "{text}: {error}");
        if let Some(path) = case.path {
            assert_eq!(error.place(), Some(path), "{text}: {error}");
        }
        let says = case.says.unwrap_or_default();
        assert!(error.to_string().contains(&says), "{text}: expected {says:?} in: {error}");
        let problem = error.problem();
        assert_eq!((problem.stage, problem.code), (Stage::Policy, error.entry()));
        if let TenantError::OutOfRange { found, most, .. } = error {
            assert_eq!((problem.used, problem.allowed), (Some(found), Some(most)));
        }
    }
}

#[test]
fn what_is_no_field_policy_is_none_of_a_tenant() {
    for case in refused("tests/policy/refused.yaml") {
        let error = TenantPolicy::parse(&case.text, &case.origin).unwrap_err();
        let same = FieldPolicy::parse(&case.text, &case.origin).unwrap_err();
        assert_eq!((error.code(), error.place()), (same.code(), same.place()), "{}", case.text);
    }
}

/// The names of all limits.
fn names(limits: impl serde::Serialize) -> Vec<String> {
    let value = serde_json::to_value(limits).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn every_limit_can_be_given_by_its_name_alone() {
    let host = options!(Limits { fuel_base: 77, ..Limits::default() });
    for name in names(&host) {
        // What compiles has to fit, and a stack has to fit a thread: no one figure does for all.
        let figure = if name == "compile_memory_bytes" { 64 << 20 } else { 4321 };
        let given = tenant(&format!("limits: {{{name}: {figure}}}"));
        let mut expected = serde_json::to_value(&host).unwrap();
        expected[&name] = json!(figure);
        assert_eq!(serde_json::to_value(given.limits(&host)).unwrap(), expected);
        assert_eq!(given.structure(&StructuralLimits::default()), StructuralLimits::default());
    }
    let host = options!(StructuralLimits { types: 7, ..StructuralLimits::default() });
    for name in names(&host) {
        let given = tenant(&format!("structure: {{{name}: 4321}}"));
        let mut expected = serde_json::to_value(&host).unwrap();
        expected[&name] = json!(4321);
        assert_eq!(serde_json::to_value(given.structure(&host)).unwrap(), expected);
    }
}

#[test]
fn an_empty_policy_leaves_the_host_s_options() {
    let host = options!(Options {
        limits: options!(Limits { deadline_ms: 7, ..Limits::default() }),
        isolation: Isolation::PerBatch,
        allocator: Allocator::Pooling(Pool { instances: 3, ..Pool::default() }),
        ..Options::default()
    });
    assert_eq!(tenant("{}").options(host.clone()), host);
    let all = tenant(
        "limits: {deadline_ms: 9}\nisolation: warm\nallocator: {pooling: {instances: 5}}\ncheck_one_in: 5",
    );
    let expected = options!(Options {
        limits: options!(Limits { deadline_ms: 9, ..Limits::default() }),
        isolation: Isolation::Warm,
        allocator: Allocator::Pooling(Pool { instances: 5, ..Pool::default() }),
        check_one_in: NonZeroU32::new(5).unwrap(),
        ..host.clone()
    });
    assert_eq!(all.options(host.clone()), expected);
    assert_eq!(tenant("allocator: on-demand").options(host).allocator, Allocator::OnDemand);
    assert_eq!(tenant("allocator: pooling").allocator(), Some(Allocator::Pooling(Pool::default())));
}

#[test]
fn tenants_on_one_engine_have_limits_of_their_own() {
    let host = Pipeline::builder().build().unwrap();
    let task = task();
    let starved = host.for_tenant(&tenant("limits: {fuel_base: 10, fuel_per_byte: 0}")).unwrap();
    let narrow = host.for_tenant(&tenant("structure: {module_bytes: 100}")).unwrap();
    let denied = host.for_tenant(&tenant("deny: [content.id]")).unwrap();
    let small = host.for_tenant(&tenant("limits: {event_bytes: 20}\nisolation: per-event"));
    let small = small.unwrap();
    assert_eq!(small.sandbox().isolation(), Isolation::PerEvent);
    for (pipeline, code) in [
        (&starved, "out_of_fuel"),
        (&narrow, "module_too_large"),
        (&denied, "path_denied"),
        (&small, "event_too_large"),
    ] {
        let error = pipeline.accept(PLAN, &task).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(host.accept(PLAN, &task).is_ok(), "the host's own limits hold for it");
    }
    // What isn't said is as the host has it, not as the tenant before.
    let all = host.for_tenant(&tenant("check_one_in: 1")).unwrap();
    let one_in = |gates: &Pipeline| gates.sandbox().check_one_in().get();
    assert_eq!((one_in(&all), one_in(&host)), (1, 64));
    assert_eq!(one_in(&all.for_tenant(&tenant("{}")).unwrap()), 1);
    let after = starved.for_tenant(&tenant("limits: {fuel_per_byte: 1000}")).unwrap();
    assert_eq!(after.sandbox().limits().fuel_base, 10);
    assert_eq!(denied.for_tenant(&tenant("{}")).unwrap().policy(), &FieldPolicy::default());
}

#[test]
fn what_belongs_to_the_engine_is_not_a_tenant_s_to_change() {
    let host = Pipeline::builder().build().unwrap();
    let error = host.for_tenant(&tenant("limits: {stack_bytes: 1000}")).unwrap_err();
    assert_eq!(error.code(), "engine_failed", "{error}");
    assert!(error.to_string().contains("1000"), "{error}");
    // The allocator does as well: a policy that names another one isn't served by this engine, whatever it shares.
    let pooled = Allocator::Pooling(Pool { instances: 5, ..Pool::default() });
    let options = options!(Options { allocator: pooled, ..Options::default() });
    let pool =
        Pipeline::builder().options(options).tenant(&TenantPolicy::default()).build().unwrap();
    assert_eq!(
        (host.sandbox().allocator(), pool.sandbox().allocator()),
        (Allocator::OnDemand, pooled)
    );
    for (pipeline, allocator, is_the_same) in [
        (&host, "on-demand", true),
        (&host, "pooling", false),
        (&pool, "{pooling: {instances: 5}}", true),
        (&pool, "{pooling: {instances: 6}}", false),
        (&pool, "pooling", false),
        (&pool, "on-demand", false),
    ] {
        let served = pipeline.for_tenant(&tenant(&format!("allocator: {allocator}")));
        assert_eq!(served.is_ok(), is_the_same, "{allocator}");
        if let Err(error) = served {
            assert_eq!(error.code(), "engine_failed", "{error}");
            assert!(error.to_string().contains("the tenant's allocator is "), "{error}");
        }
    }
}

#[test]
fn a_tenant_s_limits_hold_for_bundles_that_another_one_made() {
    let root = tempfile::tempdir().unwrap();
    let host = Pipeline::builder().build().unwrap();
    let task = task();
    let accepted = host.accept(PLAN, &task).unwrap();
    let store = Store::open(root.path()).unwrap();
    let now = jiff::Timestamp::UNIX_EPOCH;
    let stored = accepted.store(&store, now).unwrap();
    let narrow = host.for_tenant(&tenant("structure: {module_bytes: 100}")).unwrap();
    let error = bundle::load(&stored.path, &Expect::default(), &narrow).unwrap_err();
    assert_eq!(error.code(), "module_rejected", "{error}");
    let starved = host.for_tenant(&tenant("limits: {fuel_base: 10, fuel_per_byte: 0}")).unwrap();
    let loaded = bundle::load(&stored.path, &Expect::default(), &starved).unwrap();
    let mut runner = loaded.module().extractor().runner();
    assert_eq!(runner.run(EVENT.as_bytes()).unwrap_err().code(), "out_of_fuel");
}

/// No figure that a policy may give panics, overflows or reserves what it says ahead.
#[test]
fn the_largest_figures_of_a_policy_still_serve() {
    let mut most = json!({});
    for name in names(Limits::default()) {
        let text = format!("limits: {{{name}: {}}}", u64::MAX);
        most[&name] = match TenantPolicy::parse(&text, "policy.yaml") {
            Ok(_) => json!(u64::MAX),
            Err(TenantError::OutOfRange { most, .. }) => json!(most),
            Err(error) => panic!("{error}"),
        };
    }
    let structure: Value =
        names(StructuralLimits::default()).into_iter().map(|name| (name, u64::MAX)).collect();
    let text = json!({"limits": most, "structure": structure}).to_string();
    let policy = TenantPolicy::parse(&text, "policy.json").unwrap();
    let pipeline = Pipeline::builder().tenant(&policy).build().unwrap();
    let task = task();
    let accepted = pipeline.accept(PLAN, &task).unwrap();
    assert!(accepted.smoked().max_fuel() > 0);
}
