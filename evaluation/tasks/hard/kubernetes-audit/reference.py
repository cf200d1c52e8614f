"""What the rule says, by hand."""


def specification(written):
    """The one that has containers."""
    spec = written.get("spec", {})
    template = spec.get("template", {}).get("spec", {})
    job = spec.get("jobTemplate", {}).get("spec", {}).get("template", {}).get("spec", {})
    for one in (spec, template, job):
        if "containers" in one:
            return one
    return None


def tag(image):
    """Of `host:5000/a/b:1.0`, `1.0`."""
    if image is None:
        return None
    _, colon, behind = image.rsplit("/", 1)[-1].rpartition(":")
    return behind if colon else "latest"


def moment(text):
    """Without zeros at the end of the fraction."""
    whole, dot, fraction = text.removesuffix("Z").partition(".")
    fraction = fraction.rstrip("0")
    return whole + (dot + fraction if fraction else "") + "Z"


def extract(event, Result):
    result = Result(event.get("auditID"))
    code = event.get("responseStatus", {}).get("code")
    if event["event_type"] != "k8s.audit" or event["stage"] != "ResponseComplete" or code is None or code >= 300:
        return result
    found = specification(event.get("requestObject", {}))
    if event["verb"] not in ("create", "update", "patch") or found is None:
        return result
    containers = found["containers"]
    about = event["objectRef"]
    namespace, resource, name = about.get("namespace", "default"), about["resource"], about["name"]
    privileged = [one.get("securityContext", {}).get("privileged") for one in containers]
    workload = result.node(
        "Workload",
        {"namespace": namespace, "resource": resource, "name": name},
        verb=event["verb"],
        username=event["user"].get("username"),
        source_ip=next(iter(event.get("sourceIPs", [])), None),
        received_at=moment(event["requestReceivedTimestamp"]),
        host_network=found.get("hostNetwork", False),
        containers=len(containers),
        any_privileged=any(privileged),
        replicas=event["requestObject"]["spec"].get("replicas"),
    )
    for one, is_privileged in zip(containers, privileged):
        ports = ",".join(str(port["containerPort"]) for port in one["ports"]) if "ports" in one else None
        container = result.node(
            "Container",
            {"workload": f"{namespace}/{resource}/{name}", "name": one.get("name")},
            image=one.get("image"),
            tag=tag(one.get("image")),
            privileged=is_privileged,
            memory_limit=one.get("resources", {}).get("limits", {}).get("memory"),
            ports=ports,
            secrets=sum("secretKeyRef" in variable.get("valueFrom", {}) for variable in one.get("env", [])),
        )
        result.edge("RUNS", workload, container)
    return result
