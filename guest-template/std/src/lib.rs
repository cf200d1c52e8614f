//! What extractors see under the name `std`: the part of `core` and `alloc` that reaches nothing outside and gives the same
//! results each time, under the paths of the standard library.
//!
//! There are no files, no network, no time, no threads and no environment, and no `HashMap`, whose order isn't the same
//! twice. Nothing else of the standard library can be named in a guest, because it isn't linked to it.

#![allow(
    clippy::legacy_numeric_constants,
    reason = "a module of the standard library has the name of each type of numbers"
)]
#![no_std]

extern crate alloc;

pub use alloc::{borrow, boxed, fmt, format, rc, slice, str, string, vec};
pub use core::{
    array, ascii, assert, assert_eq, assert_ne, cell, char, clone, cmp, convert, debug_assert,
    debug_assert_eq, debug_assert_ne, default, f32, f64, hash, i8, i16, i32, i64, i128, isize,
    iter, marker, matches, mem, num, ops, option, panic, prelude, primitive, result, todo, u8, u16,
    u32, u64, u128, unimplemented, unreachable, usize, write, writeln,
};

/// Collections whose order is that of their elements, or that in which they were put in.
pub mod collections {
    pub use alloc::collections::{
        BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque, binary_heap, btree_map, btree_set,
        vec_deque,
    };
    pub use core::ops::Bound;
}

/// Errors: the trait.
pub mod error {
    pub use core::error::Error;
}
