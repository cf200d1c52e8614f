//! HTML and SVG as text: whatever is put in is escaped, and whatever is opened is closed.

use std::fmt::Display;

use retort::diagnostics::sanitize;

/// How much of any one text is shown, in characters.
const TEXT_CHARS: usize = 2_000;
/// How long an attribute may be: the points of a line are one.
const ATTRIBUTE_CHARS: usize = 100_000;

/// An attribute, and what it says.
pub(super) type Attribute<'a> = (&'static str, &'a dyn Display);

/// Markup that is being written.
#[derive(Default)]
pub(super) struct Markup {
    text: String,
}

impl Markup {
    /// An element with what `inside` writes into it.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: &[Attribute<'_>],
        inside: impl FnOnce(&mut Self),
    ) {
        self.start(name, attributes);
        self.text.push('>');
        inside(self);
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
    }

    /// An element that holds nothing.
    pub(super) fn empty(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.start(name, attributes);
        self.text.push_str("/>");
    }

    /// An element that holds a text.
    pub(super) fn leaf(
        &mut self,
        name: &'static str,
        attributes: &[Attribute<'_>],
        text: impl Display,
    ) {
        self.element(name, attributes, |markup| markup.write(text));
    }

    /// Text, wherever it comes from.
    pub(super) fn write(&mut self, text: impl Display) {
        self.escape(text, TEXT_CHARS);
    }

    fn escape(&mut self, text: impl Display, most: usize) {
        for c in sanitize(&text.to_string(), most).chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\'' => self.text.push_str("&#39;"),
                // No markup may hold these.
                '\u{fffe}' | '\u{ffff}' => self.text.push('\u{fffd}'),
                c => self.text.push(c),
            }
        }
    }

    /// Markup that is part of this program.
    pub(super) fn raw(&mut self, markup: &'static str) {
        self.text.push_str(markup);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    fn start(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            self.text.push(' ');
            self.text.push_str(key);
            self.text.push_str("=\"");
            self.escape(value, ATTRIBUTE_CHARS);
            self.text.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Markup;

    #[test]
    fn nothing_that_is_put_in_becomes_markup() {
        let mut markup = Markup::default();
        markup.element("p", &[("title", &"a\"><script>'")], |markup| {
            markup.write("<b>&amp;\u{202e}\u{0}\n");
            markup.empty("br", &[]);
        });
        assert_eq!(
            markup.finish(),
            "<p title=\"a&quot;&gt;&lt;script&gt;&#39;\">&lt;b&gt;&amp;amp;\\u{202e}\\u{0}\\n<br/></p>"
        );
    }
}
