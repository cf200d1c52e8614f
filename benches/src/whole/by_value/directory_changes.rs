//! What changed in the directory.

use serde_json::Value;

use super::{Graph, Scalar, id, in_id, json, list, moment_of, sorted, text};

pub(super) fn fill<'a>(event: &'a Value, graph: &mut Graph<'a>) -> Option<()> {
    if event["event_type"] != "directory.changed" {
        return None;
    }
    let session = in_id(&event["correlationId"]).unwrap_or_default();
    let change_id = in_id(&event["id"]);
    let change = change_id.as_ref().map(|own| id(&session, "Change", format_args!("id={own}")));
    if let Some(change) = &change {
        let by = &event["initiatedBy"];
        let succeeded = event["result"].as_str().map(|it| it.eq_ignore_ascii_case("success"));
        let properties = [
            ("id", json(&event["id"])),
            ("activity", json(&event["activityDisplayName"])),
            ("at", moment_of(&event["activityDateTime"])),
            ("succeeded", succeeded.map(Scalar::Boolean)),
            (
                "actor",
                json(&by["user"]["userPrincipalName"]).or_else(|| json(&by["app"]["displayName"])),
            ),
        ];
        graph.node(change.clone(), "Change", properties);
    }
    for target in list(&event["targetResources"]) {
        let (Some(change_id), Some(own)) = (&change_id, in_id(&target["id"])) else { continue };
        let properties = list(&target["modifiedProperties"]);
        let first = |name: &str, which: &str| {
            let found = properties.iter().find(|it| it["displayName"] == name)?;
            scalar(value(&found[which])?)
        };
        let names = properties.iter().filter_map(|it| it["displayName"].as_str());
        let names = sorted(names.filter(|name| *name != "TargetId.UserType"), ", ");
        let target_id =
            id(&session, "Target", format_args!("change_id={change_id},target_id={own}"));
        let name = json(&target["displayName"]).or_else(|| json(&target["userPrincipalName"]));
        let of_target = [
            ("change_id", json(&event["id"])),
            ("target_id", json(&target["id"])),
            ("type", json(&target["type"])),
            ("name", name),
            ("department_before", first("Department", "oldValue")),
            ("department_after", first("Department", "newValue")),
            ("enabled", first("AccountEnabled", "newValue")),
            ("role", first("Role.DisplayName", "newValue")),
            ("modified", names.filter(|_| target["modifiedProperties"].is_array())),
        ];
        graph.node(target_id.clone(), "Target", of_target);
        if let Some(change) = &change {
            graph.edge("CHANGED", change, &target_id, []);
        }
        for one in properties.iter().filter(|it| it["displayName"] != "TargetId.UserType") {
            let Some(name) = in_id(&one["displayName"]) else { continue };
            let (before, after) = (value(&one["oldValue"]), value(&one["newValue"]));
            let Some(after) = after.filter(|after| before.as_ref() != Some(after)) else {
                continue;
            };
            let key = format_args!("change_id={change_id},target_id={own},setting={name}");
            let setting = id(&session, "Setting", key);
            let of_setting = [
                ("change_id", json(&event["id"])),
                ("target_id", json(&target["id"])),
                ("setting", json(&one["displayName"])),
                ("before", before.and_then(as_text)),
                ("after", as_text(after)),
            ];
            graph.node(setting.clone(), "Setting", of_setting);
            graph.edge("SET", &target_id, &setting, []);
        }
    }
    Some(())
}

/// What stands in a text, or in the list there.
fn value(written: &Value) -> Option<Value> {
    let found = match serde_json::from_str(written.as_str()?).ok()? {
        Value::Array(list) => list.into_iter().next()?,
        found => found,
    };
    (!found.is_null()).then_some(found)
}

fn scalar(value: Value) -> Option<Scalar<'static>> {
    match value {
        Value::String(found) => text(found),
        Value::Bool(found) => Some(Scalar::Boolean(found)),
        other => text(other.to_string()),
    }
}

fn as_text(value: Value) -> Option<Scalar<'static>> {
    match value {
        Value::String(found) => text(found),
        other => text(other.to_string()),
    }
}
