//! What a Retort guest is made from: the hand-written part of every rendered extractor.
//!
//! The renderer puts [`PRELUDE`], and in most modules [`LISTS`] behind it, in front of the code that it generates. A change
//! of them changes rendered modules, so it changes [`VERSION`] as well.

/// The version of the text here and of the code that the renderer puts behind it. Part of every bundle's fingerprint.
pub const VERSION: &str = "wat-2";

/// The prelude: fields of a module in the WebAssembly text format, without the module around them.
pub const PRELUDE: &str = include_str!("../prelude.wat");

/// What extractors need that write more than one node: more fields of the same module.
pub const LISTS: &str = include_str!("../lists.wat");
