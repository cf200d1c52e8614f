//! Workloads that were written to a cluster.

use serde_json::Value;

use super::{Graph, Scalar, id, in_id, json, list, moment_of, text};

pub(super) fn fill<'a>(event: &'a Value, graph: &mut Graph<'a>) -> Option<()> {
    let verb = event["verb"].as_str()?;
    let is_written = event["event_type"] == "k8s.audit"
        && event["stage"] == "ResponseComplete"
        && matches!(verb, "create" | "update" | "patch")
        && event["responseStatus"]["code"].as_i64()? < 300;
    if !is_written {
        return None;
    }
    let spec = &event["requestObject"]["spec"];
    let places =
        [spec, &spec["template"]["spec"], &spec["jobTemplate"]["spec"]["template"]["spec"]];
    let found = places.into_iter().find(|it| !it["containers"].is_null())?;
    let containers = list(&found["containers"]);
    let about = &event["objectRef"];
    let namespace = about["namespace"].as_str().unwrap_or("default");
    let (resource, name) = (about["resource"].as_str()?, about["name"].as_str()?);
    let session = in_id(&event["auditID"]).unwrap_or_default();
    let key = format_args!("namespace={namespace},resource={resource},name={name}");
    let workload = id(&session, "Workload", key);
    let any = containers.iter().any(|one| one["securityContext"]["privileged"] == true);
    let properties = [
        ("namespace", text(namespace)),
        ("resource", text(resource)),
        ("name", text(name)),
        ("verb", text(verb)),
        ("username", json(&event["user"]["username"])),
        ("source_ip", json(&event["sourceIPs"][0])),
        ("received_at", moment_of(&event["requestReceivedTimestamp"])),
        ("host_network", json(&found["hostNetwork"]).or(Some(Scalar::Boolean(false)))),
        ("containers", Some(Scalar::Integer(containers.len() as i64))),
        ("any_privileged", Some(Scalar::Boolean(any))),
        ("replicas", json(&spec["replicas"])),
    ];
    graph.node(workload.clone(), "Workload", properties);
    for one in containers {
        let Some(own) = in_id(&one["name"]) else { continue };
        let of = format!("{namespace}/{resource}/{name}");
        let container = id(&session, "Container", format_args!("workload={of},name={own}"));
        let secrets = list(&one["env"]).iter();
        let secrets = secrets.filter(|it| it["valueFrom"].get("secretKeyRef").is_some()).count();
        let properties = [
            ("workload", text(of)),
            ("name", json(&one["name"])),
            ("image", json(&one["image"])),
            ("tag", one["image"].as_str().and_then(|image| text(tag(image)))),
            ("privileged", json(&one["securityContext"]["privileged"])),
            ("memory_limit", json(&one["resources"]["limits"]["memory"])),
            ("ports", ports(&one["ports"])),
            ("secrets", Some(Scalar::Integer(secrets as i64))),
        ];
        graph.node(container.clone(), "Container", properties);
        graph.edge("RUNS", &workload, &container, []);
    }
    Some(())
}

fn tag(image: &str) -> &str {
    let last = image.rsplit('/').next().unwrap_or(image);
    last.rsplit_once(':').map_or("latest", |(_, tag)| tag)
}

fn ports(ports: &Value) -> Option<Scalar<'static>> {
    let ports = ports.as_array()?.iter().map(|port| port["containerPort"].to_string());
    text(ports.collect::<Vec<String>>().join(","))
}
