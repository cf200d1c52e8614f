//! Codes of the sample run.

use super::{Explanation, Stage::Smoke};

pub(super) const TABLE: &[Explanation] = &[
    Explanation::new(
        Smoke,
        "event_type_without_result",
        "No sample of a declared event type gave a node, an edge or a handled span.",
        "Add samples from which the plan can extract something, or declare only the types that \
         it reads.",
    ),
    Explanation::new(
        Smoke,
        "nonempty_floor",
        "Fewer samples than required gave a node, an edge or a handled span.",
        "Check that the plan's paths lead to values in the samples; the key decides whether \
         there is a node.",
    ),
    Explanation::new(
        Smoke,
        "oracle_mismatch",
        "The module gave another result than its plan means by the native evaluator.",
        "If the module was rendered here, report it as a defect with plan and event; otherwise \
         do not trust it.",
    ),
    Explanation::new(
        Smoke,
        "samples_out_of_fuel",
        "The samples together took more fuel than a sample run may take.",
        "Make the plan cheaper, or give fewer samples: a few of each event type tell as much.",
    ),
];
