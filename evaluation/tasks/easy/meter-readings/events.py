"""Readings of meters."""


def read(choices, number):
    value = choices.below(100_000) / 100
    made = {
        "event_type": "meter.read",
        "device": {"id": f"m-{choices.below(6)}", "gateway": f"g-{choices.below(3)}"},
        "seq": number,
        "value": choices.one_of([value, value, f"{value:.2f}", "n/a", None]),
        "at": 1_780_000_000 + 60 * number,
    }
    if choices.chance(0.7):
        made["device"]["site"] = choices.one_of(["NORTH", "Süd", "east"])
    if choices.chance(0.9):
        made["unit"] = choices.one_of(["kWh", "m3"])
    if choices.chance(0.5):
        made["quality"] = choices.one_of(["good", "poor", None])
    if choices.chance(0.3):
        made["test"] = choices.chance(0.5)
    return made


def samples(choices):
    for number in range(12):
        yield read(choices, number)


def held_out(choices):
    for number in range(500, 540):
        yield read(choices, number)
    yield {"event_type": "meter.read", "device": {"gateway": "g-odd"}, "seq": 1, "value": 1}
    yield {"event_type": "meter.read", "device": {"id": "m-odd"}, "seq": 0, "value": -0.5, "at": 0}
    yield {"event_type": "meter.read", "device": {"id": 17, "gateway": "g-odd"}, "seq": 2, "value": 12345678901.25, "at": 1_780_000_000.5}
    yield {"event_type": "meter.read", "seq": 3}
    yield {"event_type": "meter.lost", "device": {"id": "m-odd", "gateway": "g-odd"}, "seq": 4}
