//! Values, compared.

use foldhash::HashMap;
use std::borrow::Cow;

use super::super::tree::Comparison;
use super::super::value::{Form, Val};
use super::{ITEM, Machine, Outcome};
use crate::plan::expr::{JsonType, Lookup};

impl<L: Lookup> Machine<'_, '_, L> {
    pub(super) fn compare(
        &mut self,
        comparison: Comparison,
        left: Val,
        right: Val,
    ) -> Outcome<Val> {
        Ok(match comparison {
            Comparison::Equal => Val::boolean(self.equal(left, right)?),
            Comparison::NotEqual => Val::boolean(!self.equal(left, right)?),
            _ => {
                self.spend(left.size().min(64) + right.size().min(64))?;
                let order = match (self.number_of(left), self.number_of(right)) {
                    (Some(left), Some(right)) => comparison.orders(left.cmp(&right)),
                    _ => None,
                };
                order.map_or(Val::NULL, Val::boolean)
            }
        })
    }

    /// Whether two values are equal, however they are written. What is inside of them waits in a list, so that no value is too
    /// deep.
    pub(in crate::plan::expr::query) fn equal(&mut self, left: Val, right: Val) -> Outcome<bool> {
        match (left.form(), right.form()) {
            (Form::Text(one), Form::Text(other)) => {
                self.spend(one.len().min(other.len()))?;
                Ok(one.len() == other.len() && self.written(one) == self.written(other))
            }
            _ if left.kind() != right.kind() => {
                self.spend(0)?;
                Ok(false)
            }
            _ => self.equal_of_a_kind(left, right),
        }
    }

    fn equal_of_a_kind(&mut self, left: Val, right: Val) -> Outcome<bool> {
        let mut pairs: Vec<(Val, Val)> = Vec::new();
        let mut next = Some((left, right));
        while let Some((left, right)) = next {
            self.spend(left.size().min(right.size()))?;
            if left.kind() != right.kind() {
                return Ok(false);
            }
            let same = match left.kind() {
                JsonType::Null => true,
                JsonType::Boolean => self.is_true(left) == self.is_true(right),
                JsonType::Number => self.number_of(left) == self.number_of(right),
                JsonType::String => self.text(left) == self.text(right),
                JsonType::Array => {
                    let (Some(mut ones), Some(mut others)) =
                        (self.items(left)?, self.items(right)?)
                    else {
                        return Ok(false);
                    };
                    loop {
                        match (self.next(&mut ones), self.next(&mut others)) {
                            (Some(one), Some(other)) => {
                                self.make(2 * ITEM)?;
                                pairs.push((one, other));
                            }
                            (None, None) => break true,
                            _ => break false,
                        }
                    }
                }
                JsonType::Object => {
                    let (Some(ones), Some(others)) = (self.members(left)?, self.members(right)?)
                    else {
                        return Ok(false);
                    };
                    self.make((ones.count as usize).saturating_mul(2 * ITEM))?;
                    let by_key: HashMap<Cow<'_, str>, Val> =
                        (self.memory.arena.members(others).iter())
                            .filter_map(|(key, value)| Some((self.text(*key)?, *value)))
                            .collect();
                    let ones = self.memory.arena.members(ones);
                    ones.len() == by_key.len()
                        && ones.iter().all(|(key, one)| {
                            let other = self.text(*key).and_then(|key| by_key.get(&key).copied());
                            pairs.extend(other.map(|other| (*one, other)));
                            other.is_some()
                        })
                }
            };
            if !same {
                return Ok(false);
            }
            next = pairs.pop();
        }
        Ok(true)
    }
}
