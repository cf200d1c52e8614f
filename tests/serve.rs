//! The service, as clients have it.

mod bundles;
mod fixture;
mod fleet;
mod kills;
mod openapi;
mod tenants;
mod tls;

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::process::Signal;
use serde_json::json;

use crate::cli::project::{EVENTS, PLAN, Project};
use fixture::{EVENTS_PATH, Service, eventually};

/// Events of which each comes to something else.
fn mixed() -> String {
    format!("{EVENTS}[]\n{{\"event_type\":\"order_placed\",\n\n{}", EVENTS.trim_end())
}

/// A project whose bundles are there.
fn compiled() -> Project {
    let project = Project::new();
    project.compile();
    project
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn an_answer_is_what_run_writes_and_a_summary() {
    let project = compiled();
    let service = Service::of(&project);
    project.write("mixed.ndjson", mixed());
    let run = project.retort(["run", "--bundles", "out", "mixed.ndjson", "--rejects", "rejects"]);
    let rejects = std::fs::read_to_string(project.path("rejects")).unwrap();
    let mut expected: Vec<&str> = run.stdout.lines().chain(rejects.lines()).collect();
    let number = |line: &&str| {
        serde_json::from_str::<serde_json::Value>(line).unwrap()["line"].as_u64().unwrap()
    };
    expected.sort_by_key(number);
    assert_eq!(expected.len(), 6);
    let summary = r#"{"summary":{"events":10,"results":4,"empty":2,"unrouted":2,"rejected":2}}"#;
    expected.push(summary);
    for (headers, body) in
        [("", mixed().into_bytes()), ("Content-Encoding: gzip\r\n", gzip(mixed().as_bytes()))]
    {
        let answer = service.events(headers, &body);
        assert_eq!(answer.status, 200);
        assert!(answer.head.contains("content-type: application/x-ndjson"), "{}", answer.head);
        assert_eq!(answer.body.lines().collect::<Vec<_>>(), expected, "{headers}");
    }
    assert_eq!(service.events("", b"").last()["summary"]["events"], 0);
}

#[test]
fn an_answer_to_a_part_of_a_request_says_so() {
    let project = compiled();
    let service = Service::of(&project);
    let packed = gzip(mixed().repeat(200).as_bytes());
    let gzip = "Content-Encoding: gzip\r\n";
    let cut = service.events(gzip, &packed[..packed.len() - 20]).last();
    assert_eq!(cut["error"]["code"], "request_cut_off", "{cut}");
    let mut altered = packed.clone();
    let at = altered.len() - 6;
    altered[at] ^= 1;
    let corrupt = service.events(gzip, &altered).last();
    assert_eq!(corrupt["error"]["code"], "request_corrupt", "{corrupt}");
    let corrupt = service.events("Content-Encoding: zstd\r\n", EVENTS.as_bytes()).last();
    assert_eq!(
        (&corrupt["error"]["code"], &corrupt["error"]["line"]),
        (&json!("request_corrupt"), &json!(0))
    );

    // As it is: the last line isn't known to be whole, and isn't served.
    let mut client = service.connect();
    let body = EVENTS.trim_end();
    let length = format!("Content-Length: {}\r\nConnection: close\r\n", body.len() + 10);
    client.begin("POST", EVENTS_PATH, &length);
    client.stream.write_all(body.as_bytes()).unwrap();
    client.shut_down();
    let lines = client.answer().lines();
    let error = &lines.last().unwrap()["error"];
    assert_eq!((&error["code"], &error["line"]), (&json!("request_cut_off"), &json!(4)));
    assert_eq!(lines.len(), 3, "two results: {lines:?}");

    let refused = service.events("Content-Encoding: br\r\n", b"");
    assert_eq!((refused.status, refused.code()), (415, "encoding_unknown".to_owned()));
}

#[test]
fn results_come_while_events_are_sent() {
    let project = compiled();
    let service = Service::of(&project);
    let mut client = service.connect();
    client.begin_events("");
    for number in 1..=3 {
        client.chunk(br#"{"event_type":"order_placed","session_id":"s1","#);
        client.chunk(b"\"content\":{\"id\":\"o1\"}}\n");
        client.read_until(&format!("{{\"line\":{number},"));
        client.read_until("}]}\n".trim_start_matches("}]}"));
    }
    client.last_chunk();
    client.read_until("{\"summary\":{\"events\":3,\"results\":3,");
}

#[test]
fn who_does_not_read_is_not_read_from() {
    let project = compiled();
    let service = Service::of(&project);
    let mut client = service.connect();
    client.begin_events("");
    client.stream.set_write_timeout(Some(Duration::from_secs(3))).unwrap();
    let events = EVENTS.lines().next().unwrap().to_owned() + "\n";
    let chunk = events.repeat(600);
    let framed = format!("{:x}\r\n{chunk}\r\n", chunk.len());
    let mut sent = 0;
    while client.stream.write_all(framed.as_bytes()).is_ok() {
        sent += framed.len();
        assert!(sent < 200 << 20, "it reads on");
    }
    // Others are served meanwhile.
    assert_eq!(service.events("", EVENTS.as_bytes()).last()["summary"]["events"], 4);
}

#[test]
fn what_was_accepted_is_answered_at_the_end() {
    let project = compiled();
    let mut service = Service::of(&project);
    let mut client = service.connect();
    client.begin_events("");
    client.chunk(EVENTS.as_bytes());
    client.read_until("{\"line\":2,");
    let idle = service.connect();
    service.tell(Signal::TERM);
    service.wait_for("ending");
    assert!(std::net::TcpStream::connect(&service.address).is_err(), "it takes connections");
    client.chunk(EVENTS.as_bytes());
    client.last_chunk();
    client.read_until("{\"summary\":{\"events\":8,\"results\":4,");
    drop(client);
    assert_eq!(service.ended(), Some(0), "{}", service.log());
    drop(idle);
}

#[test]
fn what_is_activated_is_served() {
    let project = compiled();
    let service = Service::of(&project);
    let before = service.events("", EVENTS.as_bytes()).lines()[0]["bundle"].clone();
    project.write("plan.json", PLAN.replace("[\"span_id\"]", "[\"session_id\"]"));
    project.compile();
    let after = eventually("the same is served", || {
        let found = service.events("", EVENTS.as_bytes()).lines()[0]["bundle"].clone();
        (found != before).then_some(found)
    });
    assert_eq!(project.retort(["bundles", "rollback", "out", "read_order"]).code, 0);
    eventually("the same is served", || {
        let found = service.events("", EVENTS.as_bytes()).lines()[0]["bundle"].clone();
        assert!(found == before || found == after, "{found}");
        (found == before).then_some(())
    });
}

#[test]
fn those_who_look_after_it_are_told() {
    let project = compiled();
    let service = Service::of(&project);
    service.events("", mixed().as_bytes());
    assert_eq!(service.get("/healthz", "").json(), json!({"ok": true}));
    assert_eq!(service.get("/readyz", "").json(), json!({"ready": true, "config": {"ok": true}}));
    // A connection counts until its end is noticed, which may be after its answer was read.
    let metrics = eventually("no other connection is open", || {
        let metrics = service.get("/metrics", "").body;
        metrics.lines().any(|line| line == "retort_connections 1").then_some(metrics)
    });
    for line in [
        "retort_events_total{tenant=\"default\"} 10",
        "retort_results_total{tenant=\"default\"} 4",
        "retort_rejects_total{tenant=\"default\",code=\"event_not_object\"} 1",
        "retort_answers_total{end=\"complete\"} 1",
        "retort_requests_total{route=\"/v1/tenants/{tenant}/events\",method=\"POST\",status=\"200\"} 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    for (method, path, status, code) in [
        ("GET", "/", 404, "path_unknown"),
        ("GET", EVENTS_PATH, 405, "method_unknown"),
        ("POST", "/v1/tenants/else/events", 404, "tenant_unknown"),
    ] {
        let refused = service.ask(method, path, "", b"");
        assert_eq!((refused.status, &*refused.code()), (status, code), "{path}");
    }
}

#[test]
fn no_web_page_uses_a_service_without_tokens() {
    let project = compiled();
    let service = Service::of(&project);
    for headers in ["Origin: http://localhost\r\n", "Host: evil.example\r\n"] {
        for answer in [service.events(headers, EVENTS.as_bytes()), service.get("/metrics", headers)]
        {
            assert_eq!((answer.status, &*answer.code()), (403, "cross_origin"), "{headers}");
        }
    }
}

#[test]
fn it_says_what_it_needs() {
    let project = Project::new();
    let service = Service::start(&project, &["--log", "json"]);
    service.wait_for("note: send events: curl");
    service.wait_for("bundles by HTTP: --config FILE");
    assert!(service.log().contains("`retort compile` makes it"), "{}", service.log());
    // What comes later is taken up.
    project.write(
        "retort.toml",
        "plan = \"plan.json\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\n",
    );
    project.compile();
    let began = Instant::now();
    eventually("nothing is served", || {
        let summary = service.events("", EVENTS.as_bytes()).last();
        (summary["summary"]["results"] == 2).then_some(())
    });
    assert!(began.elapsed() < Duration::from_secs(30));
    let told = service.log();
    let json = told.lines().find(|line| line.starts_with('{')).unwrap();
    let line: serde_json::Value = serde_json::from_str(json).unwrap();
    assert!(line["level"].is_string() && line["message"].is_string(), "{line}");

    for (args, said) in [
        (
            &["--listen", "0.0.0.0:0", "--bundles", "bundles"][..],
            "error[listen_open]: expected a loopback address",
        ),
        (
            &["--listen", &service.address, "--bundles", "bundles"],
            "error[listen_failed]: cannot listen on",
        ),
        (
            &["--bundles", "nowhere"],
            "error[file_not_found]: nowhere: expected a directory of bundles",
        ),
    ] {
        let ended = project.retort(["serve"].iter().chain(args).copied());
        assert_eq!((ended.code, &*ended.stdout), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(said), "{ended:?}");
    }
}
