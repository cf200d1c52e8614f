//! Which names a plan may use.

/// The keywords of Rust, those reserved for later included.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The exports that have a meaning of their own in a module.
pub(crate) const RESERVED_EXPORTS: &[&str] = &["_initialize", "_start", "memory"];

/// What the names of the ABI's own exports begin with.
pub const RESERVED_FUNCTION_PREFIX: &str = "retort_";

/// Whether `name` has the shape `[A-Za-z_][A-Za-z0-9_]*`.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Function names that no plan may use, sorted: the keywords of Rust, and the exports that have a meaning of their own in a
/// module. Names that begin with [`RESERVED_FUNCTION_PREFIX`] are reserved too.
#[must_use]
pub fn reserved_function_names() -> Vec<&'static str> {
    let mut names = [KEYWORDS, RESERVED_EXPORTS].concat();
    names.sort_unstable();
    names
}

/// Whether `name` may not be the name of an extractor function.
#[must_use]
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED_FUNCTION_PREFIX)
        || [KEYWORDS, RESERVED_EXPORTS].iter().any(|names| names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_names_are_reserved() {
        assert!(reserved_function_names().iter().all(|name| is_reserved(name)));
        assert!(is_reserved("retort_buffer"));
        assert!(!is_reserved("retort"));
    }
}
