//! The gates around the sample run: `compile_gate_cases`, each with what stands for it here.

use std::fs;

use libtest_mimic::Trial;
use retort::bundle::{Contents, Stored, Versions};
use retort::internal::codes;
use retort::{Accepted, Coded, GraphSpec, Pipeline, PipelineError, Samples, Store, Task, plan};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::trial::{of_contract, on_shared};

const GOOD: &str = r#"{"event_type":"a","id":"x"}"#;

fn plan_text(event_type: &Value, function: &str) -> String {
    json!({"event_type": event_type, "target_entity_name": "Order", "function_name": function,
        "key_field": {"property_name": "order_id", "source_path": ["id"]}})
    .to_string()
}

/// The gates with a directory of bundles.
struct Bench {
    pipeline: Pipeline,
    graph: GraphSpec,
    root: TempDir,
}

impl Bench {
    fn new() -> Self {
        let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
        Self {
            pipeline: Pipeline::builder().build().unwrap(),
            graph: GraphSpec::parse(graph, "graph.yaml").unwrap(),
            root: tempfile::tempdir().unwrap(),
        }
    }

    fn accept(&self, plan: &str, samples: &str) -> Result<Accepted, PipelineError> {
        let samples = Samples::parse(samples, "samples").unwrap();
        let task = Task::new(self.graph.clone(), samples);
        self.pipeline.accept(plan, &task)
    }

    fn compile(&self, samples: &str) -> Result<Stored, PipelineError> {
        let accepted = self.accept(&plan_text(&json!("a"), "extract"), samples)?;
        let store = Store::open(self.root.path()).unwrap();
        Ok(accepted.store(&store, jiff::Timestamp::UNIX_EPOCH)?)
    }

    /// The code with which samples that give nothing are rejected, once a bundle is there, and left there.
    fn code_beside_a_bundle(&self, samples: &str) -> String {
        let stored = self.compile(GOOD).unwrap();
        let read = || fs::read(stored.path.join("manifest.json")).unwrap();
        let before = read();
        let error = self.compile(samples).unwrap_err();
        assert_eq!(read(), before);
        assert!(self.compile(GOOD).unwrap().cache_hit);
        error.code().to_owned()
    }

    /// Whether a bundle is taken from the cache after one of its files was overwritten; it is whole afterwards.
    fn is_hit_after(&self, file: &str, text: &str) -> bool {
        let stored = self.compile(GOOD).unwrap();
        let before = fs::read(stored.path.join(file)).unwrap();
        fs::write(stored.path.join(file), text).unwrap();
        let again = self.compile(GOOD).unwrap();
        assert_eq!(again.path, stored.path);
        assert_eq!(fs::read(stored.path.join(file)).unwrap(), before);
        again.cache_hit
    }
}

/// The code with which a bundle of such a module isn't stored. The pipeline itself names all modules alike.
fn module_name_code(name: &str) -> String {
    let root = tempfile::tempdir().unwrap();
    let error = Store::open(root.path())
        .unwrap()
        .put(&contents(name, &["a".to_owned()]), jiff::Timestamp::UNIX_EPOCH);
    error.unwrap_err().code().to_owned()
}

fn contents<'a>(module_name: &'a str, event_types: &'a [String]) -> Contents<'a> {
    Contents {
        module_name,
        name: None,
        function_name: "extract",
        event_types,
        plan: Some(b"{}"),
        source: Some(b"(module)"),
        rust: None,
        module: b"\0asm\x01\0\0\0",
        graph: b"{}",
        limits: b"{}",
        event_schema: None,
        rule: None,
        versions: Versions::CURRENT,
    }
}

fn plan_code(text: &str) -> codes::Code {
    plan::parse(text).unwrap_err().code
}

