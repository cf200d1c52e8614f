"""What the rule says, by hand."""


def weight(event):
    if "weight_g" in event:
        return event["weight_g"]
    return event["weight_kg"] * 1000 if "weight_kg" in event else None


def scanned(event, result):
    tracking, at = event.get("tracking"), event.get("scanned_at")
    if tracking is None:
        return
    scan = result.node(
        "Scan",
        {"tracking": tracking, "scanned_at": at},
        what=event["event_type"].removeprefix("carrier."),
        depot=event["route"].split(">")[-1] if "route" in event else None,
        weight_g=weight(event),
        signed_by=event.get("proof", {}).get("signed_by"),
    )
    for name, value in event.get("measures", {}).items():
        if value is not None:
            measure = result.node("Measure", {"tracking": tracking, "scanned_at": at, "name": name}, value=value)
            result.edge("MEASURED", scan, measure)
    result.span(event.get("span_id"), partially=bool(event.get("remarks")))


def packed(event, result):
    parcels = event.get("parcels", [])
    weights = [parcel.get("weight_g", 0) for parcel in parcels]
    shipment = result.node("Shipment", {"shipment_id": event.get("shipment_id")}, parcels=len(parcels), total_weight_g=sum(weights))
    for parcel in parcels:
        result.edge("CONTAINS", shipment, result.id_of("Parcel", tracking=parcel.get("tracking")))
        result.span(parcel.get("span"))


def extract(event, Result):
    result = Result(event.get("session_id"))
    if event["event_type"].startswith("carrier."):
        scanned(event, result)
    elif event["event_type"] == "warehouse.packed":
        packed(event, result)
    return result
