//! Calls of an API: who called from where, and what was touched. Some logs have all names in lower case.

mod event;

use serde::Deserialize;
use serde_json::value::RawValue;

pub(super) use self::event::Event;
use self::event::{Content, Entries, Instance};
use super::graph::{Entity, Graph, Id, Scalar};
use super::lenient::Object;
use super::{is_truthy, json, text, time, written};

static CALL: Entity = Entity { name: "ApiCall", key: &[":call_id="] };
static PRINCIPAL: Entity = Entity { name: "Principal", key: &[":principal_id="] };
static ROLE: Entity = Entity { name: "Role", key: &[":arn="] };
static SOURCE: Entity = Entity { name: "Source", key: &[":address="] };
static RESOURCE: Entity = Entity { name: "Resource", key: &[":arn="] };
static PARAMETER: Entity = Entity { name: "Parameter", key: &[":call_id=", ",name="] };
static INSTANCE: Entity = Entity { name: "Instance", key: &[":instance_id="] };
static GROUP: Entity = Entity { name: "SecurityGroup", key: &[":group_id="] };

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    let content = event.content.get()?;
    if !event.event_type.get()?.starts_with("AWS.CloudTrail.") || content.event_name.is_none() {
        return None;
    }
    let session = event.session_id.text().unwrap_or_default();
    let call_id = if content.event_id.is_null() { &event.span_id } else { &content.event_id };
    if let Some(id) = call_id.text() {
        let call = Id::new(session, &CALL, [id]);
        let identity = content.user_identity.get();
        let context = identity.and_then(|it| it.session_context.get());
        let mfa = context.and_then(|it| it.attributes.get()?.mfa_authenticated);
        let sign_in = content.response_elements.get().and_then(|it| it.console_login);
        let service = content.event_source.get();
        let parameters = content.request_parameters.get();
        let properties = [
            ("call_id", call_id.json()),
            ("name", json(content.event_name)),
            ("service", text(service.and_then(|service| service.split('.').next()))),
            ("kind", json(content.event_type)),
            ("region", json(content.aws_region)),
            ("account_id", json(content.recipient_account_id)),
            ("called_at", called_at(content.event_time)),
            ("read_only", boolean(content.read_only)),
            ("with_mfa", boolean(mfa)),
            ("outcome", json(content.error_code.or(sign_in)).or(text(Some("Success")))),
            ("user_agent", json(content.user_agent)),
            ("invoked_by", identity.and_then(|it| it.invoked_by.json())),
            ("policy_statements", parameters.and_then(statements)),
        ];
        graph.node(call, properties);
        add_principal(content, session, call, graph);
        for resource in content.resources.objects() {
            let Some(arn) = resource.arn.text() else { continue };
            let id = Id::new(session, &RESOURCE, [arn]);
            let properties = [
                ("arn", resource.arn.json()),
                ("kind", json(resource.kind)),
                ("service", text(arn.split(':').nth(2))),
                ("account_id", json(resource.account_id)),
                ("name", text(last_part(arn))),
            ];
            graph.node(id, properties);
            graph.edge("TOUCHED", call, id, []);
        }
        for (name, value) in parameters.into_iter().flat_map(|it| &it.0) {
            let id = Id::new(session, &PARAMETER, [id, name]);
            let value = (!value.is_null()).then(|| value.text().or(value.raw()));
            let properties = [
                ("call_id", call_id.json()),
                ("name", text(Some(name))),
                ("value", text(value.flatten())),
            ];
            graph.node(id, properties);
            graph.edge("HAS_PARAMETER", call, id, []);
        }
        let instances = content.response_elements.get().and_then(|it| it.instances_set.get());
        for instance in instances.into_iter().flat_map(|set| set.items.objects()) {
            add_instance(instance, session, call, graph);
        }
    }
    let partially = is_truthy(content.error_message)
        || is_truthy(content.service_event_details)
        || content.request_parameters.is_text()
        || content.response_elements.is_text();
    graph.handled(event.span_id.span(), partially);
    Some(())
}

