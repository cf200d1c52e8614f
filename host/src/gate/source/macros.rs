//! Macros: which there are, and what is in their arguments.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, Ident, LitStr, Macro, Pat, Token, Type, Visibility};

use super::allowed::{Arguments, LIBRARIES, MACROS, MACROS_INSTEAD, SDK};
use super::problem::{SourceFault, SourceProblems};
use crate::diagnostics::untrusted::escaped;

/// What the arguments of a macro are, as far as they have to be gone over.
#[derive(Default)]
pub(super) struct Parsed {
    pub(super) expressions: Vec<Expr>,
    pub(super) pattern: Option<Pat>,
    pub(super) attributes: Vec<Attribute>,
    pub(super) types: Vec<Type>,
}

/// Judges a call by its name, and reads its arguments.
pub(super) fn check(call: &Macro, problems: &mut SourceProblems) -> Parsed {
    let names: Vec<String> = call.path.segments.iter().map(|it| it.ident.to_string()).collect();
    // As it is, or from the crate that it is of: from anywhere else, it would be another one.
    let name = match names.as_slice() {
        [name] => Some(name),
        [root, name] if root == SDK || LIBRARIES.contains(&root.as_str()) => Some(name),
        _ => None,
    };
    let known = name.and_then(|name| MACROS.iter().find(|(known, _)| known == name));
    let Some((_, arguments)) = known else {
        let last = names.last();
        let instead = MACROS_INSTEAD.iter().find(|(known, _)| last.is_some_and(|it| it == known));
        let expected: Vec<&str> = MACROS.iter().map(|(name, _)| *name).collect();
        problems.push(
            call.path.span(),
            SourceFault::Macro {
                name: escaped(&names.join("::")),
                expected: expected.join(", "),
                instead: instead.map_or("", |(_, instead)| instead),
            },
        );
        return Parsed::default();
    };
    let parsed = match arguments {
        Arguments::Expressions => expressions.parse2(call.tokens.clone()),
        Arguments::Records => records.parse2(call.tokens.clone()),
        Arguments::Matches => matching.parse2(call.tokens.clone()),
        Arguments::Declaration => {
            declaration(call.tokens.clone(), problems);
            Ok(Parsed::default())
        }
    };
    parsed.unwrap_or_else(|error| {
        super::problem::syntax(&error, problems);
        Parsed::default()
    })
}

/// Expressions with commas between them, or `value; count` of `vec!`. The named arguments of a format are assignments.
fn expressions(input: ParseStream<'_>) -> syn::Result<Parsed> {
    let mut expressions = Vec::new();
    while !input.is_empty() {
        expressions.push(input.parse()?);
        if input.is_empty() {
            break;
        }
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
        } else {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(Parsed { expressions, ..Parsed::default() })
}

/// `value, pattern` or `value, pattern if condition`.
fn matching(input: ParseStream<'_>) -> syn::Result<Parsed> {
    let mut expressions = vec![input.parse()?];
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    if input.peek(Token![if]) {
        input.parse::<Token![if]>()?;
        expressions.push(input.parse()?);
    }
    Punctuated::<Expr, Token![,]>::parse_terminated(input).and_then(|rest| match rest.first() {
        Some(more) => Err(syn::Error::new(more.span(), "expected the end of the arguments")),
        None => Ok(()),
    })?;
    Ok(Parsed { expressions, pattern: Some(pattern), ..Parsed::default() })
}

/// `struct Name { field as "key": Type, .. }`, any number of them.
fn records(input: ParseStream<'_>) -> syn::Result<Parsed> {
    let mut parsed = Parsed::default();
    while !input.is_empty() {
        parsed.attributes.extend(input.call(Attribute::parse_outer)?);
        input.parse::<Visibility>()?;
        input.parse::<Token![struct]>()?;
        input.parse::<Ident>()?;
        let fields;
        syn::braced!(fields in input);
        while !fields.is_empty() {
            fields.parse::<Visibility>()?;
            fields.parse::<Ident>()?;
            if fields.peek(Token![as]) {
                fields.parse::<Token![as]>()?;
                fields.parse::<LitStr>()?;
            }
            fields.parse::<Token![:]>()?;
            parsed.types.push(fields.parse()?);
            if !fields.is_empty() {
                fields.parse::<Token![,]>()?;
            }
        }
    }
    Ok(parsed)
}

/// A declaration is handed on to the SDK's macro token by token, so that nothing in it may be an attribute or another macro.
fn declaration(tokens: TokenStream, problems: &mut SourceProblems) {
    let mut levels = vec![tokens.into_iter()];
    while let Some(level) = levels.last_mut() {
        match level.next() {
            None => drop(levels.pop()),
            Some(TokenTree::Group(group)) => levels.push(group.stream().into_iter()),
            Some(TokenTree::Punct(punct)) if matches!(punct.as_char(), '#' | '!' | '$') => {
                let message = format!(
                    "expected names, texts, `:`, `,` and brackets in a declaration, found `{}`",
                    punct.as_char()
                );
                problems.push(punct.span(), SourceFault::Syntax(message));
            }
            Some(TokenTree::Ident(ident)) if LIBRARIES.iter().any(|name| ident == name) => {
                let instead = "a declaration names fields of the event".to_owned();
                problems
                    .push(ident.span(), SourceFault::Import { path: ident.to_string(), instead });
            }
            Some(_) => {}
        }
    }
}
