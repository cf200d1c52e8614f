//! Applies what is certain.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use json_patch::jsonptr::Pointer;
use json_patch::{Patch, PatchOperation};
use serde_json::Value;

use crate::diagnostics::finding::Finding;

/// How many certain patches are looked at in one go.
const MAX_PATCHES: usize = 64;

/// A plan's text with patches applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// The text: JSON, indented by two spaces, names sorted by code point.
    pub text: String,
    /// What was done, in the order in which it was done.
    pub patch: Patch,
}

/// Applies the certain patches of `findings` to the JSON in `text`, the first 64 of them, all in one go. `None` where there
/// are none, where none can be applied, or where the text isn't JSON.
///
/// All pointers are into the text as it is: items are taken out of arrays last, those of inner arrays first, and those of
/// one array from its end. Of two patches for one place, or for a place and one inside of it, the first counts; the other's
/// finding will show again if it still holds. A patch whose operations are about one another, or that puts something between
/// the items of an array or moves an item, has all of the innermost object or array around it to itself. Patches that copy
/// or test are left out.
#[must_use]
pub fn mend(text: &str, findings: &[Finding]) -> Option<Mended> {
    let before: Value = serde_json::from_str(text).ok()?;
    let certain = findings.iter().filter(|it| it.is_certain()).filter_map(|it| it.patch());
    let mut changed = Places::default();
    let (mut operations, mut removals) = (Vec::new(), Vec::new());
    for patch in certain.take(MAX_PATCHES) {
        match changed.admit(patch, &before) {
            None => continue,
            Some(Manner::InOrder) => {
                operations.extend(patch.0.iter().cloned());
                continue;
            }
            Some(Manner::Each) => {}
        }
        for operation in &patch.0 {
            match (operation, item_index(&before, operation.path())) {
                (PatchOperation::Remove(it), Some(index)) => {
                    let last_first = (Reverse(it.path.tokens().count()), Reverse(index));
                    removals.push((last_first, operation.clone()));
                }
                _ => operations.push(operation.clone()),
            }
        }
    }
    removals.sort_by_key(|(last_first, _)| *last_first);
    operations.extend(removals.into_iter().map(|(_, operation)| operation));
    let mut value = before.clone();
    json_patch::patch(&mut value, &operations).ok()?;
    if value == before {
        return None;
    }
    let text = serde_json::to_string_pretty(&value).ok()?;
    Some(Mended { text, patch: Patch(operations) })
}

/// A place that an operation changes, by its names from the root on.
struct Place {
    names: Vec<String>,
    /// Whether it is behind the last item of an array: any number of items may go there.
    is_end: bool,
}

/// The places that are changed already, none of which is inside of another. Sorted, so that what is inside of a place would
/// come right behind it.
#[derive(Default)]
struct Places(BTreeSet<Vec<String>>);

impl Places {
    /// Takes in the places of a patch, if it applies to the value and meets nothing that is changed already.
    fn admit(&mut self, patch: &Patch, value: &Value) -> Option<Manner> {
        let places: Option<Vec<Vec<Place>>> =
            patch.0.iter().map(|operation| places(operation, value)).collect();
        let mut own = Self::default();
        let is_each = places.is_some_and(|places| {
            places.into_iter().flatten().all(|place| {
                let is_free = !own.meets(&place);
                own.0.insert(place.names);
                is_free
            })
        });
        let manner = if is_each { Manner::Each } else { Manner::InOrder };
        if !is_each {
            json_patch::patch(&mut value.clone(), patch).ok()?;
            own.0 = BTreeSet::from([around(patch)?]);
        }
        let is_free = |names: &Vec<String>| {
            let is_end = names.last().is_some_and(|it| it == "-") && is_each;
            let is_end = is_end && parent(names, value).is_some_and(Value::is_array);
            !self.meets(&Place { names: names.clone(), is_end })
        };
        if !own.0.iter().all(is_free) {
            return None;
        }
        self.0.append(&mut own.0);
        Some(manner)
    }

    /// Whether one of these is the place, around it, or inside of it.
    fn meets(&self, place: &Place) -> bool {
        let names = place.names.as_slice();
        let mut around = (0..names.len()).map(|depth| &names[..depth]);
        let is_taken = !place.is_end && self.0.contains(names);
        let behind = (Bound::Excluded(names), Bound::Unbounded);
        let next = self.0.range::<[String], _>(behind).next();
        is_taken
            || around.any(|it| self.0.contains(it))
            || next.is_some_and(|it| it.starts_with(names))
    }
}

