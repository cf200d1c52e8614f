//! Arrays of a table, as they grow.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, ListBuilder,
    StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};

use crate::tables::{ColumnType, Table, text_element};
use crate::value::Cell;

/// A column that grows.
#[derive(Debug)]
enum ColumnBuilder {
    Text(StringBuilder),
    Texts(ListBuilder<StringBuilder>),
    Integer(Int64Builder),
    Double(Float64Builder),
    Boolean(BooleanBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
}

/// What a row has in a column.
#[derive(Clone, Copy)]
pub(crate) enum Put<'a> {
    Null,
    Text(&'a str),
    Texts(&'a [&'a str]),
    Integer(i64),
    Cell(&'a Cell<'a>),
}

impl ColumnBuilder {
    fn new(column_type: ColumnType) -> Self {
        match column_type {
            // A graph may have tens of thousands of columns, of which most stay empty: nothing is reserved for them.
            ColumnType::Text => Self::Text(StringBuilder::with_capacity(0, 0)),
            ColumnType::Texts => {
                let texts = StringBuilder::with_capacity(0, 0);
                Self::Texts(ListBuilder::with_capacity(texts, 0).with_field(text_element()))
            }
            ColumnType::Integer => Self::Integer(Int64Builder::with_capacity(0)),
            ColumnType::Double => Self::Double(Float64Builder::with_capacity(0)),
            ColumnType::Boolean => Self::Boolean(BooleanBuilder::with_capacity(0)),
            ColumnType::Bytes => Self::Bytes(BinaryBuilder::with_capacity(0, 0)),
            ColumnType::Date => Self::Date(Date32Builder::with_capacity(0)),
            ColumnType::Timestamp => {
                let moments = TimestampMicrosecondBuilder::with_capacity(0);
                Self::Timestamp(moments.with_timezone("UTC"))
            }
        }
    }

    /// Adds what is of the column's type; anything else is null.
    fn put(&mut self, put: Put<'_>) {
        match (self, put) {
            (Self::Text(it), Put::Text(text)) => it.append_value(text),
            (Self::Text(it), Put::Cell(Cell::Text(text))) => it.append_value(text),
            (Self::Text(it), _) => it.append_null(),
            (Self::Texts(it), Put::Texts(texts)) => {
                texts.iter().for_each(|text| it.values().append_value(text));
                it.append(true);
            }
            (Self::Texts(it), _) => it.append(false),
            (Self::Integer(it), Put::Integer(value) | Put::Cell(&Cell::Integer(value))) => {
                it.append_value(value);
            }
            (Self::Integer(it), _) => it.append_null(),
            (Self::Double(it), Put::Cell(&Cell::Double(value))) => it.append_value(value),
            (Self::Double(it), _) => it.append_null(),
            (Self::Boolean(it), Put::Cell(&Cell::Boolean(value))) => it.append_value(value),
            (Self::Boolean(it), _) => it.append_null(),
            (Self::Bytes(it), Put::Cell(Cell::Bytes(bytes))) => it.append_value(bytes),
            (Self::Bytes(it), _) => it.append_null(),
            (Self::Date(it), Put::Cell(&Cell::Date(days))) => it.append_value(days),
            (Self::Date(it), _) => it.append_null(),
            (Self::Timestamp(it), Put::Cell(&Cell::Timestamp(at))) => it.append_value(at),
            (Self::Timestamp(it), _) => it.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(it) => Arc::new(it.finish()),
            Self::Texts(it) => Arc::new(it.finish()),
            Self::Integer(it) => Arc::new(it.finish()),
            Self::Double(it) => Arc::new(it.finish()),
            Self::Boolean(it) => Arc::new(it.finish()),
            Self::Bytes(it) => Arc::new(it.finish()),
            Self::Date(it) => Arc::new(it.finish()),
            Self::Timestamp(it) => Arc::new(it.finish()),
        }
    }
}

/// A table that grows.
#[derive(Debug)]
pub(crate) struct TableBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

impl TableBuilder {
    pub(crate) fn new(table: &Table) -> Self {
        let columns = table.columns().iter().map(|it| ColumnBuilder::new(it.column_type)).collect();
        Self { schema: table.schema(), columns, rows: 0 }
    }

    /// Adds a row, which has something for each column.
    pub(crate) fn row<'a>(&mut self, row: impl IntoIterator<Item = Put<'a>>) {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            column.put(row.next().unwrap_or(Put::Null));
        }
        self.rows += 1;
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// What was added since.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let columns = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}
