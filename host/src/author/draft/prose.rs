//! A rule's sentences: what they name, and where.

use super::lookup::Lookup;
use crate::evidence::Path;

/// Marks that set a name apart from the words around it.
const QUOTES: &[char] = &['`', '\'', '"', '\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}'];

/// The sentences of a text: what ends at a full stop, a blank line, or the next point of a list.
pub(super) fn sentences(text: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for line in text.lines() {
        let trimmed = line.trim();
        let point = trimmed.strip_prefix(['-', '*', '#', '>', '|']);
        if point.is_some() || trimmed.is_empty() {
            sentences.push(String::new());
        }
        let mut rest = point.unwrap_or(trimmed).trim_start_matches(['-', '*', '#', ' ']);
        while let Some(end) =
            rest.find(". ").or_else(|| rest.ends_with('.').then(|| rest.len() - 1))
        {
            let (sentence, after) = rest.split_at(end);
            push(&mut sentences, sentence);
            sentences.push(String::new());
            rest = after.trim_start_matches(['.', ' ']);
        }
        push(&mut sentences, rest);
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn push(sentences: &mut [String], text: &str) {
    if let Some(last) = sentences.last_mut() {
        if !last.is_empty() && !text.is_empty() {
            last.push(' ');
        }
        last.push_str(text.trim());
    }
}

/// The parts of a sentence that each say one thing: between commas, semicolons and the word `and`.
pub(super) fn clauses(sentence: &str) -> Vec<&str> {
    let parts = sentence.split([',', ';']).flat_map(|part| part.split(" and "));
    parts.map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// What stands in a text between quotation marks or backticks.
pub(super) fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((start, mark)) = rest.char_indices().find(|(_, char)| QUOTES.contains(char)) {
        let inner = rest.get(start + mark.len_utf8()..).unwrap_or_default();
        // `author's`: an apostrophe inside of a word opens nothing.
        let in_word = rest
            .get(..start)
            .and_then(|it| it.chars().next_back())
            .is_some_and(char::is_alphanumeric);
        let closing = match mark {
            '\u{201c}' => '\u{201d}',
            '\u{2018}' => '\u{2019}',
            other => other,
        };
        match inner.find(closing) {
            Some(end) if !in_word => {
                let (text, after) = inner.split_at(end);
                if !text.is_empty() {
                    found.push(text);
                }
                rest = after.get(closing.len_utf8()..).unwrap_or_default();
            }
            _ => rest = inner,
        }
    }
    found
}

/// Whether a name occurs in a text as a whole: not as a part of a longer name.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let part_of_name = |char: char| char.is_alphanumeric() || char == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(start, _)| {
            let (before, from) = text.split_at(start);
            let after = from.get(name.len()..).unwrap_or_default();
            let mut after = after.chars();
            let ends = match after.next() {
                Some('.' | '-') => !after.next().is_some_and(part_of_name),
                other => !other.is_some_and(part_of_name),
            };
            ends && !before
                .chars()
                .next_back()
                .is_some_and(|char| part_of_name(char) || char == '.')
        })
}

/// The paths that a text names and that occur in the events, or are declared: `content.id`, `$.content.id`, `session_id`.
/// A single word is a path only where it can't be an ordinary word: between backticks, or with an underscore.
pub(super) fn paths(text: &str, lookup: Lookup<'_>) -> Vec<Path> {
    let marked = text.split('`').skip(1).step_by(2);
    let pieces = text.split(|char: char| {
        char.is_whitespace() || QUOTES.contains(&char) || "(),;:=[]".contains(char)
    });
    let plain =
        pieces.map(|piece| piece.trim_end_matches('.')).filter(|piece| piece.contains(['.', '_']));
    let mut found: Vec<Path> = Vec::new();
    for piece in marked.chain(plain) {
        if let Some(path) = known(piece, lookup)
            && lookup.effort.take(found.len() as u64)
            && !found.contains(&path)
        {
            found.push(path);
        }
    }
    found
}

/// A path in dotted form, if it occurs or is declared.
pub(super) fn known(dotted: &str, lookup: Lookup<'_>) -> Option<Path> {
    if !lookup.may_read(dotted) {
        return None;
    }
    let dotted = dotted.trim().trim_start_matches('$').trim_start_matches('.');
    let path: Path = dotted.split('.').map(str::to_owned).collect();
    (lookup.knows(&path) && !path.iter().any(String::is_empty)).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::{clauses, mentions, quoted, sentences};

    #[test]
    fn texts_are_parted() {
        let text = "# Orders\n\nEvery order. The id,\nand `a.b`, identify it.\n- one\n- two v1.2";
        let found = sentences(text);
        assert_eq!(
            found,
            ["Orders", "Every order", "The id, and `a.b`, identify it", "one", "two v1.2"]
        );
        assert_eq!(clauses("the id, and a; b and c"), ["the id", "a", "b", "c"]);
        assert_eq!(quoted("the author's `x.y` is 'z'"), ["x.y", "z"]);
    }

    #[test]
    fn names_are_mentioned_as_a_whole() {
        for (text, mentioned) in [
            ("an `order.placed` event", true),
            ("It is order.placed.", true),
            ("reorder.placed", false),
            ("order.placed_late", false),
            ("order.placed.late", false),
        ] {
            assert_eq!(mentions(text, "order.placed"), mentioned, "{text}");
        }
    }
}
