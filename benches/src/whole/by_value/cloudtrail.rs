//! Calls of an API: who called from where, and what was touched. Some logs have all names in lower case.

use serde_json::{Value, json};

use super::casual::{Graph, in_id, is_truthy, timestamp};
use super::{integer, list};

pub(super) fn fill(event: &Value, graph: &mut Graph) -> Option<()> {
    let content = &event["content"];
    let name = first([&content["eventName"], &content["eventname"]]);
    if !event["event_type"].as_str()?.starts_with("AWS.CloudTrail.") || name.is_null() {
        return None;
    }
    let session = in_id(&event["session_id"]).unwrap_or_default();
    let (parameters, response) = (&content["requestParameters"], &content["responseElements"]);
    let call_id = first([&content["eventID"], &content["eventid"], &event["span_id"]]);
    if let Some(id) = in_id(call_id) {
        let call = format!("{session}:ApiCall:call_id={id}");
        let identity = &content["userIdentity"];
        let service = first([&content["eventSource"], &content["eventsource"]]).as_str();
        let mfa = &identity["sessionContext"]["attributes"]["mfaAuthenticated"];
        let success = json!("Success");
        let outcome = first([&content["errorCode"], &response["ConsoleLogin"], &success]);
        let properties = [
            ("call_id", call_id.clone()),
            ("name", name.clone()),
            ("service", json!(service.and_then(|service| service.split('.').next()))),
            ("kind", first([&content["eventType"], &content["eventtype"]]).clone()),
            ("region", first([&content["awsRegion"], &content["awsregion"]]).clone()),
            ("account_id", content["recipientAccountId"].clone()),
            ("called_at", json!(called_at(content))),
            ("read_only", json!(boolean(&content["readOnly"]))),
            ("with_mfa", json!(boolean(mfa))),
            ("outcome", outcome.clone()),
            ("user_agent", content["userAgent"].clone()),
            ("invoked_by", identity["invokedBy"].clone()),
            ("policy_statements", json!(statements(parameters))),
        ];
        graph.node(&call, "ApiCall", properties);
        add_principal(content, &session, &call, graph);
        add_touched(content, &session, (call_id, &id), graph);
    }
    let partially = is_truthy(&content["errorMessage"])
        || is_truthy(&content["serviceEventDetails"])
        || parameters.is_string()
        || response.is_string();
    graph.handled(&event["span_id"], partially);
    Some(())
}

fn add_principal(content: &Value, session: &str, call: &str, graph: &mut Graph) {
    let identity = &content["userIdentity"];
    let context = first([&identity["sessionContext"], &identity["sessioncontext"]]);
    let issuer = first([&context["sessionIssuer"], &context["sessionissuer"]]);
    let arn = identity["arn"].as_str();
    let names = [
        &identity["arn"],
        &content["useridentity"]["arn"],
        &identity["principalId"],
        &identity["principalid"],
        &identity["userName"],
        &issuer["userName"],
        &identity["invokedBy"],
    ];
    let principal = names.into_iter().filter_map(Value::as_str).find(|name| !name.is_empty());
    let principal_id = principal.map(|name| format!("{session}:Principal:principal_id={name}"));
    let role = &issuer["arn"];
    let role_id = in_id(role).map(|arn| format!("{session}:Role:arn={arn}"));
    if let Some(id) = &principal_id {
        let unknown = json!("Unknown");
        let account = json!(arn.and_then(|arn| arn.split(':').nth(4)));
        let user = json!(arn.and_then(last_part));
        let signed_in =
            first([&context["attributes"]["creationDate"], &context["attributes"]["creationdate"]]);
        let properties = [
            ("principal_id", json!(principal)),
            ("kind", first([&identity["type"], &unknown]).clone()),
            (
                "account_id",
                first([&identity["accountId"], &identity["accountid"], &account]).clone(),
            ),
            ("user_name", first([&identity["userName"], &user]).clone()),
            ("signed_in_at", json!(timestamp(signed_in))),
        ];
        graph.node(id, "Principal", properties);
        let keys = [&identity["accessKeyId"], &identity["accesskeyid"]];
        let key = keys.into_iter().filter_map(Value::as_str).find(|key| !key.is_empty());
        graph.edge("CALLED", id, call, [("access_key_id", json!(key))]);
    }
    if let Some(id) = &role_id {
        let name = first([&issuer["userName"], &issuer["username"]]);
        graph.node(id, "Role", [("arn", role.clone()), ("name", name.clone())]);
        if let Some(principal) = &principal_id {
            graph.edge("ASSUMED", principal, id, []);
        }
    }
    let address = &content["sourceIPAddress"];
    if let Some(text) = in_id(address).filter(|_| is_truthy(address)) {
        let id = format!("{session}:Source:address={text}");
        graph.node(&id, "Source", [("address", address.clone())]);
        graph.edge("CALLED_FROM", call, &id, []);
    }
}

