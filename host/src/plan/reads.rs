//! Which paths a plan reads, and where in the plan they are written.

use super::model::{EdgeRule, Endpoint, FieldMapping, Form, Partial, Plan};
use crate::plan::expr::{
    Condition, Conversion, Expression, ForEach, JsonType, Level, Over, Reference, Source, Template,
    Test,
};

/// A path that a plan reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<'p> {
    /// JSON Pointer (RFC 6901) to what says so in the plan: a `source_path`, a `template`, the `array` of a `for_each`. Where
    /// a default says it, the field that would.
    pub pointer: String,
    /// The path.
    pub reference: Reference,
    /// What its level counts in: level 1 is the element of the outer iteration, level 2 that of the inner one. `None` where
    /// there is only the event.
    pub for_each: Option<&'p ForEach>,
    /// What it is read for.
    pub role: Role,
    /// Whether what is done with it first takes an object or an array, other than to write it as it is or to ask whether it is
    /// there: its JSON as text, its length, whether it is one.
    pub takes_nested: bool,
    /// The conversions of what is there, the first one first, with those of the values that it is an alternative in. Of a
    /// template, those of its text.
    pub convert: Vec<&'p Conversion>,
}

/// What a path is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The plan's own condition.
    Gate,
    /// A condition of a node, an edge or a span rule.
    When,
    /// A property of a key: a node's, or that of an external node.
    Key,
    /// Any other property.
    Property,
    /// The session id.
    Session,
    /// A span id, or what makes a span partially handled.
    Span,
    /// The template of an edge's id.
    EdgeId,
    /// What is gone over.
    ForEach,
}

impl Plan {
    /// Every path that the plan reads, in the order in which they are written in the normalised form. The type of the event
    /// is not among them.
    ///
    /// # Example
    ///
    /// ```
    /// # let plan = retort::plan::parse(r#"{
    /// #     "event_type": "order_placed", "target_entity_name": "Order", "function_name": "read_order",
    /// #     "key_field": {"property_name": "order_id", "source_path": ["id"]}
    /// # }"#)?;
    /// let pointers: Vec<String> = plan.reads().into_iter().map(|read| read.pointer).collect();
    /// assert_eq!(pointers, ["/key_field/source_path", "/session_id_path"]);
    /// # Ok::<(), retort::plan::PlanParseError>(())
    /// ```
    #[must_use]
    pub fn reads(&self) -> Vec<Read<'_>> {
        self.written().all
    }

    /// Every template of the plan, with a JSON Pointer to it, in the same order.
    #[must_use]
    pub fn templates(&self) -> Vec<(String, &Template)> {
        self.written().templates
    }

    fn written(&self) -> Reads<'_> {
        let mut reads = Reads::default();
        reads.when("", self.when.as_ref(), Role::Gate, None);
        for (index, node) in self.nodes.iter().enumerate() {
            let at = self.node_pointer(index);
            let over = node.for_each();
            reads.for_each(&at, over);
            reads.when(&at, node.when(), Role::When, over);
            for (key, mapping) in node.key_fields.iter().enumerate() {
                reads.mapping(&self.key_pointer(index, key), mapping, Role::Key, over);
            }
            for (property, mapping) in node.property_fields.iter().enumerate() {
                let at = self.property_pointer(index, property);
                reads.mapping(&at, mapping, Role::Property, over);
            }
        }
        for (index, edge) in self.edges.iter().enumerate() {
            reads.edge(&self.edge_pointer(index), edge);
        }
        let session = Reference::event(&self.session_id_path);
        reads.push("/session_id_path".to_owned(), &session, Role::Session, None);
        for (index, rule) in self.span_rules().iter().enumerate() {
            let at = self.span_pointer(index);
            let over = rule.for_each();
            reads.push(format!("{at}/span_id_path"), rule.span_id(), Role::Span, over);
            reads.for_each(&at, over);
            reads.when(&at, rule.when(), Role::When, over);
            match rule.partial() {
                None => {}
                Some(Partial::Truthy(reference)) => {
                    reads.push(format!("{at}/partial_when_path"), reference, Role::Span, over);
                }
                Some(Partial::When(condition)) => {
                    reads.condition(&format!("{at}/partial_when"), condition, Role::Span, over);
                }
            }
        }
        reads
    }

    /// JSON Pointer to a node of the plan; empty in the short form, where the plan is the node.
    #[must_use]
    pub fn node_pointer(&self, node: usize) -> String {
        match self.form {
            Form::Short => String::new(),
            Form::Long => format!("/nodes/{node}"),
        }
    }

    /// JSON Pointer to a property of a node's key.
    #[must_use]
    pub fn key_pointer(&self, node: usize, key: usize) -> String {
        match self.form {
            Form::Short => "/key_field".to_owned(),
            Form::Long => format!("/nodes/{node}/key_fields/{key}"),
        }
    }

    /// JSON Pointer to another property of a node.
    #[must_use]
    pub fn property_pointer(&self, node: usize, property: usize) -> String {
        format!("{}/property_fields/{property}", self.node_pointer(node))
    }

    /// JSON Pointer to an edge of the plan.
    #[must_use]
    pub fn edge_pointer(&self, edge: usize) -> String {
        format!("/edges/{edge}")
    }

    /// JSON Pointer to a span rule of the plan.
    #[must_use]
    pub fn span_pointer(&self, rule: usize) -> String {
        if self.span_rules_are_listed() {
            format!("/span_handling/{rule}")
        } else {
            "/span_handling".to_owned()
        }
    }
}

