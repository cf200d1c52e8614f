//! The description of the routes, held to what the service answers: every route, method, status and code of it is provoked, each
//! answer is one that it has, and so is each example.

mod bundles;
mod described;

use std::fs;
use std::io::Write;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use self::described::{Described, Operation};
use super::bundles::{Managed, config, two_versions};
use super::fixture::{Answer, Service, eventually};
use super::tenants::bearer;
use crate::cli::project::{PLAN, Project};

/// The operations that read a body as a whole.
const WITH_BODIES: [&str; 3] = ["upload_bundle", "activate_version", "begin_shadow"];

/// The operations that take nothing but what may be known by everybody.
const PUBLIC: [&str; 3] = ["health", "ready", "describe"];

/// A description, and what of it was seen.
struct Seen<'a> {
    described: &'a Described,
    found: Vec<(String, u16, Option<String>)>,
}

impl Seen<'_> {
    /// Asks as an operation is described, with a body or its example.
    fn ask(
        &mut self,
        service: &Service,
        operation: &Operation,
        headers: &str,
        body: &[u8],
    ) -> Answer {
        let answer = service.ask(&operation.method, &operation.path, headers, body);
        self.note(operation, &answer);
        answer
    }

    fn note(&mut self, operation: &Operation, answer: &Answer) {
        let code = operation.check(answer);
        self.found.push((operation.name.clone(), answer.status, code));
    }

    /// Asks, and expects this.
    fn expect(
        &mut self,
        service: &Service,
        name: &str,
        headers: &str,
        body: &[u8],
        (status, code): (u16, &str),
    ) -> Answer {
        let answer = self.ask(service, &self.described.operation(name), headers, body);
        let found = if answer.status < 300 { String::new() } else { answer.code() };
        assert_eq!((answer.status, &*found), (status, code), "{name}: {answer:?}");
        answer
    }
}

/// The token that an operation takes.
fn right(operation: &str) -> String {
    bearer(if operation == "send_events" { "acme" } else { "root" })
}

#[test]
fn the_description_is_what_the_service_does() {
    let managed = Managed::new();
    let described = Described::of(&managed.service);
    let mut seen = Seen { described: &described, found: Vec::new() };
    what_goes_well(&mut seen, &managed);
    what_is_wrong_with_requests(&mut seen, &managed);
    what_is_not_there(&mut seen, &managed);
    who_may_not(&mut seen);
    what_is_too_much(&mut seen);
    what_gates_refuse(&mut seen);
    what_directories_are_in_the_way_of(&mut seen);
    what_ends(&mut seen);
    seen.found.sort();
    seen.found.dedup();
    assert_eq!(seen.found, described.all(), "what was seen, and what is described");
}

fn what_goes_well(seen: &mut Seen<'_>, managed: &Managed) {
    let service = &managed.service;
    let [first, second] = &managed.versions;
    for name in ["health", "ready", "describe", "metrics"] {
        seen.expect(service, name, &right(name), b"", (200, ""));
    }
    for (bundle, status) in [(first, 201), (second, 201), (first, 200)] {
        seen.expect(service, "upload_bundle", &bearer("acme"), &bundle.tar, (status, ""));
    }
    // The examples of bodies have the right form, and name a version that isn't there.
    for name in ["activate_version", "begin_shadow"] {
        let example = seen.described.operation(name).example.clone().unwrap().to_string();
        seen.expect(service, name, &bearer("acme"), example.as_bytes(), (404, "version_unknown"));
    }
    let events = seen.described.operation("send_events").example.clone().unwrap();
    let events = events.as_str().unwrap().to_owned();
    let unrouted =
        seen.expect(service, "send_events", &bearer("acme"), events.as_bytes(), (200, ""));
    assert_eq!(
        unrouted.last(),
        json!({"summary": {"events": 1, "results": 0, "empty": 0, "unrouted": 1, "rejected": 0}})
    );
    let activate = |bundle: &str| json!({"version": bundle, "replace": false}).to_string();
    let shadow = json!({"version": second.version, "share": 0.5}).to_string();
    for (name, body) in [
        ("activate_version", activate(&first.version)),
        ("list_bundles", String::new()),
        ("show_extractor", String::new()),
        ("begin_shadow", shadow),
        ("read_shadow", String::new()),
    ] {
        seen.expect(service, name, &bearer("acme"), body.as_bytes(), (200, ""));
    }
    let early = (409, "version_not_promoted");
    seen.expect(service, "promote_shadow", &bearer("acme"), b"", early);
    seen.expect(service, "end_shadow", &bearer("acme"), b"", (200, ""));
    seen.expect(
        service,
        "activate_version",
        &bearer("acme"),
        activate(&second.version).as_bytes(),
        (200, ""),
    );
    seen.expect(service, "roll_back", &bearer("acme"), b"", (200, ""));
    seen.expect(service, "roll_back", &bearer("acme"), b"", (409, "no_earlier_version"));
    seen.expect(service, "retire", &bearer("acme"), b"", (200, ""));
    let unserved = json!({"version": first.version, "share": 1}).to_string();
    seen.expect(service, "begin_shadow", &bearer("acme"), unserved.as_bytes(), (404, "not_served"));
    promoted(seen);
}

