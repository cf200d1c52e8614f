//! Which fields of events a tenant lets extractors read.

mod check;
mod denied;
mod patch;
mod read;
mod relation;
mod withhold;

use serde::Serialize;

use crate::evidence::{PathStep, Visibility};

pub use denied::Denied;
pub use read::PolicyError;
pub(crate) use read::{PolicyEntry, Written, read};

use relation::{AnyKey, Relation, relation};

/// Which fields of events extractors may read. The default denies nothing but the whole event.
///
/// A [`FieldPolicy`] is held against a plan before any code is made of it ([`FieldPolicy::check_plan`]), and against the
/// declared inputs of a module, whoever made it ([`FieldPolicy::check_section`]). It lists paths that may not be read at
/// all, and paths that may be read only by their own name.
///
/// # What a path covers
/// A path is a list of keys from the event's root, or the same joined by dots; `*` stands for any one key.
///
/// - Denying `content.user` denies `content.user`, all that is below it, and every object that holds it: whoever reads
///   `content` reads `content.user` with it.
/// - Making `content.notes` *explicit* denies the objects that hold it, and nothing else: `content.notes` and what is
///   below it have to be named to be read.
/// - What is both denied and explicit is denied.
/// - Where `*` matches the last key that is read, a path alone doesn't tell whether it leads to an object: is
///   `content.total`, read under a denial of `content.*.email`, a number, or does it hold an e-mail address? In a plan it
///   may be read where a scalar is wanted: not by `to_json_text`, `length` or `is_type`, which take an object or an array too,
///   and not where [samples or schema](FieldPolicy::check_plan_knowing) show one. A module can do what it likes with an
///   object, so it may not read it. Whatever was known, an object or an array that comes there in an event is
///   [withheld](FieldPolicy::withheld): the extractor gets it as denied, and it is absent to conditions and conversions.
/// - A string is a scalar, whatever is written in it. What `parse_json` makes of one counts as what is there: its keys go on from
///   the path, and an object or an array that it gives is withheld.
/// - The whole event, which a module asks for with the empty path, is read only where `whole_event` says so, and where
///   nothing is denied or explicit: it would be read with it.
/// - A key that is read and holds dots counts as the keys between them too: denying `content.user.email` denies the one
///   key `user.email` in `content`. In a policy, only a list of keys can hold one with dots, and it means that one.
/// - An element of an array, which a `for_each` reads, may count as a level or not: `content.items.email` and
///   `content.items.*.email` both deny the e-mail address in each of `content.items`, and so does `content.items.0.email`.
///   Whoever goes over the entries of an object reads what is at each of its keys: where `content.users.ada` is denied, the
///   entries of `content.users` are, their names included; and what is explicit isn't read by its own name. An entry of
///   `content` with the key `user.email` is withheld where `content.*.email` is denied: there is no row for it.
/// - Where a `for_each` goes over the first of several lists, its elements count as being in each of those places, and so does
///   what is in them. A condition on elements reads what it tests.
/// - To go over an array or an object is to read what is read of its elements, and no more: it may hold what is denied. It
///   may not be denied itself.
/// - `event_type` can't be denied. Retort itself reads it, to tell which extractor an event is for.
///
/// # Example
/// ```
/// use retort::gate::FieldPolicy;
///
/// let policy = FieldPolicy::parse(
///     "deny:
/// - {path: content.*.email, reason: personal data}
/// explicit:
/// - content.notes
/// ",
///     "policy.yaml",
/// )?;
/// let plan = retort::plan::parse(
///     r#"{"event_type": "placed", "target_entity_name": "Order", "function_name": "read_order",
///         "key_field": {"property_name": "id", "source_path": ["content", "id"]},
///         "property_fields": [{"property_name": "who", "source_path": ["content", "user", "email"]}]}"#,
/// )?;
/// let denied = policy.check_plan(&plan).unwrap_err();
/// assert_eq!(denied.findings()[0].pointer, "/property_fields/0/source_path");
/// assert_eq!(denied.findings()[0].observed, "path content.user.email is denied by policy: personal data");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Serialises to a form that [`FieldPolicy::parse`] reads: equal policies give equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FieldPolicy {
    deny: Vec<Restriction>,
    explicit: Vec<Restriction>,
    whole_event: bool,
}

impl FieldPolicy {
    /// The paths that may not be read, in the policy's order.
    #[must_use]
    pub fn denied(&self) -> &[Restriction] {
        &self.deny
    }

    /// The paths that have to be read by their own name, in the policy's order.
    #[must_use]
    pub fn explicit(&self) -> &[Restriction] {
        &self.explicit
    }

    /// Whether a module may ask for the whole event.
    #[must_use]
    pub fn grants_whole_event(&self) -> bool {
        self.whole_event
    }

    /// Whether a path is denied, or is below one that is: nobody needs to see its values to write a plan.
    #[must_use]
    pub fn denies(&self, path: &[String]) -> bool {
        self.visibility(&PathStep::keys(path)) == Visibility::Hidden
    }

    /// How much may be shown of what is somewhere in an event, to whoever may not see what is denied.
    #[must_use]
    pub fn visibility(&self, steps: &[PathStep]) -> Visibility {
        let restrictions = self.deny.iter();
        match restrictions.map(|it| relation(it.path(), steps, AnyKey::Each)).max() {
            Some(Relation::Covered) => Visibility::Hidden,
            Some(Relation::Above | Relation::PerhapsAbove) => Visibility::Partly,
            Some(Relation::Apart) | None => Visibility::Shown,
        }
    }
}

/// A path that a policy says something about, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Restriction {
    path: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Restriction {
    /// The keys, at least one and none of them empty; `*` stands for any.
    #[must_use]
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Why, in the policy's words: neither escaped nor bounded.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }
}
