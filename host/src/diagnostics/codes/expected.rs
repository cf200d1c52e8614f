//! Codes of results that aren't what samples are expected to give.

use super::{Code, CodeEntry, Stage, codes};

codes! { Stage::Expected;
    MISSING_EDGE = "missing_edge":
        "A sample is expected to give an edge that it doesn't.",
        "Correct the edge's ends, its condition or what it goes over; or correct the expected result.",
        in_rule("Say in the rule what the edge joins, or correct the expected result.");
    MISSING_NODE = "missing_node":
        "A sample is expected to give a node that it doesn't, by its entity and key.",
        "Correct the key's path, the condition, the event types or what the node goes over; or correct the expected result.",
        in_rule("Say in the rule which field holds the key and which events are meant, or correct the expected result.");
    MISSING_PROPERTY = "missing_property":
        "A node or an edge of a sample lacks a property that it is expected to have.",
        "Map the property from the field that holds the value; or correct the expected result.",
        in_rule("Name in the rule the field that holds the property, or correct the expected result.");
    OTHER_SESSION = "other_session":
        "The ids of a sample's nodes begin with another session than is expected.",
        "Correct `session_id_path`; or correct the expected result.",
        in_rule("Name in the rule the field that holds the session, or correct the expected result.");
    OTHER_SPANS = "other_spans":
        "A sample gives other spans as handled than is expected.",
        "Correct `span_handling`: its path, and what makes a span partially handled; or correct the expected result.",
        in_rule("Say in the rule which field holds the span, and which free text is left; or correct the expected result.");
    OTHER_VALUE = "other_value":
        "A property of a sample's node or edge has another value than is expected.",
        "Map the property from the field that holds the value, and convert it as is meant; or correct the expected result.",
        in_rule("Name in the rule the field that holds the property, or correct the expected result.");
    UNWANTED_EDGE = "unwanted_edge":
        "A sample gives an edge that an exact expected result doesn't list.",
        "Leave the edge out, or make it under a condition; or correct the expected result.",
        in_rule("Say in the rule when there is such an edge, or correct the expected result.");
    UNWANTED_NODE = "unwanted_node":
        "A sample gives a node that an exact expected result doesn't list.",
        "Leave the node out, or make it under a condition; or correct the expected result.",
        in_rule("Say in the rule when there is such a node, or correct the expected result.");
    UNWANTED_PROPERTY = "unwanted_property":
        "A node or an edge of a sample has a property that an exact expected result doesn't list.",
        "Leave the property out; or correct the expected result.",
        in_rule("Say in the rule which properties are wanted, or correct the expected result.");
}
