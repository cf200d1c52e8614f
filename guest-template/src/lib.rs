//! What a Retort guest is made from: the hand-written part of every rendered extractor, and what guests in Rust are built with.
//!
//! The renderer puts [`PRELUDE`], and in most modules [`LISTS`] behind it, in front of the code that it generates. A change
//! of them changes rendered modules, so it changes [`VERSION`] as well.

/// A file of this folder, by its path.
macro_rules! sdk_file {
    ($path:literal) => {
        ($path, include_str!(concat!("../", $path)))
    };
}

/// The version of the text here and of the code that the renderer puts behind it. Part of every bundle's fingerprint.
pub const VERSION: &str = "wat-2";

/// The prelude: fields of a module in the WebAssembly text format, without the module around them.
pub const PRELUDE: &str = include_str!("../prelude.wat");

/// What extractors need that write more than one node: more fields of the same module.
pub const LISTS: &str = include_str!("../lists.wat");

/// The version of [`SDK`]: what guests in Rust are built with.
pub const SDK_VERSION: &str = "sdk-2";

/// The crates that guests in Rust are built with, `retort-guest` and `retort-guest-std`: the path of each file from this folder
/// on, and its text. The roots are `sdk/src/lib.rs` and `std/src/lib.rs`.
pub const SDK: &[(&str, &str)] = &[
    sdk_file!("sdk/Cargo.toml"),
    sdk_file!("sdk/src/arena.rs"),
    sdk_file!("sdk/src/block.rs"),
    sdk_file!("sdk/src/declaration.rs"),
    sdk_file!("sdk/src/draft.rs"),
    sdk_file!("sdk/src/float.rs"),
    sdk_file!("sdk/src/from_json.rs"),
    sdk_file!("sdk/src/graph.rs"),
    sdk_file!("sdk/src/guest.rs"),
    sdk_file!("sdk/src/json.rs"),
    sdk_file!("sdk/src/json_tree.rs"),
    sdk_file!("sdk/src/list.rs"),
    sdk_file!("sdk/src/lib.rs"),
    sdk_file!("sdk/src/macros.rs"),
    sdk_file!("sdk/src/mock.rs"),
    sdk_file!("sdk/src/names.rs"),
    sdk_file!("sdk/src/number.rs"),
    sdk_file!("sdk/src/out.rs"),
    sdk_file!("sdk/src/panic.rs"),
    sdk_file!("sdk/src/piece.rs"),
    sdk_file!("sdk/src/property.rs"),
    sdk_file!("sdk/src/scan.rs"),
    sdk_file!("sdk/src/value.rs"),
    sdk_file!("std/Cargo.toml"),
    sdk_file!("std/src/lib.rs"),
];

/// The source that a new extractor in Rust begins as, with its tests.
pub const RUST_TEMPLATE: &str = include_str!("../extractor.rs");

/// A file of [`PROJECT`] in which [`PROJECT_NAME`] stands for the name of the project, as in `retort.toml`.
pub const PROJECT_MANIFEST: &str = "Cargo.toml";

/// What stands for the name of a project.
pub const PROJECT_NAME: &str = "NAME";

/// The files of a new project around an extractor in Rust, besides the sources of `retort-guest`, which go to the folder `sdk`:
/// the path of each in the project's folder, and its text.
pub const PROJECT: &[(&str, &str)] = &[
    (".gitignore", include_str!("../project/gitignore")),
    (PROJECT_MANIFEST, include_str!("../project/Cargo.toml")),
    ("events.ndjson", include_str!("../project/events.ndjson")),
    ("graph.yaml", include_str!("../project/graph.yaml")),
    ("retort.toml", include_str!("../project/retort.toml")),
    ("samples.ndjson", include_str!("../project/samples.ndjson")),
    ("sdk/Cargo.toml", include_str!("../project/sdk.toml")),
    ("src/lib.rs", RUST_TEMPLATE),
];
