//! Plans and modules with regular expressions.

use super::Attack;

pub fn attacks() -> Vec<Attack> {
    Vec::new()
}