/// What stands for a case: the code with which it is rejected, or `ok`, `hit`, `miss`.
fn outcome(bench: &Bench, case: &Value) -> String {
    let given = &case["given"];
    let samples = || {
        let list = given["sample_events"].as_array().unwrap();
        list.iter().map(|event| format!("{event}\n")).collect::<String>()
    };
    let samples_code =
        || Samples::parse(&samples(), "samples").map_or_else(|error| error.code(), |_| "ok");
    match case["name"].as_str().unwrap() {
        // Keywords are those of Rust.
        "module_name_class" => module_name_code("fn"),
        name if name.starts_with("module_name_") => {
            module_name_code(given["module_name"].as_str().unwrap())
        }
        "function_name_keyword" => plan_code(&plan_text(&json!("a"), "fn")).to_string(),
        "no_event_types" => plan_code(&plan_text(&json!(""), "extract")).to_string(),
        "event_type_not_string" => {
            plan_code(&plan_text(&given["event_types"][0], "extract")).to_string()
        }
        "sample_not_object" | "sample_without_type" | "sample_type_empty" => {
            samples_code().to_owned()
        }
        // A plan declares one event type: here, one that no sample has.
        "declared_type_without_sample" => {
            let plan = plan_text(&given["event_types"][1], "extract");
            bench.accept(&plan, &samples()).unwrap_err().code().to_owned()
        }
        "samples_of_undeclared_types_are_allowed" => {
            let samples = samples().replacen('{', r#"{"id":"x","#, 1);
            bench.accept(&plan_text(&given["event_types"][0], "extract"), &samples).unwrap();
            "ok".to_owned()
        }
        "smoke_failure_leaves_existing_bundle" | "cache_hit_reruns_smoke_with_current_samples" => {
            bench.code_beside_a_bundle(r#"{"event_type":"a","id":7}"#)
        }
        "cache_hit_coverage_recheck" => bench.code_beside_a_bundle(r#"{"event_type":"a"}"#),
        "cache_miss_on_event_type_order" => {
            let types = ["a".to_owned(), "b".to_owned()];
            let swapped = ["b".to_owned(), "a".to_owned()];
            let fingerprint = |types: &[String]| contents("extractor", types).fingerprint();
            if fingerprint(&types) == fingerprint(&swapped) { "hit" } else { "miss" }.to_owned()
        }
        "cache_miss_on_source_change" => {
            if bench.is_hit_after("extractor.wat", "(module)") { "hit" } else { "miss" }.to_owned()
        }
        "cache_miss_on_unreadable_manifest" => {
            if bench.is_hit_after("manifest.json", "[]") { "hit" } else { "miss" }.to_owned()
        }
        other => panic!("nothing stands for {other}"),
    }
}

/// Cases about the order of checks between the module's name and others: a caller can't give that name.
const NO_EQUIVALENT: &[&str] = &["module_checked_before_function", "identifier_before_event_types"];

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = of_contract("smoke/compile_gate", named, |case| {
        let outcome = outcome(&Bench::new(), &case);
        let is_ok = ["ok", "hit"].contains(&outcome.as_str());
        let expected = &case["expect"];
        assert!(expected["ok"].as_bool().is_none_or(|ok| ok == is_ok), "{outcome}");
        assert!(expected["cache_hit"].as_bool().is_none_or(|hit| hit == is_ok), "{outcome}");
    });
    trials.push(on_shared(
        "smoke::compile_gate_cases_have_their_equivalents",
        "conformance/smoke.json",
        |path| compile_gate_cases_have_their_equivalents(&fs::read_to_string(path).unwrap()),
    ));
    trials
}

fn named(text: &str) -> Vec<(String, Value)> {
    let all: Value = serde_json::from_str(text).unwrap();
    let cases = all["compile_gate_cases"].as_array().unwrap().iter();
    let named = cases.map(|case| (case["name"].as_str().unwrap().to_owned(), case.clone()));
    named.filter(|(name, _)| !NO_EQUIVALENT.contains(&name.as_str())).collect()
}

/// The codes here, which aren't those there.
fn compile_gate_cases_have_their_equivalents(text: &str) {
    let outcomes = named(text)
        .into_iter()
        .map(|(name, case)| format!("{name}: {}", outcome(&Bench::new(), &case)));
    insta::assert_snapshot!(
        "compile_gate_cases_have_their_equivalents",
        outcomes.collect::<Vec<_>>().join("\n")
    );
}
