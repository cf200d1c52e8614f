//! What a plan says that no sample shows.

use serde_json::{Value, json};

use super::language::{judged, order_with, task};
use crate::gate::fit::unseen_warnings;

/// The warnings as `pointer: code`.
fn warned(plan: &Value) -> Vec<String> {
    let plan = crate::plan::from_value(plan).unwrap_or_else(|error| panic!("{error}: {plan}"));
    let warnings = unseen_warnings(&plan, task().evidence());
    let text = |it: &crate::diagnostics::problem::Problem| {
        format!("{}: {}", it.path.as_deref().unwrap_or_default(), it.code)
    };
    warnings.iter().map(text).collect()
}

fn unseen(mut value: Value) -> Value {
    value["unseen"] = json!(true);
    value
}

#[test]
fn what_no_sample_shows_is_a_finding_unless_the_plan_says_so() {
    let at = "/property_fields/0";
    for (value, place) in [
        (json!({"source_path": ["content", "privileges"]}), "/source_path"),
        (json!({"source_path": ["payload", "spec", "privileges"]}), "/source_path"),
        (json!({"template": "{content.id}/{content.privileges}"}), "/template"),
        (json!({"expression": "content.privileges"}), "/expression"),
        (json!({"expression": "content.lines[].privileges | [0]"}), "/expression"),
        (json!({"expression": "content.lines[?privileges].no | [0]"}), "/expression"),
        (json!({"expression": "upper(content.lines[0].optional)"}), "/expression"),
    ] {
        let mut value = value;
        value["property_name"] = json!("note");
        let (found, _) = judged(&order_with(vec![value.clone()]));
        let found = found.iter().map(|it| it.trim_end_matches(['?', '!']));
        assert_eq!(found.collect::<Vec<_>>(), [format!("{at}{place}: unknown_path")], "{value}");
        let said = order_with(vec![unseen(value)]);
        assert_eq!(judged(&said).0, [""; 0], "{said}");
        assert_eq!(warned(&said), [format!("{at}: unseen_path")], "{said}");
    }
}

#[test]
fn an_alternative_a_condition_and_an_event_type_may_be_unseen() {
    let note = json!({"property_name": "note", "coalesce": [
        {"source_path": ["content", "note"]}, {"source_path": ["content", "memo"], "unseen": true},
    ]});
    let mut plan = order_with(vec![note]);
    plan["when"] = json!({"not": {"source_path": ["privileges"], "exists": true, "unseen": true}});
    plan["event_type"] = json!(["order.placed", {"type": "order.plced", "unseen": true}]);
    assert_eq!(judged(&plan).0, [""; 0]);
    let expected = [
        "/event_type/1: unseen_event_type",
        "/property_fields/0/coalesce/1: unseen_path",
        "/when/not: unseen_path",
    ];
    assert_eq!(warned(&plan), expected);
    for at in expected.map(|it| it.split_once(": ").expect("two").0) {
        let mut without = plan.clone();
        let place = without.pointer_mut(at).expect("a place");
        place.as_object_mut().expect("an object").remove("unseen");
        if at.starts_with("/event_type") {
            *place = place["type"].clone();
        }
        // An alternative may be in events of which there is no sample.
        let is_finding = !at.contains("/coalesce/");
        assert_eq!(judged(&without).0.len(), usize::from(is_finding), "{at}");
    }
}

#[test]
fn nothing_is_said_of_what_is_in_elements_that_are_unseen() {
    let plan = |for_each: Value| {
        json!({"event_type": "order.placed", "function_name": "f", "nodes": [
            {"entity_name": "Order", "key_fields": [{"property_name": "order_id", "source_path": ["content", "id"]}]},
            {"entity_name": "Line", "for_each": for_each, "key_fields": [
                {"property_name": "order_id", "source_path": ["content", "id"], "from": "event"},
                {"property_name": "line_no", "source_path": ["number"]}]},
        ], "edges": [{"relationship_name": "HAS_LINE", "from": "Order", "to": "Line"}]})
    };
    let returned = json!({"array": ["content", "returned"], "where": {"source_path": ["kind"], "equals": "x"}});
    assert!(!judged(&plan(returned.clone())).0.is_empty());
    let said = plan(unseen(returned));
    assert_eq!(judged(&said).0, [""; 0]);
    assert_eq!(warned(&said), ["/nodes/1/for_each: unseen_path"]);
    // Of elements that there are, all is asked as ever.
    let seen = plan(unseen(json!({"array": ["content", "lines"]})));
    assert_eq!(judged(&seen).0, ["/nodes/1/key_fields/1/source_path: unknown_path?"]);
    assert_eq!(warned(&seen), ["/nodes/1/for_each: superfluous_unseen"]);
}

#[test]
fn what_samples_show_after_all_is_told() {
    let mut plan = order_with(vec![
        unseen(json!({"property_name": "note", "source_path": ["content", "note"]})),
        unseen(
            json!({"property_name": "city", "expression": "content.lines[].article.name | [0]"}),
        ),
    ]);
    plan["event_type"] = json!({"type": "order.*", "unseen": true});
    assert_eq!(judged(&plan).0, [""; 0]);
    assert_eq!(
        warned(&plan),
        [
            "/event_type: superfluous_unseen",
            "/property_fields/0: superfluous_unseen",
            "/property_fields/1: superfluous_unseen",
        ]
    );
}

