//! Folders of bundles.

use super::Attack;

pub fn attacks() -> Vec<Attack> {
    Vec::new()
}
