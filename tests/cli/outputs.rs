//! Files that are written are never files that are read, whatever they are called.

use std::fs::{self, File, hard_link};
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use super::project::{Ended, PLAN, Project};

/// A project with its bundle, and the names of what may not be written: name, and the file that it is.
fn compiled() -> (Project, String) {
    let project = Project::new();
    let bundle = project.compile();
    let bundle = bundle.rsplit('/').next().unwrap().to_owned();
    (project, format!("out/{bundle}"))
}

fn refused(project: &Project, ended: &Ended, before: &[(String, Vec<u8>)]) {
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error[output_is_input]: "), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert_eq!(contents(project), before, "{ended:?}");
}

/// Every file of a project, with what it holds.
fn contents(project: &Project) -> Vec<(String, Vec<u8>)> {
    let tree = project.tree().into_iter();
    tree.map(|name| (name.clone(), fs::read(project.path(&name)).unwrap_or_default())).collect()
}

#[test]
fn no_name_of_an_input_is_an_output() {
    let (project, bundle) = compiled();
    project.write("policy.yaml", "explicit: [content.secret]\n");
    hard_link(project.path("events.ndjson"), project.path("hard")).unwrap();
    symlink("events.ndjson", project.path("soft")).unwrap();
    symlink("hard", project.path("soft-of-hard")).unwrap();
    hard_link(project.path("policy.yaml"), project.path("hard-policy")).unwrap();
    let manifest = format!("{bundle}/manifest.json");
    hard_link(project.path(&manifest), project.path("hard-manifest")).unwrap();
    hard_link(project.path(&format!("{bundle}/plan.json")), project.path("hard-plan")).unwrap();
    symlink(format!("out/../{manifest}"), project.path("soft-manifest")).unwrap();
    symlink("out", project.path("out-again")).unwrap();
    let before = contents(&project);
    let written = [
        "events.ndjson",
        "./events.ndjson",
        "out/../events.ndjson",
        "hard",
        "soft",
        "soft-of-hard",
        "policy.yaml",
        "hard-policy",
        &manifest,
        "hard-manifest",
        "hard-plan",
        "soft-manifest",
        &manifest.replace("out/", "out-again/"),
        // It would be a file more.
        &format!("{bundle}/results.ndjson"),
        &format!("{bundle}/../../{bundle}/results.ndjson"),
    ]
    .map(str::to_owned);
    for written in &written {
        for flag in ["--out", "--rejects"] {
            for bundles in ["out", "out-again"] {
                let args =
                    ["run", "--bundles", bundles, "--policy", "policy.yaml", "events.ndjson"];
                let ended = project.retort(args.into_iter().chain([flag, written]));
                refused(&project, &ended, &before);
            }
        }
    }
    let inputs = ["hard", "soft", "hard-manifest", "hard-plan", "hard-policy", "events.ndjson"];
    for written in inputs.into_iter().chain([manifest.as_str()]) {
        let args = ["check", &bundle, "--samples", "events.ndjson", "--policy", "policy.yaml"];
        let ended = project.retort(args.into_iter().chain(["--junit", written]));
        refused(&project, &ended, &before);
    }
    let args = ["selftest", "--filter", "trap/", "--policy", "policy.yaml", "--junit"];
    refused(&project, &project.retort(args.into_iter().chain(["hard-policy"])), &before);

    // What is read by nobody may be written, in the directory of bundles as well.
    fs::create_dir(project.path("out/.results")).unwrap();
    for written in ["out/results.ndjson", "out/.results/results.ndjson"] {
        let args = ["run", "--bundles", "out", "events.ndjson", "--out", written];
        for _ in 0..2 {
            assert_eq!(project.retort(args).code, 0);
            assert_eq!(fs::read_to_string(project.path(written)).unwrap().lines().count(), 2);
        }
    }
}

#[test]
fn what_a_check_of_a_plan_reads_is_not_its_report() {
    let project = Project::new();
    project.write("schema.json", "{\"content\":{\"id\":\"string\",\"total\":\"double\"}}");
    let names = ["plan.json", "graph.yaml", "schema.json", "events.ndjson"];
    for name in names {
        hard_link(project.path(name), project.path(&format!("hard-{name}"))).unwrap();
    }
    let before = contents(&project);
    let args = "check plan.json --samples events.ndjson --graph graph.yaml --schema schema.json";
    for name in names {
        let hard = format!("hard-{name}");
        for written in [name, &hard] {
            let ended = project.retort(args.split(' ').chain(["--junit", written]));
            refused(&project, &ended, &before);
        }
    }
}

