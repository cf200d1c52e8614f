//! What is told from tokens alone: how deep a parser would have to go, and words that no extractor needs wherever they stand,
//! in the arguments of macros as well.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use super::SourceLimits;
use super::problem::{SourceFault, SourceProblems};
use crate::diagnostics::untrusted::escaped;

/// Goes over all tokens without recursion. Whether they may be parsed.
pub(super) fn check(
    tokens: TokenStream,
    limits: &SourceLimits,
    problems: &mut SourceProblems,
) -> bool {
    let mut levels = vec![Level::new(tokens, 0)];
    while let Some(level) = levels.last_mut() {
        let Some(token) = level.tokens.next() else {
            levels.pop();
            continue;
        };
        let depth = level.depth_at(&token);
        if depth > limits.run {
            too_deep(token.span(), depth, limits.run, problems);
            return false;
        }
        match &token {
            TokenTree::Ident(ident) if !level.is_lifetime => word(ident, problems),
            TokenTree::Group(group) => {
                let inner = Level::new(group.stream(), depth);
                let span = group.span_open();
                level.end(&token);
                levels.push(inner);
                // The outermost level isn't in brackets.
                let nested = levels.len().saturating_sub(1);
                if nested > limits.nesting {
                    too_deep(span, nested, limits.nesting, problems);
                    return false;
                }
                continue;
            }
            _ => {}
        }
        level.end(&token);
    }
    true
}

fn too_deep(span: Span, used: usize, allowed: usize, problems: &mut SourceProblems) {
    let (used, allowed) = (used as u64, allowed as u64);
    problems.push(span, SourceFault::TooDeep { used, allowed });
}

/// The tokens between two brackets, as far as they were gone over.
///
/// A parser of Rust recurses at brackets, and besides without any: over prefixes (`!!!x`, `&&T`, `|a| |b| x`), types in angle
/// brackets, chains (`a.b.c`, `a = b = c`, `else if`). No recursion is deeper than the tokens since the last one that ends all of them:
/// a `;`, a `,` that isn't in angle brackets or between the bars of a closure, a `=>`, and a `}` where what follows begins something else.
struct Level {
    tokens: IntoIter,
    /// How deep the brackets are in.
    base: usize,
    /// Tokens since the last end.
    run: usize,
    /// Opened `<` and bars since the last end: what may go on behind a comma.
    held: usize,
    bars: usize,
    /// What the last token was.
    is_lifetime: bool,
    is_behind_braces: bool,
    joint: Option<char>,
}

impl Level {
    fn new(tokens: TokenStream, base: usize) -> Self {
        let tokens = tokens.into_iter();
        Self {
            tokens,
            base,
            run: 0,
            held: 0,
            bars: 0,
            is_lifetime: false,
            is_behind_braces: false,
            joint: None,
        }
    }

    /// How deep this token is.
    fn depth_at(&mut self, token: &TokenTree) -> usize {
        if self.is_behind_braces && begins(token) {
            self.reset();
        }
        self.run = self.run.saturating_add(1);
        self.base.saturating_add(self.run)
    }

    /// Notes what a token that was gone over means for the next one.
    fn end(&mut self, token: &TokenTree) {
        let before = self.joint.take();
        self.is_lifetime = false;
        self.is_behind_braces = false;
        match token {
            TokenTree::Punct(punct) => {
                match punct.as_char() {
                    ';' => self.reset(),
                    ',' => self.run = self.held.saturating_add(self.bars),
                    '<' => self.held = self.held.saturating_add(1),
                    '>' if before == Some('=') => self.reset(),
                    '>' if before == Some('-') => {}
                    '>' => self.held = self.held.saturating_sub(1),
                    '|' => self.bars = self.bars.saturating_add(1),
                    '\'' => self.is_lifetime = true,
                    _ => {}
                }
                if punct.spacing() == proc_macro2::Spacing::Joint {
                    self.joint = Some(punct.as_char());
                }
            }
            TokenTree::Group(group) => {
                self.is_behind_braces = group.delimiter() == Delimiter::Brace;
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
    }

    fn reset(&mut self) {
        (self.run, self.held, self.bars) = (0, 0, 0);
    }
}

/// Whether a token behind a `}` begins something else than what the `}` is the end of.
fn begins(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(ident) => !(ident == "else" || ident == "as"),
        TokenTree::Literal(_) => true,
        TokenTree::Punct(punct) => matches!(punct.as_char(), '#' | '\''),
        TokenTree::Group(_) => false,
    }
}

/// Judges a word by itself.
fn word(ident: &Ident, problems: &mut SourceProblems) {
    let name = ident.to_string();
    let item = |found, instead| SourceFault::Item { found, instead };
    let fault = match name.as_str() {
        "unsafe" => SourceFault::Unsafe,
        "extern" => SourceFault::Extern,
        "static" => SourceFault::Static,
        "async" | "await" => item("`async`", "an extractor waits for nothing"),
        "yield" | "gen" => item("generators", "write a loop, or an iterator"),
        "macro" => item("macros of their own", "write a function"),
        _ if name.starts_with("__") || !name.is_ascii() || name.starts_with("r#") => {
            SourceFault::Name(escaped(&name))
        }
        _ => return,
    };
    problems.push(ident.span(), fault);
}
