//! Rust text: literals that nothing can break out of, and lines as rustfmt breaks them.

use serde_json::Value as Json;

/// Columns of a line.
const WIDTH: usize = 100;
/// Columns of a chain of calls on one line, and of the arguments of a call.
const CALLS: usize = 60;

/// A string literal.
pub(super) fn literal(text: &str) -> String {
    format!("{text:?}")
}

/// A list of string literals.
pub(super) fn list(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let literals: Vec<String> = texts.into_iter().map(|text| literal(text.as_ref())).collect();
    format!("[{}]", literals.join(", "))
}

/// JSON as a raw string literal. What isn't a letter or ASCII is escaped in it, so that text can't look like other text.
pub(super) fn json(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() || character.is_alphanumeric() {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    let mut fence = "#".to_owned();
    while text.contains(&format!("\"{fence}")) {
        fence.push('#');
    }
    format!("r{fence}\"{text}\"{fence}")
}

/// A scalar of a plan as an expression.
pub(super) fn scalar(constant: &Json) -> String {
    match constant {
        Json::String(text) => literal(text),
        Json::Number(number) if number.is_i64() => format!("{number}_i64"),
        Json::Number(number) if number.is_u64() => format!("{number}_u64"),
        // In the digits that the plan's have, whatever Rust would write.
        Json::Number(number) => format!("Json::parse(\"{number}\").unwrap_or_default()"),
        other => other.to_string(),
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Text of Rust, line by line.
pub(super) struct Lines<'a> {
    out: &'a mut String,
    depth: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        Self { out, depth: 0 }
    }

    pub(super) fn line(&mut self, text: &str) {
        if !text.is_empty() {
            self.out.push_str(&"    ".repeat(self.depth));
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A line that opens a block.
    pub(super) fn open(&mut self, text: &str) {
        self.line(text);
        self.depth += 1;
    }

    /// `if left != right {`
    pub(super) fn open_unless_equal(&mut self, left: &str, right: &str) {
        let head = format!("if {left} != {right} {{");
        if self.depth * 4 + width(&head) <= WIDTH {
            return self.open(&head);
        }
        self.open(&format!("if {left}"));
        self.line(&format!("!= {right}"));
        self.close("{");
        self.indent();
    }

    /// Goes on in a block that a line has opened.
    pub(super) fn indent(&mut self) {
        self.depth += 1;
    }

    pub(super) fn close(&mut self, text: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(text);
    }

    /// `receiver.method(arguments);`
    pub(super) fn call(&mut self, receiver: &str, method: &str, arguments: &[&str]) {
        let (head, joined) = (format!("{receiver}.{method}("), arguments.join(", "));
        let columns = self.depth * 4 + width(&head) + width(&joined) + ");".len();
        if columns <= WIDTH && width(&joined) <= CALLS {
            return self.line(&format!("{head}{joined});"));
        }
        self.open(&head);
        arguments.iter().for_each(|argument| self.line(&format!("{argument},")));
        self.close(");");
    }

    /// `let name = graph.a().b();`
    pub(super) fn chain(&mut self, name: &str, calls: &[String]) {
        let head = format!("let {name} = graph");
        let joined = calls.concat();
        let columns = self.depth * 4 + width(&head) + width(&joined) + 1;
        let fits = "graph".len() + width(&joined) <= CALLS || calls.len() == 1;
        if fits && columns <= WIDTH {
            return self.line(&format!("{head}{joined};"));
        }
        self.open(&head);
        let last = calls.len().saturating_sub(1);
        for (index, call) in calls.iter().enumerate() {
            self.line(&format!("{call}{}", if index == last { ";" } else { "" }));
        }
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{json, literal, scalar};

    #[test]
    fn nothing_breaks_out() {
        assert_eq!(literal("a\"\\\n\u{202e}é"), "\"a\\\"\\\\\\n\\u{202e}é\"");
        assert_eq!(
            json("{\"a\":\"\u{202e}é\u{1f642}\"}"),
            "r#\"{\"a\":\"\\u202eé\\ud83d\\ude42\"}\"#"
        );
        assert_eq!(json("\"# \"## "), "r###\"\"# \"## \"###");
    }

    #[test]
    fn numbers_keep_their_digits() {
        let of = |text: &str| scalar(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(of("-7"), "-7_i64");
        assert_eq!(of("18446744073709551615"), "18446744073709551615_u64");
        assert_eq!(of("0.00001"), "Json::parse(\"0.00001\").unwrap_or_default()");
    }
}