/// How the operations of a patch are applied.
enum Manner {
    /// Each by itself, removals last.
    Each,
    /// One after the other.
    InOrder,
}

/// The names of the innermost object or array around everything that a patch changes. `None` where an operation is of those
/// that aren't applied.
fn around(patch: &Patch) -> Option<Vec<String>> {
    let mut around: Option<Vec<String>> = None;
    for operation in &patch.0 {
        let ends = match operation {
            PatchOperation::Move(it) => vec![names(&it.from), names(&it.path)],
            PatchOperation::Add(_) | PatchOperation::Remove(_) | PatchOperation::Replace(_) => {
                vec![names(operation.path())]
            }
            PatchOperation::Copy(_) | PatchOperation::Test(_) => return None,
        };
        for mut end in ends {
            end.pop();
            around = Some(match around {
                None => end,
                Some(before) => {
                    let same = before.iter().zip(&end).take_while(|(a, b)| a == b).count();
                    before.into_iter().take(same).collect()
                }
            });
        }
    }
    around
}

/// What a place is in.
fn parent<'v>(names: &[String], value: &'v Value) -> Option<&'v Value> {
    let (_, parent) = names.split_last()?;
    parent.iter().try_fold(value, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        value => value.get(name),
    })
}

/// The places that an operation changes. `None` where it doesn't apply to the value, or isn't of those that can be applied
/// together with others.
fn places(operation: &PatchOperation, value: &Value) -> Option<Vec<Place>> {
    match operation {
        PatchOperation::Replace(it) => Some(vec![existing(&it.path, value)?]),
        PatchOperation::Remove(it) if !it.path.is_root() => Some(vec![existing(&it.path, value)?]),
        PatchOperation::Add(it) => Some(vec![new(&it.path, value)?]),
        PatchOperation::Move(it) if !it.from.is_root() && item_index(value, &it.from).is_none() => {
            Some(vec![existing(&it.from, value)?, new(&it.path, value)?])
        }
        PatchOperation::Remove(_)
        | PatchOperation::Move(_)
        | PatchOperation::Copy(_)
        | PatchOperation::Test(_) => None,
    }
}

fn existing(at: &Pointer, value: &Value) -> Option<Place> {
    value.pointer(at.as_str()).map(|_| Place { names: names(at), is_end: false })
}

/// A place that an object can have, or the end of an array.
fn new(at: &Pointer, value: &Value) -> Option<Place> {
    let names = names(at);
    let is_end = match at.parent() {
        None => false,
        Some(parent) => match value.pointer(parent.as_str())? {
            Value::Object(_) => false,
            Value::Array(_) if names.last().is_some_and(|it| it == "-") => true,
            _ => return None,
        },
    };
    Some(Place { names, is_end })
}

fn names(at: &Pointer) -> Vec<String> {
    at.tokens().map(|token| token.decoded().into_owned()).collect()
}

/// The index of what is an item of an array; fields of objects may be called by numbers too.
fn item_index(value: &Value, at: &Pointer) -> Option<usize> {
    value.pointer(at.parent()?.as_str())?.as_array()?;
    at.last()?.decoded().parse().ok()
}

#[cfg(test)]
mod tests {
    use json_patch::Patch;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::{MAX_PATCHES, mend};
    use crate::diagnostics::codes;
    use crate::diagnostics::finding::{Finding, patch};
    use crate::diagnostics::problem::Stage;

    fn finding(patch: Patch) -> Finding {
        Finding::new(Stage::Plan, codes::UNKNOWN_FIELD, "", "one thing", "another").with_fix(patch)
    }

    fn mended(value: &Value, patches: Vec<Patch>) -> Option<Value> {
        let findings: Vec<Finding> = patches.into_iter().map(finding).collect();
        mend(&value.to_string(), &findings).map(|it| serde_json::from_str(&it.text).expect("JSON"))
    }

