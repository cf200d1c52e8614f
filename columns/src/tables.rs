//! The tables of a graph: their names, columns and types.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use foldhash::fast::RandomState;
use thiserror::Error;

use crate::graph::{Entity, Graph, Property, Relationship, ValueType};
use crate::names::Names;

/// The table of claims on spans.
pub const SPANS: &str = "retort_spans";
/// The table of events, and of parts of results, that are in no other table.
pub const REJECTS: &str = "retort_rejects";

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// UTF-8.
    Text,
    /// A list of UTF-8, without nulls in it.
    Texts,
    /// An integer of 64 bits.
    Integer,
    /// A float of 64 bits.
    Double,
    /// `true` or `false`.
    Boolean,
    /// Bytes.
    Bytes,
    /// A day.
    Date,
    /// Microseconds in UTC.
    Timestamp,
}

impl ColumnType {
    /// As Arrow has it.
    #[must_use]
    pub fn arrow(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Texts => DataType::List(Arc::new(text_element())),
            Self::Integer => DataType::Int64,
            Self::Double => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Bytes => DataType::Binary,
            Self::Date => DataType::Date32,
            Self::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        }
    }

    fn of(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Text | ValueType::Json => Self::Text,
            ValueType::Bytes => Self::Bytes,
            ValueType::Integer => Self::Integer,
            ValueType::Double => Self::Double,
            ValueType::Boolean => Self::Boolean,
            ValueType::Date => Self::Date,
            ValueType::Timestamp => Self::Timestamp,
        }
    }
}

/// What a list of texts is a list of.
pub(crate) fn text_element() -> Field {
    Field::new("element", DataType::Utf8, false)
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub column_type: ColumnType,
    /// Whether a row may have nothing in it.
    pub is_nullable: bool,
    /// The property that it is for: its column in the graph.
    pub property: Option<String>,
}

/// What the rows of a table are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// Nodes of an entity.
    Entity(String),
    /// Edges of a relationship.
    Relationship(String),
    /// Claims on spans.
    Spans,
    /// What was rejected.
    Rejects,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    name: String,
    kind: TableKind,
    columns: Vec<Column>,
    schema: SchemaRef,
    pub(crate) properties: PropertyColumns,
}

/// Which properties of a table there are, and how they are found.
#[derive(Clone, Debug, Default)]
pub(crate) struct PropertyColumns {
    /// In the order of their columns.
    pub(crate) list: Vec<PropertyColumn>,
    /// By what a name in a result means: a logical name first, else a column.
    by_name: HashMap<String, usize, RandomState>,
    /// Places of the keys, in the order in which an id names them.
    pub(crate) keys: Vec<usize>,
    /// Of an edge: the entity that it leaves.
    pub(crate) from_entity: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct PropertyColumn {
    pub(crate) name: String,
    pub(crate) column: String,
    pub(crate) value_type: ValueType,
}

impl PropertyColumns {
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

impl Table {
    /// Its name, which no other table has in any case.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its rows are.
    #[must_use]
    pub fn kind(&self) -> &TableKind {
        &self.kind
    }

    /// Its columns, in their order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Its schema in Arrow.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn new(
        name: String,
        kind: TableKind,
        columns: Vec<Column>,
        properties: PropertyColumns,
    ) -> Self {
        let field = |it: &Column| Field::new(&it.name, it.column_type.arrow(), it.is_nullable);
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        Self { name, kind, columns, schema, properties }
    }
}

/// That graphs can't share tables.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{kind} {name}: expected one meaning of {what} in all graphs, found {one} and {other}")]
pub struct TablesError {
    /// `entity` or `relationship`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// What differs.
    pub what: String,
    /// What it is in one graph.
    pub one: String,
    /// What it is in a later one.
    pub other: String,
}

impl TablesError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "tables_conflict"
    }
}

/// The tables of one graph, or of several that agree.
///
/// Entities come first, in the order of the graph, then relationships, [`SPANS`] and [`REJECTS`].
#[derive(Clone, Debug)]
pub struct Tables {
    list: Vec<Table>,
    entities: HashMap<String, usize, RandomState>,
    relationships: HashMap<String, usize, RandomState>,
}

