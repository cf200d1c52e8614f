//! Orders out of a queue.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde_json::Value;

use super::{Graph, Scalar, id, in_id, integer, json, list, moment, moment_of, sorted, text};

pub(super) fn fill<'a>(event: &'a Value, graph: &mut Graph<'a>) -> Option<()> {
    if event["event_type"] != "queue.batch" {
        return None;
    }
    let session = in_id(&event["session_id"]).unwrap_or_default();
    for record in list(&event["Records"]) {
        let body = record["body"].as_str();
        let body = body.and_then(|body| serde_json::from_str::<Value>(body).ok());
        let topic = body.as_ref().and_then(|body| body["TopicArn"].as_str());
        let topic = topic.and_then(|topic| topic.rsplit(':').next()).map(str::to_owned);
        let carried = match (&topic, &body) {
            (Some(_), Some(body)) => {
                body["Message"].as_str().and_then(|it| serde_json::from_str(it).ok())
            }
            _ => body,
        };
        let of = &record["attributes"];
        let sent = integer(&of["SentTimestamp"]);
        let first = integer(&of["ApproximateFirstReceiveTimestamp"]);
        let waited = sent.zip(first).map(|(sent, first)| (first - sent) as f64 / 1e3);
        let tenant = &record["messageAttributes"]["tenant"]["stringValue"];
        let message = in_id(&record["messageId"])
            .map(|own| id(&session, "Message", format_args!("message_id={own}")));
        if let Some(message) = &message {
            let properties = [
                ("message_id", json(&record["messageId"])),
                ("sent_at", sent.and_then(|sent| moment(i128::from(sent) * 1_000_000))),
                ("received", integer(&of["ApproximateReceiveCount"]).map(Scalar::Integer)),
                ("waited_s", waited.map(Scalar::Double)),
                ("topic", topic.and_then(text)),
                ("tenant", json(tenant)),
                ("readable", Some(Scalar::Boolean(carried.is_some()))),
            ];
            graph.node(message.clone(), "Message", properties);
        }
        let order = carried.and_then(|carried| add(&carried, &session, graph));
        if let (Some(message), Some(order)) = (message, order) {
            graph.edge("CARRIED", &message, &order, []);
        }
    }
    Some(())
}

fn add(carried: &Value, session: &str, graph: &mut Graph<'_>) -> Option<String> {
    let order = &carried["order"];
    let own = in_id(&order["id"])?;
    let items = order["items"].as_array();
    let mut total = Decimal::ZERO;
    let mut dearest: Option<(Decimal, &Value)> = None;
    for item in items.into_iter().flatten() {
        let price = decimal(&item["price"])?;
        total += price * decimal(&item["quantity"]).unwrap_or(Decimal::ONE);
        if dearest.is_none_or(|(most, _)| price > most) {
            dearest = Some((price, &item["sku"]));
        }
    }
    let owned = |value: &Value| text(value.as_str()?.to_owned());
    let node = id(session, "Order", format_args!("order_id={own}"));
    let articles = items.map(|items| sorted(items.iter().filter_map(|it| it["sku"].as_str()), ","));
    let tags = items.map(|items| {
        let tags = items.iter().flat_map(|item| list(&item["tags"]));
        sorted(tags.filter_map(Value::as_str), ",")
    });
    let kind = carried["kind"].as_str().and_then(|kind| kind.rsplit('.').next());
    let placed = match integer(&order["placed"]) {
        Some(seconds) => moment(i128::from(seconds) * 1_000_000_000),
        None => moment_of(&order["placed"]),
    };
    let properties = [
        ("order_id", text(own.to_string())),
        ("kind", kind.and_then(|kind| text(kind.to_owned()))),
        ("customer", owned(&order["customer"])),
        ("placed_at", placed),
        ("items", Some(Scalar::Integer(items.map_or(0, Vec::len) as i64))),
        ("total", total.to_f64().map(Scalar::Double)),
        ("articles", articles.flatten()),
        ("dearest", dearest.and_then(|(_, sku)| owned(sku))),
        ("tags", tags.flatten()),
        ("coupon", order["coupon"].as_str().and_then(|it| text(it.to_uppercase()))),
    ];
    graph.node(node.clone(), "Order", properties);
    Some(node)
}

/// A number, as such or as text, to the digit.
fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
