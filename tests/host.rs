//! A host of many tenants, as the program that embeds it has it.

mod fixture;

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use retort::bundle::{Digest, ExtractorName, Sharing};
use retort::graph::Extraction;
use retort::runtime::{
    By, Decision, Dispatched, Dispatcher, ExtractError, Host, Promotion, Quotas, ServeError,
    Tenant, TenantHandle, Wiring,
};
use retort::sandbox::Blame;
use retort::{Coded as _, Limits, Pipeline, Registry, Store};
use serde_json::{Value, json};

use crate::support::sandbox;
use fixture::{breaker, failing, fine, host, nodes, order, reading, stored};

#[test]
fn an_event_is_served_by_the_version_that_is_active() {
    let root = tempfile::tempdir().unwrap();
    let first = reading(root.path(), "order", "id");
    let (host, notices) = host();
    let acme = host.add("acme", Tenant::default().directory(root.path())).unwrap();
    let answer = acme.run(&order(7)).unwrap();
    assert_eq!(nodes(&answer), ["s:Order:key=7"]);
    assert_eq!(answer.event_type.as_deref(), Some("order"));
    let by = |version, decision| By::Version { name: "read".parse().unwrap(), version, decision };
    assert_eq!(answer.by, by(first, Decision::CompiledUnchanged));

    let second = reading(root.path(), "order", "other");
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(first));
    acme.refresh().unwrap();
    let answer = acme.run(&order(7)).unwrap();
    assert_eq!(
        (answer.version(), nodes(&answer)),
        (Some(second), vec!["s:Order:key=8".to_owned()])
    );
    Store::open(root.path())
        .unwrap()
        .roll_back(&"read".parse().unwrap(), jiff::Timestamp::UNIX_EPOCH, "test")
        .unwrap();
    acme.refresh().unwrap();
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(first));
    let told = [("begun", second), ("ended", first), ("begun", first), ("ended", second)];
    assert_eq!(notices.told("acme"), told);
    assert_eq!(acme.event_types(), [("order".into(), vec![first])]);

    let account = acme.account();
    assert_eq!((account.summary.events, account.summary.results), (4, 4));
    assert_eq!(account.summary.bytes, 4 * order(7).len() as u64);
    let by_version = |version: Digest| {
        let versions = acme.versions();
        let status = versions.into_iter().find(|it| it.version == version).unwrap();
        (status.is_active, status.account.summary.results)
    };
    assert_eq!((by_version(first), by_version(second)), ((true, 3), (false, 1)));
    assert!(account.summary.fuel > 0 && account.time > Duration::ZERO && account.result_bytes > 0);
}

#[test]
fn versions_that_a_host_may_serve_stay_and_others_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let (root, name) = (root.path(), "read".parse().unwrap());
    let [first, second, third] = ["id", "other", "third"].map(|it| reading(root, "order", it));
    let (host, notices) = host();
    let acme =
        host.add("acme", Tenant::default().directory(root).breaker(breaker(3, 5, 60_000))).unwrap();
    let store = Store::open(root).unwrap();
    let collect = || {
        let collected = store.collect(Some(0), false).unwrap();
        let digests = |paths: Vec<std::path::PathBuf>| -> Vec<Digest> {
            let names = paths.iter().map(|it| it.file_name().unwrap().to_str().unwrap());
            names.map(|it| it.parse().unwrap()).collect()
        };
        let mut removed = digests(collected.removed);
        removed.sort();
        (removed, digests(collected.in_use))
    };
    // The active one isn't loaded yet, and isn't the active one any more in a moment.
    let fourth = reading(root, "order", "fourth");
    let mut gone = vec![first, second];
    gone.sort();
    assert_eq!(collect(), (gone, vec![third]));
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(third));
    acme.refresh().unwrap();
    assert_eq!(collect(), (vec![third], vec![]));
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(fourth));

    // What stands in for one that is set aside may have the next event.
    let fails = failing(root, "order");
    acme.refresh().unwrap();
    while notices.told("acme").last().is_none_or(|it| it.0 != "set_aside") {
        assert!(acme.run(&order(7)).is_err());
    }
    assert_eq!(collect(), (vec![], vec![fourth]));
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(fourth));
    // And so may what runs beside another one.
    let beside = stored(root, "order", "id", "read", false);
    acme.shadow(&root.join(beside.to_string()), 1.0).unwrap();
    let mut held = vec![fourth, beside];
    held.sort();
    assert_eq!(collect(), (vec![], held));
    acme.end_shadow(&name).unwrap();
    acme.refresh().unwrap();
    let last = reading(root, "order", "last");
    acme.refresh().unwrap();
    let mut gone = vec![beside, fails, fourth];
    gone.sort();
    assert_eq!(collect(), (gone, vec![]));
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(last));

    // Whoever has a single bundle has it until they drop it.
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let bundle = retort::Bundle::open(root.join(last.to_string()), &pipeline).unwrap();
    drop(host);
    store.retire(&name, jiff::Timestamp::UNIX_EPOCH, "test").unwrap();
    assert_eq!(collect(), (vec![], vec![last]));
    drop(acme);
    drop(bundle);
    assert_eq!(collect(), (vec![last], vec![]));
}