/// A service whose versions are promoted whatever they did, with the first active and the second beside it.
fn shadowed(seen: &mut Seen<'_>) -> Managed {
    let managed = Managed::with(
        "",
        "[tenants.acme.promotion]\nleast_events = 0\nmost_different = 1.0\nmost_failed = 1.0\n",
    );
    assert_eq!(
        [managed.upload(0).status, managed.upload(1).status, managed.activate(0).status],
        [201, 201, 200]
    );
    let body = json!({"version": managed.versions[1].version, "share": 1}).to_string();
    seen.expect(&managed.service, "begin_shadow", &bearer("acme"), body.as_bytes(), (200, ""));
    managed
}

fn promoted(seen: &mut Seen<'_>) {
    let managed = shadowed(seen);
    seen.expect(&managed.service, "promote_shadow", &bearer("acme"), b"", (200, ""));
}

fn what_is_wrong_with_requests(seen: &mut Seen<'_>, managed: &Managed) {
    let service = &managed.service;
    let large = format!("X: {}\r\n", "x".repeat(36_000));
    for operation in seen.described.operations() {
        let headers = right(&operation.name) + &large;
        seen.expect(service, &operation.name, &headers, b"", (431, "headers_too_large"));
    }
    let packed = |how: &str| format!("{}Content-Encoding: {how}\r\n", bearer("acme"));
    for name in WITH_BODIES {
        seen.expect(service, name, &packed("gzip"), b"what is no gzip", (400, "request_corrupt"));
        seen.expect(service, name, &packed("br"), b"{}", (415, "encoding_unknown"));
        let operation = seen.described.operation(name);
        let mut client = service.connect();
        let length = format!("{}Content-Length: 100\r\nConnection: close\r\n", bearer("acme"));
        client.begin(&operation.method, &operation.path, &length);
        client.stream.write_all(b"{").unwrap();
        client.shut_down();
        let answer = client.answer();
        assert_eq!((answer.status, &*answer.code()), (400, "request_cut_off"));
        seen.note(&operation, &answer);
    }
    seen.expect(service, "send_events", &packed("br"), b"{}", (415, "encoding_unknown"));
    for name in ["activate_version", "begin_shadow"] {
        seen.expect(service, name, &bearer("acme"), b"{}", (400, "request_invalid"));
        let large = vec![b' '; 70_000];
        seen.expect(service, name, &bearer("acme"), &large, (413, "request_too_large"));
    }
    seen.expect(service, "upload_bundle", &bearer("acme"), b"{}", (400, "upload_invalid"));

    let slow = Managed::with("upload_bytes = 2000\nupload_seconds = 1\nidle_seconds = 1\n", "");
    let tar = &slow.versions[0].tar;
    seen.expect(&slow.service, "upload_bundle", &bearer("acme"), tar, (413, "request_too_large"));
    for name in WITH_BODIES {
        let operation = seen.described.operation(name);
        let mut client = slow.service.connect();
        let length = format!("{}Content-Length: 100\r\nConnection: close\r\n", bearer("acme"));
        client.begin(&operation.method, &operation.path, &length);
        let answer = client.answer();
        assert_eq!((answer.status, &*answer.code()), (408, "client_too_slow"));
        seen.note(&operation, &answer);
    }
}

