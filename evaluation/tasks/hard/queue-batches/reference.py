"""What the rule says, by hand."""

import json
from datetime import datetime, timedelta, timezone
from decimal import Decimal

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def read(text):
    """The event of a body, and whether it could be read."""
    try:
        event = json.loads(text, parse_float=Decimal)
        if isinstance(event, dict) and "TopicArn" in event:
            event = json.loads(event["Message"], parse_float=Decimal)
        return event, True
    except (TypeError, ValueError):
        return None, False


def topic(text):
    try:
        return json.loads(text)["TopicArn"].rsplit(":", 1)[-1]
    except (KeyError, TypeError, ValueError):
        return None


def moment(time):
    """In UTC, without zeros at the end of the fraction."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f"{time.microsecond:06}".rstrip("0")
    return text + (f".{fraction}" if fraction else "") + "Z"


def placed(value):
    if value is None:
        return None
    if isinstance(value, int) or value.isdigit():
        return moment(EPOCH + timedelta(seconds=int(value)))
    return moment(datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone(timezone.utc))


def add_order(result, event):
    order = event.get("order") if isinstance(event, dict) else None
    if not isinstance(order, dict):
        return None
    items = order.get("items")
    prices = [Decimal(str(item["price"])) for item in items or []]
    amounts = [item.get("quantity", 1) for item in items or []]
    total = sum(price * amount for price, amount in zip(prices, amounts))
    lists = {}
    if items is not None:
        lists["articles"] = ",".join(sorted({item["sku"] for item in items}))
        lists["tags"] = ",".join(sorted({tag for item in items for tag in item.get("tags", [])}))
    return result.node(
        "Order",
        {"order_id": order.get("id")},
        kind=event["kind"].rsplit(".", 1)[-1] if "kind" in event else None,
        customer=order.get("customer"),
        placed_at=placed(order.get("placed")),
        items=len(items or []),
        total=float(total),
        dearest=items[prices.index(max(prices))]["sku"] if items else None,
        coupon=order["coupon"].upper() if order.get("coupon") else None,
        **lists,
    )


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"] != "queue.batch":
        return result
    for record in event["Records"]:
        attributes = record.get("attributes", {})
        sent, first = (attributes.get(name) for name in ("SentTimestamp", "ApproximateFirstReceiveTimestamp"))
        count = attributes.get("ApproximateReceiveCount")
        carried, readable = read(record.get("body"))
        message = result.node(
            "Message",
            {"message_id": record.get("messageId")},
            sent_at=moment(EPOCH + timedelta(milliseconds=int(sent))) if sent else None,
            received=int(count) if count else None,
            waited_s=(int(first) - int(sent)) / 1000 if first and sent else None,
            topic=topic(record.get("body")),
            tenant=record.get("messageAttributes", {}).get("tenant", {}).get("stringValue"),
            readable=readable,
        )
        result.edge("CARRIED", message, add_order(result, carried))
    return result
