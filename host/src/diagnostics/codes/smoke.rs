//! Codes of the sample run.

use super::{Code, CodeEntry, FailureKind, LimitEntry, Stage, codes};

codes! { Stage::Smoke;
    ALTERNATIVE_NEVER_TAKEN = "alternative_never_taken":
        "An alternative of a `coalesce` is the value in no sample: those before it always are, or it is never there.",
        "Look at its path, and at the order of the alternatives; where it is for events that aren't among the samples, add one, or say `\"unseen\": true` beside it.";
    CONVERSIONS_FAILED = "conversions_failed":
        "In some samples a conversion of the plan fails, so that its value is left out.",
        "Read the value from another field, or convert it as the values that are named are written; where it is meant to be left out there, all is well.";
    EVENT_TYPE_WITHOUT_RESULT = "event_type_without_result":
        "No sample of a declared event type gave a node, an edge or a handled span.",
        "Add samples from which the plan can extract something, or declare only the types that it reads.",
        in_rule("Add samples of the event type that the rule means, or name one in the rule that there is: {event_types}.");
    IDENTICAL_RESULTS = "identical_results":
        "Samples that differ give the same nodes and edges, but for their ids.",
        "Look at the key: it has to tell things apart; and at the properties, whether they are read from what differs.";
    NONEMPTY_FLOOR = "nonempty_floor":
        "Fewer samples than required gave a node, an edge or a handled span.",
        "Check that the plan's paths lead to values in the samples; the key decides whether there is a node.",
        in_rule("Add a sample that the rule applies to, or name in the rule the field that holds the key.");
    ORACLE_MISMATCH = "oracle_mismatch":
        "The module gave another result than its plan means by the native evaluator.",
        "If the module was rendered here, report it as a defect with plan and event; otherwise do not trust it.",
        kind(FailureKind::ToolError);
    PROPERTY_LEFT_OUT = "property_left_out":
        "The rule names a property of the graph spec that the plan leaves out.",
        "Map it, or say in the rule that it isn't wanted; where it was named for another reason, all is well.";
    PROPERTY_NEVER_GIVEN = "property_never_given":
        "A property of the plan came out in no sample.",
        "Look at its path and its conversions; if events have it that aren't among the samples, add one.";
    ROWS_DROPPED = "rows_dropped":
        "In some samples nodes or edges were dropped, since others of the same event have their ids.",
        "Use a key that tells them apart; where they are the same thing, all is well.";
    SAMPLES_OUT_OF_FUEL = "samples_out_of_fuel":
        "The samples together took more fuel than a sample run may take.",
        "Make the plan cheaper, or give fewer samples: a few of each event type tell as much.",
        limit(LimitEntry::fixed("units of fuel"));
}
