//! Extractors in Rust, from a new folder to results, and what a model is told of those that fail.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::project::{Ended, retort_with_rustc};
use crate::support::{guest_rustc, workspace_root};

/// A new project in a folder of its own.
struct Extractor {
    folder: tempfile::TempDir,
}

impl Extractor {
    fn new() -> Self {
        let extractor = Self { folder: tempfile::tempdir().unwrap() };
        let made = extractor.retort(["new", "--rust", "mine"]);
        assert_eq!((made.code, made.stdout.trim()), (0, "mine"), "{made:?}");
        extractor
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn retort<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Ended {
        retort_with_rustc(args, Some(self.folder.path()))
    }

    /// What `check` reports of its source, with this put into the function that makes the graph.
    fn check(&self, body: &str) -> Value {
        let text = fs::read_to_string(self.path("mine/src/lib.rs")).unwrap();
        let changed = text.replacen("    graph.session(event.session);\n", body, 1);
        assert_ne!(changed, text);
        fs::write(self.path("changed.rs"), changed).unwrap();
        let ended = self.retort([
            "check",
            "changed.rs",
            "--samples",
            "mine/samples.ndjson",
            "--graph",
            "mine/graph.yaml",
            "--json",
        ]);
        assert_eq!(ended.code, 1, "{ended:?}");
        serde_json::from_str(&ended.stdout).unwrap()
    }
}

#[test]
fn a_new_folder_is_written_once_and_holds_what_is_needed() {
    let extractor = Extractor::new();
    for file in ["retort.toml", "src/lib.rs", "graph.yaml", "samples.ndjson", "events.ndjson"] {
        assert!(Path::new(&extractor.path(&format!("mine/{file}"))).is_file(), "{file}");
    }
    let manifest = fs::read_to_string(extractor.path("mine/Cargo.toml")).unwrap();
    assert!(manifest.contains("name = \"mine\""), "{manifest}");
    fs::write(extractor.path("mine/src/lib.rs"), "// mine\n").unwrap();
    let again = extractor.retort(["new", "--rust", "mine"]);
    assert_eq!((again.code, again.stdout.trim()), (0, "mine"), "{again:?}");
    assert!(again.stderr.contains("nothing was written"), "{again:?}");
    assert_eq!(fs::read_to_string(extractor.path("mine/src/lib.rs")).unwrap(), "// mine\n");
    fs::create_dir(extractor.path("theirs")).unwrap();
    for (name, expected) in
        [("theirs", "there is something already"), ("7th", "begins with a letter")]
    {
        let ended = extractor.retort(["new", "--rust", name]);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("error[project_exists]"), "{ended:?}");
        assert!(ended.stderr.contains(expected), "{ended:?}");
    }
    assert_eq!(extractor.retort(["new", "other"]).code, 2);
    assert!(!Path::new(&extractor.path("other")).exists());
}

#[test]
fn a_new_extractor_compiles_checks_and_runs_as_it_is() {
    let Some(_) = guest_rustc() else { return };
    let extractor = Extractor::new();
    let compiled = extractor.retort(["compile", "mine"]);
    assert_eq!(compiled.code, 0, "{compiled:?}");
    let bundle = compiled.stdout.trim();
    let again = extractor.retort(["compile", "mine", "--json"]);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    let confinement = again["confinement"].as_str().unwrap();
    assert!(["landlock", "partial", "none"].contains(&confinement), "{again}");
    let names: Vec<_> = fs::read_dir(extractor.path(bundle)).unwrap().collect();
    assert_eq!(names.len(), 5, "source, module, graph, limits and manifest: {names:?}");
    let source = fs::read_to_string(extractor.path(&format!("{bundle}/extractor.rs"))).unwrap();
    assert_eq!(source, fs::read_to_string(extractor.path("mine/src/lib.rs")).unwrap());

    let run = extractor.retort(["run", "--bundles", "mine/bundles", "mine/events.ndjson"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 2), "{run:?}");
    let samples = ["--samples", "mine/samples.ndjson"];
    let source = ["check", "mine/src/lib.rs", "--graph", "mine/graph.yaml"];
    for checked in [&source[..], &["check", bundle]] {
        let ended = extractor.retort(checked.iter().chain(&samples).copied());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(ended.stderr.contains("compiled by rustc 1."), "{ended:?}");
        let json = checked.iter().chain(&samples).chain(&["--json"]).copied();
        let report: Value = serde_json::from_str(&extractor.retort(json).stdout).unwrap();
        assert!(report["rust"]["compiler"].as_str().unwrap().starts_with("rustc 1."), "{report}");
        // How the compiler was confined is known of what was compiled now, and warned of where it could do more than it has to.
        let confined = report["rust"]["confinement"].as_str();
        assert_eq!(confined.is_some(), checked[1].ends_with(".rs"), "{report}");
        let is_less = confined.is_some_and(|it| it != "landlock");
        assert_eq!(ended.stderr.contains("warning[rustc_unconfined]"), is_less, "{ended:?}");
        fs::write(extractor.path("policy.yaml"), "require_confinement: true").unwrap();
        let policy = ["--policy", "policy.yaml"];
        let required = checked.iter().chain(&samples).chain(&policy).copied();
        let required = extractor.retort(required);
        assert_eq!(required.code == 0, !is_less, "{required:?}");
    }
    let inspected = extractor.retort(["inspect", bundle]);
    assert!(inspected.stdout.contains("compiler     rustc 1."), "{inspected:?}");
    let inspected = extractor.retort(["inspect", bundle, "--json"]);
    let inspected: Value = serde_json::from_str(&inspected.stdout).unwrap();
    let manifest = fs::read_to_string(extractor.path(&format!("{bundle}/manifest.json"))).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["rust"]["source"], manifest["files"]["extractor.rs"]);
    assert_eq!(manifest["rust"]["compiler"], inspected["rust"]["compiler"]);
    assert_eq!(manifest["rust"]["sdk"], inspected["rust"]["sdk"]);
    for told in [
        &["inspect", bundle][..],
        &["inspect", "mine/src/lib.rs"],
        &["bench", bundle, "mine/events.ndjson", "--events", "10"],
        &["label", "mine", "--all"],
    ] {
        let ended = extractor.retort(told.iter().copied());
        assert_eq!(ended.code, 0, "{told:?}: {ended:?}");
    }
}

