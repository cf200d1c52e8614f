//! What translating a pattern costs, computed from its syntax before any of it is translated.
//!
//! What a pattern compiles to says nothing of that. Folding the case of a class goes through its code points one by one, so
//! that `(?i)[\u{80}-\u{10fffd}]` takes four milliseconds and compiles to a kilobyte; and the class of a version of Unicode
//! is put together of those before it. The rest of a translation is linear in the text: two or three microseconds for a byte.

use std::sync::LazyLock;

use regex_syntax::ast::{
    self, Ast, ClassBracketed, ClassSetBinaryOp, ClassSetBinaryOpKind, ClassSetItem, ClassUnicode,
    ClassUnicodeKind, Flag, Flags, Visitor,
};
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{self, Class, ClassUnicodeRange, HirKind};

/// Steps for a code point among those of which some have another case: it is looked up.
const LOOKED_UP: usize = 7;
/// Steps for one that has another case: that one is put into the class.
const WITH_CASE: usize = 10;
/// Steps for each range of a class, to learn whether any code point of it has another case.
const RANGE: usize = 15;
/// Steps for a class by a property's value: the most expensive one, `\p{age=16.0}`, takes 150 microseconds.
const BY_VALUE: usize = 80_000;

/// Steps that translating a pattern takes, if there are at most so many. One takes two nanoseconds: passing a code point
/// after the last one that has another case, where case is folded.
pub(super) fn steps(text: &str, ast: &Ast, most: usize) -> Option<usize> {
    let price = Price { text, most, steps: 0, folds: false, outside: Vec::new(), sets: Vec::new() };
    ast::visit(ast, price).ok()
}

/// The code points that have another case.
static CASED: LazyLock<hir::ClassUnicode> = LazyLock::new(|| {
    let cased = regex_syntax::parse(r"\p{Changes_When_Casemapped}");
    set(cased.expect("a property of Unicode")).unwrap_or_else(hir::ClassUnicode::empty)
});

/// Goes through a pattern as its translation does.
struct Price<'t> {
    text: &'t str,
    most: usize,
    steps: usize,
    /// Whether case is folded here.
    folds: bool,
    /// The same, outside of the groups around this place.
    outside: Vec<bool>,
    /// What the classes around this place may hold so far, where case is folded.
    sets: Vec<hir::ClassUnicode>,
}

/// There are more steps than may be.
struct TooMany;

type Result<T> = std::result::Result<T, TooMany>;

impl Price<'_> {
    fn take(&mut self, steps: usize) -> Result<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.most { Err(TooMany) } else { Ok(()) }
    }

    fn flags(&mut self, flags: &Flags) {
        self.folds = flags.flag_state(Flag::CaseInsensitive).unwrap_or(self.folds);
    }

    /// Folds a class: what it may hold then is at most what it held, and all that have another case.
    fn fold(&mut self, set: &mut hir::ClassUnicode) -> Result<()> {
        if !self.folds {
            return Ok(());
        }
        let (cased, mut passed, mut looked_up) = (CASED.ranges(), 0, 0);
        let last = cased.last().map_or('\0', |range| range.end());
        let ranges = RANGE * set.ranges().len();
        for range in set.iter() {
            let next = cased.partition_point(|cased| cased.end() < range.start());
            if cased.get(next).is_some_and(|cased| cased.start() <= range.end()) {
                passed += range.len();
                looked_up += ClassUnicodeRange::new(range.start(), range.end().min(last)).len();
            }
        }
        let mut with_case = set.clone();
        with_case.intersect(&CASED);
        if !with_case.ranges().is_empty() {
            set.union(&CASED);
        }
        let with_case = with_case.iter().map(ClassUnicodeRange::len).sum::<usize>();
        self.take(passed + LOOKED_UP * looked_up + WITH_CASE * with_case + ranges)
    }

    fn begin(&mut self) {
        self.sets.push(hir::ClassUnicode::empty());
    }

    fn end(&mut self) -> hir::ClassUnicode {
        self.sets.pop().unwrap_or_else(hir::ClassUnicode::empty)
    }

    fn add(&mut self, other: &hir::ClassUnicode) {
        if let Some(set) = self.sets.last_mut() {
            set.union(other);
        }
    }

    fn bracketed(&mut self, class: &ClassBracketed) -> Result<hir::ClassUnicode> {
        let mut set = self.end();
        self.fold(&mut set)?;
        Ok(if class.negated { all() } else { set })
    }

    /// A class by its name is folded by itself, and negated then.
    fn unicode(&mut self, class: &ClassUnicode) -> Result<hir::ClassUnicode> {
        if matches!(class.kind, ClassUnicodeKind::NamedValue { .. }) {
            self.take(BY_VALUE)?;
        }
        let mut set = self.named(|| Ast::class_unicode(class.clone()));
        if class.is_negated() {
            let mut positive = set.clone();
            positive.negate();
            self.fold(&mut positive)?;
        } else {
            self.fold(&mut set)?;
        }
        Ok(set)
    }

    /// A class that has a name, as it is without folding. Where nothing is folded it doesn't matter.
    fn named(&self, class: impl FnOnce() -> Ast) -> hir::ClassUnicode {
        let found =
            if self.folds { Translator::new().translate(self.text, &class()).ok() } else { None };
        // A name that isn't found here isn't found by the translation either.
        found.and_then(set).unwrap_or_else(hir::ClassUnicode::empty)
    }
}

