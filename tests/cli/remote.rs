//! Bundles that are published in a store, and taken from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project};

/// Keys of these tests, of nobody else.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINajkwIf5yMP11LhvIe+cyboCujvAXseyWmgyCtY4p0q
-----END PRIVATE KEY-----
";
const TRUSTED: &str = "-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAsJI1gyouFAUYTC301W+s9in7aGS+brzlXmwWlfkb6uc=
-----END PUBLIC KEY-----
";
const OTHER_KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEILiE24g5zYskqdERwruZnrPc6gTBcy3Igc49JrFn0hrO
-----END PRIVATE KEY-----
";

/// A project with a bundle, and a plan of the same function that reads less.
fn compiled() -> (Project, String) {
    let project = Project::new();
    project.write("changed.json", PLAN.replace("\"span_id\"", "\"session_id\""));
    let bundle = project.compile();
    (project, bundle.strip_prefix("out/").unwrap().to_owned())
}

fn changed(project: &Project) -> String {
    let ended = project.retort(["compile", "--plan", "changed.json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.stdout.trim().strip_prefix("out/").unwrap().to_owned()
}

fn ok(ended: Ended) -> String {
    assert_eq!(ended.code, 0, "{ended:?}");
    ended.stdout
}

fn publish(project: &Project) -> String {
    ok(project.retort(["publish", "out", "store"]))
}

fn sync(project: &Project) -> String {
    ok(project.retort(["sync", "store", "here"]))
}

fn results(project: &Project, bundles: &str) -> String {
    ok(project.retort(["run", "--bundles", bundles, "events.ndjson"]))
}

/// What a command that takes in part says, and that nothing is served otherwise than before.
fn refused(project: &Project, args: &[&str], code: &str) {
    let before = project.retort(["run", "--bundles", "here", "events.ndjson"]);
    let ended = project.retort(args.iter().copied());
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains(&format!("error[{code}]: ")), "{ended:?}");
    let after = project.retort(["run", "--bundles", "here", "events.ndjson"]);
    assert_eq!((before.code, before.stdout), (after.code, after.stdout));
}

fn object(project: &Project, name: &str) -> PathBuf {
    PathBuf::from(project.path("store")).join(name)
}

fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, serde_json::to_vec(&value).unwrap()).unwrap();
}

#[test]
fn what_is_published_is_served_wherever_it_is_taken() {
    let (project, first) = compiled();
    assert_eq!(publish(&project), format!("read_order: {}, uploaded\n", &first[..12]));
    assert_eq!(publish(&project), format!("read_order: {} as before\n", &first[..12]));
    let took = format!("received {}\nread_order: as published\n", &first[..12]);
    assert_eq!(sync(&project), took);
    assert_eq!(sync(&project), "nothing new\n");
    assert_eq!(results(&project, "here"), results(&project, "out"));

    let second = changed(&project);
    let report: Value =
        serde_json::from_str(&ok(project.retort(["publish", "out", "store", "--json"]))).unwrap();
    let expected = json!({"ok": true, "removed": [], "published": [
        {"name": "read_order", "versions": [second], "uploaded": [second], "changed": true}]});
    assert_eq!(report, expected);
    let report: Value =
        serde_json::from_str(&ok(project.retort(["sync", "store", "here", "--json"]))).unwrap();
    let expected = json!({"ok": true, "received": [second], "changed": ["read_order"], "changed_here": [], "problems": []});
    assert_eq!(report, expected);
    assert_eq!(results(&project, "here"), results(&project, "out"));

    // Back, which needs nothing to be moved.
    ok(project.retort(["bundles", "rollback", "out", "read_order"]));
    assert_eq!(publish(&project), format!("read_order: {}\n", &first[..12]));
    assert_eq!(sync(&project), "read_order: as published\n");
    // What is decided in the directory later counts, until something is published after that.
    ok(project.retort(["bundles", "activate", "here", &format!("read_order@{second}")]));
    assert_eq!(sync(&project), "read_order: as changed here later\n");
    ok(project.retort(["bundles", "retire", "out", "read_order"]));
    assert_eq!(publish(&project), "read_order: nothing\n");
    assert_eq!(sync(&project), "read_order: as published\n");
    assert_eq!(project.retort(["run", "--bundles", "here", "events.ndjson"]).code, 2);
}

