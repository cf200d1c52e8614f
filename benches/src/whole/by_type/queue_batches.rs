//! Orders out of a queue.

use jiff::Timestamp;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive as _;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{integer, json, sorted, text, time, written};

static MESSAGE: Entity = Entity { name: "Message", key: &[":message_id="] };
static ORDER: Entity = Entity { name: "Order", key: &[":order_id="] };

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    session_id: Key<'a>,
    #[serde(borrow, rename = "Records")]
    records: List<Object<Record<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow)]
    message_id: Key<'a>,
    #[serde(borrow)]
    body: Text<'a>,
    #[serde(borrow)]
    attributes: Object<Attributes<'a>>,
    #[serde(borrow)]
    message_attributes: Object<MessageAttributes<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Attributes<'a> {
    #[serde(borrow)]
    sent_timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    approximate_first_receive_timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    approximate_receive_count: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageAttributes<'a> {
    #[serde(borrow)]
    tenant: Object<Attribute<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attribute<'a> {
    #[serde(borrow)]
    string_value: Option<&'a RawValue>,
}

/// What a message carries, or a topic around that.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Body<'a> {
    #[serde(borrow, rename = "TopicArn")]
    topic: Text<'a>,
    #[serde(borrow, rename = "Message")]
    message: Text<'a>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    order: Object<Order<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Order<'a> {
    #[serde(borrow)]
    id: Key<'a>,
    #[serde(borrow)]
    customer: Text<'a>,
    #[serde(borrow)]
    placed: Option<&'a RawValue>,
    #[serde(borrow)]
    coupon: Text<'a>,
    #[serde(borrow)]
    items: Option<List<Object<Item<'a>>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item<'a> {
    #[serde(borrow)]
    sku: Text<'a>,
    #[serde(borrow)]
    price: Option<&'a RawValue>,
    #[serde(borrow)]
    quantity: Option<&'a RawValue>,
    #[serde(borrow)]
    tags: List<Text<'a>>,
}

pub(super) fn extract(event: &[u8], out: &mut Vec<u8>) -> bool {
    let Ok(event) = serde_json::from_slice::<Event<'_>>(event) else { return false };
    // JSON in a text, and once more in a text of that: what is made of it borrows from these.
    let bodies: Vec<(&Record<'_>, Option<Object<Body<'_>>>)> =
        event.records.objects().map(|record| (record, read(&record.body))).collect();
    let topic = |body: &Option<Object<Body<'_>>>| {
        body.as_ref().and_then(Object::get).is_some_and(|it| it.topic.get().is_some())
    };
    let wrapped: Vec<Option<Object<Body<'_>>>> = bodies
        .iter()
        .map(|(_, body)| {
            body.as_ref()
                .and_then(Object::get)
                .filter(|_| topic(body))
                .and_then(|it| read(&it.message))
        })
        .collect();
    let mut graph = Graph::default();
    if event.event_type.is("queue.batch") {
        let session = event.session_id.text().unwrap_or_default();
        for ((record, body), wrapped) in bodies.iter().zip(&wrapped) {
            let carried = if topic(body) { wrapped } else { body };
            let topic = body.as_ref().and_then(|body| body.get()?.topic.get());
            add(record, topic, carried.as_ref(), session, &mut graph);
        }
    }
    super::write(&graph, out)
}

fn read<'a>(written: &'a Text<'_>) -> Option<Object<Body<'a>>> {
    serde_json::from_str(written.get()?).ok()
}

fn add<'a>(
    record: &'a Record<'_>,
    topic: Option<&'a str>,
    carried: Option<&'a Object<Body<'_>>>,
    session: &'a str,
    graph: &mut Graph<'a>,
) {
    let of = record.attributes.get();
    let sent = of.and_then(|it| integer(it.sent_timestamp));
    let first = of.and_then(|it| integer(it.approximate_first_receive_timestamp));
    let sent_at = sent.and_then(|sent| Timestamp::from_millisecond(sent).ok());
    let waited = sent.zip(first).map(|(sent, first)| (first - sent) as f64 / 1e3);
    let received = of.and_then(|it| integer(it.approximate_receive_count));
    let tenant = record.message_attributes.get().and_then(|it| it.tenant.get()?.string_value);
    let message = record.message_id.text().map(|own| Id::new(session, &MESSAGE, [own]));
    if let Some(message) = message {
        let properties = [
            ("message_id", record.message_id.json()),
            ("sent_at", sent_at.map(Scalar::Time)),
            ("received", received.map(Scalar::Integer)),
            ("waited_s", waited.map(Scalar::Double)),
            ("topic", text(topic.and_then(|topic| topic.rsplit(':').next()))),
            ("tenant", json(tenant)),
            ("readable", Some(Scalar::Boolean(carried.is_some()))),
        ];
        graph.node(message, properties);
    }
    let order = carried.and_then(|carried| add_order(carried.get()?, session, graph));
    if let (Some(message), Some(order)) = (message, order) {
        graph.edge("CARRIED", message, order, []);
    }
}

fn add_order<'a>(carried: &'a Body<'_>, session: &'a str, graph: &mut Graph<'a>) -> Option<Id<'a>> {
    let order = carried.order.get()?;
    let id = Id::new(session, &ORDER, [order.id.text()?]);
    let items = order.items.as_ref();
    let each = || items.into_iter().flat_map(List::objects);
    let mut total = Decimal::ZERO;
    let mut dearest: Option<(Decimal, &Item<'_>)> = None;
    for item in each() {
        let price = decimal(item.price)?;
        total += price * decimal(item.quantity).unwrap_or(Decimal::ONE);
        if dearest.is_none_or(|(most, _)| price > most) {
            dearest = Some((price, item));
        }
    }
    let articles = items.map(|_| sorted(each().filter_map(|it| it.sku.get()), ","));
    let tags = each().flat_map(|item| item.tags.0.iter().filter_map(Text::get));
    let tags = items.map(|_| sorted(tags, ","));
    let placed = integer(order.placed).and_then(|seconds| Timestamp::from_second(seconds).ok());
    let properties = [
        ("order_id", order.id.json()),
        ("kind", text(carried.kind.get().and_then(|kind| kind.rsplit('.').next()))),
        ("customer", text(order.customer.get())),
        ("placed_at", placed.map(Scalar::Time).or_else(|| time(order.placed))),
        ("items", Some(Scalar::Integer(items.map_or(0, |items| items.0.len()) as i64))),
        ("total", total.to_f64().map(Scalar::Double)),
        ("articles", articles.map(Scalar::Made)),
        ("dearest", text(dearest.and_then(|(_, item)| item.sku.get()))),
        ("tags", tags.map(Scalar::Made)),
        ("coupon", order.coupon.get().map(|coupon| Scalar::Made(coupon.to_uppercase()))),
    ];
    graph.node(id, properties);
    Some(id)
}

/// A number, as such or as text, to the digit.
fn decimal(value: Option<&RawValue>) -> Option<Decimal> {
    written(value?).parse().ok()
}
