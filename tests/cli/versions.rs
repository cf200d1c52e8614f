//! Bundles of one extractor that come after each other in one directory.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::project::{EVENTS, Ended, PLAN, Project};

const CHANGED: &str = "changed.json";

/// A project with its bundle, and a plan of the same function that reads less.
fn compiled() -> (Project, String) {
    let project = Project::new();
    let changed = PLAN.replace(",\n  \"span_handling\": {\"span_id_path\": [\"span_id\"]}", "");
    assert_ne!(changed, PLAN);
    project.write(CHANGED, changed);
    let bundle = project.compile();
    (project, bundle)
}

fn run(project: &Project) -> Ended {
    project.retort(["run", "--bundles", "out", "events.ndjson"])
}

fn bundles(project: &Project) -> usize {
    let entries = fs::read_dir(project.path("out")).unwrap();
    entries.filter(|it| it.as_ref().unwrap().path().is_dir()).count()
}

fn report(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

/// The fingerprint of the bundle that serves the first event.
fn serving(project: &Project) -> String {
    let ran = run(project);
    assert_eq!(ran.code, 0, "{ran:?}");
    let first: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    first["bundle"].as_str().unwrap().to_owned()
}

fn version(path: &str) -> &str {
    path.strip_prefix("out/").unwrap()
}

#[test]
fn a_bundle_of_a_changed_plan_takes_the_place_of_the_earlier_one() {
    let (project, first) = compiled();
    let ended = project.retort(["compile", "--plan", CHANGED]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains(&format!("it takes the place of {first}")), "{ended:?}");
    assert_eq!(serving(&project), version(ended.stdout.trim()));
    assert_eq!(bundles(&project), 2, "the earlier one stays");
    // And back, which the JSON says as well.
    let ended = project.retort(["compile", "--json"]);
    let report = report(&ended);
    assert_eq!(report["bundle"]["path"], first);
    assert_eq!(report["bundle"]["active"], true);
    assert_eq!(report["bundle"]["cached"], true);
    assert_eq!(report["bundle"]["replaced"].as_array().map(Vec::len), Some(1), "{ended:?}");
    assert_eq!((bundles(&project), serving(&project).as_str()), (2, version(&first)));
}

#[test]
fn a_bundle_that_is_not_activated_is_stored_and_nothing_else() {
    let (project, first) = compiled();
    let ended = project.retort(["compile", "--plan", CHANGED, "--no-activate", "--json"]);
    let second = report(&ended)["bundle"].clone();
    assert_eq!((ended.code, &second["active"]), (0, &false.into()), "{ended:?}");
    assert_eq!(serving(&project), version(&first));
    let second = second["fingerprint"].as_str().unwrap();
    let wanted = format!("read_order@{}", &second[..8]);
    let ended = project.retort(["bundles", "activate", "out", &wanted, "--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(report(&ended)["before"][0], version(&first));
    assert_eq!(serving(&project), second);
}

#[test]
fn what_another_extractor_serves_is_not_taken_from_it() {
    let (project, first) = compiled();
    project.write("other.json", PLAN.replace("read_order", "read_otherwise"));
    let ended = project.retort(["compile", "--plan", "other.json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("error[event_type_taken]: "), "{ended:?}");
    assert_eq!(serving(&project), version(&first));
    let ended = project.retort(["compile", "--plan", "other.json", "--json"]);
    let (code, said) = (ended.code, report(&ended));
    assert_eq!((code, &said["ok"], &said["bundle"]["active"]), (1, &false.into(), &false.into()));
    // Once the other one is retired, it may.
    let other = format!("read_otherwise@{}", said["bundle"]["fingerprint"].as_str().unwrap());
    assert_eq!(project.retort(["bundles", "activate", "out", &other]).code, 2);
    assert_eq!(project.retort(["bundles", "retire", "out", "read_order"]).code, 0);
    assert_eq!(run(&project).code, 2, "nothing is served");
    assert_eq!(project.retort(["bundles", "activate", "out", &other]).code, 0);
    assert_ne!(serving(&project), version(&first));
    // Or it gives way in the same step.
    let wanted = format!("read_order@{}", version(&first));
    let ended = project.retort(["bundles", "activate", "out", &wanted]);
    assert!(ended.code == 2 && ended.stderr.contains("error[event_type_taken]: "), "{ended:?}");
    let ended = project.retort(["bundles", "activate", "out", &wanted, "--replace"]);
    let said =
        format!("read_order: nothing -> {}\nread_otherwise: gave way\n", &version(&first)[..12]);
    assert_eq!((ended.code, ended.stdout), (0, said));
    assert_eq!(serving(&project), version(&first));
    let ended = project.retort(["bundles", "activate", "out", &other, "--replace", "--json"]);
    assert_eq!(report(&ended)["retired"], serde_json::json!(["read_order"]));
    assert_ne!(serving(&project), version(&first));
}

#[test]
fn several_extractors_serve_an_event_type_where_that_is_allowed() {
    let (project, first) = compiled();
    // Another extractor, whose function comes first by name.
    let other = PLAN.replace("read_order", "a_other").replace("[\"span_id\"]", "[\"session_id\"]");
    let of = |property: &str, path: &str| {
        other
            .replace("\"total\"", &format!("\"{property}\""))
            .replace(&format!("\"content\", \"{property}\""), &format!("\"content\", \"{path}\""))
    };
    let graph = fs::read_to_string(project.path("graph.yaml")).unwrap()
        + "  - {name: note, type: string}\n";
    project.write("wide.yaml", graph);
    project.write("note.json", of("note", "note"));
    project.write("sum.json", of("total", "sum"));
    let events = r#"{"event_type":"order_placed","session_id":"s1","span_id":"a","content":{"id":"o1","total":1.5,"sum":1.50,"note":"n"}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o2","total":1.5,"sum":2}}
{"event_type":"order_placed","session_id":"s1"}
"#;
    project.write("events.ndjson", events);
    assert_eq!(project.retort(["bundles", "share", "out"]).stdout, "off\n");
    let ended = project.retort(["bundles", "share", "out", "reject"]);
    assert_eq!((ended.code, &*ended.stdout), (0, "off -> reject\n"));
    let ended = project.retort(["bundles", "share", "out", "reject", "--json"]);
    assert_eq!(
        report(&ended),
        serde_json::json!({"ok": true, "before": "reject", "sharing": "reject"})
    );
    let compile = |plan: &str| {
        let ended = project.retort(["compile", "--plan", plan, "--graph", "wide.yaml"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        version(ended.stdout.trim()).to_owned()
    };

    let second = compile("note.json");
    let ran = run(&project);
    assert_eq!(ran.code, 0, "{ran:?}");
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{ran:?}");
    assert_eq!(lines[0]["bundles"], serde_json::json!([second, version(&first)]));
    let properties = |line: &Value| {
        let properties = line["result"]["nodes"][0]["properties"].as_array().unwrap();
        let property = |it: &Value| format!("{}={}", it["name"].as_str().unwrap(), it["value"]);
        properties.iter().map(property).collect::<Vec<_>>()
    };
    assert_eq!(properties(&lines[0]), ["order_id=\"o1\"", "note=\"n\"", "total=1.5"]);
    assert_eq!(lines[0]["result"]["fully_handled_span_ids"], serde_json::json!(["s1", "a"]));
    assert_eq!(properties(&lines[1]), ["order_id=\"o2\"", "total=1.5"]);
    let threads = project.retort(["run", "--bundles", "out", "events.ndjson", "--threads", "4"]);
    assert_eq!(threads.stdout, ran.stdout);
    let lazily =
        project.retort(["run", "--bundles", "out", "events.ndjson", "--load", "first-event"]);
    assert_eq!((lazily.code, lazily.stdout), (0, ran.stdout));

    // The second event has another value in the one than in the other.
    let third = compile("sum.json");
    let ran = run(&project);
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{ran:?}");
    let reject: Value =
        serde_json::from_str(ran.stderr.lines().find(|it| it.starts_with('{')).unwrap()).unwrap();
    assert_eq!(reject["code"], "merge_conflict", "{ran:?}");
    assert_eq!(reject["path"], "nodes[0].properties[1].value");
    assert!(
        reject["message"].as_str().unwrap().starts_with(&format!("bundle {}: ", version(&first)))
    );
    assert_eq!(project.retort(["bundles", "share", "out", "last"]).code, 0);
    let ran = run(&project);
    assert_eq!(ran.code, 0, "{ran:?}");
    let second_line: Value = serde_json::from_str(ran.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(properties(&second_line), ["order_id=\"o2\"", "total=1.5"]);
    assert_eq!(second_line["bundles"], serde_json::json!([third, version(&first)]));

    // Neither would be served.
    let ended = project.retort(["bundles", "share", "out", "off"]);
    assert!(ended.code == 2 && ended.stderr.contains("error[event_type_shared]: "), "{ended:?}");
    let listed = report(&project.retort(["bundles", "list", "out", "--json"]));
    assert_eq!(listed["sharing"], "last");
    assert_eq!(project.retort(["bundles", "retire", "out", "a_other"]).code, 0);
    assert_eq!(project.retort(["bundles", "share", "out", "off"]).code, 0);
    assert_eq!(project.retort(["bundles", "rollback", "out", "a_other"]).code, 2);
    assert_eq!(serving(&project), version(&first));
}

#[test]
fn versions_are_listed_shown_rolled_back_and_removed() {
    let (project, first) = compiled();
    let second = project.retort(["compile", "--plan", CHANGED]).stdout;
    let (first, second) = (version(&first), version(second.trim()));
    let states = || {
        let listed = report(&project.retort(["bundles", "list", "out", "--json"]));
        let versions = listed["extractors"][0]["versions"].as_array().unwrap();
        let state =
            |it: &Value| [&it["version"], &it["state"]].map(|it| it.as_str().unwrap().to_owned());
        versions.iter().map(state).collect::<Vec<_>>()
    };
    let pair = |version: &str, state: &str| [version.to_owned(), state.to_owned()];
    assert_eq!(states(), [pair(second, "active"), pair(first, "earlier")]);
    let listed = project.retort(["bundles", "list", "out"]).stdout;
    let line = format!("read_order@{}  active   ", &second[..12]);
    assert!(listed.starts_with(&line) && listed.lines().count() == 2, "{listed}");

    let ended = project.retort(["bundles", "rollback", "out", "read_order"]);
    assert_eq!(ended.stdout, format!("read_order: {} -> {}\n", &second[..12], &first[..12]));
    assert_eq!(
        (serving(&project).as_str(), states()),
        (first, vec![pair(first, "active"), pair(second, "stored")])
    );
    let ended = project.retort(["bundles", "rollback", "out", "read_order"]);
    assert!(
        ended.code == 2 && ended.stderr.starts_with("error[no_earlier_version]: "),
        "{ended:?}"
    );
    let shown = project.retort(["bundles", "show", "out", "read_order"]).stdout;
    assert!(shown.contains("  retort bundles rollback\n"), "{shown}");

    let ended = project.retort(["bundles", "gc", "out", "--dry-run"]);
    let said = format!("would remove out/{second}\nwould remove 1 versions, 1 left\n");
    assert_eq!((ended.code, ended.stdout, bundles(&project)), (0, said, 2));
    assert_eq!(project.retort(["bundles", "gc", "out"]).code, 0);
    assert_eq!((bundles(&project), serving(&project).as_str()), (1, first));
    // What is active and gone is said.
    fs::remove_dir_all(project.path(&format!("out/{first}"))).unwrap();
    let ended = project.retort(["bundles", "list", "out"]);
    assert!(ended.code == 1 && ended.stdout.contains("not there"), "{ended:?}");
    let ran = run(&project);
    assert!(ran.code == 2 && ran.stderr.contains("error[manifest_missing]"), "{ran:?}");
}

#[test]
fn what_is_asked_of_versions_and_cannot_be_done_is_said_with_a_code() {
    let (project, _) = compiled();
    for (args, code) in [
        (&["list", "nowhere"][..], "file_not_found"),
        (&["list", "plan.json"], "file_not_readable"),
        (&["show", "out", "nobody"], "name_unknown"),
        (&["show", "out", "../x"], "name_invalid"),
        (&["retire", "out", "nobody"], "name_unknown"),
        (&["rollback", "nowhere", "read_order"], "file_not_found"),
        (&["activate", "out", "read_order"], "version_unknown"),
        (&["activate", "out", "read_order@abcdefgh"], "version_unknown"),
        (&["gc", "nowhere"], "file_not_found"),
    ] {
        let ended = project.retort([&["bundles"], args].concat());
        assert_eq!(ended.code, 2, "{args:?} {ended:?}");
        assert!(ended.stderr.starts_with(&format!("error[{code}]: ")), "{args:?} {ended:?}");
    }
    project.write("out/.active.json", "{}");
    for args in [
        &["bundles", "list", "out"][..],
        &["bundles", "gc", "out"],
        &["run", "--bundles", "out", "events.ndjson"],
        &["compile"],
    ] {
        let ended = project.retort(args.iter().copied());
        assert_eq!(ended.code, 2, "{args:?} {ended:?}");
        assert!(ended.stderr.contains("error[activation_record_invalid]: "), "{args:?} {ended:?}");
    }
}

#[test]
fn nothing_is_removed_while_a_run_has_the_directory_open() {
    let (project, first) = compiled();
    project.retort(["compile", "--plan", CHANGED, "--no-activate"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(["run", "--bundles", "out", "--load", "first-event"])
        .current_dir(project.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = || {
        writeln!(input, "{}", EVENTS.lines().next().unwrap()).unwrap();
        lines.next().unwrap().unwrap()
    };
    assert!(ask().contains(version(&first)));
    // The other version is nobody's.
    let ended = project.retort(["bundles", "gc", "out"]);
    assert_eq!((ended.code, bundles(&project)), (0, 1), "{ended:?}");
    // What is served meanwhile is the affair of those who come later.
    assert_eq!(project.retort(["bundles", "retire", "out", "read_order"]).code, 0);
    let ended = project.retort(["bundles", "gc", "out", "--keep", "0", "--json"]);
    let in_use = report(&ended)["in_use"].clone();
    assert_eq!(
        (ended.code, in_use, bundles(&project)),
        (0, serde_json::json!([first]), 1),
        "{ended:?}"
    );
    assert!(ask().contains(version(&first)));
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(project.retort(["bundles", "gc", "out"]).code, 0);
    assert_eq!(bundles(&project), 0);
}

#[test]
fn a_name_in_the_project_file_is_the_extractors() {
    let project = Project::new();
    let unnamed = project.compile();
    let settings = fs::read_to_string(project.path("retort.toml")).unwrap();
    project.write("retort.toml", format!("name = \"shop.orders\"\n{settings}"));
    let named = project.compile();
    assert_ne!(unnamed, named, "a name is part of what a bundle is");
    assert_eq!(serving(&project), version(&named), "it takes over from what had no name");
    let manifest = project.path(&format!("{named}/manifest.json"));
    assert!(fs::read_to_string(manifest).unwrap().contains(r#""name": "shop.orders""#));
    project.write("retort.toml", format!("name = \"../orders\"\n{settings}"));
    let ended = project.retort(["compile"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.starts_with("error[name_invalid]: retort.toml: name: "), "{ended:?}");
}
