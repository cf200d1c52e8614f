//! What is known where the paths of a mapping start.

use super::rule::{PlanRule, TolerantMapping};
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::evidence::{Path, PathIndex};
use crate::gate::fit::suggest::{
    PathSearch, Sought, is_presentable, likely_property, other_spellings, said_most,
};
use crate::graph::spec::{PropertySpec, PropertyType};
use crate::plan::expr::{Conversion, Level};
use crate::plan::language::ObjectKind;

/// The values that a path can lead to, beside what has the mapping.
pub(super) struct PathContext<'c, 'p, 'a> {
    pub(super) rule: Option<&'c PlanRule<'a>>,
    pub(super) known: &'c PathIndex<'p>,
    pub(super) level: Level,
}

impl<'a> PathContext<'_, '_, 'a> {
    /// The property that a path of a mapping without a usable name is for.
    pub(super) fn property_of(
        &self,
        written: Option<&str>,
        path: &[String],
    ) -> Option<Likely<&'a PropertySpec>> {
        likely_property(written, path, &self.rule?.free(), self.known)
    }

    /// The property of a mapping, by its name or else by its path, and by what its value becomes.
    pub(super) fn property_of_mapping(
        &self,
        mapping: &TolerantMapping<'_>,
    ) -> Option<Likely<&'a PropertySpec>> {
        let path = mapping.path.as_deref().unwrap_or_default();
        let Some(given) = value_type(mapping) else { return self.property_of(mapping.name, path) };
        let free = self.rule?.free().into_iter();
        let suiting: Vec<&PropertySpec> =
            free.filter(|it| it.property_type.canonical() == given.canonical()).collect();
        if let [only] = suiting.as_slice() {
            return Some(Likely::new(*only, true));
        }
        let effort = &self.known.efforts.searches;
        let said = |it: &PropertySpec| {
            let name = &it.logical_name;
            let near = mapping.name.map_or(0.0, |written| spelling::names(written, name, effort));
            near.max(spelling::affinity(name, path))
        };
        effort.whole(said_most(suiting.into_iter().map(|it| (said(it), it))))
    }

    /// A path for a property, or for anything of that name.
    pub(super) fn path_for(&self, name: &str, is_key: bool) -> Option<Likely<Path>> {
        let property_type = self.rule.and_then(|it| it.property(name)).map(|it| &it.property_type);
        let entity = self.rule.and_then(|rule| rule.entity).map_or("", |it| it.item.name.as_str());
        let taken = self.rule.into_iter().flat_map(|rule| rule.paths(self.level));
        let sought = Sought { given: &[], name: Some(name), property_type, is_key };
        PathSearch::new(self.known, entity, taken).named(&sought)
    }

    /// A path that was written as one text; a fix where there is such a path.
    pub(super) fn path_in(&self, text: &str) -> Option<Likely<Path>> {
        let whole = vec![text.to_owned()];
        let mut forms = other_spellings(&whole);
        forms.insert(0, whole);
        forms.retain(|path| path.iter().all(|segment| is_presentable(segment)));
        let evidence = self.known.evidence;
        let here = forms.iter().find(|path| self.known.has(path));
        let elsewhere = || {
            let mut types = evidence.event_types();
            types.find_map(|(name, _)| forms.iter().find(|path| evidence.knows(name, path)))
        };
        if let Some(path) = here.or_else(elsewhere) {
            return Some(Likely::new(path.clone(), true));
        }
        let split = forms.get(1).or(forms.first())?;
        let is_path = split.iter().all(|segment| !segment.is_empty());
        is_path.then(|| Likely::new(split.clone(), false))
    }

    /// What a property of a key is to be called.
    pub(super) fn key_name(&self, at: &str) -> Option<Likely<&'a str>> {
        let rule = self.rule?;
        let key = rule.key(at)?;
        let is_mapped = rule.properties().any(|it| it.is_of(key.item));
        let is_only = rule.kind != ObjectKind::Plan || rule.keys().count() == 1;
        let is_meant = is_only && !is_mapped && rule.means_key(at, key.item);
        Some(key.map(|it| it.logical_name.as_str()).only_if(is_meant))
    }
}

/// The type of what a mapping's conversions or its template give; `None` where it may be anything.
fn value_type(mapping: &TolerantMapping<'_>) -> Option<PropertyType> {
    let chain = mapping.json.get("convert").and_then(serde_json::Value::as_array);
    let Some(last) = chain.and_then(|steps| steps.last()) else {
        return mapping.json.get("template").map(|_| PropertyType::String);
    };
    // What a pattern gives doesn't take its compilation.
    if last.get("regex").is_some() {
        return Some(PropertyType::String);
    }
    Conversion::from_json(last).ok()?.gives()
}
