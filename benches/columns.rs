//! Results into columns: read as text that is borrowed, and by way of `serde_json::Value` into arrays of the same types. The results are those
//! of examples/shop-orders; both ways have to give the same batches before anything is measured.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, Throughput};
use retort_columns::arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder, make_builder,
};
use retort_columns::arrow_array::{ArrayRef, RecordBatch};
use retort_columns::arrow_schema::{DataType, Field, Schema};
use retort_columns::{
    Entity, EventOrigin, Graph, Property, Relationship, Rows, Table, TableKind, Tables, ValueType,
};
use serde_json::Value;
use serde_json::value::RawValue;

/// Results of one batch.
const BATCH: usize = 256;

const ORIGIN: EventOrigin<'static> = EventOrigin {
    input: None,
    line: 7,
    event_type: "order.placed",
    bundle: "0004f5f85a5a85dc76576c446c90532c099b79e8cfcb1642afd5dcd4a89d4e67",
};

/// A line of results.
#[derive(serde::Deserialize)]
struct Line {
    result: Box<RawValue>,
}

/// As many results as a batch has.
fn results() -> Vec<Vec<u8>> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop-orders/results.ndjson");
    let text = std::fs::read_to_string(path).expect("the example's results are here");
    let lines: Vec<Line> =
        text.lines().map(|it| serde_json::from_str(it).expect("a line")).collect();
    let results = lines.iter().cycle().take(BATCH);
    results.map(|line| line.result.get().as_bytes().to_vec()).collect()
}

/// The tables of the example's graph.
fn example_tables() -> Arc<Tables> {
    use ValueType::{Double, Integer, Text, Timestamp};
    let properties = |list: &[(&str, ValueType)]| -> Vec<Property> {
        let property = |(name, value_type): &(&str, ValueType)| Property {
            name: (*name).to_owned(),
            column: (*name).to_owned(),
            value_type: *value_type,
        };
        list.iter().map(property).collect()
    };
    let entity = |name: &str, keys: &[&str], list: &[(&str, ValueType)]| Entity {
        name: name.to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        properties: properties(list),
    };
    let relationship = |name: &str, list: &[(&str, ValueType)]| Relationship {
        name: name.to_owned(),
        from_entity: "Order".to_owned(),
        properties: properties(list),
    };
    let order = [
        ("order_id", Text),
        ("state", Text),
        ("currency", Text),
        ("total", Double),
        ("placed_at", Timestamp),
        ("campaign", Text),
        ("payment_method", Text),
    ];
    let line = [
        ("order_id", Text),
        ("line_no", Integer),
        ("article", Text),
        ("quantity", Integer),
        ("price", Double),
        ("label", Text),
    ];
    let parcel = [("tracking_no", Text), ("carrier", Text), ("weight_g", Integer)];
    let graph = Graph {
        entities: vec![
            entity("Order", &["order_id"], &order),
            entity("Line", &["order_id", "line_no"], &line),
            entity("Parcel", &["tracking_no"], &parcel),
            entity("Customer", &["customer_id"], &[("customer_id", Integer)]),
        ],
        relationships: vec![
            relationship("HAS_LINE", &[]),
            relationship("SENT_IN", &[("shipment_no", Integer)]),
            relationship("PLACED_BY", &[]),
        ],
    };
    Arc::new(Tables::new([&graph]).expect("one graph"))
}

/// Arrays of a table, filled from `Value`s.
struct ByValue {
    entity: String,
    names: Vec<String>,
    fields: Vec<Arc<Field>>,
    builders: Vec<Box<dyn ArrayBuilder>>,
}

impl ByValue {
    fn new(table: &Table) -> Option<Self> {
        let (TableKind::Entity(entity) | TableKind::Relationship(entity)) = table.kind() else {
            return None;
        };
        let schema = table.schema();
        let builder = |field: &Arc<Field>| -> Box<dyn ArrayBuilder> {
            match field.data_type() {
                DataType::List(element) => {
                    Box::new(ListBuilder::new(StringBuilder::new()).with_field(Arc::clone(element)))
                }
                other => make_builder(other, BATCH),
            }
        };
        Some(Self {
            entity: entity.clone(),
            names: table.columns().iter().map(|column| column.name.clone()).collect(),
            fields: schema.fields().iter().cloned().collect(),
            builders: schema.fields().iter().map(builder).collect(),
        })
    }