    #[test]
    fn indices_hold_whatever_is_taken_out() {
        let value = json!({"a": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]});
        let patches = vec![
            patch::remove("/a/1"),
            patch::remove("/a/10"),
            patch::replace("/a/2", "two"),
            patch::both(patch::add("/a/-", "end"), patch::remove("/a/9")),
        ];
        let expected = json!({"a": [0, "two", 3, 4, 5, 6, 7, 8, 11, "end"]});
        assert_eq!(mended(&value, patches), Some(expected));
    }

    #[test]
    fn of_two_patches_for_one_place_the_first_counts() {
        let value = json!({"a": {"b": 1}, "c": 2});
        let patches = vec![
            patch::replace("/a", json!({"b": 3})),
            patch::replace("/a/b", 4),
            patch::rename("/c", "/d"),
            patch::remove("/c"),
        ];
        assert_eq!(mended(&value, patches), Some(json!({"a": {"b": 3}, "d": 2})));
    }

    #[test]
    fn what_cannot_be_applied_is_left_out() {
        let value = json!({"a": 1});
        assert_eq!(mended(&value, vec![patch::remove("/b")]), None);
        assert_eq!(mended(&value, vec![patch::replace("/a", 1)]), None);
        assert_eq!(
            mended(&value, vec![patch::remove("/b"), patch::replace("/a", 2)]),
            Some(json!({"a": 2}))
        );
        assert_eq!(mend("{", &[finding(patch::remove("/a"))]), None);
        let perhaps = Finding::new(Stage::Fit, codes::UNKNOWN_PATH, "/a", "one", "two")
            .with_suggestion(patch::remove("/a"));
        assert_eq!(mend("{\"a\":1}", &[perhaps]), None);
    }

    #[test]
    fn items_of_inner_arrays_go_before_those_around_them() {
        let mapping =
            |name: Value, path: Value| json!({"property_name": name, "source_path": path});
        let status = json!(["", "content", "status"]);
        let reference = mapping(json!("ref"), json!(["content", "ref"]));
        let value = json!({"property_fields": [
            null, mapping(json!("total"), json!(["total"])), mapping(json!("status"), status), reference,
        ]});
        let patches = vec![
            patch::remove("/property_fields/0"),
            patch::remove("/property_fields/2/source_path/0"),
            patch::replace("/property_fields/3/property_name", "reference"),
        ];
        let expected = json!({"property_fields": [
            mapping(json!("total"), json!(["total"])),
            mapping(json!("status"), json!(["content", "status"])),
            mapping(json!("reference"), json!(["content", "ref"])),
        ]});
        assert_eq!(mended(&value, patches), Some(expected));
    }

    #[test]
    fn numbers_are_indices_in_arrays_alone() {
        let value = json!({"7": [1, 2], "10": 3, "-": 4});
        let patches = vec![
            patch::remove("/10"),
            patch::remove("/7/0"),
            patch::remove("/-"),
            patch::add("/-", "second"),
            patch::add("/7/-", 5),
        ];
        assert_eq!(mended(&value, patches), Some(json!({"7": [2, 5]})));
    }

    #[test]
    fn what_is_about_one_thing_is_done_in_order_and_alone() {
        let value = json!({"a": [0, 1, 2], "b": {"from": 1, "to": 2}, "c": [0, 1]});
        let turned = patch::both(
            patch::both(patch::rename("/b/from", "/b/x"), patch::rename("/b/to", "/b/from")),
            patch::rename("/b/x", "/b/to"),
        );
        let patches = vec![
            patch::rename("/a/2", "/a/0"),
            patch::replace("/a/1", "lost"),
            turned,
            patch::replace("/b/to", "lost"),
            patch::add("/c/1", "between"),
            patch::remove("/c/0"),
        ];
        let expected = json!({"a": [2, 0, 1], "b": {"from": 2, "to": 1}, "c": [0, "between", 1]});
        assert_eq!(mended(&value, patches), Some(expected));
        // What doesn't apply is left out, and takes no place.
        let patches = vec![patch::add("/a/7", 7), patch::replace("/a/0", 1)];
        let expected = json!({"a": [1, 1, 2], "b": {"from": 1, "to": 2}, "c": [0, 1]});
        assert_eq!(mended(&value, patches), Some(expected));
        assert_eq!(
            mended(&json!({"a": [1]}), vec![patch::rename("/a/0", "/b")]),
            Some(json!({"a": [], "b": 1}))
        );
    }

    #[test]
    fn the_first_patches_count() {
        let value = json!({"a": vec![0; MAX_PATCHES + 3]});
        let patches = (0..MAX_PATCHES + 3).map(|i| patch::remove(&format!("/a/{i}"))).collect();
        assert_eq!(mended(&value, patches), Some(json!({"a": [0, 0, 0]})));
    }

    /// A change of one place, as the model below knows it.
    #[derive(Clone, Debug)]
    enum Change {
        Replace(Vec<String>, i32),
        Remove(Vec<String>),
        Append(Vec<String>, i32),
        Put(Vec<String>, i32),
    }

    impl Change {
        fn place(&self) -> &[String] {
            match self {
                Self::Replace(at, _)
                | Self::Remove(at)
                | Self::Append(at, _)
                | Self::Put(at, _) => at,
            }
        }

        fn patch(&self) -> Patch {
            let pointer =
                |at: &[String]| at.iter().fold(String::new(), |at, name| patch::below(&at, name));
            match self {
                Self::Replace(at, value) => patch::replace(&pointer(at), value),
                Self::Remove(at) => patch::remove(&pointer(at)),
                Self::Append(at, value) | Self::Put(at, value) => patch::add(&pointer(at), value),
            }
        }

        fn meets(&self, other: &Self) -> bool {
            let (a, b) = (self.place(), other.place());
            let both_append = matches!((self, other), (Self::Append(..), Self::Append(..)));
            !both_append && (a.starts_with(b) || b.starts_with(a))
        }
    }

    /// What a value becomes by changes that don't meet: built anew from its parts, each asked by its first place.
    fn rebuilt(value: &Value, at: &[String], changes: &[&Change]) -> Option<Value> {
        for change in changes {
            match change {
                Change::Replace(place, value) if place == at => return Some(json!(value)),
                Change::Remove(place) if place == at => return None,
                _ => {}
            }
        }
        let inner = |name: &str| [at, &[name.to_owned()]].concat();
        let is_here = |place: &[String]| place.split_last().is_some_and(|(_, parent)| parent == at);
        Some(match value {
            Value::Array(items) => {
                let kept = items.iter().enumerate();
                let kept =
                    kept.filter_map(|(i, item)| rebuilt(item, &inner(&i.to_string()), changes));
                let added = changes.iter().filter_map(|change| match change {
                    Change::Append(place, value) if is_here(place) => Some(json!(value)),
                    _ => None,
                });
                kept.chain(added).collect()
            }
            Value::Object(fields) => {
                let kept = fields.iter();
                let kept = kept.filter_map(|(name, it)| {
                    Some((name.clone(), rebuilt(it, &inner(name), changes)?))
                });
                let mut kept: Map<String, Value> = kept.collect();
                for change in changes {
                    if let Change::Put(place, value) = change
                        && is_here(place)
                    {
                        kept.insert(place.last().cloned().unwrap_or_default(), json!(value));
                    }
                }
                Value::Object(kept)
            }
            scalar => scalar.clone(),
        })
    }

    /// Every change that could be made of one place of the value.
    fn possible(value: &Value, at: Vec<String>, number: i32, changes: &mut Vec<Change>) {
        let inner = |name: &str| [at.as_slice(), &[name.to_owned()]].concat();
        match value {
            Value::Array(items) => {
                changes.push(Change::Append(inner("-"), number));
                for (i, item) in items.iter().enumerate() {
                    possible(item, inner(&i.to_string()), number, changes);
                }
            }
            Value::Object(fields) => {
                changes.extend(["3", "-", "new/~"].map(|name| Change::Put(inner(name), number)));
                for (name, item) in fields {
                    possible(item, inner(name), number, changes);
                }
            }
            _ => {}
        }
        if !at.is_empty() {
            changes.extend([Change::Replace(at.clone(), number), Change::Remove(at)]);
        }
    }

    fn nested() -> impl Strategy<Value = Value> {
        let leaf = any::<u8>().prop_map(|it| json!(it));
        leaf.prop_recursive(4, 40, 5, |inner| {
            let names = prop::sample::select(vec!["a", "7", "0", "-", "b~/c", ""]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(names, inner, 0..4).prop_map(|it| json!(it)),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_set_of_patches_changes_what_each_is_about(
            value in nested(),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 1..12),
        ) {
            let mut chosen: Vec<Change> = Vec::new();
            for (number, pick) in (1000..).zip(&picks) {
                let mut all = Vec::new();
                possible(&value, Vec::new(), number, &mut all);
                if !all.is_empty() {
                    chosen.push(pick.get(&all).clone());
                }
            }
            let mut counting: Vec<&Change> = Vec::new();
            for change in &chosen {
                if !counting.iter().any(|it| it.meets(change)) {
                    counting.push(change);
                }
            }
            let expected = rebuilt(&value, &[], &counting).filter(|it| *it != value);
            let patches = chosen.iter().map(Change::patch).collect();
            prop_assert_eq!(mended(&value, patches), expected);
        }
    }
}
