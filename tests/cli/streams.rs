//! `retort run` over streams.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::project::{EVENTS, PLAN, Project};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_bad_event_never_stops_the_stream() {
    let project = Project::new();
    let bundle = project.compile();
    let bad = "{\"event_type\":\"order_placed\",\"content\":{\"id\":1}\n[1]\n\"\u{0}\"\n";
    let events =
        [EVENTS.as_bytes(), bad.as_bytes(), b"{\"x\":\"\xff\"}\r\n", EVENTS.as_bytes()].concat();
    let args = ["run", "--bundles", "out", "--rejects", "rejects.ndjson"];
    let ended = project.retort_on(args, &events);
    assert_eq!(ended.code, 1, "{ended:?}");
    let found = lines(&ended.stdout);
    let numbers: Vec<_> = found.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 10, 11]);
    assert!(ended.stdout.starts_with("{\"line\":1,\"event_type\":\"order_placed\",\"bundle\":\""));
    assert_eq!(found[0].as_object().unwrap().len(), 4);
    assert_eq!(found[0]["event_type"], "order_placed");
    assert!(bundle.ends_with(found[0]["bundle"].as_str().unwrap()));
    assert_eq!(found[0]["result"]["fully_handled_span_ids"][0], "a");

    let rejects = lines(&std::fs::read_to_string(project.path("rejects.ndjson")).unwrap());
    let codes: Vec<_> = rejects
        .iter()
        .map(|line| (line["line"].as_u64().unwrap(), line["code"].as_str().unwrap()))
        .collect();
    assert_eq!(
        codes,
        [
            (6, "event_not_json"),
            (7, "event_not_object"),
            (8, "event_not_json"),
            (9, "event_not_utf8")
        ]
    );
    assert!(rejects[0]["message"].as_str().unwrap().contains("at offset"), "{rejects:?}");
    assert_eq!(rejects[0].as_object().unwrap().len(), 3);
    assert!(
        ended.stderr.starts_with("12 events: 4 results, 2 empty, 2 unrouted, 4 rejected\n"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("2 event_not_json\n"), "{}", ended.stderr);
}

#[test]
fn rejects_go_to_stderr_unless_a_file_is_named() {
    let project = Project::new();
    project.compile();
    let ended = project.retort_on(["run", "--bundles", "out", "-"], b"nothing");
    assert!(ended.stderr.starts_with("{\"line\":1,\"code\":\"event_not_json\","), "{ended:?}");
}

