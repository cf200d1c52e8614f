//! What the compiler works out: constants and the lengths of arrays.

use std::collections::BTreeMap;

use syn::ext::IdentExt as _;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, File, Ident, ItemConst, Lit, Macro, UnOp, UseName, UseRename};

use super::macros;
use super::problem::SourceProblems;

/// The constants of a file that are numbers, by their names; the largest where a name is given twice, and none where one of them
/// isn't a number, or where the name is imported: what it means then isn't told by the name.
///
/// What an array has in itself is multiplied as far as it is written there. Of elements that are a name, by `type`, a struct, a parameter
/// or a value, nothing is known here, and nothing can be: `let b = [a; 65_536];` takes no word of how large `a` is. So
/// what bounds these is the compiler's memory, and that no type may be larger than the target's memory: `tests/hostile/source/array_*`.
#[derive(Default)]
pub(super) struct Numbers(BTreeMap<String, Option<u64>>);

impl Numbers {
    pub(super) fn of(file: &File) -> Self {
        let mut numbers = Self::default();
        numbers.visit_file(file);
        numbers
    }

    /// How many elements an array of this length has, where it can be told.
    pub(super) fn length(&self, length: &Expr) -> Option<u64> {
        match length {
            Expr::Lit(literal) => number(&literal.lit),
            Expr::Paren(inner) => self.length(&inner.expr),
            Expr::Group(inner) => self.length(&inner.expr),
            // Of a longer path, the last name may be that of another constant.
            Expr::Path(path) if path.qself.is_none() => {
                let name = name(path.path.get_ident()?);
                // Compilers take letters for the same that are written in several ways.
                self.0.get(&name).copied().flatten().filter(|_| name.is_ascii())
            }
            _ => None,
        }
    }
}

impl Visit<'_> for Numbers {
    fn visit_item_const(&mut self, constant: &ItemConst) {
        let found = match &*constant.expr {
            Expr::Lit(literal) => number(&literal.lit),
            _ => None,
        };
        let known = self.0.entry(name(&constant.ident)).or_insert(found);
        *known = known.zip(found).map(|(known, found)| known.max(found));
        visit::visit_item_const(self, constant);
    }

    fn visit_use_name(&mut self, import: &UseName) {
        self.0.insert(name(&import.ident), None);
    }

    fn visit_use_rename(&mut self, import: &UseRename) {
        self.0.insert(name(&import.rename), None);
    }

    fn visit_macro(&mut self, call: &Macro) {
        // What is wrong with it is told by who judges it.
        let parsed = macros::check(call, &mut SourceProblems::default());
        parsed.expressions.iter().for_each(|expr| self.visit_expr(expr));
        parsed.types.iter().for_each(|written| self.visit_type(written));
        parsed.pattern.iter().for_each(|pattern| self.visit_pat(pattern));
    }
}

/// A name as it is without `r#`.
fn name(ident: &Ident) -> String {
    ident.unraw().to_string()
}

fn number(literal: &Lit) -> Option<u64> {
    match literal {
        Lit::Int(digits) => digits.base10_parse().ok(),
        Lit::Byte(byte) => Some(u64::from(byte.value())),
        _ => None,
    }
}

/// What in the initialiser of a constant the compiler would have to run, if there is something.
pub(super) fn evaluated(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Lit(_) => None,
        // A constant of a type with arguments is worked out for each of these.
        Expr::Path(path) if path.qself.is_none() && !has_arguments(&path.path) => None,
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_) | UnOp::Not(_)) => {
            evaluated(&unary.expr)
        }
        Expr::Binary(binary) => evaluated(&binary.left).or_else(|| evaluated(&binary.right)),
        Expr::Cast(cast) => evaluated(&cast.expr),
        Expr::Paren(inner) => evaluated(&inner.expr),
        Expr::Group(inner) => evaluated(&inner.expr),
        Expr::Reference(inner) => evaluated(&inner.expr),
        Expr::Array(array) => array.elems.iter().find_map(evaluated),
        Expr::Tuple(tuple) => tuple.elems.iter().find_map(evaluated),
        Expr::Repeat(repeat) => evaluated(&repeat.expr),
        Expr::Range(range) => range.start.iter().chain(&range.end).find_map(|end| evaluated(end)),
        Expr::Struct(literal) => {
            let fields = literal.fields.iter().find_map(|field| evaluated(&field.expr));
            fields.or_else(|| literal.rest.as_deref().and_then(evaluated))
        }
        Expr::Call(call) if is_value(call) => call.args.iter().find_map(evaluated),
        other => Some(other),
    }
}

fn has_arguments(path: &syn::Path) -> bool {
    path.segments.iter().any(|segment| !segment.arguments.is_none())
}

/// Whether a call makes a value of its arguments and does nothing else: `Some(3)`, `Kind::Of("a")`, and an empty `Vec::new()`.
fn is_value(call: &ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let name = last.ident.to_string();
    name.starts_with(|first: char| first.is_ascii_uppercase())
        || (name == "new" && call.args.is_empty())
}

/// What an expression is called that is no literal.
pub(super) fn kind(expr: &Expr) -> &'static str {
    match expr {
        Expr::Call(_) | Expr::MethodCall(_) => "a call",
        Expr::Macro(_) => "a macro",
        Expr::Block(_) | Expr::Const(_) => "a block",
        Expr::If(_) | Expr::Match(_) => "a branch",
        Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => "a loop",
        Expr::Closure(_) => "a closure",
        _ => "another expression",
    }
}
