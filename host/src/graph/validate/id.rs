//! What an id says: `{session}:{entity}:{key}={value}[,{key}={value}...]`, unescaped.
//!
//! A session id, an entity name or a value may itself hold `:` and `,`, so an id can't be split
//! blindly. Where the node is at hand its own values say how the id must end; otherwise the
//! names that the spec declares are looked for.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::graph::spec::PropertySpec;

/// A key property of a node with the value that the node gives it.
pub(super) struct KeyValue<'a> {
    pub(super) property: &'a PropertySpec,
    pub(super) value: &'a Value,
}

/// The two parts of an id that name something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located<'a> {
    /// The entity segment.
    pub(super) entity: &'a str,
    /// What follows it: the key pairs.
    pub(super) pairs: &'a str,
}

/// A value as it appears in an id: a string without quotes, anything else as JSON.
pub(super) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Whether an id is `...:{entity}:{key}={value},...` for all the keys in the spec's order,
/// each under its logical name or its column.
pub(super) fn is_canonical(id: &str, entity: &str, keys: &[KeyValue<'_>]) -> bool {
    let mut head = id;
    for (i, key) in keys.iter().enumerate().rev() {
        let before = without_value(head, key.value).and_then(|rest| {
            let named = |name: &str| {
                let rest = rest.strip_suffix(name)?;
                if i > 0 {
                    return rest.strip_suffix(',');
                }
                rest.strip_suffix(':')?.strip_suffix(entity)?.strip_suffix(':')
            };
            named(&key.property.logical_name).or_else(|| named(&key.property.column))
        });
        match before {
            Some(rest) => head = rest,
            None => return false,
        }
    }
    !keys.is_empty()
}

/// `id` without the `={value}` at its end. A number may be written in any way that JSON has
/// for it, because the id holds it as the event does.
fn without_value<'a>(id: &'a str, value: &Value) -> Option<&'a str> {
    if let Value::Number(number) = value {
        let (head, text) = id.rsplit_once('=')?;
        return is_number(text, number).then_some(head);
    }
    id.strip_suffix(text_of(value).as_ref())?.strip_suffix('=')
}

fn is_number(text: &str, number: &Number) -> bool {
    // The parser would also take white space around the number, which is not part of it.
    let bare = !text.contains(|c: char| c.is_ascii_whitespace());
    bare && serde_json::from_str::<Number>(text).is_ok_and(|parsed| parsed == *number)
}

/// Finds the entity segment of an id. The likeliest reading wins: the expected entity's name
/// with a key after it, any entity's name with a key after it, the expected name alone, any
/// entity's name alone, and last what is between the first two colons. In each case the
/// rightmost. `None` if there are fewer than two colons.
pub(super) fn locate<'a>(
    id: &'a str,
    expected: &str,
    keys: &[&str],
    is_entity: impl Fn(&str) -> bool,
) -> Option<Located<'a>> {
    let begins_with_key = |pairs: &str| {
        keys.iter().any(|key| pairs.strip_prefix(key).is_some_and(|rest| rest.starts_with('=')))
    };
    let own_segment = format!(":{expected}:");
    let own = || {
        id.rmatch_indices(own_segment.as_str()).map(|(at, segment)| Located {
            entity: &segment[1..segment.len() - 1],
            pairs: &id[at + segment.len()..],
        })
    };
    let colons: Vec<usize> = id.match_indices(':').map(|(at, _)| at).collect();
    let segments = || {
        colons.windows(2).rev().filter_map(|pair| match pair {
            &[from, to] => Some(Located { entity: &id[from + 1..to], pairs: &id[to + 1..] }),
            _ => None,
        })
    };
    own()
        .find(|found| begins_with_key(found.pairs))
        .or_else(|| segments().find(|s| is_entity(s.entity) && begins_with_key(s.pairs)))
        .or_else(|| own().next())
        .or_else(|| segments().find(|segment| is_entity(segment.entity)))
        .or_else(|| segments().next_back())
}

/// What follows the last `{key}=` at the beginning of a pair, to the end of the id.
fn tail_of<'a>(pairs: &'a str, key: &str) -> Option<&'a str> {
    let later = format!(",{key}=");
    match pairs.rfind(&later) {
        Some(at) => Some(&pairs[at + later.len()..]),
        None => pairs.strip_prefix(key)?.strip_prefix('='),
    }
}