#[test]
fn several_files_are_told_apart() {
    let project = Project::new();
    project.compile();
    project.write("b.ndjson", "{\n");
    let ended = project.retort([
        "run",
        "--bundles",
        "out",
        "events.ndjson",
        "b.ndjson",
        "events.ndjson",
        "--out",
        "r.ndjson",
        "--rejects",
        "j.ndjson",
    ]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    let read = |name: &str| lines(&std::fs::read_to_string(project.path(name)).unwrap());
    let places: Vec<_> = read("r.ndjson")
        .iter()
        .map(|line| format!("{} {}", line["file"].as_str().unwrap(), line["line"]))
        .collect();
    assert_eq!(
        places,
        ["events.ndjson 1", "events.ndjson 2", "events.ndjson 1", "events.ndjson 2"]
    );
    let rejects = read("j.ndjson");
    assert_eq!((rejects.len(), &rejects[0]["file"]), (1, &Value::from("b.ndjson")));
}

#[test]
fn the_type_that_counts_is_the_last_one_whatever_it_looks_like() {
    let project = Project::new();
    project.write(
        "quoted.json",
        PLAN.replace("order_placed", "a\\\"b\\n").replace("read_order", "read_quoted"),
    );
    project.compile();
    project.write("q.ndjson", r#"{"event_type":"a\"b\n","content":{"id":"1"}}"#);
    let ended = project.retort(["compile", "--plan", "quoted.json", "--samples", "q.ndjson"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let served = |event: &str| {
        let ended = project.retort_on(["run", "--bundles", "out"], event.as_bytes());
        let results = lines(&ended.stdout);
        let rejected = ended.code == 1;
        (results.first().map(|line| line["event_type"].as_str().unwrap().to_owned()), rejected)
    };
    let order = (Some("order_placed".to_owned()), false);
    let quoted = (Some("a\"b\n".to_owned()), false);
    let none = (None, false);
    for (event, expected) in [
        (r#"{"event_type":"order_placed","content":{"id":"1"}}"#, &order),
        (r#"{"content":{"id":"1"},"event_type":"order_placed"}"#, &order),
        (r#"{ "event_type" : "order_placed", "content":{"id":"1"}}"#, &order),
        (r#"{"event_type":"order\u005fplaced","content":{"id":"1"}}"#, &order),
        (r#"{"event\u005ftype":"order_placed","content":{"id":"1"}}"#, &order),
        (r#"{"event_type":"x","event_type":"order_placed","content":{"id":"1"}}"#, &order),
        (r#"{"event_type":7,"event\u005ftype":"order_placed","content":{"id":"1"}}"#, &order),
        (r#"{"content":{"event_type":"x","id":"1"},"event_type":"order_placed"}"#, &order),
        (
            r#"{"note":"\"event_type\":\"x\"","event_type":"order_placed","content":{"id":"1"}}"#,
            &order,
        ),
        (r#"{"event_type":"a\"b\n","content":{"id":"1"}}"#, &quoted),
        (r#"{"event_type":"a\u0022b\u000a","content":{"id":"1"}}"#, &quoted),
        (r#"{"event_type":"order_placed","event_type":"a\"b\n","content":{"id":"1"}}"#, &quoted),
        (r#"{"event_type":"order_placed","event_type":"x","content":{"id":"1"}}"#, &none),
        (r#"{"event_type":"order_placed","event_type":null,"content":{"id":"1"}}"#, &none),
        (r#"{"content":{"event_type":"order_placed","id":"1"}}"#, &none),
        (r#"{"content":{"id":"1"}}"#, &none),
        (r#"{"event_type":"order_placed","event_type":"x","content":{"id":"1"}}}"#, &(None, true)),
        (r#"{"event_type":"x","content":{"id":"1"}"#, &(None, true)),
        (r#"{"content":{"id":1e999}}"#, &(None, true)),
    ] {
        assert_eq!(&served(event), expected, "{event}");
    }
}

#[test]
fn results_are_held_to_the_graph() {
    let project = Project::new();
    project.compile();
    let event = br#"{"event_type":"order_placed","content":{"id":"o","total":"x"}}"#;
    let unchecked = project.retort_on(["run", "--bundles", "out", "--no-graph-check"], event);
    assert_eq!((unchecked.code, unchecked.stdout.lines().count()), (0, 1), "{unchecked:?}");
    let whole = lines(&unchecked.stdout).remove(0);
    let checked = project.retort_on(["run", "--bundles", "out"], event);
    assert_eq!(checked.code, 1, "{checked:?}");
    let part = lines(&checked.stdout).remove(0);
    let properties = |line: &Value| line["result"]["nodes"][0]["properties"].clone();
    assert_eq!(properties(&part), json!([properties(&whole)[0]]));
    assert_eq!(part["dropped"][0]["code"], "type_mismatch");
    assert_eq!(part["dropped"][0]["path"], "nodes[0].properties[1].value");
    assert_eq!(whole["dropped"], Value::Null);
    assert!(checked.stderr.contains("1 results, 0 empty, 0 unrouted, 0 rejected"), "{checked:?}");
    assert!(checked.stderr.contains(", 1 results in part\n       1 type_mismatch dropped"));
    // Nothing is left of a node without a key.
    let event = br#"{"event_type":"order_placed","content":{"id":"","total":1}}
{"event_type":"order_placed","content":{"id":"o","total":1}}"#;
    let checked = project.retort_on(["run", "--bundles", "out", "--rejects", "j.ndjson"], event);
    assert_eq!((checked.code, checked.stdout.lines().count()), (1, 1), "{checked:?}");
    let rejects = lines(&std::fs::read_to_string(project.path("j.ndjson")).unwrap());
    assert_eq!((&rejects[0]["line"], &rejects[0]["code"]), (&json!(1), &json!("missing_key")));
}

#[test]
fn an_event_beyond_the_limit_is_skipped_and_told() {
    let project = Project::new();
    let bundle = project.compile();
    let mut events = vec![b'x'; (16 << 20) + 1];
    events.push(b'\n');
    events.extend_from_slice(EVENTS.as_bytes());
    for (args, lines) in [(&["run", "--bundles", "out"], 2), (&["plan", "eval", "plan.json"], 4)] {
        let ended = project.retort_on(args.iter().copied(), &events);
        assert_eq!((ended.code, ended.stdout.lines().count()), (1, lines));
        assert!(ended.stderr.contains("event_too_large"), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("the event has 16777217 bytes, 16777216 are allowed"),
            "{}",
            ended.stderr
        );
    }
    let ended = project.retort_on(["bench", &bundle, "-", "--events", "10"], &events);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("warning[event_too_large]: stdin line 1: "), "{}", ended.stderr);
}

#[test]
fn a_reader_that_goes_away_ends_the_stream_quietly() {
    let project = Project::new();
    project.compile();
    let mut events = String::new();
    for _ in 0..20_000 {
        writeln!(events, "{}", EVENTS.lines().next().unwrap()).unwrap();
    }
    project.write("many.ndjson", events);
    let mut child = Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(["run", "--bundles", &project.path("out"), &project.path("many.ndjson")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"line\":1,"));
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn results_come_while_the_input_is_still_open() {
    let project = Project::new();
    project.compile();
    let mut child = Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(["run", "--bundles", &project.path("out")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for number in 1..=3 {
        writeln!(input, "{}", EVENTS.lines().next().unwrap()).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert!(line.starts_with(&format!("{{\"line\":{number},")), "{line}");
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Changes a byte of a bundle's module.
fn damage(project: &Project, bundle: &str) {
    let path = project.path(&format!("{bundle}/extractor.wasm"));
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_bundle_is_loaded_with_its_first_event_where_that_is_asked_for() {
    let project = Project::new();
    let bundle = project.compile();
    let lazily = ["run", "--bundles", "out", "--load", "first-event", "--rejects", "r.ndjson"];
    let eagerly = project.retort(["run", "--bundles", "out", "events.ndjson"]);
    let ended = project.retort(lazily.into_iter().chain(["events.ndjson"]));
    assert_eq!((ended.code, &ended.stdout), (0, &eagerly.stdout), "{ended:?}");

    damage(&project, &bundle);
    let ended = project.retort_on(lazily, b"{\"event_type\":\"another\"}\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{ended:?}");
    assert!(!ended.stderr.contains("error"), "{ended:?}");
    let ended = project.retort(lazily.into_iter().chain(["events.ndjson"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    let told = format!("error[digest_mismatch]: {bundle}/extractor.wasm: ");
    assert_eq!(ended.stderr.matches(&told).count(), 1, "{ended:?}");
    let rejects = lines(&std::fs::read_to_string(project.path("r.ndjson")).unwrap());
    assert!(rejects.len() > 1);
    for reject in rejects {
        assert_eq!(reject["code"], "digest_mismatch");
        assert!(reject["message"].as_str().unwrap().contains("extractor.wasm"), "{reject}");
    }
}

#[test]
fn of_many_bundles_each_is_loaded_with_its_first_event() {
    let project = Project::new();
    let bundle = project.compile();
    damage(&project, &bundle);
    for (others, when, code) in [(63, None, 2), (64, None, 1), (64, Some("at-start"), 2)] {
        for number in 0..others {
            std::fs::create_dir_all(project.path(&format!("out/{number}"))).unwrap();
        }
        let asked = when.map(|when| ["--load", when]).into_iter().flatten();
        let ended = project
            .retort(["run", "--bundles", "out"].into_iter().chain(asked).chain(["events.ndjson"]));
        assert_eq!(ended.code, code, "{others} {ended:?}");
    }
}
