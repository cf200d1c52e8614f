//! Graph specs.

use super::Attack;

pub fn attacks() -> Vec<Attack> {
    Vec::new()
}
