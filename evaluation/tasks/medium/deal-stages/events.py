"""Changes of deals in a CRM."""

STAGES = ["10", "20", "30", "40", "90", "91"]


def contact(choices):
    made = {"mail": choices.one_of(["Ana@Shop.example", "bo@shop.example", "çem@shop.example"])}
    if choices.chance(0.8):
        made["first_name"] = choices.one_of(["Ana", "Bo", "Çem"])
    if choices.chance(0.7):
        made["last_name"] = choices.one_of(["Lind", "O'Neil"])
    if choices.chance(0.6):
        made["company"] = {"name": "Shop \"A\""}
    if choices.chance(0.7):
        made["role"] = choices.one_of(["buyer", "champion", None])
    if choices.chance(0.3):
        made["removed"] = choices.chance(0.6)
    return made


def changed(choices, number):
    properties, previous = {}, {}
    if choices.chance(0.95):
        properties["stage"] = choices.one_of(STAGES)
    if choices.chance(0.8):
        previous["stage"] = choices.one_of(STAGES)
    if choices.chance(0.8):
        properties["amount"] = choices.one_of([1250.5, 900, "1,250.00 EUR", "12,001,250.75 SEK", "750 EUR", "on request"])
    made = {
        "event_type": "deal.changed",
        "account_id": f"ac-{choices.below(4)}",
        "deal_id": 7000 + choices.below(30),
        "version": number,
        "changed": 1_790_000_000_000 + choices.below(10**9),
        "properties": properties,
    }
    if previous or choices.chance(0.5):
        made["previous"] = previous
    if choices.chance(0.8):
        made["owner"] = choices.one_of([{"name": "Ida", "email": "ida@example.com"}, {"email": "jo@example.com"}, {"name": None, "email": "k@example.com"}])
    if choices.chance(0.8):
        made["contacts"] = [contact(choices) for _ in range(choices.whole(0, 3))]
    return made


def samples(choices):
    for number in range(18):
        yield changed(choices, number)
    yield {"event_type": "deal.deleted", "account_id": "ac-0", "deal_id": 1, "version": 1}


def held_out(choices):
    for number in range(200, 245):
        yield changed(choices, number)
    start = {"event_type": "deal.changed", "account_id": "odd", "deal_id": 1}
    yield {**start, "version": 1, "properties": {"stage": "10"}, "previous": {"stage": None}, "contacts": [{"first_name": "nobody"}]}
    yield {**start, "version": 2, "properties": {}, "previous": {"stage": "10"}, "contacts": [{"mail": "X@example.com"}]}
    yield {**start, "properties": {"stage": "20"}, "contacts": [{"mail": "y@example.com", "last_name": "Only"}]}
    yield {**start, "version": 3, "properties": {"stage": "90", "amount": "0 EUR"}}
    yield {**start, "event_type": "deal.deleted", "version": 4, "properties": {"stage": "91"}}
