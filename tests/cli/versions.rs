//! Bundles of one extractor that come after each other in one directory.

use std::fs;

use super::project::{Ended, PLAN, Project};

const CHANGED: &str = "changed.json";

/// A project with its bundle, and a plan of the same function that reads less.
fn compiled() -> (Project, String) {
    let project = Project::new();
    let changed = PLAN.replace(",\n  \"span_handling\": {\"span_id_path\": [\"span_id\"]}", "");
    assert_ne!(changed, PLAN);
    project.write(CHANGED, changed);
    let bundle = project.compile();
    (project, bundle)
}

fn run(project: &Project) -> Ended {
    project.retort(["run", "--bundles", "out", "events.ndjson"])
}

fn bundles(project: &Project) -> usize {
    let entries = fs::read_dir(project.path("out")).unwrap();
    entries.filter(|it| it.as_ref().unwrap().path().is_dir()).count()
}

#[test]
fn a_bundle_of_a_changed_plan_takes_the_place_of_the_earlier_one() {
    let (project, first) = compiled();
    let ended = project.retort(["compile", "--plan", CHANGED]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains(&format!("it takes the place of {first}")), "{ended:?}");
    assert_eq!((bundles(&project), run(&project).code), (1, 0));
    // And back, which the JSON says as well.
    let ended = project.retort(["compile", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["bundle"]["path"], first);
    assert_eq!(report["bundle"]["replaced"].as_array().map(Vec::len), Some(1), "{ended:?}");
    assert_eq!((bundles(&project), run(&project).code), (1, 0));
}

#[test]
fn bundles_that_are_kept_collide_and_are_said_to() {
    let (project, first) = compiled();
    let ended = project.retort(["compile", "--plan", CHANGED, "--keep"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains(&format!("{first} declares an event type of it as well")));
    let ran = run(&project);
    assert!(bundles(&project) == 2 && ran.stderr.contains("event_type_collision"), "{ran:?}");
    // The next one that isn't told to keep them leaves one.
    assert_eq!(project.compile(), first);
    assert_eq!((bundles(&project), run(&project).code), (1, 0));
}

#[test]
fn a_name_in_the_project_file_is_the_extractors() {
    let project = Project::new();
    let unnamed = project.compile();
    let settings = fs::read_to_string(project.path("retort.toml")).unwrap();
    project.write("retort.toml", format!("name = \"shop.orders\"\n{settings}"));
    let named = project.compile();
    assert_ne!(unnamed, named, "a name is part of what a bundle is");
    let manifest = project.path(&format!("{named}/manifest.json"));
    assert!(fs::read_to_string(manifest).unwrap().contains(r#""name": "shop.orders""#));
    project.write("retort.toml", format!("name = \"../orders\"\n{settings}"));
    let ended = project.retort(["compile"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.starts_with("error[name_invalid]: retort.toml: name: "), "{ended:?}");
}
