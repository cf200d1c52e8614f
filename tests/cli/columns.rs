//! `retort run --format parquet` and `--format arrow`, `retort run --column`, `retort schema`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use retort::columns::EventTexts;
use retort::columns::arrow_array::{ArrayRef, RecordBatch, StringArray, StructArray};
use retort::columns::arrow_ipc::reader::StreamReader;
use retort::columns::arrow_schema::{DataType, Field, Schema};
use retort::columns::parquet::arrow::ArrowWriter;
use retort::columns::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};

use super::project::{EVENTS, Project};
use super::resume::kill_and_go_on;
use super::threads::{POLICY, RUN, mixed_events};

/// Rows of each table as JSON, in their order.
type Tables = BTreeMap<String, Vec<Value>>;

const TO_TABLES: [&str; 9] =
    ["run", "--bundles", "out", "--policy", "policy.yaml", "--format", "parquet", "--out", "t"];

fn rows(batches: impl Iterator<Item = RecordBatch>) -> Vec<Value> {
    let mut rows = Vec::new();
    for batch in batches {
        let texts = EventTexts::new(Arc::new(StructArray::from(batch)), "rows").unwrap();
        let mut buffer = Vec::new();
        for row in 0..texts.len() {
            rows.push(serde_json::from_slice(texts.get(row, &mut buffer).unwrap()).unwrap());
        }
    }
    rows
}

fn parts(folder: PathBuf) -> Vec<PathBuf> {
    let parts = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut parts: Vec<PathBuf> = parts.collect();
    parts.sort();
    parts
}

/// All tables of a directory. Nothing in it is hidden.
fn tables(project: &Project, out: &str) -> Tables {
    let mut tables = Tables::new();
    for table in parts(project.path(out).into()) {
        let mut all = Vec::new();
        for part in parts(table.clone()) {
            let name = part.file_name().unwrap().to_str().unwrap().to_owned();
            assert!(name.starts_with("part-"), "{name}");
            let file = File::open(&part).unwrap();
            if name.ends_with(".arrows") {
                all.extend(rows(StreamReader::try_new(file, None).unwrap().map(Result::unwrap)));
            } else {
                let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
                all.extend(rows(reader.build().unwrap().map(Result::unwrap)));
            }
        }
        tables.insert(table.file_name().unwrap().to_str().unwrap().to_owned(), all);
    }
    tables
}

/// The tables that lines say, of the graph of [`Project`].
fn of_lines(results: &str, rejects: &str) -> Tables {
    let lines = |text: &str| -> Vec<Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let mut tables = Tables::new();
    for name in ["Order", "retort_spans", "retort_rejects"] {
        tables.insert(name.to_owned(), Vec::new());
    }
    let mut push = |table: &str, row: Value| tables.get_mut(table).unwrap().push(row);
    for line in lines(results) {
        let result = &line["result"];
        let spans = |list: &str| result[list].as_array().unwrap().clone();
        let (full, part) = (spans("fully_handled_span_ids"), spans("partially_handled_span_ids"));
        let spans_of_both = [full.clone(), part.clone()].concat();
        let (event_type, bundle) = (&line["event_type"], &line["bundle"]);
        for node in result["nodes"].as_array().unwrap() {
            let property = |name: &str| {
                let properties = node["properties"].as_array().unwrap();
                properties
                    .iter()
                    .find(|it| it["name"] == name)
                    .map_or(Value::Null, |it| it["value"].clone())
            };
            let id = node["node_id"].as_str().unwrap();
            push(
                "Order",
                json!({
                    "_node_id": id, "order_id": property("order_id"), "total": property("total"),
                    "_labels": node["labels"], "_session": id.split(":Order:").next(),
                    "_span_ids": spans_of_both, "_event_type": event_type,
                    "_bundle": bundle, "_input": line["file"], "_line": line["line"],
                }),
            );
        }
        for (span, handled) in
            full.iter().map(|it| (it, "fully")).chain(part.iter().map(|it| (it, "partially")))
        {
            push(
                "retort_spans",
                json!({"span_id": span, "handled": handled, "_event_type": event_type,
                "_bundle": bundle, "_input": line["file"], "_line": line["line"]}),
            );
        }
    }
    for line in lines(rejects) {
        push(
            "retort_rejects",
            json!({"scope": "event", "code": line["code"], "path": line["path"],
            "message": line["message"], "_event_type": null, "_bundle": null,
            "_input": line["file"], "_line": line["line"]}),
        );
    }
    tables
}

