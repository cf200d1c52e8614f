//! What extractors in Rust are written with: [docs/guest.md](../../../docs/guest.md) is the guide.
//!
//! [`extractor!`] declares what a function sees of an event, and makes a module of it that keeps to the ABI. The function reads
//! [`Value`]s and builds a [`Graph`]. Everything here is deterministic, and bounded in depth whatever the event holds.
//!
//! For WebAssembly it is built without the feature `std`: then it brings an allocator and a panic handler of its own, and what
//! comes out imports nothing. With it, which is the default, extractors are tested natively: [`mock`].

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

mod block;
mod declaration;
mod draft;
#[cfg(any(not(feature = "std"), test))]
mod float;
mod from_json;
mod graph;
#[cfg(target_family = "wasm")]
mod guest;
mod json;
mod json_tree;
mod list;
mod macros;
#[cfg(not(target_family = "wasm"))]
pub mod mock;
mod names;
mod number;
mod out;
mod piece;
mod property;
mod scan;
mod value;

#[cfg(any(target_family = "wasm", test))]
mod arena;
#[cfg(all(target_family = "wasm", not(feature = "std")))]
mod panic;

pub use block::RowIter;
pub use from_json::FromJson;
pub use graph::{Edge, Graph, Node, NodeDraft, NodeId};
pub use json::{JsonError, Reader};
pub use json_tree::Json;
pub use property::{KeepNull, Null, Property, Scalar};
pub use value::{Kind, Value};

/// What an extractor's source begins with: the macros, the types of this crate, and what Rust's own prelude has of `alloc`.
pub mod prelude {
    pub use alloc::borrow::{Cow, ToOwned};
    pub use alloc::boxed::Box;
    pub use alloc::string::{String, ToString};
    pub use alloc::vec::Vec;
    pub use alloc::{format, vec};

    #[cfg(not(feature = "std"))]
    pub use crate::float::Float;
    pub use crate::{
        Edge, FromJson, Graph, Json, JsonError, Kind, Node, NodeId, Null, Property, Scalar, Value,
        extractor, record,
    };
}

#[cfg(doctest)]
#[doc = include_str!("../../../docs/guest.md")]
struct Guide;

/// What [`extractor!`] expands to. None of it is for use by hand.
#[doc(hidden)]
pub mod __private {
    pub use alloc::borrow::Cow;
    pub use alloc::string::String;
    pub use alloc::vec::Vec;

    pub use crate::block::{Block, Extractor, Record, Records, RowIter, enter};
    pub use crate::declaration::{
        Declaration, Input, Rows, first, first_list, section, section_length,
    };
    #[cfg(target_family = "wasm")]
    pub use crate::guest::{buffer, initialize, serve};
}
