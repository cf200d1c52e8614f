//! Codes of the graph spec and of the graph validator.

use super::{Code, CodeEntry, Stage, codes};

codes! { Stage::Graph;
    DUPLICATE_NODE_ID = "duplicate_node_id":
        "Two nodes of one result have the same id, so that edges to it are ambiguous.",
        "Use key fields that tell the nodes apart, or emit the node once.";
    ENDPOINT_LEFT_OUT = "endpoint_left_out":
        "An edge begins or ends at a node of its result that is in no table, since it doesn't fit one. The edge is left out as well.",
        "Look at why the node was left out: it is a reject of the same event.";
    GRAPH_SPEC_CONFLICTING_FIELDS = "graph_spec_conflicting_fields":
        "Two fields of the graph spec say the same thing, and it is not known which one holds.",
        "Keep one of the two fields.";
    GRAPH_SPEC_DUPLICATE_NAME = "graph_spec_duplicate_name":
        "Two entities, relationships, properties or columns of the graph spec have one name.",
        "Rename one of the two, or remove it.";
    GRAPH_SPEC_EMPTY_NAME = "graph_spec_empty_name":
        "A name in the graph spec has no characters.",
        "Write the name out, or remove the field.";
    GRAPH_SPEC_INHERITANCE_CYCLE = "graph_spec_inheritance_cycle":
        "A declaration of the graph spec extends itself, directly or through others.",
        "Remove one `extends` of the cycle.";
    GRAPH_SPEC_MISSING_FIELD = "graph_spec_missing_field":
        "A declaration of the graph spec lacks a field that it must have.",
        "Add the field that the message names.";
    GRAPH_SPEC_ONTOLOGY_MISMATCH = "graph_spec_ontology_mismatch":
        "The binding was written for another ontology.",
        "Name the ontology's own binding, or correct the name in it.";
    GRAPH_SPEC_SYNTAX = "graph_spec_syntax":
        "The graph spec is not YAML or JSON of one of the known forms: a syntax error, an unknown key, or a value of another type.",
        "Correct the place that the message gives by line and column.";
    GRAPH_SPEC_TOO_LARGE = "graph_spec_too_large":
        "The graph spec is larger than what is read, or comes to more once inherited properties are counted where they arrive: 2,000 entities and as many relationships, 50,000 properties, 1,024 bytes of one name, 4 MiB of all of them, and 4 MiB of all descriptions of properties.",
        "Split it, shorten its names and descriptions, or remove what is not about the graph.";
    GRAPH_SPEC_UNBOUND_ENDPOINT = "graph_spec_unbound_endpoint":
        "A bound relationship joins an entity that the binding leaves out.",
        "Bind the entity too, or leave the relationship out.";
    GRAPH_SPEC_UNBOUND_KEY = "graph_spec_unbound_key":
        "A bound entity has no column for a property of its key.",
        "Bind every property of the key to a column.";
    GRAPH_SPEC_UNKNOWN_NAME = "graph_spec_unknown_name":
        "The graph spec uses a name that nothing declares: of an entity, a relationship, a property or a property type. Types are string, bytes, int64 (integer), double (float64, numeric), boolean (bool), date, timestamp (datetime), and time and json, which are text; a type of another tool is text where `property_types` lists it.",
        "Correct the spelling, or declare it.";
    GRAPH_SPEC_WRONG_FORM = "graph_spec_wrong_form":
        "The document is of another kind than was asked for, such as a binding in place of a graph spec.",
        "Name the graph spec, or an ontology together with its binding.";
    KEY_MISMATCH = "key_mismatch":
        "A node's id does not end in the entity name and the key values that its own properties hold. Whoever looks the node up by its key would not find it.",
        "Build the id from the same values as the key properties: {session}:{entity}:{key}={value}.",
        in_rule("Name in the rule the field that holds the key, or change the key in the graph spec.");
    MERGE_CONFLICT = "merge_conflict":
        "Several extractors serve the event's type, and two of them give different values for the same thing: a property or the entity of a node, or a property, the relationship or an end of an edge. The event has no result.",
        "Correct the extractor that is wrong; or have the last one by the order of names count, with `retort bundles share DIR last`; or retire one of them.";
    MISSING_ENDPOINT_KEY = "missing_endpoint_key":
        "An edge ends at a node that gives no value for a key by which the relationship refers to it.",
        "Give the node at that end all its key properties, or write them into the external id.";
    MISSING_KEY = "missing_key":
        "A node lacks a property that is part of its entity's key, or holds null there.",
        "Map the key property from a field that every event of this type has.",
        in_rule("Name in the rule the field that holds the key, or change the key in the graph spec.");
    MISSING_NODE_ID = "missing_node_id":
        "A node's id is empty.",
        "Give every node an id of the form {session}:{entity}:{key}={value}.";
    PROPERTY_TWICE = "property_twice":
        "A node or an edge gives a property twice, with two values, of which its column has the first.",
        "Have the extractor give each property once, under one of its names.";
    ROWS_TOO_LARGE = "rows_too_large":
        "The rows of one event would be larger than what is held in memory: each of them repeats the spans, the type and the bundle of its event.",
        "Have the extractor claim fewer spans or give fewer nodes of one event.";
    TABLES_CONFLICT = "tables_conflict":
        "Two bundles have graph specs that mean different things by one name, so that their results fit no common table.",
        "Give the entity, the relationship or the property one meaning in all graph specs, or run the bundles apart.";
    UNKNOWN_RELATIONSHIP = "unknown_relationship":
        "An edge's relationship is not in the graph spec.",
        "Use a relationship name of the graph spec, spelt exactly as there, or add it.",
        in_rule("Declare it in the graph spec, or ask in the rule only for what the spec declares (entities: {entities}).");
    UNRESOLVED_ENDPOINT = "unresolved_endpoint":
        "An edge names a node that is not in the same result.",
        "Emit the node with the edge, or allow external endpoints if the node comes from another event.";
    VALUE_INEXACT = "value_inexact":
        "An integer has more digits than a column of doubles holds, so that another integer would be stored.",
        "Make the property an `int64`, or a `string` where it is an id.";
    VALUE_OUT_OF_RANGE = "value_out_of_range":
        "A value is beyond what its column can hold: an integer beyond 64 bits, a number beyond a double, or a time that is outside the years 1 to 9999 in UTC.",
        "Make the property a `string`, or leave such values out.";
    WRONG_ENDPOINT_ENTITY = "wrong_endpoint_entity":
        "An edge ends at a node of another entity than its relationship joins.",
        "Swap the two ends if they are reversed, or point the edge at a node of the right entity.";
}
