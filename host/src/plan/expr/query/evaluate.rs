//! Expressions, evaluated over the bytes of an event.
//!
//! Everything is paid for before it is done: each part that is evaluated, and the bytes that it goes over or makes. It goes as
//! deep as an expression nests, and never as deep as an event does.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::error::{Failure, FailureKind};
use super::functions;
use super::keyed::KeyTest;
use super::program::{Op, Program};
use super::shared::{Known, KnownValue, SharedPart};
use super::tree::Comparison;
use super::value::{Items, Json, Members, Val};
use crate::json::string;
use crate::plan::expr::conversion::MAX_TEXT_BYTES;
use crate::plan::expr::fuel::{self, OutOfFuel};
use crate::plan::expr::{JsonType, Lookup, Zone};

/// Bytes of all lists and texts that the evaluation of one expression may make.
const MAX_MADE_BYTES: usize = 64 << 20;

/// Why an evaluation has ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    OutOfFuel(OutOfFuel),
    Failed(Failure),
}

impl From<OutOfFuel> for Stop {
    fn from(spent: OutOfFuel) -> Self {
        Self::OutOfFuel(spent)
    }
}

/// Bytes that looking at an element of a list counts as that was gone over before.
const KEYED: usize = 4;

pub(super) type Outcome<T> = Result<T, Stop>;

/// What evaluates one expression for one event.
pub(super) struct Machine<'v, 'f, L> {
    event: &'v L,
    inputs: &'v [usize],
    fuel: &'f mut u64,
    /// Bytes that may still be made.
    left: usize,
    /// Whether what a string holds as JSON is null where it is an object or an array: something that is read may hold what a
    /// policy denies.
    pub(super) withholds_nested: bool,
    variables: Vec<Val<'v>>,
    /// In which times without an offset are read.
    pub(super) zone: Option<&'v Zone>,
}

impl<'v, 'f, L: Lookup> Machine<'v, 'f, L> {
    /// For a program whose inputs are found under these numbers.
    pub(super) fn new(
        program: &'v Program,
        inputs: &'v [usize],
        event: &'v L,
        fuel: &'f mut u64,
    ) -> Self {
        let variables = vec![Val::Null; program.variables];
        let withholds_nested = inputs.iter().any(|index| event.withholds_nested(*index));
        Self {
            event,
            inputs,
            fuel,
            left: MAX_MADE_BYTES,
            withholds_nested,
            variables,
            zone: program.zone.as_ref(),
        }
    }

