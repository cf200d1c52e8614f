//! A service with a configuration: tenants, tokens, and what is taken up while it runs.

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::Signal;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::compiled;
use super::fixture::{Answer, Service, eventually};
use crate::cli::project::{EVENTS, Project};
use crate::support::workspace_root;

const LIMITS: &str = "[limits]\ngrace_seconds = 1\nidle_seconds = 2\nheader_seconds = 1\n";

/// Two tenants, whose tokens are their names, and an administrator.
pub(super) fn config(more: &str) -> String {
    let tenant = |name: &str| {
        format!(
            "[tenants.{name}]\nbundles = [\"out\"]\ntoken_sha256 = [\"{}\"]\n",
            token_hash(name)
        )
    };
    let (acme, globex, admin) = (tenant("acme"), tenant("globex"), token_hash("root"));
    format!(
        "listen = \"127.0.0.1:0\"\nadmin_token_sha256 = \"{admin}\"\n{LIMITS}{acme}{globex}{more}"
    )
}

fn served(config: &str) -> (Project, Service) {
    let project = compiled();
    project.write("service.toml", config);
    let service = Service::start(&project, &["--config", "service.toml"]);
    (project, service)
}

/// What a configuration has of a token.
pub(super) fn token_hash(token: &str) -> String {
    Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

fn send(service: &Service, tenant: &str, token: &str) -> Answer {
    let path = format!("/v1/tenants/{tenant}/events");
    service.ask("POST", &path, &bearer(token), EVENTS.as_bytes())
}

#[test]
fn connections_without_a_request_keep_nobody_out() {
    let limits = config("").replace("header_seconds = 1", "header_seconds = 60\nconnections = 4");
    let (_project, service) = served(&limits);
    let mut sending = service.connect();
    let path = "/v1/tenants/acme/events";
    let chunked = format!("Transfer-Encoding: chunked\r\nConnection: close\r\n{}", bearer("acme"));
    sending.begin("POST", path, &chunked);
    let (first, rest) = EVENTS.split_once('\n').unwrap();
    sending.chunk(format!("{first}\n").as_bytes());
    sending.read_until("\"result\"");
    // One has brought a request and waits for the next one.
    let mut kept = service.connect();
    kept.begin("GET", "/healthz", "");
    kept.read_until("{\"ok\":true}");
    let idle: Vec<_> = (0..20)
        .map(|number| {
            let mut idle = service.connect();
            // Some have begun to send a head.
            if number % 2 == 0 {
                idle.stream.write_all(b"POST /v1/ten").unwrap();
            }
            idle
        })
        .collect();
    for name in ["acme", "globex"] {
        assert_eq!(send(&service, name, name).last()["summary"]["results"], 2);
    }
    // Those who asked are let be, as long as there are others.
    kept.begin("GET", "/healthz", "");
    kept.read_until("{\"ok\":true}");
    sending.chunk(rest.as_bytes());
    sending.last_chunk();
    sending.read_until("\"summary\"");
    drop(idle);
}

#[test]
fn a_tenant_has_so_many_requests_at_one_time() {
    let (_project, service) =
        served(&config("").replace("[limits]", "[limits]\nconcurrent_requests = 1"));
    let mut sending = service.connect();
    let chunked = format!("Transfer-Encoding: chunked\r\nConnection: close\r\n{}", bearer("acme"));
    sending.begin("POST", "/v1/tenants/acme/events", &chunked);
    sending.chunk(EVENTS.as_bytes());
    sending.read_until("\"result\"");
    let refused = send(&service, "acme", "acme");
    assert_eq!((refused.status, refused.code().as_str()), (429, "too_many_requests"));
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert_eq!(send(&service, "globex", "globex").status, 200);
    sending.last_chunk();
    sending.read_until("\"summary\"");
    eventually("the request isn't over", || {
        (send(&service, "acme", "acme").status == 200).then_some(())
    });
}

#[test]
fn what_is_no_event_is_paid_for_as_well() {
    let quotas = "[tenants.globex.quotas]\nbytes = 100000\n";
    let (_project, service) = served(&config(quotas));
    let blank = "\n".repeat(400_000);
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(blank.as_bytes()).unwrap();
    let gzip = format!("Content-Encoding: gzip\r\n{}", bearer("globex"));
    for (headers, body) in
        [(bearer("globex"), blank.into_bytes()), (gzip, packed.finish().unwrap())]
    {
        let began = Instant::now();
        let answer = service.ask("POST", "/v1/tenants/globex/events", &headers, &body);
        assert_eq!(answer.last()["summary"]["events"], 0, "{answer:?}");
        // A second's worth is there at the beginning, and the last piece is paid by whoever comes next.
        assert!(began.elapsed() > Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

/// An answer without what is another one each second.
pub(super) fn refused(answer: &Answer) -> (u16, String, String) {
    let head = answer.head.lines().filter(|line| !line.starts_with("date: "));
    (answer.status, head.collect::<Vec<_>>().join("\n"), answer.body.clone())
}

#[test]
fn each_tenant_has_what_is_its_own_and_nobody_learns_of_the_others() {
    let (_project, service) = served(&config(""));
    for name in ["acme", "globex"] {
        assert_eq!(send(&service, name, name).last()["summary"]["results"], 2);
    }
    let path = |tenant| format!("/v1/tenants/{tenant}/events");
    let none = refused(&service.ask("POST", &path("acme"), "", b""));
    assert_eq!(none.0, 401);
    assert!(none.1.contains("www-authenticate: Bearer"), "{}", none.1);
    for (tenant, headers) in [
        ("acme", bearer("globex")),
        ("acme", bearer("root")),
        ("acme", bearer("")),
        ("acme", "Authorization: Basic acme\r\n".to_owned()),
        ("acme", bearer("acme") + &bearer("acme")),
        ("nobody", bearer("acme")),
        ("nobody", bearer("nobody")),
        ("nobody", String::new()),
        ("%61cme%2f", bearer("acme")),
    ] {
        let answer = service.ask("POST", &path(tenant), &headers, b"");
        assert_eq!(refused(&answer), none, "{tenant} {headers}");
    }
    assert_eq!(refused(&service.get("/metrics", &bearer("acme"))), none);
    let metrics = service.get("/metrics", &bearer("root")).body;
    assert!(metrics.contains("retort_events_total{tenant=\"globex\"} 4"), "{metrics}");
    assert!(!service.log().contains("acme%2f"), "{}", service.log());
}

#[test]
fn a_configuration_that_changes_is_taken_up_and_a_broken_one_is_not() {
    let (project, service) = served(&config(""));
    let also = |name: &str| {
        format!(
            "[tenants.{name}]\nbundles = [\"out\"]\ntoken_sha256 = [\"{}\"]\n",
            token_hash(name)
        )
    };
    assert_eq!(send(&service, "initech", "initech").status, 401);
    project.write("service.toml", config(&also("initech")));
    eventually("it isn't taken up", || {
        (send(&service, "initech", "initech").status == 200).then_some(())
    });
    // Nothing of it is taken up, though most of it would do.
    project.write("service.toml", config("[tenants.hooli]\nbundels = [\"out\"]\n"));
    service.tell(Signal::HUP);
    let said = "service.toml:14:1: tenants.hooli.bundels: expected one of";
    service.wait_for(said);
    let ready = service.get("/readyz", "");
    let broken = json!({"ready": true, "config": {"ok": false, "code": "config_invalid"}});
    assert_eq!((ready.status, ready.json()), (200, broken));
    let metrics = service.get("/metrics", &bearer("root")).body;
    assert!(metrics.contains("\nretort_config_ok 0\n"), "{metrics}");
    assert_eq!(send(&service, "initech", "initech").status, 200);
    std::fs::remove_file(project.path("service.toml")).unwrap();
    service.wait_for("cannot read the configuration");
    assert_eq!(send(&service, "initech", "initech").status, 200);
    // A tenant that is left out is gone.
    project.write("service.toml", config(""));
    eventually("it isn't taken up", || {
        (send(&service, "initech", "initech").status == 401).then_some(())
    });
    assert_eq!(service.get("/readyz", "").json()["config"], json!({"ok": true}));
    assert_eq!(send(&service, "acme", "acme").last()["summary"]["results"], 2);
}

#[test]
fn a_reload_under_load_loses_nothing_and_doubles_nothing() {
    let (project, service) = served(&config(""));
    let body = EVENTS.lines().next().unwrap().to_owned() + "\n";
    let body = body.repeat(2_000);
    std::thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let path = "/v1/tenants/acme/events";
            service.ask("POST", path, &bearer("acme"), body.as_bytes())
        });
        for weight in 1..=10 {
            project.write("service.toml", config("") + &format!("weight = {weight}\n"));
            service.tell(Signal::HUP);
            std::thread::sleep(Duration::from_millis(20));
        }
        let lines = sending.join().unwrap().lines();
        let numbers: Vec<u64> = lines.iter().filter_map(|line| line["line"].as_u64()).collect();
        assert_eq!(numbers, (1..=2_000).collect::<Vec<_>>());
        assert_eq!(lines.last().unwrap()["summary"]["results"], 2_000);
    });
}

