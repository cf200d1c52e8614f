"""Batches of a queue, with bodies that are JSON in text."""

import json

SENT = 1_770_000_000_000


def item(choices):
    cents = choices.whole(1, 9999)
    price = f"{cents // 100}.{cents % 100:02}"
    made = {"sku": choices.one_of(["TEA-01", "POT-10", "CUP-02", "MAT-ö7"])}
    if choices.chance(0.8):
        made["quantity"] = choices.whole(1, 5)
    made["price"] = price if choices.chance(0.4) else float(price)
    if choices.chance(0.5):
        made["tags"] = [choices.one_of(["new", "fragile", "sale"]) for _ in range(choices.whole(0, 2))]
    return made


def order_event(choices, number):
    order = {"id": f"o-{number}"}
    if choices.chance(0.9):
        order["customer"] = f"c-{choices.below(20)}"
    if choices.chance(0.8):
        order["placed"] = choices.one_of(["2026-02-02T10:00:00+01:00", "2026-02-02T10:00:00.5Z", 1_770_000_123, "1770000456"])
    if choices.chance(0.9):
        order["items"] = [item(choices) for _ in range(choices.whole(0, 4))]
    if choices.chance(0.3):
        order["coupon"] = choices.one_of(["spring", "größe", None])
    return {"kind": choices.one_of(["order.placed", "order.changed", "shop.order.cancelled"]), "order": order}


def body(choices, number):
    form = choices.below(12)
    event = order_event(choices, number)
    if form == 0:
        event = {"kind": "ping"}
    text = json.dumps(event, ensure_ascii=choices.chance(0.5))
    if form == 1:
        return text[:-3]
    if form < 7:
        return text
    message = text if form < 11 else "plain words"
    return json.dumps({"Type": "Notification", "TopicArn": "arn:aws:sns:eu-north-1:000000000000:orders", "Message": message})


def record(choices, number):
    sent = SENT + choices.below(10**8)
    attributes = {"SentTimestamp": str(sent), "ApproximateReceiveCount": str(choices.whole(1, 3))}
    if choices.chance(0.8):
        attributes["ApproximateFirstReceiveTimestamp"] = str(sent + choices.below(100_000))
    made = {"messageId": f"m-{choices.hexadecimal(8)}", "body": body(choices, number), "attributes": attributes}
    if choices.chance(0.5):
        made["messageAttributes"] = {"tenant": {"dataType": "String", "stringValue": choices.one_of(["north", "south"])}}
    return made


def batch(choices, number):
    records = [record(choices, 10 * number + index) for index in range(choices.whole(1, 4))]
    return {"event_type": "queue.batch", "session_id": f"b-{number}", "Records": records}


def samples(choices):
    for number in range(16):
        yield batch(choices, number)


def held_out(choices):
    for number in range(100, 144):
        yield batch(choices, number)

    def of(*bodies):
        records = [{"messageId": f"odd-{number}", "body": body, "attributes": {}} for number, body in enumerate(bodies)]
        return {"event_type": "queue.batch", "session_id": "odd", "Records": records}

    # Bodies that are JSON and no object, that are empty, or aren't there; an id that is null; an order that is no object.
    yield of("[1, 2]", "3", "null", "", '{"order": {"id": null}}', '{"order": 7}', '"text"')
    yield {"event_type": "queue.batch", "session_id": "odd", "Records": [{"messageId": "bare"}, {"body": '{"order": {"id": "x"}}'}]}
    # Sums that doubles don't hold.
    items = [{"sku": "a", "price": "0.1", "quantity": 3}, {"sku": "b", "price": 0.2}, {"sku": "c", "price": "0.2"}]
    yield of(json.dumps({"kind": "order", "order": {"id": "o-sum", "items": items}}))
    # An id with an escape, and two records about the same order, of which the last one counts.
    same = [{"kind": kind, "order": {"id": "\u00e9-1", "items": []}} for kind in ("order.placed", "order.changed")]
    yield of(*map(json.dumps, same))
    yield {"event_type": "queue.batch", "session_id": "odd", "Records": []}
    yield {"event_type": "queue.drained", "session_id": "odd", "Records": [{"messageId": "m", "body": "{}"}]}
