//! The objects that a plan consists of, field by field, out of the table of the language.

use crate::plan::language::{Alternative, Field, FieldRule, ObjectKind, Shape};

/// In the order in which one comes upon them.
const KINDS: &[ObjectKind] = &[
    ObjectKind::Plan,
    ObjectKind::Node,
    ObjectKind::Edge,
    ObjectKind::External,
    ObjectKind::Key,
    ObjectKind::Property,
    ObjectKind::Choice,
    ObjectKind::Condition,
    ObjectKind::ForEach,
    ObjectKind::Span,
    ObjectKind::EventType,
];

/// A paragraph for each kind of object: a line for each field, then what holds between them.
pub(super) fn text() -> String {
    let mut text = String::new();
    for kind in KINDS {
        let table = kind.table();
        let about = table.description.map(|about| format!(" {about}")).unwrap_or_default();
        text.push_str(&format!("{}:{about}\n", table.definition));
        for field in table.fields {
            text.push_str(&line(field));
        }
        let rules =
            table.rules.iter().filter_map(|rule| said(rule, |name| table.field(name).is_some()));
        for rule in rules {
            text.push_str(&format!("  ({rule})\n"));
        }
    }
    text
}

fn line(field: &Field) -> String {
    let required = if field.is_required { ", required" } else { "" };
    let default = field.default.filter(|json| *json != "null" && *json != "[]");
    let default = default.map(|json| format!(", {json} by default")).unwrap_or_default();
    let about = field.description.map(|about| format!(": {about}")).unwrap_or_default();
    format!("  {} ({}{required}{default}){about}\n", field.name, shape(field))
}

fn shape(field: &Field) -> String {
    let most = match field.entries {
        (least, most) if most < usize::MAX => format!(" of {least} to {most}"),
        (least, _) if least > 0 => format!(" of at least {least}"),
        _ => String::new(),
    };
    let name = |kind: ObjectKind| kind.table().definition;
    match field.shape {
        Shape::EventTypes => {
            format!("a type or {}, or a list{most} of these", name(ObjectKind::EventType))
        }
        Shape::EventType => format!("a type or {}", name(ObjectKind::EventType)),
        Shape::TypeName => "a type".to_owned(),
        Shape::Name => "identifier".to_owned(),
        Shape::Path => "path".to_owned(),
        Shape::Paths => format!("list{most} of paths"),
        Shape::Segment => "key of an object".to_owned(),
        Shape::Object(kind) => name(kind).to_owned(),
        Shape::Objects(kind) => format!("list{most}: {}", name(kind)),
        Shape::ObjectOrObjects(kind) => format!("{0}, or a list{most}: {0}", name(kind)),
        Shape::End => format!("name of a node, or {}", name(ObjectKind::External)),
        Shape::Chain => "list of conversions".to_owned(),
        Shape::Step | Shape::Arguments => "conversion".to_owned(),
        Shape::Constant => "string, number or boolean".to_owned(),
        Shape::Constants => format!("list{most} of strings, numbers and booleans"),
        Shape::Template => "template".to_owned(),
        Shape::Query => "expression in JMESPath".to_owned(),
        Shape::True => "true".to_owned(),
        Shape::Text | Shape::Section => "text".to_owned(),
        Shape::Word(words) => {
            words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// What a rule says of an object that has some of the fields.
fn said(rule: &FieldRule, has: impl Fn(&str) -> bool) -> Option<String> {
    match rule {
        FieldRule::OneOf(alternatives) => {
            let one = |it: &Alternative| match it.with {
                Some(other) => format!("{other} with {}", it.name),
                None => it.name.to_owned(),
            };
            let all: Vec<String> = alternatives.iter().map(one).collect();
            Some(format!("exactly one of: {}", all.join("; ")))
        }
        FieldRule::Beside(field, others) => {
            has(field).then(|| format!("{field} only beside {}", others.join(" or ")))
        }
        FieldRule::Excludes(one, other) => Some(format!("not both {one} and {other}")),
        FieldRule::Forms { long, short, .. } => {
            Some(format!("either {long}, or the short form: {}", short.join(", ")))
        }
        FieldRule::NotEmptyOutside { field, paths } => {
            Some(format!("{} may be empty only with {field}", paths.join(" and ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KINDS, text};

    #[test]
    fn every_field_of_the_language_is_told() {
        let text = text();
        for kind in KINDS {
            for field in kind.fields() {
                assert!(text.contains(&format!("\n  {} (", field.name)), "{}", field.name);
            }
        }
        assert!(text.chars().count() < 10_000, "{}", text.chars().count());
    }
}
