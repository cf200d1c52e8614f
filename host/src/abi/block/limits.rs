//! What a block may take, and what it took.

use super::DEFAULT_MAX_ROWS;

/// What a block may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockLimits {
    /// Bytes of the block.
    pub bytes: usize,
    /// Rows of all iterations together.
    pub rows: usize,
    /// Fuel for values, conversions and rows.
    pub fuel: u64,
}

impl From<usize> for BlockLimits {
    /// So many bytes, [`DEFAULT_MAX_ROWS`], and whatever fuel it takes.
    fn from(bytes: usize) -> Self {
        Self { bytes, rows: DEFAULT_MAX_ROWS, fuel: u64::MAX }
    }
}

/// What the last block took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Fuel for values, conversions and rows; 0 where all inputs are values at paths of the event and tests of them.
    pub fuel: u64,
    /// Conversions that failed, and left their input absent.
    pub failed_conversions: u32,
}
