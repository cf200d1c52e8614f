"""What the rule says, by hand."""

from datetime import datetime, timezone


def moment(text):
    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)
    except (AttributeError, ValueError):
        return None
    fraction = f"{time.microsecond:06}".rstrip("0")
    return time.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"].startswith("deployment."):
        about = event["deployment"]
        deployment = result.node(
            "Deployment",
            {"deployment_id": about.get("id")},
            environment=about.get("environment"),
            version=about.get("version"),
            succeeded=event["event_type"] == "deployment.succeeded",
            started_by=about.get("actor", {}).get("login"),
            finished_at=moment(about.get("finished")),
        )
        result.edge("OF", deployment, result.id_of("Service", name=about.get("service", {}).get("name")))
        result.span(event.get("span_id"))
    return result