impl Tables {
    /// The tables of these graphs. What several of them have is one table, with the columns of all of them.
    ///
    /// # Errors
    /// [`TablesError`], where graphs mean different things by one name.
    pub fn new<'g>(graphs: impl IntoIterator<Item = &'g Graph>) -> Result<Self, TablesError> {
        let mut merged = Graph::default();
        for graph in graphs {
            merge(&mut merged, graph)?;
        }
        let mut names = Names::without([SPANS, REJECTS]);
        let mut tables = Self {
            list: Vec::new(),
            entities: HashMap::default(),
            relationships: HashMap::default(),
        };
        for entity in &merged.entities {
            tables.entities.insert(entity.name.clone(), tables.list.len());
            tables.list.push(entity_table(names.give(&entity.name), entity));
        }
        for relationship in &merged.relationships {
            tables.relationships.insert(relationship.name.clone(), tables.list.len());
            tables.list.push(relationship_table(names.give(&relationship.name), relationship));
        }
        tables.list.push(spans_table());
        tables.list.push(rejects_table());
        Ok(tables)
    }

    /// All of them, in their order.
    #[must_use]
    pub fn list(&self) -> &[Table] {
        &self.list
    }

    /// The table of that name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&Table> {
        self.list.iter().find(|table| table.name == name)
    }

    /// The place of the table of an entity.
    pub(crate) fn entity(&self, name: &str) -> Option<usize> {
        self.entities.get(name).copied()
    }

    /// The place of the table of a relationship.
    pub(crate) fn relationship(&self, name: &str) -> Option<usize> {
        self.relationships.get(name).copied()
    }
}

const fn column(name: &'static str, column_type: ColumnType, is_nullable: bool) -> FixedColumn {
    FixedColumn { name, column_type, is_nullable }
}

/// A column that tables of a kind have, whatever the graph is.
struct FixedColumn {
    name: &'static str,
    column_type: ColumnType,
    is_nullable: bool,
}

impl FixedColumn {
    fn to_column(&self) -> Column {
        let Self { name, column_type, is_nullable } = *self;
        Column { name: name.to_owned(), column_type, is_nullable, property: None }
    }
}

/// What nodes begin with.
const NODE: [FixedColumn; 1] = [column("_node_id", ColumnType::Text, false)];

/// What edges begin with.
const EDGE: [FixedColumn; 3] = [
    column("_edge_id", ColumnType::Text, false),
    column("_from_node_id", ColumnType::Text, false),
    column("_to_node_id", ColumnType::Text, false),
];

const LABELS: FixedColumn = column("_labels", ColumnType::Texts, false);

/// Where nodes and edges are from, behind their properties.
const ORIGIN: [FixedColumn; 6] = [
    column("_session", ColumnType::Text, true),
    column("_span_ids", ColumnType::Texts, true),
    column("_event_type", ColumnType::Text, false),
    column("_bundle", ColumnType::Text, false),
    column("_input", ColumnType::Text, true),
    column("_line", ColumnType::Integer, false),
];

const SPAN: [FixedColumn; 6] = [
    column("span_id", ColumnType::Text, false),
    column("handled", ColumnType::Text, false),
    column("_event_type", ColumnType::Text, false),
    column("_bundle", ColumnType::Text, false),
    column("_input", ColumnType::Text, true),
    column("_line", ColumnType::Integer, false),
];

const REJECT: [FixedColumn; 8] = [
    column("scope", ColumnType::Text, false),
    column("code", ColumnType::Text, false),
    column("path", ColumnType::Text, true),
    column("message", ColumnType::Text, false),
    column("_event_type", ColumnType::Text, true),
    column("_bundle", ColumnType::Text, true),
    column("_input", ColumnType::Text, true),
    column("_line", ColumnType::Integer, false),
];

fn entity_table(name: String, entity: &Entity) -> Table {
    let mut properties = property_columns(&entity.properties);
    let place = |key: &String| entity.properties.iter().position(|it| it.column == *key);
    properties.keys = entity.keys.iter().filter_map(place).collect();
    let head: Vec<_> = NODE.iter().collect();
    let tail: Vec<_> = std::iter::once(&LABELS).chain(&ORIGIN).collect();
    let columns = columns(&head, &entity.properties, &properties.keys, &tail);
    Table::new(name, TableKind::Entity(entity.name.clone()), columns, properties)
}

fn relationship_table(name: String, relationship: &Relationship) -> Table {
    let mut properties = property_columns(&relationship.properties);
    properties.from_entity = Some(relationship.from_entity.clone());
    let (head, tail): (Vec<_>, Vec<_>) = (EDGE.iter().collect(), ORIGIN.iter().collect());
    let columns = columns(&head, &relationship.properties, &[], &tail);
    Table::new(name, TableKind::Relationship(relationship.name.clone()), columns, properties)
}

