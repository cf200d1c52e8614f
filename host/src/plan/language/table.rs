//! The table itself.

use FieldRule::{Beside, Excludes, Forms, NotEmptyOutside, OneOf};
use Shape::{
    Chain, Constant, Constants, End, EventTypes, Name, Object, ObjectOrObjects, Objects, Path,
    Paths, Query, Template, Text, True, TypeName, Word,
};

use super::scope::STARTS;
use crate::plan::expr::Iteration;

/// The kinds of objects that a plan consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Plan,
    Node,
    Edge,
    /// A node that some other event describes, at the end of an edge.
    External,
    /// A property of a key.
    Key,
    /// Any other property.
    Property,
    /// One of the values of a `coalesce`.
    Choice,
    Condition,
    ForEach,
    Span,
    /// An event type with what is to be said of it.
    EventType,
}

/// What a field, or a place inside of one, holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One event type, or a list of them.
    EventTypes,
    /// A type, or an object that has one.
    EventType,
    /// A type by itself.
    TypeName,
    /// An identifier: the name of a function, an entity, a relationship, a property or a node.
    Name,
    /// A list of object keys.
    Path,
    /// A list of paths.
    Paths,
    /// A key of a path.
    Segment,
    Object(ObjectKind),
    Objects(ObjectKind),
    /// One object, or a list of them.
    ObjectOrObjects(ObjectKind),
    /// The end of an edge: the name of a node, or an external one.
    End,
    /// A list of conversions.
    Chain,
    /// A conversion.
    Step,
    /// The arguments of a conversion, and what is inside of them.
    Arguments,
    /// A string, a number or a boolean.
    Constant,
    Constants,
    Template,
    /// An expression in JMESPath.
    Query,
    /// `true` alone.
    True,
    /// A string that isn't empty.
    Text,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// What only the section of a module has: read there.
    Section,
}

/// A field of an object.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) is_required: bool,
    /// How many entries its list, or the keys of its path, may be: at least and at most.
    pub(crate) entries: (usize, usize),
    /// Other names that get written for it, and that can mean nothing else in such an object.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) description: Option<&'static str>,
    /// What holds where it is left out, as JSON. Where this is null, null may also be written.
    pub(crate) default: Option<&'static str>,
    /// The name of its definition in the schema, where kinds share it.
    pub(crate) definition: Option<&'static str>,
}

impl Field {
    pub(crate) const fn new(name: &'static str, shape: Shape) -> Self {
        Self {
            name,
            shape,
            is_required: false,
            entries: (0, usize::MAX),
            aliases: &[],
            description: None,
            default: None,
            definition: None,
        }
    }

    pub(super) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) const fn entries(self, least: usize, most: usize) -> Self {
        Self { entries: (least, most), ..self }
    }

    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn about(self, description: &'static str) -> Self {
        Self { description: Some(description), ..self }
    }

    const fn default(self, json: &'static str) -> Self {
        Self { default: Some(json), ..self }
    }

    const fn defined_as(self, definition: &'static str) -> Self {
        Self { definition: Some(definition), ..self }
    }

    /// The path that holds where it is left out.
    pub(crate) fn default_path(&self) -> Option<Vec<String>> {
        serde_json::from_str(self.default?).ok()
    }

    /// Whether null may be written for it.
    pub(crate) fn is_nullable(&self) -> bool {
        self.default == Some("null")
    }
}