fn add_touched(content: &Value, session: &str, (call, call_id): (&Value, &str), graph: &mut Graph) {
    let call_node = format!("{session}:ApiCall:call_id={call_id}");
    for resource in list(&content["resources"]) {
        let arn = first([&resource["arn"], &resource["ARN"]]);
        let Some(text) = in_id(arn) else { continue };
        let id = format!("{session}:Resource:arn={text}");
        let properties = [
            ("arn", arn.clone()),
            ("kind", resource["type"].clone()),
            ("service", json!(text.split(':').nth(2))),
            ("account_id", resource["accountId"].clone()),
            ("name", json!(last_part(&text))),
        ];
        graph.node(&id, "Resource", properties);
        graph.edge("TOUCHED", &call_node, &id, []);
    }
    for (name, value) in content["requestParameters"].as_object().into_iter().flatten() {
        let id = format!("{session}:Parameter:call_id={call_id},name={name}");
        let text = (!value.is_null()).then(|| in_id(value).unwrap_or_else(|| value.to_string()));
        let properties = [("call_id", call.clone()), ("name", json!(name)), ("value", json!(text))];
        graph.node(&id, "Parameter", properties);
        graph.edge("HAS_PARAMETER", &call_node, &id, []);
    }
    for instance in list(&content["responseElements"]["instancesSet"]["items"]) {
        let own = in_id(&instance["instanceId"]);
        let own = own.map(|id| format!("{session}:Instance:instance_id={id}"));
        if let Some(id) = &own {
            let properties = [
                ("instance_id", instance["instanceId"].clone()),
                ("image_id", instance["imageId"].clone()),
                ("type", instance["instanceType"].clone()),
                ("launched_at", json!(timestamp(&instance["launchTime"]))),
                ("private_address", instance["privateIpAddress"].clone()),
                ("zone", instance["placement"]["availabilityZone"].clone()),
                ("cores", json!(integer(&instance["cpuOptions"]["coreCount"]))),
            ];
            graph.node(id, "Instance", properties);
            graph.edge("AFFECTED", &call_node, id, []);
        }
        for group in list(&instance["groupSet"]["items"]) {
            let Some(text) = in_id(&group["groupId"]) else { continue };
            let id = format!("{session}:SecurityGroup:group_id={text}");
            let properties =
                [("group_id", group["groupId"].clone()), ("name", group["groupName"].clone())];
            graph.node(&id, "SecurityGroup", properties);
            if let Some(own) = &own {
                let properties = [("state", instance["instanceState"]["name"].clone())];
                graph.edge("IN_GROUP", own, &id, properties);
            }
        }
    }
}

/// The first that isn't null.
fn first<const N: usize>(values: [&Value; N]) -> &Value {
    values.into_iter().find(|value| !value.is_null()).unwrap_or(&Value::Null)
}

fn called_at(content: &Value) -> Option<String> {
    let written = first([&content["eventTime"], &content["eventtime"]]);
    // Some have no offset, and mean UTC.
    timestamp(written).or_else(|| timestamp(&json!(format!("{}Z", in_id(written)?))))
}

fn boolean(value: &Value) -> Option<bool> {
    value.as_bool().or_else(|| value.as_str()?.to_lowercase().parse().ok())
}

/// The statements of a policy, which is JSON in a text or an object.
fn statements(parameters: &Value) -> Option<String> {
    let written = ["policyDocument", "policyText", "policy", "resourcePolicy"];
    let written = written.into_iter().filter_map(|name| {
        let policy: Value = serde_json::from_str(parameters[name].as_str()?).ok()?;
        (!policy["Statement"].is_null()).then(|| policy["Statement"].to_string())
    });
    let objects = ["policy", "resourcePolicy", "bucketPolicy"];
    let objects = objects.into_iter().filter_map(|name| {
        let statement = &parameters[name]["Statement"];
        (!statement.is_null()).then(|| statement.to_string())
    });
    written.chain(objects).next()
}

/// What is behind the last colon or slash.
fn last_part(arn: &str) -> Option<&str> {
    arn.rsplit_once([':', '/']).map(|(_, last)| last).filter(|last| !last.is_empty())
}
