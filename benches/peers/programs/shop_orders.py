import json
from datetime import datetime, timezone

NOTHING = {"nodes": [], "edges": [], "fully_handled_span_ids": [], "partially_handled_span_ids": []}


def number(value):
    """A number, as such or as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def moment(value):
    """Epoch seconds or milliseconds, or a time that is written out."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value).astimezone(timezone.utc)
        else:
            time = datetime.fromtimestamp(value if value < 1e11 else value / 1000, timezone.utc)
    except (TypeError, ValueError):
        return None
    text = time.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{time.microsecond:06}".rstrip("0") + "Z" if time.microsecond else f"{text}Z"


def campaign(source):
    parts = (source or "").split("/")
    return parts[1] if len(parts) > 1 else None


def method(payment):
    try:
        return json.loads(payment).get("method")
    except (TypeError, ValueError, AttributeError):
        return None


def named(properties):
    return [{"name": name, "value": value} for name, value in properties.items() if value is not None]


def extract(event):
    order = event.get("order")
    if event["event_type"] not in ("order.placed", "order.changed") or order.get("test"):
        return NOTHING
    order_id = order.get("id")
    if order_id is None:
        return NOTHING
    session = event["till"]["session"]
    order_node = f"{session}:Order:order_id={order_id}"
    # By id: of two with the same one the later one counts.
    nodes, edges = {}, {}

    def node(node_id, entity, properties):
        nodes[node_id] = {
            "node_id": node_id,
            "entity_name": entity,
            "labels": [entity],
            "properties": named(properties),
        }

    def edge(relationship, to, properties, edge_id=None):
        edge_id = edge_id or f"{order_node}:{relationship}:{to}"
        edges[edge_id] = {
            "edge_id": edge_id,
            "relationship_name": relationship,
            "from_node_id": order_node,
            "to_node_id": to,
            "properties": named(properties),
        }

    node(
        order_node,
        "Order",
        {
            "order_id": order_id,
            "state": order["state"].lower(),
            "currency": order.get("currency") or "EUR",
            "total": number(order.get("total")),
            "placed_at": moment(order.get("placed")),
            "campaign": campaign(order.get("source")),
            "payment_method": method(order.get("payment")),
        },
    )
    lines = order.get("lines")
    for line in lines if isinstance(lines, list) else []:
        if not isinstance(line, dict) or not line.get("quantity") or line.get("no") is None:
            continue
        line_node = f"{session}:Line:order_id={order_id},line_no={line['no']}"
        node(
            line_node,
            "Line",
            {
                "order_id": order_id,
                "line_no": line["no"],
                "article": line["article"].get("sku"),
                "quantity": line["quantity"],
                "price": number(line.get("price")),
                "label": f"{order_id}/{line['no']}: {line['article']['name']}",
            },
        )
        edge("HAS_LINE", line_node, {})
    for shipment in order.get("shipments") or []:
        for parcel in shipment["parcels"]:
            parcel_node = f"{session}:Parcel:tracking_no={parcel['tracking']}"
            node(
                parcel_node,
                "Parcel",
                {
                    "tracking_no": parcel["tracking"],
                    "carrier": shipment["carrier"].upper(),
                    "weight_g": parcel.get("weight_g"),
                },
            )
            edge("SENT_IN", parcel_node, {"shipment_no": shipment["no"]})
    customer = (order.get("customer") or {}).get("id")
    if customer is not None:
        customer_node = f"{session}:Customer:customer_id={customer}"
        edge("PLACED_BY", customer_node, {}, f"{order_id}-by-{customer}")
    is_partial = order.get("note") is not None
    return {
        "nodes": list(nodes.values()),
        "edges": list(edges.values()),
        "fully_handled_span_ids": [] if is_partial else [event["span"]],
        "partially_handled_span_ids": [event["span"]] if is_partial else [],
    }
