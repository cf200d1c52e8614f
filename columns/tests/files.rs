//! Sets of files.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use retort_columns::{
    Entity, EventOrigin, FileFormat, FileMark, FileOptions, FileSet, Graph, Property, Rows, Tables,
    ValueType,
};

fn tables() -> Arc<Tables> {
    let property = Property { name: "id".into(), column: "id".into(), value_type: ValueType::Text };
    let entity =
        Entity { name: "Order".into(), keys: vec!["id".into()], properties: vec![property] };
    let graph = Graph { entities: vec![entity], relationships: Vec::new() };
    Arc::new(Tables::new([&graph]).unwrap())
}

/// Orders of these numbers.
fn orders(numbers: std::ops::Range<i64>) -> RecordBatch {
    let mut rows = Rows::new(tables());
    for line in numbers {
        let json = format!(
            r#"{{"nodes":[{{"node_id":"s:Order:id={line}","entity_name":"Order","properties":[{{"name":"id","value":"{line}"}}]}}],"edges":[]}}"#
        );
        let origin = EventOrigin { input: None, line, event_type: "a", bundle: "b" };
        assert!(rows.add(&origin, json.as_bytes()).counts.is_empty());
    }
    rows.take().unwrap().remove(0).1
}

fn options(format: FileFormat, rows: u64) -> FileOptions {
    let mut options = FileOptions::new(format);
    options.rows = rows;
    options
}

fn files(root: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("Order"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Rows of the files that a reader sees.
fn rows(root: &Path) -> usize {
    let visible = |path: &PathBuf| !path.file_name().unwrap().to_str().unwrap().starts_with('.');
    let count = |path: PathBuf| -> usize {
        let file = File::open(&path).unwrap();
        if path.extension().unwrap() == "arrows" {
            let batches = StreamReader::try_new(file, None).unwrap();
            return batches.map(|batch| batch.unwrap().num_rows()).sum();
        }
        let batches = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        batches.map(|batch| batch.unwrap().num_rows()).sum()
    };
    files(root).into_iter().filter(visible).map(count).sum()
}

#[test]
fn files_are_ended_by_their_size_and_seen_when_they_are_whole() {
    for format in [FileFormat::Parquet, FileFormat::Arrow] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("t");
        let mut set = FileSet::create(&root, tables(), options(format, 10)).unwrap();
        set.write(0, &orders(0..6)).unwrap();
        assert_eq!(rows(&root), 0);
        set.write(0, &orders(6..12)).unwrap();
        assert_eq!(rows(&root), 12);
        set.write(0, &orders(12..13)).unwrap();
        assert_eq!(rows(&root), 12);
        set.finish().unwrap();
        set.publish().unwrap();
        assert_eq!((rows(&root), files(&root).len()), (13, 2));
        let empty = fs::read_dir(root.join("retort_spans")).unwrap().count();
        assert_eq!(empty, 1, "a table without a row has a file");
        drop(set);
        let again = FileSet::create(&root, tables(), options(format, 10)).unwrap_err();
        assert_eq!(again.code(), "out_not_empty");
    }
}

/// Whatever is left at any step is gone on from: what a mark counts is there, and nothing else is.
#[test]
fn a_mark_is_gone_on_from_wherever_it_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("t");
    let options = options(FileFormat::Parquet, 4);
    let resume = |mark: &FileMark| FileSet::resume(&root, tables(), options, mark);

    // Nothing is marked yet.
    let mut set = resume(&FileMark::new()).unwrap();
    set.write(0, &orders(0..5)).unwrap();
    set.write(0, &orders(5..6)).unwrap();
    assert_eq!((rows(&root), files(&root).len()), (0, 2));
    drop(set);
    let mut set = resume(&FileMark::new()).unwrap();
    assert_eq!(files(&root).len(), 0);

    // Marked, and not published.
    set.write(0, &orders(0..5)).unwrap();
    set.write(0, &orders(5..6)).unwrap();
    let mark = set.seal().unwrap();
    assert_eq!((rows(&root), mark["Order"]), (0, 2));
    set.write(0, &orders(6..7)).unwrap();
    drop(set);
    let mut set = resume(&mark).unwrap();
    assert_eq!((rows(&root), files(&root).len()), (6, 2));

    // Marked, and published in part.
    set.write(0, &orders(6..10)).unwrap();
    set.write(0, &orders(10..14)).unwrap();
    let mark = set.seal().unwrap();
    drop(set);
    let hidden = root.join("Order/.part-000002.parquet.new");
    fs::rename(hidden, root.join("Order/part-000002.parquet")).unwrap();
    let set = resume(&mark).unwrap();
    assert_eq!((rows(&root), files(&root).len()), (14, 4));

    // Somebody else is at work.
    assert_eq!(resume(&mark).unwrap_err().code(), "state_in_use");
    drop(set);

    // What was marked is gone; something else is there.
    fs::write(root.join("Order/part-000009.parquet"), b"").unwrap();
    assert_eq!(resume(&mark).unwrap_err().code(), "out_not_empty");
    fs::remove_file(root.join("Order/part-000009.parquet")).unwrap();
    fs::remove_file(root.join("Order/part-000003.parquet")).unwrap();
    let lost = resume(&FileMark::from([("Order".to_owned(), 4)])).unwrap_err();
    assert_eq!(lost.code(), "state_mismatch");
}
