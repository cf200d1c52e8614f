//! Bad input of every kind: what is said, where, and what is left on disk.

use std::fs;

use super::project::{PLAN, Project, retort};

/// Spoils a project and runs a command in it: the exit code, what stderr holds, and nothing new on disk.
fn refused(spoil: impl FnOnce(&Project), args: &[&str], code: i32, says: &[&str]) {
    let project = Project::new();
    spoil(&project);
    let before = project.tree();
    let ended = project.retort(args.iter().copied());
    assert_eq!(ended.code, code, "{args:?}: {ended:?}");
    assert_eq!(ended.stdout, "", "{args:?}");
    for part in says {
        assert!(ended.stderr.contains(part), "{args:?}: expected {part:?} in {}", ended.stderr);
    }
    assert_eq!(project.tree(), before, "{args:?}");
}

#[test]
fn projects() {
    let toml = |text: &'static str| {
        move |project: &Project| {
            project.write("retort.toml", text);
        }
    };
    refused(|_| {}, &["compile", "nowhere"], 2, &["error[file_not_found]: nowhere/retort.toml"]);
    refused(|_| {}, &["compile", "plan.json"], 2, &["error[file_not_readable]: plan.json: "]);
    refused(
        toml("plan = \"plan.json\"\n\nplam = \"x\"\n"),
        &["compile"],
        2,
        &["error[project_invalid]: retort.toml:3:1: ", "plam"],
    );
    refused(toml("plan = [\n"), &["compile"], 2, &["error[project_invalid]: retort.toml:"]);
    refused(toml("plan = 1\n"), &["compile"], 2, &["error[project_invalid]: retort.toml:1:8: "]);
    refused(
        toml("graph = \"graph.yaml\"\nsamples = \"events.ndjson\"\n"),
        &["compile"],
        2,
        &["error[project_incomplete]: expected a rule, a plan or code, found none", "--plan"],
    );
    refused(
        toml("plan = \"plan.json\"\nsamples = \"events.ndjson\"\nontology = \"graph.yaml\"\n"),
        &["compile"],
        2,
        &["error[project_invalid]: retort.toml: expected either `graph`, or `ontology` with"],
    );
    refused(|_| {}, &["compile", "--unknown"], 2, &["--unknown"]);
}

#[test]
fn parts_of_a_project() {
    let write = |name: &'static str, text: &'static [u8]| {
        move |project: &Project| {
            project.write(name, text);
        }
    };
    let remove =
        |name: &'static str| move |project: &Project| fs::remove_file(project.path(name)).unwrap();
    let compile = &["compile"][..];
    refused(
        remove("plan.json"),
        compile,
        2,
        &["error[file_not_found]: plan.json: expected a plan"],
    );
    refused(remove("graph.yaml"), compile, 2, &["error[file_not_found]: graph.yaml: "]);
    refused(remove("events.ndjson"), compile, 2, &["error[file_not_found]: events.ndjson: "]);
    refused(
        write("plan.json", b"{"),
        compile,
        1,
        &["PlanParseError [code=invalid_json]", "error[invalid_json]: plan.json: plan: "],
    );
    refused(write("plan.json", b"\xff{}"), compile, 2, &["error[file_not_utf8]: plan.json: "]);
    refused(write("events.ndjson", b" \n\n"), compile, 2, &["error[no_samples]: events.ndjson: "]);
    refused(
        write("events.ndjson", b"{\"event_type\":\"order_placed\"}\n\n{\n"),
        compile,
        2,
        &["error[sample_not_json]: events.ndjson line 3: "],
    );
    refused(
        write("events.ndjson", b"{\"event_type\":\"order_shipped\"}\n"),
        compile,
        1,
        &["error[event_type_without_sample]: plan.json: fit: ", "order_placed"],
    );
    refused(
        write("events.ndjson", b"{\"event_type\":\"order_placed\"}\n"),
        compile,
        1,
        &["error[nonempty_floor]: plan.json: smoke: 0 of 1 samples"],
    );
    refused(
        write("graph.yaml", b"entities: [{name: Order}]\nrelationships: 7\n"),
        compile,
        2,
        &["error[graph_spec_syntax]: graph.yaml: "],
    );
    refused(
        |project| {
            let unknown = PLAN.replace("\"Order\"", "\"Ghost\"");
            project.write("plan.json", unknown);
        },
        compile,
        1,
        &["error[unknown_entity]: plan.json: fit: /target_entity_name"],
    );
}

#[test]
fn a_directory_that_cannot_be_written() {
    refused(
        |_| {},
        &["compile", "--out", "plan.json/out"],
        2,
        &["error[bundle_write_failed]: plan.json/out: "],
    );
    refused(
        |_| {},
        &["compile", "--out", "plan.json"],
        2,
        &["error[bundle_write_failed]: plan.json: "],
    );
    let project = Project::new();
    project.compile();
    let before = project.tree();
    for flag in ["--out", "--rejects"] {
        let args = ["run", "--bundles", "out", "events.ndjson", flag, "plan.json/x"];
        let ended = project.retort(args);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("error[file_not_writable]: plan.json/x: "), "{ended:?}");
    }
    assert_eq!(project.tree(), before);
}