fn spans_table() -> Table {
    let columns = SPAN.iter().map(FixedColumn::to_column).collect();
    Table::new(SPANS.to_owned(), TableKind::Spans, columns, PropertyColumns::default())
}

fn rejects_table() -> Table {
    let columns = REJECT.iter().map(FixedColumn::to_column).collect();
    Table::new(REJECTS.to_owned(), TableKind::Rejects, columns, PropertyColumns::default())
}

fn columns(
    head: &[&FixedColumn],
    properties: &[Property],
    keys: &[usize],
    tail: &[&FixedColumn],
) -> Vec<Column> {
    // Their names are fixed; properties have what they leave.
    let mut names = Names::without(head.iter().chain(tail).map(|fixed| fixed.name));
    let property = |(place, it): (usize, &Property)| Column {
        name: names.give(&it.column),
        column_type: ColumnType::of(it.value_type),
        is_nullable: !keys.contains(&place),
        property: Some(it.column.clone()),
    };
    let properties: Vec<_> = properties.iter().enumerate().map(property).collect();
    let fixed =
        |list: &[&FixedColumn]| -> Vec<Column> { list.iter().map(|it| it.to_column()).collect() };
    [fixed(head), properties, fixed(tail)].concat()
}

fn property_columns(properties: &[Property]) -> PropertyColumns {
    let places = || properties.iter().enumerate();
    let mut by_name: HashMap<String, usize, RandomState> =
        places().map(|(place, it)| (it.column.clone(), place)).collect();
    by_name.extend(places().map(|(place, it)| (it.name.clone(), place)));
    let list = properties.iter().map(|Property { name, column, value_type }| PropertyColumn {
        name: name.clone(),
        column: column.clone(),
        value_type: *value_type,
    });
    PropertyColumns { list: list.collect(), by_name, ..PropertyColumns::default() }
}

fn merge(merged: &mut Graph, graph: &Graph) -> Result<(), TablesError> {
    for entity in &graph.entities {
        match merged.entities.iter_mut().find(|known| known.name == entity.name) {
            None => merged.entities.push(entity.clone()),
            Some(known) => {
                let of = Of { kind: "entity", name: &entity.name };
                of.same("the key", &known.keys.join(", "), &entity.keys.join(", "))?;
                of.merge(&mut known.properties, &entity.properties)?;
            }
        }
    }
    for relationship in &graph.relationships {
        match merged.relationships.iter_mut().find(|known| known.name == relationship.name) {
            None => merged.relationships.push(relationship.clone()),
            Some(known) => {
                let of = Of { kind: "relationship", name: &relationship.name };
                of.same("its first end", &known.from_entity, &relationship.from_entity)?;
                of.merge(&mut known.properties, &relationship.properties)?;
            }
        }
    }
    Ok(())
}

/// What is merged.
struct Of<'a> {
    kind: &'static str,
    name: &'a str,
}

impl Of<'_> {
    fn same(&self, what: &str, one: &str, other: &str) -> Result<(), TablesError> {
        if one == other {
            return Ok(());
        }
        let (kind, name) = (self.kind, self.name.to_owned());
        let (what, one, other) = (what.to_owned(), one.to_owned(), other.to_owned());
        Err(TablesError { kind, name, what, one, other })
    }

    fn merge(&self, known: &mut Vec<Property>, properties: &[Property]) -> Result<(), TablesError> {
        let mut by_column: HashMap<String, usize> =
            known.iter().enumerate().map(|(place, it)| (it.column.clone(), place)).collect();
        let mut by_name: HashMap<String, usize> =
            known.iter().enumerate().map(|(place, it)| (it.name.clone(), place)).collect();
        for property in properties {
            let what = format!("the property {}", property.column);
            if let Some(same) = by_column.get(&property.column).and_then(|&at| known.get(at)) {
                self.same(&what, &same.name, &property.name)?;
                let types = [same.value_type, property.value_type].map(|it| format!("{it:?}"));
                self.same(&what, &types[0], &types[1])?;
                continue;
            }
            // A name that means another column in another graph would be read as that one.
            let other = [by_name.get(&property.name), by_name.get(&property.column)];
            let other = other.into_iter().chain([by_column.get(&property.name)]).flatten().next();
            if let Some(other) = other.and_then(|&at| known.get(at)) {
                self.same(&what, &other.column, &property.column)?;
            }
            by_column.insert(property.column.clone(), known.len());
            by_name.insert(property.name.clone(), known.len());
            known.push(property.clone());
        }
        Ok(())
    }
}
