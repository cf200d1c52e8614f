//! `retort bench`: what it measures, what it leaves out, and how it compares.

use std::collections::BTreeSet;
use std::fs;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project};

/// Small enough to be over soon.
const FEW: [&str; 2] = ["--events", "62"];

/// A plan for the other events of the project.
const SHIPPED: &str = r#"{
  "event_type": "order_shipped",
  "target_entity_name": "Order",
  "function_name": "read_shipped",
  "key_field": {"property_name": "order_id", "source_path": ["session_id"]},
  "property_fields": []
}"#;

/// A project with its bundle, and its path.
fn compiled() -> (Project, String) {
    let project = Project::new();
    let bundle = project.compile();
    (project, bundle)
}

/// A bundle of other events, and a version of the first one that reads less.
fn others(project: &Project) -> [String; 2] {
    project.write("shipped.json", SHIPPED);
    let less = PLAN.replace(",\n  \"span_handling\": {\"span_id_path\": [\"span_id\"]}", "");
    project.write("less.json", less);
    ["shipped.json", "less.json"].map(|plan| {
        let ended = project.retort(["compile", "--plan", plan, "--out", "more"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.stdout.trim().to_owned()
    })
}

fn json_of(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// Runs it with `--json`, few events and these arguments.
fn bench<'a>(project: &Project, args: impl IntoIterator<Item = &'a str>) -> Ended {
    project.retort(["bench"].into_iter().chain(args).chain(FEW).chain(["--json"]))
}

/// A report without what differs from run to run and from machine to machine.
fn masked(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let is_exact = |key: &str| {
                [
                    "count",
                    "bytes",
                    "result_bytes",
                    "empty",
                    "lines",
                    "unrouted",
                    "events",
                    "batch",
                    "threads",
                    "bench_version",
                    "failed",
                ]
                .contains(&key)
            };
            let field = |(key, value): (&String, &Value)| {
                let shown = match key.as_str() {
                    "measured_at" | "cpu" | "retort" | "wasmtime" | "build" | "os" | "arch"
                    | "fingerprint" | "sha256" => json!("text"),
                    "histogram" => json!("bins"),
                    "rejected" => value.clone(),
                    key if is_exact(key) && value.is_number() => value.clone(),
                    _ => masked(value),
                };
                (key.clone(), shown)
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(masked).collect()),
        Value::Number(_) => json!("figure"),
        other => other.clone(),
    }
}

#[test]
fn every_figure_is_in_the_report() {
    let (project, bundle) = compiled();
    let [shipped, _] = others(&project);
    project.write(
        "bad.ndjson",
        format!("{}[]\n{{\"event_type\":\"other\"}}\n{{\n", super::project::EVENTS),
    );
    let args = [
        "--threads",
        "1,2",
        "--isolation",
        "warm,per-batch,per-event",
        "--batch",
        "7",
        "--cold-start",
        "--without-limits",
    ];
    let ended = bench(&project, [bundle.as_str(), &shipped, "bad.ndjson"].into_iter().chain(args));
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = json_of(&ended);
    insta::assert_json_snapshot!("bench", masked(&report));
    for bundle in report["bundles"].as_array().unwrap() {
        assert_eq!(bundle["runs"].as_array().unwrap().len(), 6);
        for run in bundle["runs"].as_array().unwrap() {
            let figure = |pointer: &str| run.pointer(pointer).and_then(Value::as_f64).unwrap();
            let times = ["fastest", "p25", "median", "p75"]
                .map(|it| figure(&format!("/ns_per_event/{it}")));
            assert!(times.is_sorted() && times[0] > 0.0, "{run}");
            let latency =
                ["p50", "p90", "p99", "p999", "max"].map(|it| figure(&format!("/latency_ns/{it}")));
            assert!(latency.is_sorted() && latency[0] >= 100.0, "{run}");
            let rate = figure("/events_per_s") * figure("/ns_per_event/median");
            assert!((rate / 1e9 - 1.0).abs() < 0.01, "{run}");
            let counted = run["latency_ns"]["histogram"].as_array().unwrap();
            let counted: u64 = counted.iter().map(|bin| bin[2].as_u64().unwrap()).sum();
            let turns = run["ns_per_event"]["turns"].as_u64().unwrap();
            assert!(counted >= 62 / 31 * turns * run["threads"].as_u64().unwrap(), "{run}");
            if let Some(share) = run["steps"]["share"].as_object() {
                let sum: f64 = share.values().map(|part| part.as_f64().unwrap()).sum();
                assert!((sum - 1.0).abs() < 1e-3, "{run}");
            }
        }
        assert!(bundle["fuel"]["per_event"].as_f64().unwrap() > 0.0, "{bundle}");
    }
}

#[test]
fn the_table_says_the_same_to_a_person() {
    let (project, bundle) = compiled();
    let ended = project.retort(["bench", &bundle, "events.ndjson"].into_iter().chain(FEW));
    assert_eq!(ended.code, 0, "{ended:?}");
    for part in ["read_order (", "warm, 1 thread", "p99.9", "oracle", "events/s", "fuel", "check"] {
        assert!(ended.stdout.contains(part), "{part}: {ended:?}");
    }
    assert!(
        ended.stderr.contains("note: events.ndjson: of 4 lines, 0 are no event and 1 of no type"),
        "{ended:?}"
    );
}

#[test]
fn lines_that_cant_be_measured_are_counted_by_code() {
    let (project, bundle) = compiled();
    let good = super::project::EVENTS.lines().next().unwrap();
    let large = good.replace("\"o1\"", &format!("\"{}\"", "x".repeat(400)));
    project.write("policy.yaml", "limits: {input_bytes: 500}\n");
    project.write("mixed.ndjson", format!("[1]\n{good}\n{{\n[]\n\n{large}\n{good}\n"));
    let args = [bundle.as_str(), "mixed.ndjson", "--policy", "policy.yaml"];
    let ended = bench(&project, args);
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = json_of(&ended);
    assert_eq!(report["input"]["lines"], 6);
    assert_eq!(report["input"]["rejected"], json!({"event_not_json": 1, "event_not_object": 2}));
    let events = &report["bundles"][0]["events"];
    assert_eq!(
        (&events["count"], &events["rejected"]),
        (&json!(2), &json!({"input_too_large": 1}))
    );
    for told in [
        "warning[event_not_object]: mixed.ndjson line 1 and 1 more: ",
        "warning[event_not_json]: mixed.ndjson line 3: ",
        "warning[input_too_large]: mixed.ndjson line 6: ",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {ended:?}");
    }

    project.write("bad.ndjson", "{\n[]\n");
    let ended = bench(&project, [bundle.as_str(), "bad.ndjson"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("error[event_not_object]: bad.ndjson line 2: "), "{ended:?}");
    assert!(ended.stderr.contains("error[event_not_json]: bad.ndjson line 1: "), "{ended:?}");
}

#[test]
fn each_bundle_gets_the_events_of_its_types() {
    let (project, bundle) = compiled();
    let [shipped, less] = others(&project);
    let ended = bench(&project, [bundle.as_str(), &shipped, &less, "events.ndjson"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let report = json_of(&ended);
    let bundles = report["bundles"].as_array().unwrap();
    let events: Vec<u64> =
        bundles.iter().map(|bundle| bundle["events"]["count"].as_u64().unwrap()).collect();
    assert_eq!(events, [3, 1, 3]);
    // Two versions are held against each other on the same events.
    assert_eq!(bundles[0]["events"]["sha256"], bundles[2]["events"]["sha256"]);
    assert_ne!(bundles[0]["events"]["sha256"], bundles[1]["events"]["sha256"]);

    // What there are no events for isn't measured, and the others are.
    let placed = super::project::EVENTS.lines().next().unwrap();
    project.write("placed.ndjson", placed);
    let ended = bench(&project, [bundle.as_str(), &shipped, "placed.ndjson"]);
    assert_eq!((ended.code, json_of(&ended)["bundles"].as_array().unwrap().len()), (1, 1));
    assert!(ended.stderr.contains("error[no_events_of_type]: placed.ndjson: "), "{ended:?}");
    assert!(ended.stderr.contains("`read_shipped` declares (order_shipped)"), "{ended:?}");
    let ended = bench(&project, [shipped.as_str(), "placed.ndjson"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
}

/// A report whose times are so many times what they are.
fn times(report: &Value, factor: f64) -> Value {
    let mut report = report.clone();
    for bundle in report["bundles"].as_array_mut().unwrap() {
        let runs = bundle["runs"].as_array_mut().unwrap().iter_mut();
        for spread in runs.map(|run| &mut run["ns_per_event"]) {
            for figure in ["fastest", "p25", "median", "p75"] {
                spread[figure] = json!(spread[figure].as_f64().unwrap() * factor);
            }
        }
    }
    report
}

#[test]
fn a_baseline_decides_the_verdict() {
    let (project, bundle) = compiled();
    let first = bench(&project, [bundle.as_str(), "events.ndjson"]);
    let report = json_of(&first);
    // As far from noise as figures can be.
    project.write("fast.json", times(&report, 1e-3).to_string());
    project.write("slow.json", times(&report, 1e3).to_string());
    let against = |baseline: &str, more: &[&str]| {
        let args = [bundle.as_str(), "events.ndjson", "--baseline", baseline];
        bench(&project, args.into_iter().chain(more.iter().copied()))
    };
    let slower = against("fast.json", &["--html", "slower.html"]);
    let comparison = &json_of(&slower)["comparison"];
    assert_eq!((slower.code, &comparison["slower"]), (1, &json!(1)), "{slower:?}");
    let change = &comparison["changes"][0];
    assert_eq!((&change["verdict"], &change["what"]), (&json!("slower"), &json!("warm, 1 thread")));
    assert!(change["ratio"].as_f64().unwrap() > 100.0, "{change}");
    assert_eq!(comparison["fuel"], json!([]));
    assert!(fs::read_to_string(project.path("slower.html")).unwrap().contains("1 of 1 slower"));

    let faster = against("slow.json", &[]);
    let comparison = &json_of(&faster)["comparison"];
    assert_eq!((faster.code, &comparison["changes"][0]["verdict"]), (0, &json!("faster")));
    // What is tolerated is tolerated.
    project.write("near.json", times(&report, 0.3).to_string());
    let tolerated = against("near.json", &["--tolerance", "1000%"]);
    assert_eq!(tolerated.code, 0, "{tolerated:?}");

    // A slower median alone is what a busy machine does: the quieter turns have to be slower too.
    let mut noisy = times(&report, 1e-3);
    noisy["bundles"][0]["runs"][0]["ns_per_event"]["p25"] = json!(1e9);
    project.write("noisy.json", noisy.to_string());
    let noisy = against("noisy.json", &[]);
    assert_eq!(json_of(&noisy)["comparison"]["changes"][0]["verdict"], "same", "{noisy:?}");
    assert_eq!(noisy.code, 0);
}

#[test]
fn fuel_is_compared_exactly() {
    let (project, bundle) = compiled();
    let report = json_of(&bench(&project, [bundle.as_str(), "events.ndjson"]));
    let fuel = report["bundles"][0]["fuel"]["total"].as_u64().unwrap();
    let mut changed = times(&report, 1e3);
    changed["bundles"][0]["fuel"]["total"] = json!(fuel - 1);
    project.write("changed.json", changed.to_string());
    let args = [bundle.as_str(), "events.ndjson", "--baseline", "changed.json"];
    let ended = bench(&project, args);
    let expected = json!([{"bundle": "read_order", "was": fuel - 1, "is": fuel}]);
    assert_eq!((ended.code, &json_of(&ended)["comparison"]["fuel"]), (0, &expected));
    let told = project.retort(["bench"].into_iter().chain(args).chain(FEW));
    assert!(told.stdout.contains("read_order: fuel of all events "), "{told:?}");

    // Of other events, nothing is said of it but that.
    changed["bundles"][0]["events"]["sha256"] = json!("other");
    changed["machine"]["cores"] = json!(4096);
    project.write("changed.json", changed.to_string());
    let ended = bench(&project, args);
    assert_eq!(json_of(&ended)["comparison"]["fuel"], json!([]));
    assert!(ended.stderr.contains("the baseline was measured on other events"), "{ended:?}");
    assert!(ended.stderr.contains("the baseline was measured on another machine"), "{ended:?}");
}

#[test]
fn what_only_one_of_two_runs_has_is_told() {
    let (project, bundle) = compiled();
    let [shipped, less] = others(&project);
    let mut was = json_of(&bench(&project, [bundle.as_str(), &shipped, "events.ndjson"]));
    was["bundles"][1]["name"] = json!(format!("old\u{1b}[2J{}", "x".repeat(1_000)));
    project.write("was.json", times(&was, 1e3).to_string());
    // Another version of the first one: it is compared with what has its function.
    let ended = bench(&project, [less.as_str(), "events.ndjson", "--baseline", "was.json"]);
    let comparison = &json_of(&ended)["comparison"];
    assert_eq!((ended.code, comparison["changes"].as_array().unwrap().len()), (0, 1), "{ended:?}");
    assert_eq!(comparison["changes"][0]["bundle"], "read_order");
    assert!(ended.stderr.contains(".. in the baseline, "), "{ended:?}");
    assert!(ended.stderr.contains("note: `old\\u{1b}[2Jxxx"), "{ended:?}");
    assert!(!ended.stderr.contains(&"x".repeat(300)), "{ended:?}");
    // Of both, each is compared with itself.
    let both = [bundle.as_str(), &less, "events.ndjson", "--baseline", "was.json"];
    let ended = bench(&project, both);
    let changes = json_of(&ended)["comparison"]["changes"].as_array().unwrap().clone();
    assert_eq!((ended.code, changes.len()), (0, 1), "{ended:?}");
    assert!(changes[0]["bundle"].as_str().unwrap().starts_with("read_order ("), "{ended:?}");
    assert!(ended.stderr.contains("the baseline has no `read_order ("), "{ended:?}");
}

#[test]
fn a_baseline_that_tells_nothing_is_refused() {
    let (project, bundle) = compiled();
    let report = json_of(&bench(&project, [bundle.as_str(), "events.ndjson"]));
    let with = |pointer: &str, value: Value| {
        let mut changed = report.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed.to_string()
    };
    for (text, code, said) in [
        ("{".to_owned(), "file_not_json", "a.json: expected a report of a bench as JSON"),
        ("[]".to_owned(), "baseline_invalid", "at bench_version: expected version 1"),
        (
            with("/bench_version", json!(2)),
            "baseline_invalid",
            "at bench_version: expected version 1 of the form, found 2",
        ),
        (
            with("/bundles/0/runs/0/threads", json!("x")),
            "baseline_invalid",
            "at bundles[0].runs[0].threads: expected",
        ),
        (with("/bundles/0/runs/0/threads", json!(3)), "baseline_unrelated", "a.json: "),
        (with("/bundles", json!([])), "baseline_unrelated", "a.json: "),
    ] {
        project.write("a.json", text);
        let ended = bench(&project, [bundle.as_str(), "events.ndjson", "--baseline", "a.json"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{code}: {ended:?}");
        assert!(ended.stderr.contains(&format!("error[{code}]: ")), "{code}: {ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
    let ended = bench(&project, [bundle.as_str(), "events.ndjson", "--baseline", "none.json"]);
    assert!(ended.code == 2 && ended.stderr.contains("error[file_not_found]"), "{ended:?}");
}

/// Holds an element to those that show something and load and run nothing.
fn assert_shown(element: &BytesStart<'_>) {
    let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
    assert!(!["script", "img", "link", "iframe", "a", "image", "use"].contains(&&*name));
    for attribute in element.attributes() {
        let key = attribute.unwrap().key;
        let key = String::from_utf8_lossy(key.as_ref());
        assert!(!["src", "href", "style"].contains(&&*key) && !key.starts_with("on"), "{key}");
    }
}

/// The texts of a page, once it is known to be well-formed and harmless.
fn texts(page: &str) -> Vec<String> {
    let mut reader = Reader::from_str(page);
    reader.config_mut().check_end_names = true;
    let (mut found, mut depth) = (Vec::new(), 0);
    loop {
        match reader.read_event().unwrap_or_else(|error| panic!("{error}: {page}")) {
            Event::Start(element) => {
                assert_shown(&element);
                depth += 1;
            }
            Event::Empty(element) => assert_shown(&element),
            Event::End(_) => depth -= 1,
            Event::Text(text) => found.push(text.decode().unwrap().into_owned()),
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    found
}

#[test]
fn the_page_is_one_file_that_needs_no_other() {
    let (project, bundle) = compiled();
    let [shipped, less] = others(&project);
    let hostile = "<script>alert(1)</script>&\"'.ndjson";
    project.write(hostile.replace('/', "_").as_str(), super::project::EVENTS);
    let hostile = hostile.replace('/', "_");
    let args =
        ["--threads", "1,2", "--isolation", "warm,per-event", "--cold-start", "--without-limits"];
    let bundles = [bundle.as_str(), &shipped, &less, &hostile];
    let first = bench(&project, bundles.into_iter().chain(args));
    assert_eq!(first.code, 0, "{first:?}");
    let mut baseline = json_of(&first);
    baseline["measured_at"] = json!("<b>\u{202e}\u{0}then");
    baseline["bundles"][1]["name"] = json!("</svg><img src='x'>");
    baseline["bundles"][1]["fingerprint"] = json!("none");
    project.write("baseline.json", baseline.to_string());
    let with = ["--baseline", "baseline.json", "--tolerance", "1000", "--html", "page.html"];
    let ended = bench(&project, bundles.into_iter().chain(args).chain(with));
    assert_eq!(ended.code, 0, "{ended:?}");
    let page = fs::read_to_string(project.path("page.html")).unwrap();
    let texts = texts(&page);
    for expected in [
        "Against the baseline",
        "Throughput",
        "Latency",
        "Where the time goes",
        "Throughput by threads",
        "Cold start",
        "What limits cost",
        "What was measured, and how",
        "MB of events a second",
        "time of one event",
        "per-event, 2 threads",
        "fuel and deadline",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected}");
    }
    // Nothing is loaded, and what comes from elsewhere is text.
    for part in ["://", "url(", "@import", "\u{202e}"] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;_script&gt;&amp;&quot;"), "{page}");
    assert!(page.contains("&lt;/svg&gt;&lt;img") && page.contains("&lt;b&gt;\\u{202e}"), "{page}");
    // The two versions of one function are told apart.
    let names: BTreeSet<&String> =
        texts.iter().filter(|text| text.starts_with("read_order (")).collect();
    assert!(names.len() >= 2, "{names:?}");
}

#[test]
fn the_page_is_written_over_nothing_that_is_read() {
    let (project, bundle) = compiled();
    let report = bench(&project, [bundle.as_str(), "events.ndjson"]).stdout;
    project.write("baseline.json", &report);
    for (html, role) in [("events.ndjson", "events.ndjson"), ("baseline.json", "baseline.json")] {
        let before = fs::read(project.path(html)).unwrap();
        let args =
            [bundle.as_str(), "events.ndjson", "--baseline", "baseline.json", "--html", html];
        let ended = bench(&project, args);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(&format!("error[output_is_input]: {role}")), "{ended:?}");
        assert_eq!(fs::read(project.path(html)).unwrap(), before);
    }
    let inside = format!("{bundle}/page.html");
    let ended = bench(&project, [bundle.as_str(), "events.ndjson", "--html", &inside]);
    assert!(ended.code == 2 && ended.stderr.contains("[output_is_input]"), "{ended:?}");
    let ended = bench(&project, [bundle.as_str(), "events.ndjson", "--html", "nowhere/page.html"]);
    assert!(ended.code == 2 && ended.stderr.contains("[file_not_writable]"), "{ended:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (project, bundle) = compiled();
    for args in [
        &["--threads", "0"][..],
        &["--threads", "257"],
        &["--threads", "1,x"],
        &["--isolation", "cold"],
        &["--batch", "0"],
        &["--tolerance", "5"],
        &["--baseline", "b.json", "--tolerance", "-1"],
        &["--baseline", "b.json", "--tolerance", "NaN"],
    ] {
        let given = [bundle.as_str(), "events.ndjson"].into_iter().chain(args.iter().copied());
        let ended = bench(&project, given);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {ended:?}");
    }
    let ended = project.retort(["bench", &bundle]);
    assert!(ended.code == 2 && ended.stderr.contains("<EVENTS>"), "{ended:?}");
    // More than once is once.
    let ended = bench(&project, [bundle.as_str(), "events.ndjson", "--threads", "2,2"]);
    assert_eq!(json_of(&ended)["bundles"][0]["runs"].as_array().unwrap().len(), 1);
}
