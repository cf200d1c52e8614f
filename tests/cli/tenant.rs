//! A tenant's policy, as every command takes it.

use serde_json::{Value, json};

use super::project::{PLAN, Project};

/// A project with a bundle, and the bundle's path.
fn compiled() -> (Project, String) {
    let project = Project::new();
    let bundle = project.compile();
    (project, bundle)
}

#[test]
fn its_limits_hold_in_every_command() {
    let (project, bundle) = compiled();
    project.write("policy.yaml", "limits: {fuel_base: 10, fuel_per_byte: 0}\n");
    let policy = ["--policy", "policy.yaml"];
    for command in [
        &["check", &bundle, "--samples", "events.ndjson"][..],
        &["check", "plan.json", "--samples", "events.ndjson"],
        &["compile"],
        &["run", "--bundles", "out", "events.ndjson"],
        &["bench", &bundle, "events.ndjson", "--events", "10"],
    ] {
        let ended = project.retort([command, &policy].concat());
        assert_eq!(ended.code, 1, "{command:?}: {ended:?}");
        assert!(ended.stderr.contains("out_of_fuel"), "{command:?}: {ended:?}");
        assert!(ended.stderr.contains("10"), "{command:?}: {ended:?}");
    }
    let shown = project.retort([&["inspect", &bundle, "--json"][..], &policy].concat());
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["limits"]["run"]["fuel_base"], 10);
}