#[test]
fn a_failed_compile_leaves_what_was_there() {
    let project = Project::new();
    let bundle = project.compile();
    let manifest = fs::read(project.path(&format!("{bundle}/manifest.json"))).unwrap();
    let before = project.tree();
    project.write("plan.json", PLAN.replace("\"id\"", "\"identity\""));
    assert_eq!(project.retort(["compile"]).code, 1);
    assert_eq!(project.tree(), before);
    assert_eq!(fs::read(project.path(&format!("{bundle}/manifest.json"))).unwrap(), manifest);
}

#[test]
fn a_bundle_edited_by_one_byte() {
    for name in ["extractor.wasm", "plan.json", "graph.json", "limits.json", "manifest.json"] {
        let project = Project::new();
        let bundle = project.compile();
        let path = project.path(&format!("{bundle}/{name}"));
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();

        let checked = project.retort(["check", &bundle, "--samples", "events.ndjson"]);
        assert_eq!(checked.code, 1, "{name}: {checked:?}");
        assert!(checked.stderr.contains(&format!("{bundle}/{name}: ")), "{name}: {checked:?}");
        let run = project.retort(["run", "--bundles", "out", "events.ndjson"]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}: {run:?}");
        assert!(run.stderr.contains("error[no_bundles]: out: "), "{name}: {run:?}");
        if name != "manifest.json" {
            assert!(run.stderr.contains("error[digest_mismatch]: "), "{name}: {run:?}");
        }
        let bench = project.retort(["bench", &bundle, "events.ndjson"]);
        assert_eq!((bench.code, bench.stdout.as_str()), (2, ""), "{name}: {bench:?}");
        // Compiling again puts it right.
        assert_eq!(project.compile(), bundle);
        assert_eq!(project.retort(["run", "--bundles", "out", "events.ndjson"]).code, 0, "{name}");
    }
}

