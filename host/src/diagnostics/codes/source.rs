//! Codes of the source gate: what Rust source may say before a compiler sees it.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

codes! { Stage::Source;
    SOURCE_ARRAY_LENGTH = "source_array_length":
        "An array's length is too large, or is something else than a number or a constant that is one. The compiler lays arrays out, so a large one costs the host.",
        "Use a Vec, or write the length as a number.";
    SOURCE_ATTRIBUTE = "source_attribute":
        "The source has an attribute that isn't on the list. Attributes can have the compiler read files, change how the module is linked, or run programs.",
        "Leave the attribute out; the message lists those that there are.",
        kind(FailureKind::UnsafeRequest);
    SOURCE_CHARACTER = "source_character":
        "The source has a character that doesn't show, or that changes how its neighbours show, so that a reader sees something else than what is compiled.",
        "Remove it; in a string, write it as an escape.";
    SOURCE_CONST_EVAL = "source_const_eval":
        "A constant is something that the compiler would have to run: a call, a branch, a loop or a block. The compiler runs on the host.",
        "Write the value as a literal, or compute it in a function.";
    SOURCE_EXTERN = "source_extern":
        "The source says `extern`: it would link to something else than the SDK, or export functions by itself.",
        "Use the SDK alone; `extractor!` makes the exports.",
        kind(FailureKind::UnsafeRequest);
    SOURCE_IMPORT = "source_import":
        "The source names something of the standard library or the SDK that extractors don't have.",
        "Do as the message says; files, clock, network, threads and environment aren't there at all.",
        kind(FailureKind::UnsafeRequest);
    SOURCE_ITEM = "source_item":
        "The source has a kind of item or expression that extractors do without, since it costs the compiler what nobody can foresee, or isn't stable.",
        "Do as the message says.";
    SOURCE_MACRO = "source_macro":
        "The source calls or declares a macro that isn't on the list. Macros can have the compiler read files and the environment of the host, or expand without end.",
        "Use one of the macros that the message lists, or write a function.",
        kind(FailureKind::UnsafeRequest);
    SOURCE_MODULE_FILE = "source_module_file":
        "The source has a module whose text is in another file, which the compiler would read from the host.",
        "Write the module's items in braces behind its name.";
    SOURCE_NAME = "source_name":
        "The source has a name that may pose as another one: with characters that aren't ASCII, with `r#`, with two underscores at its beginning, or a crate's.",
        "Choose a name of ASCII letters, digits and `_`.";
    SOURCE_STATIC = "source_static":
        "The source has a `static`. What is kept there would be carried from one event to the next.",
        "Use `const`, or pass the value as an argument.";
    SOURCE_SYNTAX = "source_syntax":
        "The source isn't Rust of edition 2024.",
        "Correct it where the message points.";
    SOURCE_TOO_DEEP = "source_too_deep":
        "The source is nested so deeply, or has an expression so long, that what reads it would recurse too far.",
        "Split the expression with `let`, or move part of it to a function.",
        limit(LimitEntry::fixed("levels"));
    SOURCE_UNSAFE = "source_unsafe":
        "The source says `unsafe`.",
        "Write it in safe Rust; the SDK has all that an extractor needs.",
        kind(FailureKind::UnsafeRequest);
}
