//! How what is read lies to what is restricted, in every way in which it can be.

use crate::evidence::PathStep;

/// How a value that is read lies to one that is restricted, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// It has nothing to do with it.
    Apart,
    /// It is matched by a `*`, and holds the restricted one if it is an object or an array.
    PerhapsAbove,
    /// It is an object or an array that holds the restricted one.
    Above,
    /// It is the restricted one, or below it.
    Covered,
}

/// What an entry of an object, read whatever its key is, is taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnyKey {
    /// Every key: what is restricted is among what is read.
    Each,
    /// No key by its name.
    Unnamed,
}

/// A part of what is read.
#[derive(Clone, Copy)]
enum PathPiece<'s> {
    /// A key, or what is between two dots of one; the key ends after the piece with this number.
    Text(&'s str, usize),
    /// An element of an array: a `*` stands for it, and so does a number, but a policy may as well leave it out.
    Element,
    /// An entry, or the name of one.
    Entry,
}

/// The strictest relation to a restricted path, over all readings of what is read: each dot of a key may part two keys, and
/// an element of an array may count as a level of its own or not.
pub(super) fn relation(restricted: &[String], read: &[PathStep], any_key: AnyKey) -> Relation {
    let Reach { ends, is_covered } = reach(restricted, &pieces(read), any_key);
    if is_covered {
        return Relation::Covered;
    }
    // The name of an entry holds nothing.
    if read.last() == Some(&PathStep::Name) {
        return Relation::Apart;
    }
    let strictest = ends.into_iter().map(|keys| above(&restricted[..keys])).max();
    strictest.unwrap_or(Relation::Apart)
}

/// What is left of a restricted path after what is read, in each reading that leads along it, where two keys or more are
/// left: one key with a dot can stand for them.
pub(super) fn rests(restricted: &[String], read: &[PathStep]) -> Vec<Vec<String>> {
    let ends = reach(restricted, &pieces(read), AnyKey::Each).ends;
    let rests = ends.into_iter().map(|keys| restricted[keys..].to_vec());
    rests.filter(|rest| rest.len() >= 2).collect()
}

/// Whether one key with dots stands for two restricted keys or more, the first ones of these.
pub(super) fn spells_several(restricted: &[String], key: &str) -> bool {
    let pieces: Vec<PathPiece<'_>> = texts(key, 0).collect();
    let Reach { ends, is_covered } = reach(restricted, &pieces, AnyKey::Each);
    is_covered || ends.into_iter().any(|keys| keys >= 2)
}

/// How far what is read leads along a restricted path.
struct Reach {
    /// The numbers of restricted keys, fewer than all, that what is read can stand for.
    ends: Vec<usize>,
    /// Whether a beginning of what is read can stand for all of them.
    is_covered: bool,
}

/// Takes time in proportion to both lengths, however many readings there are.
fn reach(restricted: &[String], pieces: &[PathPiece<'_>], any_key: AnyKey) -> Reach {
    let mut ends = Vec::new();
    // Behind which pieces the restricted keys so far may end.
    let mut reached = vec![false; pieces.len() + 1];
    reached[0] = true;
    for (index, wanted) in restricted.iter().enumerate() {
        pass_elements(pieces, &mut reached);
        if reached[pieces.len()] {
            ends.push(index);
        }
        let mut next = vec![false; pieces.len() + 1];
        for (from, piece) in pieces.iter().enumerate().filter(|(from, _)| reached[*from]) {
            match *piece {
                // Where the end of the key is marked, an earlier piece of the key has marked all up to there.
                PathPiece::Text(_, end) if wanted == "*" => {
                    if !next[end] {
                        next[from + 1..=end].fill(true);
                    }
                }
                PathPiece::Text(_, end) => {
                    let to = from + wanted.split('.').count();
                    if to <= end && spells(&pieces[from..to], wanted) {
                        next[to] = true;
                    }
                }
                PathPiece::Element => next[from + 1] |= wanted == "*" || is_number(wanted),
                PathPiece::Entry => next[from + 1] |= wanted == "*" || any_key == AnyKey::Each,
            }
        }
        reached = next;
    }
    Reach { ends, is_covered: reached.contains(&true) }
}

fn pieces(read: &[PathStep]) -> Vec<PathPiece<'_>> {
    let mut pieces = Vec::new();
    for step in read {
        match step {
            PathStep::Key(key) => pieces.extend(texts(key, pieces.len())),
            PathStep::Element => pieces.push(PathPiece::Element),
            PathStep::Value | PathStep::Name => pieces.push(PathPiece::Entry),
        }
    }
    pieces
}

