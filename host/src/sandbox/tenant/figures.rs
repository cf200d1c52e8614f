//! Figures of a policy, over those that the host has.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::diagnostics::nearest::nearest;

/// Limits by the names of their fields, as far as a policy gives them. `T` holds whole numbers alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Figures<T> {
    given: BTreeMap<String, u64>,
    limits: PhantomData<T>,
}

impl<T> Default for Figures<T> {
    fn default() -> Self {
        Self { given: BTreeMap::new(), limits: PhantomData }
    }
}

impl<T: Clone + Serialize + DeserializeOwned> Figures<T> {
    /// What is given, by name.
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, u64)> {
        self.given.iter().map(|(name, figure)| (name.as_str(), *figure))
    }

    /// The host's limits, with what is given in their place.
    pub(crate) fn over(&self, host: &T) -> T {
        // Names and numbers were taken for limits when they were read.
        self.replaced(host).unwrap_or_else(|_| host.clone())
    }

    fn replaced(&self, host: &T) -> Result<T, serde_json::Error> {
        let mut fields = serde_json::to_value(host)?;
        for (name, figure) in &self.given {
            if let Some(field) = fields.get_mut(name) {
                *field = (*figure).into();
            }
        }
        serde_json::from_value(fields)
    }
}

impl<'de, T> Deserialize<'de> for Figures<T>
where
    T: Clone + Default + Serialize + DeserializeOwned,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LimitNames<T>(PhantomData<T>);
        impl<'de, T: Default + Serialize> Visitor<'de> for LimitNames<T> {
            type Value = BTreeMap<String, u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("limits by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let known = serde_json::to_value(T::default()).map_err(A::Error::custom)?;
                let mut given = BTreeMap::new();
                while let Some(name) = entries.next_key::<String>()? {
                    if known.get(&name).is_none() {
                        return Err(A::Error::custom(unknown(&name, &known)));
                    }
                    if given.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("`{name}` appears twice here")));
                    }
                    given.insert(name, entries.next_value()?);
                }
                Ok(given)
            }
        }
        let given = deserializer.deserialize_map(LimitNames::<T>(PhantomData))?;
        let figures = Self { given, limits: PhantomData };
        figures.replaced(&T::default()).map_err(D::Error::custom)?;
        Ok(figures)
    }
}

/// What is said of a name that no limit has. It is escaped and bounded with the message.
fn unknown(name: &str, known: &serde_json::Value) -> String {
    let names = known.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    match nearest(name, names) {
        Some(nearest) => format!("no limit is called `{name}`: did you mean `{nearest}`?"),
        None => format!("no limit is called `{name}`"),
    }
}
