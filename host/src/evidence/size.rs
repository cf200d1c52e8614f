//! How much memory values take.

use serde_json::Value;

/// What a value takes by itself, and what each eleven fields of an object do.
const VALUE_BYTES: u64 = 32;
const FIELDS_BYTES: u64 = 640;

/// About how many bytes of memory a value takes. Values are as deep as JSON is read.
pub(super) fn size(value: &Value) -> u64 {
    let inner: u64 = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() as u64,
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(fields) => {
            let nodes = (fields.len() as u64).div_ceil(11) * FIELDS_BYTES;
            nodes + fields.iter().map(|(key, it)| key.len() as u64 + size(it)).sum::<u64>()
        }
    };
    VALUE_BYTES + inner
}
