//! Two mappings of one name.

use super::context::Context;
use super::remedy::{Remedy, fix, maybe, replace, suggest};
use crate::diagnostics::finding::{Applicability, patch};
use crate::gate::fit::likeness;

/// The later of two mappings, by the pointer to its name: it goes where it says the same, and is renamed where its path is
/// plainly another property's. Where the first is the key and shouldn't be, the key is renamed.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    let mapping_at = at.strip_suffix("/property_name")?;
    let rule = context.plan.rule_around(mapping_at)?;
    let later = rule.mapping(mapping_at)?;
    let name = later.name?;
    let before = rule.mappings.iter().take_while(|it| it.at != later.at);
    let earlier = before.into_iter().find(|it| it.name == Some(name))?;
    if earlier.is_key
        && let Some((key, applicability)) = rule.key(&earlier.at)
        && !rule.maps(key)
    {
        let is_meant = Applicability::when(rule.means_key(&earlier.at, key));
        let renamed = patch::replace(&earlier.name_at(), &key.logical_name);
        return suggest(renamed, applicability.min(is_meant));
    }
    if later.is_key {
        // Of a key of several properties, the other one was meant.
        let other = rule.key(&later.at).filter(|(key, _)| !key.is_named(name));
        return replace(at, other.map(|(key, it)| (&key.logical_name, it)));
    }
    let same = |field: &str| earlier.json.get(field) == later.json.get(field);
    if ["source_path", "from", "constant", "template", "coalesce"].into_iter().all(same) {
        return fix(patch::remove(&later.at));
    }
    let scope = context.scope(mapping_at)?;
    let (Some(first), Some(second)) = (earlier.path.as_deref(), later.path.as_deref()) else {
        return maybe(patch::remove(&later.at));
    };
    // Of the two, a property of a key keeps its name.
    let free = [later, earlier].into_iter().filter(|it| !it.is_key);
    for mapping in free {
        let path = mapping.path.as_deref().unwrap_or_default();
        if let Some((property, applicability)) = scope.property_of(None, path) {
            let renamed = patch::replace(&mapping.name_at(), &property.logical_name);
            return suggest(renamed, applicability);
        }
    }
    let property_type = rule.property(name).map(|it| &it.property_type);
    let is_sound = |path| scope.known.has(path) && scope.known.admits(path, property_type);
    match (is_sound(first), is_sound(second)) {
        (true, false) => fix(patch::remove(&later.at)),
        (false, true) if !earlier.is_key => fix(patch::remove(&earlier.at)),
        _ => {
            let says_less = likeness::affinity(name, first) > likeness::affinity(name, second);
            suggest(patch::remove(&later.at), Applicability::when(says_less))
        }
    }
}
