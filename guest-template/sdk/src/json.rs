//! A reader of JSON: strict, without allocations but for strings with escapes, of at most 128 levels.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use crate::from_json::FromJson;
use crate::scan;

/// How deep values may nest.
const MAX_DEPTH: u32 = 128;

/// Why a text can't be read as what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    expected: &'static str,
    /// The first byte of what was found; none at the end of the text.
    found: Option<u8>,
    at: usize,
    absent: bool,
}

impl JsonError {
    pub(crate) fn absent() -> Self {
        Self { expected: "a value", found: None, at: 0, absent: true }
    }

    /// Where it is, in bytes from the beginning of the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.absent {
            return f.write_str("expected a value, found none");
        }
        let found = match self.found {
            None => "the end",
            Some(b'n') => "null",
            Some(b't' | b'f') => "a boolean",
            Some(b'"') => "a string",
            Some(b'{') => "an object",
            Some(b'[') => "an array",
            Some(b'-' | b'0'..=b'9') => "a number",
            Some(_) => "other text",
        };
        write!(f, "expected {} at byte {}, found {found}", self.expected, self.at)
    }
}

impl core::error::Error for JsonError {}

/// Reads a text from its beginning to its end.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a text.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    /// Reads the text as one value, and nothing behind it.
    ///
    /// # Errors
    /// Where it isn't what the type expects.
    pub fn whole<T: FromJson>(mut self) -> Result<T, JsonError> {
        let value = T::from_json(&mut self)?;
        match self.peek() {
            None => Ok(value),
            Some(_) => Err(self.expected("the end")),
        }
    }

    /// What was expected here.
    #[must_use]
    pub fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { expected, found: self.byte(), at: self.at, absent: false }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that isn't white space.
    pub fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), JsonError> {
        if self.peek() != Some(byte) {
            return Err(self.expected(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &'static str) -> Result<(), JsonError> {
        self.peek();
        if !self.rest().starts_with(word) {
            return Err(self.expected(word));
        }
        self.at += word.len();
        Ok(())
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Null.
    ///
    /// # Errors
    /// Where there is something else.
    pub fn null(&mut self) -> Result<(), JsonError> {
        self.word("null")
    }

    /// A boolean.
    ///
    /// # Errors
    /// Where there is something else.
    pub fn bool(&mut self) -> Result<bool, JsonError> {
        match self.peek() {
            Some(b't') => self.word("true").map(|()| true),
            Some(b'f') => self.word("false").map(|()| false),
            _ => Err(self.expected("a boolean")),
        }
    }

    /// A number, as it is written.
    ///
    /// # Errors
    /// Where there is something else.
    pub fn number(&mut self) -> Result<&'a str, JsonError> {
        self.peek();
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let digits = |from: usize| {
            let rest = bytes.get(from..).unwrap_or_default();
            rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let mut end = usize::from(bytes.first() == Some(&b'-'));
        let whole = digits(end);
        if whole == 0 || (whole > 1 && bytes.get(end) == Some(&b'0')) {
            return Err(self.expected("a number"));
        }
        end += whole;
        if bytes.get(end) == Some(&b'.') {
            let fraction = digits(end + 1);
            if fraction == 0 {
                return Err(self.expected("a number"));
            }
            end += 1 + fraction;
        }
        if let Some(b'e' | b'E') = bytes.get(end) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(end + 1 + sign);
            if exponent == 0 {
                return Err(self.expected("a number"));
            }
            end += 1 + sign + exponent;
        }
        self.at += end;
        Ok(rest.get(..end).unwrap_or_default())
    }

    /// A string: a piece of the text where it has no escapes.
    ///
    /// # Errors
    /// Where there is something else.
    pub fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let quoted = self.quoted()?;
        if !quoted.as_bytes().contains(&b'\\') {
            return Ok(Cow::Borrowed(quoted));
        }
        unescaped(quoted).map(Cow::Owned).ok_or_else(|| self.expected("a string"))
    }

    /// What is between a string's quotes, which are passed.
    fn quoted(&mut self) -> Result<&'a str, JsonError> {
        self.take(b'"', "a string")?;
        let rest = self.rest();
        let mut at = 0;
        loop {
            at += scan::plain(rest.as_bytes().get(at..).unwrap_or_default());
            match rest.as_bytes().get(at) {
                Some(b'"') => {
                    self.at += at + 1;
                    return Ok(rest.get(..at).unwrap_or_default());
                }
                Some(b'\\') => at += 2,
                Some(_) => {
                    self.at += at;
                    return Err(self.expected("a string without control characters"));
                }
                None => break,
            }
        }
        self.at = self.text.len();
        Err(self.expected("the end of a string"))
    }

    /// Whether a list or an object goes on; passes its bracket or the comma.
    pub(crate) fn has_next(&mut self, open: u8, close: u8, first: bool) -> Result<bool, JsonError> {
        if first {
            self.take(open, if open == b'[' { "an array" } else { "an object" })?;
            if self.depth == MAX_DEPTH {
                return Err(self.expected("at most 128 levels"));
            }
            self.depth += 1;
        }
        if self.peek() == Some(close) {
            self.at += 1;
            self.depth = self.depth.saturating_sub(1);
            return Ok(false);
        }
        if !first {
            self.take(b',', "a comma or the closing bracket")?;
            if self.peek() == Some(close) {
                return Err(self.expected("a value behind the comma"));
            }
        }
        Ok(true)
    }

    /// A key and the colon behind it.
    pub(crate) fn key(&mut self) -> Result<Cow<'a, str>, JsonError> {
        let key = self.string()?;
        self.take(b':', "a colon")?;
        Ok(key)
    }

    /// An array, of which `item` reads each element.
    ///
    /// # Errors
    /// Where there is something else, and those of `item`.
    pub fn list(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        let mut first = true;
        while self.has_next(b'[', b']', core::mem::take(&mut first))? {
            item(self)?;
        }
        Ok(())
    }

    /// An object, of which `member` reads the value of each key.
    ///
    /// # Errors
    /// Where there is something else, and those of `member`.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        let mut first = true;
        while self.has_next(b'{', b'}', core::mem::take(&mut first))? {
            let key = self.key()?;
            member(self, key)?;
        }
        Ok(())
    }

    /// Passes a value; gives its text.
    ///
    /// # Errors
    /// Where there is none.
    pub fn skip(&mut self) -> Result<&'a str, JsonError> {
        self.peek();
        let from = self.at;
        match self.byte() {
            Some(b'n') => self.null()?,
            Some(b't' | b'f') => self.bool().map(drop)?,
            Some(b'"') => self.quoted().map(drop)?,
            Some(b'{') => self.object(|reader, _| reader.skip().map(drop))?,
            Some(b'[') => self.list(|reader| reader.skip().map(drop))?,
            _ => self.number().map(drop)?,
        }
        Ok(self.text.get(from..self.at).unwrap_or_default())
    }
}

/// The content of a string with escapes; `None` where one isn't.
fn unescaped(quoted: &str) -> Option<String> {
    let mut out = String::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        match chars.next()? {
            'u' => {
                let (code, after) = unicode(escape.get(1..)?)?;
                out.push(code);
                rest = after;
                continue;
            }
            c @ ('"' | '\\' | '/') => out.push(c),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            _ => return None,
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Some(out)
}

/// The character of an escape, from its digits, with what is behind it: a pair of surrogates is one.
fn unicode(digits: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.get(..4)?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(())?;
        u32::from_str_radix(digits, 16).ok()
    };
    let high = unit(digits)?;
    let after = digits.get(4..)?;
    if !(0xd800..0xdc00).contains(&high) {
        return Some((char::from_u32(high)?, after));
    }
    let second = after.strip_prefix("\\u")?;
    let low = unit(second)?;
    if !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    Some((char::from_u32(code)?, second.get(4..)?))
}
