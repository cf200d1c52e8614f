//! Bundles held to a reference, as a shell sees it.

use std::fs;

use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project};
use crate::support::shared;

/// A project with its bundle in `out`, one in `other` that claims no span, and events of which one fits the graph in part alone.
fn projects() -> Project {
    let project = Project::new();
    project.compile();
    project.write(
        "changed.json",
        PLAN.replace(",\n  \"span_handling\": {\"span_id_path\": [\"span_id\"]}", ""),
    );
    let ended = project.retort(["compile", "--plan", "changed.json", "--out", "other"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    project.write(
        "corpus.ndjson",
        r#"{"event_type":"order_placed","session_id":"s1","span_id":"a","content":{"id":"o1","total":1.5}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o2"}}

{"event_type":"order_placed","session_id":"s1","span_id":"b","content":{"id":"o3","total":"much"}}
{"event_type":"order_placed","session_id":"s1","content":{"total":1}}
{"event_type":"order_shipped","session_id":"s1"}
{"session_id":"s1"}
"#,
    );
    project
}

fn report(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

fn counts(report: &Value) -> Value {
    json!([
        report["total_events"],
        report["skipped_events"],
        report["total_compiled_unchanged"],
        report["total_compiled_filtered"],
        report["total_fallback_for_event"],
        report["total_parity_matches"],
        report["total_parity_divergences"],
    ])
}

#[test]
fn bundles_are_held_to_their_plans_to_others_and_to_what_was_recorded() {
    let project = projects();
    let revalidate = |args: &[&str]| {
        let args = ["revalidate", "out", "corpus.ndjson", "--json"].iter().chain(args);
        project.retort(args.copied())
    };
    // What a plan means isn't held to the graph.
    let ended = revalidate(&["--against-plans"]);
    assert_eq!((ended.code, counts(&report(&ended))), (0, json!([4, 2, 3, 1, 0, 3, 1])));
    let report = report(&ended);
    let dropped = "order_placed: compiled_filtered (properties=['total'])";
    assert_eq!(report["sample_decision_divergences"], json!([dropped]));
    let differs = "order_placed: property set mismatch of s1:Order:order_id=o3";
    assert_eq!(report["sample_parity_divergences"], json!([differs]));
    assert_eq!(report["threshold_check"], Value::Null);
    let keys: Vec<_> = ended.stdout.lines().filter(|it| it.starts_with("  \"")).collect();
    assert!(keys.is_sorted(), "{ended:?}");

    let ended = revalidate(&["--reference", "other"]);
    assert_eq!((ended.code, counts(&self::report(&ended))), (0, json!([4, 2, 3, 1, 0, 2, 2])));
    assert_eq!(
        self::report(&ended)["sample_parity_divergences"][0],
        "order_placed: fully_handled_span_ids"
    );

    let ran = project.retort(["run", "--bundles", "out", "corpus.ndjson"]);
    project.write("recorded.ndjson", &ran.stdout);
    let ended = revalidate(&["--recorded", "recorded.ndjson"]);
    assert_eq!((ended.code, counts(&self::report(&ended))), (0, json!([4, 2, 3, 1, 0, 4, 0])));
    project.write("altered.ndjson", ran.stdout.replace("1.5", "2.5"));
    let ended = revalidate(&["--recorded", "altered.ndjson"]);
    assert_eq!(self::report(&ended)["total_parity_divergences"], 1);
    for (recorded, said) in [
        ("{}\n", "recorded.ndjson:1: expected a line that `retort run` writes: "),
        (
            "{\"line\":99,\"result\":{\"nodes\":[],\"edges\":[]}}\n",
            "expected the results of these events, found that of line 99",
        ),
    ] {
        project.write("recorded.ndjson", recorded);
        let ended = revalidate(&["--recorded", "recorded.ndjson"]);
        assert!(ended.code == 2 && ended.stderr.contains(said), "{ended:?}");
        assert!(ended.stderr.contains("error[recorded_invalid]: "), "{ended:?}");
    }
}

#[test]
fn inputs_are_read_as_run_reads_them() {
    let project = projects();
    let text = fs::read(project.path("corpus.ndjson")).unwrap();
    let args = ["revalidate", "out", "corpus.ndjson", "--against-plans", "--json"];
    let expected = counts(&report(&project.retort(args)));
    let on_stdin =
        project.retort_on(["revalidate", "out", "-", "--against-plans", "--json"], &text);
    assert_eq!(counts(&report(&on_stdin)), expected);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, &text).unwrap();
    project.write("corpus.gz", packed.finish().unwrap());
    let ended = project.retort(["revalidate", "out", "corpus.*", "--against-plans", "--json"]);
    assert_eq!(report(&ended)["total_events"], 2 * expected[0].as_u64().unwrap());
    // By file and line, where there are several.
    let ran = project.retort(["run", "--bundles", "out", "corpus.gz", "corpus.ndjson"]);
    project.write("recorded", &ran.stdout);
    let args =
        ["revalidate", "out", "corpus.gz", "corpus.ndjson", "--recorded", "recorded", "--json"];
    let ended = project.retort(args);
    assert_eq!(
        (ended.code, &report(&ended)["total_parity_divergences"]),
        (0, &json!(0)),
        "{ended:?}"
    );
}

#[test]
fn a_report_is_written_over_nothing_that_is_read() {
    let project = projects();
    let before = fs::read(project.path("corpus.ndjson")).unwrap();
    let manifest = format!("{}/manifest.json", project.compile());
    for report in ["corpus.ndjson", &manifest, "none/report.json"] {
        let args = ["revalidate", "out", "corpus.ndjson", "--against-plans", "--report", report];
        let ended = project.retort(args);
        assert_eq!(ended.code, 2, "{ended:?}");
    }
    assert_eq!(fs::read(project.path("corpus.ndjson")).unwrap(), before);
}

/// The cases of the contract for the command. Those that are about a module of Python or a service of others are named.
#[test]
fn it_ends_as_the_contract_says() {
    let Some(path) = shared("conformance/revalidation.json") else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "the contract is missing");
        eprintln!("skipped: no ../shared/conformance beside the checkout");
        return;
    };
    let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let mut elsewhere = 0;
    for case in file["cli_cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let project = projects();
        project.write("empty", "");
        project.write("blank", "\n \n\n");
        project.write("unknown", "{\"event_type\":\"order_shipped\"}\n");
        project.write("array", "[1]\n");
        project.write("min.json", r#"{"min_compiled_unchanged_rate": 0.9}"#);
        project.write("pass.json", r#"{"min_compiled_unchanged_rate": 0.5}"#);
        project.write("unknown.json", r#"{"min_rate": 0.5}"#);
        project.write("range.json", r#"{"min_parity_match_rate": 1.5}"#);
        project.write("nan.json", r#"{"min_parity_match_rate": NaN}"#);
        project.write("utf8.json", b"{\"min_parity_match_rate\": \"\xff\"}");
        project.write("text.json", "0.5 please");
        let spoil = |name: &str, bytes: Option<&[u8]>| {
            let bundle = fs::read_dir(project.path("out")).unwrap().map(|it| it.unwrap().path());
            let bundle = bundle.into_iter().find(|it| it.is_dir()).unwrap();
            match bytes {
                Some(bytes) => fs::write(bundle.join(name), bytes).unwrap(),
                None => fs::remove_file(bundle.join(name)).unwrap(),
            }
        };
        let valid = ["out", "corpus.ndjson", "--against-plans"];
        let over = |events| vec!["out", events, "--against-plans"];
        let with = |thresholds| {
            vec!["out", "corpus.ndjson", "--against-plans", "--thresholds", thresholds]
        };
        let args = match name {
            "no_thresholds" => valid.to_vec(),
            "thresholds_pass" => with("pass.json"),
            "empty_event_file" => over("empty"),
            "empty_event_file_with_minimum" => {
                vec!["out", "empty", "--against-plans", "--thresholds", "min.json"]
            }
            "only_blank_lines" => over("blank"),
            "uncovered_event_types_only" => over("unknown"),
            "no_flags" => vec![],
            "unknown_flag" => {
                vec!["out", "corpus.ndjson", "--against-plans", "--bundles-root", "out"]
            }
            // Files are one source here: what can't be said twice is the reference.
            "both_event_sources" => {
                vec!["out", "corpus.ndjson", "--against-plans", "--reference", "other"]
            }
            "events_line_is_a_JSON_array" => over("array"),
            "bundles_root_absent" | "registry_empty" => {
                vec!["absent", "corpus.ndjson", "--against-plans"]
            }
            "bundle_without_manifest" => {
                spoil("manifest.json", None);
                valid.to_vec()
            }
            "bundle_manifest_unreadable" => {
                spoil("manifest.json", Some(b"?"));
                valid.to_vec()
            }
            "any_bundle_fails_to_load" => {
                spoil("limits.json", Some(b"{} "));
                valid.to_vec()
            }
            "thresholds_not_JSON" => with("text.json"),
            "thresholds_unknown_field" => with("unknown.json"),
            "thresholds_out_of_range" => with("range.json"),
            "thresholds_NaN" => with("nan.json"),
            "thresholds_not_UTF-8" => with("utf8.json"),
            "reference_module_raises_on_import" | "reference_has_no_EXTRACTORS" => {
                vec!["out", "corpus.ndjson", "--reference", "empty"]
            }
            name if name.starts_with("EXTRACTORS_")
                || name.contains("query")
                || name.contains("BigQuery")
                || name.contains("project")
                || name.contains("row_") =>
            {
                elsewhere += 1;
                continue;
            }
            name => panic!("{name}: a case that nobody has looked at"),
        };
        let args = ["revalidate"].into_iter().chain(args).chain(["--report", "report.json"]);
        let ended = project.retort(args);
        assert_eq!(
            ended.code,
            case["expect"]["exit"].as_i64().unwrap() as i32,
            "{name}: {ended:?}"
        );
        let is_written = fs::exists(project.path("report.json")).unwrap();
        assert_eq!(is_written, case["expect"]["report_written"] == true, "{name}");
        if name == "no_thresholds" {
            let report: Value =
                serde_json::from_slice(&fs::read(project.path("report.json")).unwrap()).unwrap();
            assert_eq!(report["threshold_check"], Value::Null);
        }
    }
    assert_eq!((file["cli_cases"].as_array().unwrap().len(), elsewhere), (35, 13));
}
