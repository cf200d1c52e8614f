"""What the rule says, by hand."""

from datetime import date, datetime, timezone


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def day(text):
    """The day in UTC; a day is itself."""
    if text is None:
        return None
    if len(text) == 10:
        return date.fromisoformat(text).isoformat()
    return datetime.fromisoformat(text).astimezone(timezone.utc).date().isoformat()


def extract(event, Result):
    result = Result(event.get("tenant"))
    if event["event_type"] not in ("invoice.issued", "invoice.corrected"):
        return result
    about = event["invoice"]
    no = about.get("no")
    vat_id = about.get("buyer", {}).get("vat_id")
    invoice = result.node(
        "Invoice",
        {"no": no},
        currency=about.get("currency") or "EUR",
        gross=number(about.get("gross")),
        issued_on=day(about.get("issued")),
        is_correction=event["event_type"] == "invoice.corrected",
        buyer_country=vat_id.split("-")[0] if vat_id else None,
    )
    for one in about.get("lines", []):
        if not one.get("quantity"):
            continue
        article, pos = one.get("article", {}), one.get("pos")
        name = article.get("name")
        line = result.node(
            "Line",
            {"invoice_no": no, "pos": pos},
            article=article.get("sku"),
            quantity=one["quantity"],
            price=number(one.get("price")),
            label=f"{no}/{pos}: {name}" if None not in (no, pos, name) else None,
        )
        result.edge("HAS_LINE", invoice, line, tax=one.get("tax"))
    result.edge("CORRECTS", invoice, result.id_of("Invoice", no=about.get("corrects")))
    result.span(event.get("span_id"), partially=bool(about.get("memo")))
    return result
