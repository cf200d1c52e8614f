NOTHING = {"nodes": [], "edges": [], "fully_handled_span_ids": [], "partially_handled_span_ids": []}


def extract(event):
    content = event.get("content") or {}
    event_id = content.get("eventID")
    if event["event_type"] != "AWS.CloudTrail" or event_id is None:
        return NOTHING
    properties = {
        "event_id": event_id,
        "name": content.get("eventName"),
        "source": content.get("eventSource"),
        "region": content.get("awsRegion"),
        "at": content.get("eventTime"),
        "actor": (content.get("userIdentity") or {}).get("arn"),
        "address": content.get("sourceIPAddress"),
        "read_only": content.get("readOnly"),
    }
    return {
        "nodes": [
            {
                "node_id": f"{event['session_id']}:ApiCall:event_id={event_id}",
                "entity_name": "ApiCall",
                "labels": ["ApiCall"],
                "properties": [{"name": k, "value": v} for k, v in properties.items() if v is not None],
            }
        ],
        "edges": [],
        "fully_handled_span_ids": [event["span_id"]],
        "partially_handled_span_ids": [],
    }
