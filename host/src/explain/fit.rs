//! Codes of the plan against what is known of events and graph.

use super::{Explanation, Stage::Fit};

pub(super) const TABLE: &[Explanation] = &[
    Explanation::new(
        Fit,
        "composite_key",
        "The entity is identified by several properties together. A plan has one key, so two nodes could get one id.",
        "Give the entity a single key property in the graph spec, or extract another entity.",
    ),
    Explanation::new(
        Fit,
        "event_type_without_sample",
        "No sample has a declared event type, so that nothing is known about how it is read.",
        "Name samples of the plan's event type, or correct the plan's `event_type`.",
    ),
    Explanation::new(
        Fit,
        "fields_swapped",
        "Two properties of one type each read the path that has the other's name.",
        "Exchange the two source paths; if they are as intended, rename the properties in the graph spec.",
    ),
    Explanation::new(
        Fit,
        "path_not_scalar",
        "A key, a session id or a span id is read where samples have objects or arrays alone, so it is never there.",
        "Continue the path to the string, number or boolean that is meant.",
    ),
    Explanation::new(
        Fit,
        "path_read_twice",
        "Two properties read the same path; it has the name of one, and right beside it is one with the other's name.",
        "Read each property from the path that has its name, or leave one of them out.",
    ),
    Explanation::new(
        Fit,
        "type_mismatch",
        "A property's value is not of the type that the graph spec gives it, or is out of that type's range.",
        "Map the property from a field of the right type, or change its type in the graph spec.",
    ),
    Explanation::new(
        Fit,
        "unknown_entity",
        "A plan or a node names an entity that is not in the graph spec.",
        "Use an entity name of the graph spec, spelt exactly as there, or add the entity to it.",
    ),
    Explanation::new(
        Fit,
        "unknown_path",
        "A plan reads a path that no sample of its event type has, and that the event schema doesn't declare.",
        "Correct the path. If such events exist, add one to the samples, or declare the path in the event schema.",
    ),
    Explanation::new(
        Fit,
        "unknown_property",
        "A plan, a node or an edge has a property that its entity or relationship does not declare.",
        "Use a property name or column of the graph spec, or add the property to it.",
    ),
    Explanation::new(
        Fit,
        "unsupported_type",
        "A property's value is an array or an object, or the graph spec gives it a type that values cannot be checked \
         against.",
        "Continue the path to a value inside, or use a supported type in the graph spec: string, bytes, int64, double, \
         boolean, timestamp or date.",
    ),
    Explanation::new(
        Fit,
        "wrong_key",
        "The plan's key is not the property that identifies the entity, so ids of nodes would not be found by it.",
        "Make the entity's key property the `key_field`, with the path that identifies what the node stands for.",
    ),
];
