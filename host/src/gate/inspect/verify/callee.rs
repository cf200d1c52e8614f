//! What callers have to know of a function.

use super::state::MayFail;

/// What a function that can be called does, as far as its callers have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    /// Generated code has no business to call it.
    None,
    /// `copy_long(to, from, length)`.
    CopyLong,
    /// `put_text(to, block, slot)`: writes from `to` on, gives the address after.
    PutText,
    /// `open_list(first, to)`: writes a bracket at `first`, or after `to` if that is the same; gives the address after.
    OpenList,
    /// `room(to, need)`: any number.
    Room,
    /// `too_large(over)`: no address, and a length.
    TooLarge,
    /// A generated one: `(block, to)`, or with a row `(block, row, to)`, of which it reads so many bytes. Writes from `to`
    /// on, and gives the address after or, if it may, a negative number.
    Writer { row: Option<u32>, may_fail: MayFail },
}
