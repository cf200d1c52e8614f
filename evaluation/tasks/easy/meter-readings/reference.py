"""What the rule says, by hand."""

from datetime import datetime, timedelta, timezone


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def moment(seconds):
    if seconds is None:
        return None
    time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    fraction = f"{time.microsecond:06}".rstrip("0")
    return time.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


def extract(event, Result):
    device = event.get("device", {})
    result = Result(device.get("gateway"))
    if event["event_type"] == "meter.read" and not event.get("test"):
        site = device.get("site")
        result.node(
            "Reading",
            {"device_id": device.get("id"), "seq": event.get("seq")},
            value=number(event.get("value")),
            unit=event.get("unit"),
            read_at=moment(event.get("at")),
            site=site.lower() if site else None,
            quality=event.get("quality") or "good",
        )
    return result
