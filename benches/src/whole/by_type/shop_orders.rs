//! Orders with their lines and parcels.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{double, is_truthy, json, text, time};

static ORDER: Entity = Entity { name: "Order", key: &["order_id"] };
static LINE: Entity = Entity { name: "Line", key: &["order_id", "line_no"] };
static PARCEL: Entity = Entity { name: "Parcel", key: &["tracking_no"] };
static CUSTOMER: Entity = Entity { name: "Customer", key: &["customer_id"] };

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    till: Object<Till<'a>>,
    #[serde(borrow)]
    span: Key<'a>,
    #[serde(borrow)]
    order: Object<Order<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Till<'a> {
    #[serde(borrow)]
    session: Key<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Order<'a> {
    #[serde(borrow)]
    id: Key<'a>,
    #[serde(borrow)]
    state: Text<'a>,
    #[serde(borrow)]
    currency: Option<&'a RawValue>,
    #[serde(borrow)]
    total: Option<&'a RawValue>,
    #[serde(borrow)]
    placed: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Text<'a>,
    #[serde(borrow)]
    payment: Text<'a>,
    #[serde(borrow)]
    customer: Object<Customer<'a>>,
    #[serde(borrow)]
    lines: List<Object<Line<'a>>>,
    #[serde(borrow)]
    shipments: List<Object<Shipment<'a>>>,
    #[serde(borrow)]
    note: Option<&'a RawValue>,
    #[serde(borrow)]
    test: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Customer<'a> {
    #[serde(borrow)]
    id: Key<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    no: Key<'a>,
    #[serde(borrow)]
    article: Object<Article<'a>>,
    #[serde(borrow)]
    quantity: Option<&'a RawValue>,
    #[serde(borrow)]
    price: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Article<'a> {
    #[serde(borrow)]
    sku: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Key<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Shipment<'a> {
    #[serde(borrow)]
    no: Option<&'a RawValue>,
    #[serde(borrow)]
    carrier: Text<'a>,
    #[serde(borrow)]
    parcels: List<Object<Parcel<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parcel<'a> {
    #[serde(borrow)]
    tracking: Key<'a>,
    #[serde(borrow)]
    weight_g: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payment<'a> {
    #[serde(borrow)]
    method: Option<&'a RawValue>,
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    let order = event.order.get()?;
    let is_wanted = event.event_type.is("order.placed") || event.event_type.is("order.changed");
    if !is_wanted || is_truthy(order.test) {
        return None;
    }
    let session = event.till.get().and_then(|till| till.session.text()).unwrap_or_default();
    let order_id = order.id.text();
    let own = order_id.map(|id| Id::new(session, &ORDER, [id]));
    if let Some(own) = own {
        let payment =
            order.payment.get().and_then(|it| serde_json::from_str::<Payment<'_>>(it).ok());
        let properties = [
            ("order_id", order.id.json()),
            ("state", order.state.get().map(|state| Scalar::Made(state.to_lowercase()))),
            ("currency", json(order.currency).or(text(Some("EUR")))),
            ("total", double(order.total)),
            ("placed_at", time(order.placed)),
            ("campaign", text(order.source.get().and_then(|it| it.split('/').nth(1)))),
            ("payment_method", json(payment.and_then(|payment| payment.method))),
        ];
        graph.node(own, properties);
    }
    for line in order.lines.objects() {
        add_line(line, session, order_id, own, graph);
    }
    for shipment in order.shipments.objects() {
        for parcel in shipment.parcels.objects() {
            let Some(tracking) = parcel.tracking.text() else { continue };
            let id = Id::new(session, &PARCEL, [tracking]);
            let carrier = shipment.carrier.get().map(|it| Scalar::Made(it.to_uppercase()));
            let properties = [
                ("tracking_no", parcel.tracking.json()),
                ("carrier", carrier),
                ("weight_g", json(parcel.weight_g)),
            ];
            graph.node(id, properties);
            if let Some(own) = own {
                graph.edge("SENT_IN", own, id, [("shipment_no", json(shipment.no))]);
            }
        }
    }
    let customer = order.customer.get().and_then(|customer| customer.id.text());
    if let (Some(own), Some(id), Some(customer)) = (own, order_id, customer) {
        let to = Id::new(session, &CUSTOMER, [customer]);
        graph.edge_of("PLACED_BY", own, to, format!("{id}-by-{customer}"));
    }
    graph.handled(event.span.span(), is_truthy(order.note));
    Some(())
}

fn add_line<'a>(
    line: &'a Line<'_>,
    session: &'a str,
    order_id: Option<&'a str>,
    order: Option<Id<'a>>,
    graph: &mut Graph<'a>,
) -> Option<()> {
    let (order_id, no) = (order_id?, line.no.text().filter(|_| is_truthy(line.quantity))?);
    let article = line.article.get();
    let name = article.and_then(|article| article.name.text());
    let id = Id::new(session, &LINE, [order_id, no]);
    let properties = [
        ("order_id", text(Some(order_id))),
        ("line_no", line.no.json()),
        ("article", article.and_then(|article| json(article.sku))),
        ("quantity", json(line.quantity)),
        ("price", double(line.price)),
        ("label", name.map(|name| Scalar::Made(format!("{order_id}/{no}: {name}")))),
    ];
    graph.node(id, properties);
    graph.edge("HAS_LINE", order?, id, []);
    Some(())
}
