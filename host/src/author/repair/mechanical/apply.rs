//! Applies fixes.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::iter::successors;

use json_patch::jsonptr::Pointer;
use json_patch::{Patch, PatchOperation};
use serde::Serialize;
use serde_json::Value;

use crate::diagnostics::fence::compact;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::untrusted::sanitize;

/// How many fixes are looked at in one go.
const MAX_PATCHES: usize = 64;

/// How much is shown of what was changed, in characters.
const SHOWN_CHARS: usize = 300;

/// One place that a fix changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// JSON Pointer to it, in the plan as it was when its turn came.
    pub pointer: String,
    /// What was there; not serialised where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// What is there now; not serialised where nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<Value>| match value {
            Some(value) => sanitize(&compact(value), SHOWN_CHARS),
            None => "nothing".to_owned(),
        };
        let pointer = sanitize(&self.pointer, SHOWN_CHARS);
        write!(f, "{pointer}: {} -> {}", shown(&self.before), shown(&self.after))
    }
}

/// A plan's text with fixes applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Fixed {
    /// The text: JSON, indented by two spaces, names sorted by code point.
    pub text: String,
    /// What was done, in the order in which it was done.
    pub patch: Patch,
    /// The same place by place, with what was there before and after.
    pub changes: Vec<Change>,
}

/// Applies the fixes of `findings` to the JSON in `text`, the first 64 of them, all in one go. `None` where there are none,
/// where none can be applied, or where the text isn't JSON.
///
/// All pointers are into the text as it is: items are taken out of arrays last, those of inner arrays first, and those of
/// one array from its end. Of two patches for one place, or for a place and one inside of it, the first counts; the other's
/// finding will show again if it still holds. A patch whose operations depend on one another, or that puts something between
/// the items of an array or moves an item, has all of the innermost object or array around it to itself. Patches that copy
/// or test are left out.
#[must_use]
pub fn apply_fixes(text: &str, findings: &[Finding]) -> Option<Fixed> {
    let before: Value = serde_json::from_str(text).ok()?;
    let fixes = findings.iter().filter(|it| it.is_certain()).filter_map(Finding::patch);
    let mut changed = ChangedPlaces::default();
    let (mut operations, mut removals) = (Vec::new(), Vec::new());
    for patch in fixes.take(MAX_PATCHES) {
        let Some(order) = changed.admit(patch, &before) else { continue };
        for operation in &patch.0 {
            match (order, operation, item_index(&before, operation.path())) {
                (Order::Any, PatchOperation::Remove(it), Some(index)) => {
                    let last_first = (Reverse(it.path.count()), Reverse(index));
                    removals.push((last_first, operation.clone()));
                }
                _ => operations.push(operation.clone()),
            }
        }
    }
    removals.sort_by_key(|(last_first, _)| *last_first);
    operations.extend(removals.into_iter().map(|(_, operation)| operation));
    let mut value = before.clone();
    let mut changes = Vec::new();
    for operation in &operations {
        changes.extend(changed_by(operation, &value));
        json_patch::patch(&mut value, std::slice::from_ref(operation)).ok()?;
    }
    if value == before {
        return None;
    }
    let text = serde_json::to_string_pretty(&value).ok()?;
    Some(Fixed { text, patch: Patch(operations), changes })
}

/// What an operation changes in a value.
fn changed_by(operation: &PatchOperation, value: &Value) -> Vec<Change> {
    let there = |at: &Pointer| value.pointer(at.as_str()).cloned();
    let change = |at: &Pointer, before: Option<Value>, after: Option<Value>| Change {
        pointer: at.to_string(),
        before,
        after,
    };
    match operation {
        PatchOperation::Replace(it) => {
            vec![change(&it.path, there(&it.path), Some(it.value.clone()))]
        }
        // What is put between the items of an array takes nobody's place.
        PatchOperation::Add(it) => {
            let before = there(&it.path).filter(|_| item_index(value, &it.path).is_none());
            vec![change(&it.path, before, Some(it.value.clone()))]
        }
        PatchOperation::Remove(it) => vec![change(&it.path, there(&it.path), None)],
        PatchOperation::Move(it) => {
            let moved = there(&it.from);
            let before = there(&it.path).filter(|_| item_index(value, &it.path).is_none());
            vec![change(&it.from, moved.clone(), None), change(&it.path, before, moved)]
        }
        PatchOperation::Copy(_) | PatchOperation::Test(_) => Vec::new(),
    }
}

/// How the operations of a patch are applied.
#[derive(Clone, Copy)]
enum Order {
    /// Each by itself, removals last.
    Any,
    /// One after the other.
    AsWritten,
}

/// The pointers to what is changed already, none of which leads into another.
#[derive(Default)]
struct ChangedPlaces(BTreeSet<String>);

impl ChangedPlaces {
    /// Takes in the places of a patch, if it applies to the value and meets nothing that is changed already.
    fn admit(&mut self, patch: &Patch, value: &Value) -> Option<Order> {
        let (order, places) = match Self::of_independent(patch, value) {
            Some(Self(places)) => (Order::Any, places),
            None => {
                json_patch::patch(&mut value.clone(), patch).ok()?;
                (Order::AsWritten, BTreeSet::from([around(patch)?.to_string()]))
            }
        };
        if places.iter().any(|at| self.meets(at, value)) {
            return None;
        }
        self.0.extend(places);
        Some(order)
    }

    /// The places of a patch whose operations can be applied in any order, and together with those of others.
    fn of_independent(patch: &Patch, value: &Value) -> Option<Self> {
        let mut own = Self::default();
        for operation in &patch.0 {
            for at in places(operation, value)? {
                if own.meets(at.as_str(), value) {
                    return None;
                }
                own.0.insert(at.to_string());
            }
        }
        Some(own)
    }