/// The pieces of a key, `before` of which come before it.
fn texts(key: &str, before: usize) -> impl Iterator<Item = PathPiece<'_>> {
    let end = before + key.split('.').count();
    key.split('.').map(move |text| PathPiece::Text(text, end))
}

/// Goes on after elements that a policy doesn't mention.
fn pass_elements(pieces: &[PathPiece<'_>], reached: &mut [bool]) {
    for (at, piece) in pieces.iter().enumerate() {
        if matches!(piece, PathPiece::Element) && reached[at] {
            reached[at + 1] = true;
        }
    }
}

fn spells(pieces: &[PathPiece<'_>], key: &str) -> bool {
    let texts = pieces.iter().map(|piece| match piece {
        PathPiece::Text(text, _) => Some(*text),
        PathPiece::Element | PathPiece::Entry => None,
    });
    key.split('.').map(Some).eq(texts)
}

fn is_number(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit())
}

/// Of what leads as far as these keys of a longer path that is restricted.
fn above(shared: &[String]) -> Relation {
    match shared.last().map(String::as_str) {
        Some("*") => Relation::PerhapsAbove,
        _ => Relation::Above,
    }
}

#[cfg(test)]
mod tests {
    use super::{AnyKey, PathStep, Relation, relation};

    /// Keys in this notation: `[]` an element, `<>` an entry, `<key>` its name.
    fn steps(keys: &[&str]) -> Vec<PathStep> {
        let step = |key: &&str| match *key {
            "[]" => PathStep::Element,
            "<>" => PathStep::Value,
            "<key>" => PathStep::Name,
            key => PathStep::Key(key.to_owned()),
        };
        keys.iter().map(step).collect()
    }

    fn keys(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    fn check(cases: &[(&[&str], &[&str], Relation)]) {
        for (restricted, read, expected) in cases {
            let found = relation(&keys(restricted), &steps(read), AnyKey::Each);
            assert_eq!(found, *expected, "{restricted:?} {read:?}");
        }
    }

    #[test]
    fn the_strictest_reading_of_dots_counts() {
        check(&[
            (&["content", "user", "email"], &["content", "user.email"], Relation::Covered),
            (&["content", "user", "email"], &["content.user.email.work"], Relation::Covered),
            (&["content", "user", "email"], &["content.user"], Relation::Above),
            (&["content", "user", "email"], &["content", "user.mail"], Relation::Apart),
            (&["content", "user", "email"], &["content", "user.emails"], Relation::Apart),
            (&["content", "*", "email"], &["content", "a.b.email"], Relation::Covered),
            (&["content", "*", "email"], &["content", "a.b", "email"], Relation::Covered),
            (&["content", "*", "email"], &["content", "a.b"], Relation::PerhapsAbove),
            (&["content", "*", "email"], &["content", "a", "b.email"], Relation::Apart),
            (&["a", "*", "*", "b"], &["a.x.y"], Relation::PerhapsAbove),
            (&["a.b", "c"], &["a.b.c"], Relation::Covered),
            (&["a.b", "c"], &["a", "b.c"], Relation::Apart),
            (&["a.b"], &["a", "b.c"], Relation::Apart),
        ]);
    }

    #[test]
    fn an_element_is_a_level_or_none() {
        check(&[
            (&["a", "email"], &["a", "[]", "email"], Relation::Covered),
            (&["a", "*", "email"], &["a", "[]", "email"], Relation::Covered),
            (&["a", "0", "email"], &["a", "[]", "email"], Relation::Covered),
            (&["a", "b", "email"], &["a", "[]", "email"], Relation::Apart),
            (&["a", "*", "*", "email"], &["a", "[]", "[]", "email"], Relation::Covered),
            (&["a", "*", "email"], &["a", "[]", "[]", "email"], Relation::Covered),
            (&["a", "*", "email"], &["a", "[]", "b", "[]", "email"], Relation::Covered),
            (&["a", "*"], &["a", "[]"], Relation::Covered),
            (&["a", "email"], &["a", "[]"], Relation::Above),
            (&["*", "email"], &["a", "[]"], Relation::PerhapsAbove),
            (&["a", "email"], &["a", "[]", "id"], Relation::Apart),
            (&["a"], &["a", "[]", "id"], Relation::Covered),
        ]);
    }

    #[test]
    fn an_entry_is_at_every_key() {
        check(&[
            (&["a", "x"], &["a", "<>"], Relation::Covered),
            (&["a", "x", "email"], &["a", "<>"], Relation::Above),
            (&["a", "x", "email"], &["a", "<>", "email"], Relation::Covered),
            (&["a", "x", "email"], &["a", "<>", "id"], Relation::Apart),
            (&["a", "*", "email"], &["a", "<>", "email"], Relation::Covered),
            (&["a", "*", "email"], &["a", "<key>"], Relation::Apart),
            (&["a", "x", "email"], &["a", "<key>"], Relation::Apart),
            (&["a", "x"], &["a", "<key>"], Relation::Covered),
            (&["a"], &["a", "<key>"], Relation::Covered),
        ]);
        let unnamed = |restricted: &[&str], read: &[&str]| {
            relation(&keys(restricted), &steps(read), AnyKey::Unnamed)
        };
        assert_eq!(unnamed(&["a", "x"], &["a", "<>"]), Relation::Apart);
        assert_eq!(unnamed(&["a", "*", "b"], &["a", "<>", "b"]), Relation::Covered);
    }

    #[test]
    fn one_key_with_dots_stands_for_several() {
        let read = [PathStep::Key("content".to_owned())];
        let rest = |restricted: &[&str]| super::rests(&keys(restricted), &read);
        assert_eq!(rest(&["content", "*", "email"]), [keys(&["*", "email"])]);
        assert_eq!(rest(&["*", "*", "email"]), [keys(&["*", "email"])]);
        assert!(rest(&["content", "email"]).is_empty() && rest(&["other", "*", "a"]).is_empty());
        for (restricted, key, expected) in [
            (&["*", "email"][..], "user.email", true),
            (&["*", "email"], "user.first.email.work", true),
            (&["*", "email"], "user.name", false),
            (&["*", "email"], "email", false),
            (&["*", "*", "email"], "a.b", true),
            (&["user", "email", "work"], "user.email", true),
            (&["user", "email", "work"], "user", false),
            (&["user.email", "work"], "user.email", false),
            (&["user.email", "work"], "user.email.work", true),
        ] {
            assert_eq!(
                super::spells_several(&keys(restricted), key),
                expected,
                "{restricted:?} {key}"
            );
        }
    }

    #[test]
    fn no_path_takes_long() {
        let long = PathStep::Key("a.".repeat(200_000));
        let stars = vec!["*".to_owned(); 20];
        let of =
            |restricted: &[String]| relation(restricted, std::slice::from_ref(&long), AnyKey::Each);
        assert_eq!(of(&stars), Relation::Covered);
        assert_eq!(of(&[stars, keys(&["b"])].concat()), Relation::PerhapsAbove);
        let (stars, elements) = (vec!["*".to_owned(); 20], vec![PathStep::Element; 100_000]);
        assert_eq!(relation(&stars, &elements, AnyKey::Each), Relation::Covered);
    }
}