#[test]
fn what_nobody_signs_who_is_trusted_is_not_served() {
    let (project, first) = compiled();
    for (name, text) in [("key.pem", KEY), ("trusted.pem", TRUSTED), ("other.pem", OTHER_KEY)] {
        project.write(name, text);
    }
    let signed = |key| ok(project.retort(["publish", "out", "store", "--sign-with", key]));
    let sync = ["sync", "store", "here", "--trust", "trusted.pem"];
    publish(&project);
    refused(&project, &sync, "signature_not_trusted");
    // The same, signed now.
    assert_eq!(signed("key.pem"), format!("read_order: {}\n", &first[..12]));
    ok(project.retort(sync));
    let second = changed(&project);
    signed("other.pem");
    refused(&project, &sync, "signature_not_trusted");
    signed("key.pem");

    let active = object(&project, "active/read_order.json");
    let whole = fs::read(&active).unwrap();
    let altered: [fn(&mut Value); 4] = [
        |it| it["versions"] = json!([]),
        |it| it["since"] = it["since"].as_str().unwrap().replacen("20", "21", 1).into(),
        |it| it["signature"]["value"] = "00".repeat(64).into(),
        |it| _ = it.as_object_mut().unwrap().remove("signature"),
    ];
    for change in altered {
        edit(&active, change);
        refused(&project, &sync, "signature_not_trusted");
        fs::write(&active, &whole).unwrap();
    }
    // That of another name.
    fs::write(object(&project, "active/other.json"), &whole).unwrap();
    let ended = project.retort(sync);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("error[published_invalid]: "), "{ended:?}");
    assert_eq!(
        results(&project, "here"),
        results(&project, "out"),
        "{second} is taken all the same"
    );

    for (args, code) in [
        (["publish", "out", "store", "--sign-with", "trusted.pem"], "key_invalid"),
        (["sync", "store", "here", "--trust", "key.pem"], "key_invalid"),
        (["sync", "store", "here", "--trust", "none.pem"], "key_invalid"),
        (["sync", "nowhere", "here", "--trust", "trusted.pem"], "remote_url_invalid"),
        (["sync", "ftp://here", "here", "--trust", "trusted.pem"], "remote_url_invalid"),
        (["publish", "out", "store", "--name", "other"], "name_unknown"),
    ] {
        let ended = project.retort(args);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains(&format!("error[{code}]: ")), "{code}: {ended:?}");
        assert!(!ended.stderr.contains("MC4CAQ"), "{ended:?}");
    }
}

#[test]
fn nothing_that_was_altered_in_the_store_is_taken() {
    let (project, first) = compiled();
    publish(&project);
    sync(&project);
    let second = changed(&project);
    assert_ne!(first, second);
    publish(&project);
    let sync_args = ["sync", "store", "here"];
    let file = |name: &str| object(&project, &format!("bundles/{second}/{name}"));
    let names: Vec<String> = fs::read_dir(file(""))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.len() > 4, "{names:?}");
    for name in &names {
        let whole = fs::read(file(name)).unwrap();
        fs::remove_file(file(name)).unwrap();
        refused(&project, &sync_args, "published_invalid");
        let mut altered = whole.clone();
        // White space within a manifest, or another byte in what has a digest.
        if name == "manifest.json" {
            altered.push(b' ')
        } else {
            altered[0] ^= 1
        }
        fs::write(file(name), altered).unwrap();
        refused(&project, &sync_args, "digest_mismatch");
        let large = vec![b' '; 8 << 20];
        if name == "manifest.json" || name == "limits.json" {
            fs::write(file(name), large).unwrap();
            refused(&project, &sync_args, "published_invalid");
        }
        fs::write(file(name), whole).unwrap();
    }
    // Another whole bundle in its place.
    let first_manifest =
        fs::read(object(&project, &format!("bundles/{first}/manifest.json"))).unwrap();
    let whole = fs::read(file("manifest.json")).unwrap();
    fs::write(file("manifest.json"), first_manifest).unwrap();
    refused(&project, &sync_args, "fingerprint_mismatch");
    fs::write(file("manifest.json"), whole).unwrap();

    let active = object(&project, "active/read_order.json");
    let whole = fs::read(&active).unwrap();
    let altered: [fn(&mut Value); 5] = [
        |it| it["schema"] = 2.into(),
        |it| it["more"] = 2.into(),
        |it| it["name"] = "../up".into(),
        |it| it["since"] = "yesterday".into(),
        |it| it["versions"] = json!(["../../etc"]),
    ];
    for change in altered {
        edit(&active, change);
        refused(&project, &sync_args, "published_invalid");
        fs::write(&active, &whole).unwrap();
    }
    assert!(!sync(&project).is_empty());
    assert_eq!(results(&project, "here"), results(&project, "out"));
    let left = fs::read_dir(project.path("here")).unwrap();
    let left = left.map(|it| it.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.starts_with(".staging")), "nothing is left behind");
}

