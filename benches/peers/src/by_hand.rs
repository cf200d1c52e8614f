//! The extractions as a person would write them over a tree of JSON values, whichever library has built it. Those over serde_json are
//! Retort's benches'.

use std::borrow::Cow;
use std::fmt::Display;

use jiff::Timestamp;
use serde::Serialize;

/// A tree of JSON values.
pub trait Json: Serialize + Sized {
    fn member(&self, key: &str) -> Option<&Self>;
    fn text(&self) -> Option<&str>;
    fn integer(&self) -> Option<i64>;
    fn double(&self) -> Option<f64>;
    fn boolean(&self) -> Option<bool>;
    fn elements(&self) -> Option<&[Self]>;
    fn is_nothing(&self) -> bool;

    /// What is at the end of a path, if it isn't null.
    fn at<'a>(&self, path: impl IntoIterator<Item = &'a str>) -> Option<&Self> {
        let found = path.into_iter().try_fold(self, |value, key| value.member(key))?;
        (!found.is_nothing()).then_some(found)
    }

    /// A value as it stands in an id, if it may.
    fn in_id(&self) -> Option<Cow<'_, str>> {
        if let Some(text) = self.text() {
            return Some(text.into());
        }
        let integer = self.integer().map(|number| number.to_string());
        let double = || self.double().map(|number| number.to_string());
        integer.or_else(double).or_else(|| Some(self.boolean()?.to_string())).map(Cow::Owned)
    }

    /// Whether it is anything but null, false, zero and the empty text.
    fn is_truthy(&self) -> bool {
        self.boolean()
            .or_else(|| self.double().map(|number| number != 0.0))
            .or_else(|| self.text().map(|text| !text.is_empty()))
            .unwrap_or(!self.is_nothing())
    }
}

impl Json for simd_json::BorrowedValue<'_> {
    fn member(&self, key: &str) -> Option<&Self> {
        simd_json::prelude::ValueObjectAccess::get(self, key)
    }
    fn text(&self) -> Option<&str> {
        simd_json::prelude::ValueAsScalar::as_str(self)
    }
    fn integer(&self) -> Option<i64> {
        simd_json::prelude::ValueAsScalar::as_i64(self)
    }
    fn double(&self) -> Option<f64> {
        simd_json::prelude::ValueAsScalar::cast_f64(self)
    }
    fn boolean(&self) -> Option<bool> {
        simd_json::prelude::ValueAsScalar::as_bool(self)
    }
    fn elements(&self) -> Option<&[Self]> {
        simd_json::prelude::ValueAsArray::as_array(self).map(Vec::as_slice)
    }
    fn is_nothing(&self) -> bool {
        simd_json::prelude::TypedScalarValue::is_null(self)
    }
}

impl Json for sonic_rs::Value {
    fn member(&self, key: &str) -> Option<&Self> {
        sonic_rs::JsonValueTrait::get(self, key)
    }
    fn text(&self) -> Option<&str> {
        sonic_rs::JsonValueTrait::as_str(self)
    }
    fn integer(&self) -> Option<i64> {
        sonic_rs::JsonValueTrait::as_i64(self)
    }
    fn double(&self) -> Option<f64> {
        sonic_rs::JsonValueTrait::as_f64(self)
    }
    fn boolean(&self) -> Option<bool> {
        sonic_rs::JsonValueTrait::as_bool(self)
    }
    fn elements(&self) -> Option<&[Self]> {
        sonic_rs::JsonContainerTrait::as_array(self).map(|array| &**array)
    }
    fn is_nothing(&self) -> bool {
        sonic_rs::JsonValueTrait::is_null(self)
    }
}

/// What an event gives.
#[derive(Serialize)]
pub struct Graph<'a, V> {
    nodes: Vec<Node<'a, V>>,
    edges: Vec<Edge<'a, V>>,
    fully_handled_span_ids: Vec<&'a str>,
    partially_handled_span_ids: Vec<&'a str>,
}

#[derive(Serialize)]
struct Node<'a, V> {
    node_id: String,
    entity_name: &'a str,
    labels: [&'a str; 1],
    properties: Vec<Property<'a, V>>,
}

#[derive(Serialize)]
struct Edge<'a, V> {
    edge_id: String,
    relationship_name: &'a str,
    from_node_id: String,
    to_node_id: String,
    properties: Vec<Property<'a, V>>,
}

#[derive(Serialize)]
struct Property<'a, V> {
    name: &'a str,
    value: Cell<'a, V>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Cell<'a, V> {
    Text(Cow<'a, str>),
    Double(f64),
    Json(&'a V),
}

impl<V> Default for Graph<'_, V> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            fully_handled_span_ids: Vec::new(),
            partially_handled_span_ids: Vec::new(),
        }
    }
}