    /// Whether one of these is the place, around it, or inside of it. At the end of an array there is room for any number.
    fn meets(&self, at: &str, value: &Value) -> bool {
        let inside = format!("{at}/");
        let mut from_here = self.0.range(inside.clone()..);
        (self.0.contains(at) && !is_array_end(value, at))
            || successors(parent(at), |around| parent(around)).any(|around| self.0.contains(around))
            || from_here.next().is_some_and(|next| next.starts_with(&inside))
    }
}

/// The innermost object or array around everything that a patch changes. `None` where an operation is of those that aren't
/// applied.
fn around(patch: &Patch) -> Option<&Pointer> {
    let mut ends: Vec<&Pointer> = Vec::new();
    for operation in &patch.0 {
        match operation {
            PatchOperation::Move(it) => ends.extend([it.from.as_ptr(), it.path.as_ptr()]),
            PatchOperation::Add(_) | PatchOperation::Remove(_) | PatchOperation::Replace(_) => {
                ends.push(operation.path());
            }
            PatchOperation::Copy(_) | PatchOperation::Test(_) => return None,
        }
    }
    let parents = ends.into_iter().map(|end| end.parent().unwrap_or(end));
    parents.reduce(|a, b| a.intersection(b))
}

/// The places that an operation changes. `None` where it doesn't apply to the value, or isn't of those that can be applied
/// together with others.
fn places<'o>(operation: &'o PatchOperation, value: &Value) -> Option<Vec<&'o Pointer>> {
    let (old, new): (Option<&Pointer>, Option<&Pointer>) = match operation {
        PatchOperation::Replace(it) => (Some(&it.path), None),
        PatchOperation::Remove(it) if !it.path.is_root() => (Some(&it.path), None),
        PatchOperation::Add(it) => (None, Some(&it.path)),
        PatchOperation::Move(it) if !it.from.is_root() && item_index(value, &it.from).is_none() => {
            (Some(&it.from), Some(&it.path))
        }
        PatchOperation::Remove(_)
        | PatchOperation::Move(_)
        | PatchOperation::Copy(_)
        | PatchOperation::Test(_) => return None,
    };
    let is_there = old.is_none_or(|at| value.pointer(at.as_str()).is_some());
    let can_be = new.is_none_or(|at| {
        let parent = at.parent().map(|parent| value.pointer(parent.as_str()));
        parent.is_none_or(|it| it.is_some_and(Value::is_object) || is_array_end(value, at.as_str()))
    });
    (is_there && can_be).then(|| old.into_iter().chain(new).collect())
}

/// The pointer to what a place is in.
fn parent(at: &str) -> Option<&str> {
    at.rsplit_once('/').map(|(parent, _)| parent)
}

/// Whether a pointer leads to after the last item of an array.
fn is_array_end(value: &Value, at: &str) -> bool {
    let array = at.strip_suffix("/-").and_then(|parent| value.pointer(parent));
    array.is_some_and(Value::is_array)
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

    use super::{MAX_PATCHES, apply_fixes};
    use crate::diagnostics::codes;
    use crate::diagnostics::finding::{Finding, patch};
    use crate::diagnostics::problem::Stage;

    fn finding(patch: Patch) -> Finding {
        Finding::new(Stage::Plan, codes::UNKNOWN_FIELD, "", "one thing", "another").with_fix(patch)
    }

    fn fixed(value: &Value, patches: Vec<Patch>) -> Option<Value> {
        let findings: Vec<Finding> = patches.into_iter().map(finding).collect();
        apply_fixes(&value.to_string(), &findings)
            .map(|it| serde_json::from_str(&it.text).expect("JSON"))
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
        assert_eq!(fixed(&value, patches), Some(expected));
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
        assert_eq!(fixed(&value, patches), Some(json!({"a": {"b": 3}, "d": 2})));
    }

    #[test]
    fn what_cannot_be_applied_is_left_out() {
        let value = json!({"a": 1});
        assert_eq!(fixed(&value, vec![patch::remove("/b")]), None);
        assert_eq!(fixed(&value, vec![patch::replace("/a", 1)]), None);
        assert_eq!(
            fixed(&value, vec![patch::remove("/b"), patch::replace("/a", 2)]),
            Some(json!({"a": 2}))
        );
        assert_eq!(apply_fixes("{", &[finding(patch::remove("/a"))]), None);
        let perhaps = Finding::new(Stage::Fit, codes::UNKNOWN_PATH, "/a", "one", "two")
            .with_suggestion(patch::remove("/a"));
        assert_eq!(apply_fixes("{\"a\":1}", &[perhaps]), None);
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
        assert_eq!(fixed(&value, patches), Some(expected));
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
        assert_eq!(fixed(&value, patches), Some(json!({"7": [2, 5]})));
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
        assert_eq!(fixed(&value, patches), Some(expected));
        // What doesn't apply is left out, and takes no place.
        let patches = vec![patch::add("/a/7", 7), patch::replace("/a/0", 1)];
        let expected = json!({"a": [1, 1, 2], "b": {"from": 1, "to": 2}, "c": [0, 1]});
        assert_eq!(fixed(&value, patches), Some(expected));
        assert_eq!(
            fixed(&json!({"a": [1]}), vec![patch::rename("/a/0", "/b")]),
            Some(json!({"a": [], "b": 1}))
        );
    }

    #[test]
    fn the_first_patches_count() {
        let value = json!({"a": vec![0; MAX_PATCHES + 3]});
        let patches = (0..MAX_PATCHES + 3).map(|i| patch::remove(&format!("/a/{i}"))).collect();
        assert_eq!(fixed(&value, patches), Some(json!({"a": [0, 0, 0]})));
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
            prop_assert_eq!(fixed(&value, patches), expected);
        }
    }
}
