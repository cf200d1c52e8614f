//! Results of random graph specs to columns and back.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use retort::columns::arrow_array::StructArray;
use retort::columns::{EventOrigin, EventTexts, Rows, TableKind, Tables};
use retort::graph::{Edge, Extraction, Node, Property};
use retort::{GraphSpec, tables};
use serde_json::{Value, json};

/// The types of properties, and one that no value is checked for.
const TYPES: [&str; 8] =
    ["string", "bytes", "int64", "double", "boolean", "date", "timestamp", "geography"];

/// A property: its type, and how its logical name, its column and the case of it are told apart.
type Shape = (usize, u8);

fn column(place: usize, (_, way): Shape) -> String {
    match way % 4 {
        0 => format!("p{place}"),
        // The same but for case, a name of the table itself, and one that isn't an identifier.
        1 => {
            if place.is_multiple_of(2) {
                format!("x{}", place / 2)
            } else {
                format!("X{}", place / 2)
            }
        }
        2 => format!("_line{}", "_".repeat(place)),
        _ => format!("p {place}"),
    }
}

/// A spec of these entities, and of a relationship from the first to the last.
fn spec(entities: &[Vec<Shape>], edge: &[Shape]) -> Value {
    let properties = |shapes: &[Shape]| -> Vec<Value> {
        let property = |(place, shape): (usize, &Shape)| {
            json!({"column": column(place, *shape),
            "logical_name": format!("l{place}"), "sdk_type": TYPES[shape.0]})
        };
        shapes.iter().enumerate().map(property).collect()
    };
    let name = |place: usize| format!("{}{}", if place == 0 { "e" } else { "E" }, place / 2);
    let entity = |(place, shapes): (usize, &Vec<Shape>)| {
        json!({"name": name(place),
        "key_columns": [column(0, shapes[0])], "properties": properties(shapes)})
    };
    let last = entities.len() - 1;
    json!({
        "entities": entities.iter().enumerate().map(entity).collect::<Vec<_>>(),
        "relationships": [{"name": "E0", "from_entity": name(0), "to_entity": name(last),
            "from_columns": [column(0, entities[0][0])],
            "to_columns": [{column(0, entities[0][0]): column(0, entities[last][0])}],
            "properties": properties(edge)}],
    })
}

fn value(of: &'static str) -> BoxedStrategy<Value> {
    match of {
        "string" => any::<String>().prop_map(Value::from).boxed(),
        "bytes" => prop::sample::select(&["", "AA==", "aGk=", "+/8=", "AAAA"][..])
            .prop_map(Value::from)
            .boxed(),
        "int64" => any::<i64>().prop_map(Value::from).boxed(),
        "double" => prop_oneof![
            any::<f64>().prop_filter_map("finite", |it| it.is_finite().then(|| Value::from(it))),
            (-(1_i64 << 53)..1 << 53).prop_map(Value::from),
        ]
        .boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "date" => (1..=9999, 1..=12, 1..=28)
            .prop_map(|(year, month, day)| format!("{year:04}-{month:02}-{day:02}").into())
            .boxed(),
        "timestamp" => (
            2..=9998,
            1..=12,
            0..24,
            0..1_000_000,
            prop::sample::select(&["", "Z", "+05:30", "-23:59"][..]),
        )
            .prop_map(|(year, month, hour, micros, offset)| {
                format!("{year:04}-{month:02}-28T{hour:02}:59:07.{micros:06}{offset}").into()
            })
            .boxed(),
        _ => {
            prop_oneof![any::<bool>().prop_map(Value::from), Just(json!({"a": [1, "\n"]}))].boxed()
        }
    }
}

/// Properties of these shapes: by the one name or the other, some left out but for the key, some null.
fn properties(shapes: &[Shape]) -> BoxedStrategy<Vec<Property>> {
    let of = |(place, shape): (usize, &Shape)| {
        let names = [column(place, *shape), format!("l{place}")];
        let value = value(TYPES[shape.0]);
        let value = if place == 0 {
            value
        } else {
            prop_oneof![4 => value, 1 => Just(Value::Null)].boxed()
        };
        let given = (prop::sample::select(names.to_vec()), value)
            .prop_map(|(name, value)| Property { name, value });
        if place == 0 { given.prop_map(Some).boxed() } else { prop::option::of(given).boxed() }
    };
    let all: Vec<_> = shapes.iter().enumerate().map(of).collect();
    all.prop_map(|given| given.into_iter().flatten().collect()).boxed()
}

