//! Expressions: any text is one, or is told where it isn't; and what it gives for a JSON text, which follows it on the next line, is
//! JSON and what the oracle says.

use retort::Coded;
use retort::diagnostics::Stage;
use retort::internal::expression::by_oracle;
use retort::plan::{Query, QueryFailure};
use serde_json::Value;

use super::text::assert_one_line;

pub(crate) fn target(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let (expression, json) = text.split_once('\n').unwrap_or((text, "null"));
    let query = match Query::parse_alone(expression) {
        Ok(query) => query,
        Err(error) => {
            assert_eq!(error.entry().stage, Stage::Plan);
            assert!((1..=expression.chars().count() + 1).contains(&error.column), "{error}");
            assert_one_line(&error.to_string());
            return false;
        }
    };
    let found = match query.evaluate(json) {
        Ok(found) => Some(found),
        Err(QueryFailure::Failed(error)) => {
            assert!((1..=expression.chars().count() + 1).contains(&error.column), "{error}");
            None
        }
        Err(_) => return false,
    };
    let found: Option<Value> = found.map(|found| serde_json::from_str(&found).unwrap());
    // Of a key that is there twice, JSON as text keeps both; and what doubles at every step the oracle gives up, where the host
    // shares it.
    let doubles = expression.matches(['@', '|', '$']).count() > 16;
    if keeps_text(expression) || doubles || json.len() > 2_000 || expression.len() > 400 {
        return true;
    }
    let expected = by_oracle(&query, json);
    let expected: Option<Value> = expected.map(|json| serde_json::from_str(&json).unwrap());
    assert_eq!(found, expected, "{expression}\n{json}");
    true
}

fn keeps_text(expression: &str) -> bool {
    ["to_string", "to_json_text", "pad_"].iter().any(|name| expression.contains(name))
}
