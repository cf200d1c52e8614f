//! Conversions that are called by another name, or written in another form.

use serde_json::{Value, json};

use super::context::{Context, path_of, split};
use super::grammar::{Kind, enclosing};
use super::plan::Remedy;
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::spelling;
use crate::graph::spec::PropertyType;
use crate::json::JsonKind;
use crate::plan::expr::Conversion;

/// How alike a name has to be to that of a conversion to be a slip of it, and how far ahead of the next one.
const SLIP: f64 = 0.7;
const LEAD: f64 = 0.05;

/// What others call conversions, without `to`, `as`, `parse` and the like before it.
const OTHERS: &[(&str, &[&str])] = &[
    ("to_string", &["string", "str", "text", "tostr", "varchar"]),
    ("to_int64", &["int64", "int", "integer", "long", "bigint", "int32"]),
    ("to_double", &["double", "float", "float64", "decimal", "real"]),
    ("to_boolean", &["boolean", "bool"]),
    (
        "to_json_text",
        &[
            "jsontext",
            "jsonstring",
            "jsonstr",
            "stringify",
            "jsonstringify",
            "serialize",
            "jsondumps",
            "dumps",
            "jsonencode",
        ],
    ),
    (
        "timestamp",
        &[
            "timestamp",
            "datetime",
            "iso8601",
            "rfc3339",
            "time",
            "epoch",
            "epochseconds",
            "epochms",
            "epochmillis",
            "epochmilliseconds",
            "unixtimestamp",
            "unixtime",
            "unix",
            "isotimestamp",
            "isodatetime",
            "utc",
        ],
    ),
    ("date", &["date", "isodate", "day"]),
    ("lower", &["lowercase", "downcase", "lcase", "casefold"]),
    ("upper", &["uppercase", "upcase", "ucase"]),
    ("trim", &["strip", "trimwhitespace", "stripwhitespace"]),
    ("length", &["len", "size", "count", "strlen", "arraylength"]),
];

/// What others call the name of a conversion, where it stands beside the arguments.
const NAMES_OF_NAMES: &[&str] = &["name", "type", "op", "conversion", "function"];

/// Words before a name that say nothing of what it means.
const PREFIXES: &[&str] = &["to", "as", "parse", "from", "cast", "convert", "into"];

/// A step that is none: a wrong name, or another form.
pub(super) fn step(context: &Context<'_, '_>, at: &str) -> Remedy {
    let found = context.value.pointer(at)?;
    match found {
        Value::String(name) => named(context, at, name),
        Value::Object(fields) => match fields.iter().collect::<Vec<_>>().as_slice() {
            [(field, Value::String(name))] if NAMES_OF_NAMES.contains(&field.as_str()) => {
                match context.is_step(&json!(name)) {
                    true => Some((patch::replace(at, name), true)),
                    false => named(context, at, name),
                }
            }
            [(name, arguments)] => Some(match written(context, name, arguments) {
                Some(step) => (patch::replace(at, step), true),
                None => {
                    let (name, certain) = meant(context, at, name)?;
                    let step = written(context, name, arguments)?;
                    (patch::replace(at, step), certain)
                }
            }),
            _ => flattened(context, found).map(|step| (patch::replace(at, step), true)),
        },
        Value::Null => Some((taken_out(context, at)?, true)),
        _ => None,
    }
}

/// A step that is a name alone.
fn named(context: &Context<'_, '_>, at: &str, name: &str) -> Remedy {
    if name == "parse_json" {
        return Some((patch::replace(at, json!({"parse_json": []})), true));
    }
    if let Some(step) = called(context, name) {
        return Some((patch::replace(at, step), true));
    }
    match meant(context, at, name) {
        Some((meant, certain)) if meant != name => {
            let step = match meant {
                "parse_json" => json!({"parse_json": []}),
                other => json!(other),
            };
            // Of a conversion with arguments, the name alone says too little.
            context.is_step(&step).then(|| (patch::replace(at, step), certain))
        }
        _ => Some((taken_out(context, at)?, false)),
    }
}

/// The conversion that is meant by a name, and whether nothing else can be.
fn meant(context: &Context<'_, '_>, at: &str, name: &str) -> Option<(&'static str, bool)> {
    let all = || Conversion::NAMES.iter().copied();
    if let Some(known) = all().find(|it| spelling::plain(it) == spelling::plain(name)) {
        return Some((known, true));
    }
    let plain = plain(name);
    if plain == "json" {
        return json_of(context, at);
    }
    if matches!(plain.as_str(), "number" | "numeric") {
        return Some(match property_type(context, at)? {
            PropertyType::Int64 => ("to_int64", true),
            PropertyType::Double | PropertyType::Float64 => ("to_double", true),
            _ => ("to_double", false),
        });
    }
    let other = OTHERS.iter().find(|(_, others)| others.contains(&plain.as_str()));
    if let Some((name, _)) = other {
        return Some((name, true));
    }
    if let Some(name) = all().find(|it| self::plain(it) == plain) {
        return Some((name, true));
    }
    let effort = &context.efforts().searches;
    let score = |known: &'static str| {
        let near = spelling::names(name, known, effort);
        (near.max(spelling::names(&plain, known, effort)), known)
    };
    let mut scored: Vec<(f64, &'static str)> = all().map(score).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let second = scored.get(1).map_or(0.0, |(score, _)| *score);
    if let Some((score, known)) = scored.first().filter(|(score, _)| *score >= SLIP) {
        return Some((known, score - second >= LEAD));
    }
    // What the property's type asks for may be meant.
    let wanted = for_type(property_type(context, at)?)?;
    Some((wanted, false))
}

