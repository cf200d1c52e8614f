//! Extractors under a policy: what is denied changes nothing of what comes out, whatever holds it.

use proptest::prelude::*;
use retort::evidence::PathStep;
use retort::gate::FieldPolicy;
use retort::plan::{Plan, Read};
use retort::{Coded, Runner};
use serde_json::{Value, json};

use super::choices::{Choices, key};
use super::{SANDBOX, a_plan, config, event};
use crate::support::rendered;

/// Keys that policies name and events have beside those of the plan.
const KEYS: &[&str] = &["email", "a", "user.email", "a.b.email", "email.a"];

/// What is put in the place of everything that is denied, the one or the other.
fn secrets(choices: &mut Choices<'_>) -> [Value; 2] {
    let kinds = [
        [json!("SECRET-A"), json!("secret-other")],
        [json!(1_557_933_657), json!("SECRET")],
        [json!({"email": "SECRET"}), json!([])],
        [json!(true), json!({"a": {"email": 7}})],
        [json!("{\"a\":\"SECRET\"}"), Value::Null],
    ];
    choices.pick(&kinds).clone()
}

/// A place that the plan reads; among others, the entries of an object that it goes over.
fn place(plan: &Plan, choices: &mut Choices<'_>) -> Vec<PathStep> {
    let reads = plan.reads();
    let index = choices.below(8);
    let steps = |read: &Read<'_>| {
        let mut places = PathStep::resolved(&read.reference, read.for_each);
        // What an expression gives is nowhere in the event.
        if places.is_empty() { Vec::new() } else { places.swap_remove(index % places.len()) }
    };
    let over: Vec<_> = reads.iter().filter(|read| read.pointer.ends_with("/entries")).collect();
    if !over.is_empty() && choices.chance(96) {
        let mut steps = steps(over[choices.below(over.len().min(256))]);
        steps.push(PathStep::Value);
        return steps;
    }
    steps(&reads[choices.below(reads.len().min(256))])
}

/// A path for a policy, which is mostly near to one that the plan reads.
fn pattern(plan: &Plan, choices: &mut Choices<'_>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for step in place(plan, choices) {
        match step {
            PathStep::Key(key) if !key.is_empty() && !choices.chance(64) => keys.push(key),
            PathStep::Element if choices.chance(128) => {}
            _ => keys.push("*".to_owned()),
        }
    }
    if choices.chance(48) {
        keys.pop();
    }
    if keys.is_empty() || choices.chance(200) {
        keys.push((*choices.pick(KEYS)).to_owned());
    }
    keys
}

/// Puts something that may hold more into an event: at a place that the plan reads, or anywhere.
fn put(event: &mut Value, plan: &Plan, choices: &mut Choices<'_>) {
    let steps = place(plan, choices);
    let mut place = event;
    for step in steps {
        place = match step {
            PathStep::Key(key) if key != "event_type" => {
                let Some(fields) = place.as_object_mut() else { return };
                fields.entry(key).or_insert(Value::Null)
            }
            PathStep::Element => {
                let Some(element) = place.get_mut(0) else { return };
                element
            }
            PathStep::Value => {
                let Some(fields) = place.as_object_mut() else { return };
                let odd = choices.chance(128).then(|| key(choices));
                let name = odd.unwrap_or_else(|| (*choices.pick(KEYS)).to_owned());
                fields.entry(name).or_insert(Value::Null)
            }
            PathStep::Key(_) | PathStep::Name => return,
        };
    }
    let inner =
        json!({*choices.pick(KEYS): "x", *choices.pick(KEYS): {"email": 1, "b": [{"email": 2}]}});
    *place = match choices.below(4) {
        0 | 1 => inner,
        2 => json!([inner, "x"]),
        _ => json!(inner.to_string()),
    };
}

/// What the keys that one key with dots stands for leave of a restricted path, in every reading; nothing where it stands for
/// all of it.
fn left<'r>(pieces: &[&str], rest: &'r [String], found: &mut Vec<&'r [String]>) {
    match (pieces, rest) {
        (_, []) | ([], _) => found.push(rest),
        (_, [wanted, more @ ..]) => {
            for count in 1..=pieces.len() {
                if wanted == "*" || *wanted == pieces[..count].join(".") {
                    left(&pieces[count..], more, found);
                }
            }
        }
    }
}

