//! Samples, projects, answers and other documents.

use super::Attack;

pub fn attacks() -> Vec<Attack> {
    Vec::new()
}
