//! Applies what is certain.

use json_patch::jsonptr::Pointer;
use json_patch::{Patch, PatchOperation};
use serde_json::Value;

use crate::finding::Finding;

/// A plan's text with patches applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// The text: JSON, indented by two spaces, names sorted by code point.
    pub text: String,
    /// What was done, in the order in which it was done.
    pub patch: Patch,
}

/// Applies the certain patches of `findings` to the JSON in `text`, all in one go. `None` where there are none, where none
/// can be applied, or where the text isn't JSON.
///
/// All pointers are into the text as it is: items are taken out of arrays last, from the end. Of two patches for one place
/// the first counts; the other's finding will show again if it still holds.
#[must_use]
pub fn mend(text: &str, findings: &[Finding]) -> Option<Mended> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let mut accepted: Vec<&[PatchOperation]> = Vec::new();
    for patch in findings.iter().filter(|it| it.certain).filter_map(|it| it.patch.as_ref()) {
        let meets = |one: &PatchOperation| {
            let theirs = accepted.iter().flat_map(|patch| patch.iter()).flat_map(places);
            theirs
                .flat_map(|there| places(one).map(move |here| (here, there)))
                .any(|(a, b)| overlap(a, b))
        };
        // On a copy, since pointers of the others are into the text as it is.
        let applies =
            || json_patch::patch(&mut value.clone(), &in_order(&[patch.0.as_slice()])).is_ok();
        if !patch.0.is_empty() && !patch.0.iter().any(meets) && applies() {
            accepted.push(&patch.0);
        }
    }
    let before = value.clone();
    let operations = in_order(&accepted);
    json_patch::patch(&mut value, &operations).ok()?;
    if value == before {
        return None;
    }
    let text = serde_json::to_string_pretty(&value).ok()?;
    Some(Mended { text, patch: Patch(operations) })
}

/// Where an operation changes something.
fn places(operation: &PatchOperation) -> impl Iterator<Item = &Pointer> {
    let from = match operation {
        PatchOperation::Move(it) => Some(it.from.as_ptr()),
        _ => None,
    };
    from.into_iter().chain(Some(operation.path()))
}

/// Whether one place is the other or inside of it. Items that are added to an array's end are each a place of their own.
fn overlap(a: &Pointer, b: &Pointer) -> bool {
    let appends = |it: &Pointer| it.last().is_some_and(|token| token.encoded() == "-");
    !(appends(a) && appends(b)) && (a.starts_with(b) || b.starts_with(a))
}

/// The operations in their order, but what takes an item out of an array at the end and from the last item on, so that
/// indices hold.
fn in_order(patches: &[&[PatchOperation]]) -> Vec<PatchOperation> {
    let (mut removals, mut operations) = (Vec::new(), Vec::new());
    for operation in patches.iter().flat_map(|patch| patch.iter()) {
        let index = || operation.path().last().and_then(|it| it.decoded().parse::<usize>().ok());
        match (operation, index()) {
            (PatchOperation::Remove(_), Some(index)) => removals.push((index, operation.clone())),
            _ => operations.push(operation.clone()),
        }
    }
    removals.sort_by_key(|(index, _)| std::cmp::Reverse(*index));
    operations.extend(removals.into_iter().map(|(_, operation)| operation));
    operations
}

#[cfg(test)]
mod tests {
    use json_patch::Patch;
    use serde_json::{Value, json};

    use super::mend;
    use crate::finding::{Finding, patch};
    use crate::problem::Stage;

    fn finding(patch: Patch) -> Finding {
        Finding::new(Stage::Plan, "unknown_field", "", "one thing", "another").mended_by(patch)
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
        let perhaps = Finding::new(Stage::Fit, "unknown_path", "/a", "one", "two")
            .perhaps(patch::remove("/a"));
        assert_eq!(mend("{\"a\":1}", &[perhaps]), None);
    }
}
