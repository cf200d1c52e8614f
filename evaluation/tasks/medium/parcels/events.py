"""Scans of a carrier, and what a warehouse packed."""


def scan(choices, number):
    kind = choices.one_of(["picked_up", "in_transit", "delivered"])
    made = {
        "event_type": f"carrier.{kind}",
        "session_id": f"w-{choices.below(4)}",
        "span_id": f"sp-{number}",
        "tracking": f"JD{choices.below(40):04}",
        "scanned_at": f"2026-08-01T08:{choices.whole(10, 59)}:00+02:00",
    }
    if choices.chance(0.8):
        made["route"] = choices.one_of(["HAM", "HAM>KOL", "HAM>KOL>MÜC"])
    weight = choices.below(3)
    if weight == 0:
        made["weight_g"] = choices.whole(100, 9000)
    elif weight == 1:
        made["weight_kg"] = choices.one_of([0.1, 1.25, 3])
    if kind == "delivered" and choices.chance(0.8):
        made["proof"] = {"signed_by": choices.one_of(["Ana", "neighbour"])}
    if choices.chance(0.6):
        made["measures"] = {name: choices.one_of([1.5, 20, None]) for name in ("temperature", "length cm", "tilt.x") if choices.chance(0.6)}
    if choices.chance(0.3):
        made["remarks"] = choices.one_of(["left at the door", ""])
    return made


def packed(choices, number):
    parcels = []
    for _ in range(choices.whole(1, 4)):
        parcel = {"tracking": f"JD{choices.below(40):04}"}
        if choices.chance(0.8):
            parcel["weight_g"] = choices.one_of([250, 1200.5])
        if choices.chance(0.5):
            parcel["span"] = f"pk-{choices.below(50)}"
        parcels.append(parcel)
    return {"event_type": "warehouse.packed", "session_id": f"w-{choices.below(4)}", "shipment_id": f"sh-{number}", "parcels": parcels}


def samples(choices):
    for number in range(18):
        yield packed(choices, number) if number % 3 == 0 else scan(choices, number)
    yield {"event_type": "warehouse.received", "session_id": "w-0", "shipment_id": "sh-r"}


def held_out(choices):
    for number in range(300, 345):
        yield packed(choices, number) if choices.chance(0.3) else scan(choices, number)
    start = {"session_id": "odd", "span_id": "sp-odd", "tracking": "JD-odd", "scanned_at": "now"}
    yield {**start, "event_type": "carrier.lost", "route": "", "weight_g": 5, "weight_kg": 7, "measures": {}}
    yield {**start, "event_type": "carrier.returned", "tracking": None, "measures": {"a": 1}}
    yield {"event_type": "warehouse.packed", "session_id": "odd", "shipment_id": "sh-odd", "parcels": []}
    yield {"event_type": "warehouse.packed", "session_id": "odd", "shipment_id": "sh-odd2"}
    same = {"tracking": "JD-same", "weight_g": 1}
    yield {"event_type": "warehouse.packed", "session_id": "odd", "shipment_id": "sh-odd3", "parcels": [same, same, {"weight_g": 2, "span": ""}]}
    yield {**start, "event_type": "warehouse.received", "shipment_id": "sh-odd4"}