#[test]
fn how_modules_are_built_is_held_to_it() {
    let (project, bundle) = compiled();
    project.write("policy.json", r#"{"structure": {"module_bytes": 64}}"#);
    for command in
        [&["inspect", &bundle][..], &["check", "plan.json", "--samples", "events.ndjson"]]
    {
        let ended = project.retort([command, &["--policy", "policy.json"]].concat());
        assert_eq!(ended.code, 1, "{command:?}: {ended:?}");
        assert!(ended.stderr.contains("of module"), "{command:?}: {ended:?}");
    }
    let served = ["run", "--bundles", "out", "events.ndjson", "--policy", "policy.json"];
    let ended = project.retort(served);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error[module_rejected]"), "{ended:?}");
}

/// Samples with a string where an event has an object later let a plan pass; samples with an object don't.
#[test]
fn what_is_denied_is_refused_or_withheld_by_every_command() {
    let project = Project::new();
    project.write("plan.json", PLAN.replace("total", "user"));
    let properties = "[{name: order_id, type: string}, {name: user, type: string}]";
    let keys = "keys: {primary: [order_id]}";
    project.write(
        "graph.yaml",
        format!("entities: [{{name: Order, {keys}, properties: {properties}}}]"),
    );
    let event = |user: Value| {
        let content = json!({"id": "o1", "user": user});
        json!({"event_type": "order_placed", "session_id": "s", "content": content}).to_string()
    };
    project.write("strings.ndjson", event(json!("nobody")));
    project.write("objects.ndjson", event(json!({"email": "x@example.org"})));
    project.write("policy.yaml", "deny: [content.*.email]\n");
    let policy = ["--policy", "policy.yaml"];
    let bundle = project.retort(["compile", "--samples", "strings.ndjson"]);
    assert_eq!(bundle.code, 0, "{bundle:?}");
    let bundle = bundle.stdout.trim();
    for command in [
        &["compile", "--samples", "objects.ndjson"][..],
        &["check", "plan.json", "--samples", "objects.ndjson"],
        &["check", bundle, "--samples", "objects.ndjson"],
    ] {
        let ended = project.retort([command, &policy].concat());
        assert_eq!(ended.code, 1, "{command:?}: {ended:?}");
        assert!(ended.stderr.contains("path_denied"), "{command:?}: {ended:?}");
    }
    for command in [
        &["compile", "--samples", "strings.ndjson"][..],
        &["check", bundle, "--samples", "strings.ndjson"],
    ] {
        let ended = project.retort([command, &policy].concat());
        assert_eq!(ended.code, 0, "{command:?}: {ended:?}");
    }
    for (events, shown, hidden) in [
        ("strings.ndjson", r#"{"name":"user","value":"nobody"}"#, "x@example.org"),
        ("objects.ndjson", r#""properties":[{"name":"order_id","value":"o1"}]"#, "x@example.org"),
    ] {
        let run = ["run", "--bundles", "out", events];
        let ended = project.retort([&run[..], &policy].concat());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stdout.contains(shown), "{ended:?}");
        assert!(!ended.stdout.contains(hidden) && !ended.stderr.contains(hidden), "{ended:?}");
    }
}

#[test]
fn results_are_the_same_however_little_instances_share() {
    let (project, _) = compiled();
    let run = |policy: &str| {
        project.write("policy.yaml", policy);
        let ended =
            project.retort(["run", "--bundles", "out", "events.ndjson", "--policy", "policy.yaml"]);
        assert_eq!(ended.code, 0, "{policy}: {ended:?}");
        ended.stdout
    };
    let expected = run("{}");
    assert_eq!(expected.lines().count(), 2);
    for isolation in ["per-event", "per-batch", "warm"] {
        for allocator in ["on-demand", "pooling", "{pooling: {instances: 2}}"] {
            let policy = format!("isolation: {isolation}\nallocator: {allocator}\n");
            assert_eq!(run(&policy), expected, "{policy}");
        }
    }
}

#[test]
fn what_is_wrong_with_it_is_told_with_its_place() {
    let (project, bundle) = compiled();
    for (text, told) in [
        ("limits: {deadlin_ms: 9}\n", "error[policy_syntax]: policy.yaml: "),
        ("limits: {deadlin_ms: 9}\n", "did you mean `deadline_ms`?"),
        ("limits: {deadline_ms: soon}\n", "limits.deadline_ms"),
        ("limits: {stack_bytes: 9999999}\n", "error[policy_limit_out_of_range]: policy.yaml: "),
        ("deny: ['']\n", "error[policy_invalid_path]: policy.yaml: deny[0].path"),
    ] {
        project.write("policy.yaml", text);
        let ended = project.retort(["inspect", &bundle, "--policy", "policy.yaml"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{text}: {ended:?}");
        assert!(ended.stderr.contains(told), "{text}: expected {told:?} in {}", ended.stderr);
    }
    let ended = project.retort(["inspect", &bundle, "--policy", "nowhere.yaml"]);
    assert!(ended.stderr.contains("error[file_not_found]: nowhere.yaml"), "{ended:?}");
}

#[test]
fn a_project_names_it() {
    let project = Project::new();
    let file = "plan = \"plan.json\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\npolicy = \"policy.yaml\"\n";
    project.write("retort.toml", file);
    project.write("policy.yaml", "limits: {output_bytes: 10}\n");
    let ended = project.retort(["compile", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ended.code, 1, "{ended:?}");
    assert_eq!(report["problems"][0]["code"], json!("output_too_large"), "{report}");
}

/// A guest that looks for a file in `/data`, and traps where there is none.
const READER: &str = r#"(module
  (@custom "retort" "{\"abi\":1,\"function\":\"f\",\"event_types\":[\"order_placed\"],\"inputs\":[]}")
  (import "wasi_snapshot_preview1" "path_filestat_get"
    (func $stat (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 2 2)
  (data (i32.const 64) "rates.csv")
  (data (i32.const 256) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[\"s\"],\"partially_handled_span_ids\":[]}")
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 65536))
  (func (export "f") (param i32 i32) (result i64)
    (if (call $stat (i32.const 3) (i32.const 0) (i32.const 64) (i32.const 9) (i32.const 1024))
      (then unreachable))
    (i64.or (i64.shl (i64.const 256) (i64.const 32)) (i64.const 86))))"#;

#[test]
fn a_directory_is_granted_by_it_alone() {
    let project = Project::new();
    project.write("reader.wat", READER);
    std::fs::create_dir_all(project.path("conf/data")).unwrap();
    project.write("conf/data/rates.csv", "EUR,1\n");
    let samples = project.write("one.ndjson", r#"{"event_type":"order_placed"}"#);
    let check = |policy: &str| {
        project.write("conf/policy.yaml", policy);
        project.retort([
            "check",
            "reader.wat",
            "--samples",
            &samples,
            "--policy",
            "conf/policy.yaml",
        ])
    };
    // Its paths are those of its own folder.
    let granted = check("wasi: {grant: files, directories: [{host: data, guest: /data}]}");
    assert_eq!(granted.code, 0, "{granted:?}");
    let alone = check("wasi: {grant: files}");
    assert!(alone.code == 1 && alone.stderr.contains("error[unreachable]"), "{alone:?}");
    for policy in ["{}", "wasi: {grant: core}", "wasi: {grant: none}"] {
        let refused = check(policy);
        assert_eq!(refused.code, 1, "{policy}: {refused:?}");
        assert!(refused.stderr.contains("error[wasi_refused]"), "{policy}: {refused:?}");
    }
    let missing = check("wasi: {grant: files, directories: [{host: nowhere, guest: /data}]}");
    assert!(missing.code == 2 && missing.stderr.contains("nowhere"), "{missing:?}");
}

#[cfg(unix)]
#[test]
fn native_code_is_kept_where_it_says() {
    use std::os::unix::fs::PermissionsExt as _;
    let (project, bundle) = compiled();
    let run = ["run", "--bundles", "out", "events.ndjson", "--cache", "native"];
    let first = project.retort(run);
    let kept = |project: &Project| {
        project.tree().into_iter().filter(|name| name.starts_with("native/")).count()
    };
    let entries = kept(&project);
    assert!(first.code == 0 && entries >= 2, "{first:?}: {:?}", project.tree());
    let bench = ["bench", &bundle, "events.ndjson", "--events", "10", "--cache", "native"];
    for command in [&run[..], &bench] {
        let again = project.retort(command.iter().copied());
        assert_eq!((again.code, kept(&project)), (0, entries), "{again:?}");
        assert!(!again.stderr.contains("warning"), "{again:?}");
    }
    // Open to others: it isn't used, and that is said.
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(project.path("native"), open).unwrap();
    let told = project.retort(run);
    assert_eq!((told.code, &told.stdout), (0, &first.stdout));
    assert!(told.stderr.contains("warning[cache_unusable]: "), "{told:?}");
}