/// A name without the words before it that say nothing.
fn plain(name: &str) -> String {
    let words = spelling::words(name);
    let kept = words.iter().skip_while(|word| PREFIXES.contains(&word.as_str()));
    let kept: String = kept.map(String::as_str).collect();
    let all: String = words.concat();
    if kept.is_empty() { all } else { kept }
}

/// `json`: the text of what is an object or an array, and what is in a text that holds JSON.
fn json_of(context: &Context<'_, '_>, at: &str) -> Option<(&'static str, bool)> {
    let kinds = [Kind::Key, Kind::Property, Kind::Choice];
    let (mapping, _) = enclosing(context.value, at, &kinds)?;
    let path = path_of(context.value.pointer(&mapping)?.get("source_path")?)?;
    let scope = context.scope(at)?;
    let values: Vec<JsonKind> =
        scope.known().values(&path).map(|(_, it)| JsonKind::of(it)).collect();
    let is_text = |kind: &JsonKind| *kind == JsonKind::String;
    if values.is_empty() {
        return None;
    }
    let all_text = values.iter().all(is_text);
    let none_text = !values.iter().any(is_text);
    Some((if all_text { "parse_json" } else { "to_json_text" }, all_text || none_text))
}

/// The conversion that gives values of a type.
pub(super) fn for_type(wanted: &PropertyType) -> Option<&'static str> {
    Some(match wanted {
        PropertyType::String => "to_string",
        PropertyType::Int64 => "to_int64",
        PropertyType::Double | PropertyType::Float64 => "to_double",
        PropertyType::Boolean | PropertyType::Bool => "to_boolean",
        PropertyType::Timestamp => "timestamp",
        PropertyType::Date => "date",
        PropertyType::Bytes | PropertyType::Unsupported(_) => return None,
    })
}

fn property_type<'a>(context: &Context<'_, 'a>, at: &str) -> Option<&'a PropertyType> {
    let (mapping, _) = enclosing(context.value, at, &[Kind::Key, Kind::Property])?;
    let name = context.value.pointer(&mapping)?.get("property_name")?.as_str()?;
    Some(&context.owner(at)?.property(name)?.property_type)
}

/// A step whose name and arguments stand beside one another: `{"name": "split", "separator": "/", "index": 1}`.
fn flattened(context: &Context<'_, '_>, found: &Value) -> Option<Value> {
    let mut fields = found.as_object()?.clone();
    let name = NAMES_OF_NAMES.iter().find_map(|field| fields.remove(*field))?;
    let name = name.as_str()?.to_owned();
    if let [(_, Value::Object(arguments))] = fields.iter().collect::<Vec<_>>().as_slice() {
        let arguments = Value::Object((*arguments).clone());
        return written(context, &name, &arguments);
    }
    written(context, &name, &Value::Object(fields))
}

/// A conversion with arguments in the form that it takes, if they say all that it needs.
fn written(context: &Context<'_, '_>, name: &str, arguments: &Value) -> Option<Value> {
    let says_nothing = match arguments {
        Value::Null | Value::Bool(true) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let step = match (name, arguments) {
        ("split", Value::Array(items)) => match items.as_slice() {
            [separator, index] => json!({"split": {"separator": separator, "index": index}}),
            _ => return None,
        },
        ("split", Value::Object(fields)) => {
            let any = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
            let separator = any(&["separator", "sep", "delimiter", "by", "on"])?;
            let index = any(&["index", "part", "position", "take"])?;
            json!({"split": {"separator": separator, "index": index}})
        }
        ("regex", Value::String(pattern)) => json!({"regex": {"pattern": pattern}}),
        ("regex", Value::Object(fields)) => {
            let pattern =
                ["pattern", "regex", "expression"].iter().find_map(|it| fields.get(*it))?;
            match ["group", "capture"].iter().find_map(|it| fields.get(*it)) {
                Some(group) => json!({"regex": {"pattern": pattern, "group": group}}),
                None => json!({"regex": {"pattern": pattern}}),
            }
        }
        ("parse_json", _) if says_nothing => json!({"parse_json": []}),
        ("parse_json", Value::String(path)) => {
            json!({"parse_json": path.split('.').filter(|key| !key.is_empty() && *key != "$").collect::<Vec<_>>()})
        }
        ("parse_json", Value::Array(path)) => json!({"parse_json": path}),
        ("parse_json", Value::Object(fields)) => {
            json!({"parse_json": fields.get("path").or_else(|| fields.get("source_path"))?})
        }
        _ if says_nothing => json!(name),
        _ => return None,
    };
    context.is_step(&step).then_some(step)
}

/// A conversion as a call of a function: `split("/", 1)`, `regex('^v')`, `split:/:1`.
fn called(context: &Context<'_, '_>, text: &str) -> Option<Value> {
    let (name, arguments) = text.trim().strip_suffix(')')?.split_once('(')?;
    let arguments = arguments.trim();
    if arguments.is_empty() {
        return written(context, name.trim(), &Value::Null);
    }
    let quoted = arguments.replace('\'', "\"");
    let list: Vec<Value> = serde_json::from_str(&format!("[{quoted}]")).ok()?;
    match (name.trim(), list.as_slice()) {
        ("split", _) => written(context, "split", &Value::Array(list)),
        (name, [only]) => written(context, name, only),
        _ => None,
    }
}

/// The chain without a step, or no chain where it is the only one.
fn taken_out(context: &Context<'_, '_>, at: &str) -> Option<json_patch::Patch> {
    let (chain, _) = split(at)?;
    let steps = context.value.pointer(chain)?.as_array()?;
    Some(patch::remove(if steps.len() == 1 { chain } else { at }))
}
