//! The name of the function, in the source and in the module.

use super::names::{KEYWORDS, TAKEN, identifier};
use crate::render::RenderError;

/// Values that a source knows by these names, without a word about them.
const VALUES: &[&str] = &["Err", "Extractor", "None", "Null", "Ok", "Some"];

/// What the names of functions begin with that compilers, linkers and the standard library call or make.
const PREFIXES: &[&str] = &["__", "rust_"];

/// Functions that compilers call without a word about them. A module can have no others by these names.
const CALLED: &[&str] = &["bcmp", "main", "memcmp", "memcpy", "memmove", "memset", "strlen"];

/// The same of those for numbers, each of which is there for several types, whose letters stand behind it.
const CALLED_WITH_NUMBERS: &[&str] = &[
    "acos",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmaximum",
    "fmaximum_num",
    "fmin",
    "fminimum",
    "fminimum_num",
    "fmod",
    "hypot",
    "ldexp",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "pow",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
];

const OF_TYPES: [&str; 4] = ["", "f", "f16", "f128"];

/// What the function is called in the source, and what the module exports it as.
pub(super) struct FunctionName {
    /// The plan's own name for it where that can be one of a function, otherwise one like it.
    pub(super) local: String,
    exported: String,
}

impl FunctionName {
    /// Of the function of a plan by this name.
    ///
    /// # Errors
    /// Where a module that a compiler makes can't export it.
    pub(super) fn of(name: &str) -> Result<Self, RenderError> {
        if is_of_compilers(name) {
            return Err(RenderError::FunctionName { name: name.to_owned() });
        }
        let is_known = [KEYWORDS, TAKEN, VALUES].iter().any(|names| names.contains(&name));
        let local = match is_known || name == "_" {
            true => identifier(name, "extract"),
            false => name.to_owned(),
        };
        Ok(Self { local, exported: name.to_owned() })
    }

    /// As it is declared.
    pub(super) fn declared(&self) -> String {
        let Self { local, exported } = self;
        match local == exported {
            true => local.clone(),
            false => format!("{local} as \"{exported}\""),
        }
    }
}

fn is_of_compilers(name: &str) -> bool {
    let is_with_numbers = || {
        let mut bases = OF_TYPES.iter().filter_map(|of_type| name.strip_suffix(of_type));
        bases.any(|base| CALLED_WITH_NUMBERS.contains(&base))
    };
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || CALLED.contains(&name)
        || is_with_numbers()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_where_it_can_and_is_known_by_itself_where_not() {
        let declared = |name: &str| FunctionName::of(name).map(|it| it.declared());
        for (name, expected) in [
            ("read_order", "read_order"),
            ("ReadOrder", "ReadOrder"),
            ("Extractor", "extractor as \"Extractor\""),
            ("Some", "some as \"Some\""),
            ("core", "core_ as \"core\""),
            ("_", "extract as \"_\""),
            ("rustic", "rustic"),
            ("sine", "sine"),
        ] {
            assert_eq!(declared(name).as_deref(), Ok(expected), "{name}");
        }
        for name in ["main", "memcpy", "__heap_base", "rust_eh_personality", "fmod", "fmodf128"] {
            let expected = RenderError::FunctionName { name: name.to_owned() };
            assert_eq!(declared(name), Err(expected));
        }
    }
}
