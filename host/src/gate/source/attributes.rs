//! Attributes.

use syn::punctuated::Punctuated;
use syn::{AttrStyle, Attribute, Expr, ExprLit, Lit, Meta, Path, Token};

use super::allowed::{ATTRIBUTES, DERIVES, LINTS};
use super::problem::{SourceFault, SourceProblems};
use crate::diagnostics::untrusted::escaped;

/// Judges one attribute. What is in it isn't gone over by anything else.
pub(super) fn check(attribute: &Attribute, problems: &mut SourceProblems) {
    let path = attribute.path();
    let name = spelled(path);
    let is_inner = matches!(attribute.style, AttrStyle::Inner(_));
    let known = match name.as_str() {
        "doc" => documentation(&attribute.meta),
        "allow" | "expect" | "warn" => lints(attribute),
        "derive" if !is_inner => {
            list(attribute, "a derive of the compiler's own", DERIVES, |path| {
                DERIVES.contains(&spelled(path).as_str())
            })
        }
        "cfg" if !is_inner => configuration(attribute),
        "inline" if !is_inner => inline(attribute),
        plain if ATTRIBUTES.contains(&plain) && !is_inner => match &attribute.meta {
            Meta::Path(_) => Ok(()),
            // A reason, which is text.
            Meta::NameValue(value) if is_text(&value.value) => Ok(()),
            _ => Err((format!("`{plain}` with arguments"), format!("`#[{plain}]`"))),
        },
        _ => Err((
            format!("`{}`", escaped(&name)),
            format!(
                "the attributes allow, cfg(test), derive, doc, expect, warn and {}{}",
                ATTRIBUTES.join(", "),
                if is_inner { ", of which inner ones are allow, doc, expect and warn" } else { "" }
            ),
        )),
    };
    if let Err((found, expected)) = known {
        problems.push(
            attribute
                .pound_token
                .spans
                .first()
                .copied()
                .unwrap_or_else(proc_macro2::Span::call_site),
            SourceFault::Attribute { found, expected },
        );
    }
}

/// What was found, and what was expected.
type Judged = Result<(), (String, String)>;

fn spelled(path: &Path) -> String {
    let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
    names.join("::")
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(ExprLit { lit: Lit::Str(_), attrs }) if attrs.is_empty())
}

/// `#[doc = include_str!(..)]` would read a file.
fn documentation(meta: &Meta) -> Judged {
    match meta {
        Meta::NameValue(value) if is_text(&value.value) => Ok(()),
        _ => Err((
            "`doc` with something else".to_owned(),
            "a comment, or `doc` with its text".to_owned(),
        )),
    }
}

/// `#[derive(A, B)]`: each of them as `is_known` has it.
fn list(
    attribute: &Attribute,
    kind: &str,
    known: &[&str],
    is_known: impl Fn(&Path) -> bool,
) -> Judged {
    let expected = || format!("{kind} ({})", known.join(", "));
    let paths = attribute.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
    let paths = paths.map_err(|error| (escaped(&error.to_string()), expected()))?;
    match paths.iter().find(|path| !is_known(path)) {
        Some(path) => Err((format!("`{}`", escaped(&spelled(path))), expected())),
        None => Ok(()),
    }
}

fn lints(attribute: &Attribute) -> Judged {
    let expected = || format!("a lint that begins with one of {}", LINTS.join(", "));
    let metas = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let metas = metas.map_err(|error| (escaped(&error.to_string()), expected()))?;
    for meta in &metas {
        let is_known = match meta {
            Meta::Path(path) => {
                let name = spelled(path);
                LINTS.iter().any(|start| name.starts_with(start))
            }
            Meta::NameValue(value) => value.path.is_ident("reason") && is_text(&value.value),
            Meta::List(_) => false,
        };
        if !is_known {
            return Err((format!("`{}`", escaped(&spelled(meta.path()))), expected()));
        }
    }
    Ok(())
}

/// `#[cfg(test)]` and `#[cfg(not(test))]`.
fn configuration(attribute: &Attribute) -> Judged {
    let is_test = |meta: &Meta| matches!(meta, Meta::Path(path) if path.is_ident("test"));
    let condition = attribute.parse_args::<Meta>();
    let is_known = condition.is_ok_and(|condition| match &condition {
        Meta::List(list) if list.path.is_ident("not") => {
            list.parse_args::<Meta>().is_ok_and(|inner| is_test(&inner))
        }
        other => is_test(other),
    });
    if is_known {
        Ok(())
    } else {
        Err(("another condition".to_owned(), "`cfg(test)` or `cfg(not(test))`".to_owned()))
    }
}

fn inline(attribute: &Attribute) -> Judged {
    match &attribute.meta {
        Meta::Path(_) => Ok(()),
        _ => list(attribute, "`inline`, or an argument of it", &["always", "never"], |path| {
            path.is_ident("always") || path.is_ident("never")
        }),
    }
}