#[test]
fn no_part_of_a_project_is_recorded_over() {
    let project = Project::new();
    project.write("rule.md", "Every order that was placed becomes one Order.\n");
    project.write(
        "retort.toml",
        "rule = \"rule.md\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\noutput = \"out\"\n",
    );
    let answer = serde_json::json!({ "text": PLAN }).to_string();
    project.write("answers.ndjson", answer + "\n");
    let args = ["compile", "--model", "replay:answers.ndjson", "--record"];
    let first = project.retort(args.into_iter().chain(["run.ndjson"]));
    assert_eq!(first.code, 0, "{first:?}");
    let bundle = first.stdout.trim().to_owned();
    let names = ["rule.md", "retort.toml", "graph.yaml", "events.ndjson", "answers.ndjson"];
    for name in names {
        hard_link(project.path(name), project.path(&format!("hard-{name}"))).unwrap();
    }
    let before = contents(&project);
    for name in names {
        for written in [name.to_owned(), format!("./{name}"), format!("hard-{name}")] {
            let ended = project.retort(args.into_iter().chain([written.as_str()]));
            refused(&project, &ended, &before);
        }
    }
    let written = format!("{bundle}/manifest.json");
    refused(&project, &project.retort(args.into_iter().chain([written.as_str()])), &before);
}

#[test]
fn what_is_read_does_not_go_with_a_bundle_that_is_replaced() {
    let (project, bundle) = compiled();
    let samples = format!("{bundle}/samples.ndjson");
    fs::copy(project.path("events.ndjson"), project.path(&samples)).unwrap();
    let before = contents(&project);
    refused(&project, &project.retort(["compile", "--samples", &samples]), &before);
    fs::remove_file(project.path(&samples)).unwrap();
    // The files of the bundle itself are what it would be replaced by.
    let ended = project.retort(["compile", "--graph", &format!("{bundle}/graph.json")]);
    assert_eq!(ended.code, 0, "{ended:?}");
}

/// Runs the binary in a project's folder, with files in the place of stdin and stdout.
fn redirected(project: &Project, args: &[&str], stdin: Stdio, stdout: Stdio) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
    command.args(args).current_dir(project.path("")).stdin(stdin).stdout(stdout);
    let output = command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn what_stdin_is_redirected_from_is_not_emptied() {
    let (project, _) = compiled();
    hard_link(project.path("events.ndjson"), project.path("hard")).unwrap();
    let before = contents(&project);
    for flag in ["--out", "--rejects"] {
        for written in ["events.ndjson", "hard"] {
            let args = ["run", "--bundles", "out", "-", flag, written];
            let stdin = File::open(project.path("events.ndjson")).unwrap();
            let ended = redirected(&project, &args, stdin.into(), Stdio::piped());
            refused(&project, &ended, &before);
            assert!(ended.stderr.contains("stdin: "), "{ended:?}");
        }
    }
    let args = ["check", "plan.json", "--samples", "-", "--junit", "hard"];
    let stdin = File::open(project.path("events.ndjson")).unwrap();
    refused(&project, &redirected(&project, &args, stdin.into(), Stdio::piped()), &before);
}

#[test]
fn results_are_not_appended_to_the_events_that_they_are_of() {
    let (project, _) = compiled();
    let before = contents(&project);
    let runs: [&[&str]; 2] = [
        &["run", "--bundles", "out", "events.ndjson"],
        &["plan", "eval", "plan.json", "events.ndjson"],
    ];
    for args in runs {
        let events = File::options().append(true).open(project.path("events.ndjson")).unwrap();
        refused(&project, &redirected(&project, args, Stdio::null(), events.into()), &before);
        let results = File::create(project.path("results")).unwrap();
        let ended = redirected(&project, args, Stdio::null(), results.into());
        assert_eq!(ended.code, 0, "{ended:?}");
        assert!(fs::metadata(project.path("results")).unwrap().len() > 100);
        fs::remove_file(project.path("results")).unwrap();
    }
}

#[test]
fn results_and_rejects_are_two_files() {
    let (project, _) = compiled();
    project.write("old", "kept");
    hard_link(project.path("old"), project.path("hard")).unwrap();
    symlink("old", project.path("soft")).unwrap();
    let before = contents(&project);
    let names =
        [("old", "old"), ("old", "hard"), ("hard", "soft"), ("new", "new"), ("new", "./new")];
    for (out, rejects) in names {
        let args = ["run", "--bundles", "out", "events.ndjson", "--out", out, "--rejects", rejects];
        refused(&project, &project.retort(args), &before);
    }
}

#[test]
fn devices_and_pipes_are_written_whatever_is_read() {
    let (project, _) = compiled();
    let args = ["run", "--bundles", "out", "events.ndjson", "--out", "/dev/stdout"];
    let ended = project.retort(args);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{ended:?}");
    let ended = project.retort(args.into_iter().chain(["--rejects", "/dev/stderr"]));
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{ended:?}");
    for written in ["/dev/null", "/dev/stdout"] {
        let args = ["run", "--bundles", "out", "/dev/null", "--out", written];
        assert_eq!(project.retort(args).code, 0, "{written}");
    }
    // A pipe is opened once: whoever writes to it would be ended otherwise.
    let pipe = project.path("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &*pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let events = fs::read(project.path("events.ndjson")).unwrap();
    let writer = std::thread::spawn(move || fs::write(pipe, events.repeat(1_000)));
    let ended = project.retort(["run", "--bundles", "out", "pipe"]);
    writer.join().unwrap().unwrap();
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2_000), "{}", ended.stderr);
}