#[test]
fn a_tenants_policy_and_quotas_are_its_own() {
    let strict = "[tenants.strict]\nbundles = [\"out\"]\npolicy = \"strict.yaml\"\n";
    let slow = format!(
        "[tenants.slow]\nbundles = [\"out\"]\ntoken_sha256 = [\"{}\"]\n[tenants.slow.quotas]\nevents = 4\n",
        token_hash("slow")
    );
    let token = token_hash("strict");
    let project = compiled();
    project.write("strict.yaml", "limits: {event_bytes: 20}\n");
    project.write("service.toml", config(&format!("{strict}token_sha256 = [\"{token}\"]\n{slow}")));
    let service = Service::start(&project, &["--config", "service.toml"]);
    let answer = send(&service, "strict", "strict");
    assert_eq!(answer.lines()[0]["code"], "event_too_large", "{answer:?}");
    assert_eq!(answer.last()["summary"]["rejected"], 4);
    // The policy is a part of what is watched.
    project.write("strict.yaml", "limits: {event_bytes: 2000}\n");
    eventually("it isn't taken up", || {
        (send(&service, "strict", "strict").last()["summary"]["results"] == 2).then_some(())
    });
    let began = Instant::now();
    for _ in 0..3 {
        assert_eq!(send(&service, "slow", "slow").last()["summary"]["results"], 2);
    }
    assert!(began.elapsed() > Duration::from_secs(1), "{:?}", began.elapsed());
}

