//! Codes of the renderer.

use super::{Explanation, Stage::Render};

pub(super) const TABLE: &[Explanation] = &[
    Explanation::new(
        Render,
        "plan_not_declarable",
        "The plan is valid, but what it would declare breaks a bound of the binary interface: \
         too many inputs, too long a path, or a name that belongs to the interface.",
        "Read fewer fields, or shorter paths, as the message says; split the plan if it needs \
         more.",
    ),
    Explanation::new(
        Render,
        "plan_too_large",
        "The names in the plan are so long, or so many, that no result could hold its constant \
         text, or that its module would be larger than what passes the static gate.",
        "Shorten the names, or map fewer properties; split the plan if it needs more.",
    ),
];
