//! All gates over any bytes as a module.

use super::module::judge;

pub(crate) fn target(data: &[u8]) -> bool {
    judge(data)
}
