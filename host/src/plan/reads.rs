//! Which paths a plan reads, and where in the plan they are written.

use super::language::ObjectKind;
use super::model::{EdgeRule, Endpoint, FieldMapping, Form, Partial, Plan, innermost};
use super::place::PlanPlace;
use crate::plan::expr::{
    Condition, Conversion, Expression, ForEach, JsonType, Level, Query, Reference, Source,
    Template, Test,
};

/// A path that a plan reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<'p> {
    /// JSON Pointer (RFC 6901) to what says so in the plan: a `source_path`, a `template`, an `expression`, the `array` of a
    /// `for_each` or an entry of its `first_of`. Where a default says it, the field that would.
    pub pointer: String,
    /// The path.
    pub reference: Reference,
    /// What its level counts in: level 1 is the element of the outermost iteration, level 2 that of the one within it. `None`
    /// where there is only the event.
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

impl Read<'_> {
    /// Whether what is there is gone over by itself, so that only what is read of its elements is read: an expression makes a list
    /// of it that may hold all of it.
    #[must_use]
    pub fn is_gone_over(&self) -> bool {
        self.role == Role::ForEach && !self.takes_nested
    }

    /// The path that holds where a plan doesn't say where the session id or a span id is.
    #[must_use]
    pub fn default_path(&self) -> Option<Vec<String>> {
        let kind = match self.role {
            Role::Session => ObjectKind::Plan,
            Role::Span => ObjectKind::Span,
            _ => return None,
        };
        kind.field(self.pointer.rsplit('/').next()?)?.default_path()
    }
}

/// The paths at which session id and span ids are where a plan doesn't say it.
pub(crate) fn default_ids() -> Vec<Vec<String>> {
    let fields = [(ObjectKind::Plan, "session_id_path"), (ObjectKind::Span, "span_id_path")];
    fields.iter().filter_map(|(kind, field)| kind.field(field)?.default_path()).collect()
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

    /// Every expression of the plan, with a JSON Pointer to it, in the same order.
    #[must_use]
    pub fn expressions(&self) -> Vec<(String, &Query)> {
        self.written().queries
    }

    /// The value of every property, with a JSON Pointer to its mapping, in the same order.
    pub(crate) fn values(&self) -> Vec<(String, &Expression)> {
        self.written().values
    }

    /// Every condition of the plan that isn't part of another one, with a JSON Pointer to it, in the same order.
    pub(crate) fn conditions(&self) -> Vec<(String, &Condition)> {
        self.written().conditions
    }

    fn written(&self) -> Reads<'_> {
        let mut reads = Reads::default();
        let whole = PlanPlace::default();
        let event = |role| Purpose { role, for_each: None };
        reads.when(&whole.field("when"), self.when.as_ref(), event(Role::Gate));
        for (index, node) in self.nodes.iter().enumerate() {
            let at = self.node_place(index);
            let purpose = |role| Purpose { role, for_each: node.for_each() };
            reads.for_each(&at, node.for_each());
            reads.when(&at.field("when"), node.when(), purpose(Role::When));
            for (key, mapping) in node.key_fields.iter().enumerate() {
                reads.mapping(&self.key_place(index, key), mapping, purpose(Role::Key));
            }
            reads.properties(&at, &node.property_fields, purpose(Role::Property));
        }
        for (index, edge) in self.edges.iter().enumerate() {
            reads.edge(&self.edge_place(index), edge);
        }
        let session = Reference::event(&self.session_id_path);
        reads.path(&whole.field("session_id_path"), &session, event(Role::Session), Vec::new());
        for (index, rule) in self.span_rules().iter().enumerate() {
            let at = self.span_place(index);
            let purpose = |role| Purpose { role, for_each: rule.for_each() };
            let span = purpose(Role::Span);
            reads.path(&at.field("span_id_path"), rule.span_id(), span, Vec::new());
            reads.for_each(&at, rule.for_each());
            reads.when(&at.field("when"), rule.when(), purpose(Role::When));
            match rule.partial() {
                None => {}
                Some(Partial::Truthy(reference)) => {
                    reads.path(&at.field("partial_when_path"), reference, span, Vec::new());
                }
                Some(Partial::When(condition)) => {
                    reads.when(&at.field("partial_when"), Some(condition), span);
                }
            }
        }
        reads
    }

    /// In the short form the plan is the node.
    fn node_place(&self, node: usize) -> PlanPlace {
        match self.form {
            Form::Short => PlanPlace::default(),
            Form::Long => PlanPlace::default().field("nodes").item(node),
        }
    }

    fn key_place(&self, node: usize, key: usize) -> PlanPlace {
        match self.form {
            Form::Short => PlanPlace::default().field("key_field"),
            Form::Long => self.node_place(node).field("key_fields").item(key),
        }
    }

    fn edge_place(&self, edge: usize) -> PlanPlace {
        PlanPlace::default().field("edges").item(edge)
    }

    fn span_place(&self, rule: usize) -> PlanPlace {
        let rules = PlanPlace::default().field("span_handling");
        if self.span_rules_are_listed() { rules.item(rule) } else { rules }
    }

    /// JSON Pointer to one of its event types: to the object that says more of it than its name, where there is one.
    #[must_use]
    pub fn event_type_pointer(&self, index: usize) -> String {
        let types = PlanPlace::default().field("event_type");
        if self.event_types().is_listed() { types.item(index) } else { types }.into_pointer()
    }

    /// JSON Pointer to a node of the plan; empty in the short form, where the plan is the node.
    #[must_use]
    pub fn node_pointer(&self, node: usize) -> String {
        self.node_place(node).into_pointer()
    }

    /// JSON Pointer to a property of a node's key.
    #[must_use]
    pub fn key_pointer(&self, node: usize, key: usize) -> String {
        self.key_place(node, key).into_pointer()
    }

    /// JSON Pointer to another property of a node.
    #[must_use]
    pub fn property_pointer(&self, node: usize, property: usize) -> String {
        self.node_place(node).field("property_fields").item(property).into_pointer()
    }

    /// JSON Pointer to an edge of the plan.
    #[must_use]
    pub fn edge_pointer(&self, edge: usize) -> String {
        self.edge_place(edge).into_pointer()
    }

    /// JSON Pointer to a span rule of the plan.
    #[must_use]
    pub fn span_pointer(&self, rule: usize) -> String {
        self.span_place(rule).into_pointer()
    }
}