#[derive(Default)]
struct Reads<'p> {
    all: Vec<Read<'p>>,
    templates: Vec<(String, &'p Template)>,
}

impl<'p> Reads<'p> {
    fn push(
        &mut self,
        pointer: String,
        reference: &Reference,
        role: Role,
        over: Option<&'p ForEach>,
    ) {
        self.converted(pointer, reference, role, over, Vec::new());
    }

    /// A path with the conversions of what is there.
    fn converted(
        &mut self,
        pointer: String,
        reference: &Reference,
        role: Role,
        over: Option<&'p ForEach>,
        convert: Vec<&'p Conversion>,
    ) {
        let takes_nested = convert.first().is_some_and(|first| first.takes_nested());
        let reference = reference.clone();
        self.all.push(Read { pointer, reference, for_each: over, role, takes_nested, convert });
    }

    fn for_each(&mut self, at: &str, over: Option<&'p ForEach>) {
        let mut at = at.to_owned();
        for (level, iteration) in (0..).zip(over.into_iter().flat_map(ForEach::levels)) {
            at.push_str("/for_each");
            let name = match iteration.over {
                Over::Array => "array",
                Over::Entries => "entries",
            };
            let reference = Reference { path: iteration.path.clone(), level: Level(level) };
            let over = over.filter(|_| level > 0);
            self.push(format!("{at}/{name}"), &reference, Role::ForEach, over);
        }
    }

    fn edge(&mut self, at: &str, edge: &'p EdgeRule) {
        let over = edge.for_each();
        for (end, endpoint) in [("from", edge.from()), ("to", edge.to())] {
            if let Endpoint::External { key_fields, .. } = endpoint {
                for (key, mapping) in key_fields.iter().enumerate() {
                    self.mapping(&format!("{at}/{end}/key_fields/{key}"), mapping, Role::Key, over);
                }
            }
        }
        // One that it has from its nodes is read there.
        self.for_each(at, edge.own_for_each.as_ref());
        self.when(at, edge.when(), Role::When, over);
        if let Some(template) = edge.edge_id() {
            self.template(format!("{at}/edge_id"), template, Role::EdgeId, over, &[]);
        }
        for (property, mapping) in edge.property_fields().iter().enumerate() {
            self.mapping(
                &format!("{at}/property_fields/{property}"),
                mapping,
                Role::Property,
                over,
            );
        }
    }

    fn when(
        &mut self,
        at: &str,
        when: Option<&'p Condition>,
        role: Role,
        over: Option<&'p ForEach>,
    ) {
        if let Some(condition) = when {
            self.condition(&format!("{at}/when"), condition, role, over);
        }
    }

    fn mapping(
        &mut self,
        at: &str,
        mapping: &'p FieldMapping,
        role: Role,
        over: Option<&'p ForEach>,
    ) {
        self.value(at, mapping.value(), role, over, &[]);
    }

    fn template(
        &mut self,
        at: String,
        template: &'p Template,
        role: Role,
        over: Option<&'p ForEach>,
        convert: &[&'p Conversion],
    ) {
        for reference in template.references() {
            self.converted(at.clone(), reference, role, over, convert.to_vec());
            if let Some(read) = self.all.last_mut() {
                read.takes_nested = false;
            }
        }
        self.templates.push((at, template));
    }

    /// A value, and the conversions of what it comes to. No deeper than the parser lets values nest.
    fn value(
        &mut self,
        at: &str,
        value: &'p Expression,
        role: Role,
        over: Option<&'p ForEach>,
        then: &[&'p Conversion],
    ) {
        let steps: Vec<&'p Conversion> = value.convert.iter().chain(then.iter().copied()).collect();
        match &value.source {
            Source::Path(reference) => {
                self.converted(format!("{at}/source_path"), reference, role, over, steps);
            }
            Source::Constant(_) => {}
            Source::Template(template) => {
                self.template(format!("{at}/template"), template, role, over, &steps);
            }
            Source::Coalesce(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.value(&format!("{at}/coalesce/{index}"), value, role, over, &steps);
                }
            }
        }
    }

    /// No deeper than [`Condition::MAX_DEPTH`].
    fn condition(
        &mut self,
        at: &str,
        condition: &'p Condition,
        role: Role,
        over: Option<&'p ForEach>,
    ) {
        let (name, all) = match condition {
            Condition::Test(reference, test) => {
                self.push(format!("{at}/source_path"), reference, role, over);
                if let (Test::IsType(JsonType::Object | JsonType::Array), Some(read)) =
                    (test, self.all.last_mut())
                {
                    read.takes_nested = true;
                }
                return;
            }
            Condition::Not(inner) => {
                self.condition(&format!("{at}/not"), inner, role, over);
                return;
            }
            Condition::All(all) => ("all", all),
            Condition::Any(any) => ("any", any),
        };
        for (index, condition) in all.iter().enumerate() {
            self.condition(&format!("{at}/{name}/{index}"), condition, role, over);
        }
    }
}
