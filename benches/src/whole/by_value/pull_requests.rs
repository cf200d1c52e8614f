//! Pull requests, with who is to review them and their labels.

use serde_json::{Value, json};

use super::casual::{Graph, in_id, is_truthy, timestamp};
use super::list;

pub(super) fn fill(event: &Value, graph: &mut Graph) -> Option<()> {
    if !event["event_type"].as_str()?.starts_with("pull_request.") {
        return None;
    }
    let session = in_id(&event["session_id"]).unwrap_or_default();
    let pull = &event["content"]["pull_request"];
    let own = in_id(&pull["id"]).map(|id| format!("{session}:PullRequest:pull_request_id={id}"));
    if let Some(own) = &own {
        let properties = [
            ("pull_request_id", pull["id"].clone()),
            ("number", pull["number"].clone()),
            ("title", pull["title"].clone()),
            ("state", pull["state"].clone()),
            ("draft", pull["draft"].clone()),
            ("merged", pull["merged"].clone()),
            ("mergeable", pull["mergeable"].clone()),
            ("mergeable_state", pull["mergeable_state"].clone()),
            ("head_ref", pull["head"]["ref"].clone()),
            ("head_sha", pull["head"]["sha"].clone()),
            ("base_ref", pull["base"]["ref"].clone()),
            ("base_repo_full_name", pull["base"]["repo"]["full_name"].clone()),
            ("additions", pull["additions"].clone()),
            ("deletions", pull["deletions"].clone()),
            ("changed_files", pull["changed_files"].clone()),
            ("author_login", pull["user"]["login"].clone()),
            ("created_at", json!(timestamp(&pull["created_at"]))),
            ("merged_at", json!(timestamp(&pull["merged_at"]))),
        ];
        graph.node(own, "PullRequest", properties);
    }
    for user in list(&pull["requested_reviewers"]) {
        let Some(login) = in_id(&user["login"]) else { continue };
        let id = format!("{session}:User:login={login}");
        let properties = [
            ("login", user["login"].clone()),
            ("user_id", user["id"].clone()),
            ("account_type", user["type"].clone()),
        ];
        graph.node(&id, "User", properties);
        if let Some(own) = &own {
            graph.edge("REVIEW_REQUESTED_FROM", own, &id, []);
        }
    }
    for label in list(&pull["labels"]) {
        let Some(label_id) = in_id(&label["id"]) else { continue };
        let id = format!("{session}:Label:label_id={label_id}");
        let properties = [
            ("label_id", label["id"].clone()),
            ("name", label["name"].clone()),
            ("color", label["color"].clone()),
            ("is_default", label["default"].clone()),
        ];
        graph.node(&id, "Label", properties);
        if let Some(own) = &own {
            graph.edge("PULL_REQUEST_HAS_LABEL", own, &id, []);
        }
    }
    graph.handled(&event["span_id"], is_truthy(&pull["body"]));
    Some(())
}
