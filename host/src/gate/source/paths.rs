//! Paths: into the SDK, and into the part of the standard library that needs no system.

use proc_macro2::Span;
use syn::{Ident, Path, UseTree};

use super::allowed::{LIBRARIES, MACROS, MODULES, MODULES_INSTEAD, NOT_IN_MODULES, SDK};
use super::problem::{SourceFault, SourceProblems};
use crate::diagnostics::untrusted::escaped;

/// What a path stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// All names in what it leads to.
    Glob,
    /// What it leads to.
    Name,
}

/// Judges a path that is used.
pub(super) fn check(path: &Path, problems: &mut SourceProblems) {
    let names: Vec<String> = path.segments.iter().map(|it| it.ident.to_string()).collect();
    if let Some(first) = path.segments.first() {
        judge(&names, Whole::Name, first.ident.span(), problems);
    }
}

/// Judges all paths of an import.
pub(super) fn check_use(tree: &UseTree, before: &mut Vec<String>, problems: &mut SourceProblems) {
    let deeper = before.len();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            check_use(&path.tree, before, problems);
        }
        UseTree::Name(name) => {
            push_unless_self(before, &name.ident);
            judge(before, Whole::Name, name.ident.span(), problems);
        }
        UseTree::Rename(rename) => {
            push_unless_self(before, &rename.ident);
            judge(before, Whole::Name, rename.ident.span(), problems);
            declared(&rename.rename, problems);
            // How the arguments of a macro are judged goes by its name.
            for ident in [&rename.ident, &rename.rename] {
                let name = ident.to_string();
                if MACROS.iter().any(|(known, _)| *known == name) {
                    problems.push(ident.span(), SourceFault::Name(name));
                }
            }
        }
        UseTree::Glob(glob) => judge(before, Whole::Glob, glob.star_token.span, problems),
        UseTree::Group(group) => {
            for tree in &group.items {
                check_use(tree, before, problems);
            }
        }
    }
    before.truncate(deeper);
}

/// `std::fmt::{self}` is `std::fmt`.
fn push_unless_self(before: &mut Vec<String>, ident: &Ident) {
    if before.is_empty() || ident != "self" {
        before.push(ident.to_string());
    }
}

/// Judges a name that the source gives.
pub(super) fn declared(ident: &Ident, problems: &mut SourceProblems) {
    let name = ident.to_string();
    if name == SDK || LIBRARIES.contains(&name.as_str()) {
        problems.push(ident.span(), SourceFault::Name(name));
    }
}

fn judge(names: &[String], whole: Whole, span: Span, problems: &mut SourceProblems) {
    // Where a path begins in the file, a crate's name means the crate unless the file says otherwise, which it may not.
    let is_of_file = |name: &&String| matches!(name.as_str(), "crate" | "self" | "super");
    let skipped = names.iter().take_while(is_of_file).count();
    let names = names.get(skipped..).unwrap_or_default();
    let Some((first, rest)) = names.split_first() else { return };
    let instead = if first == SDK {
        sdk(rest, whole)
    } else if LIBRARIES.contains(&first.as_str()) {
        library(rest, whole)
    } else {
        return;
    };
    if let Some(instead) = instead {
        let star = if whole == Whole::Glob { "::*" } else { "" };
        let path = escaped(&(names.join("::") + star));
        problems.push(span, SourceFault::Import { path, instead });
    }
}

/// What is wrong with a path into the SDK.
fn sdk(rest: &[String], whole: Whole) -> Option<String> {
    match (rest, whole) {
        ([only], Whole::Glob) if only == "prelude" => None,
        (_, Whole::Glob) | ([], _) => {
            Some(format!("import names, or all of them by `use {SDK}::prelude::*;`"))
        }
        (rest, Whole::Name) => rest
            .iter()
            .any(|name| LIBRARIES.contains(&name.as_str()))
            .then(|| "name the standard library as `std`".to_owned()),
    }
}

/// What is wrong with a path into the standard library.
fn library(rest: &[String], whole: Whole) -> Option<String> {
    let Some((module, inner)) = rest.split_first() else {
        return Some(
            "name what is needed of it, as in `use std::collections::BTreeMap;`".to_owned(),
        );
    };
    if !MODULES.contains(&module.as_str()) {
        let known = MODULES_INSTEAD.iter().find(|(name, _)| name == module);
        return Some(match known {
            Some((_, instead)) => (*instead).to_owned(),
            None => format!("of the standard library there are the modules {}", MODULES.join(", ")),
        });
    }
    if whole == Whole::Glob {
        return Some("import what is needed by its names".to_owned());
    }
    let left_out = NOT_IN_MODULES
        .iter()
        .find(|(of, name, _)| of == module && inner.first().is_some_and(|inner| inner == name));
    left_out.map(|(_, _, instead)| (*instead).to_owned())
}
