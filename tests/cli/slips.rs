//! What is slightly wrong with a file, as somebody who is new to it writes it: one error, which names the file and the place, and
//! says what was expected and what was found. The cases are files, whose names begin with what they are given as.

use std::collections::BTreeMap;
use std::fs;

use super::project::Project;
use crate::support::workspace_root;

/// The command that reads a file of the case, and its name in the project.
fn reads(kind: &str, name: &str) -> (Vec<String>, String) {
    let strings = |args: &[&str]| args.iter().map(|arg| (*arg).to_owned()).collect();
    match kind {
        "project" => (strings(&["compile"]), "retort.toml".to_owned()),
        "result" => (strings(&["graph", "check", "--graph", "graph.yaml", name]), name.to_owned()),
        "report" => (strings(&["diagnose", "smoke", name]), name.to_owned()),
        _ => (strings(&["compile", &format!("--{kind}"), name]), name.to_owned()),
    }
}

#[test]
fn each_is_told_once_and_with_its_place() {
    let folder = workspace_root().join("tests/cli/slips");
    let mut told = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let case = path.file_name().unwrap().to_str().unwrap().to_owned();
        let (kind, name) = case.split_once('_').unwrap();
        let (args, written) = reads(kind, name);
        let project = Project::new();
        project.write(&written, fs::read(&path).unwrap());
        let before = project.tree();
        let ended = project.retort(args.iter().map(String::as_str));
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{case}: {ended:?}");
        assert_eq!(project.tree(), before, "{case}");
        let errors = ended.stderr.matches("error[").count();
        assert_eq!((errors, ended.stderr.lines().count()), (1, 1), "{case}: {ended:?}");
        assert!(ended.stderr.contains(&written), "{case}: {ended:?}");
        told.insert(case, ended.stderr.trim_end().to_owned());
    }
    let told: Vec<String> = told.iter().map(|(case, said)| format!("{case}\n  {said}")).collect();
    insta::assert_snapshot!("slips", told.join("\n"));
}

/// What is given where a file is wanted, by every flag: a folder, and what isn't there.
#[test]
fn files_that_are_none() {
    for (flag, kind) in [
        ("--plan", "a plan"),
        ("--graph", "a graph spec"),
        ("--samples", "a file of sample events"),
        ("--rule", "a rule"),
        ("--schema", "an event schema"),
        ("--policy", "a policy"),
        ("--expected", "a file of expected results"),
    ] {
        let project = Project::new();
        let folder = project.retort(["compile", flag, "."]);
        let missing = project.retort(["compile", flag, "nowhere"]);
        for (ended, said) in [
            (folder, format!("error[file_not_readable]: .: cannot read {kind}: is a directory\n")),
            (
                missing,
                format!(
                    "error[file_not_found]: nowhere: expected {kind}, found nothing by that name\n"
                ),
            ),
        ] {
            assert_eq!((ended.code, ended.stderr), (2, said), "{flag}");
        }
    }
}

#[test]
fn models_that_are_none() {
    let project = Project::new();
    let before = project.tree();
    for (model, code, said) in [
        ("gpt-5", "model_config", "expected draft, openai:NAME, "),
        ("opena:gpt-5", "model_config", "found \"opena:gpt-5\""),
        ("openai:", "model_config", "found \"openai:\""),
        ("replay:nowhere", "model_replay_failed", "nowhere: cannot read a recording: "),
        ("replay:.", "model_replay_failed", ": cannot read a recording: "),
    ] {
        let ended = project.retort(["compile", "--rule", "plan.json", "--model", model]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{model}: {ended:?}");
        assert!(ended.stderr.starts_with(&format!("error[{code}]: ")), "{model}: {ended:?}");
        assert!(ended.stderr.contains(said), "{model}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{model}: {ended:?}");
    }
    assert_eq!(project.tree(), before);
}

/// It is said before a model is asked, or a gate run.
#[test]
fn a_file_where_the_bundles_would_be() {
    let project = Project::new();
    for (out, found) in [("plan.json", "a file"), ("plan.json/out", "that plan.json is a file")] {
        let ended = project.retort(["compile", "--out", out]);
        let said = format!(
            "error[bundle_write_failed]: {out}: expected a directory of bundles, found {found}\n"
        );
        assert_eq!((ended.code, ended.stderr), (2, said));
    }
}

/// What editors and other systems make of lines changes nothing.
#[test]
fn line_ends_and_blank_lines_are_no_slips() {
    let project = Project::new();
    let bundle = project.compile();
    for name in ["graph.yaml", "events.ndjson", "retort.toml", "plan.json"] {
        let text = fs::read_to_string(project.path(name)).unwrap();
        project.write(name, text.replace('\n', "\r\n") + "\r\n\r\n");
    }
    assert_eq!(project.compile(), bundle);
    let run = project.retort(["run", "--bundles", "out", "events.ndjson"]);
    assert_eq!((run.code, run.stdout.lines().count()), (0, 2), "{run:?}");
}

/// In words or as JSON, a rule is the same with the mark that some editors write before it.
#[test]
fn a_byte_order_mark_is_no_part_of_a_rule() {
    for rule in ["Every order_placed becomes one Order.", r#"{"rule": "One Order each."}"#] {
        let bundle = |mark: &str| {
            let project = Project::new();
            project.write("rule.md", format!("{mark}{rule}"));
            let ended = project.retort(["compile", "--rule", "rule.md"]);
            assert_eq!(ended.code, 0, "{ended:?}");
            ended.stdout
        };
        assert_eq!(bundle("\u{feff}"), bundle(""), "{rule}");
    }
}