/// What a key is in `pairs`, if it is there, compared with the value that the node gives it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PairMatch<'a> {
    /// The key isn't named.
    Absent,
    /// It has that value.
    Equal,
    /// It has this value instead.
    Different(&'a str),
}

/// Compares one key, wherever it is among the pairs.
pub(super) fn compare<'a>(pairs: &'a str, key: &str, value: &Value) -> PairMatch<'a> {
    let Some(tail) = tail_of(pairs, key) else { return PairMatch::Absent };
    let observed = tail.split_once(',').map_or(tail, |(first, _)| first);
    let text = text_of(value);
    let equal = match value {
        Value::Number(number) => is_number(observed, number),
        // The value may hold commas, so it need not end at the first one.
        _ => tail
            .strip_prefix(text.as_ref())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(',')),
    };
    if equal { PairMatch::Equal } else { PairMatch::Different(observed) }
}

/// Whether `pairs` give a value that isn't empty for one of the `names` of a key. A value ends
/// at the next pair of one of the keys in `all`.
pub(super) fn has_value(pairs: &str, names: &[&str], all: &[&str]) -> bool {
    let ends = |tail: &str| {
        tail.strip_prefix(',').is_some_and(|next| {
            all.iter().any(|key| next.strip_prefix(key).is_some_and(|rest| rest.starts_with('=')))
        })
    };
    names.iter().filter_map(|name| tail_of(pairs, name)).any(|tail| !tail.is_empty() && !ends(tail))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::graph::spec::PropertyType;

    fn property(column: &str, logical_name: &str) -> PropertySpec {
        PropertySpec {
            column: column.to_owned(),
            logical_name: logical_name.to_owned(),
            property_type: PropertyType::String,
            description: None,
        }
    }

    fn canonical(id: &str, values: &[Value]) -> bool {
        let properties = [property("order_id", "id"), property("line", "line")];
        let keys: Vec<_> = properties
            .iter()
            .zip(values)
            .map(|(property, value)| KeyValue { property, value })
            .collect();
        is_canonical(id, "Line", &keys)
    }

    #[test]
    fn values_may_hold_separators() {
        assert!(canonical("a:b:Line:id=x:Line:id=,y", &[json!("x:Line:id=,y")]));
        assert!(canonical("s:Line:order_id=a,line=9,line=2", &[json!("a,line=9"), json!(2)]));
        assert!(!canonical("s:Line:id=a,b", &[json!("b")]));
        assert!(!canonical("Line:id=a", &[json!("a")]));
        assert!(!canonical("s:Line:", &[]));
    }

    #[test]
    fn numbers_may_be_written_in_any_way() {
        assert!(canonical("s:Line:id=1.50", &[json!(1.5)]));
        assert!(canonical("s:Line:id=1e+3", &[json!(1000.0)]));
        assert!(!canonical("s:Line:id=042", &[json!(42)]));
        assert!(!canonical("s:Line:id= 42", &[json!(42)]));
        assert!(!canonical("s:Line:id=42", &[json!("43")]));
        assert!(canonical("s:Line:id=true", &[json!(true)]));
    }

    #[test]
    fn the_entity_is_found_by_name() {
        let is_entity = |name: &str| name == "Order" || name == "Customer";
        let found = |id| locate(id, "Order", &["order_id"], is_entity).map(|l| (l.entity, l.pairs));
        assert_eq!(found("a:b:Order:order_id=x"), Some(("Order", "order_id=x")));
        assert_eq!(
            found("s:Customer:order_id=a:Order:b"),
            Some(("Customer", "order_id=a:Order:b"))
        );
        assert_eq!(found("a:b:Customer:customer_id=c"), Some(("Customer", "customer_id=c")));
        assert_eq!(found("s:Ghost:x=1"), Some(("Ghost", "x=1")));
        assert_eq!(found("Order:order_id=1"), None);
    }

    #[test]
    fn a_pair_is_found_in_any_order() {
        assert_eq!(compare("b=2,a=x,y", "a", &json!("x,y")), PairMatch::Equal);
        assert_eq!(compare("a=x,y,b=2", "a", &json!("x,y")), PairMatch::Equal);
        assert_eq!(compare("a=x,a=y", "a", &json!("x")), PairMatch::Different("y"));
        assert_eq!(compare("ba=x", "a", &json!("x")), PairMatch::Absent);
        assert!(has_value("a=,c,b=1", &["a"], &["a", "b"]));
        assert!(!has_value("a=,b=1", &["a"], &["a", "b"]));
    }
}
