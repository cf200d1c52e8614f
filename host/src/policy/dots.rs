//! Paths whose keys hold dots, in every way in which they can be read.

use super::Relation;

/// The strictest relation to a restricted path, over all readings of the one that is read: each dot of a key may part two
/// keys. Takes time in proportion to both lengths, however many readings there are.
pub(super) fn relation(restricted: &[String], read: &[String]) -> Relation {
    let mut pieces = Vec::new();
    // Behind which piece the key ends that a piece is of.
    let mut ends = Vec::new();
    for key in read {
        pieces.extend(key.split('.'));
        ends.resize(pieces.len(), pieces.len());
    }
    let mut strictest = Relation::Apart;
    // Behind which pieces the restricted keys so far may end, in order.
    let mut reached = vec![0];
    for (index, wanted) in restricted.iter().enumerate() {
        if reached.last() == Some(&pieces.len()) {
            strictest = strictest.max(Relation::above(&restricted[..index]));
        }
        let mut next = Vec::new();
        for from in reached.into_iter().filter(|from| *from < pieces.len()) {
            if wanted == "*" {
                let first = next.last().map_or(from, |last| from.max(*last)) + 1;
                next.extend(first..=ends[from]);
            } else {
                let to = from + wanted.split('.').count();
                if to <= ends[from] && wanted.split('.').eq(pieces[from..to].iter().copied()) {
                    next.push(to);
                }
            }
        }
        reached = next;
    }
    if reached.is_empty() { strictest } else { Relation::Covered }
}

#[cfg(test)]
mod tests {
    use super::{Relation, relation};

    fn keys(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|key| (*key).to_owned()).collect()
    }

    #[test]
    fn the_strictest_reading_counts() {
        for (restricted, read, expected) in [
            (&["content", "user", "email"][..], &["content", "user.email"][..], Relation::Covered),
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
        ] {
            assert_eq!(
                relation(&keys(restricted), &keys(read)),
                expected,
                "{restricted:?} {read:?}"
            );
        }
    }

    #[test]
    fn no_path_takes_long() {
        let long = "a.".repeat(200_000);
        let stars = vec!["*".to_owned(); 20];
        assert_eq!(relation(&stars, std::slice::from_ref(&long)), Relation::Covered);
        assert_eq!(relation(&[stars, keys(&["b"])].concat(), &[long]), Relation::PerhapsAbove);
    }
}
