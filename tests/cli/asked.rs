//! `retort compile` with a model, `retort prompt` and `retort repair`.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::project::{Ended, PLAN, Project, retort_with};
use crate::llm::server::{Reply, Server};

const RULE: &str = "Every `order_placed` event becomes one Order, by its id, with its total.\n";

/// A project with a rule in the place of a plan.
fn project() -> Project {
    let project = Project::new();
    project.write("rule.md", RULE);
    project.write(
        "retort.toml",
        "rule = \"rule.md\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\noutput = \"out\"\n",
    );
    project
}

/// A recording of answers.
fn recording(project: &Project, answers: &[&str]) -> String {
    let lines: Vec<String> =
        answers.iter().map(|text| format!("{}\n", json!({ "text": text }))).collect();
    project.write("answers.ndjson", lines.concat());
    "replay:answers.ndjson".to_owned()
}

fn compile(project: &Project, model: &str, more: &[&str]) -> Ended {
    let mut args = vec!["compile", "--model", model];
    args.extend(more);
    project.retort(args)
}

fn record(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// The kind and the failure of every attempt.
fn attempts(record: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let attempts = record["attempts"].as_array().unwrap().iter();
    attempts.map(|it| (text(&it["kind"]), text(&it["failure"]["code"]))).collect()
}

fn plan_with(change: impl Fn(&mut Value)) -> String {
    let mut plan: Value = serde_json::from_str(PLAN).unwrap();
    change(&mut plan);
    plan.to_string()
}

/// Two mistakes for which there is no one remedy.
fn hopeless() -> String {
    plan_with(|plan| plan["key_field"]["source_path"] = json!(["elsewhere", "xyzzy"]))
}

#[test]
fn a_rule_alone_is_drafted_a_plan_for() {
    let project = project();
    let ended = project.retort(["compile"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.stderr.contains("attempt 1  model       accepted"), "{ended:?}");
    // What a person should look at comes last.
    let (_, sketch) = ended.stderr.split_once("accepted").unwrap();
    assert!(sketch.contains("A person should look at:"), "{ended:?}");
    let plan = project.path(&format!("{}/plan.json", ended.stdout.trim()));
    let plan: Value = serde_json::from_str(&fs::read_to_string(plan).unwrap()).unwrap();
    let expected: Value = serde_json::from_str(PLAN).unwrap();
    for field in ["event_type", "target_entity_name", "key_field", "property_fields"] {
        assert_eq!(plan[field], expected[field], "{plan}");
    }
}

#[test]
fn a_rejected_answer_is_fed_back_and_a_slip_is_repaired() {
    let project = project();
    let slip = plan_with(|plan| plan["key_field"]["source_path"] = json!(["content", "Id"]));
    let model = recording(&project, &["I can't.", &slip]);
    let ended = compile(&project, &model, &["--json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    let record = record(&ended);
    let expected = [("model", "invalid_json"), ("model", "unknown_path"), ("mechanical", "-")];
    assert_eq!(attempts(&record), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!((&record["ok"], &record["reason"]), (&json!(true), &json!("succeeded")));
    assert!(record["bundle"]["path"].is_string() && record["account"].is_null(), "{record}");
    for attempt in record["attempts"].as_array().unwrap() {
        for key in ["number", "kind", "failure", "diagnostic", "response", "usage", "ms"] {
            assert!(attempt.get(key).is_some(), "{key}: {attempt}");
        }
    }
    // What was wrong went to the model with the next request, and the repaired attempt cost nothing.
    assert!(record["attempts"][1]["prompt"].as_str().unwrap().contains("invalid_json"));
    assert_eq!(record["attempts"][2]["usage"]["input_tokens"], 0);

    let without = compile(&project, &model, &["--json", "--no-repair"]);
    assert_eq!(without.code, 2, "{without:?}");
    assert!(without.stderr.contains("error[model_replay_failed]"), "{without:?}");
}

#[test]
fn a_failure_ends_with_an_account() {
    let project = project();
    let hopeless = hopeless();
    let model = recording(&project, &[&hopeless, &hopeless]);
    let ended = compile(&project, &model, &["--max-attempts", "1"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""), "{ended:?}");
    assert!(ended.stderr.contains("attempt 1  model       rejected"), "{ended:?}");
    for heading in
        ["What was asked:", "What was tried:", "What stands in the way:", "What to change:"]
    {
        assert!(ended.stderr.contains(heading), "{heading}: {ended:?}");
    }
    let ended = compile(&project, &model, &["--json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let record = record(&ended);
    assert_eq!((&record["reason"], &record["bundle"]), (&json!("repeated_failure"), &Value::Null));
    assert!(record["account"]["change"].as_array().is_some_and(|it| !it.is_empty()), "{record}");
    assert!(record["last_diagnostic"].is_string(), "{record}");
    assert!(!project.tree().iter().any(|file| file.contains("manifest")), "something was stored");
}

#[test]
fn what_ends_it_early_is_for_the_user_to_say() {
    let project = project();
    // The same failure in other answers.
    let answers = ["a", "b", "c", "d"].map(|name| {
        plan_with(|plan| {
            plan["key_field"]["source_path"] = json!(["elsewhere", "xyzzy"]);
            plan["function_name"] = json!(name);
        })
    });
    let model = recording(&project, &answers.each_ref().map(String::as_str));
    for (more, reason, made) in [
        (&[][..], "repeated_failure", 3),
        (&["--same-failure-limit", "1"], "repeated_failure", 2),
        (&["--same-failure-limit", "3"], "repeated_failure", 4),
        (&["--escalate", "type_mismatch"], "repeated_failure", 3),
        (&["--escalate", "type_mismatch, nonempty_floor"], "escalated", 1),
        (&["--escalate", "wrong_key", "--escalate", "nonempty_floor"], "escalated", 1),
        (&["--no-early-end", "--max-attempts", "4"], "max_attempts_reached", 4),
    ] {
        let ended = compile(&project, &model, &[more, &["--json"]].concat());
        assert_eq!(ended.code, 1, "{ended:?}");
        let record = record(&ended);
        assert_eq!(record["reason"], reason, "{more:?}: {}", record["account"]);
        assert_eq!(attempts(&record).len(), made, "{more:?}: {}", record["account"]);
    }
    // The same answer again is no end either.
    let model = recording(&project, &[&answers[0], &answers[0], PLAN]);
    assert_eq!(compile(&project, &model, &[]).code, 1);
    assert_eq!(compile(&project, &model, &["--no-early-end"]).code, 0);

    for (more, said) in [
        (
            &["--escalate", "path_denid"][..],
            "error[unknown_code]: --escalate: no code `path_denid`: did you mean `path_denied`?",
        ),
        (&["--escalate", "path_denied,"], "--escalate: no code ``: "),
        (&["--same-failure-limit", "0"], "0 is not in 1.."),
        (&["--no-early-end", "--escalate", "path_denied"], "cannot be used with"),
        (&["--no-early-end", "--same-failure-limit", "3"], "cannot be used with"),
    ] {
        let ended = compile(&project, &model, more);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
}

#[test]
fn a_call_that_fails_ends_with_what_was_learned_so_far() {
    let project = project();
    let hopeless = hopeless();
    let model = recording(&project, &[&hopeless]);
    let ended = compile(&project, &model, &["--json"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    let record = record(&ended);
    assert_eq!((&record["ok"], &record["reason"]), (&json!(false), &json!("model_replay_failed")));
    assert_eq!(record["attempts"].as_array().map(Vec::len), Some(1), "{record}");
    assert!(ended.stderr.contains("error[model_replay_failed]"), "{ended:?}");
}

#[test]
fn budgets_fail_closed() {
    let project = project();
    let hopeless = hopeless();
    let model = recording(&project, &[&hopeless, PLAN]);
    let ended = compile(&project, &model, &["--json", "--token-budget", "10"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let record = record(&ended);
    assert_eq!(record["reason"], "token_budget_spent");
    assert_eq!(record["attempts"], json!([]), "a prompt that is dearer than that was sent");
    let prompt = project.retort(["prompt"]).stdout;
    let budget = (prompt.chars().count() / 4).to_string();
    let ended = compile(&project, &model, &["--json", "--token-budget", &budget]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let record = self::record(&ended);
    assert_eq!(record["reason"], "token_budget_spent");
    assert_eq!(attempts(&record).len(), 1, "{record}");
    assert!(record["usage"]["estimated"].as_bool().unwrap(), "{record}");
    for attempts in ["0", "-1"] {
        let ended = compile(&project, &model, &["--max-attempts", attempts]);
        assert_eq!(ended.code, 2, "{ended:?}");
        assert!(ended.stderr.contains("error[max_attempts_too_small]"), "{ended:?}");
    }
}

#[test]
fn a_run_is_recorded_and_replayed() {
    let project = project();
    let hopeless = hopeless();
    let model = recording(&project, &[&hopeless, PLAN]);
    let first = compile(&project, &model, &["--json", "--record", "run.ndjson"]);
    assert_eq!(first.code, 0, "{first:?}");
    let second = compile(&project, "replay:run.ndjson", &["--json"]);
    assert_eq!(attempts(&record(&first)), attempts(&record(&second)));
}

#[test]
fn a_recording_that_is_replayed_is_not_overwritten() {
    let project = project();
    let model = recording(&project, &[PLAN]);
    let before = fs::read(project.path("answers.ndjson")).unwrap();
    for name in ["answers.ndjson", "./answers.ndjson", &project.path("answers.ndjson")] {
        let ended = compile(&project, &model, &["--record", name]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains("error[output_is_input]"), "{ended:?}");
    }
    assert_eq!(fs::read(project.path("answers.ndjson")).unwrap(), before);
}

#[test]
fn a_models_name_cannot_reach_the_terminal() {
    let project = project();
    project.write("retort.toml", "rule = \"rule.md\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\nmodel = \"openai:x\\u001b[2J\"\n");
    let ended = project.retort(["compile"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("error[model_config]"), "{ended:?}");
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:?}");
}

/// An answer on which there is more to find fault with than anyone waits for.
#[test]
fn a_hostile_answer_cannot_hold_the_command() {
    let project = project();
    let fields: String = (0..400_000).map(|i| format!("\"event_typ{i}\":{{}},")).collect();
    let hostile = format!("{{{fields}\"event_type\":1}}");
    let model = recording(&project, &[&hostile]);
    let began = Instant::now();
    let ended = compile(&project, &model, &["--time-budget", "1"]);
    assert_ne!(ended.code, 0, "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

/// Whatever tells the command to end ends the program that stands for a model as well, with what that one started.
#[test]
fn a_signal_ends_the_command_and_its_model() {
    let project = project();
    for (name, signal) in [("TERM", Signal::TERM), ("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let [started, survived] = ["started", "survived"].map(|it| format!("{it}-{name}"));
        let script = format!("(sleep 3; touch {survived}) &\ntouch {started}\nwait\n");
        project.write("model.sh", script);
        let child = Command::new(env!("CARGO_BIN_EXE_retort"))
            .args(["compile", "--model", "command:sh model.sh"])
            .current_dir(project.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while !fs::exists(project.path(&started)).unwrap() {
            assert!(began.elapsed() < Duration::from_secs(30), "the model isn't started");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        let words = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {words}");
        assert!(words.contains("error[interrupted]"), "{name}: {words}");
    }
    std::thread::sleep(Duration::from_secs(4));
    assert!(!project.tree().iter().any(|file| file.starts_with("survived")), "a model went on");
}

#[test]
fn the_prompt_is_what_would_be_sent() {
    let project = project();
    let [first, second] = [0, 1].map(|_| project.retort(["prompt"]));
    assert_eq!((first.code, &first.stdout), (0, &second.stdout), "{first:?}");
    assert!(first.stdout.contains("order_placed") && first.stdout.ends_with('\n'));
    let report = record(&project.retort(["prompt", "--json"]));
    assert_eq!(report["prompt"], json!(first.stdout));
    assert_eq!(report["schema"], retort::internal::answer::schema());

    let model = recording(&project, &[PLAN]);
    let run = record(&compile(&project, &model, &["--json"]));
    assert_eq!(run["attempts"][0]["prompt"], json!(first.stdout));

    project.write("retort.toml", "graph = \"graph.yaml\"\nsamples = \"events.ndjson\"\n");
    let without = project.retort(["prompt"]);
    assert_eq!(without.code, 2, "{without:?}");
    assert!(without.stderr.contains("error[rule_missing]"), "{without:?}");
}

/// What is asked for in Rust is what the flag or the project file says.
#[test]
fn a_prompt_asks_for_what_the_backend_says() {
    let project = project();
    let plans = project.retort(["prompt"]);
    let report = record(&project.retort(["prompt", "--backend", "rust", "--json"]));
    let prompt = report["prompt"].as_str().unwrap();
    assert!(prompt.starts_with("# Write an extractor in Rust\n"), "{prompt}");
    assert_eq!(report["schema"], retort::internal::answer::rust_schema());
    assert_eq!(project.retort(["prompt", "--backend", "auto"]).stdout, plans.stdout);

    let file = fs::read_to_string(project.path("retort.toml")).unwrap();
    project.write("retort.toml", format!("{file}backend = \"rust\"\n"));
    assert_eq!(project.retort(["prompt"]).stdout, prompt);
    assert_eq!(project.retort(["prompt", "--backend", "plan"]).stdout, plans.stdout);
    project.write("retort.toml", format!("{file}backend = \"java\"\n"));
    let ended = project.retort(["prompt"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("retort.toml:5:11: backend: "), "{ended:?}");
    assert!(ended.stderr.contains("`plan`, `rust`"), "{ended:?}");
}

#[test]
fn rust_takes_a_model_and_no_plan() {
    let project = project();
    project.write("plan.json", PLAN);
    let ended = project.retort(["compile", "--plan", "plan.json", "--backend", "rust"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
    assert!(ended.stderr.contains("`retort render --backend rust` prints a plan"), "{ended:?}");
    let ended = project.retort(["compile", "--backend", "rust"]);
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(ended.stderr.contains("found `draft`, which writes plans alone"), "{ended:?}");
    // A draft is a plan, whatever could come after it.
    assert_eq!(project.retort(["compile", "--backend", "auto"]).code, 0);

    // A plan that a flag names is the one, whatever the file says.
    let file = fs::read_to_string(project.path("retort.toml")).unwrap();
    project.write("retort.toml", format!("{file}backend = \"rust\"\n"));
    // It is of another function, and doesn't take events from the one that serves them.
    let elsewhere = ["compile", "--plan", "plan.json", "--out", "elsewhere"];
    assert_eq!(project.retort(elsewhere).code, 0);
}

#[test]
fn plans_are_repaired() {
    let project = project();
    let repair = |plan: &str| {
        project.write("given.json", plan);
        let graph = ["--graph", "graph.yaml", "--samples", "events.ndjson", "--json"];
        let ended = project.retort(["repair", "given.json"].into_iter().chain(graph));
        let report = record(&ended);
        assert_eq!(ended.code, i32::from(!report["ok"].as_bool().unwrap()), "{report}");
        report
    };
    let right: Value = serde_json::from_str(PLAN).unwrap();

    let report = repair(PLAN);
    assert_eq!((&report["ok"], &report["problems"]), (&json!(true), &json!([])));
    assert_eq!(report["patched"], right, "what is right is left alone");

    let slip = plan_with(|plan| plan["key_field"]["source_path"] = json!(["content", "Id"]));
    let report = repair(&slip);
    assert_eq!((&report["ok"], &report["patched"]), (&json!(false), &right));
    let problem = &report["problems"][0];
    assert_eq!(problem["code"], "unknown_path");
    assert_eq!(problem["gate"], "fit");
    assert_eq!(problem["pointer"], "/key_field/source_path");
    assert!(problem["expected"].is_string() && problem["observed"].is_string(), "{problem}");
    assert_eq!(problem["patch"][0]["op"], "replace");

    let report = repair(&format!("```json\n{PLAN}```\n"));
    assert_eq!((&report["ok"], &report["patched"]), (&json!(false), &right));
    assert_eq!(report["problems"][0]["code"], "invalid_json");

    let report = repair(&hopeless());
    assert_eq!((&report["ok"], &report["patched"]), (&json!(false), &Value::Null));
    assert!(!report["problems"].as_array().unwrap().is_empty());
}

#[test]
fn what_is_missing_almost_whole_is_not_made_up() {
    let project = project();
    let model = recording(&project, &[r#"{"event_type": "order_placed"}"#, PLAN]);
    let record = record(&compile(&project, &model, &["--json"]));
    let expected = [("model", "missing_required_field"), ("model", "-")];
    assert_eq!(attempts(&record), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn a_policy_holds_from_the_prompt_to_the_stream() {
    let project = project();
    project.write("policy.yaml", "deny: [{path: content.total, reason: pay is private}]\n");
    let ended = project.retort(["prompt", "--policy", "policy.yaml"]);
    assert!(ended.stdout.contains("pay is private"), "{ended:?}");

    let model = recording(&project, &[PLAN]);
    let policy = ["--policy", "policy.yaml"];
    let ended = compile(&project, &model, &[&policy[..], &["--json"]].concat());
    let denied = record(&ended);
    assert_eq!(denied["attempts"][0]["failure"]["code"], "path_denied", "{ended:?}");
    let told = denied["attempts"][0]["diagnostic"].as_str().unwrap();
    assert!(told.contains("path content.total is denied by policy: pay is private"), "{told}");

    let model = recording(&project, &[PLAN]);
    let bundle = compile(&project, &model, &["--out", "bundles"]);
    assert_eq!(bundle.code, 0, "{bundle:?}");
    let run = |more: &[&'static str]| {
        project.retort(
            ["run", "--bundles", "bundles", "events.ndjson"]
                .into_iter()
                .chain(more.iter().copied()),
        )
    };
    assert!(run(&[]).stdout.contains("total"));
    let refused = run(&policy);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{refused:?}");
    assert!(refused.stderr.contains("content.total is denied by policy"), "{refused:?}");
}

/// The whole of the loop over HTTP, with a key that the service repeats in its error.
#[test]
fn a_service_is_asked_and_its_key_shows_nowhere() {
    const KEY: &str = "sk-test-0123456789abcdef";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let hopeless = hopeless();
    let replies = [
        Reply::chat("Sorry", "stop"),
        Reply::chat(&hopeless, "stop"),
        Reply::chat(PLAN, "stop"),
        Reply::new(500, json!({"error": {"message": format!("broken for {KEY}")}})),
    ];
    let server = runtime.block_on(Server::start(replies));
    let project = project();
    let run = |record: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_retort"))
            .args([
                "compile",
                "--model",
                "openai:gpt-x",
                "--base-url",
                server.url(),
                "--json",
                "--record",
                record,
            ])
            .env("OPENAI_API_KEY", KEY)
            .current_dir(project.path(""))
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ended {
            code: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    };
    let good = run("good.ndjson");
    assert_eq!(good.code, 0, "{good:?}");
    let usage = &record(&good)["usage"];
    assert_eq!(usage, &json!({"input_tokens": 300, "output_tokens": 60, "estimated": false}));
    let bad = run("bad.ndjson");
    assert_eq!((bad.code, &record(&bad)["reason"]), (2, &json!("model_status")), "{bad:?}");

    let received = server.received();
    assert_eq!(received.len(), 4);
    assert_eq!(received[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    for text in [good.stdout, good.stderr, bad.stdout, bad.stderr] {
        assert!(!text.contains(KEY), "{text}");
    }
    for file in ["good.ndjson", "bad.ndjson"] {
        assert!(!fs::read_to_string(project.path(file)).unwrap().contains(KEY), "{file}");
    }
}

/// The example that shows a model's mistakes arrives at the plan of its folder.
#[test]
fn the_example_is_repaired_into_its_plan() {
    let example = crate::support::workspace_root().join("examples/agent-decision");
    let out = tempfile::tempdir().unwrap();
    let out = out.path().to_str().unwrap();
    let asked = retort_with(["compile", ".", "--out", out, "--json"], b"", Some(&example));
    let record = record(&asked);
    let kinds: Vec<String> = attempts(&record).into_iter().map(|(kind, _)| kind).collect();
    assert!(
        kinds.len() > 3
            && kinds.starts_with(&["model".into(), "model".into(), "mechanical".into()]),
        "{record}"
    );
    let planned = retort_with(
        ["compile", ".", "--plan", "plan.json", "--out", out, "--json"],
        b"",
        Some(&example),
    );
    let planned: Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!(planned["bundle"]["fingerprint"], record["bundle"]["fingerprint"]);
    assert_eq!(planned["bundle"]["cached"], true);
}
