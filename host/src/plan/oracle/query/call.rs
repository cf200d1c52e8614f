//! Functions of expressions, on trees.

use std::cmp::Ordering;

use sha2::{Digest, Sha256};

use super::value::Tree;
use super::{Evaluation, Failed, Outcome};
use crate::plan::expr::conversion::{StepOutcome, from_nanoseconds, nanoseconds};
use crate::plan::expr::query::number::Number;
use crate::plan::expr::query::tree::{Node, NodeKind, Operation};
use crate::plan::expr::query::{Function, FunctionName as F, Parameter};
use crate::plan::expr::{Chain, Conversion, Converted, Zone};

/// An argument: a value, or what is evaluated for each element or was written out.
enum Argument<'n> {
    Value(Tree),
    Written(&'n Node),
}

impl Evaluation {
    pub(super) fn call(&mut self, name: &str, nodes: &[Node], current: &Tree) -> Outcome {
        let function = Function::named(name).ok_or(Failed)?;
        let mut arguments = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let parameter = function.parameter(index).ok_or(Failed)?;
            arguments.push(match parameter {
                Parameter::Expression => match &node.kind {
                    NodeKind::Reference(inside) => Argument::Written(inside),
                    _ => return Err(Failed),
                },
                Parameter::Constant
                | Parameter::ConstantGroup
                | Parameter::Table
                | Parameter::Unit => Argument::Written(node),
                _ => Argument::Value(self.eval(node, current)?),
            });
        }
        for (index, argument) in arguments.iter().enumerate() {
            if let Argument::Value(value) = argument
                && let Some(parameter) = function.parameter(index)
                && !is(value, parameter)
            {
                return Err(Failed);
            }
        }
        let written = arguments.iter().filter_map(|argument| match argument {
            Argument::Written(node) => Some(*node),
            Argument::Value(_) => None,
        });
        let written: Vec<&Node> = written.collect();
        let values = arguments.iter().filter_map(|argument| match argument {
            Argument::Value(value) => Some(value.clone()),
            Argument::Written(_) => None,
        });
        let values: Vec<Tree> = values.collect();
        match written.first() {
            Some(by)
                if matches!(
                    function.function,
                    F::Map | F::SortBy | F::MaxBy | F::MinBy | F::GroupBy
                ) =>
            {
                self.by(function.function, values.first().unwrap_or(&Tree::Null), by)
            }
            _ => apply(function.function, &values, &written, self.zone.as_ref()),
        }
    }

    fn by(&mut self, function: F, list: &Tree, by: &Node) -> Outcome {
        let Tree::Array(items) = list else { return Err(Failed) };
        let mut keyed = Vec::new();
        for item in items {
            let key = self.eval(by, item)?;
            let is_right = match function {
                F::Map => true,
                F::GroupBy => matches!(key, Tree::Null | Tree::Text(_)),
                // Of the type of the first.
                _ => matches!(
                    (&key, keyed.first()),
                    (Tree::Number(_), None | Some((Tree::Number(_), _)))
                        | (Tree::Text(_), None | Some((Tree::Text(_), _)))
                ),
            };
            if !is_right {
                return Err(Failed);
            }
            keyed.push((key, item.clone()));
        }
        Ok(match function {
            F::Map => Tree::Array(keyed.into_iter().map(|(key, _)| key).collect()),
            F::GroupBy => {
                let mut groups: Vec<(String, Tree)> = Vec::new();
                for (key, item) in keyed {
                    let Tree::Text(key) = key else { continue };
                    match groups.iter_mut().find(|(name, _)| *name == key) {
                        Some((_, Tree::Array(group))) => group.push(item),
                        _ => groups.push((key, Tree::Array(vec![item]))),
                    }
                }
                Tree::Object(groups)
            }
            F::SortBy => {
                keyed.sort_by(|(one, _), (other, _)| order(one, other));
                Tree::Array(keyed.into_iter().map(|(_, item)| item).collect())
            }
            _ => first_most(keyed, function == F::MaxBy),
        })
    }
}

/// The first of those that are the most, or the least.
fn first_most(keyed: Vec<(Tree, Tree)>, most: bool) -> Tree {
    let wanted = if most { Ordering::Greater } else { Ordering::Less };
    let best = keyed
        .into_iter()
        .reduce(|best, next| if order(&next.0, &best.0) == wanted { next } else { best });
    best.map_or(Tree::Null, |(_, item)| item)
}

