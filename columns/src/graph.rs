//! What tables are made for: entities and relationships with their properties, as plain data.

/// The entities and relationships that results hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Kinds of nodes.
    pub entities: Vec<Entity>,
    /// Kinds of edges.
    pub relationships: Vec<Relationship>,
}

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// What nodes give as their `entity_name`.
    pub name: String,
    /// The [columns](Property::column) of its key, in the order in which an id names them.
    pub keys: Vec<String>,
    /// What nodes may have.
    pub properties: Vec<Property>,
}

/// A kind of edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relationship {
    /// What edges give as their `relationship_name`.
    pub name: String,
    /// The entity that edges leave.
    pub from_entity: String,
    /// What edges may have.
    pub properties: Vec<Property>,
}

/// A property of nodes or edges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// A name that results may give it, which comes before the column of another one.
    pub name: String,
    /// The name under which it is stored, which results may give it as well.
    pub column: String,
    /// What its values are.
    pub value_type: ValueType,
}

/// What the values of a property are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// Strings.
    Text,
    /// Strings of base64, with padding.
    Bytes,
    /// Integers of 64 bits, without fraction or exponent.
    Integer,
    /// Numbers.
    Double,
    /// `true` and `false`.
    Boolean,
    /// Strings `YYYY-MM-DD`.
    Date,
    /// Strings `YYYY-MM-DDTHH:MM:SS`, with up to six digits of a fraction, and with `Z` or an offset, or in UTC.
    Timestamp,
    /// Any JSON, which stays text.
    Json,
}
