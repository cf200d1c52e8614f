"""Invoices of several tenants."""


def line(choices, pos):
    made = {"pos": pos, "article": {"sku": choices.one_of(["TEA-01", "POT-10"]), "name": choices.one_of(["Iron pot", "Grüner Tee", "7\" bowl"])}}
    if choices.chance(0.9):
        made["quantity"] = choices.whole(0, 4)
    if choices.chance(0.9):
        made["price"] = choices.one_of(["6.00", "12.5", 3.25, "free"])
    if choices.chance(0.7):
        made["tax"] = choices.one_of([0.19, 0.07])
    return made


def issued(choices, number):
    corrected = choices.chance(0.3)
    invoice = {"no": f"R-{number}", "gross": f"{choices.below(10**6) / 100:.2f}", "issued": f"2026-06-{choices.whole(10, 28)}T23:30:00+02:00"}
    if choices.chance(0.6):
        invoice["currency"] = choices.one_of(["EUR", "SEK", None])
    if choices.chance(0.8):
        invoice["buyer"] = {"name": "Shop", "vat_id": choices.one_of(["DE-123", "SE-9-1", "AT"])}
    if corrected and choices.chance(0.9):
        invoice["corrects"] = f"R-{number - 7}"
    if choices.chance(0.9):
        invoice["lines"] = [line(choices, pos) for pos in range(1, choices.whole(1, 4))]
    if choices.chance(0.3):
        invoice["memo"] = choices.one_of(["thank you", ""])
    kind = "invoice.corrected" if corrected else "invoice.issued"
    return {"event_type": kind, "tenant": f"t-{choices.below(3)}", "span_id": f"sp-{number}", "invoice": invoice}


def samples(choices):
    for number in range(14):
        yield issued(choices, number)
    yield {"event_type": "invoice.paid", "tenant": "t-0", "span_id": "sp-p", "invoice": {"no": "R-0"}}


def held_out(choices):
    for number in range(100, 142):
        yield issued(choices, number)
    start = {"event_type": "invoice.issued", "tenant": "odd", "span_id": "sp-odd"}
    yield {**start, "invoice": {"no": "R-odd", "gross": "1,50", "issued": "2026-06-30", "lines": []}}
    twice = [{"pos": 1, "article": {"sku": sku, "name": sku}, "quantity": 1} for sku in ("A", "B")]
    yield {**start, "invoice": {"no": "R-twice", "lines": [*twice, {"article": {"sku": "C"}, "quantity": 2}]}}
    yield {**start, "invoice": {"lines": twice}}
    yield {**start, "event_type": "invoice.paid", "invoice": {"no": "R-odd"}}