/// Of two numbers, or of two texts.
fn order(one: &Tree, other: &Tree) -> Ordering {
    match (one, other) {
        (Tree::Text(one), Tree::Text(other)) => one.cmp(other),
        _ => one.to_number().cmp(&other.to_number()),
    }
}

fn is(value: &Tree, parameter: Parameter) -> bool {
    let numbers = |items: &[Tree]| items.iter().all(|item| matches!(item, Tree::Number(_)));
    let texts = |items: &[Tree]| items.iter().all(|item| matches!(item, Tree::Text(_)));
    match (parameter, value) {
        (Parameter::Number, value) => matches!(value, Tree::Number(_)),
        (Parameter::String, value) => matches!(value, Tree::Text(_)),
        (Parameter::Array, value) => matches!(value, Tree::Array(_)),
        (Parameter::Object, value) => matches!(value, Tree::Object(_)),
        (Parameter::ArrayOrString, value) => matches!(value, Tree::Array(_) | Tree::Text(_)),
        (Parameter::Sized, value) => {
            matches!(value, Tree::Array(_) | Tree::Text(_) | Tree::Object(_))
        }
        (Parameter::Numbers, Tree::Array(items)) => numbers(items),
        (Parameter::Strings, Tree::Array(items)) => texts(items),
        (Parameter::Sortable, Tree::Array(items)) => numbers(items) || texts(items),
        (Parameter::Arrays, Tree::Array(items)) => {
            items.iter().all(|item| matches!(item, Tree::Array(_)))
        }
        (Parameter::Objects, Tree::Array(items)) => {
            items.iter().all(|item| matches!(item, Tree::Object(_)))
        }
        (
            Parameter::Numbers
            | Parameter::Strings
            | Parameter::Sortable
            | Parameter::Arrays
            | Parameter::Objects,
            _,
        ) => false,
        _ => true,
    }
}

fn text(values: &[Tree], index: usize) -> Option<&str> {
    match values.get(index) {
        Some(Tree::Text(text)) => Some(text),
        _ => None,
    }
}

/// An integer, where there is an argument.
fn integer(values: &[Tree], index: usize) -> Result<Option<i64>, Failed> {
    let Some(value) = values.get(index) else { return Ok(None) };
    value.to_number().and_then(Number::to_integer).map(Some).ok_or(Failed)
}

fn count(values: &[Tree], index: usize) -> Result<Option<usize>, Failed> {
    match integer(values, index)? {
        None => Ok(None),
        Some(integer) => usize::try_from(integer).map(Some).map_err(|_| Failed),
    }
}

fn sum(items: &[Tree]) -> Result<Number, Failed> {
    items.iter().try_fold(Number::ZERO, |sum, item| {
        sum.apply(Operation::Add, item.to_number().ok_or(Failed)?).ok_or(Failed)
    })
}

