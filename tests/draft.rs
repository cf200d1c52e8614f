//! Drafts as a client of models. What is drafted is in `cases/draft.rs`.

use retort::author::{
    draft,
    llm::{Draft, LlmClient, LlmRequest},
};
use retort::{GraphSpec, Rule, Samples, Task, plan};
use serde_json::Value;

use crate::support::workspace_root;

fn read(file: &std::path::Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn example() -> Task {
    let folder = workspace_root().join("examples/github-webhook");
    let graph = GraphSpec::parse(&read(&folder.join("graph.yaml")), "graph").unwrap();
    let samples = Samples::parse(&read(&folder.join("samples.ndjson")), "samples").unwrap();
    let rule = Rule::parse(&read(&folder.join("rule.md")), "rule").unwrap();
    Task::builder(graph, samples).rule(rule).build()
}

#[test]
fn the_client_gives_the_same_sketch_each_time_and_remarks_what_it_rests_on() {
    let task = example();
    let client = Draft::new(&task);
    assert_eq!((client.name(), client.costs_tokens(), client.remark()), ("draft", false, None));
    let sketch = draft(&task).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for _ in 0..2 {
        let request = LlmRequest::prompt("prompt", plan::schema());
        let completion = runtime.block_on(client.generate_json(request)).unwrap();
        assert_eq!(completion.usage, None);
        let given: Value = serde_json::from_str(&completion.text).unwrap();
        assert_eq!(&given, sketch.plan());
    }
    let remark = client.remark().unwrap();
    assert_eq!(remark, sketch.to_string());
    for it in sketch.mappings() {
        assert!(remark.contains(&format!("{}.{}", it.entity, it.property)), "{remark}");
    }
    for it in sketch.doubts() {
        assert!(remark.contains(&format!("{}: {}", it.about, it.why)), "{remark}");
    }
}
