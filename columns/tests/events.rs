//! Events out of columns.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;

use arrow_array::builder::{MapBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array,
    Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time64MicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use retort_columns::{EventTexts, EventsError, ParquetEvents};
use tempfile::NamedTempFile;

fn texts(array: ArrayRef) -> Vec<Option<String>> {
    let texts = EventTexts::new(array, "event").unwrap();
    let mut buffer = Vec::new();
    let mut text =
        |row| texts.get(row, &mut buffer).map(|it| String::from_utf8(it.to_vec()).unwrap());
    (0..texts.len()).map(&mut text).collect()
}

fn field(name: &str, array: &ArrayRef) -> Arc<Field> {
    Arc::new(Field::new(name, array.data_type().clone(), true))
}

#[test]
fn text_of_any_kind_is_taken_as_it_is() {
    let some = [Some("{\"a\":1}"), None, Some("[]")];
    let expected: Vec<Option<String>> = some.iter().map(|it| it.map(str::to_owned)).collect();
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    some.iter().for_each(|it| dictionary.append_option(*it));
    let arrays: [ArrayRef; 4] = [
        Arc::new(StringArray::from_iter(some)),
        Arc::new(StringViewArray::from_iter(some)),
        Arc::new(BinaryArray::from_iter(some)),
        Arc::new(dictionary.finish()),
    ];
    for array in arrays {
        assert_eq!(texts(array), expected);
    }
}

#[test]
fn a_struct_is_rendered_as_documented() {
    let mut map = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
    map.keys().append_value("k\"");
    map.values().append_null();
    map.append(true).unwrap();
    let inner: ArrayRef = Arc::new(StructArray::from(vec![(
        Arc::new(Field::new("x", DataType::Int64, true)),
        Arc::new(Int64Array::from(vec![None])) as ArrayRef,
    )]));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from(vec!["a\"\n"]))),
        ("int", Arc::new(Int64Array::from(vec![i64::MIN]))),
        ("uint", Arc::new(UInt64Array::from(vec![u64::MAX]))),
        ("f32", Arc::new(Float32Array::from(vec![0.1]))),
        ("f64", Arc::new(Float64Array::from(vec![1e300]))),
        ("nan", Arc::new(Float64Array::from(vec![f64::NAN]))),
        ("bool", Arc::new(BooleanArray::from(vec![true]))),
        ("bytes", Arc::new(BinaryArray::from(vec![&b"hi"[..]]))),
        (
            "decimal",
            Arc::new(Decimal128Array::from(vec![-12_345]).with_precision_and_scale(20, 2).unwrap()),
        ),
        ("date", Arc::new(Date32Array::from(vec![2_932_896]))),
        ("time", Arc::new(Time64MicrosecondArray::from(vec![55_257_250_000]))),
        (
            "at",
            Arc::new(TimestampMillisecondArray::from(vec![1_500]).with_timezone("Europe/Berlin")),
        ),
        ("local", Arc::new(TimestampNanosecondArray::from(vec![-1]))),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])])),
        ),
        ("map", Arc::new(map.finish())),
        ("in", inner),
    ];
    let fields = columns.into_iter().map(|(name, array)| (field(name, &array), array));
    let array = Arc::new(StructArray::from(fields.collect::<Vec<_>>()));
    let expected = r#"{"text":"a\"\n","int":-9223372036854775808,"uint":18446744073709551615,"f32":0.1,"f64":1e300,"nan":null,"bool":true,"bytes":"aGk=","decimal":-123.45,"date":"9999-12-31","time":"15:20:57.25","at":"1970-01-01T00:00:01.5Z","local":"1969-12-31T23:59:59.999999999","list":[1,null],"map":{"k\"":null},"in":{"x":null}}"#;
    let found = texts(array).remove(0).unwrap();
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(read(&found), read(expected));
    assert!(found.contains(r#""f32":0.1,"#) && found.contains(r#""decimal":-123.45,"#), "{found}");
}

#[test]
fn what_json_cannot_say_is_refused() {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let error = EventTexts::new(number, "n").unwrap_err();
    assert_eq!(error.code(), "column_unsupported");
    assert!(error.to_string().contains("column \"n\""), "{error}");
}

/// A file of events as text and as a struct, in row groups of three.
fn file(rows: i64, compression: Compression) -> NamedTempFile {
    let text = |row: i64| (row % 5 != 3).then(|| format!("{{\"n\":\n{row}}}"));
    let texts: ArrayRef = Arc::new(StringArray::from_iter((0..rows).map(text)));
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter(0..rows));
    let structs: ArrayRef = Arc::new(StructArray::from(vec![(field("n", &numbers), numbers)]));
    let fields = vec![field("event", &texts), field("struct", &structs)];
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![texts, structs]).unwrap();
    let properties = WriterProperties::builder();
    let properties = properties.set_max_row_group_row_count(Some(3)).set_compression(compression);
    let file = NamedTempFile::new().unwrap();
    let mut writer =
        ArrowWriter::try_new(file.reopen().unwrap(), schema, Some(properties.build())).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    file
}

fn lines(file: File, column: &str) -> Result<String, EventsError> {
    let mut lines = String::new();
    ParquetEvents::open(file, column)?.read_to_string(&mut lines)?;
    Ok(lines)
}

#[test]
fn a_row_is_a_line_however_the_file_is_packed() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(ZstdLevel::default()),
    ] {
        let file = file(7, compression);
        let found = lines(file.reopen().unwrap(), "event").unwrap();
        assert_eq!(
            found,
            "{\"n\": 0}\n{\"n\": 1}\n{\"n\": 2}\n\n{\"n\": 4}\n{\"n\": 5}\n{\"n\": 6}\n"
        );
        let found = lines(file.reopen().unwrap(), "struct").unwrap();
        assert_eq!(found, (0..7).map(|n| format!("{{\"n\":{n}}}\n")).collect::<String>());
    }
    let file = file(1, Compression::SNAPPY);
    let error = lines(file.reopen().unwrap(), "even").unwrap_err();
    assert_eq!(error.code(), "column_not_found");
    assert!(error.to_string().ends_with("found \"event\", \"struct\""), "{error}");
}

/// Each byte of a file with each bit turned, and each of its beginnings: there is an error, or other lines, and no more.
#[test]
fn no_altered_file_does_harm() {
    let whole = std::fs::read(file(7, Compression::ZSTD(ZstdLevel::default())).path()).unwrap();
    let mut errors = 0;
    let mut read = |bytes: &[u8]| {
        let mut altered = tempfile::tempfile().unwrap();
        altered.write_all(bytes).unwrap();
        for column in ["event", "struct"] {
            errors += usize::from(lines(altered.try_clone().unwrap(), column).is_err());
        }
    };
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        for mask in [0x01, 0x80, 0xff] {
            bytes[at] = whole[at] ^ mask;
            read(&bytes);
        }
        read(&whole[..at]);
    }
    assert!(errors > whole.len(), "{errors}");
}