fn case() -> impl Strategy<Value = (Value, Extraction)> {
    let shapes = |least| prop::collection::vec((0..TYPES.len(), any::<u8>()), least..5);
    (prop::collection::vec(shapes(1), 1..4), shapes(0)).prop_flat_map(|(entities, edge)| {
        let spec = spec(&entities, &edge);
        let names: Vec<String> = spec["entities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect();
        let nodes: Vec<_> = entities
            .iter()
            .zip(names)
            .map(|(shapes, name)| {
                let node = (
                    "[a-z:]{0,4}",
                    prop::collection::vec(any::<String>(), 0..3),
                    properties(shapes),
                );
                let node = node.prop_map(move |(session, labels, properties)| Node {
                    node_id: format!("{session}:{name}:k=1"),
                    entity_name: name.clone(),
                    labels,
                    properties,
                });
                prop::collection::vec(node, 0..4)
            })
            .collect();
        let edges =
            ("[a-c]", "[a-c]", properties_of_edge(&edge)).prop_map(|(from, to, properties)| Edge {
                edge_id: format!("{from}{to}"),
                relationship_name: "E0".to_owned(),
                from_node_id: from,
                to_node_id: to,
                properties,
            });
        let spans = || prop::collection::vec("[a-z]{1,3}", 0..3);
        (Just(spec), nodes, prop::collection::vec(edges, 0..3), spans(), spans()).prop_map(
            |(spec, nodes, edges, full, part)| {
                let result = Extraction {
                    nodes: nodes.concat(),
                    edges,
                    fully_handled_span_ids: full,
                    partially_handled_span_ids: part,
                };
                (spec, result)
            },
        )
    })
}

fn properties_of_edge(shapes: &[Shape]) -> BoxedStrategy<Vec<Property>> {
    properties(shapes)
}

/// Rows of each table as JSON objects.
fn rows_of(tables: &Tables, rows: &mut Rows) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new(); tables.list().len()];
    for (table, batch) in rows.take().unwrap() {
        assert_eq!(batch.schema(), tables.list()[table].schema());
        let texts = EventTexts::new(Arc::new(StructArray::from(batch)), "rows").unwrap();
        let mut buffer = Vec::new();
        for row in 0..texts.len() {
            all[table].push(serde_json::from_slice(texts.get(row, &mut buffer).unwrap()).unwrap());
        }
    }
    all
}

/// The result that rows are of, with properties by their columns.
fn back(tables: &Tables, all: &[Vec<Value>]) -> Extraction {
    let mut result = Extraction::default();
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    for (table, rows) in tables.list().iter().zip(all) {
        for row in rows {
            let properties = table.columns().iter().filter_map(|column| {
                let name = column.property.clone()?;
                let value = row[&column.name].clone();
                (!value.is_null()).then_some(Property { name, value })
            });
            let properties = properties.collect();
            match table.kind() {
                TableKind::Entity(name) => result.nodes.push(Node {
                    node_id: text(row, "_node_id"),
                    entity_name: name.clone(),
                    labels: serde_json::from_value(row["_labels"].clone()).unwrap(),
                    properties,
                }),
                TableKind::Relationship(name) => result.edges.push(Edge {
                    edge_id: text(row, "_edge_id"),
                    relationship_name: name.clone(),
                    from_node_id: text(row, "_from_node_id"),
                    to_node_id: text(row, "_to_node_id"),
                    properties,
                }),
                TableKind::Spans if row["handled"] == "fully" => {
                    result.fully_handled_span_ids.push(text(row, "span_id"));
                }
                TableKind::Spans => result.partially_handled_span_ids.push(text(row, "span_id")),
                TableKind::Rejects => panic!("{row}"),
            }
        }
    }
    result
}

/// A result as tables have it: nodes by their entities, properties by their columns and without null, what means the same written alike.
fn plain(spec: &GraphSpec, mut result: Extraction) -> Extraction {
    let sorted = |properties: &[retort::graph::PropertySpec], given: &[Property]| {
        let mut by_column = BTreeMap::new();
        for Property { name, value } in given.iter().filter(|it| !it.value.is_null()) {
            let found = properties.iter().position(|it| it.logical_name == *name);
            let place =
                found.or_else(|| properties.iter().position(|it| it.column == *name)).unwrap();
            let property = &properties[place];
            let value = match property.property_type.as_str() {
                "double" => value.as_f64().unwrap().into(),
                "timestamp" => at(value.as_str().unwrap()).into(),
                // What isn't checked is text: its JSON.
                "geography" if !value.is_string() => value.to_string().into(),
                _ => value.clone(),
            };
            by_column.insert(place, Property { name: property.column.clone(), value });
        }
        by_column.into_values().collect::<Vec<_>>()
    };
    for node in &mut result.nodes {
        node.properties =
            sorted(&spec.entity(&node.entity_name).unwrap().properties, &node.properties);
    }
    for edge in &mut result.edges {
        edge.properties = sorted(&spec.relationship("E0").unwrap().properties, &edge.properties);
    }
    let place = |node: &Node| spec.entities().iter().position(|it| it.name == node.entity_name);
    result.nodes.sort_by_key(place);
    result
}

/// Microseconds, by another reader than the one that is tried.
fn at(text: &str) -> i64 {
    let is_local = !text.ends_with('Z') && !text[11..].contains(['+', '-']);
    let text = if is_local { format!("{text}Z") } else { text.to_owned() };
    text.parse::<retort::jiff::Timestamp>().unwrap().as_microsecond()
}

proptest! {
    #[test]
    fn to_columns_and_back_is_the_identity((spec, result) in case()) {
        let graph = GraphSpec::parse(&spec.to_string(), "graph.json");
        // Columns may be the logical names of others, or one name.
        let Ok(graph) = graph else { return Ok(()) };
        let tables = Arc::new(tables([&graph]).unwrap());
        let mut rows = Rows::new(Arc::clone(&tables));
        let origin = EventOrigin { input: Some("in"), line: 7, event_type: "type", bundle: "b" };
        let json = serde_json::to_vec(&result).unwrap();
        let added = rows.add(&origin, &json);
        prop_assert_eq!(&added.faults, &[]);
        prop_assert_eq!(added.rows, result.nodes.len() + result.edges.len());
        let all = rows_of(&tables, &mut rows);
        for row in all.iter().flatten() {
            prop_assert_eq!((&row["_line"], &row["_input"], &row["_bundle"]), (&json!(7), &json!("in"), &json!("b")));
        }
        prop_assert_eq!(plain(&graph, back(&tables, &all)), plain(&graph, result));
    }
}