/// A property's name, and the path of its value.
type Field = (String, Vec<String>);

/// A plan of the short form as a table.
pub struct Table {
    event_type: String,
    entity: String,
    key: Field,
    fields: Vec<Field>,
}

impl Table {
    /// The table that a plan of the short form is.
    pub fn of(plan: &str) -> Option<Self> {
        let plan: serde_json::Value = serde_json::from_str(plan).ok()?;
        let field = |field: &serde_json::Value| -> Option<Field> {
            let path = field["source_path"].as_array()?.iter();
            let path = path.map(|step| Some(step.as_str()?.to_owned())).collect::<Option<_>>()?;
            Some((field["property_name"].as_str()?.to_owned(), path))
        };
        Some(Self {
            event_type: plan["event_type"].as_str()?.to_owned(),
            entity: plan["target_entity_name"].as_str()?.to_owned(),
            key: field(&plan["key_field"])?,
            fields: plan["property_fields"].as_array()?.iter().map(field).collect::<Option<_>>()?,
        })
    }

    /// Every path, the type's, session's and span's first, then the key's.
    pub fn paths(&self) -> impl Iterator<Item = Vec<&str>> {
        let fixed = ["event_type", "session_id", "span_id"].map(|name| vec![name]);
        let fields = std::iter::once(&self.key).chain(&self.fields);
        fixed.into_iter().chain(fields.map(|(_, path)| path.iter().map(String::as_str).collect()))
    }

    /// What an event gives.
    pub fn extract<'a, V: Json>(&'a self, event: &'a V) -> Graph<'a, V> {
        let text = |name| event.member(name).and_then(V::text).unwrap_or_default();
        let value = |(_, path): &Field| event.at(path.iter().map(String::as_str));
        let (event_type, session, span) = (text("event_type"), text("session_id"), text("span_id"));
        let fields = self.fields.iter().map(value);
        let Some(key) = value(&self.key) else { return Graph::default() };
        let Some(key_text) = key.in_id() else { return Graph::default() };
        self.fill(event_type, session, span, (key, key_text), fields)
    }

    /// The same of values that were looked up.
    pub fn fill<'a, V>(
        &'a self,
        event_type: &str,
        session: &str,
        span: &'a str,
        (key, key_text): (&'a V, Cow<'a, str>),
        fields: impl Iterator<Item = Option<&'a V>>,
    ) -> Graph<'a, V> {
        if event_type != self.event_type {
            return Graph::default();
        }
        let names = self.fields.iter().map(|(name, _)| name.as_str());
        let fields = names.zip(fields).filter_map(|(name, value)| Some((name, value?)));
        let properties = std::iter::once((self.key.0.as_str(), key)).chain(fields);
        Graph {
            nodes: vec![Node {
                node_id: format!("{session}:{}:{}={key_text}", self.entity, self.key.0),
                entity_name: &self.entity,
                labels: [&self.entity],
                properties: properties
                    .map(|(name, value)| Property { name, value: Cell::Json(value) })
                    .collect(),
            }],
            edges: Vec::new(),
            fully_handled_span_ids: if span.is_empty() { Vec::new() } else { vec![span] },
            partially_handled_span_ids: Vec::new(),
        }
    }
}

