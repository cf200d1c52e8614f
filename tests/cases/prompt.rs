//! What a model is asked about real rules and events.

use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use retort::Task;
use retort::evidence::{Evidence, PathStep};
use retort::internal::prompt::{self, MAX_CHARS};
use retort::plan::{self, Read};
use serde_json::{Value, json};

use crate::support::{SHOP, task, workspace_root};
use crate::trial::on_shared;

const CORPUS: &str = "corpora/github_webhooks";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        on_shared("corpora::prompt/a_large_schema_gives_way_to_its_paths", CORPUS, |corpus| {
            a_large_schema_gives_way_to_its_paths(&corpus);
        }),
        on_shared(
            "corpora::prompt/prompts_of_real_rules_show_what_their_plans_read",
            CORPUS,
            |corpus| prompts_of_real_rules_show_what_their_plans_read(&corpus),
        ),
    ]
}

/// The schemas of real webhooks, the largest of 400 KB: what the rule speaks of is always there.
fn a_large_schema_gives_way_to_its_paths(corpus: &Path) {
    let folder = corpus.join("schemas");
    let rule = "One Issue for each pull request: its pull_request.head.repo.full_name, number and merged_at.";
    let samples = r#"{"event_type":"pull_request.opened","pull_request":{"number":7}}"#;
    let schema = fs::read_to_string(folder.join("pull_request.schema.json")).unwrap();
    let prompt = prompt::resolution_prompt(&task(rule, Some(&schema), SHOP, samples)).unwrap();
    for line in [
        r#"["pull_request","head","repo","full_name"] string"#,
        r#"["pull_request","merged_at"] null or string"#,
        r#"["pull_request","number"] integer"#,
    ] {
        assert!(prompt.contains(line), "{line} is missing in {prompt}");
    }
    let schema = fs::read_to_string(folder.join("schema_all.json")).unwrap();
    let prompt = prompt::resolution_prompt(&task(rule, Some(&schema), SHOP, samples)).unwrap();
    assert!(prompt.chars().count() < 80_000);
}

/// Whether any sample has what a plan reads.
fn occurs(task: &Task, read: &Read<'_>) -> bool {
    let evidence = task.evidence();
    let types: Vec<&str> = evidence.event_types().map(|(name, _)| name).collect();
    let seen = |it: &Evidence| {
        it.event_types().any(|(_, it)| it.observed().contains_key(&read.reference.path))
    };
    match read.for_each.filter(|it| it.level() == read.reference.level) {
        Some(for_each) => seen(&evidence.elements(&types, for_each)),
        None => seen(evidence),
    }
}

/// A place as prompts write it.
fn place(steps: &[PathStep]) -> String {
    let mut parts: Vec<Value> = Vec::new();
    for step in steps {
        match (step, parts.last_mut()) {
            (PathStep::Key(key), Some(Value::Array(keys))) => keys.push(json!(key)),
            (PathStep::Key(key), _) => parts.push(json!([key])),
            (PathStep::Element, _) => parts.push(json!("[]")),
            (PathStep::Value | PathStep::Name, _) => parts.extend([json!("{}"), json!(["value"])]),
        }
    }
    let text = |part: &Value| part.as_str().map_or_else(|| part.to_string(), str::to_owned);
    parts.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// For real rules and events: every path that the right plan reads is there to be found, and nothing that is personal.
fn prompts_of_real_rules_show_what_their_plans_read(corpus: &Path) {
    let events = fs::read_to_string(corpus.join("events.ndjson")).unwrap();
    let graph = fs::read_to_string(corpus.join("graph_spec.yaml")).unwrap();
    let plans = workspace_root().join("tests/plans/github_webhooks");
    let mut missing = Vec::new();
    for entry in fs::read_dir(corpus.join("rules")).unwrap() {
        let path = entry.unwrap().path();
        let rule = fs::read_to_string(&path).unwrap();
        let listed: Value = serde_json::from_str(&rule).unwrap();
        let Ok(plan) = fs::read_to_string(plans.join(path.file_name().unwrap())) else { continue };
        let plan = plan::parse(&plan).unwrap();
        let schema = path.file_stem().unwrap().to_string_lossy() + ".schema.json";
        let schema = fs::read_to_string(corpus.join("schemas").join(&*schema)).unwrap();
        let family = |line: &&str| {
            let event: Value = serde_json::from_str(line).unwrap();
            listed["event_types"].as_array().unwrap().contains(&event["event_type"])
        };
        let of_family: Vec<&str> = events.lines().filter(family).collect();
        // Once among all other events too: which ones are meant, the rule says.
        let all = (listed["rule_id"] == "gh-issues").then(|| events.clone());
        for samples in all.into_iter().chain([of_family.join("\n")]) {
            let task = task(&rule, Some(&schema), &graph, &samples);
            let prompt = prompt::resolution_prompt(&task).unwrap();
            assert!(prompt.chars().count() < MAX_CHARS);
            for read in plan.reads() {
                // What no sample has is declared, and a schema that isn't too long stands there as it is.
                if !occurs(&task, &read) && !prompt.contains("These are the paths that it declares")
                {
                    continue;
                }
                let place = place(&PathStep::resolved(&read.reference, read.for_each)[0]);
                if !prompt.contains(&format!("\n{place} ")) {
                    missing.push(format!("{}: {place}", listed["rule_id"]));
                }
            }
            let shown = prompt.split("## What occurs in the samples").nth(1).unwrap();
            for personal in ["Codertocat\"", "@users.noreply.github.com", "https://", "octocat\""] {
                assert!(!shown.contains(personal), "{personal} in {shown}");
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
