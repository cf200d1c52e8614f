"""Attempts to sign in."""


def attempt(choices, number):
    succeeded = choices.chance(0.6)
    made = {
        "event_type": "signin.succeeded" if succeeded else "signin.failed",
        "session_id": f"i-{choices.below(6)}",
        "request_id": f"rq-{number:05}",
        "user": {"mail": choices.one_of(["Ana@Example.com", "bo@example.com", "ÖZ@example.com"])},
        "method": choices.one_of(["password", "passkey", "sso"]),
    }
    if not succeeded:
        made["error"] = {"code": 401, "reason": choices.one_of(["bad_password", "locked", None])}
    if choices.chance(0.7):
        made["location"] = {"country": choices.one_of(["SE", "DE"]), "city": "x"}
    if choices.chance(0.8):
        made["device"] = {"fingerprint": f"f-{choices.hexadecimal(6)}", "os": choices.one_of(["linux", "ios", None])}
        if choices.chance(0.7):
            made["device"]["browser"] = choices.one_of(["firefox", "safari"])
    if choices.chance(0.3):
        made["agent"] = {"synthetic": choices.chance(0.4), "version": "3"}
    return made


def samples(choices):
    for number in range(14):
        yield attempt(choices, number)
    yield {"event_type": "signin.started", "session_id": "i-0", "request_id": "rq-x"}


def held_out(choices):
    for number in range(700, 742):
        yield attempt(choices, number)
    yield {"event_type": "signin.succeeded", "session_id": "odd", "request_id": "rq-odd", "device": {"os": "linux"}}
    yield {"event_type": "signin.succeeded", "session_id": "odd", "device": {"fingerprint": "f-odd", "os": "linux"}}
    yield {"event_type": "signin.failed", "session_id": "odd", "request_id": "rq-odd2", "device": {"fingerprint": "f-odd"}}
    yield {"event_type": "signin.started", "session_id": "odd", "request_id": "rq-odd3", "device": {"fingerprint": "f-odd"}}
