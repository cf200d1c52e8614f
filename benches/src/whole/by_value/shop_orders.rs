//! Orders with their lines and parcels.

use serde_json::{Value, json};

use super::casual::{Graph, double, in_id, is_truthy, timestamp};
use super::list;

pub(super) fn fill(event: &Value, graph: &mut Graph) {
    let order = &event["order"];
    let is_wanted = event["event_type"] == "order.placed" || event["event_type"] == "order.changed";
    if !is_wanted || is_truthy(&order["test"]) {
        return;
    }
    let session = in_id(&event["till"]["session"]).unwrap_or_default();
    let order_id = in_id(&order["id"]);
    let own = order_id.as_ref().map(|id| format!("{session}:Order:order_id={id}"));
    if let Some(own) = &own {
        let currency = &order["currency"];
        let currency = if currency.is_null() { json!("EUR") } else { currency.clone() };
        let payment = order["payment"].as_str();
        let payment = payment.and_then(|it| serde_json::from_str::<Value>(it).ok());
        let properties = [
            ("order_id", order["id"].clone()),
            ("state", json!(order["state"].as_str().map(str::to_lowercase))),
            ("currency", currency),
            ("total", json!(double(&order["total"]))),
            ("placed_at", json!(timestamp(&order["placed"]))),
            ("campaign", json!(order["source"].as_str().and_then(|it| it.split('/').nth(1)))),
            ("payment_method", payment.map_or(Value::Null, |it| it["method"].clone())),
        ];
        graph.node(own, "Order", properties);
    }
    for line in list(&order["lines"]).iter().filter(|line| is_truthy(&line["quantity"])) {
        let (Some(order_id), Some(no)) = (&order_id, in_id(&line["no"])) else { continue };
        let id = format!("{session}:Line:order_id={order_id},line_no={no}");
        let label = in_id(&line["article"]["name"]).map(|name| format!("{order_id}/{no}: {name}"));
        let properties = [
            ("order_id", order["id"].clone()),
            ("line_no", line["no"].clone()),
            ("article", line["article"]["sku"].clone()),
            ("quantity", line["quantity"].clone()),
            ("price", json!(double(&line["price"]))),
            ("label", json!(label)),
        ];
        graph.node(&id, "Line", properties);
        if let Some(own) = &own {
            graph.edge("HAS_LINE", own, &id, []);
        }
    }
    for shipment in list(&order["shipments"]) {
        for parcel in list(&shipment["parcels"]) {
            let Some(tracking) = in_id(&parcel["tracking"]) else { continue };
            let id = format!("{session}:Parcel:tracking_no={tracking}");
            let properties = [
                ("tracking_no", parcel["tracking"].clone()),
                ("carrier", json!(shipment["carrier"].as_str().map(str::to_uppercase))),
                ("weight_g", parcel["weight_g"].clone()),
            ];
            graph.node(&id, "Parcel", properties);
            if let Some(own) = &own {
                let properties = [("shipment_no", shipment["no"].clone())];
                graph.edge("SENT_IN", own, &id, properties);
            }
        }
    }
    let customer = in_id(&order["customer"]["id"]);
    if let (Some(own), Some(order_id), Some(customer)) = (&own, &order_id, customer) {
        let to = format!("{session}:Customer:customer_id={customer}");
        let id = format!("{order_id}-by-{customer}");
        graph.edge_of("PLACED_BY", own, &to, &id, []);
    }
    graph.handled(&event["span"], is_truthy(&order["note"]));
}
