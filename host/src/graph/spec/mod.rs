//! The graph spec: which entities and relationships a result may hold, with their keys and
//! the types of their properties.
//!
//! A spec is read from YAML or JSON, in any of the forms that docs/graph.md has: all of them become the same model.

mod binding;
mod document;
mod endpoint;
mod error;
mod extent;
mod model;
mod properties;
mod read;
mod resolve;
mod types;

pub use error::{GraphSpecError, SpecProblem};
pub use model::{EndpointColumn, Entity, GraphSpec, Relationship};
pub use properties::{Properties, PropertySpec};
pub use types::PropertyType;

impl GraphSpec {
    /// Reads a spec in the ontology, combined or resolved form: docs/graph.md has them all. In short, the ontology form has entities
    /// with `keys: {primary: [..]}` and properties with `name` and `type`, and relationships with `from` and `to`; the combined
    /// form the same under `graph:` with a `binding` of columns; the resolved form `key_columns` and properties with `column`,
    /// `logical_name` and `sdk_type`, which is what a spec serialises to.
    ///
    /// `origin` names the text in errors; a name that ends in `.json`, `.yaml` or `.yml` also
    /// decides the syntax. Otherwise text that begins with `{` is JSON and anything else YAML.
    ///
    /// # Errors
    /// Text that is not YAML or JSON of one of the forms, text over the size limits, and
    /// specs that contradict themselves: see [`SpecProblem`].
    ///
    /// # Example
    /// ```
    /// let spec = retort::graph::GraphSpec::parse(
    ///     "ontology: shop
    /// entities:
    /// - name: Order
    ///   keys: {primary: [order_id]}
    ///   properties:
    ///   - {name: order_id, type: string}
    ///   - {name: total, type: double}
    /// ",
    ///     "shop.yaml",
    /// )?;
    /// assert_eq!(spec.entity("Order").map(|order| order.properties.len()), Some(2));
    /// # Ok::<(), retort::graph::GraphSpecError>(())
    /// ```
    pub fn parse(text: &str, origin: &str) -> Result<Self, GraphSpecError> {
        read::spec(text, origin)
            .and_then(|declared| resolve::resolve(&declared))
            .map_err(|problem| GraphSpecError::new(origin, problem))
    }

    /// Reads an ontology and the binding that says which of it is stored, and under which
    /// columns. Only bound entities, properties and relationships are in the result, in the
    /// ontology's order.
    ///
    /// Errors name the texts `ontology` and `binding`; [`GraphSpec::from_ontology_files`]
    /// takes other names.
    ///
    /// # Errors
    /// As [`GraphSpec::parse`], and a binding that is for another ontology, names what the
    /// ontology lacks, or leaves a key or an endpoint unbound.
    pub fn from_ontology(ontology: &str, binding: &str) -> Result<Self, GraphSpecError> {
        Self::from_ontology_files((ontology, "ontology"), (binding, "binding"))
    }

    /// [`GraphSpec::from_ontology`] for texts with names: each argument is the text and its
    /// origin, with the meaning that the origin has in [`GraphSpec::parse`].
    ///
    /// # Errors
    /// As [`GraphSpec::from_ontology`].
    pub fn from_ontology_files(
        ontology: (&str, &str),
        binding: (&str, &str),
    ) -> Result<Self, GraphSpecError> {
        let unbound = Self::parse(ontology.0, ontology.1)?;
        read::binding(binding.0, binding.1)
            .and_then(|document| binding::bind(&unbound, &document))
            .map_err(|problem| GraphSpecError::new(binding.1, problem))
    }
}