/// All code points.
fn all() -> hir::ClassUnicode {
    let mut set = hir::ClassUnicode::empty();
    set.negate();
    set
}

/// The code points of a class, of which there may be one.
fn set(hir: hir::Hir) -> Option<hir::ClassUnicode> {
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(one) => {
            let one = std::str::from_utf8(&one.0).ok()?.chars().next()?;
            Some(hir::ClassUnicode::new([ClassUnicodeRange::new(one, one)]))
        }
        _ => None,
    }
}

impl Visitor for Price<'_> {
    type Output = usize;
    type Err = TooMany;

    fn finish(self) -> Result<usize> {
        Ok(self.steps)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<()> {
        match ast {
            Ast::Flags(set) => self.flags(&set.flags),
            Ast::Group(group) => {
                self.outside.push(self.folds);
                group.flags().into_iter().for_each(|flags| self.flags(flags));
            }
            Ast::ClassUnicode(class) => self.unicode(class).map(drop)?,
            Ast::ClassBracketed(_) => self.begin(),
            _ => {}
        }
        Ok(())
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<()> {
        match ast {
            Ast::Group(_) => self.folds = self.outside.pop().unwrap_or_default(),
            Ast::ClassBracketed(class) => self.bracketed(class).map(drop)?,
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<()> {
        if matches!(item, ClassSetItem::Bracketed(_)) {
            self.begin();
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ClassSetItem) -> Result<()> {
        let range = |from, to| hir::ClassUnicode::new([ClassUnicodeRange::new(from, to)]);
        let set = match item {
            ClassSetItem::Empty(_) | ClassSetItem::Union(_) => return Ok(()),
            ClassSetItem::Literal(literal) => range(literal.c, literal.c),
            ClassSetItem::Range(found) => range(found.start.c, found.end.c),
            ClassSetItem::Ascii(class) if class.negated => all(),
            ClassSetItem::Ascii(_) => range('\0', '\x7f'),
            ClassSetItem::Unicode(class) => self.unicode(class)?,
            ClassSetItem::Perl(class) => self.named(|| Ast::class_perl(class.clone())),
            ClassSetItem::Bracketed(class) => self.bracketed(class)?,
        };
        self.add(&set);
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<()> {
        self.begin();
        Ok(())
    }

    fn visit_class_set_binary_op_in(&mut self, _: &ClassSetBinaryOp) -> Result<()> {
        self.begin();
        Ok(())
    }

    fn visit_class_set_binary_op_post(&mut self, operation: &ClassSetBinaryOp) -> Result<()> {
        let (mut right, mut left) = (self.end(), self.end());
        self.fold(&mut right)?;
        self.fold(&mut left)?;
        match operation.kind {
            ClassSetBinaryOpKind::Intersection => left.intersect(&right),
            ClassSetBinaryOpKind::Difference => {}
            ClassSetBinaryOpKind::SymmetricDifference => left.union(&right),
        }
        self.add(&left);
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn price(text: &str) -> Option<usize> {
        steps(text, &ast::parse::Parser::new().parse(text).unwrap(), 1 << 30)
    }

    #[test]
    fn what_has_no_other_case_is_left_as_it_is() {
        let mut others = CASED.clone();
        others.negate();
        let mut folded = others.clone();
        folded.case_fold_simple();
        assert_eq!(folded, others);
        assert!(CASED.iter().map(ClassUnicodeRange::len).sum::<usize>() > 2_900);
    }

    #[test]
    fn only_folding_and_properties_by_value_cost_steps() {
        for text in [
            r"\w+@\w+",
            r"[\s\S]*",
            r"(?i)^(GET|POST) .*",
            r"(?i)\W\S",
            r"(?i:get) [\s\S]*",
            r"(?i)get(?-i) [\s\S]*",
            r"((?i)get) [\s\S]*",
        ] {
            assert_eq!(price(text), Some(0), "{text}");
        }
        assert_eq!(price(r"\p{age=6.0}[\p{sc=Greek}]"), Some(2 * BY_VALUE));
        assert_eq!(price(&r"\p{age=6.0}".repeat(20_000)), None);
    }

    #[test]
    fn folding_costs_what_it_goes_through() {
        let full = price(r"(?i)[\s\S]").unwrap();
        assert!((2_000_000..2_100_000).contains(&full), "{full}");
        for (text, least, most) in [
            ("[a-z]", 26, 600),
            ("[^,;]", 2, 60),
            (r"\p{L}", 50_000, 100_000),
            (r"[\w.-]", 50_000, 100_000),
            (r"[\W_]", 10_000, 20_000),
            ("[\u{80}-\u{10fffd}]", full - 5_000, full),
            (r"[\S\n]", full - 2_000, full + 2_000),
            (r"[[^,]\n]", full, full + 1_000),
            (r"[[:^alpha:]]", full, full),
            (r"[[\S]\n]", 2 * full - 4_000, 2 * full + 4_000),
            (r"[a-z&&\S]", full - 2_000, full + 100_000),
            (r"[\S--a-z]", 2 * full - 4_000, 2 * full + 100_000),
            (r"[a-z~~\S]", 2 * full - 4_000, 2 * full + 100_000),
            (r"\P{Greek}", 0, 20_000),
            (r"[\P{Greek}]", full - 50_000, full + 20_000),
        ] {
            let price = price(&format!("(?i){text}")).unwrap();
            assert!((least..=most).contains(&price), "{text}: {price}");
        }
    }
}
