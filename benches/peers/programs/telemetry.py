NOTHING = {"nodes": [], "edges": [], "fully_handled_span_ids": [], "partially_handled_span_ids": []}


def extract(event):
    result = (event.get("content") or {}).get("result") or {}
    option_id = result.get("option_id")
    if event["event_type"] != "TOOL_COMPLETED" or option_id is None:
        return NOTHING
    properties = {
        "option_id": option_id,
        "request_id": result.get("request_id"),
        "label": result.get("option_label"),
        "confidence": result.get("confidence"),
    }
    return {
        "nodes": [
            {
                "node_id": f"{event['session_id']}:Option:option_id={option_id}",
                "entity_name": "Option",
                "labels": ["Option"],
                "properties": [{"name": k, "value": v} for k, v in properties.items() if v is not None],
            }
        ],
        "edges": [],
        "fully_handled_span_ids": [event["span_id"]],
        "partially_handled_span_ids": [],
    }
