NOTHING = {"nodes": [], "edges": [], "fully_handled_span_ids": [], "partially_handled_span_ids": []}


def extract(event):
    content = event.get("content") or {}
    repository = content.get("repository") or {}
    repository_id = repository.get("id")
    if event["event_type"] != "github" or repository_id is None:
        return NOTHING
    properties = {
        "repository_id": repository_id,
        "full_name": repository.get("full_name"),
        "private": repository.get("private"),
        "owner": (repository.get("owner") or {}).get("login"),
        "html_url": repository.get("html_url"),
        "default_branch": repository.get("default_branch"),
        "open_issues": repository.get("open_issues_count"),
        "sender": (content.get("sender") or {}).get("login"),
        "action": content.get("action"),
    }
    return {
        "nodes": [
            {
                "node_id": f"{event['session_id']}:Repository:repository_id={repository_id}",
                "entity_name": "Repository",
                "labels": ["Repository"],
                "properties": [{"name": k, "value": v} for k, v in properties.items() if v is not None],
            }
        ],
        "edges": [],
        "fully_handled_span_ids": [event["span_id"]],
        "partially_handled_span_ids": [],
    }
