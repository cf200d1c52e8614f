//! Plans, drafts and fixes against many names, paths and samples.

use super::Attack;

pub(crate) fn attacks() -> Vec<Attack> {
    Vec::new()
}
