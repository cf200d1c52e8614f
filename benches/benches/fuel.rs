//! What a unit of fuel stands for: the time that values, conversions and guests take, beside what they are charged.
//!
//! A price is right where a unit is about a nanosecond of the texts that events have, and no text takes many times that. Each
//! line is one kind of work over one text, on top of reading the event. The table in docs/limits.md
//! comes from here.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use retort::Limits;
use retort::gate::{StructuralLimits, inspect};
use retort::internal::block::BlockWriter;
use retort::internal::event::{Projection, Projector};
use retort::internal::section::Section;
use retort::sandbox::{ForeignModules, Options, Sandbox};
use retort_benches::turns::{self, Way};
use serde_json::{Value, json};

/// How many values of an event the work is done with, so that the rest of reading it counts for little.
const VALUES: usize = 8;
/// Nanoseconds of a turn, about.
const TURN: usize = 4_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` runs benches with `--test`: one turn each then.
    let tests = std::env::args().any(|argument| argument == "--test");
    let rounds = if tests { 1 } else { 11 };
    println!("{:<52}{:>8}{:>12}{:>12}{:>9}", "work", "bytes", "fuel", "ns", "ns/unit");
    for (name, value) in texts() {
        for (input, what) in works() {
            let (fuel, ns) = host(&input, &value, rounds)?;
            line(&format!("{what}, {name}"), value.to_string().len(), fuel, ns);
        }
    }
    for (pattern, name, value) in searches() {
        let (fuel, ns) = host(&json!({"as": [{"regex": {"pattern": pattern}}]}), &value, rounds)?;
        line(&format!("regex {pattern}, {name}"), value.to_string().len(), fuel, ns);
    }
    for (expression, name, value) in expressions() {
        let (fuel, ns) = host(&json!({"expression": expression}), &value, rounds)?;
        line(&format!("{expression}, {name}"), value.to_string().len(), fuel, ns);
    }
    let guests = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hostile/stall");
    let mut guests: Vec<_> = std::fs::read_dir(guests)?.collect::<Result<_, _>>()?;
    guests.sort_by_key(std::fs::DirEntry::path);
    for guest in guests {
        let name = guest.file_name().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(guest.path())?;
        // Some are made larger before they are read, and some are about the deadline.
        if !name.contains("until_deadline") && !text.contains("{{") {
            let (fuel, ns) = stalling(&text, if tests { 100_000 } else { 10_000_000 })?;
            line(&name, 0, fuel, ns);
        }
    }
    Ok(())
}

fn line(what: &str, bytes: usize, fuel: f64, ns: f64) {
    let what: String = what.chars().take(51).collect();
    println!("{what:<52}{bytes:>8}{fuel:>12.0}{ns:>12.0}{:>9.2}", ns / fuel);
}

/// Texts by name: such as events have, and the worst of their kind.
fn texts() -> Vec<(&'static str, Value)> {
    let of = |piece: &str, bytes: usize| json!(piece.repeat(bytes / piece.len()));
    vec![
        ("a word", json!("production")),
        ("a number", json!(1_234_567)),
        ("digits", json!("1234567")),
        ("a time", json!("2024-05-06T07:08:09.123+02:00")),
        ("prose of 1 KB", of("The request was refused by the policy. ", 1_000)),
        ("line ends in 1 KB", of("a\n", 700)),
        ("accents in 1 KB", of("Zürich, Ærø; ", 1_000)),
        ("an object of 1 KB", json!({"a": vec![json!({"name": "x", "value": 1}); 45]})),
        (
            "JSON as text of 1 KB",
            json!(json!({"b": vec![json!({"name": 1}); 80], "a": 1}).to_string()),
        ),
    ]
}

/// What is done with each.
fn works() -> Vec<(Value, &'static str)> {
    let steps = [
        "to_string",
        "to_int64",
        "to_double",
        "to_boolean",
        "to_json_text",
        "timestamp",
        "date",
        "lower",
        "upper",
        "trim",
        "length",
    ];
    let mut works: Vec<_> = steps.iter().map(|step| (json!({"as": [step]}), *step)).collect();
    works.extend([
        (json!({"as": [{"split": {"separator": " ", "index": 1}}]}), "split"),
        (json!({"as": [{"parse_json": ["a"]}]}), "parse_json"),
        (json!({"template": ["<", {}, ">"]}), "template"),
        (json!({"coalesce": [{}]}), "coalesce"),
        (json!({"when": {"equals": "production"}}), "equals"),
    ]);
    works
}

/// Patterns such as plans have, and the worst of their kind, each with texts.
fn searches() -> Vec<(&'static str, &'static str, Value)> {
    let of = |piece: &str, bytes: usize| {
        let text: String = piece.chars().cycle().take(bytes).collect();
        json!(text + "9")
    };
    let usual =
        "GET https://example.com:8080/a/b/c?x=1 refs/heads/main user@example.com error: none 12.4 ";
    let mut searches = Vec::new();
    for pattern in [
        r"\d+",
        r"^v(\d+)\.(\d+)",
        r"(\w+)@(\w+)\.(\w+)",
        r"(?i)error: (.*)",
        r"refs/(heads|tags)/(.+)",
        r"https?://([^/:]+)(?::(\d+))?(/[^?#]*)?(\?[^#]*)?",
        r"([^/]+)$",
        r"(\w+\s+){3}(\w+)",
        r"[\s\S]*?(\w+)\s*$",
        r#""key":"http\.route","value":\{"stringValue":"([^"]*)""#,
    ] {
        searches.push((pattern, "usual of 100", of(usual, 100)));
        searches.push((pattern, "usual of 2,000", of(usual, 2_000)));
        searches.push((pattern, "letters of 2,000", of("ab", 2_000)));
    }
    for pattern in [
        r"(a|b)*a(a|b){12}",
        r"(([ab]{1,60}){1,30})9",
        r"((?:a?){1000})a{100}9",
        r"(a.{300}b)9",
        r"(?:(a)|(b)|(ab))*9",
    ] {
        searches.push((pattern, "a of 500", of("a", 500)));
        searches.push((pattern, "ab of 500", of("ab", 500)));
    }
    searches
}

/// Expressions over usual values.
fn expressions() -> Vec<(&'static str, &'static str, Value)> {
    let attributes: Vec<Value> = (0..20)
        .map(|index| json!({"key": format!("http.attribute{index}"), "value": {"stringValue": format!("value {index}")}}))
        .collect();
    let numbers: Vec<Value> = (0..50).map(|index| json!((index * 7919) % 101)).collect();
    let names: Vec<Value> = (0..50).map(|index| json!(format!("name {}", index % 9))).collect();
    let mut expressions = Vec::new();
    for expression in [
        "$v[?key=='http.attribute7'].value.stringValue | [0]",
        "$v[].value.stringValue",
        "$v[*].{k: key, v: value.stringValue}",
        "length($v)",
        "join(',', $v[].key)",
        "group_by($v, &key)",
    ] {
        expressions.push((expression, "attributes", json!(attributes)));
    }
    for expression in [
        "sum($v)",
        "max($v)",
        "sort($v)",
        "$v[-1] - $v[0]",
        "map(&(@ * `2`), $v)",
        "avg($v)",
        "$v[?@ > `50`]",
    ] {
        expressions.push((expression, "numbers", json!(numbers)));
    }
    for expression in
        ["distinct($v)", "sort($v)", "join(',', distinct($v))", "contains($v, 'name 3')"]
    {
        expressions.push((expression, "names", json!(names)));
    }
    for expression in [
        "upper($v)",
        "sha256($v)",
        "$v",
        "split($v, ' ')",
        "replace($v, 'e', 'E')",
        "reverse($v)",
        "to_int64($v)",
        "parse_json($v)",
    ] {
        expressions.push((
            expression,
            "prose",
            json!("The request was refused by the policy. ".repeat(20)),
        ));
    }
    expressions.push(("(to_number($v) - `1700000000`) / `1000`", "a number", json!(1_700_000_123)));
    expressions.push(("timestamp($v)", "a time", json!("2024-05-06T07:08:09.123+02:00")));
    expressions
}

/// Fuel and nanoseconds of what is done with one value.
fn host(work: &Value, value: &Value, rounds: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let names: Vec<String> = (0..VALUES).map(|index| format!("v{index}")).collect();
    let event: serde_json::Map<_, _> =
        names.iter().map(|name| (name.clone(), json!({"v": value}))).collect();
    let event = serde_json::to_string(&event)?;
    let with = names.iter().map(|name| input(work, name)).collect();
    let without =
        names.iter().map(|name| json!({"when": {"path": [name, "v"], "exists": true}})).collect();
    let section = |inputs: Vec<Value>| {
        let section = json!({"abi": 1, "function": "f", "event_types": ["e"], "inputs": inputs});
        Section::parse(section.to_string().as_bytes())
    };
    let (with, without) = (section(with)?, section(without)?);
    let read = |section: &Section| -> Result<u64, Box<dyn Error>> {
        let (mut projection, mut writer) = (Projection::default(), BlockWriter::default());
        let projector = Projector::of(section);
        projector.project(event.as_bytes(), &mut projection)?;
        writer.write(&projector, event.as_bytes(), &projection, usize::MAX)?;
        Ok(writer.spent().fuel)
    };
    let fuel = read(&with)?;
    let start = Instant::now();
    read(&with)?;
    let took = start.elapsed().as_nanos() as usize;
    let events = if rounds == 1 { 1 } else { (TURN / took.max(1)).clamp(1, 2_000) };
    let ways: Vec<Way<'_>> =
        [&without, &with].into_iter().map(|section| way(section, &event, events)).collect();
    let figures = turns::take(ways, rounds, events);
    let more = figures.last().map_or(0.0, |figures| figures.more);
    Ok((fuel as f64 / VALUES as f64, more / VALUES as f64))
}

fn way<'a>(section: &Section, event: &'a str, events: usize) -> Way<'a> {
    let projector = Projector::of(section);
    let (mut projection, mut writer) = (Projection::default(), BlockWriter::default());
    let run = move || {
        for _ in 0..events {
            let event = black_box(event.as_bytes());
            assert!(projector.project(event, &mut projection).is_ok());
            assert!(black_box(writer.write(&projector, event, &projection, usize::MAX)).is_ok());
        }
    };
    (String::new(), Box::new(run))
}

/// The input that does the work with the value of that name: its path is put where the work wants one.
fn input(work: &Value, name: &str) -> Value {
    let path = json!([name, "v"]);
    let mut input = work.clone();
    if let Some(expression) = work["expression"].as_str() {
        input["expression"] = json!({"text": format!("let $v = {name}.v in {expression}")});
    } else if work["template"].is_array() {
        input["template"][1]["path"] = path;
    } else if work["coalesce"].is_array() {
        input["coalesce"][0]["path"] = path;
    } else if work["when"].is_object() {
        input["when"]["path"] = path;
    } else {
        input["path"] = path;
    }
    input
}

/// Fuel and nanoseconds of a guest that goes on until its fuel is spent.
fn stalling(text: &str, fuel: u64) -> Result<(f64, f64), Box<dyn Error>> {
    let module = wat::parse_str(text)?;
    let mut limits = Limits::default();
    (limits.fuel_base, limits.fuel_per_byte, limits.deadline_ms) = (fuel, 0, 60_000);
    let inspected = inspect(&module, &StructuralLimits::default())?;
    let mut options = Options::default();
    (options.limits, options.foreign) = (limits, ForeignModules::InProcess);
    let mut runner = Sandbox::with_options(options)?.load(&inspected)?.runner();
    let event = br#"{"event_type":"e","bad":true}"#;
    let mut best = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let _ = black_box(runner.run(event));
        best = best.min(start.elapsed());
    }
    Ok((fuel as f64, best.as_nanos() as f64))
}