    fn push(&mut self, item: &Value, spans: &[Value]) {
        let id = item["node_id"].as_str().or(item["from_node_id"].as_str()).unwrap_or_default();
        // A session may hold colons as well; all edges of the example leave an order.
        let from = if item["node_id"].is_string() { self.entity.as_str() } else { "Order" };
        let session = id.rfind(&format!(":{from}:")).and_then(|at| id.get(..at));
        let session = session.map_or(Value::Null, Value::from);
        for (name, builder) in self.names.iter().zip(&mut self.builders) {
            let properties = || item["properties"].as_array().into_iter().flatten();
            let value = match name.as_str() {
                "_labels" => {
                    append_list(builder, item["labels"].as_array().map_or(&[][..], |it| it))
                }
                "_span_ids" => append_list(builder, spans),
                "_session" => Some(session.clone()),
                "_event_type" => Some(ORIGIN.event_type.into()),
                "_bundle" => Some(ORIGIN.bundle.into()),
                "_input" => Some(Value::Null),
                "_line" => Some(ORIGIN.line.into()),
                own if own.starts_with('_') => Some(item[&own[1..]].clone()),
                own => Some(
                    properties()
                        .find(|it| it["name"] == own)
                        .map_or(Value::Null, |it| it["value"].clone()),
                ),
            };
            if let Some(value) = value {
                append(builder, &value);
            }
        }
    }

    fn finish(&mut self) -> RecordBatch {
        let columns: Vec<ArrayRef> = self.builders.iter_mut().map(|it| it.finish()).collect();
        let schema = Schema::new(self.fields.clone());
        RecordBatch::try_new(Arc::new(schema), columns).expect("columns of one length")
    }
}

fn append_list(builder: &mut Box<dyn ArrayBuilder>, texts: &[Value]) -> Option<Value> {
    if let Some(list) = builder.as_any_mut().downcast_mut::<ListBuilder<StringBuilder>>() {
        texts.iter().for_each(|text| list.values().append_option(text.as_str()));
        list.append(true);
    }
    None
}

fn append(builder: &mut Box<dyn ArrayBuilder>, value: &Value) {
    let builder = builder.as_any_mut();
    if let Some(it) = builder.downcast_mut::<StringBuilder>() {
        it.append_option(value.as_str());
    } else if let Some(it) = builder.downcast_mut::<Int64Builder>() {
        it.append_option(value.as_i64());
    } else if let Some(it) = builder.downcast_mut::<Float64Builder>() {
        it.append_option(value.as_f64());
    } else if let Some(it) = builder.downcast_mut::<BooleanBuilder>() {
        it.append_option(value.as_bool());
    } else if let Some(it) = builder.downcast_mut::<TimestampMicrosecondBuilder>() {
        let at = value.as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
        it.append_option(at.map(|at| at.as_microsecond()));
    }
}

fn by_value(tables: &mut [ByValue], results: &[Vec<u8>]) -> Vec<RecordBatch> {
    for json in results {
        let result: Value = serde_json::from_slice(json).expect("a result");
        let list = |name: &str| result[name].as_array().cloned().unwrap_or_default();
        let spans = [list("fully_handled_span_ids"), list("partially_handled_span_ids")].concat();
        for (items, kind) in [("nodes", "entity_name"), ("edges", "relationship_name")] {
            for item in result[items].as_array().into_iter().flatten() {
                let found = tables.iter_mut().find(|table| item[kind] == table.entity.as_str());
                if let Some(table) = found {
                    table.push(item, &spans);
                }
            }
        }
    }
    tables.iter_mut().map(ByValue::finish).collect()
}

fn main() {
    let results = results();
    let tables = example_tables();
    let mut rows = Rows::new(Arc::clone(&tables));
    let add = |rows: &mut Rows| {
        for json in &results {
            assert!(rows.add(&ORIGIN, black_box(json)).counts.is_empty(), "what doesn't fit");
        }
        rows.take().expect("batches")
    };
    let mut hand: Vec<ByValue> = tables.list().iter().filter_map(ByValue::new).collect();
    let by_hand = by_value(&mut hand, &results);
    let mut count = 0;
    for (table, batch) in add(&mut rows) {
        count += batch.num_rows();
        if let Some(other) = by_hand.get(table) {
            assert_eq!(other.columns(), batch.columns(), "{}", tables.list()[table].name());
        }
    }

    let mut criterion = Criterion::default().configure_from_args();
    for (unit, elements) in [("an event", BATCH), ("a row", count)] {
        let mut group = criterion.benchmark_group(format!("{elements} x {unit}"));
        group.throughput(Throughput::Elements(elements as u64));
        group.bench_function("columns", |bencher| bencher.iter(|| add(&mut rows)));
        group.bench_function("by way of Value", |bencher| {
            bencher.iter(|| by_value(&mut hand, &results));
        });
        group.finish();
    }
    criterion.final_summary();
}