/// Puts a secret in the place of all that a path denies; gives how often.
fn deny(value: &mut Value, rest: &[String], secret: &Value, is_event: bool) -> usize {
    let mut count = 0;
    match value {
        Value::Object(fields) => {
            for (key, child) in fields {
                if is_event && key == "event_type" {
                    continue;
                }
                let mut all = Vec::new();
                left(&key.split('.').collect::<Vec<_>>(), rest, &mut all);
                for rest in all {
                    if rest.is_empty() {
                        *child = secret.clone();
                        count += 1;
                    } else {
                        count += deny(child, rest, secret, false);
                    }
                }
            }
        }
        Value::Array(elements) => {
            for child in elements {
                count += deny(child, rest, secret, false);
                let is_index = rest[0] == "*" || rest[0].bytes().all(|byte| byte.is_ascii_digit());
                match &rest[1..] {
                    _ if !is_index => {}
                    [] => {
                        *child = secret.clone();
                        count += 1;
                    }
                    rest => count += deny(child, rest, secret, false),
                }
            }
        }
        _ => {}
    }
    count
}

/// What comes out of an event: a result, or the code of a failure.
fn outcome(runner: &mut Runner, event: &Value) -> Result<String, &'static str> {
    let found = runner.run(event.to_string().as_bytes()).map_err(|error| error.code())?;
    Ok(String::from_utf8_lossy(found.json).into_owned())
}

/// Holds the extractor of a plan to a policy, if the policy lets the plan pass; all of it is made of bytes. Whether something
/// was extracted of an event that held what is denied.
pub(crate) fn stay(plan: &[u8], policy: &[u8], events: &[&[u8]]) -> Result<bool, TestCaseError> {
    let (plan, json) = a_plan(plan);
    let mut choices = Choices::new(policy);
    let written = |list: &str, paths: &[Vec<String>]| {
        FieldPolicy::parse(&json!({list: paths}).to_string(), "policy.json").unwrap()
    };
    // A plan reads much, so most policies would refuse it.
    let mut paths: Vec<Vec<String>> = (0..8).map(|_| pattern(&plan, &mut choices)).collect();
    paths.retain(|path| written("deny", std::slice::from_ref(path)).check_plan(&plan).is_ok());
    if paths.is_empty() {
        return Ok(false);
    }
    // What is explicit is withheld from whoever doesn't name it, and a plan that may be denied it doesn't.
    let policy = written(if choices.chance(64) { "explicit" } else { "deny" }, &paths);
    prop_assert!(policy.check_plan(&plan).is_ok(), "{policy:?}\n{json}");
    let module = rendered(&plan);
    let withheld = policy.withheld(module.section());
    let mut runner = SANDBOX.load(&module).unwrap().withholding(withheld).runner();
    let mut found = false;
    for bytes in events {
        let mut choices = Choices::new(bytes);
        let secrets = secrets(&mut choices);
        let puts = choices.below(4);
        let mut event: Value = {
            let (_, rest) = bytes.split_at(bytes.len() / 2);
            serde_json::from_str(&event::event(&plan, &mut Choices::new(rest))).unwrap()
        };
        (0..puts).for_each(|_| put(&mut event, &plan, &mut choices));
        let [(one, count), (other, _)] = secrets.map(|secret| {
            let mut event = event.clone();
            let count: usize = paths.iter().map(|it| deny(&mut event, it, &secret, true)).sum();
            (event, count)
        });
        let of_one = outcome(&mut runner, &one);
        let of_other = outcome(&mut runner, &other);
        prop_assert_eq!(&of_one, &of_other, "{:?}\n{}\n{}\n{}", &paths, one, other, &json);
        let text = of_one.unwrap_or_default();
        prop_assert!(!text.contains("SECRET"), "{paths:?}\n{one}\n{json}\n{text}");
        found |= count > 0 && text.contains("node_id");
    }
    Ok(found)
}

proptest! {
    #![proptest_config(config(0.5))]

    #[test]
    fn what_is_denied_changes_nothing(
        plan in super::bytes(1000),
        policy in super::bytes(60),
        drafts in prop::collection::vec(super::bytes(1500), 1..16),
    ) {
        let drafts: Vec<&[u8]> = drafts.iter().map(Vec::as_slice).collect();
        stay(&plan, &policy, &drafts)?;
    }
}
