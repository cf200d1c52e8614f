"""What the rule says, by hand."""

import json


def value(text):
    """What stands in the text; None where there is nothing, or no JSON."""
    try:
        found = json.loads(text) if text is not None else None
    except ValueError:
        return None
    if isinstance(found, list):
        return found[0] if found else None
    return found


def as_text(found):
    if found is None or isinstance(found, str):
        return found
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"))


def moment(text):
    """With six digits of the fraction at most, and no zeros at its end."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    fraction = fraction[:6].rstrip("0")
    return whole + (f".{fraction}" if fraction else "") + "Z"


def extract(event, Result):
    result = Result(event.get("correlationId"))
    if event["event_type"] != "directory.changed":
        return result
    by = event.get("initiatedBy") or {}
    actor = (by.get("user") or {}).get("userPrincipalName") or (by.get("app") or {}).get("displayName")
    change = result.node(
        "Change",
        {"id": event.get("id")},
        activity=event.get("activityDisplayName"),
        at=moment(event["activityDateTime"]),
        succeeded=event["result"].lower() == "success",
        actor=actor,
    )
    for target in event["targetResources"]:
        properties = target.get("modifiedProperties", [])

        def first(name, which):
            return next((value(one[which]) for one in properties if one["displayName"] == name), None)

        names = {one["displayName"] for one in properties} - {None, "TargetId.UserType"}
        key = {"change_id": event.get("id"), "target_id": target.get("id")}
        target_id = result.node(
            "Target",
            key,
            type=target.get("type"),
            name=target.get("displayName") or target.get("userPrincipalName"),
            department_before=first("Department", "oldValue"),
            department_after=first("Department", "newValue"),
            enabled=first("AccountEnabled", "newValue"),
            role=first("Role.DisplayName", "newValue"),
            modified=", ".join(sorted(names)) if "modifiedProperties" in target else None,
        )
        result.edge("CHANGED", change, target_id)
        for one in properties:
            before, after = value(one["oldValue"]), value(one["newValue"])
            if after is None or after == before or one["displayName"] == "TargetId.UserType":
                continue
            setting = result.node("Setting", {**key, "setting": one["displayName"]}, before=as_text(before), after=as_text(after))
            result.edge("SET", target_id, setting)
    return result
