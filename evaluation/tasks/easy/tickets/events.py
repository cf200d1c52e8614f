"""Tickets of a help desk."""


def opened(choices, number):
    ticket = {"number": number, "subject": choices.one_of(["Printer", "New laptop", "Zugang für \"Ümit\"", ""])}
    if choices.chance(0.8):
        ticket["priority"] = choices.one_of(["low", "high", None])
    if choices.chance(0.8):
        ticket["requester"] = {"name": choices.one_of(["Ana", "Bo"]), "mail": "x@example.com"}
    if choices.chance(0.7):
        ticket["routing"] = {"queue": choices.one_of(["it", "facilities"]), "urgent": choices.chance(0.3)}
    made = {"event_type": "ticket.opened", "session_id": f"d-{choices.below(4)}", "span_id": f"sp-{number}", "ticket": ticket}
    if choices.chance(0.4):
        made["comment"] = choices.one_of(["please hurry", ""])
    return made


def samples(choices):
    for number in range(10):
        yield opened(choices, number)
    yield {"event_type": "ticket.closed", "session_id": "d-1", "span_id": "sp-x", "ticket": {"number": 1}}


def held_out(choices):
    for number in range(100, 140):
        yield opened(choices, number)
    start = {"event_type": "ticket.opened", "session_id": "odd", "span_id": "sp-odd"}
    yield {**start, "ticket": {"subject": "no number"}}
    yield {**start, "ticket": {"number": None}}
    yield {**start, "ticket": {"number": "T-7", "requester": None, "routing": {}}}
    yield {"event_type": "ticket.opened", "ticket": {"number": 8}}
    yield {**start, "event_type": "ticket.closed", "ticket": {"number": 9}}
