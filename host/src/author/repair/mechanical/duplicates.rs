//! Two mappings of one name.

use serde_json::Value;

use super::context::{Context, name_of, path_of};
use super::owner::Owner;
use super::plan::Remedy;
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::spelling;

/// The later of two mappings, by the pointer to its name: it goes where it says the same, and is renamed where its path is
/// plainly another property's. Where the first is the key and shouldn't be, the key is renamed.
pub(super) fn duplicate(context: &Context<'_, '_>, at: &str) -> Remedy {
    let mapping_at = at.strip_suffix("/property_name")?;
    let owner = context.owner(mapping_at)?;
    let mappings = mappings(owner);
    let place = mappings.iter().position(|(it, _)| it == mapping_at)?;
    let (_, later) = mappings.get(place)?;
    let name = name_of(later)?;
    let (earlier_at, earlier) =
        mappings.iter().take(place).find(|(_, it)| name_of(it) == Some(name))?;
    let is_key = |at: &str| owner.keys().iter().any(|(it, _)| it == at);
    if is_key(earlier_at)
        && let Some((it, certain)) = owner.key(earlier_at)
        && !it.is_named(name)
        && !owner.names().any(|name| it.is_named(name))
    {
        let certain = certain && owner.means_key(earlier_at, it);
        let at = format!("{earlier_at}/property_name");
        return Some((patch::replace(&at, &it.logical_name), certain));
    }
    if is_key(mapping_at) && is_key(earlier_at) {
        // Of a key of several properties, the other one was meant.
        let (it, certain) = owner.key(mapping_at).filter(|(it, _)| !it.is_named(name))?;
        return Some((patch::replace(at, &it.logical_name), certain));
    }
    let gone = patch::remove(mapping_at);
    let same = |field: &str| earlier.get(field) == later.get(field);
    if ["source_path", "from", "constant", "template", "coalesce"].into_iter().all(same) {
        return Some((gone, true));
    }
    let path = |mapping: &Value| mapping.get("source_path").and_then(path_of);
    let scope = context.scope(mapping_at)?;
    let (Some(before), Some(after)) = (path(earlier), path(later)) else {
        return Some((gone, false));
    };
    if let Some((property, certain)) = scope.property_of(None, &after) {
        return Some((patch::replace(at, &property.logical_name), certain));
    }
    if !is_key(earlier_at)
        && let Some((property, certain)) = scope.property_of(None, &before)
    {
        let at = format!("{earlier_at}/property_name");
        return Some((patch::replace(&at, &property.logical_name), certain));
    }
    let known = scope.known();
    let property_type = owner.property(name).map(|it| &it.property_type);
    let is_sound = |path: &[String]| known.has(path) && known.admits(path, property_type);
    let says_it = |path: &[String]| spelling::affinity(name, path);
    match (is_sound(&before), is_sound(&after)) {
        (true, false) => Some((gone, true)),
        (false, true) if !is_key(earlier_at) => Some((patch::remove(earlier_at), true)),
        _ => Some((gone, says_it(&before) > says_it(&after))),
    }
}

/// All mappings with their pointers, those of the key first.
fn mappings<'a>(owner: &Owner<'a>) -> Vec<(String, &'a Value)> {
    let properties = owner.properties().iter().enumerate();
    let properties = properties.map(|(i, it)| (format!("{}/property_fields/{i}", owner.at), it));
    owner.keys().into_iter().chain(properties).collect()
}
