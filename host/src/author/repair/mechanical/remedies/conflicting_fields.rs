//! Fields that exclude one another.

use serde_json::{Map, Value, json};

use super::{Context, Remedy, fix, maybe, reshape, split};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;
use crate::plan::language::ObjectKind;

/// Fields that say where a value is from.
const SOURCES: &[&str] = &[
    "source_path",
    "constant",
    "template",
    "coalesce",
    "expression",
    "partial_when_path",
    "array",
];

/// Two fields of which an object can have one: the one that says nothing goes.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let object = context.plan.get(parent)?;
    let fields = object.as_object()?;
    match context.plan.kind(parent) {
        Some(ObjectKind::Plan) => return both_forms(fields),
        Some(ObjectKind::Condition) => return all_tests(parent, fields),
        _ => {}
    }
    let is_nothing = |it: &Value| match it {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if is_nothing(fields.get(&name)?) {
        return fix(patch::remove(at));
    }
    let is_empty = |it: &&&str| **it != name && fields.get(**it).is_some_and(is_nothing);
    if let Some(empty) = SOURCES.iter().find(is_empty) {
        return fix(patch::remove(&patch::below(parent, empty)));
    }
    // A path with a constant beside it: what there is, or else the constant.
    let constant = fields.get("constant").filter(|_| name == "constant")?;
    maybe(reshape::with_default(parent, "constant", object, constant)?)
}

/// Several tests of one path: all of them.
fn all_tests(at: &str, fields: &Map<String, Value>) -> Remedy {
    let mut tests = fields.clone();
    let mut of_path = Map::new();
    of_path.insert("source_path".to_owned(), tests.remove("source_path")?);
    of_path.extend(tests.remove("from").map(|from| ("from".to_owned(), from)));
    let order = ["exists", "truthy", "equals", "one_of", "starts_with", "is_type"];
    let mut all: Vec<Map<String, Value>> = Vec::new();
    for name in order {
        let Some(test) = tests.remove(name) else { continue };
        let mut condition = of_path.clone();
        condition.insert(name.to_owned(), test);
        all.push(condition);
    }
    if tests.is_empty() { fix(patch::replace(at, json!({"all": all}))) } else { None }
}

/// The fields of the short form beside `nodes`: one more node, where no other is for its entity.
fn both_forms(fields: &Map<String, Value>) -> Remedy {
    let entity = fields.get("target_entity_name")?;
    let nodes = fields.get("nodes")?.as_array()?;
    let gone = reshape::without(fields, &["target_entity_name", "key_field", "property_fields"])?;
    if nodes.iter().any(|node| node.get("entity_name") == Some(entity)) {
        return Some(Likely::new(gone, fields.get("key_field").is_none()));
    }
    let node = reshape::long_form(fields, entity)?;
    let all: Vec<&Value> = std::iter::once(&node).chain(nodes).collect();
    fix(patch::both(gone, patch::replace("/nodes", all)))
}