/// What the paths of some part of a plan are read for, and what is gone over around them.
#[derive(Clone, Copy)]
struct Purpose<'p> {
    role: Role,
    for_each: Option<&'p ForEach>,
}

#[derive(Default)]
struct Reads<'p> {
    all: Vec<Read<'p>>,
    templates: Vec<(String, &'p Template)>,
    queries: Vec<(String, &'p Query)>,
    values: Vec<(String, &'p Expression)>,
    conditions: Vec<(String, &'p Condition)>,
}

impl<'p> Reads<'p> {
    /// A path with the conversions of what is there.
    fn path(
        &mut self,
        at: &PlanPlace,
        reference: &Reference,
        Purpose { role, for_each }: Purpose<'p>,
        convert: Vec<&'p Conversion>,
    ) {
        let takes_nested = convert.first().is_some_and(|first| first.takes_nested());
        let (pointer, reference) = (at.pointer().to_owned(), reference.clone());
        self.all.push(Read { pointer, reference, for_each, role, takes_nested, convert });
    }

    fn for_each(&mut self, at: &PlanPlace, for_each: Option<&'p ForEach>) {
        let mut at = at.clone();
        for level in (0..innermost(for_each).0).map(Level) {
            at = at.field("for_each");
            let Some(own) = for_each.and_then(|it| it.at(level.inside())) else { break };
            let iteration = own.innermost();
            let over = at.field(iteration.field());
            let purpose = Purpose { role: Role::ForEach, for_each: own.outer() };
            let paths = iteration.paths();
            for (index, path) in paths.iter().enumerate() {
                let reference = Reference { path: path.clone(), level };
                let is_one = paths.len() == 1;
                let at = if is_one { over.clone() } else { over.item(index) };
                self.path(&at, &reference, purpose, Vec::new());
            }
            if let Some(query) = iteration.query() {
                let first = self.all.len();
                self.query(&at, query, purpose, &[]);
                // Whatever is in it may be read of the elements.
                self.all.iter_mut().skip(first).for_each(|read| read.takes_nested = true);
            }
            let condition = iteration.condition.as_ref();
            let purpose = Purpose { role: Role::When, for_each: Some(own) };
            self.when(&at.field("where"), condition, purpose);
        }
    }

    fn edge(&mut self, at: &PlanPlace, edge: &'p EdgeRule) {
        let purpose = |role| Purpose { role, for_each: edge.for_each() };
        for (end, endpoint) in [("from", edge.from()), ("to", edge.to())] {
            if let Endpoint::External { key_fields, .. } = endpoint {
                let keys = at.field(end).field("key_fields");
                self.mappings(&keys, key_fields, purpose(Role::Key));
            }
        }
        // One that it has from its nodes is read there.
        self.for_each(at, edge.own_for_each.as_ref());
        self.when(&at.field("when"), edge.when(), purpose(Role::When));
        if let Some(template) = edge.edge_id() {
            self.template(&at.field("edge_id"), template, purpose(Role::EdgeId), &[]);
        }
        self.properties(at, edge.property_fields(), purpose(Role::Property));
    }

    fn properties(&mut self, at: &PlanPlace, properties: &'p [FieldMapping], purpose: Purpose<'p>) {
        self.mappings(&at.field("property_fields"), properties, purpose);
    }

    fn mappings(&mut self, at: &PlanPlace, mappings: &'p [FieldMapping], purpose: Purpose<'p>) {
        for (index, mapping) in mappings.iter().enumerate() {
            self.mapping(&at.item(index), mapping, purpose);
        }
    }

    fn mapping(&mut self, at: &PlanPlace, mapping: &'p FieldMapping, purpose: Purpose<'p>) {
        self.values.push((at.pointer().to_owned(), mapping.value()));
        self.value(at, mapping.value(), purpose, &[]);
    }

    fn when(&mut self, at: &PlanPlace, condition: Option<&'p Condition>, purpose: Purpose<'p>) {
        self.conditions.extend(condition.map(|condition| (at.pointer().to_owned(), condition)));
        self.condition(at, condition, purpose);
    }

    fn template(
        &mut self,
        at: &PlanPlace,
        template: &'p Template,
        purpose: Purpose<'p>,
        convert: &[&'p Conversion],
    ) {
        for reference in template.references() {
            self.path(at, reference, purpose, convert.to_vec());
            if let Some(read) = self.all.last_mut() {
                read.takes_nested = false;
            }
        }
        self.templates.push((at.pointer().to_owned(), template));
    }

    /// What an expression reads. It takes apart what it reads but for what it only compares, or hands on.
    fn query(
        &mut self,
        at: &PlanPlace,
        query: &'p Query,
        purpose: Purpose<'p>,
        convert: &[&'p Conversion],
    ) {
        let at = at.field("expression");
        for (reference, takes_nested) in query.inputs() {
            self.path(&at, reference, purpose, convert.to_vec());
            if let Some(read) = self.all.last_mut() {
                read.takes_nested |= takes_nested;
            }
        }
        self.queries.push((at.pointer().to_owned(), query));
    }

    /// A value, and the conversions of what it comes to. No deeper than the parser lets values nest.
    fn value(
        &mut self,
        at: &PlanPlace,
        value: &'p Expression,
        purpose: Purpose<'p>,
        then: &[&'p Conversion],
    ) {
        let steps: Vec<&'p Conversion> = value.convert.iter().chain(then.iter().copied()).collect();
        match &value.source {
            Source::Path(reference) => {
                self.path(&at.field("source_path"), reference, purpose, steps);
            }
            Source::Constant(_) => {}
            Source::Template(template) => {
                self.template(&at.field("template"), template, purpose, &steps);
            }
            Source::Coalesce(values) => {
                let at = at.field("coalesce");
                for (index, value) in values.iter().enumerate() {
                    self.value(&at.item(index), value, purpose, &steps);
                }
            }
            Source::Query(query) => self.query(at, query, purpose, &steps),
        }
    }

    /// No deeper than [`Condition::MAX_DEPTH`].
    fn condition(
        &mut self,
        at: &PlanPlace,
        condition: Option<&'p Condition>,
        purpose: Purpose<'p>,
    ) {
        let (name, all) = match condition {
            None => return,
            Some(Condition::Test(reference, test)) => {
                self.path(&at.field("source_path"), reference, purpose, Vec::new());
                if let (Test::IsType(JsonType::Object | JsonType::Array), Some(read)) =
                    (test, self.all.last_mut())
                {
                    read.takes_nested = true;
                }
                return;
            }
            Some(Condition::Not(inner)) => {
                return self.condition(&at.field("not"), Some(inner), purpose);
            }
            Some(Condition::Query(query)) => return self.query(at, query, purpose, &[]),
            Some(Condition::All(all)) => ("all", all),
            Some(Condition::Any(any)) => ("any", any),
        };
        let at = at.field(name);
        for (index, condition) in all.iter().enumerate() {
            self.condition(&at.item(index), Some(condition), purpose);
        }
    }
}
