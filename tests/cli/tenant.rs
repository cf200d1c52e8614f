//! A tenant's policy, as every command takes it.

use serde_json::{Value, json};

use super::project::Project;

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
