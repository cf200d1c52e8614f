//! Values of other people in messages.

use serde_json::Value;

use crate::diagnostics::untrusted::quoted;

/// A value as a message names it: its type, and for a scalar what it is.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => format!("boolean {flag}"),
        Value::Number(number) => format!("number {number}"),
        Value::String(text) => format!("string {}", quoted(text)),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(members) => format!("an object of {} members", members.len()),
    }
}
