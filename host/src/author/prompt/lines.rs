//! Lists that have a share of the prompt: what the rule speaks of comes first.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::diagnostics::fence;
use crate::evidence::{Path, PathStep};

/// The longest name, path or event type that is shown, in characters. A shortened one would be of no use.
pub(super) const NAME_CHARS: usize = 300;

/// What a rule doesn't speak of.
pub(super) const FAR: u8 = 2;

/// What a rule speaks of.
pub(super) struct RuleWords {
    text: String,
    words: BTreeSet<String>,
}

impl RuleWords {
    /// Reads all strings of a rule.
    pub(super) fn new(rule: &Map<String, Value>) -> Self {
        let mut text = String::new();
        let mut values: Vec<&Value> = rule.values().collect();
        while let Some(value) = values.pop() {
            match value {
                Value::String(string) => {
                    text.push_str(string);
                    text.push('\n');
                }
                Value::Array(items) => values.extend(items),
                Value::Object(fields) => values.extend(fields.values()),
                _ => {}
            }
        }
        let whole = text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_lowercase);
        let words = whole.chain(words(&text)).collect();
        Self { text, words }
    }

    /// Whether the rule holds this very text.
    pub(super) fn mentions(&self, text: &str) -> bool {
        !text.is_empty() && self.text.contains(text)
    }

    /// How close the rule comes to the name of an event type: 0 where it spells it out, 1 where it has all its words, and
    /// [`FAR`] otherwise. No rule comes close to a name without words: what is there may stand in it by chance.
    pub(super) fn closeness(&self, event_type: &str) -> u8 {
        let mut words = words(event_type).peekable();
        if words.peek().is_none() {
            FAR
        } else if self.mentions(event_type) {
            0
        } else if words.all(|word| self.words.contains(&word)) {
            1
        } else {
            FAR
        }
    }

    /// Where among others a path belongs: first those that the rule spells out, then those whose last key it has all
    /// words of. Of equals, the fewer words a path has that the rule hasn't, the earlier it comes.
    pub(super) fn rank(&self, path: &[String]) -> Rank {
        let unknown = |key: &String| words(key).filter(|it| !self.words.contains(it)).count();
        let is_named = path.last().is_some_and(|key| unknown(key) == 0);
        let is_spelled = is_named && self.mentions(&path.join("."));
        let class = if is_spelled { 0 } else { 1 + u8::from(!is_named) };
        (class, path.len() + 2 * path.iter().map(unknown).sum::<usize>())
    }
}

/// The words of a text or a name, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Where something is, arrays and maps included: the path to an array, `[]` for its elements, and the path from there;
/// `{}` stands for the entries of an object, which have a `key` and a `value`. `None` where it is too long to be shown.
pub(super) fn place(steps: &[PathStep]) -> Option<String> {
    let mut text = String::new();
    let mut keys: Path = Vec::new();
    let flush = |keys: &mut Path, text: &mut String| {
        if !keys.is_empty() {
            let space = if text.is_empty() { "" } else { " " };
            text.push_str(&format!("{space}{}", fence::path(keys)));
            keys.clear();
        }
    };
    for step in steps {
        if let PathStep::Key(key) = step {
            keys.push(key.clone());
            continue;
        }
        flush(&mut keys, &mut text);
        text.push_str(if *step == PathStep::Element { " []" } else { " {}" });
        match step {
            PathStep::Value => keys.push("value".to_owned()),
            PathStep::Name => keys.push("key".to_owned()),
            PathStep::Key(_) | PathStep::Element => {}
        }
    }
    flush(&mut keys, &mut text);
    (text.chars().count() <= NAME_CHARS).then_some(text)
}

/// The keys among the steps to a place.
pub(super) fn names(steps: &[PathStep]) -> Path {
    let key = |step: &PathStep| match step {
        PathStep::Key(key) => Some(key.clone()),
        PathStep::Element | PathStep::Value | PathStep::Name => None,
    };
    steps.iter().filter_map(key).collect()
}

/// The lower, the earlier a line gets its place.
pub(super) type Rank = (u8, usize);

/// RankedLines that may or may not all be shown.
#[derive(Default)]
pub(super) struct RankedLines {
    lines: Vec<RankedLine>,
    unfit: usize,
}

struct RankedLine {
    rank: Rank,
    text: String,
    /// What follows the text where there is room for it.
    remark: String,
}

impl RankedLines {
    /// Adds a line, to be shown where it was added; counts what no line can show.
    pub(super) fn push(&mut self, rank: Rank, line: impl Into<Option<String>>) {
        self.push_with(rank, line, String::new());
    }

    /// The same, with what follows the line where all lines that fit leave room for it.
    pub(super) fn push_with(
        &mut self,
        rank: Rank,
        line: impl Into<Option<String>>,
        remark: String,
    ) {
        match line.into() {
            Some(text) => self.lines.push(RankedLine { rank, text, remark }),
            None => self.leave_out(),
        }
    }

