//! How much is read of each kind of document.

use std::fs;
use std::os::unix::fs::symlink;

use retort::internal::document::DocumentKind;

use super::project::{EVENTS, PLAN, Project};

/// What a command says of a document of this many bytes; the text is filled up with what doesn't matter.
fn said(project: &Project, file: &str, text: &str, fill: &str, bytes: usize, args: &str) -> String {
    let rest = bytes - text.len();
    project.write(file, text.to_owned() + &fill.repeat(rest / fill.len()));
    let ended = project.retort(args.split(' '));
    assert_eq!(ended.stdout.len().min(1), usize::from(ended.code == 0), "{args}: {ended:?}");
    ended.stderr
}

/// At the limit of a document it is read, and a byte above it isn't.
fn limited(kind: DocumentKind, code: &str, file: &str, (text, fill): (&str, &str), args: &str) {
    let project = Project::new();
    let allowed = kind.max_bytes();
    let at = said(&project, file, text, fill, allowed, args);
    assert!(!at.contains("too_large"), "{file}: {at}");
    let above = said(&project, file, text, fill, allowed + 1, args);
    let message =
        format!("error[{code}]: {file}: expected {} of at most {allowed} bytes", kind.name());
    assert!(above.contains(&message), "{file}: {above}");
}

#[test]
fn a_document_may_be_as_long_as_its_kind() {
    let toml = "plan = \"plan.json\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\noutput = \"out\"\n#";
    limited(DocumentKind::ProjectFile, "file_too_large", "retort.toml", (toml, "x"), "compile");
    limited(DocumentKind::Plan, "file_too_large", "plan.json", (PLAN, " "), "plan check plan.json");
    limited(
        DocumentKind::Plan,
        "file_too_large",
        "plan.json",
        (PLAN, " "),
        "plan check plan.json --json",
    );
    limited(DocumentKind::Plan, "file_too_large", "plan.json", (PLAN, " "), "render plan.json");
    limited(DocumentKind::Plan, "file_too_large", "plan.json", (PLAN, " "), "inspect plan.json");
    limited(
        DocumentKind::Value,
        "file_too_large",
        "v.json",
        ("{}", " "),
        "plan expression @ v.json",
    );
    limited(
        DocumentKind::Rule,
        "file_too_large",
        "rule.md",
        ("Orders ", "x"),
        "compile --rule rule.md",
    );
    limited(
        DocumentKind::EventSchema,
        "file_too_large",
        "schema.json",
        ("{}", " "),
        "check plan.json --samples events.ndjson --schema schema.json",
    );
    limited(
        DocumentKind::Policy,
        "policy_too_large",
        "policy.json",
        ("{}", " "),
        "check plan.json --samples events.ndjson --policy policy.json",
    );
    let report = r#"{"code":"empty_path","path":"","message":"x"}"#;
    limited(
        DocumentKind::Report,
        "file_too_large",
        "r.json",
        (report, " "),
        "diagnose parse r.json",
    );
    let result =
        r#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;
    let args = "graph check --graph graph.yaml r.json";
    limited(DocumentKind::Result, "file_too_large", "r.json", (result, " "), args);
}

#[test]
fn what_has_no_end_is_read_to_its_limit() {
    let project = Project::new();
    project.write("rule.md", "Every order becomes an Order.");
    project.compile();
    symlink("/dev/zero", project.path("endless.wasm")).unwrap();
    symlink("/dev/zero", project.path("endless.wat")).unwrap();
    let check = "check plan.json --samples events.ndjson";
    for (args, code) in [
        ("plan check /dev/zero", "file_too_large"),
        ("plan eval /dev/zero events.ndjson", "file_too_large"),
        ("render /dev/zero", "file_too_large"),
        ("repair /dev/zero --graph graph.yaml --samples events.ndjson", "file_too_large"),
        ("compile --plan /dev/zero", "file_too_large"),
        ("compile --rule /dev/zero", "file_too_large"),
        ("compile --schema /dev/zero", "file_too_large"),
        ("compile --graph /dev/zero", "graph_spec_too_large"),
        ("compile --ontology /dev/zero --binding graph.yaml", "graph_spec_too_large"),
        ("compile --ontology graph.yaml --binding /dev/zero", "graph_spec_too_large"),
        ("compile --policy /dev/zero", "policy_too_large"),
        ("compile --samples /dev/zero", "samples_too_large"),
        ("compile --expected /dev/zero", "expected_too_large"),
        ("label --all --expected /dev/zero", "expected_too_large"),
        ("compile --rule rule.md --model replay:/dev/zero", "model_replay_failed"),
        (&format!("{check} --policy /dev/zero"), "policy_too_large"),
        (&format!("{check} --graph /dev/zero"), "graph_spec_too_large"),
        ("check endless.wasm --samples events.ndjson", "file_too_large"),
        ("check endless.wat --samples events.ndjson", "file_too_large"),
        ("inspect endless.wasm", "file_too_large"),
        ("inspect endless.wat", "file_too_large"),
        ("selftest --list --policy /dev/zero", "policy_too_large"),
        ("graph check --graph graph.yaml /dev/zero", "file_too_large"),
        ("graph check --graph /dev/zero events.ndjson", "graph_spec_too_large"),
        ("diagnose smoke /dev/zero", "file_too_large"),
    ] {
        let ended = project.retort(args.split(' '));
        assert_eq!(ended.code, 2, "{args}: {ended:?}");
        assert!(ended.stderr.contains(&format!("error[{code}]: ")), "{args}: {ended:?}");
        assert!(ended.stderr.contains(", found more"), "{args}: {ended:?}");
    }
}