fn apply(function: F, values: &[Tree], written: &[&Node], zone: Option<&Zone>) -> Outcome {
    let first = values.first().cloned().unwrap_or(Tree::Null);
    let own = [
        F::Date,
        F::Duration,
        F::Epoch,
        F::FromEpoch,
        F::MapValue,
        F::ParseJson,
        F::Regex,
        F::Sha256,
        F::Timestamp,
        F::ToBoolean,
        F::ToDouble,
        F::ToInt64,
        F::ToJsonText,
    ];
    if own.contains(&function) {
        if values.contains(&Tree::Null) {
            return Ok(Tree::Null);
        }
        return of_plans(function, values, written, zone);
    }
    let items = match &first {
        Tree::Array(items) => items.clone(),
        _ => Vec::new(),
    };
    let members = match &first {
        Tree::Object(members) => members.clone(),
        _ => Vec::new(),
    };
    let with_keys = || items.iter().map(|item| (item.clone(), item.clone())).collect();
    Ok(match (function, &first) {
        (F::Abs | F::Ceil | F::Floor, _) => {
            let number = first.to_number().ok_or(Failed)?;
            Tree::number(match function {
                F::Abs => number.abs(),
                F::Ceil => number.ceil(),
                _ => number.floor(),
            })
        }
        (F::Sum, _) => Tree::number(sum(&items)?),
        (F::Avg, _) if items.is_empty() => Tree::Null,
        (F::Avg, _) => {
            Tree::number(sum(&items)?.apply(Operation::Divide, items.len().into()).ok_or(Failed)?)
        }
        (F::Contains, Tree::Text(subject)) => {
            Tree::Boolean(text(values, 1).is_some_and(|search| subject.contains(search)))
        }
        (F::Contains, _) => {
            let search = values.get(1).cloned().unwrap_or(Tree::Null);
            Tree::Boolean(items.iter().any(|item| item.equals(&search)))
        }
        (F::Length, Tree::Text(text)) => Tree::Number(text.chars().count().to_string()),
        (F::Length, _) => Tree::Number(items.len().max(members.len()).to_string()),
        (F::Keys, _) => Tree::Array(members.into_iter().map(|(key, _)| Tree::Text(key)).collect()),
        (F::Values, _) => Tree::Array(members.into_iter().map(|(_, value)| value).collect()),
        (F::Items, _) => Tree::Array(
            members
                .into_iter()
                .map(|(key, value)| Tree::Array(vec![Tree::Text(key), value]))
                .collect(),
        ),
        (F::FromItems, _) => {
            let pair = |item: &Tree| match item {
                Tree::Array(pair) => match pair.as_slice() {
                    [Tree::Text(key), value] => Ok((key.clone(), value.clone())),
                    _ => Err(Failed),
                },
                _ => Err(Failed),
            };
            Tree::object(items.iter().map(pair).collect::<Result<_, _>>()?)
        }
        (F::Merge, _) => {
            let all = values.iter().flat_map(|value| match value {
                Tree::Object(members) => members.clone(),
                _ => Vec::new(),
            });
            Tree::object(all.collect())
        }
        (F::Zip, _) => {
            let lists: Vec<&Vec<Tree>> = values
                .iter()
                .filter_map(|value| match value {
                    Tree::Array(items) => Some(items),
                    _ => None,
                })
                .collect();
            let shortest = lists.iter().map(|list| list.len()).min().unwrap_or(0);
            let row = |index: usize| {
                Tree::Array(lists.iter().filter_map(|list| list.get(index)).cloned().collect())
            };
            Tree::Array((0..shortest).map(row).collect())
        }
        (F::Max | F::Min, _) => first_most(with_keys(), function == F::Max),
        (F::Sort, _) => {
            let mut items = items;
            items.sort_by(order);
            Tree::Array(items)
        }
        (F::NotNull, _) => {
            values.iter().find(|value| **value != Tree::Null).cloned().unwrap_or(Tree::Null)
        }
        (F::Reverse, Tree::Text(text)) => Tree::Text(text.chars().rev().collect()),
        (F::Reverse, _) => Tree::Array(items.into_iter().rev().collect()),
        (F::ToArray, Tree::Array(_)) => first,
        (F::ToArray, _) => Tree::Array(vec![first]),
        (F::ToNumber, Tree::Number(_)) => first,
        (F::ToNumber, Tree::Text(text)) => {
            let is_number = !text.starts_with(char::is_whitespace)
                && !text.ends_with(char::is_whitespace)
                && serde_json::from_str::<serde_json::Number>(text).is_ok();
            if is_number { Tree::Number(text.clone()) } else { Tree::Null }
        }
        (F::ToNumber, _) => Tree::Null,
        (F::ToString, Tree::Text(_)) => first,
        (F::ToString, _) => Tree::Text(first.to_json()),
        (F::Type, _) => Tree::Text(
            match first {
                Tree::Null => "null",
                Tree::Boolean(_) => "boolean",
                Tree::Number(_) => "number",
                Tree::Text(_) => "string",
                Tree::Array(_) => "array",
                Tree::Object(_) => "object",
            }
            .to_owned(),
        ),
        (F::Distinct, _) => {
            let mut kept: Vec<Tree> = Vec::new();
            for item in items {
                if !kept.iter().any(|known| known.equals(&item)) {
                    kept.push(item);
                }
            }
            Tree::Array(kept)
        }
        _ => return of_text(function, values),
    })
}