#[test]
fn what_is_wrong_in_another_way_stays_wrong() {
    let value =
        |name: &str, path: &[&str]| unseen(json!({"property_name": name, "source_path": path}));
    for (property, expected) in [
        (value("pieces", &["content", "pieces"]), "/property_fields/0/source_path: type_mismatch!"),
        (
            value("colour", &["content", "colour"]),
            "/property_fields/0/property_name: unknown_property",
        ),
        (
            value("note", &["content", "lines", "no"]),
            "/property_fields/0/source_path: missing_for_each",
        ),
    ] {
        let (found, _) = judged(&order_with(vec![property]));
        let found: Vec<&str> = found.iter().map(|it| it.trim_end_matches(['?', '!'])).collect();
        assert_eq!(found, [expected.trim_end_matches(['?', '!'])]);
    }
}

/// Audits of pods and of jobs, of which some fields of the template occur in the samples and others don't.
mod kubernetes {
    use serde_json::{Value, json};

    use crate::evidence::{Samples, Task};
    use crate::gate::fit::fit;
    use crate::graph::GraphSpec;

    fn task() -> Task {
        let properties =
            ["host_pid", "host_ipc", "host_network", "job_host_network", "run_as_root"];
        let properties: Vec<String> =
            properties.iter().map(|it| format!("{{name: {it}, type: boolean}}")).collect();
        let graph = format!(
            "entities: [{{name: Workload, keys: {{primary: [uid]}}, properties: [{{name: uid, type: string}}, {}]}}]",
            properties.join(", ")
        );
        let event = |number: usize| {
            let template = json!({"spec": {"hostPID": true, "hostNetwork": false, "hostUsers": true,
                "securityContext": {"runAsUser": 0, "runAsNonRoot": true}}});
            json!({"event_type": "audit", "object": {"uid": format!("u{number}"), "spec": {
                "template": template, "jobTemplate": {"spec": {"template": {"spec": {"hostPID": false}}}}}}})
            .to_string()
        };
        let lines: Vec<String> = (0..8).map(event).collect();
        let samples = Samples::parse(&lines.join("\n"), "samples").expect("samples");
        Task::new(GraphSpec::parse(&graph, "graph.yaml").expect("a graph"), samples)
    }

    fn plan(properties: &[(&str, &str)]) -> Value {
        let properties: Vec<Value> = properties
            .iter()
            .map(|(name, at)| json!({"property_name": name, "source_path": at.split('.').collect::<Vec<_>>()}))
            .collect();
        json!({"event_type": "audit", "target_entity_name": "Workload", "function_name": "f",
            "key_field": {"property_name": "uid", "source_path": ["object", "uid"]},
            "property_fields": properties})
    }

    #[test]
    fn what_samples_do_not_show_is_not_read_from_its_neighbours() {
        let task = task();
        let template = "object.spec.template.spec";
        let job = "object.spec.jobTemplate.spec.template.spec";
        let ipc = format!("{template}.hostIPC");
        let pid = format!("{template}.hostPID");
        let network = format!("{template}.hostNetwork");
        let job_network = format!("{job}.hostNetwork");
        let root = format!("{template}.securityContext.runAsRoot");
        for properties in [
            vec![("host_ipc", ipc.as_str())],
            vec![("host_pid", pid.as_str()), ("host_ipc", ipc.as_str())],
            vec![("job_host_network", job_network.as_str())],
            vec![("host_network", network.as_str()), ("job_host_network", job_network.as_str())],
            vec![("run_as_root", root.as_str())],
        ] {
            let plan = plan(&properties);
            let read = crate::plan::from_value(&plan).expect("a plan");
            let unfit = fit(&read, &task).expect_err("no sample shows it");
            assert_eq!(unfit.findings().len(), 1, "{properties:?}");
            assert!(!unfit.findings()[0].is_certain(), "{properties:?}");
        }
    }

    #[test]
    fn a_slip_of_what_samples_show_is_put_right_unless_another_value_reads_it() {
        let task = task();
        let template = "object.spec.template.spec";
        let right = format!("{template}.hostNetwork");
        for slip in ["hostNetwrok", "host_network", "HOSTNETWORK", "hostNework"] {
            let slip = format!("{template}.{slip}");
            let alone = plan(&[("host_network", &slip)]);
            let read = crate::plan::from_value(&alone).expect("a plan");
            let unfit = fit(&read, &task).expect_err("a slip");
            let finding = unfit.findings().first().filter(|it| it.is_certain()).expect("a fix");
            let mut fixed = alone.clone();
            json_patch::patch(&mut fixed, finding.patch().expect("a patch")).expect("it applies");
            assert_eq!(fixed, plan(&[("host_network", &right)]), "{slip}");
            let beside = plan(&[("host_network", &right), ("run_as_root", &slip)]);
            let read = crate::plan::from_value(&beside).expect("a plan");
            let unfit = fit(&read, &task).expect_err("a slip");
            assert!(unfit.findings().iter().all(|it| !it.is_certain()), "{slip}");
        }
    }
}