#[test]
fn a_bundle_that_fails_leaves_the_others_at_work() {
    let project = Project::new();
    project.compile();
    fs::create_dir(project.path("out/other")).unwrap();
    let ended = project.retort(["run", "--bundles", "out", "events.ndjson"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (1, 2), "{ended:?}");
    assert!(ended.stderr.contains("error[manifest_missing]: out/other"), "{ended:?}");
}

#[test]
fn files_of_other_commands() {
    refused(|_| {}, &["run", "--bundles", "nowhere"], 2, &["error[file_not_found]: nowhere: "]);
    refused(
        |_| {},
        &["run", "--bundles", "plan.json"],
        2,
        &["error[file_not_readable]: plan.json"],
    );
    refused(|_| {}, &["check", "nowhere", "--samples", "events.ndjson"], 2, &["file_not_found"]);
    refused(
        |_| {},
        &["check", "retort.toml", "--samples", "events.ndjson"],
        2,
        &["error[unknown_artifact]: retort.toml: "],
    );
    refused(
        |_| {},
        &["check", "plan.json", "--samples", "nowhere"],
        2,
        &["file_not_found]: nowhere"],
    );
    refused(|_| {}, &["inspect", "nowhere"], 2, &["error[file_not_found]: nowhere: "]);
    refused(
        |_| {},
        &["render", "nowhere"],
        2,
        &["error[file_not_found]: nowhere: expected a plan"],
    );
    refused(|_| {}, &["render", "graph.yaml"], 1, &["error[invalid_json]: graph.yaml: plan: "]);
    refused(|_| {}, &["plan", "eval", "plan.json", "nowhere"], 2, &["file_not_found]: nowhere"]);
    refused(|_| {}, &["diagnose", "graph", "plan.json"], 2, &["error[unknown_report_kind]: "]);
    refused(
        |_| {},
        &["diagnose", "smoke", "graph.yaml"],
        2,
        &["error[file_not_json]: graph.yaml: "],
    );
    refused(
        |_| {},
        &["diagnose", "smoke", "plan.json"],
        2,
        &["error[invalid_report]: plan.json: "],
    );
    refused(
        |_| {},
        &["graph", "check", "--graph", "graph.yaml", "graph.yaml"],
        2,
        &["error[file_not_json]: graph.yaml: expected a result as JSON"],
    );
    refused(
        |_| {},
        &["graph", "check", "--graph", "graph.yaml", "plan.json"],
        2,
        &["error[result_wrong_shape]: plan.json: expected a result"],
    );
    refused(|_| {}, &["graph", "check", "plan.json"], 2, &["error[project_incomplete]: "]);
}

#[test]
fn events_are_all_found_before_anything_is_written() {
    let project = Project::new();
    let bundle = project.compile();
    project.write("r.ndjson", "kept");
    let args = ["run", "--bundles", "out", "events.ndjson", "nowhere", "--out", "r.ndjson"];
    let ended = project.retort(args);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error[file_not_found]: nowhere: "), "{ended:?}");
    assert_eq!(fs::read(project.path("r.ndjson")).unwrap(), b"kept");

    let events = fs::read(project.path("events.ndjson")).unwrap();
    for flag in ["--out", "--rejects"] {
        let ended =
            project.retort(["run", "--bundles", "out", "events.ndjson", flag, "./events.ndjson"]);
        assert!(ended.code == 2 && ended.stderr.contains("error[output_is_input]"), "{ended:?}");
        assert_eq!(fs::read(project.path("events.ndjson")).unwrap(), events);
    }
    let args = ["run", "--bundles", "out", "events.ndjson", "--out", "r.ndjson", "--rejects"];
    let ended = project.retort(args.into_iter().chain(["nowhere/x"]));
    assert!(
        ended.code == 2 && ended.stderr.contains("[file_not_writable]: nowhere/x"),
        "{ended:?}"
    );
    assert_eq!(fs::read(project.path("r.ndjson")).unwrap(), b"kept");
    fs::remove_file(project.path("r.ndjson")).unwrap();
    let before = project.tree();
    assert_eq!(project.retort(args.into_iter().chain(["nowhere/x"])).code, 2);
    assert_eq!(project.tree(), before);
    project.write("r.ndjson", "kept");
    let ended = project.retort(args.into_iter().chain(["./r.ndjson"]));
    assert!(ended.code == 2 && ended.stderr.contains("[output_is_input]: r.ndjson"), "{ended:?}");
    assert_eq!(fs::read(project.path("r.ndjson")).unwrap(), b"kept");
    let longer = project.write("r.ndjson", "x".repeat(100_000));
    let ended = project.retort(["run", "--bundles", "out", "events.ndjson", "--out", &longer]);
    assert_eq!((ended.code, fs::read_to_string(longer).unwrap().lines().count()), (0, 2));

    let empty = project.retort_on(["bench", &bundle, "-"], b"\n");
    assert!(empty.code == 2 && empty.stderr.contains("error[no_events]: stdin: "), "{empty:?}");
    let bad = project.retort_on(["bench", &bundle, "-"], b"{}\n[]\n");
    assert!(
        bad.code == 1 && bad.stderr.contains("error[event_not_object]: stdin line 2"),
        "{bad:?}"
    );
}

#[test]
fn a_byte_order_mark_is_named() {
    let project = Project::new();
    project.compile();
    project.write("expected.ndjson", "{\"line\":1}\n");
    for name in ["plan.json", "events.ndjson", "graph.yaml", "expected.ndjson"] {
        let marked = ["\u{feff}".as_bytes(), &fs::read(project.path(name)).unwrap()].concat();
        project.write(&format!("bom-{name}"), marked);
    }
    project.write("report.json", "\u{feff}{}");
    for (args, code, says) in [
        (&["plan", "check", "bom-plan.json"][..], 1, "error[invalid_json]: bom-plan.json: "),
        (&["compile", "--samples", "bom-events.ndjson"], 2, "error[sample_not_json]: bom-events"),
        (
            &["compile", "--expected", "bom-expected.ndjson"],
            2,
            "error[expected_invalid]: bom-expected.ndjson line 1: column 1: expected a value, found a byte",
        ),
        (&["diagnose", "smoke", "report.json"], 2, "error[file_not_json]: report.json: "),
        (&["plan", "eval", "plan.json", "bom-events.ndjson"], 1, "error[event_not_json]: bom-"),
        (&["run", "--bundles", "out", "bom-events.ndjson"], 1, "\"line\":1,\"code\":\"event_not_"),
    ] {
        let ended = project.retort(args.iter().copied());
        assert_eq!(ended.code, code, "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains("found a byte order mark"), "{args:?}: {ended:?}");
    }
    // In YAML it is allowed.
    assert_eq!(project.retort(["compile", "--graph", "bom-graph.yaml"]).code, 0);
}

#[test]
fn stdin_named_twice() {
    let project = Project::new();
    project.compile();
    for args in [
        &["run", "--bundles", "out", "-", "events.ndjson", "-", "--out", "r.ndjson"][..],
        &["compile", "--plan", "-", "--samples", "-"],
        &["plan", "eval", "-"],
        &["graph", "check", "--graph", "-", "-"],
        &["check", "plan.json", "--samples", "-", "--graph", "-"],
    ] {
        let before = project.tree();
        let stdin = if args.contains(&"plan") || args.contains(&"--plan") {
            fs::read(project.path("plan.json"))
        } else if args.contains(&"graph") {
            fs::read(project.path("graph.yaml"))
        } else {
            fs::read(project.path("events.ndjson"))
        };
        let ended = project.retort_on(args.iter().copied(), &stdin.unwrap());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains("error[stdin_twice]: stdin: expected "), "{ended:?}");
        assert_eq!(project.tree(), before, "{args:?}");
    }
}

#[test]
fn no_arguments_and_unknown_commands() {
    assert_eq!(retort::<&str>([]).code, 2);
    assert_eq!(retort(["frobnicate"]).code, 2);
    assert_eq!(retort(["explain"]).code, 2);
    assert_eq!(retort(["--version"]).code, 0);
}
