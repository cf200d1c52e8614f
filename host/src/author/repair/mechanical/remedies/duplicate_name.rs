//! Two mappings of one name.

use super::{Context, Remedy, fix, maybe, replace};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;

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
        && let Some(key) = rule.key(&earlier.at)
        && !rule.maps(key.item)
    {
        let key = key.only_if(rule.means_key(&earlier.at, key.item));
        return replace(&earlier.name_at(), key.map(|it| &it.logical_name));
    }
    if later.is_key {
        // Of a key of several properties, the other one was meant.
        let other = rule.key(&later.at).filter(|key| !key.item.is_named(name))?;
        return replace(at, other.map(|it| &it.logical_name));
    }
    let same = |field: &str| earlier.json.get(field) == later.json.get(field);
    let sources = ["source_path", "from", "constant", "template", "coalesce", "expression"];
    if sources.into_iter().all(same) {
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
        if let Some(property) = scope.property_of(None, path) {
            return replace(&mapping.name_at(), property.map(|it| &it.logical_name));
        }
    }
    let property_type = rule.property(name).map(|it| &it.property_type);
    let is_sound = |path| scope.known.has(path) && scope.known.admits(path, property_type);
    match (is_sound(first), is_sound(second)) {
        (true, false) => fix(patch::remove(&later.at)),
        (false, true) if !earlier.is_key => fix(patch::remove(&earlier.at)),
        _ => {
            let says_less = spelling::affinity(name, first) > spelling::affinity(name, second);
            Some(Likely::new(patch::remove(&later.at), says_less))
        }
    }
}
