//! What is known where the paths of a mapping start.

use serde_json::Value;

use super::context::{name_of, path_of};
use super::grammar::Kind;
use super::owner::Owner;
use crate::evidence::Path;
use crate::evidence::PathIndex;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::gate::fit::suggest::likely_property;
use crate::gate::fit::suggest::{PathSearch, Sought, is_presentable, other_spellings};
use crate::graph::spec::{Property, PropertyType};
use crate::plan::expr::{Conversion, Level};

/// How much of a property's name a path has to say, more than of any other's, for the property to be meant.
const SAID: f64 = 0.25;

/// The values that a path can lead to, beside what has the mapping.
pub(super) struct Scope<'c, 'p, 'a> {
    owner: Option<&'c Owner<'a>>,
    known: &'c PathIndex<'p>,
    level: Level,
}

impl<'c, 'p, 'a> Scope<'c, 'p, 'a> {
    pub(super) fn new(
        owner: Option<&'c Owner<'a>>,
        known: &'c PathIndex<'p>,
        level: Level,
    ) -> Self {
        Self { owner, known, level }
    }

    pub(super) fn known(&self) -> &'c PathIndex<'p> {
        self.known
    }

    /// The property that a path of a mapping without a usable name is for.
    pub(super) fn property_of(
        &self,
        written: Option<&str>,
        path: &[String],
    ) -> Option<(&'a Property, bool)> {
        let likely = likely_property(written, path, &self.owner?.free(), self.known)?;
        Some((likely.item, likely.is_certain()))
    }

    /// The property of a mapping, by its name or else by its path, and by what its value becomes.
    pub(super) fn property_of_mapping(&self, mapping: &Value) -> Option<(&'a Property, bool)> {
        let written = mapping.get("property_name").and_then(Value::as_str);
        let path = mapping.get("source_path").and_then(path_of).unwrap_or_default();
        let chain = mapping.get("convert").and_then(Value::as_array);
        let given = match chain.and_then(|steps| steps.last()) {
            // What a pattern gives doesn't take its compilation.
            Some(step) if step.get("regex").is_some() => Some(PropertyType::String),
            Some(step) => Conversion::from_json(step).ok().and_then(|step| gives(&step)),
            None => mapping.get("template").map(|_| PropertyType::String),
        };
        let Some(given) = given else { return self.property_of(written, &path) };
        let free = self.owner?.free();
        let suiting: Vec<&Property> =
            free.into_iter().filter(|it| is_same(&it.property_type, &given)).collect();
        if let [only] = suiting.as_slice() {
            return Some((only, true));
        }
        let effort = &self.known.efforts().searches;
        let said = |it: &Property| {
            let near =
                written.map_or(0.0, |written| spelling::names(written, &it.logical_name, effort));
            near.max(spelling::affinity(&it.logical_name, &path))
        };
        let mut said: Vec<(f64, &'a Property)> =
            suiting.into_iter().map(|it| (said(it), it)).collect();
        said.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        effort.whole(Some(()))?;
        let second = said.get(1).map_or(0.0, |(said, _)| *said);
        let (first, property) = said.first()?;
        (*first > 0.0).then_some((property, *first >= SAID && first - second >= SAID))
    }

    /// A path for a property, or for anything of that name.
    pub(super) fn path_for(&self, name: &str, is_key: bool) -> Option<Likely<Path>> {
        let property_type = self.owner.and_then(|it| it.property(name)).map(|it| &it.property_type);
        let sought = Sought { given: &[], name: Some(name), property_type, is_key };
        self.search().named(&sought)
    }

    fn search(&self) -> PathSearch<'c, 'p> {
        let entity = self.owner.and_then(Owner::entity).map_or("", |(it, _)| it.name.as_str());
        let taken = self.owner.into_iter().flat_map(|owner| owner.paths(self.level));
        PathSearch::new(self.known, entity, taken)
    }

    /// A path that was written as one text, and whether there is such a path.
    pub(super) fn path_in(&self, text: &str) -> Option<(Vec<String>, bool)> {
        let whole = vec![text.to_owned()];
        let mut forms = other_spellings(&whole);
        forms.insert(0, whole);
        forms.retain(|path| path.iter().all(|segment| is_presentable(segment)));
        if let Some(path) = forms.iter().find(|path| self.known.has(path)) {
            return Some((path.clone(), true));
        }
        let evidence = self.known.evidence();
        let elsewhere = evidence
            .event_types()
            .find_map(|(name, _)| forms.iter().find(|path| evidence.knows(name, path)));
        if let Some(path) = elsewhere {
            return Some((path.clone(), true));
        }
        let split = forms.get(1).or(forms.first());
        split.filter(|path| path.iter().all(|it| !it.is_empty())).map(|path| (path.clone(), false))
    }

    /// What a property of a key is to be called.
    pub(super) fn key_name(&self, at: &str) -> Option<(&'a Property, bool)> {
        let owner = self.owner?;
        let (key, certain) = owner.key(at)?;
        let is_mapped = owner.properties().iter().filter_map(name_of).any(|it| key.is_named(it));
        let is_only = owner.kind != Kind::Plan || owner.keys().len() == 1;
        Some((key, certain && is_only && !is_mapped && owner.means_key(at, key)))
    }
}

/// The type of what a conversion gives; `None` where it may be anything.
fn gives(step: &Conversion) -> Option<PropertyType> {
    Some(match step {
        Conversion::ToString
        | Conversion::ToJsonText
        | Conversion::Lower
        | Conversion::Upper
        | Conversion::Trim
        | Conversion::Split { .. }
        | Conversion::Regex(_) => PropertyType::String,
        Conversion::ToInt64 | Conversion::Length => PropertyType::Int64,
        Conversion::ToDouble => PropertyType::Double,
        Conversion::ToBoolean => PropertyType::Boolean,
        Conversion::Timestamp => PropertyType::Timestamp,
        Conversion::Date => PropertyType::Date,
        Conversion::ParseJson { .. } => return None,
    })
}

/// Whether two types are the same, whatever they are called.
fn is_same(a: &PropertyType, b: &PropertyType) -> bool {
    use PropertyType::{Bool, Boolean, Double, Float64};
    a == b
        || matches!(
            (a, b),
            (Bool, Boolean) | (Boolean, Bool) | (Double, Float64) | (Float64, Double)
        )
}
