//! Codes of the sample run.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

codes! { Stage::Smoke;
    EVENT_TYPE_WITHOUT_RESULT = "event_type_without_result":
        "No sample of a declared event type gave a node, an edge or a handled span.",
        "Add samples from which the plan can extract something, or declare only the types that it reads.",
        in_rule("Add samples of the event type that the rule means, or name one in the rule that there is: {event_types}.");
    NONEMPTY_FLOOR = "nonempty_floor":
        "Fewer samples than required gave a node, an edge or a handled span.",
        "Check that the plan's paths lead to values in the samples; the key decides whether there is a node.",
        in_rule("Add a sample that the rule applies to, or name in the rule the field that holds the key.");
    ORACLE_MISMATCH = "oracle_mismatch":
        "The module gave another result than its plan means by the native evaluator.",
        "If the module was rendered here, report it as a defect with plan and event; otherwise do not trust it.",
        kind(FailureKind::ToolError);
    SAMPLES_OUT_OF_FUEL = "samples_out_of_fuel":
        "The samples together took more fuel than a sample run may take.",
        "Make the plan cheaper, or give fewer samples: a few of each event type tell as much.",
        limit(LimitEntry::fixed("units of fuel"));
}
