//! Conversions that are called by another name, or written in another form.

use serde_json::{Map, Value, json};

use super::{Context, Remedy, fix, maybe, replace, split, step_around};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::{Likely, best};
use crate::evidence::similarity::{TYPO_MARGIN, TYPO_THRESHOLD, spelling};
use crate::graph::spec::PropertyType;
use crate::plan::expr::Conversion;

/// The conversion that others call by a name, without `to`, `as`, `parse` and the like before it.
fn known_as(name: &str) -> Option<&'static str> {
    Some(match name {
        "string" | "str" | "text" | "tostr" | "varchar" => "to_string",
        "int64" | "int" | "integer" | "long" | "bigint" | "int32" => "to_int64",
        "double" | "float" | "float64" | "decimal" | "real" => "to_double",
        "boolean" | "bool" => "to_boolean",
        "jsontext" | "jsonstring" | "jsonstr" | "stringify" | "jsonstringify" | "serialize"
        | "jsondumps" | "dumps" | "jsonencode" => "to_json_text",
        "timestamp" | "datetime" | "iso8601" | "rfc3339" | "time" | "epoch" | "epochseconds"
        | "epochms" | "epochmillis" | "epochmilliseconds" | "unixtimestamp" | "unixtime"
        | "unix" | "isotimestamp" | "isodatetime" | "utc" => "timestamp",
        "date" | "isodate" | "day" => "date",
        "lowercase" | "downcase" | "lcase" | "casefold" => "lower",
        "uppercase" | "upcase" | "ucase" => "upper",
        "strip" | "trimwhitespace" | "stripwhitespace" => "trim",
        "len" | "size" | "count" | "strlen" | "arraylength" => "length",
        _ => return None,
    })
}

/// What others call the name of a conversion, where it is beside the arguments.
const NAMES_OF_NAMES: &[&str] = &["name", "type", "op", "conversion", "function"];

/// Words before a name that say nothing of what it means.
const PREFIXES: &[&str] = &["to", "as", "parse", "from", "cast", "convert", "into"];

/// A step that is none, by a pointer to it or into it: a wrong name, or another form.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let at = step_around(at)?;
    match context.plan.get(at)? {
        Value::String(name) => named(context, at, name),
        Value::Object(fields) => match fields.iter().collect::<Vec<_>>().as_slice() {
            [(field, Value::String(name))] if NAMES_OF_NAMES.contains(&field.as_str()) => {
                match context.is_step(&json!(name)) {
                    true => fix(patch::replace(at, name)),
                    false => named(context, at, name),
                }
            }
            [(name, arguments)] => {
                if let Some(step) = written(context, name, arguments) {
                    return fix(patch::replace(at, step));
                }
                let meant = meant(context, at, name)?;
                let step = written(context, meant.item, arguments)?;
                replace(at, meant.map(|_| step))
            }
            _ => fix(patch::replace(at, flattened(context, fields)?)),
        },
        Value::Null => fix(taken_out(context, at)?),
        _ => None,
    }
}

/// A step that is a name alone.
fn named(context: &Context<'_, '_>, at: &str, name: &str) -> Remedy {
    let alone = |name: &str| if name == "parse_json" { json!({name: []}) } else { json!(name) };
    if name == "parse_json" {
        return fix(patch::replace(at, alone(name)));
    }
    if let Some(step) = called(context, name) {
        return fix(patch::replace(at, step));
    }
    match meant(context, at, name).filter(|meant| meant.item != name) {
        // Of a conversion with arguments, the name alone says too little.
        Some(meant) => {
            let step = meant.map(alone);
            if context.is_step(&step.item) { replace(at, step) } else { None }
        }
        None => maybe(taken_out(context, at)?),
    }
}

/// The conversion that is meant by a name; certain where nothing else can be.
fn meant(context: &Context<'_, '_>, at: &str, name: &str) -> Option<Likely<&'static str>> {
    let all = || Conversion::NAMES.iter().copied();
    if let Some(known) = all().find(|it| spelling::plain(it) == spelling::plain(name)) {
        return Some(Likely::new(known, true));
    }
    let bare = without_prefixes(name);
    if bare == "json" {
        return meant_by_json(context, at);
    }
    if matches!(bare.as_str(), "number" | "numeric") {
        return Some(match property_type(context, at)? {
            PropertyType::Int64 => Likely::new("to_int64", true),
            PropertyType::Double | PropertyType::Float64 => Likely::new("to_double", true),
            _ => Likely::new("to_double", false),
        });
    }
    let same = || all().find(|known| without_prefixes(known) == bare);
    if let Some(known) = known_as(&bare).or_else(same) {
        return Some(Likely::new(known, true));
    }
    let effort = context.searches();
    let score = |known: &'static str| {
        let near = spelling::names(name, known, effort);
        (near.max(spelling::names(&bare, known, effort)), known)
    };
    match best(all().map(score)).filter(|best| best.score >= TYPO_THRESHOLD) {
        Some(best) => Some(Likely::new(best.item, best.margin >= TYPO_MARGIN)),
        // What the property's type asks for may be meant.
        None => Some(Likely::new(Conversion::to_type(property_type(context, at)?)?.name(), false)),
    }
}