/// What holds between the fields of an object.
#[derive(Debug)]
pub(crate) enum FieldRule {
    /// It has exactly one of these. The first of them is what is missing where there is none.
    OneOf(&'static [Alternative]),
    /// The field means nothing but beside one of the others.
    Beside(&'static str, &'static [&'static str]),
    /// It has one of the two at most.
    Excludes(&'static str, &'static str),
    /// It has `long`, a list that has entries where that of `or` has none, or else these, of which some are required.
    Forms {
        long: &'static str,
        or: &'static str,
        short: &'static [&'static str],
        required: &'static [&'static str],
    },
    /// These paths may be empty only where the field is there.
    NotEmptyOutside { field: &'static str, paths: &'static [&'static str] },
}

/// One of several fields of which an object has one.
#[derive(Debug)]
pub(crate) struct Alternative {
    pub(crate) name: &'static str,
    /// The field that has to be beside it, and beside no alternative that doesn't say so.
    pub(crate) with: Option<&'static str>,
}

pub(super) const fn alone(name: &'static str) -> Alternative {
    Alternative { name, with: None }
}

pub(super) const fn with(name: &'static str, other: &'static str) -> Alternative {
    Alternative { name, with: Some(other) }
}

/// All that is to be known of one kind of object.
#[derive(Debug)]
pub(crate) struct ObjectTable {
    /// The name of its definition in the schema.
    pub(crate) definition: &'static str,
    pub(crate) description: Option<&'static str>,
    pub(crate) fields: &'static [Field],
    pub(crate) rules: &'static [FieldRule],
    /// The name of the definition of its rules in the schema, where kinds share them.
    pub(crate) rules_definition: Option<&'static str>,
}

impl ObjectTable {
    pub(crate) const fn new(
        definition: &'static str,
        fields: &'static [Field],
        rules: &'static [FieldRule],
    ) -> Self {
        Self { definition, description: None, fields, rules, rules_definition: None }
    }

    const fn about(self, description: &'static str) -> Self {
        Self { description: Some(description), ..self }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl ObjectKind {
    pub(crate) fn table(self) -> &'static ObjectTable {
        match self {
            Self::Plan => &PLAN,
            Self::Node => &NODE,
            Self::Edge => &EDGE,
            Self::External => &EXTERNAL,
            Self::Key => &KEY,
            Self::Property => &PROPERTY,
            Self::Choice => &CHOICE,
            Self::Condition => &CONDITION,
            Self::ForEach => &FOR_EACH,
            Self::Span => &SPAN,
            Self::EventType => &EVENT_TYPE,
        }
    }

    /// The fields that an object of this kind may have.
    pub(crate) fn fields(self) -> &'static [Field] {
        self.table().fields
    }

    pub(crate) fn field(self, name: &str) -> Option<&'static Field> {
        self.table().field(name)
    }
}

/// Entries of a list in which a plan chooses between things.
const MAX_ENTRIES: usize = 64;

/// Properties of a node or an edge, those of a key aside: as many as a module may declare inputs.
const MAX_PROPERTIES: usize = 1024;

static PLAN: ObjectTable = ObjectTable::new(
    "plan",
    &[
        Field::new("event_type", EventTypes)
            .required()
            .entries(1, MAX_ENTRIES)
            .aliases(&["event_types", "types"])
            .about("The event_type of the events that the plan reads: one, or a list. One that ends in .* stands for all that begin so. One that no sample has is an object, {\"type\": \"order.returned\", \"unseen\": true}."),
        WHEN.about("What has to hold of an event, or nothing comes of it."),
        Field::new("target_entity_name", Name)
            .aliases(&["entity_name", "entity", "target_entity"])
            .about("Short form: the entity of the graph that each event becomes a node of."),
        Field::new("function_name", Name)
            .required()
            .aliases(&["function"])
            .about("The name of the extractor."),
        Field::new("key_field", Object(ObjectKind::Key))
            .aliases(&["key_fields", "key", "keys", "primary_key"])
            .about("Short form: the property that identifies the node."),
        PROPERTY_FIELDS.about(
            "Short form: the other properties of the node. Names are distinct, the key's included.",
        ),
        Field::new("nodes", Objects(ObjectKind::Node))
            .entries(0, MAX_ENTRIES)
            .aliases(&["entities", "node"])
            .about("Long form: the nodes that each event becomes."),
        Field::new("edges", Objects(ObjectKind::Edge))
            .entries(0, MAX_ENTRIES)
            .aliases(&["relationships", "edge"])
            .about("The edges that each event becomes.")
            .default("[]"),
        ON_DUPLICATE,
        EMPTY,
        TIME_ZONE,
        Field::new("session_id_path", Path)
            .entries(1, usize::MAX)
            .aliases(&["session_path", "session"])
            .about("Where the session id is.")
            .default(r#"["session_id"]"#),
        Field::new("span_handling", ObjectOrObjects(ObjectKind::Span))
            .entries(1, MAX_ENTRIES)
            .aliases(&["span", "spans", "span_rules"])
            .about("The spans that the extractor claims to have handled, or null for no claim.")
            .default("null"),
    ],
    &[Forms {
        long: "nodes",
        or: "edges",
        short: &["target_entity_name", "key_field", "property_fields"],
        required: &["target_entity_name", "key_field"],
    }],
)
.about("How events become nodes and edges of a graph. The short form has target_entity_name and key_field, the long form has nodes.");

static NODE: ObjectTable = ObjectTable::new(
    "node",
    &[
        ENTITY_NAME.about("The entity of the graph."),
        Field::new("name", Name)
            .aliases(&["node_name", "id", "alias"])
            .about("What edges call the node: its entity's name unless two nodes have the same."),
        EACH,
        WHEN,
        KEY_FIELDS,
        PROPERTY_FIELDS.defined_as("properties"),
    ],
    &[],
);

static EDGE: ObjectTable = ObjectTable::new(
    "edge",
    &[
        Field::new("relationship_name", Name)
            .required()
            .aliases(&["relationship", "type", "relationship_type", "name", "label"])
            .about("The relationship of the graph."),
        Field::new("from", End).required().aliases(&[
            "source",
            "from_node",
            "start",
            "from_entity",
        ]),
        Field::new("to", End).required().aliases(&[
            "target",
            "to_node",
            "end",
            "to_entity",
            "destination",
        ]),
        EACH,
        WHEN,
        Field::new("edge_id", Template).aliases(&["id"]),
        PROPERTY_FIELDS.defined_as("properties"),
    ],
    &[],
)
.about("An edge. It goes over the same elements as the nodes that it names.");

static EXTERNAL: ObjectTable = ObjectTable::new("external", &[ENTITY_NAME, KEY_FIELDS], &[]);

/// It has no `nulls`: a key that is null gives no node, whatever a plan says.
static KEY: ObjectTable = ObjectTable {
    rules_definition: Some("source"),
    ..ObjectTable::new(
        "key_mapping",
        &[
            PROPERTY_NAME,
            SOURCE_PATH,
            FROM,
            CONSTANT,
            TEMPLATE,
            COALESCE,
            EXPRESSION,
            CONVERT,
            ON_ERROR,
            UNSEEN,
        ],
        SOURCE,
    )
    .about("A property that identifies the node. Where it has no value there is no node.")
};

static PROPERTY: ObjectTable = ObjectTable {
    rules_definition: Some("source"),
    ..ObjectTable::new(
        "field_mapping",
        &[
            PROPERTY_NAME,
            SOURCE_PATH,
            FROM,
            CONSTANT,
            TEMPLATE,
            COALESCE,
            EXPRESSION,
            CONVERT,
            Field::new("nulls", Word(&["omit", "keep"]))
                .aliases(&["on_null"])
                .about("Whether a value that is null is left out or kept as null.")
                .default(r#""omit""#),
            ON_ERROR,
            UNSEEN,
        ],
        SOURCE,
    )
    .about("A property and its value. It is left out where there is none.")
};

static CHOICE: ObjectTable = ObjectTable {
    rules_definition: Some("source"),
    ..ObjectTable::new(
        "value",
        &[SOURCE_PATH, FROM, CONSTANT, TEMPLATE, COALESCE, EXPRESSION, CONVERT, UNSEEN],
        SOURCE,
    )
};

/// Where a value comes from. A rule about a field that a kind doesn't have says nothing of it.
const SOURCE: &[FieldRule] = &[
    OneOf(&[
        alone("source_path"),
        alone("constant"),
        alone("template"),
        alone("coalesce"),
        alone("expression"),
    ]),
    Beside("from", &["source_path"]),
    Beside("nulls", &["source_path"]),
    Beside("on_error", &["convert", "coalesce", "expression"]),
    Beside("unseen", &["source_path", "template", "coalesce", "expression"]),
];

static CONDITION: ObjectTable = ObjectTable::new(
    "condition",
    &[
        SOURCE_PATH,
        FROM,
        EXISTS,
        TRUTHY,
        EQUALS,
        ONE_OF,
        STARTS_WITH,
        IS_TYPE,
        ALL,
        ANY,
        NOT,
        EXPRESSION,
        UNSEEN,
    ],
    &[
        OneOf(&[
            with("exists", "source_path"),
            with("truthy", "source_path"),
            with("equals", "source_path"),
            with("one_of", "source_path"),
            with("starts_with", "source_path"),
            with("is_type", "source_path"),
            alone("all"),
            alone("any"),
            alone("not"),
            alone("expression"),
        ]),
        Beside("from", &["source_path"]),
    ],
)
.about("A test of what is at a path, or a combination: exactly one of these.");

static FOR_EACH: ObjectTable = ObjectTable::new(
    "for_each",
    &[
        Field::new("array", Path)
            .aliases(&["path", "source_path", "list", "items", "elements", "in"]),
        Field::new("entries", Path).aliases(&["object", "map", "entries_of"]),
        Field::new("first_of", Paths)
            .entries(2, Iteration::MAX_PATHS)
            .aliases(&["arrays", "paths", "any_of", "one_of", "coalesce"])
            .about("Where the array may be: the first of these paths at which there is one counts."),
        EXPRESSION.about("What gives the array. It stands where paths to the array would start."),
        Field::new("where", Object(ObjectKind::Condition))
            .aliases(&["when", "if", "filter", "condition"])
            .about("What has to hold of an element, or it is passed over. Its paths start at the element."),
        EACH.about("Over the elements of each element. There are four levels at most."),
        UNSEEN,
    ],
    &[OneOf(&[alone("array"), alone("entries"), alone("first_of"), alone("expression")])],
)
.about("One for each element of an array, or for each entry of an object, which is seen as {\"key\", \"value\"}. Paths inside start at the element.");

static SPAN: ObjectTable = ObjectTable::new(
    "span_handling",
    &[
        Field::new("span_id_path", Path)
            .aliases(&["source_path", "path", "span_id", "span_path"])
            .about("Where the span id is.")
            .default(r#"["span_id"]"#),
        FROM,
        EACH,
        WHEN.about("What has to hold for a claim."),
        Field::new("partial_when_path", Path)
            .aliases(&["partial_path"])
            .about("Where the free text is that a model still has to read, or null.")
            .default("null"),
        Field::new("partial_when", Object(ObjectKind::Condition))
            .aliases(&["partial_if"])
            .about("What has to hold for a model to have to read the span still."),
        UNSEEN,
    ],
    &[
        Excludes("partial_when_path", "partial_when"),
        NotEmptyOutside { field: "for_each", paths: &["span_id_path", "partial_when_path"] },
    ],
);

static EVENT_TYPE: ObjectTable = ObjectTable::new(
    "unseen_type",
    &[
        Field::new("type", TypeName)
            .required()
            .aliases(&["event_type", "name", "types"])
            .about("The type, as event_type has it."),
        UNSEEN.required(),
    ],
    &[],
)
.about("An event type of which more is said than its name.");

pub(super) const ON_DUPLICATE: Field = Field::new("on_duplicate", Word(&["last", "reject"]))
    .aliases(&["duplicates", "on_duplicates"])
    .about("Of nodes or edges with the same id in one event the last one counts, or the event is rejected.")
    .default(r#""last""#);
pub(super) const EMPTY: Field = Field::new("empty", Word(&["value", "absent"]))
    .aliases(&["empty_strings", "empty_string", "blank"])
    .about(
        "Whether empty strings of the event are values, or count as absent wherever one is read.",
    )
    .default(r#""value""#);
pub(super) const TIME_ZONE: Field = Field::new("time_zone", Text)
    .aliases(&["timezone", "tz", "zone", "default_time_zone"])
    .about("Where timestamp and date read times without an offset: a name like Europe/Berlin, an offset like +02:00, or UTC. Without it they fail.");
const ENTITY_NAME: Field = Field::new("entity_name", Name).required().aliases(&[
    "target_entity_name",
    "entity",
    "entity_type",
    "label",
]);
const KEY_FIELDS: Field = Field::new("key_fields", Objects(ObjectKind::Key))
    .required()
    .entries(1, MAX_ENTRIES)
    .aliases(&["key_field", "key", "keys", "primary_key", "identifier"])
    .about("The properties of the key, in the order of the graph.")
    .defined_as("key_fields");
const PROPERTY_FIELDS: Field = Field::new("property_fields", Objects(ObjectKind::Property))
    .entries(0, MAX_PROPERTIES)
    .aliases(&["properties", "fields", "mappings", "attributes"])
    .about("The other properties, with distinct names.")
    .default("[]");
const EACH: Field = Field::new("for_each", Object(ObjectKind::ForEach)).aliases(&[
    "foreach",
    "each",
    "iterate",
    "iterate_over",
    "repeat",
    "loop",
    "unnest",
]);
const WHEN: Field = Field::new("when", Object(ObjectKind::Condition)).aliases(&[
    "condition",
    "conditions",
    "if",
    "only_if",
    "filter",
    "where",
    "guard",
]);
const PROPERTY_NAME: Field =
    Field::new("property_name", Name).required().aliases(&["name", "property"]);
const SOURCE_PATH: Field =
    Field::new("source_path", Path).aliases(&["path", "source", "field", "json_path"]);
const FROM: Field = Field::new("from", Word(STARTS))
    .aliases(&["relative_to", "root"])
    .about("Inside a for_each: what the path starts from instead of the element. parent is the element around it, parent2 the one around that.")
    .defined_as("from");
pub(super) const CONSTANT: Field =
    Field::new("constant", Constant).aliases(&["literal", "fixed", "value"]);
const TEMPLATE: Field = Field::new("template", Template).aliases(&["format", "pattern"]);
const COALESCE: Field = Field::new("coalesce", Objects(ObjectKind::Choice))
    .entries(2, MAX_ENTRIES)
    .aliases(&["first_of", "any_of", "alternatives", "one_of"])
    .about("Values, of which the first that is there counts.")
    .defined_as("coalesce");
const EXPRESSION: Field = Field::new("expression", Query)
    .aliases(&["jmespath", "query", "expr", "jmes_path"])
    .about("JMESPath over the event, or inside a for_each over the element; $ is the event, $parent the element outside.")
    .defined_as("expression");
const CONVERT: Field = Field::new("convert", Chain)
    .entries(1, MAX_ENTRIES)
    .aliases(&["conversion", "conversions", "converters", "transform", "transforms", "cast", "as"])
    .about("Conversions, the first one first. A value that one of them doesn't take fails.")
    .defined_as("convert");
pub(super) const ON_ERROR: Field = Field::new("on_error", Word(&["omit", "reject"]))
    .aliases(&["on_failure", "if_error"])
    .about("Whether the property is left out or the event rejected where a conversion fails.")
    .default(r#""omit""#)
    .defined_as("on_error");
/// Written once for all that an object reads: what is inside of it is unseen with it.
pub(super) const UNSEEN: Field = Field::new("unseen", True)
    .aliases(&["not_in_samples", "unsampled", "not_seen"])
    .about("No sample shows what is read here, and the author of the plan knows of it.")
    .defined_as("unseen");
pub(super) const EXISTS: Field = Field::new("exists", True)
    .aliases(&["present", "is_present", "not_null", "has"])
    .about("There is a value that isn't null. For the opposite, write this condition under not.");
pub(super) const TRUTHY: Field = Field::new("truthy", True)
    .aliases(&["is_truthy", "is_true", "nonempty"])
    .about("There is a value other than null, false, zero, and an empty string, array or object. For the opposite, write this condition under not.");
pub(super) const EQUALS: Field =
    Field::new("equals", Constant).aliases(&["equal", "eq", "is", "value", "equal_to"]);
pub(super) const ONE_OF: Field = Field::new("one_of", Constants)
    .entries(1, MAX_ENTRIES)
    .aliases(&["in", "any_of", "equals_any", "values"]);
pub(super) const STARTS_WITH: Field =
    Field::new("starts_with", Text).aliases(&["prefix", "begins_with", "has_prefix"]);
pub(super) const IS_TYPE: Field =
    Field::new("is_type", Word(&["string", "number", "boolean", "object", "array", "null"]))
        .aliases(&["type", "type_is", "of_type"]);
pub(super) const ALL: Field = Field::new("all", Objects(ObjectKind::Condition))
    .entries(1, MAX_ENTRIES)
    .aliases(&["and", "all_of"])
    .defined_as("conditions");
pub(super) const ANY: Field = Field::new("any", Objects(ObjectKind::Condition))
    .entries(1, MAX_ENTRIES)
    .aliases(&["or", "some"])
    .defined_as("conditions");
pub(super) const NOT: Field =
    Field::new("not", Object(ObjectKind::Condition)).aliases(&["none", "negate", "unless"]);

#[cfg(test)]
mod tests {
    use super::super::section;
    use super::{FieldRule, ObjectKind, ObjectTable};

    const KINDS: &[ObjectKind] = &[
        ObjectKind::Plan,
        ObjectKind::Node,
        ObjectKind::Edge,
        ObjectKind::External,
        ObjectKind::Property,
        ObjectKind::Condition,
        ObjectKind::ForEach,
        ObjectKind::Span,
        ObjectKind::EventType,
    ];

    fn names(rule: &FieldRule) -> Vec<&'static str> {
        match rule {
            FieldRule::OneOf(alternatives) => {
                alternatives.iter().flat_map(|it| it.with.into_iter().chain([it.name])).collect()
            }
            FieldRule::Beside(name, others) => [&[*name], *others].concat(),
            FieldRule::Excludes(name, other) => vec![name, other],
            FieldRule::Forms { long, or, short, required } => {
                [&[*long, *or], *short, *required].concat()
            }
            FieldRule::NotEmptyOutside { field, paths } => [&[*field], *paths].concat(),
        }
    }

    #[test]
    fn rules_are_about_fields_of_their_kind_and_defaults_are_json() {
        let plans = KINDS.iter().map(|kind| kind.table());
        for table in plans.chain([&section::INPUT, &section::ROWS]) {
            let ObjectTable { definition, fields, rules, .. } = table;
            for name in rules.iter().flat_map(names) {
                assert!(table.field(name).is_some(), "{definition}: {name}");
            }
            for field in fields.iter().filter_map(|field| field.default) {
                assert!(serde_json::from_str::<serde_json::Value>(field).is_ok(), "{field}");
            }
        }
    }
}
