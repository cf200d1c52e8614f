//! Codes of the plan parser.

use super::{Code, CodeEntry, FailureKind, Stage, codes};

codes! { Stage::Plan;
    CONFLICTING_FIELDS = "conflicting_fields":
        "An object of the plan has two fields of which it can have one: `nodes` and the fields of the short form, two of the ways to write a value, two tests in one condition.",
        "Keep the one that is meant. Conditions are combined with `all`, `any` and `not`, values with `coalesce`.";
    DUPLICATE_ITEM = "duplicate_item":
        "An event type stands twice in a list.",
        "Remove the second one.";
    DUPLICATE_NODE_NAME = "duplicate_node_name":
        "Two nodes of the plan have the same name, and one of them is given it, or an edge uses it. Nodes without a name have that of their entity.",
        "Give each of the nodes a `name` of its own, and use those in the edges.";
    DUPLICATE_PROPERTY_NAME = "duplicate_property_name":
        "Two mappings of the plan, the key included, write a property of the same name. A node can hold a property once.",
        "Rename one of the two properties, or remove the mapping that isn't wanted.";
    EMPTY_PATH = "empty_path":
        "A path from the root of an event is an empty list.",
        "Give at least one step, like [\"payload\", \"id\"], or leave an optional path out.";
    EMPTY_STRING = "empty_string":
        "A name or a step of a path is the empty string.",
        "Write the name out, or leave the optional field out altogether.";
    EXPRESSION_TOO_LARGE = "expression_too_large":
        "An expression has more bytes than it may, or the lists and texts that it makes on the way have.",
        "Split the expression, or filter a list before something is made of each of its elements.";
    FOR_EACH_MISMATCH = "for_each_mismatch":
        "An edge goes over the elements of one array, and a node that it names over those of another. An edge connects nodes of the same element, or of an element and one around it.",
        "Write an end of the edge as an external node with `entity_name` and `key_fields`, or let the nodes have the same `for_each`.";
    INVALID_ARITY = "invalid_arity":
        "A function of an expression is called with more arguments than it takes, or with fewer.",
        "Give it the arguments that docs/plan.md lists, separated by commas.";
    INVALID_IDENTIFIER = "invalid_identifier":
        "A name is not an identifier: a letter or an underscore, then letters, digits and underscores, all ASCII. Function names must also not be a keyword of Rust, `memory`, `_start` or `_initialize`, nor begin with `retort_`.",
        "Rename it: dots, dashes and spaces usually become underscores.";
    INVALID_JSON = "invalid_json":
        "The text is not one JSON value. It may be cut off, nested too deeply, or hold something before or after the value.",
        "Write the plan as a single JSON object without comments or trailing commas.",
        kind(FailureKind::JsonInvalid);
    INVALID_PATTERN = "invalid_pattern":
        "A pattern isn't of the syntax that `regex` takes, or has no such group. Look-around and back-references are left out of the syntax: they take more than linear time.",
        "Correct the pattern as the message says, or use another conversion, like `split`.";
    INVALID_PLAN = "invalid_plan":
        "The plan has the right shape, and still no extractor can be made of it. The message says what is in the way.",
        "Change the plan as the message says; if the plan looks right, report it as a defect.";
    INVALID_TEMPLATE = "invalid_template":
        "A text is no template: a brace isn't closed, or what is in braces is no path.",
        "Write paths in braces, with dots between the keys, like {content.id}, and a literal brace twice. Keys with dots, braces or quotes in them are written as JSON strings.";
    INVALID_TYPE = "invalid_type":
        "A function or an operator of an expression doesn't take values of this type.",
        "Convert the value before, with to_number() or to_string(), or pass over what is of another type with a filter.";
    INVALID_VALUE = "invalid_value":
        "A field of the plan, or an argument of a function in an expression, takes one of a few values, and is another one.",
        "Use one of those that the message lists, or leave out what is optional.";
    MISSING_REQUIRED_FIELD = "missing_required_field":
        "An object of the plan lacks a field that it must have.",
        "Add the field; `retort plan schema` prints which fields are required where.";
    NOT_A_NUMBER = "not_a_number":
        "An expression divides by zero, or its result is beyond the numbers of JSON.",
        "Test the divisor before, like `count > `0` && sum / count`.";
    OUTSIDE_FOR_EACH = "outside_for_each":
        "A path is empty or starts at the parent, and stands where no `for_each` says what element that is; or a `for_each` is to go over the event itself or over an entry itself.",
        "Write the path from the root of the event, or go over the elements with a `for_each`.";
    PATTERN_TOO_LARGE = "pattern_too_large":
        "A pattern compiles to a program that is larger than the limit, mostly for its counted repetitions or classes of Unicode; or it takes too long to get there, for `(?i)` over large classes.",
        "Repeat less, use ASCII classes, like [0-9] for \\d, and put (?i:...) around letters alone.";
    SYNTAX = "syntax":
        "A text is no expression of JMESPath. The message has the column of what is wrong.",
        "Correct the expression at that column. Strings are in single quotes, other literals in backquotes, and a key that isn't a plain name in double quotes.";
    TOO_DEEP = "too_deep":
        "Conditions, values, an expression or a `for_each` nest deeper than the language has levels.",
        "Combine in one list what is nested in several.";
    TOO_FEW_ITEMS = "too_few_items":
        "A list of the plan has fewer entries than it has to have.",
        "Add an entry, or leave an optional field out.";
    TOO_MANY_ITEMS = "too_many_items":
        "A list of the plan is longer than the language allows.",
        "Shorten the list, or make two plans of this one.";
    TOO_MANY_PLACES = "too_many_places":
        "The lists of paths in the `first_of` of a `for_each` and of those around it lead to more places than are looked at: each path of one level is looked for in each place of the level around it.",
        "List only the paths that occur, or make several nodes of this one.";
    UNDEFINED_VARIABLE = "undefined_variable":
        "An expression uses a variable that no `let` around it binds.",
        "Bind it, as in `let $name = path in ...`, or use $event, $parent or @.";
    UNKNOWN_FIELD = "unknown_field":
        "An object of the plan has a field that plans do not have. Nothing is ignored silently, since a misspelt option would change what is extracted.",
        "Correct the spelling or remove the field; `retort plan schema` prints all of them.";
    UNKNOWN_FUNCTION = "unknown_function":
        "An expression calls a function that there is none of.",
        "Use one of the functions that docs/plan.md lists.";
    UNKNOWN_NODE = "unknown_node":
        "An end of an edge is a name that no node of the plan has.",
        "Use the name of a node, which is its `name` or its entity's; a node of other events is written as an object with `entity_name` and `key_fields`.";
    UNKNOWN_TIME_ZONE = "unknown_time_zone":
        "The `time_zone` of the plan is none of the zones that this version knows by name, no offset and not UTC. Names are spelled as in the IANA database.",
        "Write a name like Europe/Berlin, an offset like +02:00, or UTC; or leave the field out where all times have an offset.";
    UNUSED_FIELD = "unused_field":
        "A field of the plan means nothing where it stands: `from` and `nulls` go with `source_path`, `on_error` with `convert`.",
        "Remove the field, or add the one that gives it a meaning.";
    WRONG_ROOT_TYPE = "wrong_root_type":
        "The plan is JSON, but not an object.",
        "Make the root a JSON object; take it out of a list or a string if it is inside one.",
        kind(FailureKind::JsonInvalid);
    WRONG_TYPE = "wrong_type":
        "A field of the plan holds a value of another JSON type than it must. Null counts as a type: only span handling and its condition may be null.",
        "Use the type that the message expects, or leave an optional field out.";
}
