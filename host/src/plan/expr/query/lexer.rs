//! An expression as tokens.

use super::error::Mistake;
use crate::diagnostics::untrusted::quoted;
use crate::json::{is_json, string};

/// A token, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Offset of its first byte.
    pub(super) at: usize,
    /// Offset after its last byte.
    pub(super) end: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A name without quotes.
    Name(String),
    /// A name in double quotes.
    Quoted(String),
    /// `$name`, without the sign.
    Variable(String),
    /// JSON: what is in backquotes, or a string in single quotes.
    Literal(String),
    /// An integer, as it is written.
    Number(String),
    /// An operator, a bracket or another sign.
    Sign(&'static str),
    End,
}

impl TokenKind {
    /// Whether a value may end here, so that a minus sign after it subtracts.
    fn ends_operand(&self) -> bool {
        match self {
            Self::Sign(sign) => matches!(*sign, ")" | "]" | "}" | "[]" | "@" | "$"),
            Self::End => false,
            _ => true,
        }
    }
}

impl Token {
    /// As it is shown to whoever wrote it.
    pub(super) fn shown(&self, text: &str) -> String {
        match self.kind {
            TokenKind::End => "the end of the expression".to_owned(),
            _ => quoted(text.get(self.at..self.end).unwrap_or_default()),
        }
    }
}

/// Signs, those that begin with another one before it.
const SIGNS: &[&str] = &[
    "||", "&&", "==", "!=", "<=", ">=", "[?", "[]", "//", "|", "&", "!", "<", ">", "=", "[", "]",
    "{", "}", "(", ")", ".", ",", ":", "@", "*", "+", "-", "/", "%", "?",
];

/// Operators that Unicode has a sign of its own for.
const SYNONYMS: &[(char, &str)] = &[('\u{2212}', "-"), ('\u{2013}', "-"), ('×', "*"), ('÷', "/")];

/// The tokens of a text; the last one is its end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(first) = rest.chars().next()
    {
        if matches!(first, ' ' | '\t' | '\n' | '\r') {
            at += 1;
            continue;
        }
        let after_operand = tokens.last().is_some_and(|token| token.kind.ends_operand());
        let (kind, length) = token(rest, first, after_operand).map_err(|fault| {
            let found = fault.found.or_else(|| Some(quoted(&first.to_string())));
            Mistake::syntax(at + fault.at, fault.expected, found)
        })?;
        tokens.push(Token { kind, at, end: at + length });
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, at: text.len(), end: text.len() });
    Ok(tokens)
}

/// What is wrong with a token, at an offset in it.
struct Fault {
    at: usize,
    expected: &'static str,
    found: Option<String>,
}

fn fault<T>(at: usize, expected: &'static str, found: &str) -> Result<T, Fault> {
    Err(Fault { at, expected, found: Some(found.to_owned()) })
}

/// The token that a text begins with, and its bytes.
fn token(rest: &str, first: char, after_operand: bool) -> Result<(TokenKind, usize), Fault> {
    match first {
        'A'..='Z' | 'a'..='z' | '_' => {
            let length = name(rest);
            Ok((TokenKind::Name(rest.get(..length).unwrap_or_default().to_owned()), length))
        }
        '$' => {
            let behind = rest.get(1..).unwrap_or_default();
            if behind.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
                let length = name(behind);
                let name = behind.get(..length).unwrap_or_default().to_owned();
                return Ok((TokenKind::Variable(name), 1 + length));
            }
            Ok((TokenKind::Sign("$"), 1))
        }
        '0'..='9' => {
            let length = digits(rest);
            Ok((TokenKind::Number(rest.get(..length).unwrap_or_default().to_owned()), length))
        }
        '-' if !after_operand && rest.get(1..).is_some_and(|it| digits(it) > 0) => {
            let length = 1 + digits(rest.get(1..).unwrap_or_default());
            Ok((TokenKind::Number(rest.get(..length).unwrap_or_default().to_owned()), length))
        }
        '"' => {
            let length = 2 + delimited(rest, '"')?.len();
            let json = rest.get(..length).unwrap_or_default();
            match serde_json::from_str(json) {
                Ok(name) => Ok((TokenKind::Quoted(name), length)),
                Err(_) => fault(0, "a name in double quotes, escaped as in JSON", &quoted(json)),
            }
        }
        '\'' => {
            let inside = delimited(rest, '\'')?;
            let mut json = Vec::new();
            string::push_string(&mut json, &unescaped(inside, &['\'', '\\']));
            // A string that was pushed as JSON is UTF-8.
            let json = String::from_utf8(json).unwrap_or_default();
            Ok((TokenKind::Literal(json), 2 + inside.len()))
        }
        '`' => {
            let inside = delimited(rest, '`')?;
            let json = unescaped(inside, &['`']);
            let json = json.trim_matches([' ', '\t', '\n', '\r']);
            if !is_json(json.as_bytes()) {
                return fault(
                    0,
                    "JSON in the backquotes, a string in its double quotes",
                    &quoted(json),
                );
            }
            Ok((TokenKind::Literal(json.to_owned()), 2 + inside.len()))
        }
        _ => {
            if let Some((sign, operator)) = SYNONYMS.iter().find(|(sign, _)| *sign == first) {
                return Ok((TokenKind::Sign(operator), sign.len_utf8()));
            }
            match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => Ok((TokenKind::Sign(sign), sign.len())),
                None => Err(Fault { at: 0, expected: "a token of JMESPath", found: None }),
            }
        }
    }
}

/// Bytes of the name at the front.
fn name(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// Bytes of the digits at the front.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// What is between the delimiter at the front and the next one that no backslash stands before.
fn delimited(text: &str, delimiter: char) -> Result<&str, Fault> {
    let mut escaped = false;
    for (at, found) in text.char_indices().skip(1) {
        match found {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if found == delimiter => return Ok(text.get(1..at).unwrap_or_default()),
            _ => {}
        }
    }
    let expected = match delimiter {
        '"' => "a double quote that ends the name",
        '`' => "a backquote that ends the literal",
        _ => "a single quote that ends the string",
    };
    fault(text.len(), expected, "the end of the expression")
}

/// A text without the backslashes that stand before one of these; all others stay, with what is after them.
fn unescaped(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some(next) if special.contains(&next) => out.push(next),
            next => {
                out.push('\\');
                out.extend(next);
            }
        }
    }
    out
}
