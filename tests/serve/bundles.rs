//! Bundles by HTTP: what goes up, what is served of it, and who may say so.

pub(super) mod archive;
mod hostile;
mod load;

use std::fs;
use std::path::Path;

use retort::bundle::Catalog;
use serde_json::{Value, json};

use super::fixture::{Answer, Service};
use super::tenants::{bearer, refused, token_hash};
use crate::cli::project::{EVENTS, PLAN, Project};
use archive::tar_of;

/// A service with two tenants, whose tokens are their names, and an administrator. `acme` manages its bundles itself, of which it has
/// none at first.
pub(super) struct Managed {
    pub(super) project: Project,
    pub(super) service: Service,
    /// Two versions of one extractor.
    pub(super) versions: [Uploadable; 2],
}

/// A bundle that is in no directory of the service.
#[derive(Clone, Debug)]
pub(super) struct Uploadable {
    pub(super) version: String,
    pub(super) path: String,
    pub(super) tar: Vec<u8>,
}

/// The configuration, with more of the tenant `acme` and more tenants.
pub(super) fn config(limits: &str, more: &str) -> String {
    let [acme, globex, admin] = ["acme", "globex", "root"].map(token_hash);
    format!(
        "listen = \"127.0.0.1:0\"\nadmin_token_sha256 = \"{admin}\"\n[limits]\nfailed_tokens = 10000\n{limits}
[tenants.globex]\nbundles = [\"globex\"]\ntoken_sha256 = [\"{globex}\"]
[tenants.acme]\nbundles = [\"acme\", \"shared\"]\ntoken_sha256 = [\"{acme}\"]\nmanage_bundles = true\n{more}"
    )
}

/// Two versions of one extractor, compiled in `out`.
pub(super) fn two_versions(project: &Project) -> [Uploadable; 2] {
    let changed = PLAN.replace("[\"span_id\"]", "[\"session_id\"]");
    [PLAN.to_owned(), changed].map(|plan| {
        project.write("plan.json", plan);
        let path = project.path(&project.compile());
        let version = path.rsplit('/').next().unwrap().to_owned();
        Uploadable { version, tar: tar_of(Path::new(&path), ""), path }
    })
}

impl Managed {
    pub(super) fn new() -> Self {
        Self::with("", "")
    }

    pub(super) fn with(limits: &str, more: &str) -> Self {
        let project = Project::new();
        let versions = two_versions(&project);
        // What a tenant has beside what is managed.
        fs::create_dir(project.path("shared")).unwrap();
        project.write("service.toml", config(limits, more));
        let service = Service::start(&project, &["--config", "service.toml"]);
        Self { project, service, versions }
    }

    /// The answer to a request of `acme`.
    pub(super) fn ask(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        self.ask_as("acme", method, path, body)
    }

    pub(super) fn ask_as(&self, token: &str, method: &str, path: &str, body: &[u8]) -> Answer {
        let path = format!("/v1/tenants/acme/{path}");
        self.service.ask(method, &path, &bearer(token), body)
    }

    pub(super) fn upload(&self, number: usize) -> Answer {
        self.ask("POST", "bundles", &self.versions[number].tar)
    }

    pub(super) fn activate(&self, number: usize) -> Answer {
        let body = json!({"version": &self.versions[number].version[..8]}).to_string();
        self.ask("POST", "bundles/read_order/activate", body.as_bytes())
    }

    /// The version that events are served by.
    pub(super) fn served(&self) -> Option<String> {
        let answer = self.ask("POST", "events", EVENTS.as_bytes());
        answer.lines()[0]["bundle"].as_str().map(str::to_owned)
    }

    /// What lies in the directory that is managed.
    pub(super) fn names(&self) -> Vec<String> {
        let Ok(found) = fs::read_dir(self.project.path("acme")) else { return Vec::new() };
        let mut names: Vec<String> =
            found.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn a_bundle_goes_up_is_served_and_goes_back() {
    let managed = Managed::new();
    let [first, second] = managed.versions.each_ref().map(|it| it.version.clone());
    assert_eq!(managed.ask("GET", "bundles", b"").json()["extractors"], json!([]));
    assert_eq!(managed.served(), None);

    let taken = managed.upload(0);
    assert_eq!(taken.status, 201, "{taken:?}");
    assert!(taken.head.contains("location: /v1/tenants/acme/bundles/read_order"), "{taken:?}");
    let uploaded = |version: &str, is_new| json!({"name": "read_order", "version": version, "event_types": ["order_placed"], "is_new": is_new});
    assert_eq!(taken.json(), uploaded(&first, true));
    let again = managed.upload(0);
    assert_eq!((again.status, again.json()), (200, uploaded(&first, false)));
    // It isn't served yet, and neither is the next one.
    assert_eq!(managed.served(), None);
    let switched = |before: &[&str], after: &[&str]| json!({"name": "read_order", "before": before, "after": after, "retired": []});
    assert_eq!(managed.activate(0).json(), switched(&[], &[&first]));
    assert_eq!(managed.served(), Some(first.clone()));
    // As an archive of the directory, packed.
    let packed = super::gzip(&tar_of(Path::new(&managed.versions[1].path), &second));
    let headers = format!("{}Content-Encoding: gzip\r\n", bearer("root"));
    let taken = managed.service.ask("POST", "/v1/tenants/acme/bundles", &headers, &packed);
    assert_eq!((taken.status, taken.json()), (201, uploaded(&second, true)));
    assert_eq!(managed.served(), Some(first.clone()));
    let body = json!({"version": second}).to_string();
    let path = "bundles/read_order/activate";
    let active = managed.ask_as("root", "POST", path, body.as_bytes());
    assert_eq!(active.json(), switched(&[&first], &[&second]));
    assert_eq!(managed.served(), Some(second.clone()));

    let shown = managed.ask("GET", "bundles/read_order", b"").json();
    let listed = managed.ask("GET", "bundles", b"").json();
    assert_eq!((&listed["record"], &listed["extractors"]), (&json!(true), &json!([shown])));
    let by: Vec<&Value> =
        shown["activations"].as_array().unwrap().iter().map(|it| &it["by"]).collect();
    assert_eq!(by, ["retort serve: activate (tenant)", "retort serve: activate (administrator)"]);
    let states: Vec<[&Value; 2]> = shown["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| [&it["version"], &it["state"]])
        .collect();
    assert_eq!(states, [[&json!(second), &json!("active")], [&json!(first), &json!("earlier")]]);

    let back = managed.ask("POST", "bundles/read_order/rollback", b"");
    assert_eq!(back.json(), switched(&[&second], &[&first]));
    assert_eq!(managed.served(), Some(first.clone()));
    let nothing = managed.ask("POST", "bundles/read_order/rollback", b"");
    assert_eq!((nothing.status, &*nothing.code()), (409, "no_earlier_version"));
    let retired = managed.ask("POST", "bundles/read_order/retire", b"");
    assert_eq!(retired.json(), switched(&[&first], &[]));
    assert_eq!(managed.served(), None);
    // Another process reads the same, and nothing else was left there.
    let catalog = Catalog::read(Path::new(&managed.project.path("acme"))).unwrap();
    assert_eq!(
        catalog.extractors[0].activations.last().unwrap().by,
        "retort serve: retire (tenant)"
    );
    let mut names = [".active.json", ".lock", &first, &second].map(str::to_owned);
    names.sort();
    assert_eq!(managed.names(), names);
    // Neither paths of the host nor tokens are told.
    for told in [&shown.to_string(), &listed.to_string(), &nothing.body] {
        assert!(!told.contains(&managed.project.path("")), "{told}");
    }
    assert!(!managed.service.log().contains("Bearer"), "{}", managed.service.log());
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_changes() {
    let managed = Managed::new();
    let [first, _] = managed.versions.each_ref().map(|it| it.version.clone());
    let ask = |method: &str, path: &str, body: &str| {
        let answer = managed.ask(method, path, body.as_bytes());
        (answer.status, answer.code(), answer.json()["message"].as_str().unwrap().to_owned())
    };
    let missing = ask("POST", "bundles/read_order/retire", "");
    assert_eq!((missing.0, &*missing.1), (404, "name_unknown"));
    assert!(managed.names().is_empty(), "nothing is created");
    assert_eq!((managed.upload(0).status, managed.activate(0).status), (201, 200));
    for (path, body, status, code, said) in [
        (
            "other/activate",
            r#"{"version":"0000"}"#,
            404,
            "name_unknown",
            "(read_order), found `other`",
        ),
        ("..%2f..%2fout/activate", r#"{"version":"0000"}"#, 404, "name_unknown", "expected a name"),
        ("read_order/activate", r#"{"version":"zzzz"}"#, 404, "version_unknown", "found `zzzz`"),
        ("read_order/activate", r#"{"version":""}"#, 404, "version_unknown", "four or more digits"),
        ("read_order/activate", "", 400, "request_invalid", "the end of the text"),
        (
            "read_order/activate",
            r#"["0000",true]"#,
            400,
            "request_invalid",
            "expected a JSON object",
        ),
        ("read_order/activate", "\u{feff}{}", 400, "request_invalid", "expected"),
        (
            "read_order/activate",
            r#"{"version":7}"#,
            400,
            "request_invalid",
            "version: expected a string",
        ),
        (
            "read_order/activate",
            r#"{"version":"0","more":1}"#,
            400,
            "request_invalid",
            "more: expected",
        ),
        (
            "read_order/activate",
            r#"{"version":"0"} {}"#,
            400,
            "request_invalid",
            "the end of the text",
        ),
        ("read_order/shadow/promote", "", 404, "not_served", "beside"),
    ] {
        let (found, found_code, message) = ask("POST", &format!("bundles/{path}"), body);
        assert_eq!((found, &*found_code), (status, code), "{path} {body}");
        assert!(message.contains(said), "{path} {body}: {message}");
    }
    for share in ["0", "-1", "1.01", "1e999", "null", "\"1\""] {
        let body = format!("{{\"version\":\"{first}\",\"share\":{share}}}");
        let (status, code, _) = ask("PUT", "bundles/read_order/shadow", &body);
        assert_eq!((status, &*code), (400, "request_invalid"), "{share}");
    }
    // A body of JSON has its own limit.
    let large = format!("{{\"version\":\"{}\"}}", "0".repeat(70_000));
    assert_eq!(ask("POST", "bundles/read_order/activate", &large).1, "request_too_large");
    assert_eq!(managed.served(), Some(first));
}

#[test]
fn an_event_type_is_not_taken_from_another_unless_that_is_wanted() {
    let managed = Managed::new();
    assert_eq!((managed.upload(0).status, managed.activate(0).status), (201, 200));
    managed.project.write("plan.json", PLAN.replace("read_order", "read_more"));
    let other = managed.project.retort(["compile", "--no-activate"]).stdout;
    let other = managed.project.path(other.trim());
    let tar = tar_of(Path::new(&other), "");
    assert_eq!(managed.ask("POST", "bundles", &tar).status, 201);
    let version = other.rsplit('/').next().unwrap();
    let body = json!({"version": version}).to_string();
    let taken = managed.ask("POST", "bundles/read_more/activate", body.as_bytes());
    assert_eq!((taken.status, &*taken.code()), (409, "event_type_taken"));
    assert_eq!(managed.served(), Some(managed.versions[0].version.clone()));
    let body = json!({"version": version, "replace": true}).to_string();
    let switched = managed.ask("POST", "bundles/read_more/activate", body.as_bytes());
    assert_eq!(switched.json()["retired"], json!(["read_order"]), "{switched:?}");
    assert_eq!(managed.served().as_deref(), Some(version));
}

#[test]
fn a_version_beside_the_other_is_counted_and_promoted_where_it_does_well() {
    let managed =
        Managed::with("", "[tenants.acme.promotion]\nleast_events = 3\nmost_different = 0.9\n");
    let [first, second] = managed.versions.each_ref().map(|it| it.version.clone());
    let begin = |version: &str| {
        let body = json!({"version": version, "share": 1}).to_string();
        managed.ask("PUT", "bundles/read_order/shadow", body.as_bytes())
    };
    assert_eq!((managed.upload(0).status, managed.upload(1).status), (201, 201));
    let not_served = begin(&second);
    assert_eq!((not_served.status, &*not_served.code()), (404, "not_served"));
    managed.activate(0);
    let counts = |events: u64, same: u64, different: u64| json!({"events": events, "same": same, "different": different, "failed": 0, "gained": 0});
    let shadow = |counts: Value| json!({"name": "read_order", "version": second, "counts": counts});
    assert_eq!(begin(&second[..6]).json(), shadow(counts(0, 0, 0)));
    let early = managed.ask("POST", "bundles/read_order/shadow/promote", b"");
    assert_eq!((early.status, &*early.code()), (409, "version_not_promoted"));
    let report = |wanted: u64| {
        super::eventually("it isn't counted", || {
            assert_eq!(managed.served(), Some(first.clone()));
            let found = managed.ask("GET", "bundles/read_order/shadow", b"").json();
            (found["counts"]["events"].as_u64() >= Some(wanted)).then_some(found)
        })
    };
    // Three of four events are of its type, of which one says more with one of the versions.
    let found = report(3)["counts"].clone();
    assert!(found["different"].as_u64() > Some(0) && found["same"].as_u64() > Some(0), "{found}");
    let ended = managed.ask("DELETE", "bundles/read_order/shadow", b"");
    assert_eq!((ended.status, &ended.json()["version"]), (200, &json!(second)));
    let ended = managed.ask("DELETE", "bundles/read_order/shadow", b"");
    assert_eq!((ended.status, &*ended.code()), (404, "not_served"));
    assert_eq!(begin(&second).json(), shadow(counts(0, 0, 0)));
    report(3);
    let promoted = managed.ask("POST", "bundles/read_order/shadow/promote", b"").json();
    assert_eq!((&promoted["before"], &promoted["after"]), (&json!([first]), &json!([second])));
    assert_eq!(managed.served(), Some(second));
    let shown = managed.ask("GET", "bundles/read_order", b"").json();
    assert_eq!(shown["activations"][1]["by"], "retort serve: promote (tenant)");
}

/// Each route of bundles, with a body that would do.
const ROUTES: [(&str, &str, &str); 10] = [
    ("GET", "bundles", ""),
    ("POST", "bundles", "a tar"),
    ("GET", "bundles/read_order", ""),
    ("POST", "bundles/read_order/activate", r#"{"version":"0000"}"#),
    ("POST", "bundles/read_order/rollback", ""),
    ("POST", "bundles/read_order/retire", ""),
    ("PUT", "bundles/read_order/shadow", r#"{"version":"0000","share":1}"#),
    ("GET", "bundles/read_order/shadow", ""),
    ("DELETE", "bundles/read_order/shadow", ""),
    ("POST", "bundles/read_order/shadow/promote", ""),
];

#[test]
fn who_may_not_manage_bundles_learns_nothing() {
    let managed = Managed::new();
    let service = &managed.service;
    let none = refused(&service.ask("GET", "/v1/tenants/acme/bundles", "", b""));
    assert_eq!(none.0, 401);
    for (method, path, body) in ROUTES {
        for (tenant, headers) in [
            ("acme", String::new()),
            ("acme", bearer("globex")),
            ("acme", bearer("wrong")),
            ("acme", bearer("acme") + &bearer("acme")),
            ("globex", bearer("acme")),
            ("nobody", bearer("acme")),
            ("nobody", bearer("nobody")),
            ("nobody", String::new()),
            ("%61cme%2f", bearer("acme")),
            ("%ff", bearer("acme")),
        ] {
            let path = format!("/v1/tenants/{tenant}/{path}");
            let answer = service.ask(method, &path, &headers, body.as_bytes());
            assert_eq!(refused(&answer), none, "{method} {path} {headers}");
        }
        // The administrator may know which tenants there are.
        let path = |tenant| format!("/v1/tenants/{tenant}/{path}");
        let unknown = service.ask(method, &path("nobody"), &bearer("root"), body.as_bytes());
        assert_eq!(
            (unknown.status, &*unknown.code()),
            (404, "tenant_unknown"),
            "{method} {path:?}",
            path = path("nobody")
        );
        // A tenant looks at its own; it changes something where the configuration says so.
        let own = service.ask(method, &path("globex"), &bearer("globex"), body.as_bytes());
        let admin = service.ask(method, &path("globex"), &bearer("root"), body.as_bytes());
        assert_ne!(admin.status, 401, "{method} {path}", path = path("globex"));
        match method {
            "GET" => assert_eq!(refused(&own), refused(&admin)),
            _ => assert_eq!((own.status, &*own.code()), (403, "management_off")),
        }
    }
    assert!(managed.names().is_empty() && !managed.project.tree().contains(&"globex".to_owned()));
}

#[test]
fn without_tokens_bundles_are_managed_where_the_configuration_says_so() {
    let project = Project::new();
    let [first, _] = two_versions(&project);
    let tenant =
        |name: &str, more: &str| format!("[tenants.{name}]\nbundles = [\"{name}\"]\n{more}\n");
    let managed = tenant("mine", "manage_bundles = true");
    project.write(
        "service.toml",
        format!("listen = \"127.0.0.1:0\"\n{managed}{}", tenant("other", "")),
    );
    let service = Service::start(&project, &["--config", "service.toml"]);
    let upload = |tenant: &str, headers: &str| {
        service.ask("POST", &format!("/v1/tenants/{tenant}/bundles"), headers, &first.tar)
    };
    for (tenant, headers, status, code) in [
        ("other", "", 403, "management_off"),
        ("nobody", "", 404, "tenant_unknown"),
        ("mine", "Origin: http://localhost\r\n", 403, "cross_origin"),
        ("mine", "Host: evil.example\r\n", 403, "cross_origin"),
    ] {
        let answer = upload(tenant, headers);
        assert_eq!((answer.status, &*answer.code()), (status, code), "{tenant} {headers}");
    }
    assert_eq!(upload("mine", "").status, 201);
    let body = json!({"version": first.version}).to_string();
    let path = "/v1/tenants/mine/bundles/read_order/activate";
    assert_eq!(service.ask("POST", path, "", body.as_bytes()).status, 200);
    let shown = service.get("/v1/tenants/mine/bundles/read_order", "").json();
    assert_eq!(shown["activations"][0]["by"], "retort serve: activate (local)");
}

#[test]
fn requests_are_as_many_as_may_be() {
    let managed = Managed::with("address_requests = 60\n", "requests = 5\n");
    let service = &managed.service;
    let mut seen = [0; 2];
    for _ in 0..12 {
        let answer = managed.ask("GET", "bundles", b"");
        seen[usize::from(answer.status != 200)] += 1;
        if answer.status != 200 {
            assert_eq!((answer.status, &*answer.code()), (429, "too_many_requests"));
            assert!(answer.head.contains("retry-after: 1"), "{answer:?}");
        }
    }
    assert!(seen[0] >= 5 && seen[1] > 0, "{seen:?}");
    // What is one tenant's isn't another's, and events count as well.
    assert_eq!(service.get("/v1/tenants/globex/bundles", &bearer("globex")).status, 200);
    let over = (0..12).map(|_| managed.ask("POST", "events", b"").status);
    assert!(over.into_iter().any(|status| status == 429));
    super::eventually("there are none again", || {
        (managed.ask("GET", "bundles", b"").status == 200).then_some(())
    });
    let over = (0..200).map(|_| service.get("/openapi.json", "").status);
    assert!(over.into_iter().any(|status| status == 429));
    assert_eq!(service.get("/healthz", "").status, 200);
}

#[test]
fn wrong_tokens_are_as_many_as_may_be_and_lock_nobody_out() {
    let project = Project::new();
    project.write(
        "service.toml",
        config("", "").replace("failed_tokens = 10000", "failed_tokens = 4"),
    );
    let service = Service::start(&project, &["--config", "service.toml"]);
    let ask = |tenant: &str, token: &str| {
        service.get(&format!("/v1/tenants/{tenant}/bundles"), &bearer(token))
    };
    let mut of_tenants = Vec::new();
    for tenant in ["acme", "nobody"] {
        let answers: Vec<_> = (0..40).map(|_| ask(tenant, "wrong")).collect();
        assert!(answers.iter().all(|it| matches!(it.status, 401 | 429)), "{answers:?}");
        let last = answers.into_iter().rfind(|it| it.status == 429);
        of_tenants.push(refused(&last.expect("they are too many")));
        assert_eq!(ask("acme", "acme").status, 200, "who has a token isn't locked out");
    }
    assert_eq!(of_tenants[0], of_tenants[1]);
    assert!(of_tenants[0].1.contains("retry-after: "), "{of_tenants:?}");
}