#[test]
fn clients_that_are_too_slow_are_cut_off() {
    let (_project, mut service) = served(&config(""));
    let mut silent = service.connect();
    silent.stream.write_all(b"POST /v1/ten").unwrap();
    let mut slow = service.connect();
    let chunked = format!("Transfer-Encoding: chunked\r\nConnection: close\r\n{}", bearer("acme"));
    slow.begin("POST", "/v1/tenants/acme/events", &chunked);
    slow.chunk(EVENTS.as_bytes());
    let lines = slow.answer().lines();
    let error = &lines.last().unwrap()["error"];
    assert_eq!((&error["code"], &error["line"]), (&json!("client_too_slow"), &json!(5)));
    assert_eq!(lines.len(), 3);
    let mut bytes = Vec::new();
    // It is closed, with or without a word.
    let _ = std::io::Read::read_to_end(&mut silent.stream, &mut bytes);
    let status = String::from_utf8_lossy(&bytes).into_owned();
    assert!(status.is_empty() || status.starts_with("HTTP/1.1 4"), "{status}");

    let mut large = service.connect();
    large.begin("GET", "/healthz", &format!("X: {}\r\n", "x".repeat(40_000)));
    let large = large.answer();
    assert_eq!((large.status, &*large.code()), (431, "headers_too_large"));

    // A request that goes on when the service is to end is answered as far as it was read.
    let mut open = service.connect();
    open.begin("POST", "/v1/tenants/acme/events", &chunked);
    open.chunk(EVENTS.as_bytes());
    open.read_until("{\"line\":2,");
    service.tell(Signal::TERM);
    open.read_until("{\"error\":{\"code\":\"service_ending\",");
    open.read_until("\"line\":5}}\n");
    assert_eq!(service.ended(), Some(0));
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_with_its_place() {
    let project = compiled();
    let hash = token_hash("x");
    let tenant = "[tenants.acme]\nbundles = [\"out\"]\n";
    for (text, said) in [
        (String::new(), "service.toml:1:1: expected the field `tenants`"),
        (format!("{tenant}listen = 1\n"), "service.toml:3:1: tenants.acme.listen: expected one of"),
        ("listen = 1\n[tenants]\n".to_owned(), "service.toml:1:10: listen: expected"),
        (
            format!("{tenant}token_sha256 = [\"secret\"]\n"),
            "service.toml:3:16: tenants.acme.token_sha256[0]: expected the SHA-256 of a token",
        ),
        (
            format!("{tenant}[tenants.acme.quotas]\nevents = 0\n"),
            "service.toml:4:10: tenants.acme.quotas.events: expected",
        ),
        (
            "[tenants.\"a/b\"]\nbundles = [\"out\"]\n".to_owned(),
            "expected a name of up to 64 letters",
        ),
        (
            "[tenants.acme]\nbundles = []\n".to_owned(),
            "service.toml: tenants.acme.bundles: expected a directory at least",
        ),
        (
            format!("{tenant}policy = \"no.yaml\"\n"),
            "service.toml: tenants.acme.policy: no.yaml: cannot read",
        ),
        (
            format!("[limits]\nheader_bytes = 1\n{tenant}"),
            "service.toml: limits.header_bytes: expected 8192 at least, found 1",
        ),
        (
            format!("admin_token_sha256 = \"{hash}\"\n{tenant}"),
            "service.toml: tenants.acme.token_sha256: expected a hash at least",
        ),
        (format!("listen = \"0.0.0.0:0\"\n{tenant}"), "error[listen_open]"),
        ("= 1".to_owned(), "service.toml:1:1: "),
    ] {
        project.write("service.toml", &text);
        let ended = project.retort(["serve", "--config", "service.toml"]);
        assert_eq!((ended.code, &*ended.stdout), (2, ""), "{text}\n{ended:?}");
        assert!(ended.stderr.contains(said), "{text}\n{said}\n{}", ended.stderr);
        assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
    }
}

#[test]
fn the_document_has_a_configuration_with_every_key() {
    let document = workspace_root().join("docs/serve.md");
    let document = std::fs::read_to_string(document).unwrap();
    let (_, rest) = document.split_once("```toml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let project = compiled();
    // With a certificate, which tests of their own have, it would be asked by TLS.
    let (before, tls) = text.split_once("[tls]").unwrap();
    let (_, after) = tls.split_once("\n\n").unwrap();
    project.write("service.toml", format!("{before}{after}"));
    std::fs::create_dir(project.path("policies")).unwrap();
    project.write("policies/acme.yaml", "limits: {deadline_ms: 200}\n");
    let args = ["--config", "service.toml", "--listen", "127.0.0.1:0"];
    let service = Service::start(&project, &args);
    assert_eq!(service.get("/readyz", "").status, 200);
    // What is misspelt is refused with all that is known.
    for (table, known) in [
        ("", "x = 1\n[tenants]"),
        ("limits", "[tenants]\n[limits]\nx = 1"),
        ("tls", "[tenants]\n[tls]\nx = 1"),
        ("acme", "[tenants.acme]\nbundles = [\"out\"]\nx = 1"),
        ("quotas", "[tenants.acme]\nbundles = [\"out\"]\nquotas = {x = 1}"),
        ("breaker", "[tenants.acme]\nbundles = [\"out\"]\nbreaker = {x = 1}"),
        ("promotion", "[tenants.acme]\nbundles = [\"out\"]\npromotion = {x = 1}"),
    ] {
        project.write("wrong.toml", known);
        let said = project.retort(["serve", "--config", "wrong.toml"]).stderr;
        let keys: Vec<&str> =
            said.split('`').skip(1).step_by(2).filter(|key| *key != "x").collect();
        assert!(keys.len() >= 2, "{table}: {said}");
        for key in keys {
            let is_there = text.lines().any(|line| {
                line.starts_with(&format!("{key} = "))
                    || line.starts_with(&format!("[{key}"))
                    || line.contains(&format!(".{key}]"))
            });
            assert!(is_there, "{table}.{key}: {said}");
        }
    }
}
