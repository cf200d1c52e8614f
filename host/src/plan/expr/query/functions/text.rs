//! Functions of strings.

use super::super::evaluate::{Machine, Outcome};
use super::super::function::FunctionName as F;
use super::super::value::Val;
use super::Arguments;
use crate::plan::expr::Lookup;
use crate::plan::expr::fuel;

pub(super) fn apply<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    function: F,
) -> Outcome<Val<'v>> {
    if function == F::Join {
        return join(machine, arguments);
    }
    let first = arguments.value(0);
    let text = first.text().unwrap_or_default();
    // What reads and writes the text once or twice, at the price of the conversions that do.
    machine.spend_cost(fuel::TEXT, text.len())?;
    match function {
        F::StartsWith => Ok(Val::Boolean(text.starts_with(&arguments.text(1)))),
        F::EndsWith => Ok(Val::Boolean(text.ends_with(&arguments.text(1)))),
        F::Lower => machine.text(&text.to_lowercase()),
        F::Upper => machine.text(&text.to_uppercase()),
        F::FindFirst | F::FindLast => {
            let (start, end) = (arguments.integer(2)?, arguments.integer(3)?);
            let found = find(&text, &arguments.text(1), start, end, function == F::FindLast);
            Ok(found.map_or(Val::Null, |at| Val::Number(at.into())))
        }
        F::PadLeft | F::PadRight => pad(machine, arguments, &text, function),
        F::Replace => replace(machine, arguments, &text),
        F::Split => split(machine, arguments, &text),
        _ => {
            let set = arguments.text(1);
            let strips =
                |it: char| if set.is_empty() { it.is_whitespace() } else { set.contains(it) };
            machine.spend(text.len().saturating_mul(set.len().min(text.len())))?;
            machine.text(match function {
                F::TrimLeft => text.trim_start_matches(strips),
                F::TrimRight => text.trim_end_matches(strips),
                _ => text.trim_matches(strips),
            })
        }
    }
}

fn join<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
) -> Outcome<Val<'v>> {
    let between = arguments.text(0);
    let mut joined = String::new();
    for (index, item) in machine.items(&arguments.value(1))?.into_iter().flatten().enumerate() {
        let item = item.text().unwrap_or_default();
        machine.make(item.len() + between.len())?;
        if index > 0 {
            joined.push_str(&between);
        }
        joined.push_str(&item);
    }
    machine.text(&joined)
}

/// The index of the first or last time that a text occurs between two indices, by characters.
fn find(text: &str, sub: &str, start: Option<i64>, end: Option<i64>, last: bool) -> Option<usize> {
    if sub.is_empty() || text.is_empty() {
        return None;
    }
    let length = text.chars().count() as i64;
    let bound = |index: i64| {
        let index = if index < 0 { index.saturating_add(length) } else { index };
        index.clamp(0, length) as usize
    };
    let (start, end) = (start.map_or(0, bound), end.map_or(length as usize, bound));
    let offset = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let within = text.get(offset(start)..offset(end))?;
    let at = if last { within.rfind(sub) } else { within.find(sub) }?;
    Some(start + within.get(..at)?.chars().count())
}

fn pad<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    text: &str,
    function: F,
) -> Outcome<Val<'v>> {
    let width = arguments.count(1)?.unwrap_or(0);
    let with = if arguments.values.len() > 2 { arguments.text(2) } else { " ".to_owned() };
    if with.chars().count() != 1 {
        return arguments.invalid_value("one character to fill with");
    }
    let missing = width.saturating_sub(text.chars().count());
    // Before there are so many of them.
    machine.make(missing.saturating_mul(with.len()))?;
    let filling = with.repeat(missing);
    machine.text(&if function == F::PadLeft { filling + text } else { format!("{text}{filling}") })
}

fn replace<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    text: &str,
) -> Outcome<Val<'v>> {
    let (old, new) = (arguments.text(1), arguments.text(2));
    let most = arguments.count(3)?.unwrap_or(usize::MAX);
    let times = text.matches(&old).count().min(most);
    machine.make(times.saturating_mul(new.len()))?;
    machine.text(&text.replacen(&old, &new, times))
}

fn split<'v, L: Lookup>(
    machine: &mut Machine<'v, '_, L>,
    arguments: &Arguments<'v, '_>,
    text: &str,
) -> Outcome<Val<'v>> {
    let separator = arguments.text(1);
    let most = arguments.count(2)?.unwrap_or(usize::MAX);
    let mut parts = Vec::new();
    if !separator.is_empty() {
        for part in text.splitn(most.saturating_add(1), &separator) {
            machine.make(size_of::<Val<'_>>())?;
            parts.push(machine.text(part)?);
        }
        return machine.list(parts);
    }
    let mut rest = text;
    while let Some(first) = rest.chars().next()
        && parts.len() < most
    {
        machine.make(size_of::<Val<'_>>())?;
        let (part, behind) = rest.split_at(first.len_utf8());
        parts.push(machine.text(part)?);
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(machine.text(rest)?);
    }
    machine.list(parts)
}
