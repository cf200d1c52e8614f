//! Pull requests, with who is to review them and their labels.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{is_truthy, json, time};

static PULL: Entity = Entity { name: "PullRequest", key: &[":pull_request_id="] };
static USER: Entity = Entity { name: "User", key: &[":login="] };
static LABEL: Entity = Entity { name: "Label", key: &[":label_id="] };

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    session_id: Key<'a>,
    #[serde(borrow)]
    span_id: Key<'a>,
    #[serde(borrow)]
    content: Object<Content<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    pull_request: Object<Pull<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Pull<'a> {
    #[serde(borrow)]
    id: Key<'a>,
    #[serde(borrow)]
    number: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
    #[serde(borrow)]
    draft: Option<&'a RawValue>,
    #[serde(borrow)]
    merged: Option<&'a RawValue>,
    #[serde(borrow)]
    mergeable: Option<&'a RawValue>,
    #[serde(borrow)]
    mergeable_state: Option<&'a RawValue>,
    #[serde(borrow)]
    head: Object<Branch<'a>>,
    #[serde(borrow)]
    base: Object<Branch<'a>>,
    #[serde(borrow)]
    additions: Option<&'a RawValue>,
    #[serde(borrow)]
    deletions: Option<&'a RawValue>,
    #[serde(borrow)]
    changed_files: Option<&'a RawValue>,
    #[serde(borrow)]
    user: Object<User<'a>>,
    #[serde(borrow)]
    created_at: Option<&'a RawValue>,
    #[serde(borrow)]
    merged_at: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    #[serde(borrow)]
    requested_reviewers: List<Object<User<'a>>>,
    #[serde(borrow)]
    labels: List<Object<Label<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Branch<'a> {
    #[serde(borrow, rename = "ref")]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    sha: Option<&'a RawValue>,
    #[serde(borrow)]
    repo: Object<Repository<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Repository<'a> {
    #[serde(borrow)]
    full_name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct User<'a> {
    #[serde(borrow)]
    login: Key<'a>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Label<'a> {
    #[serde(borrow)]
    id: Key<'a>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    color: Option<&'a RawValue>,
    #[serde(borrow)]
    default: Option<&'a RawValue>,
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    if !event.event_type.get()?.starts_with("pull_request.") {
        return None;
    }
    let session = event.session_id.text().unwrap_or_default();
    let pull = event.content.get()?.pull_request.get()?;
    let own = pull.id.text().map(|id| Id::new(session, &PULL, [id]));
    if let Some(own) = own {
        let (head, base) = (pull.head.get(), pull.base.get());
        let repository = base.and_then(|base| base.repo.get());
        let properties = [
            ("pull_request_id", pull.id.json()),
            ("number", json(pull.number)),
            ("title", json(pull.title)),
            ("state", json(pull.state)),
            ("draft", json(pull.draft)),
            ("merged", json(pull.merged)),
            ("mergeable", json(pull.mergeable)),
            ("mergeable_state", json(pull.mergeable_state)),
            ("head_ref", head.and_then(|head| json(head.name))),
            ("head_sha", head.and_then(|head| json(head.sha))),
            ("base_ref", base.and_then(|base| json(base.name))),
            ("base_repo_full_name", repository.and_then(|it| json(it.full_name))),
            ("additions", json(pull.additions)),
            ("deletions", json(pull.deletions)),
            ("changed_files", json(pull.changed_files)),
            ("author_login", pull.user.get().and_then(|user| user.login.json())),
            ("created_at", time(pull.created_at)),
            ("merged_at", time(pull.merged_at)),
        ];
        graph.node(own, properties);
    }
    for user in pull.requested_reviewers.objects() {
        let Some(login) = user.login.text() else { continue };
        let id = Id::new(session, &USER, [login]);
        let properties = [
            ("login", user.login.json()),
            ("user_id", json(user.id)),
            ("account_type", json(user.kind)),
        ];
        graph.node(id, properties);
        if let Some(own) = own {
            graph.edge("REVIEW_REQUESTED_FROM", own, id, []);
        }
    }
    for label in pull.labels.objects() {
        let Some(text) = label.id.text() else { continue };
        let id = Id::new(session, &LABEL, [text]);
        let properties = [
            ("label_id", label.id.json()),
            ("name", json(label.name)),
            ("color", json(label.color)),
            ("is_default", json(label.default)),
        ];
        graph.node(id, properties);
        if let Some(own) = own {
            graph.edge("PULL_REQUEST_HAS_LABEL", own, id, []);
        }
    }
    graph.handled(event.span_id.span(), is_truthy(pull.body));
    Some(())
}
