//! Codes of the plan parser.

use super::{Explanation, Stage::Plan};

pub(super) const TABLE: &[Explanation] = &[
    Explanation::new(
        Plan,
        "duplicate_property_name",
        "Two mappings of the plan, the key included, write a property of the same name. A node \
         can hold a property once.",
        "Rename one of the two properties, or remove the mapping that isn't wanted.",
    ),
    Explanation::new(
        Plan,
        "empty_path",
        "A path into the event is an empty list, or one of its steps is missing.",
        "Give at least one step, like [\"payload\", \"id\"], or leave an optional path out.",
    ),
    Explanation::new(
        Plan,
        "empty_string",
        "A name or a step of a path is the empty string.",
        "Write the name out, or leave the optional field out altogether.",
    ),
    Explanation::new(
        Plan,
        "invalid_identifier",
        "A name is not an identifier: a letter or an underscore, then letters, digits and \
         underscores, all ASCII. Function names must also not be a keyword of Rust, `memory`, \
         `_start` or `_initialize`, nor begin with `retort_`.",
        "Rename it: dots, dashes and spaces usually become underscores.",
    ),
    Explanation::new(
        Plan,
        "invalid_json",
        "The text is not one JSON value. It may be cut off, nested too deeply, or hold something \
         before or after the value.",
        "Write the plan as a single JSON object without comments or trailing commas.",
    ),
    Explanation::new(
        Plan,
        "invalid_plan",
        "The plan has the right shape, and still no extractor can be made of it. The message says \
         what is in the way.",
        "Change the plan as the message says; if the plan looks right, report it as a defect.",
    ),
    Explanation::new(
        Plan,
        "invalid_value",
        "A field of the plan takes one of a few strings, and holds another one.",
        "Use one of the strings that the message lists, or leave the optional field out.",
    ),
    Explanation::new(
        Plan,
        "missing_required_field",
        "An object of the plan lacks a field that it must have.",
        "Add the field; `retort plan schema` prints which fields are required where.",
    ),
    Explanation::new(
        Plan,
        "unknown_field",
        "An object of the plan has a field that plans do not have. Nothing is ignored silently, \
         since a misspelt option would change what is extracted.",
        "Correct the spelling or remove the field; `retort plan schema` prints all of them.",
    ),
    Explanation::new(
        Plan,
        "wrong_root_type",
        "The plan is JSON, but not an object.",
        "Make the root a JSON object; take it out of a list or a string if it is inside one.",
    ),
    Explanation::new(
        Plan,
        "wrong_type",
        "A field of the plan holds a value of another JSON type than it must. Null counts as a \
         type: only span handling and its condition may be null.",
        "Use the type that the message expects, or leave an optional field out.",
    ),
];
