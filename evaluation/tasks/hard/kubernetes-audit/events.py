"""Audit records of a Kubernetes API server."""

IMAGES = ["nginx", "nginx:1.27", "registry.example:5000/team/api", "registry.example:5000/team/api:2024-06", "ghcr.io/acme/worker:v2.1.0"]
USERS = ["system:serviceaccount:ci:deployer", "jürgen@example.com", "admin"]
PLACES = ["pods", "deployments", "statefulsets", "cronjobs"]


def container(choices, number):
    made = {"name": f"c{number}" if choices.chance(0.9) else "main", "image": choices.one_of(IMAGES)}
    if choices.chance(0.4):
        made["securityContext"] = {"privileged": choices.chance(0.5)} if choices.chance(0.7) else {"runAsUser": 1000}
    if choices.chance(0.5):
        limits = {"memory": choices.one_of(["128Mi", "1Gi"])} if choices.chance(0.8) else {"cpu": "500m"}
        made["resources"] = {"limits": limits, "requests": {"cpu": "100m"}}
    if choices.chance(0.6):
        made["ports"] = [{"containerPort": choices.one_of([80, 8080, 9090]), "protocol": "TCP"} for _ in range(choices.whole(0, 3))]
    if choices.chance(0.6):
        made["env"] = []
        for variable in range(choices.whole(0, 3)):
            if choices.chance(0.5):
                made["env"].append({"name": f"V{variable}", "value": "x"})
            else:
                made["env"].append({"name": f"V{variable}", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}})
    return made


def written(choices, resource, specification):
    if resource == "pods":
        return {"kind": "Pod", "spec": specification}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": specification}
    if resource == "cronjobs":
        return {"kind": "CronJob", "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template}}}}
    spec = {"template": template}
    if choices.chance(0.8):
        spec = {"replicas": choices.whole(0, 5), **spec}
    return {"kind": "Deployment", "spec": spec}


def record(choices, number, resource=None):
    resource = resource or choices.one_of(PLACES)
    specification = {"containers": [container(choices, index) for index in range(choices.whole(1, 3))]}
    if choices.chance(0.4):
        specification["hostNetwork"] = choices.chance(0.5)
    made = {
        "event_type": "k8s.audit",
        "auditID": f"a-{number:04}",
        "stage": choices.one_of(["ResponseComplete"] * 5 + ["RequestReceived"]),
        "verb": choices.one_of(["create", "update", "patch", "create", "delete"]),
        "user": {"username": choices.one_of(USERS), "groups": ["system:authenticated"]},
        "objectRef": {"resource": resource, "name": f"{resource[:-1]}-{choices.below(6)}"},
        "requestReceivedTimestamp": f"2026-03-0{choices.whole(1, 9)}T12:{choices.whole(10, 59)}:07.{choices.below(10**6):06}Z",
    }
    if choices.chance(0.8):
        made["sourceIPs"] = [f"192.0.2.{choices.below(9)}", "198.51.100.7"][: choices.whole(0, 2)]
    if choices.chance(0.8):
        made["objectRef"]["namespace"] = choices.one_of(["shop", "kube-system"])
    if made["stage"] == "ResponseComplete" and choices.chance(0.95):
        made["responseStatus"] = {"code": choices.one_of([200, 201, 201, 403])}
    made["requestObject"] = written(choices, resource, specification)
    return made


def samples(choices):
    for number in range(16):
        yield record(choices, number, PLACES[number % 4])


def held_out(choices):
    for number in range(48):
        yield record(choices, number)
    plain = {
        "event_type": "k8s.audit", "auditID": "odd", "stage": "ResponseComplete", "verb": "create",
        "responseStatus": {"code": 201}, "user": {"username": "admin"}, "requestReceivedTimestamp": "2026-03-10T00:00:00Z",
    }
    # A config map: nothing with containers. And a record without an object.
    yield {**plain, "objectRef": {"resource": "configmaps", "namespace": "shop", "name": "c"}, "requestObject": {"data": {"a": "b"}}}
    yield {**plain, "objectRef": {"resource": "pods", "namespace": "shop", "name": "gone"}}
    # No containers in the list; one without a name; two of the same name, of which the last one counts.
    pod = {"resource": "pods", "namespace": "shop", "name": "odd-pod"}
    yield {**plain, "objectRef": pod, "requestObject": {"spec": {"containers": [], "hostNetwork": True}}}
    named = [{"image": "nginx"}, {"name": "a", "image": "nginx:1"}, {"name": "a", "image": "x@sha256:0a", "securityContext": {"privileged": True}}]
    yield {**plain, "objectRef": pod, "requestObject": {"spec": {"containers": named}}}
    # The host's network said in a place that is not the specification's.
    spec = {"hostNetwork": True, "template": {"spec": {"containers": [{"name": "a", "image": "a/b/c:1.0"}]}}}
    yield {**plain, "objectRef": {**pod, "resource": "deployments"}, "requestObject": {"spec": spec}}
    # Nobody is said.
    yield {**plain, "user": {}, "objectRef": pod, "requestObject": {"spec": {"containers": [{"name": "b"}]}}}
    yield {"event_type": "k8s.event", "auditID": "odd", "objectRef": pod}