fn what_is_not_there(seen: &mut Seen<'_>, managed: &Managed) {
    let service = &managed.service;
    for operation in seen.described.operations() {
        let name = &*operation.name;
        if operation.path.contains("read_order") {
            let other = operation.of_extractor("..");
            let body = operation.example.as_ref().map(Value::to_string).unwrap_or_default();
            let answer = seen.ask(service, &other, &bearer("acme"), body.as_bytes());
            assert_eq!(
                (answer.status, &*answer.code()),
                (404, "name_unknown"),
                "{name}: {answer:?}"
            );
        }
        if matches!(name, "read_shadow" | "end_shadow" | "promote_shadow") {
            seen.expect(service, name, &bearer("acme"), b"", (404, "not_served"));
        }
    }
    // What was active before is gone.
    let [first, second] = &managed.versions;
    let activate = |bundle: &str| json!({"version": bundle}).to_string();
    for version in [&first.version, &second.version] {
        seen.expect(
            service,
            "activate_version",
            &bearer("acme"),
            activate(version).as_bytes(),
            (200, ""),
        );
    }
    fs::remove_dir_all(managed.project.path(&format!("acme/{}", first.version))).unwrap();
    seen.expect(service, "roll_back", &bearer("acme"), b"", (409, "version_missing"));
    let removed = shadowed(seen);
    fs::remove_dir_all(removed.project.path(&format!("acme/{}", second.version))).unwrap();
    seen.expect(&removed.service, "promote_shadow", &bearer("acme"), b"", (404, "version_unknown"));

    // Another extractor has the event type.
    let taken = shadowed(seen);
    taken.project.write("plan.json", PLAN.replace("read_order", "read_more"));
    let other = taken.project.retort(["compile", "--no-activate"]).stdout;
    let tar = super::bundles::archive::tar_of(Path::new(&taken.project.path(other.trim())), "");
    assert_eq!(taken.ask("POST", "bundles", &tar).status, 201);
    let body = json!({"version": other.trim().rsplit('/').next(), "replace": true}).to_string();
    assert_eq!(taken.ask("POST", "bundles/read_more/activate", body.as_bytes()).status, 200);
    let conflict = (409, "event_type_taken");
    let body = activate(&first.version);
    seen.expect(&taken.service, "activate_version", &bearer("acme"), body.as_bytes(), conflict);
    seen.expect(&taken.service, "promote_shadow", &bearer("acme"), b"", conflict);
    seen.expect(&taken.service, "roll_back", &bearer("acme"), b"", conflict);
}

fn who_may_not(seen: &mut Seen<'_>) {
    let project = Project::new();
    project.write("open.toml", "listen = \"127.0.0.1:0\"\n[tenants.acme]\nbundles = [\"out\"]\n");
    let open = Service::start(&project, &["--config", "open.toml"]);
    project.write("none.toml", "listen = \"127.0.0.1:0\"\n[tenants.other]\nbundles = [\"out\"]\n");
    let none = Service::start(&project, &["--config", "none.toml"]);
    project.write("tokens.toml", config("", ""));
    let tokens = Service::start(&project, &["--config", "tokens.toml"]);
    for operation in seen.described.operations() {
        let name = &*operation.name;
        if PUBLIC.contains(&name) {
            continue;
        }
        seen.expect(&tokens, name, "", b"", (401, "unauthorized"));
        let page = "Origin: http://localhost\r\n";
        seen.expect(&open, name, page, b"", (403, "cross_origin"));
        if operation.path.contains("acme") {
            seen.expect(&none, name, "", b"", (404, "tenant_unknown"));
        }
        if operation.method != "GET" && name != "send_events" {
            seen.expect(&open, name, "", b"", (403, "management_off"));
        }
    }
}

fn what_is_too_much(seen: &mut Seen<'_>) {
    let project = Project::new();
    project.write("service.toml", config("address_requests = 1\n", ""));
    let service = Service::start(&project, &["--config", "service.toml"]);
    for operation in seen.described.operations() {
        let name = operation.name.clone();
        if matches!(&*name, "health" | "ready") {
            continue;
        }
        eventually("there are never too many", || {
            let answer = service.ask(&operation.method, &operation.path, &right(&name), b"");
            (answer.status == 429).then(|| seen.note(&operation, &answer))
        });
    }
}