#[test]
fn extractors_that_share_an_event_type_give_one_result() {
    let root = tempfile::tempdir().unwrap();
    let second = reading(root.path(), "order", "id");
    let store = Store::open(root.path()).unwrap();
    store.share(Sharing::Reject, jiff::Timestamp::UNIX_EPOCH).unwrap();
    let first = stored(root.path(), "order", "other", "also", true);
    let (host, _) = host();
    let acme = host.add("acme", Tenant::default().directory(root.path())).unwrap();
    assert_eq!(acme.event_types(), [("order".into(), vec![first, second])]);
    let answer = acme.run(&order(7)).unwrap();
    assert_eq!(nodes(&answer), ["s:Order:key=8", "s:Order:key=7"]);
    let versions = vec![("also".parse().unwrap(), first), ("read".parse().unwrap(), second)];
    let decision = Decision::CompiledUnchanged;
    assert_eq!(answer.by, By::Versions { versions, decision });
    let account = acme.account();
    assert_eq!((account.summary.events, account.summary.results), (1, 1));
    let versions = acme.versions();
    assert_eq!(versions.iter().map(|it| it.account.summary.results).sum::<u64>(), 2);

    // What runs beside one of them is compared with that one.
    let beside = stored(root.path(), "order", "id", "read", false);
    acme.shadow(&root.path().join(beside.to_string()), 1.0).unwrap();
    acme.run(&order(7)).unwrap();
    let (_, report) = acme.shadow_report(&"read".parse().unwrap()).unwrap();
    assert_eq!((report.events, report.same), (1, 1));

    // Where one of them fails, the event has no result, or the fallback's.
    failing(root.path(), "order");
    acme.refresh().unwrap();
    assert_eq!(acme.run(&order(7)).unwrap_err().code(), "unreachable");
    let fallback =
        Tenant::default().directory(root.path()).fallback("order", |_| Ok(Extraction::default()));
    acme.change(fallback).unwrap();
    let answer = acme.run(&order(7)).unwrap();
    assert_eq!(answer.by, By::Fallback { instead_of: Some("unreachable") });
    assert_eq!(nodes(&acme.run(&fine()).unwrap()), Vec::<String>::new());
}

#[test]
fn a_fallback_stands_in_for_extractors_that_share_an_event_type() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let store = Store::open(root.path()).unwrap();
    store.share(Sharing::Last, jiff::Timestamp::UNIX_EPOCH).unwrap();
    let first = stored(root.path(), "order", "other", "also", true);
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let extract = |event: &[u8]| {
        let registry = Registry::open(root.path(), &pipeline);
        let wiring = Wiring::default().with_fallback("order", |_: &[u8]| Ok(Extraction::default()));
        let mut extractors = wiring.over(&registry);
        let extracted = extractors.extract(event).unwrap();
        (extracted.decision(), extracted.into_extraction().unwrap().nodes.len())
    };
    assert_eq!(extract(&order(7)), (Some(Decision::CompiledUnchanged), 2));
    let registry = Registry::open(root.path(), &pipeline);
    let mut dispatcher = Dispatcher::new(&registry);
    let event = order(7);
    let Dispatched::Shared(shared) = dispatcher.dispatch(&event).unwrap() else { panic!() };
    assert_eq!((shared.event_type(), shared.parts()[0].bundle()), ("order", first));
    assert_eq!(shared.merged().unwrap().nodes.len(), 2);
    failing(root.path(), "order");
    assert_eq!(extract(&order(7)), (Some(Decision::FallbackForEvent), 0));
}

