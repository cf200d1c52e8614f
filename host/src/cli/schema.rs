//! `retort schema`: the tables that results of a graph go to.

use retort::columns::{Column, ColumnType, Dialect, Table, TableKind};
use retort::tables;
use serde::Serialize;

use super::args::{GraphSource, JsonArg};
use super::error::CliError;
use super::{CommandResult, CommandVerdict, output};

/// Print the tables of a graph spec as SQL
///
/// They are those that `retort run --format parquet` fills: one for each entity and for each relationship, one of spans and one
/// of rejects.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SchemaArgs {
    #[command(flatten)]
    graph: GraphSource,
    /// Whose SQL
    #[arg(long, value_name = "DIALECT", value_enum, default_value_t)]
    dialect: DialectArg,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort schema --graph graph.yaml --dialect bigquery
  retort schema --graph graph.yaml | duckdb warehouse.db
  retort schema --graph graph.yaml --json";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "lowercase")]
enum DialectArg {
    BigQuery,
    #[default]
    DuckDb,
    Postgres,
    Spark,
}

impl DialectArg {
    fn dialect(self) -> Dialect {
        match self {
            Self::BigQuery => Dialect::BigQuery,
            Self::DuckDb => Dialect::DuckDb,
            Self::Postgres => Dialect::Postgres,
            Self::Spark => Dialect::Spark,
        }
    }
}

#[derive(Serialize)]
struct SchemaReport<'a> {
    tables: Vec<TableReport<'a>>,
}

#[derive(Serialize)]
struct TableReport<'a> {
    name: &'a str,
    kind: &'static str,
    /// The entity or the relationship.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<&'a str>,
    columns: Vec<ColumnReport<'a>>,
}

#[derive(Serialize)]
struct ColumnReport<'a> {
    name: &'a str,
    r#type: &'static str,
    nullable: bool,
    /// The column of the graph spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
}

impl<'a> TableReport<'a> {
    fn new(table: &'a Table) -> Self {
        let (kind, of) = match table.kind() {
            TableKind::Entity(name) => ("entity", Some(name.as_str())),
            TableKind::Relationship(name) => ("relationship", Some(name.as_str())),
            TableKind::Spans => ("spans", None),
            TableKind::Rejects => ("rejects", None),
        };
        let columns = table.columns().iter().map(ColumnReport::new).collect();
        Self { name: table.name(), kind, of, columns }
    }
}

impl<'a> ColumnReport<'a> {
    fn new(column: &'a Column) -> Self {
        let Column { name, column_type, is_nullable, property } = column;
        let r#type = match column_type {
            ColumnType::Text => "string",
            ColumnType::Texts => "list<string>",
            ColumnType::Integer => "int64",
            ColumnType::Double => "double",
            ColumnType::Boolean => "boolean",
            ColumnType::Bytes => "bytes",
            ColumnType::Date => "date",
            ColumnType::Timestamp => "timestamp",
        };
        Self { name, r#type, nullable: *is_nullable, property: property.as_deref() }
    }
}

pub(super) fn main(args: &SchemaArgs) -> CommandResult {
    let tables = tables([&args.graph.require()?]).map_err(CliError::refused)?;
    if args.output.json {
        let tables = tables.list().iter().map(TableReport::new).collect();
        output::print_json(&SchemaReport { tables })?;
    } else {
        let statements = args.dialect.dialect().create_tables(&tables);
        output::write(&statements)?;
    }
    Ok(CommandVerdict::Pass)
}
