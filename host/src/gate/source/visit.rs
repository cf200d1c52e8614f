//! What is told from the tree: items, constants, macros, attributes and paths.

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ConstParam, Expr, ExprConst, ExprRepeat, File, ForeignItem, GenericArgument,
    ImplItem, ImplItemConst, Item, ItemConst, ItemImpl, ItemMod, ItemUse, Lit, Macro, Pat, Path,
    Signature, TraitItem, TraitItemConst, TraitItemType, Type, TypeArray, Variant,
};

use super::problem::{SourceFault, SourceProblems};
use super::{SourceLimits, attributes, constants, macros, paths};

/// Judges all that is in a file.
pub(super) fn check(file: &File, limits: &SourceLimits, problems: &mut SourceProblems) {
    let numbers = constants::Numbers::of(file);
    Visitor { limits, numbers: &numbers, problems, elements: 1 }.visit_file(file);
}

struct Visitor<'a> {
    limits: &'a SourceLimits,
    numbers: &'a constants::Numbers,
    problems: &'a mut SourceProblems,
    /// Elements of the arrays that this is in, multiplied.
    elements: u64,
}

impl Visitor<'_> {
    /// The same, for a tree that lives less long: the arguments of a macro.
    fn inside(&mut self) -> Visitor<'_> {
        let Self { limits, numbers, elements, .. } = *self;
        Visitor { limits, numbers, problems: self.problems, elements }
    }

    fn item(&mut self, span: Span, found: &'static str, instead: &'static str) {
        self.problems.push(span, SourceFault::Item { found, instead });
    }

    fn unstable(&mut self, span: Span) {
        self.item(span, "syntax that isn't stable", "write it in the Rust of edition 2024");
    }

    fn constant(&mut self, expr: &Expr) {
        if let Some(found) = constants::evaluated(expr) {
            let fault = SourceFault::ConstEval(constants::kind(found).to_owned());
            self.problems.push(found.span(), fault);
        }
    }

    /// Goes over what is in an array of this length.
    fn in_array(&mut self, length: &Expr, inner: impl FnOnce(&mut Self)) {
        let around = self.elements;
        let allowed = self.limits.array_elements;
        let elements = self.numbers.length(length).map(|length| around.saturating_mul(length));
        match elements {
            Some(elements) if elements <= allowed => self.elements = elements.max(1),
            elements => {
                let found = match elements {
                    Some(elements) => format!("{elements} elements"),
                    None => "something else".to_owned(),
                };
                self.problems.push(length.span(), SourceFault::ArrayLength { found, allowed });
            }
        }
        inner(self);
        self.elements = around;
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let span = item.span();
        match item {
            Item::Union(_) => self.item(span, "unions", "use an enum"),
            Item::TraitAlias(_) | Item::Verbatim(_) => self.unstable(span),
            Item::Trait(declared) if declared.auto_token.is_some() => self.unstable(span),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        paths::declared(&module.ident, self.problems);
        if module.content.is_none() {
            let name = crate::diagnostics::untrusted::escaped(&module.ident.to_string());
            self.problems.push(module.ident.span(), SourceFault::ModuleFile(name));
        }
        visit::visit_item_mod(self, module);
    }

    fn visit_item_use(&mut self, import: &'ast ItemUse) {
        for attribute in &import.attrs {
            self.visit_attribute(attribute);
        }
        paths::check_use(&import.tree, &mut Vec::new(), self.problems);
    }

    fn visit_item_const(&mut self, constant: &'ast ItemConst) {
        self.constant(&constant.expr);
        visit::visit_item_const(self, constant);
    }

    fn visit_item_impl(&mut self, of: &'ast ItemImpl) {
        if of.generics.type_params().next().is_some() {
            for item in &of.items {
                if let ImplItem::Const(constant) = item {
                    let instead = "put the constant beside the type";
                    self.item(constant.span(), "constants of generic types", instead);
                }
            }
        }
        visit::visit_item_impl(self, of);
    }

    fn visit_impl_item_const(&mut self, constant: &'ast ImplItemConst) {
        self.constant(&constant.expr);
        visit::visit_impl_item_const(self, constant);
    }

    fn visit_trait_item_const(&mut self, constant: &'ast TraitItemConst) {
        self.item(constant.span(), "constants of traits", "use a method");
        visit::visit_trait_item_const(self, constant);
    }

    fn visit_trait_item_type(&mut self, associated: &'ast TraitItemType) {
        if !associated.generics.params.is_empty() {
            self.item(associated.span(), "associated types with parameters", "use a method");
        }
        visit::visit_trait_item_type(self, associated);
    }

    fn visit_variant(&mut self, variant: &'ast Variant) {
        if let Some((_, discriminant)) = &variant.discriminant {
            self.constant(discriminant);
        }
        visit::visit_variant(self, variant);
    }

    fn visit_signature(&mut self, signature: &'ast Signature) {
        if let Some(token) = &signature.constness {
            let instead = "leave out `const`; constants are literals";
            self.item(token.span, "`const fn`", instead);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_const_param(&mut self, parameter: &'ast ConstParam) {
        let instead = "pass the number as an argument";
        self.item(parameter.span(), "constants as parameters of types", instead);
        visit::visit_const_param(self, parameter);
    }

    fn visit_generic_argument(&mut self, argument: &'ast GenericArgument) {
        if let GenericArgument::Const(expr) = argument {
            let is_known =
                self.numbers.length(expr).is_some_and(|it| it <= self.limits.array_elements);
            let is_no_number =
                matches!(expr, Expr::Lit(literal) if !matches!(literal.lit, Lit::Int(_)));
            if !is_known && !is_no_number {
                let fault = SourceFault::ConstEval(constants::kind(expr).to_owned());
                self.problems.push(expr.span(), fault);
            }
        }
        visit::visit_generic_argument(self, argument);
    }

    fn visit_type_array(&mut self, array: &'ast TypeArray) {
        self.in_array(&array.len, |inner| visit::visit_type_array(inner, array));
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast ExprRepeat) {
        self.in_array(&repeat.len, |inner| visit::visit_expr_repeat(inner, repeat));
    }

    fn visit_expr_const(&mut self, block: &'ast ExprConst) {
        self.problems.push(block.span(), SourceFault::ConstEval("a block".to_owned()));
        visit::visit_expr_const(self, block);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Verbatim(_) | Expr::TryBlock(_) | Expr::Infer(_) => self.unstable(expr.span()),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Verbatim(_) = pattern {
            self.unstable(pattern.span());
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_type(&mut self, written: &'ast Type) {
        if let Type::Verbatim(_) = written {
            self.unstable(written.span());
        }
        visit::visit_type(self, written);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        if let ImplItem::Verbatim(_) = item {
            self.unstable(item.span());
        }
        visit::visit_impl_item(self, item);
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if let TraitItem::Verbatim(_) = item {
            self.unstable(item.span());
        }
        visit::visit_trait_item(self, item);
    }

    fn visit_foreign_item(&mut self, _: &'ast ForeignItem) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        attributes::check(attribute, self.problems);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let parsed = macros::check(call, self.problems);
        for expr in &parsed.expressions {
            self.inside().visit_expr(expr);
        }
        for attribute in &parsed.attributes {
            attributes::check(attribute, self.problems);
        }
        for written in &parsed.types {
            self.inside().visit_type(written);
        }
        if let Some(pattern) = &parsed.pattern {
            self.inside().visit_pat(pattern);
        }
    }

    fn visit_path(&mut self, path: &'ast Path) {
        paths::check(path, self.problems);
        visit::visit_path(self, path);
    }
}