fn what_gates_refuse(seen: &mut Seen<'_>) {
    let project = Project::new();
    let versions = two_versions(&project);
    project.write("service.toml", config("", "policy = \"policy.yaml\"\n"));
    // What isn't rendered here is compiled by a process of its own, which has no time for it.
    project.write("policy.yaml", "limits: {compile_ms: 1}\n");
    let service = Service::start(&project, &["--config", "service.toml"]);
    let made = bundles::refused(&project, Path::new(&versions[0].path));
    let ask = |seen: &mut Seen<'_>, body: &[u8], refusal| {
        seen.expect(&service, "upload_bundle", &bearer("acme"), body, refusal);
    };
    for (code, bundle) in &made {
        ask(seen, &bundle.tar, (422, code));
    }
    let large = bundles::changed(&versions[0], "limits.json", &vec![b' '; 70_000]);
    ask(seen, &large, (422, "bundle_too_large"));
    let unreadable = bundles::changed(&versions[0], "manifest.json", b"{}");
    ask(seen, &unreadable, (422, "manifest_unreadable"));

    // Where they lie in the directory all the same, they run beside nothing.
    assert_eq!(
        service.ask("POST", "/v1/tenants/acme/bundles", &bearer("acme"), &versions[1].tar).status,
        201
    );
    let body = json!({"version": versions[1].version}).to_string();
    seen.expect(&service, "activate_version", &bearer("acme"), body.as_bytes(), (200, ""));
    for (code, bundle) in &made {
        let to = project.path(&format!("acme/{}", bundle.version));
        bundles::copy(Path::new(&bundle.path), Path::new(&to));
        let body = json!({"version": bundle.version, "share": 1}).to_string();
        seen.expect(&service, "begin_shadow", &bearer("acme"), body.as_bytes(), (422, code));
        fs::remove_dir_all(to).unwrap();
    }
}

fn what_directories_are_in_the_way_of(seen: &mut Seen<'_>) {
    let managed = shadowed(seen);
    let root = managed.project.path("acme");
    let record = fs::read(format!("{root}/.active.json")).unwrap();
    let first = json!({"version": managed.versions[0].version}).to_string();
    let shadow = json!({"version": managed.versions[0].version, "share": 1}).to_string();
    for code in ["activation_record_invalid", "bundle_write_failed"] {
        match code {
            "bundle_write_failed" => {
                fs::write(format!("{root}/.active.json"), &record).unwrap();
                fs::rename(&root, format!("{root}.away")).unwrap();
                fs::write(&root, "no directory").unwrap();
            }
            _ => fs::write(format!("{root}/.active.json"), "{}").unwrap(),
        }
        for (name, body) in [
            ("list_bundles", &b""[..]),
            ("show_extractor", b""),
            ("upload_bundle", &managed.versions[0].tar),
            ("activate_version", first.as_bytes()),
            ("roll_back", b""),
            ("retire", b""),
            ("begin_shadow", shadow.as_bytes()),
            ("promote_shadow", b""),
        ] {
            let answer = seen.expect(&managed.service, name, &bearer("acme"), body, (500, code));
            assert!(!answer.body.contains("acme"), "{answer:?}");
        }
    }
    let log = managed.service.log();
    assert!(log.contains("acme: cannot open the directory of bundles"), "{log}");
}

/// What is told to requests that go on when the service is to end.
fn what_ends(seen: &mut Seen<'_>) {
    let project = Project::new();
    project.write("service.toml", config("grace_seconds = 2\n", ""));
    let mut service = Service::start(&project, &["--config", "service.toml"]);
    let operations = WITH_BODIES.map(|name| seen.described.operation(name));
    let mut clients = operations.each_ref().map(|operation| {
        let mut client = service.connect();
        let headers = format!("{}Content-Length: 100\r\nConnection: close\r\n", bearer("acme"));
        client.begin(&operation.method, &operation.path, &headers);
        client
    });
    // One that was accepted before asks once more, after it is known that the service ends.
    let mut probe = service.connect();
    probe.stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200));
    service.tell(Signal::TERM);
    service.wait_for("ending");
    probe.stream.write_all(b"Connection: close\r\n\r\n").unwrap();
    let ready = probe.answer();
    assert_eq!(ready.status, 503);
    seen.note(&seen.described.operation("ready"), &ready);
    for (operation, client) in operations.iter().zip(&mut clients) {
        let answer = client.answer();
        assert_eq!((answer.status, &*answer.code()), (503, "service_ending"));
        seen.note(operation, &answer);
    }
    assert_eq!(service.ended(), Some(0));
}

#[test]
fn the_description_has_what_clients_are_generated_from() {
    let project = Project::new();
    project.write("service.toml", config("", ""));
    let service = Service::start(&project, &["--config", "service.toml"]);
    let text: Value = service.get("/openapi.json", "").json();
    assert_eq!(text["openapi"], "3.1.0");
    assert_eq!(text["components"]["securitySchemes"]["token"]["scheme"], "bearer");
    // What isn't described isn't there.
    for (method, path) in [("GET", "/v1"), ("PATCH", "/openapi.json"), ("GET", "/v1/tenants/acme")]
    {
        let status = service.ask(method, path, &bearer("root"), b"").status;
        assert!(matches!(status, 404 | 405), "{method} {path}: {status}");
    }
}