#[test]
fn whatever_an_event_is_the_next_one_is_served() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let (host, _) = host();
    let acme = host.add("acme", Tenant::default().directory(root.path())).unwrap();
    for (event, code) in [
        (&b"{"[..], "event_not_json"),
        (b"[]", "event_not_object"),
        (b"\xff", "event_not_utf8"),
        (br#"{"event_type": "order", "session_id": "s", "id": 7"#, "event_not_json"),
    ] {
        let error = acme.run(event).unwrap_err();
        assert_eq!((error.code(), error.blame()), (code, Blame::Event));
        assert_eq!(nodes(&acme.run(&order(7)).unwrap()), ["s:Order:key=7"]);
    }
    for (event, event_type) in [
        (&br#"{"event_type": "else"}"#[..], Some("else")),
        (br#"{"event_type": 7}"#, None),
        (br#"{"event_type": "order", "event_type": "else"}"#, Some("else")),
    ] {
        let answer = acme.run(event).unwrap();
        assert_eq!((answer.by, answer.event_type.as_deref()), (By::Nobody, event_type));
        assert!(answer.json.is_empty());
    }
    // Written with an escape, after a text that looks like a type.
    let escaped =
        br#"{"a": {"event_type": "else"}, "event_type": "\u006frder", "session_id": "s", "id": 3}"#;
    assert_eq!(nodes(&acme.run(escaped).unwrap()), ["s:Order:key=3"]);
    let summary = acme.account().summary;
    assert_eq!(
        (summary.events, summary.results, summary.unrouted, summary.rejected()),
        (12, 5, 3, 4)
    );
}

#[test]
fn a_fallback_has_what_a_version_fails_on() {
    let root = tempfile::tempdir().unwrap();
    failing(root.path(), "order");
    let (host, _) = host();
    let tenant = || Tenant::default().directory(root.path());
    let bare = host.add("bare", tenant()).unwrap();
    let error = bare.run(&order(7)).unwrap_err();
    assert_eq!((error.code(), error.blame()), ("unreachable", Blame::Extractor));
    assert!(matches!(error, ServeError::Run { event_type: Some(it), .. } if &*it == "order"));

    let native = tenant()
        .fallback("order", |event| match event.len() {
            0..100 => Ok(Extraction::default()),
            _ => Err(ExtractError::raised("too long for me")),
        })
        .fallback("else.*", |_| Ok(Extraction::default()));
    let native = host.add("native", native).unwrap();
    let answer = native.run(&order(7)).unwrap();
    assert_eq!(answer.by, By::Fallback { instead_of: Some("unreachable") });
    assert!(answer.extraction().unwrap().is_empty());
    let answer = native.run(br#"{"event_type": "else.where"}"#).unwrap();
    assert_eq!(answer.by, By::Fallback { instead_of: None });
    assert_eq!(answer.event_type.as_deref(), Some("else.where"));
    let long = format!(r#"{{"event_type": "order", "pad": "{}"}}"#, "x".repeat(100));
    assert_eq!(native.run(long.as_bytes()).unwrap_err().code(), "extractor_raised");
    assert_eq!((native.account().fallbacks, native.account().summary.rejected()), (2, 1));

    let other = tempfile::tempdir().unwrap();
    let version = reading(other.path(), "order", "id");
    let path = other.path().join(version.to_string());
    let bundled = host.add("bundled", tenant().fallback_bundle("order", path)).unwrap();
    assert_eq!(nodes(&bundled.run(&order(7)).unwrap()), ["s:Order:key=7"]);
}

#[test]
fn a_version_that_fails_is_set_aside_and_comes_back() {
    let root = tempfile::tempdir().unwrap();
    let good = reading(root.path(), "order", "id");
    // Fails on what has a key `bad`.
    let bad = failing(root.path(), "order");
    let (host, notices) = host();
    let tenant = Tenant::default().directory(root.path()).breaker(breaker(3, 10, 1_000));
    let acme = host.add("acme", tenant).unwrap();
    for _ in 0..3 {
        assert_eq!(acme.run(&order(7)).unwrap_err().code(), "unreachable");
    }
    let answer = acme.run(&order(7)).unwrap();
    assert_eq!((answer.version(), nodes(&answer)), (Some(good), vec!["s:Order:key=7".to_owned()]));
    assert_eq!(notices.told("acme"), [("set_aside", bad)]);
    let status = |version| acme.versions().into_iter().find(|it| it.version == version).unwrap();
    assert!(status(bad).set_aside.is_some_and(|left| left <= Duration::from_millis(1_000)));
    std::thread::sleep(Duration::from_millis(1_050));
    // One event tries it, in vain.
    assert_eq!(acme.run(&order(7)).unwrap_err().code(), "unreachable");
    assert_eq!(acme.run(&order(7)).unwrap().version(), Some(good));
    assert_eq!(notices.told("acme"), [("set_aside", bad), ("set_aside", bad)]);
    std::thread::sleep(Duration::from_millis(2_100));
    let fine = fixture::fine();
    let answers: Vec<Option<Digest>> = (0..5).map(|_| acme.run(&fine).unwrap().version()).collect();
    assert_eq!(answers, [Some(bad); 5]);
    assert_eq!(notices.told("acme").last(), Some(&("restored", bad)));
    assert_eq!(status(bad).set_aside, None);
}

#[test]
fn nothing_stands_in_for_the_only_version() {
    let root = tempfile::tempdir().unwrap();
    failing(root.path(), "order");
    let (host, _) = host();
    let tenant = || Tenant::default().directory(root.path()).breaker(breaker(2, 4, 60_000));
    let acme = host.add("acme", tenant()).unwrap();
    let codes: Vec<&str> = (0..4).map(|_| acme.run(&order(7)).unwrap_err().code()).collect();
    assert_eq!(codes, ["unreachable", "unreachable", "version_set_aside", "version_set_aside"]);
    // An event that is none says so all the same.
    assert_eq!(acme.run(br#"{"event_type": "order"#).unwrap_err().code(), "event_not_json");
    acme.change(tenant().fallback("order", |_| Ok(Extraction::default()))).unwrap();
    let answer = acme.run(&order(7)).unwrap();
    assert_eq!(answer.by, By::Fallback { instead_of: Some("version_set_aside") });
}

#[test]
fn a_bundle_that_is_altered_is_refused_and_told() {
    let root = tempfile::tempdir().unwrap();
    let version = reading(root.path(), "order", "id");
    let (host, notices) = host();
    let acme = host.add("acme", Tenant::default().directory(root.path())).unwrap();
    let path = root.path().join(version.to_string());
    std::fs::write(path.join("extractor.wasm"), b"\0asm").unwrap();
    let error = acme.run(&order(7)).unwrap_err();
    assert_eq!((error.code(), error.blame()), ("version_set_aside", Blame::Extractor));
    let told: Vec<_> = notices.told("acme").into_iter().map(|(what, _)| what).collect();
    assert_eq!(told, ["refused", "set_aside"]);
}

#[test]
fn quotas_are_refused_with_a_time_or_waited_for() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let (host, _) = host();
    let mut quotas = Quotas::default();
    quotas.events = NonZeroU64::new(5);
    let acme = host.add("acme", Tenant::default().directory(root.path()).quotas(quotas)).unwrap();
    let started = Instant::now();
    let refused = (0..).find_map(|_| acme.run(&order(7)).err()).unwrap();
    assert_eq!(refused.code(), "quota_exceeded");
    assert!(refused.is_refusal(), "{refused}");
    assert!(matches!(refused, ServeError::Quota { allowed: 5, retry_after: Some(_), .. }));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let answers = join_all((0..10).map(|_| acme.submit(order(7)))).await;
        assert!(answers.iter().all(Result::is_ok));
    });
    // At most a second's worth at once, and then so many a second.
    let served = acme.account().summary.events as f64;
    assert!(served <= 6.0 + 5.0 * started.elapsed().as_secs_f64(), "{served}");
    assert_eq!(acme.account().refused, 1);
}

#[test]
fn submitted_events_are_all_answered_and_those_given_up_are_not_run() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let (host, _) = host();
    let tenant = |queue| Tenant::default().directory(root.path()).queue_bytes(queue);
    let acme = host.add("acme", tenant(4 << 10)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let answers = runtime.block_on(join_all((0..200).map(|number| acme.submit(order(number)))));
    for (number, answer) in answers.into_iter().enumerate() {
        assert_eq!(nodes(&answer.unwrap()), [format!("s:Order:key={number}")]);
    }
    // What the first event takes of its quota is paid for minutes, in which the others are given up.
    let mut quotas = Quotas::default();
    quotas.fuel = NonZeroU64::new(1);
    let slow = host.add("slow", tenant(2 << 10).quotas(quotas)).unwrap();
    runtime.block_on(async {
        slow.submit(order(1)).await.unwrap();
        {
            let (one, two) = (Box::pin(slow.submit(order(2))), Box::pin(slow.submit(order(3))));
            let both = futures_util::future::select(one, two);
            let waited = tokio::time::timeout(Duration::from_millis(50), both);
            assert!(waited.await.is_err());
        }
        let (one, two) = (Box::pin(slow.submit(order(2))), Box::pin(slow.submit(order(3))));
        let mut both = futures_util::future::join(one, two);
        let filled = tokio::time::timeout(Duration::from_millis(50), Box::pin(&mut both)).await;
        assert!(filled.is_err());
        let full = slow.try_submit(order(4)).await.unwrap_err();
        assert_eq!(full.code(), "queue_full");
    });
    assert_eq!((slow.account().summary.events, slow.account().refused), (1, 1));
}

#[test]
fn a_version_beside_another_is_compared_and_promoted() {
    let root = tempfile::tempdir().unwrap();
    let first = reading(root.path(), "order", "id");
    let same = stored(root.path(), "order", "id", "read", false);
    let other = stored(root.path(), "order", "other", "read", false);
    let (host, _) = host();
    let acme = host.add("acme", Tenant::default().directory(root.path())).unwrap();
    let name: ExtractorName = "read".parse().unwrap();
    let run = |events| (0..events).for_each(|number| _ = acme.run(&order(number)).unwrap());
    acme.shadow(&root.path().join(other.to_string()), 0.5).unwrap();
    run(100);
    let (version, report) = acme.shadow_report(&name).unwrap();
    assert_eq!((version, report.events, report.same, report.different), (other, 50, 0, 50));
    let promotion = Promotion::new(50, 0.0, 0.0);
    let error = acme.promote(&name, &promotion).unwrap_err();
    assert_eq!(error.code(), "version_not_promoted");
    assert_ne!(same, first, "the limits tell them apart");
    acme.shadow(&root.path().join(same.to_string()), 1.0).unwrap();
    run(49);
    assert_eq!(acme.promote(&name, &promotion).unwrap_err().code(), "version_not_promoted");
    run(1);
    let switched = acme.promote(&name, &promotion).unwrap();
    assert_eq!((switched.before, switched.after), (vec![first], vec![same]));
    assert_eq!(acme.run(&order(1)).unwrap().version(), Some(same));
    assert_eq!(acme.end_shadow(&name).unwrap_err().code(), "not_served");
    // What ran beside was given to nobody.
    assert_eq!(acme.account().summary.results, 151);
    let unknown: ExtractorName = "else".parse().unwrap();
    assert_eq!(acme.shadow_report(&unknown).unwrap_err().code(), "not_served");
}

#[test]
fn what_is_not_used_is_given_up_where_memory_is_scarce() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..6 {
        stored(root.path(), &format!("order{number}"), "id", &format!("read{number}"), true);
    }
    let event = |number: u64| {
        json!({"event_type": format!("order{number}"), "session_id": "s", "id": 7}).to_string()
    };
    let (host, notices) = host();
    let free = host.add("free", Tenant::default().directory(root.path())).unwrap();
    for number in 0..6 {
        free.run(event(number).as_bytes()).unwrap();
    }
    let each = free.resident_bytes() / 6;
    assert!(each > 1_000, "{each}");
    let mut quotas = Quotas::default();
    quotas.resident_bytes = NonZeroU64::new(each * 3);
    let scarce =
        host.add("scarce", Tenant::default().directory(root.path()).quotas(quotas)).unwrap();
    for number in (0..6).cycle().take(24) {
        let answer = scarce.run(event(number).as_bytes()).unwrap();
        assert_eq!(nodes(&answer), ["s:Order:key=7"]);
        assert!(scarce.resident_bytes() <= each * 3);
    }
    assert!(notices.told("scarce").iter().any(|(what, _)| *what == "unloaded"));
    assert!(notices.told("free").is_empty());
    host.remove("scarce").unwrap();
    assert_eq!(host.resident_bytes(), free.resident_bytes());
}

#[test]
fn what_takes_the_place_of_a_loaded_version_is_loaded_before_it_does() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let (host, _) = host();
    let [used, unused] = ["used", "unused"]
        .map(|it| host.add(it, Tenant::default().directory(root.path())).unwrap());
    used.run(&order(7)).unwrap();
    let second = reading(root.path(), "order", "other");
    let is_loaded = |tenant: &TenantHandle| {
        tenant.refresh().unwrap();
        let mut versions = tenant.versions().into_iter();
        let of = versions.find(|it| it.version == second && it.is_active).unwrap();
        assert_eq!(of.account.summary.events, 0);
        of.resident_bytes > 0
    };
    assert!(is_loaded(&used));
    // What nobody has asked for isn't loaded.
    assert!(!is_loaded(&unused));
}

#[test]
fn tenants_come_and_go() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let (host, _) = host();
    let tenant = || Tenant::default().directory(root.path());
    let acme = host.add("acme", tenant()).unwrap();
    assert_eq!(host.add("acme", tenant()).unwrap_err().code(), "tenant_exists");
    assert_eq!(host.tenant("else").unwrap_err().code(), "tenant_unknown");
    host.add("beta", Tenant::default()).unwrap();
    let names: Vec<String> = host.tenants().iter().map(|it| it.name().to_owned()).collect();
    assert_eq!(names, ["acme", "beta"]);
    assert_eq!(host.tenant("beta").unwrap().run(&order(7)).unwrap().by, By::Nobody);

    acme.run(&order(7)).unwrap();
    let strict = retort::TenantPolicy::parse("limits: {event_bytes: 20}", "acme.yaml").unwrap();
    acme.change(tenant().policy(strict)).unwrap();
    assert_eq!(acme.run(&order(7)).unwrap_err().code(), "event_too_large");
    let other = retort::TenantPolicy::parse("limits: {stack_bytes: 65536}", "acme.yaml").unwrap();
    assert_eq!(acme.change(tenant().policy(other)).unwrap_err().code(), "engine_failed");
    acme.change(tenant()).unwrap();
    acme.run(&order(7)).unwrap();

    assert_eq!(host.remove("acme").unwrap().summary.results, 2);
    assert_eq!(acme.run(&order(7)).unwrap_err().code(), "tenant_gone");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let gone = runtime.block_on(acme.submit(order(7))).unwrap_err();
    assert_eq!(gone.code(), "tenant_gone");
    assert_eq!(host.remove("acme").unwrap_err().code(), "tenant_unknown");
    let beta = host.tenant("beta").unwrap();
    drop(host);
    assert_eq!(beta.run(&order(7)).unwrap_err().code(), "tenant_gone");
}

#[test]
fn a_host_that_is_closed_serves_what_waits() {
    let root = tempfile::tempdir().unwrap();
    reading(root.path(), "order", "id");
    let (host, _) = host();
    let acme = host.add("acme", Tenant::default().directory(root.path())).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let answers: Vec<_> = (0..64)
        .map(|number| {
            let acme = acme.clone();
            runtime.spawn(async move { acme.submit(order(number)).await })
        })
        .collect();
    while acme.account().summary.events == 0 {
        std::thread::yield_now();
    }
    host.close();
    let answers = runtime.block_on(join_all(answers));
    let (served, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().map(Result::unwrap).partition(Result::is_ok);
    assert_eq!(served.len() as u64, acme.account().summary.events);
    assert!(refused.into_iter().all(|it| it.is_err_and(|error| error.code() == "tenant_gone")));
}

#[test]
fn tenants_of_one_host_serve_on_many_threads_while_versions_change() {
    let root = tempfile::tempdir().unwrap();
    let versions = [reading(root.path(), "order", "id"), reading(root.path(), "order", "other")];
    let (host, _) = host();
    let handles: Vec<TenantHandle> = ["one", "two"]
        .map(|name| host.add(name, Tenant::default().directory(root.path())).unwrap())
        .into();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for handle in handles.iter().cycle().take(4) {
            let is_over = &is_over;
            scope.spawn(move || {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    let answer = handle.run(&order(7)).unwrap();
                    let expected = if answer.version() == Some(versions[0]) { 7 } else { 8 };
                    assert_eq!(nodes(&answer), [format!("s:Order:key={expected}")]);
                }
            });
        }
        let store = Store::open(root.path()).unwrap();
        let name: ExtractorName = "read".parse().unwrap();
        for turn in 0..20 {
            let version = versions[turn % 2].to_string();
            store.activate(&name, &version, jiff::Timestamp::UNIX_EPOCH, "test").unwrap();
            handles.iter().for_each(|handle| handle.refresh().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    for handle in &handles {
        assert_eq!(handle.account().summary.rejected(), 0);
    }
}
