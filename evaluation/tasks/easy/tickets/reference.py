"""What the rule says, by hand."""


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"] == "ticket.opened":
        ticket = event["ticket"]
        routing = ticket.get("routing") or {}
        result.node(
            "Ticket",
            {"number": ticket.get("number")},
            subject=ticket.get("subject"),
            priority=ticket.get("priority"),
            asked_by=(ticket.get("requester") or {}).get("name"),
            queue=routing.get("queue"),
            urgent=routing.get("urgent"),
        )
        result.span(event.get("span_id"), partially=bool(event.get("comment")))
    return result
