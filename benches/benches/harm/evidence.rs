//! Plans, drafts and fixes against many names, paths and samples.

use super::Attack;

pub fn attacks() -> Vec<Attack> {
    Vec::new()
}