fn of_text(function: F, values: &[Tree]) -> Outcome {
    let subject = text(values, 0).unwrap_or_default();
    let second = text(values, 1).unwrap_or_default();
    Ok(match function {
        F::Join => {
            let Some(Tree::Array(items)) = values.get(1) else { return Err(Failed) };
            let texts: Vec<&str> = items
                .iter()
                .filter_map(|item| match item {
                    Tree::Text(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            Tree::Text(texts.join(subject))
        }
        F::StartsWith => Tree::Boolean(subject.starts_with(second)),
        F::EndsWith => Tree::Boolean(subject.ends_with(second)),
        F::Lower => Tree::Text(subject.to_lowercase()),
        F::Upper => Tree::Text(subject.to_uppercase()),
        F::FindFirst | F::FindLast => {
            let characters: Vec<char> = subject.chars().collect();
            let wanted: Vec<char> = second.chars().collect();
            let bound = |index: Option<i64>, otherwise: usize| {
                let length = characters.len() as i64;
                index.map_or(otherwise, |index| {
                    let index = if index < 0 { index.saturating_add(length) } else { index };
                    index.clamp(0, length) as usize
                })
            };
            let start = bound(integer(values, 2)?, 0);
            let end = bound(integer(values, 3)?, characters.len());
            let mut found = (start..end.max(start)).filter(|at| {
                !wanted.is_empty()
                    && at + wanted.len() <= end
                    && characters.get(*at..at + wanted.len()) == Some(wanted.as_slice())
            });
            let found = if function == F::FindFirst { found.next() } else { found.next_back() };
            found.map_or(Tree::Null, |at| Tree::Number(at.to_string()))
        }
        F::PadLeft | F::PadRight => {
            let width = count(values, 1)?.unwrap_or(0);
            let with = text(values, 2).unwrap_or(" ");
            if with.chars().count() != 1 {
                return Err(Failed);
            }
            let missing = width.saturating_sub(subject.chars().count());
            if missing > 1 << 24 {
                return Err(Failed);
            }
            let filling = with.repeat(missing);
            Tree::Text(match function {
                F::PadLeft => filling + subject,
                _ => subject.to_owned() + &filling,
            })
        }
        F::Replace => {
            let new = text(values, 2).unwrap_or_default();
            Tree::Text(match count(values, 3)? {
                Some(most) => subject.replacen(second, new, most),
                None => subject.replace(second, new),
            })
        }
        F::Split => {
            let most = count(values, 2)?.unwrap_or(usize::MAX);
            let parts: Vec<String> = if second.is_empty() {
                let characters: Vec<char> = subject.chars().collect();
                let (single, rest) = characters.split_at(most.min(characters.len()));
                let rest: String = rest.iter().collect();
                let single = single.iter().map(char::to_string);
                single.chain(Some(rest).filter(|rest| !rest.is_empty())).collect()
            } else {
                subject.splitn(most.saturating_add(1), second).map(str::to_owned).collect()
            };
            Tree::Array(parts.into_iter().map(Tree::Text).collect())
        }
        F::Trim | F::TrimLeft | F::TrimRight => {
            let goes = |it: char| {
                if second.is_empty() { it.is_whitespace() } else { second.contains(it) }
            };
            let mut characters: std::collections::VecDeque<char> = subject.chars().collect();
            while function != F::TrimRight && characters.front().is_some_and(|it| goes(*it)) {
                characters.pop_front();
            }
            while function != F::TrimLeft && characters.back().is_some_and(|it| goes(*it)) {
                characters.pop_back();
            }
            Tree::Text(characters.into_iter().collect())
        }
        _ => return Err(Failed),
    })
}

/// What plans have beside JMESPath.
fn of_plans(function: F, values: &[Tree], written: &[&Node], zone: Option<&Zone>) -> Outcome {
    let first = values.first().cloned().unwrap_or(Tree::Null);
    let step = match function {
        F::Date => Conversion::Date(zone.cloned()),
        F::Timestamp => Conversion::Timestamp(zone.cloned()),
        F::ToBoolean => Conversion::ToBoolean,
        F::ToDouble => Conversion::ToDouble,
        F::ToInt64 => Conversion::ToInt64,
        F::ToJsonText => Conversion::ToJsonText,
        F::ParseJson => Conversion::ParseJson { path: Vec::new() },
        F::Regex => {
            let literal = |node: &&Node| match &node.kind {
                NodeKind::Literal(json) => serde_json::from_str(json).ok(),
                _ => None,
            };
            let mut arguments = serde_json::json!({"pattern": written.first().and_then(literal)});
            if let Some(group) = written.get(1).and_then(literal) {
                let group: serde_json::Value = group;
                arguments["group"] = group;
            }
            let step = serde_json::json!({"regex": arguments});
            let Tree::Text(text) = &first else { return Err(Failed) };
            let Conversion::Regex(pattern) = Conversion::from_json(&step).map_err(|_| Failed)?
            else {
                return Err(Failed);
            };
            if text.len() > pattern.max_text_bytes() {
                return Err(Failed);
            }
            let found = pattern.find(text).and_then(|found| text.get(found));
            return Ok(found.map_or(Tree::Null, |found| Tree::Text(found.to_owned())));
        }
        F::Sha256 => {
            let Tree::Text(text) = &first else { return Err(Failed) };
            let digest = Sha256::digest(text.as_bytes());
            return Ok(Tree::Text(digest.iter().map(|byte| format!("{byte:02x}")).collect()));
        }
        F::MapValue => return map_value(&first, written),
        _ => return of_time(function, values, written, zone),
    };
    match Chain::new(&[step]).apply(&first.to_json(), &mut u64::MAX.clone()) {
        Ok(Converted::Value(json)) => Ok(Tree::read(&json)),
        Ok(Converted::Absent) => Ok(Tree::Null),
        Ok(Converted::Failed) | Err(_) => Err(Failed),
    }
}

fn map_value(code: &Tree, written: &[&Node]) -> Outcome {
    let key = match code {
        Tree::Text(text) => text.clone(),
        Tree::Number(_) => code.to_number().ok_or(Failed)?.to_json(),
        Tree::Boolean(truth) => truth.to_string(),
        _ => return Err(Failed),
    };
    Ok(match written.first().map(|node| &node.kind) {
        Some(NodeKind::Literal(json)) => Tree::read(json).field(&key),
        Some(NodeKind::Object(members)) => {
            let found = members.iter().rev().find(|(name, _)| *name == key);
            match found.map(|(_, value)| &value.kind) {
                Some(NodeKind::Literal(json)) => Tree::read(json),
                Some(NodeKind::Field(text, _)) => Tree::Text(text.clone()),
                _ => Tree::Null,
            }
        }
        _ => return Err(Failed),
    })
}

fn of_time(function: F, values: &[Tree], written: &[&Node], zone: Option<&Zone>) -> Outcome {
    let unit = match written.first().map(|node| &node.kind) {
        Some(NodeKind::Literal(json)) => json.as_str(),
        _ => return Err(Failed),
    };
    let unit: i64 = match unit {
        "\"ns\"" => 1,
        "\"us\"" => 1_000,
        "\"ms\"" => 1_000_000,
        _ => 1_000_000_000,
    };
    let instant = |value: &Tree| {
        let json = value.to_json();
        match StepOutcome::read(json.as_str()) {
            StepOutcome::There(data) => {
                let nanoseconds = nanoseconds(&data, zone).ok_or(Failed)?;
                Number::read(&nanoseconds.to_string()).ok_or(Failed)
            }
            _ => Err(Failed),
        }
    };
    let first = values.first().unwrap_or(&Tree::Null);
    let nanoseconds = match function {
        F::FromEpoch => {
            let number = apply(F::ToNumber, std::slice::from_ref(first), &[], zone)?;
            let number = number.to_number().ok_or(Failed)?;
            let nanoseconds = number.apply(Operation::Multiply, unit.into()).ok_or(Failed)?;
            let nanoseconds = nanoseconds.floor().to_wide_integer().ok_or(Failed)?;
            return from_nanoseconds(nanoseconds).map(Tree::Text).ok_or(Failed);
        }
        F::Epoch => instant(first)?,
        _ => {
            let until = instant(values.get(1).unwrap_or(&Tree::Null))?;
            until.apply(Operation::Subtract, instant(first)?).ok_or(Failed)?
        }
    };
    Ok(Tree::number(nanoseconds.apply(Operation::Divide, unit.into()).ok_or(Failed)?))
}
