//! What a Retort guest is made from: the prelude of every rendered extractor.
//!
//! The renderer puts [`PRELUDE`] in front of the code that it generates. A change of it changes every rendered module, so
//! it changes [`VERSION`] as well.

/// The version of the prelude and of the code that the renderer puts behind it. Part of every bundle's fingerprint.
pub const VERSION: &str = "wat-1";

/// The prelude: fields of a module in the WebAssembly text format, without the module around them.
pub const PRELUDE: &str = include_str!("../prelude.wat");