#[test]
fn what_is_wrong_with_a_source_has_its_line_and_column() {
    let Some(_) = guest_rustc() else { return };
    let extractor = Extractor::new();
    let first = |body: &str| extractor.check(body)["problems"][0].clone();
    let of_gate = first("    unsafe {}\n");
    assert_eq!((&of_gate["code"], &of_gate["path"]), (&json!("source_unsafe"), &json!("24:5")));
    let of_rustc = first("    let n: i64 = \"\";\n");
    assert_eq!((&of_rustc["code"], &of_rustc["path"]), (&json!("rustc_rejected"), &json!("24:18")));
    assert!(of_rustc["message"].as_str().unwrap().starts_with("E0308: "), "{of_rustc}");

    let trapped = first("    assert!(event.session.str().is_none(), \"so {}\", 7);\n");
    assert_eq!((&trapped["code"], &trapped["path"]), (&json!("unreachable"), &json!("24:5")));
    let message = trapped["message"].as_str().unwrap();
    assert!(message.contains("panicked at src/lib.rs:24:5: so 7"), "{message}");
    assert!(message.contains("at src/lib.rs:24:5 in `read_order`"), "{message}");

    let endless = first(
        "    let mut sum = 0;\n    while sum != 7 {\n        sum = event.lines().filter(|line| line.sku.is_some()).count();\n    }\n",
    );
    assert_eq!(endless["code"], "out_of_fuel");
    let line = endless["path"].as_str().unwrap().split(':').next().unwrap();
    assert!(["25", "26", "27"].contains(&line), "{endless}");
}

#[test]
fn a_model_that_writes_rust_is_told_of_each_gate_until_it_passes() {
    let Some(_) = guest_rustc() else { return };
    let project = workspace_root().join("tests/retry/rust");
    let folder = tempfile::tempdir().unwrap();
    let mut answers: Vec<_> =
        fs::read_dir(project.join("answers")).unwrap().map(|entry| entry.unwrap().path()).collect();
    answers.sort();
    let recorded = answers.iter().map(|path| {
        let source = fs::read_to_string(path).unwrap();
        format!("{}\n", json!({"text": json!({"source": source}).to_string()}))
    });
    let replay = folder.path().join("answers.ndjson");
    fs::write(&replay, recorded.collect::<String>()).unwrap();
    let out = folder.path().join("out");
    let [project, out] = [&project, &out].map(|it| it.to_str().unwrap());
    let model = format!("replay:{}", replay.display());
    let args =
        ["compile", project, "--model", &model, "--out", out, "--max-attempts", "8", "--json"];
    let ended = retort_with_rustc(args, None);
    assert_eq!(ended.code, 0, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let attempts = report["attempts"].as_array().unwrap();
    let failures: Vec<_> = attempts
        .iter()
        .map(|attempt| match &attempt["failure"] {
            Value::Null => "passed".to_owned(),
            failure => format!(
                "{} {}",
                failure["failure_code"].as_str().unwrap(),
                failure["code"].as_str().unwrap()
            ),
        })
        .collect();
    insta::assert_json_snapshot!("rust_attempts", failures);
    let told: Vec<_> = attempts.iter().map(|attempt| attempt["diagnostic"].clone()).collect();
    insta::assert_json_snapshot!("rust_feedback", told);
}