    /// Counts something that no line can show.
    pub(super) fn leave_out(&mut self) {
        self.unfit += 1;
    }

    /// Whether there is nothing to show or to count.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.unfit == 0
    }

    /// A block of the lines that fit into `max_chars`, after which it says how many of these things are left out.
    pub(super) fn block(self, max_chars: usize, left_out_things: &str) -> String {
        let (shown, left_out) = self.within(max_chars);
        let mut text = fence::block("text", &shown);
        push_count(&mut text, left_out_things, left_out);
        text
    }

    /// The lines of lowest rank that fit into `max_chars` characters together, in the order in which they were added,
    /// and how many are left out. What room they leave goes to their remarks, by rank as well; the first that doesn't fit
    /// and all after it are left out.
    pub(super) fn within(self, max_chars: usize) -> (String, usize) {
        let mut order: Vec<usize> = (0..self.lines.len()).collect();
        order.sort_by_key(|&index| (self.lines[index].rank, index));
        let mut left = max_chars;
        let mut take = |chars: usize| {
            let rest = left.checked_sub(chars);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let fits = |&&index: &&usize| take(self.lines[index].text.chars().count() + 1);
        let fitting = order.iter().take_while(fits).count();
        let (kept, left_out) = order.split_at(fitting);
        let fits = |&&index: &&usize| take(self.lines[index].remark.chars().count());
        let remarked = kept.iter().take_while(fits).count();
        let mut shown: Vec<(usize, &str)> = kept
            .iter()
            .enumerate()
            .map(|(place, &index)| {
                (index, if place < remarked { self.lines[index].remark.as_str() } else { "" })
            })
            .collect();
        shown.sort_unstable();
        let shown: Vec<String> = shown
            .iter()
            .map(|&(index, remark)| format!("{}{remark}", self.lines[index].text))
            .collect();
        (shown.join("\n"), left_out.len() + self.unfit)
    }
}

/// Says how many of something there are, if there are any.
pub(super) fn push_count(text: &mut String, what: &str, count: usize) {
    if count > 0 {
        text.push_str(&format!("\n{what}: {count}.\n"));
    }
}

/// Says at the end of a line what it is about, before escaping in at most `max_chars` characters.
pub(super) fn push_description(line: &mut String, description: Option<&str>, max_chars: usize) {
    if let Some(description) = description {
        line.push_str(": ");
        line.push_str(&fence::quoted(description, max_chars).0);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FAR, RankedLines, RuleWords};

    fn wanted(rule: Value) -> RuleWords {
        let Value::Object(rule) = rule else { panic!("an object") };
        RuleWords::new(&rule)
    }

    fn path(dotted: &str) -> Vec<String> {
        dotted.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn what_the_rule_names_comes_first() {
        let wanted = wanted(
            json!({"text": "Take `issue.id` and\nthe title -- not more.", "more": [{"x": "State"}]}),
        );
        assert_eq!(wanted.rank(&path("issue.id")), (0, 2));
        assert_eq!(wanted.rank(&path("issue.state")), (1, 2));
        assert_eq!(wanted.rank(&path("title")), (0, 1));
        assert_eq!(wanted.rank(&path("issue.user.login")), (2, 7));
        assert_eq!(wanted.rank(&path("issue.sub_state")), (2, 4));
        let close = ["issue.id", "Title-issue", "issue_closed"].map(|name| wanted.closeness(name));
        assert_eq!(close, [0, 1, 2]);
        assert_eq!(["--", "*"].map(|name| wanted.closeness(name)), [FAR, FAR]);
        assert!(
            wanted.mentions("issue.id") && !wanted.mentions("issue.idx") && !wanted.mentions("")
        );
    }

    #[test]
    fn lines_keep_their_order_and_give_way_by_rank() {
        let lines = || {
            let mut lines = RankedLines::default();
            for (rank, text) in [(2, "aa"), (0, "bb"), (1, "cc")] {
                lines.push((rank, 0), text.to_owned());
            }
            lines.leave_out();
            lines
        };
        assert_eq!(lines().within(9), ("aa\nbb\ncc".to_owned(), 1));
        assert_eq!(lines().within(8), ("bb\ncc".to_owned(), 2));
        assert_eq!(lines().within(0), (String::new(), 4));
    }

    #[test]
    fn remarks_take_the_room_that_lines_leave() {
        let lines = || {
            let mut lines = RankedLines::default();
            for (rank, text) in [(2, "aa"), (0, "bb"), (1, "cc")] {
                lines.push_with((rank, 0), text.to_owned(), "+++".to_owned());
            }
            lines
        };
        assert_eq!(lines().within(8), ("bb\ncc".to_owned(), 1));
        assert_eq!(lines().within(11), ("aa\nbb\ncc".to_owned(), 0));
        assert_eq!(lines().within(15), ("aa\nbb+++\ncc+++".to_owned(), 0));
        assert_eq!(lines().within(18), ("aa+++\nbb+++\ncc+++".to_owned(), 0));
    }
}
