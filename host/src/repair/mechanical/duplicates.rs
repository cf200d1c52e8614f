//! Two mappings of one name.

use super::context::{Context, name_of, path_of};
use super::plan::Remedy;
use crate::finding::patch;
use crate::gate::fit::likeness;

/// The later of two mappings, by the pointer to its name: it goes where it says the same, and is renamed where its path is
/// plainly another property's. Where the first is the key and shouldn't be, the key is renamed.
pub(super) fn duplicate(context: &Context<'_, '_>, at: &str) -> Remedy {
    let mapping_at = at.strip_suffix("/property_name")?;
    let later = context.value.pointer(mapping_at)?;
    let name = name_of(later)?;
    let index: usize = mapping_at.strip_prefix("/property_fields/")?.parse().ok()?;
    let is_same = |it: &&serde_json::Value| name_of(it) == Some(name);
    let key = context.value.get("key_field").filter(is_same);
    if key.is_some()
        && let Some((it, certain)) = context.key()
        && !it.is_named(name)
        && !context.mappings().iter().filter_map(name_of).any(|name| it.is_named(name))
    {
        let certain = certain && context.means_key(it);
        return Some((patch::replace("/key_field/property_name", &it.logical_name), certain));
    }
    let first = context.mappings().iter().take(index).position(|it| is_same(&it));
    let earlier = key.or_else(|| context.mappings().get(first?))?;
    let path = |mapping: &serde_json::Value| mapping.get("source_path").and_then(path_of);
    let (earlier, later) = (path(earlier)?, path(later)?);
    let gone = patch::remove(mapping_at);
    if earlier == later {
        return Some((gone, true));
    }
    if let Some((property, certain)) = context.property_of(None, &later) {
        return Some((patch::replace(at, &property.logical_name), certain));
    }
    if let Some(first) = first.filter(|_| key.is_none())
        && let Some((property, certain)) = context.property_of(None, &earlier)
    {
        let at = format!("/property_fields/{first}/property_name");
        return Some((patch::replace(&at, &property.logical_name), certain));
    }
    let known = context.known();
    let property_type =
        context.entity().and_then(|(it, _)| it.property(name)).map(|it| &it.property_type);
    let is_sound = |path: &[String]| known.has(path) && known.admits(path, property_type);
    let says_it = |path: &[String]| likeness::affinity(name, path);
    match (is_sound(&earlier), is_sound(&later)) {
        (true, false) => Some((gone, true)),
        (false, true) if key.is_none() => {
            first.map(|first| (patch::remove(&format!("/property_fields/{first}")), true))
        }
        _ => Some((gone, says_it(&earlier) > says_it(&later))),
    }
}
