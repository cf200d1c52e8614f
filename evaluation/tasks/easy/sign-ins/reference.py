"""What the rule says, by hand."""


def extract(event, Result):
    result = Result(event.get("session_id"))
    kind = event["event_type"]
    if kind not in ("signin.succeeded", "signin.failed") or event.get("agent", {}).get("synthetic") is True:
        return result
    succeeded = kind == "signin.succeeded"
    mail = event.get("user", {}).get("mail")
    sign_in = result.node(
        "SignIn",
        {"request_id": event.get("request_id")},
        user_mail=mail.lower() if mail else None,
        succeeded=succeeded,
        method=event.get("method"),
        country=event.get("location", {}).get("country"),
        reason=event.get("error", {}).get("reason"),
    )
    about = event.get("device", {})
    device = result.node("Device", {"fingerprint": about.get("fingerprint")}, os=about.get("os"), browser=about.get("browser"))
    if succeeded:
        result.edge("USED", sign_in, device)
    return result