/// A name without the words before it that say nothing.
fn without_prefixes(name: &str) -> String {
    let words = spelling::words(name);
    let kept = words.iter().skip_while(|word| PREFIXES.contains(&word.as_str()));
    let kept: String = kept.map(String::as_str).collect();
    if kept.is_empty() { words.concat() } else { kept }
}

/// `json`: the text of what is an object or an array, and what is in a text that holds JSON.
fn meant_by_json(context: &Context<'_, '_>, at: &str) -> Option<Likely<&'static str>> {
    let path = context.plan.value_around(at)?.path?;
    let scope = context.scope(at)?;
    let (texts, others): (Vec<&Value>, Vec<&Value>) =
        scope.known.values(&path).map(|(_, value)| value).partition(|value| value.is_string());
    match (texts.is_empty(), others.is_empty()) {
        (true, true) => None,
        (false, true) => Some(Likely::new("parse_json", true)),
        (has_no_text, false) => Some(Likely::new("to_json_text", has_no_text)),
    }
}

fn property_type<'a>(context: &Context<'_, 'a>, at: &str) -> Option<&'a PropertyType> {
    let name = context.plan.mapping_around(at)?.name?;
    Some(&context.plan.rule_around(at)?.property(name)?.property_type)
}

/// A step whose name and arguments are beside one another: `{"name": "split", "separator": "/", "index": 1}`.
fn flattened(context: &Context<'_, '_>, fields: &Map<String, Value>) -> Option<Value> {
    let mut arguments = fields.clone();
    let name = NAMES_OF_NAMES.iter().find_map(|field| arguments.remove(*field))?;
    let inner = match arguments.values().next() {
        Some(inner @ Value::Object(_)) if arguments.len() == 1 => inner.clone(),
        _ => Value::Object(arguments),
    };
    written(context, name.as_str()?, &inner)
}

/// A conversion with arguments in the form that it takes, if they say all that it needs.
fn written(context: &Context<'_, '_>, name: &str, arguments: &Value) -> Option<Value> {
    let says_nothing = match arguments {
        Value::Null | Value::Bool(true) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let any = |names: &[&str]| names.iter().find_map(|name| arguments.get(*name));
    let step = match (name, arguments) {
        ("split", Value::Array(items)) => match items.as_slice() {
            [separator, index] => json!({"split": {"separator": separator, "index": index}}),
            _ => return None,
        },
        ("split", Value::Object(_)) => {
            let separator = any(&["separator", "sep", "delimiter", "by", "on"])?;
            let index = any(&["index", "part", "position", "take"])?;
            json!({"split": {"separator": separator, "index": index}})
        }
        ("regex", Value::String(pattern)) => json!({"regex": {"pattern": pattern}}),
        ("regex", Value::Object(_)) => {
            let mut regex = Map::new();
            let pattern = any(&["pattern", "regex", "expression"])?;
            regex.insert("pattern".to_owned(), pattern.clone());
            let group = any(&["group", "capture"]).map(|it| ("group".to_owned(), it.clone()));
            regex.extend(group);
            json!({"regex": regex})
        }
        ("parse_json", _) if says_nothing => json!({"parse_json": []}),
        ("parse_json", Value::String(path)) => {
            let keys = path.split('.').filter(|key| !key.is_empty() && *key != "$");
            json!({"parse_json": keys.collect::<Vec<_>>()})
        }
        ("parse_json", Value::Array(path)) => json!({"parse_json": path}),
        ("parse_json", Value::Object(_)) => json!({"parse_json": any(&["path", "source_path"])?}),
        _ if says_nothing => json!(name),
        _ => return None,
    };
    context.is_step(&step).then_some(step)
}

/// A conversion as a call of a function: `split("/", 1)`, `regex('^v')`, `trim()`.
fn called(context: &Context<'_, '_>, text: &str) -> Option<Value> {
    let (name, arguments) = text.trim().strip_suffix(')')?.split_once('(')?;
    let name = name.trim();
    let quoted = arguments.trim().replace('\'', "\"");
    let list: Vec<Value> = serde_json::from_str(&format!("[{quoted}]")).ok()?;
    match (name, list.as_slice()) {
        (_, []) => written(context, name, &Value::Null),
        ("split", _) => written(context, name, &Value::Array(list)),
        (_, [only]) => written(context, name, only),
        _ => None,
    }
}

/// The chain without a step, or no chain where it is the only one.
fn taken_out(context: &Context<'_, '_>, at: &str) -> Option<json_patch::Patch> {
    let (chain, _) = split(at)?;
    let steps = context.plan.get(chain)?.as_array()?;
    Some(patch::remove(if steps.len() == 1 { chain } else { at }))
}