fn add_principal<'a>(
    content: &'a Content<'_>,
    session: &'a str,
    call: Id<'a>,
    graph: &mut Graph<'a>,
) {
    let identity = content.user_identity.get();
    let context = identity.and_then(|it| it.session_context.get());
    let issuer = context.and_then(|it| it.session_issuer.get());
    let arn = identity.and_then(|it| it.arn.get());
    let names = [
        arn,
        content.lower_identity.get().and_then(|it| it.arn.get()),
        identity.and_then(|it| it.principal_id.get()),
        identity.and_then(|it| it.user_name.get()),
        issuer.and_then(|it| it.user_name.get()),
        identity.and_then(|it| it.invoked_by.text()),
    ];
    let name = names.into_iter().flatten().find(|name| !name.is_empty());
    let principal = name.map(|name| Id::new(session, &PRINCIPAL, [name]));
    if let Some(principal) = principal {
        let signed_in = context.and_then(|it| it.attributes.get()?.creation_date);
        let account = identity.and_then(|it| json(it.account_id));
        let user_name = identity.and_then(|it| it.user_name.get());
        let properties = [
            ("principal_id", text(name)),
            ("kind", identity.and_then(|it| json(it.kind)).or(text(Some("Unknown")))),
            ("account_id", account.or_else(|| text(arn?.split(':').nth(4)))),
            ("user_name", text(user_name.or_else(|| last_part(arn?)))),
            ("signed_in_at", time(signed_in)),
        ];
        graph.node(principal, properties);
        let key = identity.and_then(|it| it.access_key_id.get()).filter(|key| !key.is_empty());
        graph.edge("CALLED", principal, call, [("access_key_id", text(key))]);
    }
    if let Some((issuer, arn)) = issuer.and_then(|it| Some((it, it.arn.text()?))) {
        let role = Id::new(session, &ROLE, [arn]);
        graph.node(role, [("arn", issuer.arn.json()), ("name", text(issuer.user_name.get()))]);
        if let Some(principal) = principal {
            graph.edge("ASSUMED", principal, role, []);
        }
    }
    if let Some(address) = content.source_ip_address.text().filter(|it| !it.is_empty()) {
        let source = Id::new(session, &SOURCE, [address]);
        graph.node(source, [("address", content.source_ip_address.json())]);
        graph.edge("CALLED_FROM", call, source, []);
    }
}

fn add_instance<'a>(
    instance: &'a Instance<'_>,
    session: &'a str,
    call: Id<'a>,
    graph: &mut Graph<'a>,
) {
    let own = instance.instance_id.text().map(|id| Id::new(session, &INSTANCE, [id]));
    if let Some(own) = own {
        let cores = instance.cpu_options.get().and_then(|it| it.core_count);
        let properties = [
            ("instance_id", instance.instance_id.json()),
            ("image_id", json(instance.image_id)),
            ("type", json(instance.instance_type)),
            ("launched_at", time(instance.launch_time)),
            ("private_address", json(instance.private_ip_address)),
            ("zone", instance.placement.get().and_then(|it| json(it.availability_zone))),
            ("cores", cores.and_then(|it| written(it).parse().ok()).map(Scalar::Integer)),
        ];
        graph.node(own, properties);
        graph.edge("AFFECTED", call, own, []);
    }
    let state = instance.instance_state.get().and_then(|it| it.name);
    for group in instance.group_set.get().into_iter().flat_map(|set| set.items.objects()) {
        let Some(id) = group.group_id.text() else { continue };
        let id = Id::new(session, &GROUP, [id]);
        graph.node(id, [("group_id", group.group_id.json()), ("name", json(group.group_name))]);
        if let Some(own) = own {
            graph.edge("IN_GROUP", own, id, [("state", json(state))]);
        }
    }
}

fn called_at(value: Option<&RawValue>) -> Option<Scalar<'static>> {
    // Some have no offset, and mean UTC.
    time(value).or_else(|| {
        let written: jiff::civil::DateTime = written(value?).parse().ok()?;
        written.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|it| Scalar::Time(it.timestamp()))
    })
}

fn boolean(value: Option<&RawValue>) -> Option<Scalar<'static>> {
    let written = written(value?);
    let is = |word: &str| written.eq_ignore_ascii_case(word);
    (is("true") || is("false")).then(|| Scalar::Boolean(is("true")))
}

/// The statements of a policy, which is JSON in a text or an object.
fn statements<'a>(parameters: &'a Entries<'_>) -> Option<Scalar<'a>> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "PascalCase")]
    struct Policy<'a> {
        #[serde(borrow)]
        statement: Option<&'a RawValue>,
    }
    fn statement(policy: &str) -> Option<&str> {
        Some(serde_json::from_str::<Object<Policy<'_>>>(policy).ok()?.get()?.statement?.get())
    }
    let policy = |name: &str| {
        let (_, policy) = parameters.0.iter().find(|(other, _)| other == name)?;
        Some(policy)
    };
    let written = ["policyDocument", "policyText", "policy", "resourcePolicy"].into_iter();
    let objects = ["policy", "resourcePolicy", "bucketPolicy"].into_iter();
    let mut found = written
        .filter_map(|name| statement(policy(name)?.text()?))
        .chain(objects.filter_map(|name| statement(policy(name)?.raw()?)));
    // White space between tokens isn't part of it.
    let found = found.next()?;
    let compact = |it: &str| Some(serde_json::from_str::<serde_json::Value>(it).ok()?.to_string());
    if found.contains(['\n', ' ']) {
        compact(found).map(Scalar::Made)
    } else {
        Some(Scalar::Text(found))
    }
}

/// What is behind the last colon or slash.
fn last_part(arn: &str) -> Option<&str> {
    arn.rsplit_once([':', '/']).map(|(_, last)| last).filter(|last| !last.is_empty())
}
