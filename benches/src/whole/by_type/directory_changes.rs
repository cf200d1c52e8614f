//! What changed in the directory.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{json, sorted, time};

static CHANGE: Entity = Entity { name: "Change", key: &[":id="] };
static TARGET: Entity = Entity { name: "Target", key: &[":change_id=", ",target_id="] };
static SETTING: Entity =
    Entity { name: "Setting", key: &[":change_id=", ",target_id=", ",setting="] };

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "event_type")]
    event_type: Text<'a>,
    #[serde(borrow)]
    correlation_id: Key<'a>,
    #[serde(borrow)]
    id: Key<'a>,
    #[serde(borrow)]
    activity_display_name: Option<&'a RawValue>,
    #[serde(borrow)]
    activity_date_time: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Text<'a>,
    #[serde(borrow)]
    initiated_by: Object<Initiator<'a>>,
    #[serde(borrow)]
    target_resources: List<Object<Target<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Initiator<'a> {
    #[serde(borrow)]
    user: Object<User<'a>>,
    #[serde(borrow)]
    app: Object<App<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct User<'a> {
    #[serde(borrow)]
    user_principal_name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct App<'a> {
    #[serde(borrow)]
    display_name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Target<'a> {
    #[serde(borrow)]
    id: Key<'a>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    display_name: Option<&'a RawValue>,
    #[serde(borrow)]
    user_principal_name: Option<&'a RawValue>,
    #[serde(borrow)]
    modified_properties: Option<List<Object<Modified<'a>>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Modified<'a> {
    #[serde(borrow)]
    display_name: Key<'a>,
    #[serde(borrow)]
    old_value: Text<'a>,
    #[serde(borrow)]
    new_value: Text<'a>,
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    if !event.event_type.is("directory.changed") {
        return None;
    }
    let session = event.correlation_id.text().unwrap_or_default();
    let change_id = event.id.text()?;
    let change = Id::new(session, &CHANGE, [change_id]);
    let by = event.initiated_by.get();
    let user = by.and_then(|by| by.user.get()?.user_principal_name);
    let actor = user.or_else(|| by?.app.get()?.display_name);
    let succeeded = event.result.get().map(|it| it.eq_ignore_ascii_case("success"));
    let properties = [
        ("id", event.id.json()),
        ("activity", json(event.activity_display_name)),
        ("at", time(event.activity_date_time)),
        ("succeeded", succeeded.map(Scalar::Boolean)),
        ("actor", json(actor)),
    ];
    graph.node(change, properties);
    for target in event.target_resources.objects() {
        let _ = add(target, event, (session, change_id, change), graph);
    }
    Some(())
}

fn add<'a>(
    target: &'a Target<'_>,
    event: &'a Event<'_>,
    (session, change_id, change): (&'a str, &'a str, Id<'a>),
    graph: &mut Graph<'a>,
) -> Option<()> {
    let own = target.id.text()?;
    let properties = target.modified_properties.as_ref();
    let modified = || properties.into_iter().flat_map(List::objects);
    let find = |name| modified().find(|it| it.display_name.text() == Some(name));
    let wanted = || modified().filter(|it| it.display_name.text() != Some("TargetId.UserType"));
    let names = properties.map(|_| sorted(wanted().filter_map(|it| it.display_name.text()), ", "));
    let id = Id::new(session, &TARGET, [change_id, own]);
    let of_target = [
        ("change_id", event.id.json()),
        ("target_id", target.id.json()),
        ("type", json(target.kind)),
        ("name", json(target.display_name.or(target.user_principal_name))),
        ("department_before", find("Department").and_then(|it| scalar(value(&it.old_value)?))),
        ("department_after", find("Department").and_then(|it| scalar(value(&it.new_value)?))),
        ("enabled", find("AccountEnabled").and_then(|it| scalar(value(&it.new_value)?))),
        ("role", find("Role.DisplayName").and_then(|it| scalar(value(&it.new_value)?))),
        ("modified", names.map(Scalar::Made)),
    ];
    graph.node(id, of_target);
    graph.edge("CHANGED", change, id, []);
    for one in wanted() {
        let Some(name) = one.display_name.text() else { continue };
        let (before, after) = (value(&one.old_value), value(&one.new_value));
        let is_same = |after: &Key<'_>| before.as_ref().is_some_and(|it| it.is_same(after));
        let Some(after) = after.filter(|after| !is_same(after)) else { continue };
        let setting = Id::new(session, &SETTING, [change_id, own, name]);
        let of_setting = [
            ("change_id", event.id.json()),
            ("target_id", target.id.json()),
            ("setting", one.display_name.json()),
            ("before", before.and_then(Key::into_text)),
            ("after", after.into_text()),
        ];
        graph.node(setting, of_setting);
        graph.edge("SET", id, setting, []);
    }
    Some(())
}

/// What stands in a text, or in the list there.
fn value<'a>(written: &'a Text<'_>) -> Option<Key<'a>> {
    let written = written.get()?;
    let found = if written.starts_with('[') {
        serde_json::from_str::<Vec<Key<'_>>>(written).ok()?.into_iter().next()?
    } else {
        serde_json::from_str::<Key<'_>>(written).ok()?
    };
    (!found.is_null()).then_some(found)
}

fn scalar(value: Key<'_>) -> Option<Scalar<'_>> {
    match value.raw()? {
        "true" => Some(Scalar::Boolean(true)),
        "false" => Some(Scalar::Boolean(false)),
        _ => value.into_text(),
    }
}