#[test]
fn what_would_take_an_event_type_from_another_stays_away_and_the_rest_is_taken() {
    let (project, _) = compiled();
    // Another extractor of the same event type, and one of another, published from elsewhere.
    let other = PLAN.replace("read_order", "read_otherwise");
    project.write("other.json", &other);
    project.write(
        "parcel.json",
        other.replace("read_otherwise", "read_parcel").replace("order_placed", "order_shipped"),
    );
    project.write(
        "samples.ndjson",
        r#"{"event_type":"order_shipped","session_id":"s1","span_id":"a","content":{"id":"o1","total":1.5}}"#,
    );
    ok(project.retort(["compile", "--plan", "other.json", "--out", "elsewhere"]));
    ok(project.retort([
        "compile",
        "--plan",
        "parcel.json",
        "--samples",
        "samples.ndjson",
        "--out",
        "elsewhere",
    ]));
    publish(&project);
    sync(&project);
    ok(project.retort(["publish", "elsewhere", "store"]));
    let ended = project.retort(["sync", "store", "here", "--json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["changed"], json!(["read_parcel"]));
    assert_eq!(report["problems"][0]["code"], "event_type_taken");
    // From the one to the other in one step.
    ok(project.retort(["bundles", "retire", "out", "read_order"]));
    publish(&project);
    let report: Value =
        serde_json::from_str(&ok(project.retort(["sync", "store", "here", "--json"]))).unwrap();
    assert_eq!(report["changed"], json!(["read_order", "read_otherwise"]));
}

#[test]
fn what_nobody_serves_is_removed_when_it_is_old() {
    let (project, first) = compiled();
    publish(&project);
    let second = changed(&project);
    let remove = ["publish", "out", "store", "--remove-after", "30"];
    let published = format!("read_order: {}, uploaded\n", &second[..12]);
    assert_eq!(ok(project.retort(remove)), published, "the first one is young");
    let age = |version: &str, days: u64| {
        let written = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        for file in fs::read_dir(object(&project, &format!("bundles/{version}"))).unwrap() {
            fs::File::options()
                .write(true)
                .open(file.unwrap().path())
                .unwrap()
                .set_modified(written)
                .unwrap();
        }
    };
    age(&first, 29);
    age(&second, 300);
    let published = format!("read_order: {} as before\n", &second[..12]);
    assert_eq!(ok(project.retort(remove)), published);
    age(&first, 31);
    let removed = format!("{published}removed {}\n", &first[..12]);
    assert_eq!(ok(project.retort(remove)), removed);
    assert!(!object(&project, &format!("bundles/{first}")).exists());
    sync(&project);
    assert_eq!(results(&project, "here"), results(&project, "out"));
    // It is uploaded again.
    ok(project.retort(["bundles", "rollback", "out", "read_order"]));
    let (first, second) = (&first[..12], &second[..12]);
    let published = format!("read_order: {first}, uploaded\nremoved {second}\n");
    assert_eq!(ok(project.retort(remove)), published);
}
