"""What the rule says, by hand."""

from datetime import datetime, timedelta, timezone

WORDS = {"10": "lead", "20": "qualified", "30": "proposal", "90": "won", "91": "lost"}


def word(stage):
    return WORDS.get(stage, f"stage {stage}") if stage is not None else None


def amount(value):
    if isinstance(value, str):
        digits = value.split(" ")[0].replace(",", "")
        return float(digits) if digits.replace(".", "", 1).isdigit() else None
    return value


def moment(milliseconds):
    if milliseconds is None:
        return None
    time = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)
    fraction = f"{time.microsecond:06}".rstrip("0")
    return time.strftime("%Y-%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "") + "Z"


def extract(event, Result):
    result = Result(event.get("account_id"))
    if event["event_type"] != "deal.changed":
        return result
    stage, before = event["properties"].get("stage"), event.get("previous", {}).get("stage")
    owner = event.get("owner", {})
    change = None
    if stage is not None and stage != before:
        change = result.node(
            "StageChange",
            {"deal_id": event.get("deal_id"), "version": event.get("version")},
            stage=word(stage),
            stage_before=word(before),
            amount=amount(event["properties"].get("amount")),
            changed_at=moment(event.get("changed")),
            owner=owner.get("name") or owner.get("email"),
            closed=stage in ("90", "91"),
        )
    for one in event.get("contacts", []):
        if one.get("removed"):
            continue
        names = [one[name] for name in ("first_name", "last_name") if name in one]
        contact = result.node(
            "Contact",
            {"mail": one["mail"].lower() if "mail" in one else None},
            name=" ".join(names) or None,
            company=one.get("company", {}).get("name"),
        )
        result.edge("WITH", change, contact, role=one.get("role") or "unknown")
    return result