/// A project with two inputs, and the tables of their results.
fn project(lines: usize) -> (Project, Tables) {
    let project = Project::new();
    project.compile();
    project.write("policy.yaml", POLICY);
    project.write("a.ndjson", mixed_events(lines));
    project.write("b.ndjson", EVENTS);
    let ended = project.retort(RUN.into_iter().chain(INPUTS));
    assert_eq!(ended.code, 1, "{ended:?}");
    let read = |name: &str| fs::read_to_string(project.path(name)).unwrap();
    let expected = of_lines(&read("r.ndjson"), &read("j.ndjson"));
    (project, expected)
}

const INPUTS: [&str; 2] = ["a.ndjson", "b.ndjson"];

#[test]
fn the_rows_are_those_of_lines_whatever_the_threads_and_the_sizes_of_files() {
    let (project, expected) = project(3_000);
    assert!(expected["Order"].len() > 1_000 && expected["retort_rejects"].len() > 500);
    for (number, more) in [
        &["--threads", "1"][..],
        &["--threads", "3", "--file-rows", "100"],
        &["--format", "arrow", "--threads", "2", "--file-bytes", "50000"],
    ]
    .into_iter()
    .enumerate()
    {
        let out = format!("t{number}");
        let format = TO_TABLES.map(|it| if it == "t" { out.as_str() } else { it });
        let format = format
            .into_iter()
            .filter(|it| !(more[0] == "--format" && ["--format", "parquet"].contains(it)));
        let args: Vec<&str> = format.chain(more.iter().copied()).chain(INPUTS).collect();
        let ended = project.retort(args.iter().copied());
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
        let found = tables(&project, &out);
        assert!(found == expected, "{more:?}");
        let files = parts(PathBuf::from(project.path(&out)).join("Order")).len();
        assert_eq!(files > 1, number > 0, "{files}");
        let again = project.retort(args.iter().copied());
        assert_eq!(again.code, 2, "{again:?}");
        assert!(again.stderr.starts_with(&format!("error[out_not_empty]: {out}: ")), "{again:?}");
    }
}

#[test]
fn one_table_is_a_stream_on_stdout() {
    let (project, expected) = project(200);
    let output = Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(["run", "--bundles", "out", "--policy", "policy.yaml", "--format", "arrow"])
        .args(["--table", "Order"])
        .args(INPUTS)
        .current_dir(project.path(""))
        .output()
        .unwrap();
    let batches = StreamReader::try_new(output.stdout.as_slice(), None).unwrap();
    assert!(rows(batches.map(Result::unwrap)) == expected["Order"]);
}

#[test]
fn options_that_mean_nothing_together_are_refused() {
    let project = Project::new();
    project.compile();
    let run = ["run", "--bundles", "out", "events.ndjson"];
    for (more, code) in [
        (&["--format", "parquet"][..], "output_options"),
        (&["--format", "arrow"], "output_options"),
        (&["--format", "parquet", "--out", "t", "--rejects", "j"], "output_options"),
        (&["--format", "arrow", "--out", "t", "--table", "Order"], "output_options"),
        (&["--table", "Order"], "output_options"),
        (&["--file-rows", "5"], "output_options"),
        (&["--format", "arrow", "--table", "order"], "table_not_found"),
        (&["--column", "event"], "column_not_found"),
        (&["--format", "parquet", "--out", "graph.yaml"], "file_not_writable"),
    ] {
        let ended = project.retort(run.iter().chain(more).copied());
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{more:?}: {ended:?}");
        assert!(ended.stderr.starts_with(&format!("error[{code}]: ")), "{more:?}: {ended:?}");
        assert!(!PathBuf::from(project.path("t")).exists());
    }
}

