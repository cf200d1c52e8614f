//! Tables as statements of warehouses.

use std::fmt::Write as _;

use crate::tables::{Column, ColumnType, Table, Tables};

/// A dialect of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// GoogleSQL of BigQuery.
    BigQuery,
    /// DuckDB.
    DuckDb,
    /// PostgreSQL.
    Postgres,
    /// Spark SQL.
    Spark,
}

impl Dialect {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::BigQuery, Self::DuckDb, Self::Postgres, Self::Spark];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BigQuery => "bigquery",
            Self::DuckDb => "duckdb",
            Self::Postgres => "postgres",
            Self::Spark => "spark",
        }
    }

    /// What a type is called.
    #[must_use]
    pub fn type_name(self, column_type: ColumnType) -> &'static str {
        let [bigquery, duckdb, postgres, spark] = match column_type {
            ColumnType::Text => ["STRING", "VARCHAR", "text", "STRING"],
            ColumnType::Texts => ["ARRAY<STRING>", "VARCHAR[]", "text[]", "ARRAY<STRING>"],
            ColumnType::Integer => ["INT64", "BIGINT", "bigint", "BIGINT"],
            ColumnType::Double => ["FLOAT64", "DOUBLE", "double precision", "DOUBLE"],
            ColumnType::Boolean => ["BOOL", "BOOLEAN", "boolean", "BOOLEAN"],
            ColumnType::Bytes => ["BYTES", "BLOB", "bytea", "BINARY"],
            ColumnType::Date => ["DATE", "DATE", "date", "DATE"],
            ColumnType::Timestamp => ["TIMESTAMP", "TIMESTAMPTZ", "timestamptz", "TIMESTAMP"],
        };
        match self {
            Self::BigQuery => bigquery,
            Self::DuckDb => duckdb,
            Self::Postgres => postgres,
            Self::Spark => spark,
        }
    }

    /// A name in its quotes, so that it may be a word of the language. Names of tables and columns have nothing to be escaped in them.
    #[must_use]
    pub fn quoted(self, name: &str) -> String {
        match self {
            Self::BigQuery | Self::Spark => format!("`{name}`"),
            Self::DuckDb | Self::Postgres => format!("\"{name}\""),
        }
    }

    /// The statement that makes a table.
    #[must_use]
    pub fn create_table(self, table: &Table) -> String {
        let mut text = format!("CREATE TABLE {} (", self.quoted(table.name()));
        for (place, column) in table.columns().iter().enumerate() {
            text.push_str(if place > 0 { ",\n  " } else { "\n  " });
            text.push_str(&self.column(column));
        }
        text.push_str("\n);\n");
        text
    }

    /// The statements that make all tables.
    #[must_use]
    pub fn create_tables(self, tables: &Tables) -> String {
        let statements = tables.list().iter().map(|table| self.create_table(table));
        statements.collect::<Vec<_>>().join("\n")
    }

    fn column(self, column: &Column) -> String {
        let Column { name, column_type, is_nullable, .. } = column;
        let mut text = format!("{} {}", self.quoted(name), self.type_name(*column_type));
        // An array of BigQuery is never null, and is told to be so by no statement.
        let is_said = self != Self::BigQuery || *column_type != ColumnType::Texts;
        if !is_nullable && is_said {
            // A string takes all that is written.
            let _ = write!(text, " NOT NULL");
        }
        text
    }
}
