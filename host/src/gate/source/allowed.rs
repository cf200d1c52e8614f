//! What a source may name: macros, attributes, and paths into the libraries.

/// How the arguments of a macro are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    /// Expressions with commas between them; of `vec!`, or one `;` between two.
    Expressions,
    /// An expression, a comma and a pattern, which may have a condition.
    Matches,
    /// What the SDK reads: names, literals, punctuation and brackets.
    Declaration,
    /// Structs, whose fields may have another name behind `as`.
    Records,
}

/// The macros of a source, each with how its arguments are read. All are of core, alloc or the SDK, and what they expand to reads
/// nothing of the host.
pub(super) const MACROS: &[(&str, Arguments)] = &[
    ("assert", Arguments::Expressions),
    ("assert_eq", Arguments::Expressions),
    ("assert_ne", Arguments::Expressions),
    ("debug_assert", Arguments::Expressions),
    ("debug_assert_eq", Arguments::Expressions),
    ("debug_assert_ne", Arguments::Expressions),
    ("extractor", Arguments::Declaration),
    ("format", Arguments::Expressions),
    ("matches", Arguments::Matches),
    ("panic", Arguments::Expressions),
    ("record", Arguments::Records),
    ("todo", Arguments::Expressions),
    ("unimplemented", Arguments::Expressions),
    ("unreachable", Arguments::Expressions),
    ("vec", Arguments::Expressions),
    ("write", Arguments::Expressions),
    ("writeln", Arguments::Expressions),
];

/// Macros that models write in the belief that they are there, with what to write in their place.
pub(super) const MACROS_INSTEAD: &[(&str, &str)] = &[
    ("concat", ": write one literal, or use `format!`"),
    ("dbg", ": nobody reads what an extractor prints; `panic!` tells why an event can't be read"),
    ("env", ": an extractor knows no environment"),
    (
        "eprintln",
        ": nobody reads what an extractor prints; `panic!` tells why an event can't be read",
    ),
    ("include", ": an extractor is one file"),
    ("include_bytes", ": the compiler reads no files for an extractor"),
    ("include_str", ": the compiler reads no files for an extractor"),
    ("json", ": use the SDK's builder, or `format!`"),
    ("macro_rules", ": write a function"),
    ("option_env", ": an extractor knows no environment"),
    ("print", ": nobody reads what an extractor prints; `panic!` tells why an event can't be read"),
    (
        "println",
        ": nobody reads what an extractor prints; `panic!` tells why an event can't be read",
    ),
    ("thread_local", ": nothing is kept from one event to the next"),
];

/// Attributes that need nothing more than their name.
pub(super) const ATTRIBUTES: &[&str] =
    &["cold", "default", "inline", "must_use", "non_exhaustive", "should_panic", "test"];

/// The derives: those that the compiler itself has. Any other is a program that runs on the host.
pub(super) const DERIVES: &[&str] =
    &["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// How the names of lints begin that a source may turn off: those about style and about what isn't used.
pub(super) const LINTS: &[&str] = &[
    "clippy::",
    "dead_code",
    "missing_docs",
    "non_camel_case",
    "non_snake_case",
    "non_upper_case",
    "unreachable_code",
    "unused",
];

/// The SDK.
pub(super) const SDK: &str = "retort_guest";

/// The standard library by its three names, of which an extractor has the part that needs no system.
pub(super) const LIBRARIES: &[&str] = &["alloc", "core", "std"];

/// Modules of it that need no system. The macros of the library are at its root, so that no import can rename them.
pub(super) const MODULES: &[&str] = &[
    "array",
    "ascii",
    "borrow",
    "boxed",
    "cell",
    "char",
    "clone",
    "cmp",
    "collections",
    "convert",
    "default",
    "error",
    "f32",
    "f64",
    "fmt",
    "hash",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "isize",
    "iter",
    "marker",
    "mem",
    "num",
    "ops",
    "option",
    "rc",
    "result",
    "slice",
    "str",
    "string",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
    "vec",
];

/// Names in those modules that are left out, with what to write in their place.
pub(super) const NOT_IN_MODULES: &[(&str, &str, &str)] = &[
    ("collections", "HashMap", ORDER),
    ("collections", "HashSet", ORDER_OF_SETS),
    ("collections", "hash_map", ORDER),
    ("collections", "hash_set", ORDER_OF_SETS),
    ("hash", "DefaultHasher", ORDER),
    ("hash", "RandomState", ORDER),
];

const ORDER: &str = "its order isn't the same twice; use std::collections::BTreeMap";
const ORDER_OF_SETS: &str = "its order isn't the same twice; use std::collections::BTreeSet";

/// Modules that models reach for, with what to write in their place.
pub(super) const MODULES_INSTEAD: &[(&str, &str)] = &[
    ("env", "an extractor knows no environment"),
    ("fs", "an extractor reads no files; what it reads are its declared inputs"),
    ("io", "an extractor reads nothing but its declared inputs, and writes nothing but its result"),
    ("net", "an extractor has no network"),
    ("process", "an extractor starts no programs"),
    ("ptr", "use references and indices"),
    ("sync", "an extractor has one thread; use std::cell or std::rc"),
    ("thread", "an extractor has one thread"),
    ("time", "an extractor has no clock; times are in its inputs"),
];