#[test]
fn stdin_and_pipes_are_read_to_their_limit() {
    let project = Project::new();
    let allowed = DocumentKind::Plan.max_bytes();
    let long = PLAN.to_owned() + &" ".repeat(allowed - PLAN.len());
    assert_eq!(project.retort_on(["plan", "check", "-"], long.as_bytes()).code, 0);
    let ended = project.retort_on(["plan", "check", "-"], (long.clone() + " ").as_bytes());
    assert!(ended.stderr.contains("error[file_too_large]: stdin: "), "{ended:?}");

    let pipe = project.path("pipe.json");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &*pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for (text, code) in [(long.clone(), 0), (long.repeat(4), 2)] {
        let path = pipe.clone();
        // It is left with what nobody reads, where there is too much.
        let writer = std::thread::spawn(move || fs::write(path, text));
        let ended = project.retort(["check", "pipe.json", "--samples", "events.ndjson"]);
        assert_eq!(ended.code, code, "{ended:?}");
        assert_eq!(writer.join().unwrap().is_ok(), code == 0);
    }
    let policy = project.path("policy.pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &*policy, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let writer = std::thread::spawn(move || fs::write(policy, "deny: [content.secret]\n"));
    let ended = project.retort(["compile", "--policy", "policy.pipe"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    writer.join().unwrap().unwrap();
}

#[test]
fn a_sample_may_be_as_long_as_an_event_that_is_served() {
    let project = Project::new();
    let line = |bytes: usize| {
        let event = r#"{"event_type":"order_placed","content":{"id":"o9","text":""}}"#;
        event.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - event.len())))
    };
    let event_bytes = retort::Limits::default().event_bytes;
    let check = ["check", "plan.json", "--samples", "long.ndjson"];
    // This is about bytes: a debug build on a busy machine may take longer over them than an event has.
    let patient = || check.into_iter().chain(["--policy", "patient.json"]);
    project.write("patient.json", "{\"limits\": {\"deadline_ms\": 60000}}");
    project.write("long.ndjson", EVENTS.to_owned() + &line(event_bytes));
    let ended = project.retort(patient());
    assert_eq!(ended.code, 0, "{ended:?}");
    project.write("long.ndjson", EVENTS.to_owned() + &line(event_bytes + 1));
    let ended = project.retort(patient());
    assert_eq!(ended.code, 2, "{ended:?}");
    let (used, line_number) = (event_bytes + 1, 6);
    let message = format!(
        "error[sample_too_large]: long.ndjson line {line_number}: expected a sample of at most {event_bytes} bytes, found {used}"
    );
    assert!(ended.stderr.contains(&message), "{ended:?}");
    // A policy that allows larger events allows larger samples, and one that allows smaller ones is what the run is under.
    project.write(
        "large.json",
        format!("{{\"limits\": {{\"event_bytes\": {used}, \"deadline_ms\": 60000}}}}"),
    );
    let ended = project.retort(check.into_iter().chain(["--policy", "large.json"]));
    assert_eq!(ended.code, 0, "{ended:?}");
    project.write("small.json", "{\"limits\": {\"event_bytes\": 1000}}");
    project.write("long.ndjson", EVENTS.to_owned() + &line(1001));
    let ended = project.retort(check.into_iter().chain(["--policy", "small.json"]));
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("error[event_too_large]"), "{ended:?}");
}

#[test]
fn a_tree_of_values_is_not_built_of_too_many() {
    let project = Project::new();
    project.write("rule.md", "Every order becomes an Order.");
    // An object, a key, an array and what is in it; in a report and in a result of no shape that is known.
    let values = |count: usize| format!("{{\"a\":[{}0]}}", "0,".repeat(count - 4));
    for (kind, code, args) in [
        (DocumentKind::Report, "file_too_large", "diagnose parse many.json"),
        (DocumentKind::Result, "file_too_large", "graph check --graph graph.yaml many.json"),
        (DocumentKind::Rule, "task_document_too_large", "prompt --rule many.json"),
        (DocumentKind::Expected, "expected_too_large", "compile --expected many.json"),
        (
            DocumentKind::EventSchema,
            "task_document_too_large",
            "prompt --rule rule.md --schema many.json",
        ),
    ] {
        let allowed = kind.max_values().unwrap();
        project.write("many.json", values(allowed));
        let ended = project.retort(args.split(' '));
        assert!(!ended.stderr.contains("too_large"), "{args}: {}", ended.stderr);
        project.write("many.json", values(allowed + 1));
        let ended = project.retort(args.split(' '));
        assert_eq!(ended.code, 2, "{args}");
        assert!(
            ended.stderr.contains(&format!("error[{code}]: many.json: ")),
            "{args}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains("JSON values, found more"), "{args}: {}", ended.stderr);
    }
}
