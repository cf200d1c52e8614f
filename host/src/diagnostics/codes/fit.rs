//! Codes of the plan against what is known of events and graph.

use super::{Code, CodeEntry, FailureKind, Stage, codes};

codes! { Stage::Fit;
    COMPOSITE_KEY = "composite_key":
        "The entity is identified by several properties together. A plan of the short form has one key, so two nodes could get one id.",
        "Write the plan with `nodes`, and all properties of the key in `key_fields`, or extract another entity.",
        kind(FailureKind::MissingContext);
    CONVERSION_NEVER_SUCCEEDS = "conversion_never_succeeds":
        "The conversions of a value fail on every value that samples have at its path, so that the property would never be there.",
        "Use conversions that take such values, or read another path; without any conversion, the value is written as the event has it.";
    EVENT_TYPE_WITHOUT_SAMPLE = "event_type_without_sample":
        "No sample has a declared event type, so that nothing is known about how it is read.",
        "Name samples of the plan's event type, or correct the plan's `event_type`. If there are such events, write it as `{\"type\": .., \"unseen\": true}`.",
        kind(FailureKind::MissingContext),
        in_rule("Add samples of the event type that the rule means, or name one in the rule that there is: {event_types}.");
    FIELDS_SWAPPED = "fields_swapped":
        "Two properties of one type each read the path that has the other's name.",
        "Exchange the two source paths; if they are as intended, rename the properties in the graph spec.";
    FIT_LIMIT = "fit_limit":
        "There is more to be said of a plan than is told: it has more than a thousand faults, or samples, graph spec and plan together take more steps to look through than the gate may take. What is told holds; some findings may lack the patch that would fix them, and values that weren't looked at are left to the sample run.",
        "Fix what is told first. With fewer or shorter samples, and fewer names in the graph spec and the event schema, there is less to look through.";
    FOR_EACH_NOT_ARRAY = "for_each_not_array":
        "A `for_each` goes over an array at a path where samples never have one, or that an expression never gives, so that there are no elements.",
        "Name the path of an array, or write an expression that gives one; to go over the entries of an object, write `entries` instead of `array`.";
    FOR_EACH_NOT_OBJECT = "for_each_not_object":
        "A `for_each` goes over the entries of an object at a path where samples never have one, so that there are no entries.",
        "Name the path of an object; to go over the elements of an array, write `array` instead of `entries`.";
    MISSING_FOR_EACH = "missing_for_each":
        "A path leads through an array. Paths lead through objects alone, so nothing is ever there.",
        "Give the node a `for_each` over the array and write the path from its element on; other paths need `\"from\": \"event\"` then.";
    PATH_NOT_SCALAR = "path_not_scalar":
        "A key, a session id or a span id is read where samples have objects or arrays alone, so it is never there.",
        "Continue the path to the string, number or boolean that is meant.";
    PATH_READ_TWICE = "path_read_twice":
        "Two properties read the same path; it has the name of one, and right beside it is one with the other's name.",
        "Read each property from the path that has its name, or leave one of them out.";
    SUPERFLUOUS_UNSEEN = "superfluous_unseen":
        "A plan, or an extractor in Rust, says `unseen` of something that samples show.",
        "Take the `unseen` away: what samples show is tried by them.";
    TYPE_MISMATCH = "type_mismatch":
        "A property's value is not of the type that the graph spec gives it, or is out of that type's range.",
        "Map the property from a field of the right type, or change its type in the graph spec.",
        in_rule("Change the property's type in the graph spec, or name in the rule a field whose values have that type.");
    UNKNOWN_ENTITY = "unknown_entity":
        "A plan or a node names an entity that is not in the graph spec.",
        "Use an entity name of the graph spec, spelt exactly as there, or add the entity to it.",
        in_rule("Declare it in the graph spec, or ask in the rule only for what the spec declares (entities: {entities}).");
    UNKNOWN_PATH = "unknown_path":
        "A plan, or an extractor in Rust, reads a path that no sample of its event type has, and that the event schema doesn't declare.",
        "Correct the path. If such events exist, add one to the samples, declare the path in the event schema, or say `\"unseen\": true` beside it in the plan, and `unseen` behind it in Rust.";
    UNKNOWN_PROPERTY = "unknown_property":
        "A plan, a node or an edge has a property that its entity or relationship does not declare.",
        "Use a property name or column of the graph spec, or add the property to it.",
        in_rule("Declare it in the graph spec, or ask in the rule only for what the spec declares (entities: {entities}).");
    UNSEEN_EVENT_TYPE = "unseen_event_type":
        "The plan says of an event type that no sample has it, and none does, so that nothing was tried of its events.",
        "Add a sample of it as soon as there is one; until then, look at what the plan says of it.";
    UNSEEN_PATH = "unseen_path":
        "The plan says of something that no sample shows it, and none does, so that what the plan makes of it was not tried.",
        "Add a sample that has it as soon as there is one, or declare it in the event schema; until then, look at the path letter by letter.";
    UNSUPPORTED_TYPE = "unsupported_type":
        "A property's value is an array or an object, or the graph spec gives it a type that values cannot be checked against.",
        "Continue the path to a value inside, or use a supported type in the graph spec: string, bytes, int64, double, boolean, timestamp or date.",
        in_rule("Change the property's type in the graph spec, or name in the rule a field whose values have that type.");
    WRONG_CONVERSION = "wrong_conversion":
        "The conversions of a value give something else than the type that the graph spec gives the property.",
        "End the chain with the conversion for the property's type, such as `timestamp` or `to_int64`, or leave it out where the value is of the type already.";
    WRONG_ENDPOINT = "wrong_endpoint":
        "An edge's end is a node of another entity than the relationship has at that end.",
        "Name a node of the right entity, exchange `from` and `to` where the edge is the wrong way round, or use another relationship.";
    WRONG_KEY = "wrong_key":
        "The key of a plan, a node or an end of an edge is not made of the properties that identify the entity, in their order, so ids of nodes would not be found by it.",
        "Make the properties of the entity's key, and no others, the `key_field` or the `key_fields`, in the order of the graph spec.";
}
