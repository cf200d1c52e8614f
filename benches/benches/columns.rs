//! Results into columns: read as text that is borrowed, and by way of `serde_json::Value` into arrays of the same types. Both have to give
//! the same batches; then they take turns, a few milliseconds each. Beside them stands what makes the results.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;
use std::sync::Arc;

use retort::columns::arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    TimestampMicrosecondBuilder, make_builder,
};
use retort::columns::arrow_array::{ArrayRef, RecordBatch};
use retort::columns::arrow_schema::{DataType, Field};
use retort::columns::{EventOrigin, Rows, Table, TableKind, Tables};
use retort::sandbox::Sandbox;
use retort::{GraphSpec, Limits, plan, tables};
use retort_benches::dataset::inspected;
use retort_benches::turns::{self, Way};
use retort_benches::whole::{ALL, Set};
use serde_json::Value;

/// Events that each way takes at least.
const EVENTS: usize = 40_000;
/// Events of one turn, and of one batch.
const TURN: usize = 256;

const ORIGIN: EventOrigin<'static> = EventOrigin {
    input: None,
    line: 7,
    event_type: "order_snapshot",
    bundle: "0004f5f85a5a85dc76576c446c90532c099b79e8cfcb1642afd5dcd4a89d4e67",
};

/// Results of shop-orders, with events, as many as a turn has.
fn results(set: &Set) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let events = set.events().expect("the example's events are here");
    let plan = plan::parse(&set.plan().expect("the plan is there")).expect("the plan is valid");
    let sandbox = Sandbox::new(Limits::default()).expect("an engine");
    let mut runner = sandbox.load(&inspected(&plan)).expect("the module loads").runner();
    let mut results = Vec::new();
    let mut taken = Vec::new();
    for event in events.iter().cycle() {
        let outcome = runner.run(event).expect("an event that the plan takes");
        if !outcome.shape.is_empty() {
            results.push(outcome.json.to_vec());
            taken.push(event.clone());
        }
        if results.len() == TURN {
            break;
        }
    }
    (results, taken)
}

/// The tables of the example's graph.
fn example_tables() -> Arc<Tables> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop-orders/graph.yaml");
    let text = std::fs::read_to_string(path).expect("the example's graph is here");
    let graph = GraphSpec::parse(&text, path).expect("a graph spec");
    Arc::new(tables([&graph]).expect("one graph"))
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
                other => make_builder(other, TURN),
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
        let session = id.split(':').next().map_or(Value::Null, Value::from);
        for (name, builder) in self.names.iter().zip(&mut self.builders) {
            let properties = || item["properties"].as_array().into_iter().flatten();
            let value = match name.as_str() {
                "_labels" => {
                    return_list(builder, item["labels"].as_array().map_or(&[][..], |it| it))
                }
                "_span_ids" => return_list(builder, spans),
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
        let schema = retort::columns::arrow_schema::Schema::new(self.fields.clone());
        RecordBatch::try_new(Arc::new(schema), columns).expect("columns of one length")
    }
}

fn return_list(builder: &mut Box<dyn ArrayBuilder>, texts: &[Value]) -> Option<Value> {
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
        let at = value.as_str().and_then(|text| text.parse::<retort::jiff::Timestamp>().ok());
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
    // `cargo test --benches` runs benches with `--test`: that both ways agree is looked at all the same, and nothing is measured.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let set = ALL.iter().find(|set| set.name == "shop-orders").expect("a set by that name");
    let (results, events) = results(set);
    let tables = example_tables();
    let mut rows = Rows::new(Arc::clone(&tables));
    let add = |rows: &mut Rows| {
        for json in &results {
            black_box(rows.add(&ORIGIN, black_box(json)));
        }
        rows.take().expect("batches")
    };
    let mut hand: Vec<ByValue> = tables.list().iter().filter_map(ByValue::new).collect();
    let found = add(&mut rows);
    let by_hand = by_value(&mut hand, &results);
    let mut count = 0;
    for (table, batch) in &found {
        count += batch.num_rows();
        if let Some(other) = by_hand.get(*table) {
            assert_eq!(other.num_rows(), batch.num_rows());
            assert_eq!(other.columns(), batch.columns(), "{}", tables.list()[*table].name());
        }
    }
    if is_test {
        return;
    }
    let plan = plan::parse(&set.plan().expect("the plan is there")).expect("the plan is valid");
    let sandbox = Sandbox::new(Limits::default()).expect("an engine");
    let mut runner = sandbox.load(&inspected(&plan)).expect("the module loads").runner();
    let ways: Vec<Way<'_>> = vec![
        ("columns".to_owned(), Box::new(|| _ = black_box(add(&mut rows)))),
        ("by way of Value".to_owned(), Box::new(|| _ = black_box(by_value(&mut hand, &results)))),
        (
            "the extraction itself".to_owned(),
            Box::new(|| {
                for event in &events {
                    black_box(runner.run(black_box(event)).is_ok());
                }
            }),
        ),
    ];
    let bytes = results.iter().map(Vec::len).sum::<usize>() / results.len();
    let per_event = count as f64 / results.len() as f64;
    println!(
        "shop-orders: results of {bytes} bytes, {per_event:.1} rows each, batches of {TURN} events"
    );
    println!("{:24}{:>14}{:>12}{:>12}", "", "ns an event", "ns a row", "times");
    for way in turns::take(ways, EVENTS.div_ceil(TURN), TURN) {
        let row = way.median / per_event;
        println!("{:24}{:>14.0}{row:>12.0}{:>12.2}", way.name, way.median, way.ratio);
    }
}