/// Writes a file with events as text and as a struct, one in a row group.
fn write_parquet(project: &Project) {
    let text: ArrayRef = Arc::new(StringArray::from_iter(EVENTS.lines().map(Some)));
    let member = |name: &str| -> ArrayRef {
        let of =
            |line: &str| Some(serde_json::from_str::<Value>(line).ok()?[name].as_str()?.to_owned());
        Arc::new(StringArray::from_iter(EVENTS.lines().map(of)))
    };
    let field = |name: &str| Arc::new(Field::new(name, DataType::Utf8, true));
    let members = ["event_type", "session_id"].map(|name| (field(name), member(name)));
    let structs: ArrayRef = Arc::new(StructArray::from(members.to_vec()));
    let fields = vec![
        Field::new("event", DataType::Utf8, true),
        Field::new("record", structs.data_type().clone(), true),
        Field::new("number", DataType::Utf8, true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), vec![text, structs, member("n")]).unwrap();
    let file = File::create(project.path("events.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, None).unwrap();
    for row in 0..batch.num_rows() {
        writer.write(&batch.slice(row, 1)).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
}

#[test]
fn events_are_read_from_a_column() {
    let project = Project::new();
    project.compile();
    write_parquet(&project);
    let run =
        |input: &[&str]| project.retort(["run", "--bundles", "out"].iter().chain(input).copied());
    let of_lines = run(&["events.ndjson"]);
    let of_column = run(&["events.parquet", "--column", "event"]);
    assert_eq!((of_column.code, &of_column.stdout), (0, &of_lines.stdout), "{of_column:?}");
    // A struct without what a plan asks for is an event that it declines.
    let of_struct = run(&["events.parquet", "--column", "record"]);
    assert_eq!((of_struct.code, of_struct.stdout.as_str()), (0, ""), "{of_struct:?}");
    assert!(of_struct.stderr.contains("3 empty"), "{of_struct:?}");

    let whole = fs::read(project.path("events.parquet")).unwrap();
    project.write("cut.parquet", &whole[..whole.len() / 2]);
    for (input, code, told) in [
        (&["events.parquet"][..], "column_not_found", "events.parquet: expected --column"),
        (
            &["events.parquet", "--column", "even"],
            "column_not_found",
            "found \"event\", \"record\"",
        ),
        (&["cut.parquet", "--column", "event"], "parquet_invalid", "cut.parquet: "),
    ] {
        let ended = run(input);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(&format!("error[{code}]: ")), "{ended:?}");
        assert!(ended.stderr.contains(told), "{ended:?}");
    }
}

fn start(project: &Project, threads: usize) -> Child {
    Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(TO_TABLES.into_iter().chain(INPUTS))
        .args(["--resume", "state.json", "--checkpoint-every", "0.05", "--file-rows", "700"])
        .args(["--threads", &threads.to_string()])
        .current_dir(project.path(""))
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn no_row_is_lost_or_doubled_however_often_it_is_killed() {
    let (project, expected) = project(12_000);
    kill_and_go_on(&project, Duration::from_millis(900), start, |killed| {
        assert!(tables(&project, "t") == expected, "after {killed} kills rows differ");
        fs::remove_dir_all(project.path("t")).unwrap();
    });
}

#[test]
fn a_run_that_fails_among_the_tables_of_an_event_is_gone_on_from() {
    let (project, expected) = project(12_000);
    let args = || TO_TABLES.into_iter().chain(INPUTS).chain(["--resume", "state.json"]);
    // A part for what each chunk has for a table.
    let child = Command::new(env!("CARGO_BIN_EXE_retort"))
        .args(args().chain(["--threads", "1", "--file-rows", "1"]))
        .current_dir(project.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let rejects = PathBuf::from(project.path("t/retort_rejects"));
    let part = |number: usize| rejects.join(format!(".part-{number:06}.parquet.new"));
    while !part(0).exists() {
        thread::sleep(Duration::from_micros(200));
    }
    // Beyond the first, short chunks: the last table of all can't be written, when the others have the rows of the same events already.
    let blocked = (4..).map(part).find(|path| fs::create_dir(path).is_ok()).unwrap();
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("error[file_not_writable]: "), "{told}");
    fs::remove_dir(blocked).unwrap();
    let ended = project.retort(args());
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(tables(&project, "t") == expected);
}

#[test]
fn statements_name_and_quote_everything() {
    let project = Project::new();
    project.write("odd.json", include_str!("odd_names.json"));
    let mut all = String::new();
    for dialect in ["bigquery", "duckdb", "postgres", "spark"] {
        let ended = project.retort(["schema", "--graph", "odd.json", "--dialect", dialect]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{ended:?}");
        all.push_str(&format!("-- {dialect}\n{}\n", ended.stdout));
    }
    insta::assert_snapshot!(all);
    let ended = project.retort(["schema", "--graph", "odd.json", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let names: Vec<&Value> =
        report["tables"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["order", "Order_2", "ORDER_3", "retort_spans", "retort_rejects"]);
}
