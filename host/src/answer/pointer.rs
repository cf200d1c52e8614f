//! Where in a plan a problem is: the parser's paths as JSON Pointers.

use serde_json::Value;

use crate::plan::{PlanParseError, PlanParseErrorCode};

/// JSON Pointer to where a problem is. An unknown field's name may be anything, so what is there tells where it begins.
pub(super) fn pointer(problem: &PlanParseError, value: &Value) -> String {
    let (place, name) = match problem.code {
        PlanParseErrorCode::UnknownField => owner(&problem.path, value),
        _ => (problem.path.as_str(), None),
    };
    let mut pointer = String::new();
    for key in place.split('.').filter(|key| !key.is_empty()) {
        let mut parts = key.split('[');
        for part in parts.next().into_iter().chain(parts.map(|index| index.trim_end_matches(']'))) {
            push(&mut pointer, part);
        }
    }
    if let Some(name) = name {
        push(&mut pointer, name);
    }
    pointer
}

/// The object that has an unknown field, and the field's name.
fn owner<'p>(path: &'p str, value: &Value) -> (&'p str, Option<&'p str>) {
    if value.get(path).is_some() {
        return ("", Some(path));
    }
    // Below the root, objects are at `key_field`, `span_handling` and `property_fields[3]`, none of which holds a dot.
    match path.split_once('.') {
        Some((place, name)) => (place, Some(name)),
        None => ("", Some(path)),
    }
}

fn push(pointer: &mut String, key: &str) {
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pointer;
    use crate::plan::problems_of_value;

    #[test]
    fn every_problem_is_pointed_to() {
        let value = json!({
            "a.b/c": 1, "key_field.x": 1, "event_type": "", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "p", "source_path": ["a", 1], "x.y[0]": 1},
            "property_fields": [{"property_name": "p", "source_path": ["a"], "~": 1}, {"property_name": "q"}],
        });
        let found: Vec<String> =
            problems_of_value(&value).iter().map(|problem| pointer(problem, &value)).collect();
        assert_eq!(
            found,
            [
                "/a.b~1c",
                "/key_field.x",
                "/event_type",
                "/key_field/x.y[0]",
                "/key_field/source_path/1",
                "/property_fields/0/~0",
                "/property_fields/1/source_path",
                "/property_fields/0/property_name",
            ]
        );
    }
}
