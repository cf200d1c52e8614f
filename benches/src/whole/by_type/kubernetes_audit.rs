//! Workloads that were written to a cluster.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{json, text, time};

static WORKLOAD: Entity =
    Entity { name: "Workload", key: &[":namespace=", ",resource=", ",name="] };
static CONTAINER: Entity = Entity { name: "Container", key: &[":workload=", "/", "/", ",name="] };

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "event_type")]
    event_type: Text<'a>,
    #[serde(borrow, rename = "auditID")]
    audit_id: Key<'a>,
    #[serde(borrow)]
    stage: Text<'a>,
    #[serde(borrow)]
    verb: Text<'a>,
    #[serde(borrow)]
    user: Object<User<'a>>,
    #[serde(borrow, rename = "sourceIPs")]
    source_ips: List<Option<&'a RawValue>>,
    #[serde(borrow)]
    object_ref: Object<Reference<'a>>,
    response_status: Object<Status>,
    #[serde(borrow)]
    request_object: Object<Workload<'a>>,
    #[serde(borrow)]
    request_received_timestamp: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct User<'a> {
    #[serde(borrow)]
    username: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reference<'a> {
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    resource: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    code: Option<i64>,
}

/// What has a `spec`: the object, and the templates inside of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Workload<'a> {
    #[serde(borrow)]
    spec: Object<Spec<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec<'a> {
    #[serde(borrow)]
    replicas: Option<&'a RawValue>,
    #[serde(borrow)]
    host_network: Option<&'a RawValue>,
    #[serde(borrow)]
    containers: Option<List<Object<Container<'a>>>>,
    #[serde(borrow)]
    template: Option<Box<Workload<'a>>>,
    #[serde(borrow)]
    job_template: Option<Box<Workload<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Container<'a> {
    #[serde(borrow)]
    name: Key<'a>,
    #[serde(borrow)]
    image: Text<'a>,
    #[serde(borrow)]
    security_context: Object<Security<'a>>,
    #[serde(borrow)]
    resources: Object<Resources<'a>>,
    #[serde(borrow)]
    ports: Option<List<Object<Port<'a>>>>,
    env: List<Object<Variable>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Security<'a> {
    #[serde(borrow)]
    privileged: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resources<'a> {
    #[serde(borrow)]
    limits: Object<Quantities<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Quantities<'a> {
    #[serde(borrow)]
    memory: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Port<'a> {
    #[serde(borrow)]
    container_port: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Variable {
    value_from: Object<Origin>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Origin {
    secret_key_ref: Option<IgnoredAny>,
}

impl Container<'_> {
    fn privileged(&self) -> Option<&RawValue> {
        self.security_context.get()?.privileged
    }
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    let verb = event.verb.get()?;
    let is_written = event.event_type.is("k8s.audit")
        && event.stage.is("ResponseComplete")
        && matches!(verb, "create" | "update" | "patch")
        && event.response_status.get()?.code? < 300;
    if !is_written {
        return None;
    }
    let spec = event.request_object.get()?.spec.get()?;
    let of_template = |it: &'a Spec<'_>| it.template.as_ref()?.spec.get();
    let of_job = || of_template(spec.job_template.as_ref()?.spec.get()?);
    let places = [Some(spec), of_template(spec), of_job()];
    let found = places.into_iter().flatten().find(|it| it.containers.is_some())?;
    let containers = found.containers.as_ref()?;
    let about = event.object_ref.get()?;
    let namespace = about.namespace.get().unwrap_or("default");
    let (resource, name) = (about.resource.get()?, about.name.get()?);
    let session = event.audit_id.text().unwrap_or_default();
    let workload = Id::new(session, &WORKLOAD, [namespace, resource, name]);
    let is_privileged = |it: &Container<'_>| it.privileged().is_some_and(|it| it.get() == "true");
    let any = containers.objects().any(is_privileged);
    let address = event.source_ips.0.first().copied().flatten();
    let properties = [
        ("namespace", text(Some(namespace))),
        ("resource", text(Some(resource))),
        ("name", text(Some(name))),
        ("verb", text(Some(verb))),
        ("username", event.user.get().and_then(|user| json(user.username))),
        ("source_ip", json(address)),
        ("received_at", time(event.request_received_timestamp)),
        ("host_network", json(found.host_network).or(Some(Scalar::Boolean(false)))),
        ("containers", Some(Scalar::Integer(containers.0.len() as i64))),
        ("any_privileged", Some(Scalar::Boolean(any))),
        ("replicas", json(spec.replicas)),
    ];
    graph.node(workload, properties);
    let of = [namespace, resource, name];
    for container in containers.objects() {
        let Some(own) = container.name.text() else { continue };
        let id = Id::new(session, &CONTAINER, [namespace, resource, name, own]);
        let image = container.image.get();
        let has_secret =
            |it: &&Variable| it.value_from.get().is_some_and(|it| it.secret_key_ref.is_some());
        let limits = container.resources.get().and_then(|it| it.limits.get());
        let properties = [
            ("workload", Some(Scalar::Made(of.join("/")))),
            ("name", container.name.json()),
            ("image", text(image)),
            ("tag", text(image.map(tag))),
            ("privileged", json(container.privileged())),
            ("memory_limit", limits.and_then(|it| json(it.memory))),
            ("ports", container.ports.as_ref().map(ports)),
            (
                "secrets",
                Some(Scalar::Integer(container.env.objects().filter(has_secret).count() as i64)),
            ),
        ];
        graph.node(id, properties);
        graph.edge("RUNS", workload, id, []);
    }
    Some(())
}

fn tag(image: &str) -> &str {
    let last = image.rsplit('/').next().unwrap_or(image);
    last.rsplit_once(':').map_or("latest", |(_, tag)| tag)
}

fn ports<'a>(ports: &List<Object<Port<'_>>>) -> Scalar<'a> {
    let mut list = String::new();
    for port in ports.objects().filter_map(|port| port.container_port) {
        if !list.is_empty() {
            list.push(',');
        }
        list.push_str(port.get());
    }
    Scalar::Made(list)
}