/// What an event of examples/shop-orders gives. `parse` reads the JSON that stands in a text of the event, and gives its `method`.
pub fn shop_orders<'a, V: Json>(
    event: &'a V,
    method: impl Fn(&str) -> Option<String>,
) -> Option<Graph<'a, V>> {
    let event_type = event.member("event_type")?.text()?;
    let order = event.member("order")?;
    let is_test = order.member("test").is_some_and(V::is_truthy);
    if !matches!(event_type, "order.placed" | "order.changed") || is_test {
        return None;
    }
    let session = event.at(["till", "session"])?.text()?;
    let key = order.at(["id"])?;
    let order_id = key.in_id()?;
    let order_node = format!("{session}:Order:order_id={order_id}");
    let member = |name| order.at([name]);
    let text = |name| member(name).and_then(V::text);

    let mut graph = Graph::default();
    let currency = member("currency").map_or(Cell::Text("EUR".into()), Cell::Json);
    graph.node(
        order_node.clone(),
        "Order",
        [
            ("order_id", Some(Cell::Json(key))),
            ("state", text("state").map(|state| Cell::Text(state.to_lowercase().into()))),
            ("currency", Some(currency)),
            ("total", member("total").and_then(double)),
            ("placed_at", member("placed").and_then(moment)),
            ("campaign", text("source").and_then(|source| cell(source.split('/').nth(1)?))),
            ("payment_method", text("payment").and_then(method).and_then(cell)),
        ],
    );

    for line in member("lines").and_then(V::elements).unwrap_or_default() {
        let Some(no) =
            line.at(["no"]).filter(|_| line.member("quantity").is_some_and(V::is_truthy))
        else {
            continue;
        };
        let Some(line_no) = no.in_id() else { continue };
        let label = |name| cell(format!("{order_id}/{line_no}: {name}"));
        let id = format!("{session}:Line:order_id={order_id},line_no={line_no}");
        graph.edge(&order_node, "HAS_LINE", &id, None, None);
        graph.node(
            id,
            "Line",
            [
                ("order_id", Some(Cell::Json(key))),
                ("line_no", Some(Cell::Json(no))),
                ("article", line.at(["article", "sku"]).map(Cell::Json)),
                ("quantity", line.at(["quantity"]).map(Cell::Json)),
                ("price", line.at(["price"]).and_then(double)),
                ("label", line.at(["article", "name"]).and_then(V::in_id).and_then(label)),
            ],
        );
    }

    for shipment in member("shipments").and_then(V::elements).unwrap_or_default() {
        let carrier = shipment.at(["carrier"]).and_then(V::text).map(str::to_uppercase);
        for parcel in shipment.at(["parcels"]).and_then(V::elements).unwrap_or_default() {
            let Some(tracking) = parcel.at(["tracking"]) else { continue };
            let Some(tracking_no) = tracking.in_id() else { continue };
            let id = format!("{session}:Parcel:tracking_no={tracking_no}");
            let shipment_no = shipment.at(["no"]).map(Cell::Json);
            graph.edge(&order_node, "SENT_IN", &id, None, Some(("shipment_no", shipment_no)));
            graph.node(
                id,
                "Parcel",
                [
                    ("tracking_no", Some(Cell::Json(tracking))),
                    ("carrier", carrier.clone().and_then(cell)),
                    ("weight_g", parcel.at(["weight_g"]).map(Cell::Json)),
                ],
            );
        }
    }

    if let Some(customer) = order.at(["customer", "id"]).and_then(V::in_id) {
        let to = format!("{session}:Customer:customer_id={customer}");
        let edge_id = format!("{order_id}-by-{customer}");
        graph.edge(&order_node, "PLACED_BY", &to, Some(edge_id), None);
    }
    if let Some(span) = event.at(["span"]).and_then(V::text) {
        let is_partial = member("note").is_some();
        let spans = if is_partial {
            &mut graph.partially_handled_span_ids
        } else {
            &mut graph.fully_handled_span_ids
        };
        spans.push(span);
    }
    Some(graph)
}

impl<'a, V> Graph<'a, V> {
    /// Adds a node, and of two with one id the later one counts.
    fn node<const N: usize>(
        &mut self,
        node_id: String,
        entity: &'a str,
        properties: [(&'a str, Option<Cell<'a, V>>); N],
    ) {
        self.nodes.retain(|node| node.node_id != node_id);
        let properties = given(properties);
        self.nodes.push(Node { node_id, entity_name: entity, labels: [entity], properties });
    }

    fn edge(
        &mut self,
        from: &str,
        relationship: &'a str,
        to: &str,
        edge_id: Option<String>,
        property: Option<(&'a str, Option<Cell<'a, V>>)>,
    ) {
        let edge_id = edge_id.unwrap_or_else(|| format!("{from}:{relationship}:{to}"));
        self.edges.retain(|edge| edge.edge_id != edge_id);
        self.edges.push(Edge {
            edge_id,
            relationship_name: relationship,
            from_node_id: from.to_owned(),
            to_node_id: to.to_owned(),
            properties: given(property),
        });
    }
}

fn given<'a, V>(
    properties: impl IntoIterator<Item = (&'a str, Option<Cell<'a, V>>)>,
) -> Vec<Property<'a, V>> {
    let given = |(name, value): (_, Option<_>)| Some(Property { name, value: value? });
    properties.into_iter().filter_map(given).collect()
}

fn cell<'a, V>(text: impl Into<Cow<'a, str>>) -> Option<Cell<'a, V>> {
    Some(Cell::Text(text.into()))
}

/// A number, as such or as text.
fn double<'a, V: Json>(value: &V) -> Option<Cell<'a, V>> {
    value.double().or_else(|| value.text()?.parse().ok()).map(Cell::Double)
}

/// Epoch seconds or milliseconds, or a time that is written out.
fn moment<'a, V: Json>(value: &V) -> Option<Cell<'a, V>> {
    let time = match value.integer() {
        Some(seconds) if seconds.abs() < 100_000_000_000 => Timestamp::from_second(seconds),
        Some(milliseconds) => Timestamp::from_millisecond(milliseconds),
        None => value.text()?.parse(),
    };
    written(time.ok()?)
}

fn written<'a, V>(time: impl Display) -> Option<Cell<'a, V>> {
    cell(time.to_string())
}