    pub(super) fn eval(&mut self, op: &'v Op, current: &Val<'v>) -> Outcome<Val<'v>> {
        self.spend(0)?;
        Ok(match op {
            Op::Input(number) => {
                let index = self.inputs.get(*number).copied().unwrap_or(usize::MAX);
                match self.event.as_it_is(index) {
                    Some(json) => Json::Borrowed(json).value(),
                    None => Val::Null,
                }
            }
            Op::Current => current.clone(),
            Op::Literal(json) => Json::Borrowed(json.as_bytes()).value(),
            Op::Variable(slot) => self.variables.get(*slot).cloned().unwrap_or(Val::Null),
            Op::Undefined(at) => {
                return fail(FailureKind::UndefinedVariable, *at, "a variable that is bound");
            }
            Op::Fields(of, keys) => {
                let mut value = self.eval(of, current)?;
                for key in keys {
                    value = self.field(&value, key)?;
                }
                value
            }
            Op::Then(left, right) => match self.eval(left, current)? {
                Val::Null => Val::Null,
                left => self.eval(right, &left)?,
            },
            Op::Pipe(left, right) => {
                let left = self.eval(left, current)?;
                self.eval(right, &left)?
            }
            Op::Index(list, index) => {
                let list = self.eval(list, current)?;
                self.index(&list, *index)?
            }
            Op::Slice(list, slice) => {
                let list = self.eval(list, current)?;
                self.slice(&list, *slice)?
            }
            Op::Flatten(list) => {
                let list = self.eval(list, current)?;
                self.flatten(&list)?
            }
            Op::Project(list, right, may_be_string) => {
                let list = self.eval(list, current)?;
                match self.items(&list)? {
                    Some(items) => self.project(items, None, right.as_deref())?,
                    None if *may_be_string && list.kind() == JsonType::String => match right {
                        Some(right) => self.eval(right, &list)?,
                        None => list,
                    },
                    None => Val::Null,
                }
            }
            Op::ProjectValues(object, right) => {
                let object = self.eval(object, current)?;
                match self.members(&object)? {
                    None => Val::Null,
                    Some(members) => {
                        let values = members.iter().map(|(_, value)| value.clone()).collect();
                        self.project(Items::List(Rc::new(values), 0), None, right.as_deref())?
                    }
                }
            }
            Op::Filter(list, condition, right, test) => {
                let list = self.eval(list, current)?;
                if let Some(found) =
                    test.as_ref().map(|test| self.keyed(&list, test)).transpose()?.flatten()
                {
                    return self.project(found, None, right.as_deref());
                }
                match self.items(&list)? {
                    Some(items) => self.project(items, Some(condition), right.as_deref())?,
                    None => Val::Null,
                }
            }
            Op::Or(left, right) => match self.eval(left, current)? {
                left if left.is_true() => left,
                _ => self.eval(right, current)?,
            },
            Op::And(left, right) => match self.eval(left, current)? {
                left if !left.is_true() => left,
                _ => self.eval(right, current)?,
            },
            Op::Not(inside) => Val::Boolean(!self.eval(inside, current)?.is_true()),
            Op::Compare(comparison, left, right) => {
                let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
                self.compare(*comparison, &left, &right)?
            }
            Op::Arithmetic(operation, left, right, at) => {
                let (left, right) = (self.eval(left, current)?, self.eval(right, current)?);
                let (left, right) = (self.number(&left, *at)?, self.number(&right, *at)?);
                match left.apply(*operation, right) {
                    Some(result) => Val::Number(result),
                    None => {
                        let expected = "a result that is a number";
                        return fail(FailureKind::NotANumber, *at, expected);
                    }
                }
            }
            Op::Negate(inside, at) => {
                let value = self.eval(inside, current)?;
                Val::Number(self.number(&value, *at)?.negated())
            }
            Op::Plus(inside, at) => {
                let value = self.eval(inside, current)?;
                self.number(&value, *at)?;
                value
            }
            Op::Choose(condition, then, otherwise) => {
                let holds = self.eval(condition, current)?.is_true();
                self.eval(if holds { then } else { otherwise }, current)?
            }
            Op::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(self.eval(item, current)?);
                }
                self.list(list)?
            }
            Op::Object(members) => {
                let mut object = Vec::with_capacity(members.len());
                for (key, value) in members {
                    object.push((Arc::from(&**key), self.eval(value, current)?));
                }
                self.object(object)?
            }
            Op::Call(call) => functions::call(self, call, current)?,
            Op::Shared(part, op) => self.shared(*part, op, current)?,
            Op::Let(bindings, body) => {
                for (slot, value) in bindings {
                    let value = self.eval(value, current)?;
                    if let Some(variable) = self.variables.get_mut(*slot) {
                        *variable = value;
                    }
                }
                self.eval(body, current)?
            }
        })
    }

    /// Pays for a step, and for so many bytes that are gone over.
    pub(super) fn spend(&mut self, bytes: usize) -> Outcome<()> {
        Ok(fuel::spend(self.fuel, fuel::STEP.of(bytes))?)
    }

    /// Pays for what a conversion does.
    pub(super) fn spend_cost(&mut self, cost: fuel::Cost, bytes: usize) -> Outcome<()> {
        Ok(fuel::spend(self.fuel, cost.of(bytes))?)
    }

    /// Pays for bytes that are to be made.
    pub(super) fn make(&mut self, bytes: usize) -> Outcome<()> {
        self.spend(bytes)?;
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => fail(FailureKind::TooLarge, 0, "less to be made on the way"),
        }
    }

    pub(super) fn list(&mut self, items: Vec<Val<'v>>) -> Outcome<Val<'v>> {
        self.make(items.len().saturating_mul(size_of::<Val<'_>>()))?;
        Ok(Val::List(Rc::new(items)))
    }

    /// An object; of equal keys the last one counts, in the place of the first.
    pub(super) fn object(&mut self, members: Members<'v>) -> Outcome<Val<'v>> {
        self.make(members.len().saturating_mul(size_of::<(Arc<str>, Val<'_>)>()))?;
        Ok(Val::Object(Rc::new(distinct(members))))
    }

    pub(super) fn text(&mut self, text: &str) -> Outcome<Val<'v>> {
        self.make(text.len())?;
        Ok(Val::Text(Arc::from(text)))
    }

    fn number(&mut self, value: &Val<'v>, at: usize) -> Outcome<super::number::Number> {
        self.spend(value.size().min(64))?;
        match value.number() {
            Some(number) => Ok(number),
            None => fail(FailureKind::InvalidType, at, "numbers on both sides"),
        }
    }

    /// The elements of an array; none of anything else.
    pub(super) fn items(&mut self, value: &Val<'v>) -> Outcome<Option<Items<'v>>> {
        let items = value.items();
        if items.is_some() {
            self.spend_cost(fuel::LIST, value.size())?;
        }
        Ok(items)
    }

    /// A part whose value is kept. To read it again costs a step, and what was made for it counts again.
    fn shared(&mut self, part: SharedPart, op: &'v Op, current: &Val<'v>) -> Outcome<Val<'v>> {
        let Some((values, elements)) = self.event.shared_values() else {
            return self.eval(op, current);
        };
        let of = elements.get(part.level).copied().unwrap_or_default();
        let known = values.borrow().known(part, of);
        if let Some(Known { value, made }) = known {
            self.left = match self.left.checked_sub(made) {
                Some(left) => left,
                None => return fail(FailureKind::TooLarge, 0, "less to be made on the way"),
            };
            return value.map(KnownValue::value).map_err(Stop::Failed);
        }
        let left = self.left;
        let value = match self.eval(op, current) {
            Ok(value) => Ok(value),
            Err(Stop::Failed(failure)) => Err(failure),
            Err(spent) => return Err(spent),
        };
        let made = left - self.left;
        let kept = match &value {
            Ok(value) => self.kept(value)?.map(Ok),
            Err(failure) => Some(Err(*failure)),
        };
        if let Some(value) = kept {
            values.borrow_mut().keep(part, of, Known { value, made });
        }
        value.map_err(Stop::Failed)
    }

    /// A value without what it borrows; none of one that is too large to be written.
    fn kept(&mut self, value: &Val<'v>) -> Outcome<Option<KnownValue>> {
        Ok(Some(match value {
            Val::Null => KnownValue::Null,
            Val::Boolean(truth) => KnownValue::Boolean(*truth),
            Val::Number(number) => KnownValue::Number(*number),
            Val::Text(text) => KnownValue::Text(text.clone()),
            Val::Json(Json::Shared(text, start, end)) => {
                KnownValue::Json(text.clone(), *start, *end)
            }
            Val::Json(Json::Borrowed(_)) | Val::List(_) | Val::Object(_) => {
                let mut json = Vec::new();
                match self.write(value, &mut json) {
                    Ok(()) => {}
                    Err(Stop::Failed(_)) => return Ok(None),
                    Err(spent) => return Err(spent),
                }
                // What is written is made of text.
                let Ok(json) = String::from_utf8(json) else { return Ok(None) };
                let end = json.len();
                KnownValue::Json(json.into(), 0, end)
            }
        }))
    }

    /// The elements of an array of the event that have this under their key. The first time that a key is asked for is paid like
    /// a filter, each further time by the elements alone. `None` of what isn't in the event.
    fn keyed(&mut self, list: &Val<'v>, test: &KeyTest) -> Outcome<Option<Items<'v>>> {
        let (Some(tables), Val::Json(Json::Borrowed(json))) = (self.event.key_tables(), list)
        else {
            return Ok(None);
        };
        if json.first() != Some(&b'[') || !tables.borrow().covers(json) {
            return Ok(None);
        }
        let known = tables.borrow().known(json, &test.key);
        if known.is_none() {
            self.spend_cost(fuel::LIST, 2 * json.len())?;
        }
        let found = tables.borrow_mut().find(json, test);
        // Of those that are there now.
        let elements = tables.borrow().known(json, &test.key).unwrap_or_default();
        self.spend(elements.saturating_mul(KEYED))?;
        let found: Vec<Val<'v>> =
            found.into_iter().map(|json| Json::Borrowed(json).value()).collect();
        self.make(found.len().saturating_mul(size_of::<Val<'_>>()))?;
        Ok(Some(Items::List(Rc::new(found), 0)))
    }

    /// The members of an object, each key once; none of anything else.
    pub(super) fn members(&mut self, value: &Val<'v>) -> Outcome<Option<Rc<Members<'v>>>> {
        match value {
            Val::Object(members) => {
                self.spend(value.size())?;
                Ok(Some(members.clone()))
            }
            Val::Json(json) if value.kind() == JsonType::Object => {
                // A member has at least five bytes, and takes some ten times as many here.
                self.make(json.bytes().len().saturating_mul(8))?;
                Ok(Some(Rc::new(distinct(json.members()))))
            }
            _ => Ok(None),
        }
    }

    fn field(&mut self, value: &Val<'v>, key: &str) -> Outcome<Val<'v>> {
        self.spend(value.size())?;
        let found = match value {
            Val::Json(json) => json.member(key),
            Val::Object(members) => {
                let found = members.iter().find(|(name, _)| **name == *key);
                found.map(|(_, value)| value.clone())
            }
            _ => None,
        };
        Ok(found.unwrap_or(Val::Null))
    }

    fn index(&mut self, list: &Val<'v>, index: i64) -> Outcome<Val<'v>> {
        let Some(mut items) = self.items(list)? else { return Ok(Val::Null) };
        let index = match usize::try_from(index) {
            Ok(index) => Some(index),
            Err(_) => {
                // To learn how many there are is to go over it once more.
                self.spend_cost(fuel::LIST, list.size())?;
                let back = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
                length(list).checked_sub(back)
            }
        };
        Ok(index.and_then(|index| items.nth(index)).unwrap_or(Val::Null))
    }

    fn slice(&mut self, list: &Val<'v>, slice: super::tree::Slice) -> Outcome<Val<'v>> {
        if let Some(items) = self.items(list)? {
            let (start, count) = slice.of(length(list));
            let step = usize::try_from(slice.step.unsigned_abs()).unwrap_or(usize::MAX);
            if slice.step > 0 {
                let items = items.skip(start).step_by(step).take(count).collect();
                return self.list(items);
            }
            let all: Vec<Val<'v>> = items.take(start + 1).collect();
            self.make(all.len().saturating_mul(size_of::<Val<'_>>()))?;
            let items = all.into_iter().rev().step_by(step).take(count).collect();
            return self.list(items);
        }
        if list.kind() != JsonType::String {
            return Ok(Val::Null);
        }
        self.make(list.size().saturating_mul(4))?;
        let text = list.text().unwrap_or_default();
        let (start, count) = slice.of(text.chars().count());
        let step = usize::try_from(slice.step.unsigned_abs()).unwrap_or(usize::MAX);
        let sliced: String = if slice.step > 0 {
            text.chars().skip(start).step_by(step).take(count).collect()
        } else {
            let all: Vec<char> = text.chars().take(start + 1).collect();
            all.into_iter().rev().step_by(step).take(count).collect()
        };
        self.text(&sliced)
    }

    fn flatten(&mut self, list: &Val<'v>) -> Outcome<Val<'v>> {
        let Some(items) = self.items(list)? else { return Ok(Val::Null) };
        let mut flat = Vec::new();
        for item in items {
            self.spend(0)?;
            match self.items(&item)? {
                None => flat.push(item),
                Some(inner) => {
                    for item in inner {
                        self.make(size_of::<Val<'_>>())?;
                        flat.push(item);
                    }
                }
            }
        }
        self.list(flat)
    }

    /// What is made of each element for which a condition is true, null left out.
    fn project(
        &mut self,
        items: Items<'v>,
        condition: Option<&'v Op>,
        right: Option<&'v Op>,
    ) -> Outcome<Val<'v>> {
        let mut list = Vec::new();
        for item in items {
            self.spend(0)?;
            if let Some(condition) = condition
                && !self.eval(condition, &item)?.is_true()
            {
                continue;
            }
            let value = match right {
                Some(right) => self.eval(right, &item)?,
                None => item,
            };
            if !matches!(value, Val::Null) {
                self.make(size_of::<Val<'_>>())?;
                list.push(value);
            }
        }
        Ok(Val::List(Rc::new(list)))
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &Val<'v>,
        right: &Val<'v>,
    ) -> Outcome<Val<'v>> {
        Ok(match comparison {
            Comparison::Equal => Val::Boolean(self.equal(left, right)?),
            Comparison::NotEqual => Val::Boolean(!self.equal(left, right)?),
            _ => {
                self.spend(left.size().min(64) + right.size().min(64))?;
                let order = match (left.number(), right.number()) {
                    (Some(left), Some(right)) => comparison.orders(left.cmp(&right)),
                    _ => None,
                };
                order.map_or(Val::Null, Val::Boolean)
            }
        })
    }

    /// Whether two values are equal, however they are written. What is inside of them waits in a list, so that no value is too
    /// deep.
    pub(super) fn equal(&mut self, left: &Val<'v>, right: &Val<'v>) -> Outcome<bool> {
        let mut pairs = vec![(left.clone(), right.clone())];
        while let Some((left, right)) = pairs.pop() {
            self.spend(left.size().min(right.size()))?;
            if left.kind() != right.kind() {
                return Ok(false);
            }
            if let (Val::Json(left), Val::Json(right)) = (&left, &right)
                && left.bytes() == right.bytes()
            {
                continue;
            }
            let same = match left.kind() {
                JsonType::Null => true,
                JsonType::Boolean => left.is_true() == right.is_true(),
                JsonType::Number => left.number() == right.number(),
                JsonType::String => left.text() == right.text(),
                JsonType::Array => {
                    let (Some(mut ones), Some(mut others)) =
                        (self.items(&left)?, self.items(&right)?)
                    else {
                        return Ok(false);
                    };
                    loop {
                        match (ones.next(), others.next()) {
                            (Some(one), Some(other)) => {
                                self.make(2 * size_of::<Val<'_>>())?;
                                pairs.push((one, other));
                            }
                            (None, None) => break true,
                            _ => break false,
                        }
                    }
                }
                JsonType::Object => {
                    let (Some(ones), Some(others)) = (self.members(&left)?, self.members(&right)?)
                    else {
                        return Ok(false);
                    };
                    let by_key: HashMap<&str, &Val<'v>> =
                        others.iter().map(|(key, value)| (&**key, value)).collect();
                    self.make(ones.len().saturating_mul(2 * size_of::<Val<'_>>()))?;
                    ones.len() == others.len()
                        && ones.iter().all(|(key, one)| match by_key.get(&**key) {
                            Some(other) => {
                                pairs.push((one.clone(), (*other).clone()));
                                true
                            }
                            None => false,
                        })
                }
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the JSON of a value: strings canonical, what is of the event as it is there. It goes as deep as the expression
    /// that has made the value.
    pub(super) fn write(&mut self, value: &Val<'v>, out: &mut Vec<u8>) -> Outcome<()> {
        let most = out.len().saturating_add(MAX_TEXT_BYTES);
        self.write_within(value, out, most)
    }

    fn write_within(&mut self, value: &Val<'v>, out: &mut Vec<u8>, most: usize) -> Outcome<()> {
        self.spend(value.size())?;
        match value {
            Val::Null => out.extend_from_slice(b"null"),
            Val::Boolean(truth) => {
                out.extend_from_slice(if *truth { b"true" } else { b"false" });
            }
            Val::Json(json) if value.kind() != JsonType::String => {
                let is_nested = matches!(json.bytes().first(), Some(b'{' | b'['));
                if is_nested {
                    self.spend_cost(fuel::LIST, json.bytes().len())?;
                }
                if !is_nested || !json.repeats_keys() {
                    out.extend_from_slice(json.bytes());
                } else if let Some(members) = self.members(value)? {
                    // Of equal keys the last one is the value's, here as everywhere.
                    self.write_within(&Val::Object(members), out, most)?;
                } else {
                    let items = value.items().into_iter().flatten().collect();
                    self.write_within(&Val::List(Rc::new(items)), out, most)?;
                }
            }
            Val::Json(_) | Val::Text(_) => {
                string::push_string(out, &value.text().unwrap_or_default());
            }
            Val::Number(number) => out.extend_from_slice(number.to_json().as_bytes()),
            Val::List(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.write_within(item, out, most)?;
                }
                out.push(b']');
            }
            Val::Object(members) => {
                out.push(b'{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    self.spend(key.len())?;
                    string::push_string(out, key);
                    out.push(b':');
                    self.write_within(value, out, most)?;
                }
                out.push(b'}');
            }
        }
        if out.len() > most {
            return fail(FailureKind::TooLarge, 0, "a result of at most 16 MiB");
        }
        Ok(())
    }
}

pub(super) fn fail<T>(kind: FailureKind, at: usize, expected: &'static str) -> Outcome<T> {
    Err(Stop::Failed(Failure { kind, at, expected }))
}

/// How many elements an array has, which has been paid for.
pub(super) fn length(list: &Val<'_>) -> usize {
    match list {
        Val::List(items) => items.len(),
        other => other.items().map_or(0, Iterator::count),
    }
}

/// Of equal keys the last one, in the place of the first.
fn distinct(members: Members<'_>) -> Members<'_> {
    let mut places: HashMap<Arc<str>, usize> = HashMap::with_capacity(members.len());
    let mut kept: Members<'_> = Vec::with_capacity(members.len());
    for (key, value) in members {
        match places.get(&key) {
            Some(place) => {
                if let Some((_, kept)) = kept.get_mut(*place) {
                    *kept = value;
                }
            }
            None => {
                places.insert(key.clone(), kept.len());
                kept.push((key, value));
            }
        }
    }
    kept
}
