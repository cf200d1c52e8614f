//! The static gate over modules that wasm-smith generates: the first byte says whether they are like guests.

use super::module::judge;
use crate::inspect::generated;

pub(crate) fn target(data: &[u8]) -> bool {
    let Some((kind, seed)) = data.split_first() else { return false };
    // Few modules of no particular kind come as far as one of a guest's.
    let like_a_guest = kind % 8 != 0;
    let Some(wasm) = generated(seed, like_a_guest) else { return false };
    judge(&wasm)
}
