//! From a plan to what its extractor declares, and where each of its values comes from.
//!
//! Every value that isn't a bare constant is a declared input, and so is every condition. What a condition rules out has it
//! as its guard ([`Input::only_if`]): conditions of a rule are chained, each the guard of the next, and the last one is true
//! where all of them are.
//!
//! What reads only the event is declared without rows wherever it is used, so that it is evaluated once and not once for each
//! row. Values with conversions are not: where there is no row, nothing is converted and nothing fails.

use serde_json::Value as Json;

use super::inputs::{InputNumbers, InputSlot};
use crate::abi::event::EVENT_TYPE;
use crate::abi::section::{Input, InputKind};
use crate::plan::expr::{Condition, Expression, ForEach, Reference, Source, Test};
use crate::plan::{
    EdgeRule, Endpoint, EventPattern, FieldMapping, Form, NodeRule, Partial, Plan, SpanRule,
    innermost,
};

/// A plan whose values have places.
pub(super) struct Lowered<'p> {
    pub(super) inputs: InputNumbers,
    pub(super) filter: EventFilter<'p>,
    pub(super) session: InputSlot,
    pub(super) nodes: Vec<LoweredNode<'p>>,
    pub(super) edges: Vec<LoweredEdge<'p>>,
    pub(super) claims: Vec<Claim<'p>>,
}

/// Which events are for the extractor.
pub(super) enum EventFilter<'p> {
    /// Those of this type, which the guest compares with the slot.
    Type(&'p str, InputSlot),
    /// Those of which the host finds this to be true.
    Flag(InputSlot),
}

/// Where a value comes from.
pub(super) enum LoweredValue<'p> {
    /// The plan: a string, a number or a boolean.
    Constant(&'p Json),
    /// The input block.
    Slot(InputSlot),
}

/// What the id of a node is put together from, besides the session.
pub(super) struct NodeId<'p> {
    pub(super) entity: &'p str,
    /// Names and values of the key's properties.
    pub(super) keys: Vec<(&'p str, LoweredValue<'p>)>,
}

/// A property.
pub(super) struct LoweredProperty<'p> {
    pub(super) field: &'p FieldMapping,
    /// Where the plan has it, for a comment.
    pub(super) at: String,
    pub(super) value: LoweredValue<'p>,
}

/// A node, or one for each row.
pub(super) struct LoweredNode<'p> {
    pub(super) rule: &'p NodeRule,
    pub(super) rows: Option<usize>,
    /// What has to be true.
    pub(super) when: Option<InputSlot>,
    pub(super) id: NodeId<'p>,
    pub(super) properties: Vec<LoweredProperty<'p>>,
}

/// An edge, or one for each row.
pub(super) struct LoweredEdge<'p> {
    pub(super) rule: &'p EdgeRule,
    pub(super) rows: Option<usize>,
    /// What has to be true: its own condition, and those of the nodes that it names.
    pub(super) when: Option<InputSlot>,
    pub(super) from: NodeId<'p>,
    pub(super) to: NodeId<'p>,
    pub(super) edge_id: Option<InputSlot>,
    pub(super) properties: Vec<LoweredProperty<'p>>,
}

/// A claim on a span, or one for each row.
pub(super) struct Claim<'p> {
    pub(super) rule: &'p SpanRule,
    pub(super) rows: Option<usize>,
    /// What has to be true.
    pub(super) when: Option<InputSlot>,
    pub(super) id: InputSlot,
    /// Whether the id is truthy.
    pub(super) truthy: InputSlot,
    /// What makes the claim partial.
    pub(super) partial: Option<InputSlot>,
}

/// Declares all that a plan reads.
pub(super) fn lower(plan: &Plan) -> Lowered<'_> {
    let mut lowering = Lowering { inputs: InputNumbers::default(), gate: None };
    let filter = lowering.event_filter(plan);
    let scopes: Vec<LoweredScope> = plan
        .nodes()
        .iter()
        .map(|rule| lowering.scope(rule.for_each(), [rule.when(), None, None]))
        .collect();
    let ids: Vec<NodeId<'_>> = plan
        .nodes()
        .iter()
        .zip(&scopes)
        .map(|(rule, scope)| lowering.id(rule.entity_name(), rule.key_fields(), scope))
        .collect();
    let session = Reference::event(plan.session_id_path());
    let session =
        lowering.pure(InputKind::Value(Expression::path(session)), &LoweredScope::default());
    let claims = plan.span_rules().iter().map(|rule| lowering.claim(rule)).collect();
    let nodes = plan
        .nodes()
        .iter()
        .enumerate()
        .zip(ids)
        .zip(&scopes)
        .map(|(((index, rule), id), scope)| LoweredNode {
            rule,
            rows: scope.rows,
            when: lowering.flag(scope),
            id,
            properties: lowering.properties(
                rule.property_fields(),
                &match plan.form() {
                    Form::Short => String::new(),
                    Form::Long => format!("nodes[{index}]."),
                },
                scope,
            ),
        })
        .collect();
    let edges = plan
        .edges()
        .iter()
        .enumerate()
        .map(|(index, rule)| lowering.edge(plan, rule, &format!("edges[{index}].")))
        .collect();
    let mut lowered = Lowered { inputs: lowering.inputs, filter, session, nodes, edges, claims };
    lowered.count_rows();
    lowered
}

impl Lowered<'_> {
    /// Gives each iteration that something goes over a column: without one it has no table, and so no count of its rows.
    fn count_rows(&mut self) {
        let nodes = self.nodes.iter().map(|node| (node.rows, node.rule.for_each()));
        let edges = self.edges.iter().map(|edge| (edge.rows, edge.rule.for_each()));
        let claims = self.claims.iter().map(|claim| (claim.rows, claim.rule.for_each()));
        for (rows, for_each) in nodes.chain(edges).chain(claims) {
            if let Some(rows) = rows
                && self.inputs.table(rows).is_none()
            {
                let element = Reference { path: Vec::new(), level: innermost(for_each) };
                let what = InputKind::When(Condition::Test(element, Test::Exists));
                self.inputs.declare(Input { rows: Some(rows), ..Input::of(what) });
            }
        }
    }
}

/// Where a rule's values are read, and what guards them.
#[derive(Clone, Copy, Default)]
struct LoweredScope {
    rows: Option<usize>,
    /// The input that has to be true.
    guard: Option<usize>,
}

struct Lowering {
    inputs: InputNumbers,
    /// The input that says whether the event is for the extractor, where there is one.
    gate: Option<usize>,
}

impl Lowering {
    fn event_filter<'p>(&mut self, plan: &'p Plan) -> EventFilter<'p> {
        let event_type = Reference::event(&[EVENT_TYPE.to_owned()]);
        let patterns = plan.event_types().patterns();
        if let ([EventPattern::Exact(exact)], None) = (patterns, plan.when())
            && !plan_converts(plan)
            && !goes_over_something(plan)
        {
            let place =
                self.inputs.declare(Input::of(InputKind::Value(Expression::path(event_type))));
            return EventFilter::Type(exact, self.inputs.slot(place));
        }
        let (mut exact, mut tests) = (Vec::new(), Vec::new());
        for pattern in patterns {
            match pattern {
                EventPattern::Exact(exactly) => exact.push(Json::from(exactly.as_str())),
                EventPattern::Prefix(prefix) => tests.push(Test::StartsWith(prefix.clone())),
            }
        }
        match exact.len() {
            0 => {}
            1 => tests.insert(0, Test::Equals(exact.remove(0))),
            _ => tests.insert(0, Test::OneOf(exact)),
        }
        let tests = tests.into_iter().map(|test| Condition::Test(event_type.clone(), test));
        let mut tests: Vec<Condition> = tests.collect();
        let of_type = if tests.len() == 1 { tests.remove(0) } else { Condition::Any(tests) };
        let of_type = self.inputs.declare(Input::of(InputKind::When(of_type)));
        self.gate = Some(of_type);
        if let Some(when) = plan.when() {
            let input = Input::of(InputKind::When(when.clone()));
            self.gate = Some(self.inputs.declare(Input { only_if: Some(of_type), ..input }));
        }
        EventFilter::Flag(self.inputs.slot(self.gate.unwrap_or(of_type)))
    }

    /// The scope of a rule with these conditions.
    fn scope(
        &mut self,
        for_each: Option<&ForEach>,
        conditions: [Option<&Condition>; 3],
    ) -> LoweredScope {
        let rows = for_each.map(|for_each| self.inputs.iterate(for_each, self.gate));
        // A guard is of the same rows or of none, so that what reads only the event comes first.
        let (of_event, of_rows): (Vec<&Condition>, Vec<&Condition>) = conditions
            .into_iter()
            .flatten()
            .partition(|condition| reads_event(&condition.references()));
        let mut guard = None;
        let mut chained: Vec<&Condition> = Vec::new();
        for (condition, rows) in of_event
            .into_iter()
            .map(|condition| (condition, None))
            .chain(of_rows.into_iter().map(|condition| (condition, rows)))
        {
            // Two nodes of an edge often have the same condition.
            if chained.contains(&condition) {
                continue;
            }
            chained.push(condition);
            let what = InputKind::When(condition.clone());
            // Without the gate there are no rows.
            let only_if = guard.or(if rows.is_none() { self.gate } else { None });
            let input = Input { rows, only_if, ..Input::of(what) };
            guard = Some(self.inputs.declare(input));
        }
        LoweredScope { rows, guard }
    }

    fn flag(&self, scope: &LoweredScope) -> Option<InputSlot> {
        scope.guard.map(|guard| self.inputs.slot(guard))
    }

    /// Declares what no conversion is applied to. What reads only the event is declared for the event, in rows as well; what
    /// is simply looked up is shared by all that read it, whatever their conditions are.
    fn pure(&mut self, what: InputKind, scope: &LoweredScope) -> InputSlot {
        let mut input = Input::of(what);
        let is_looked_up = match &input.what {
            InputKind::Value(value) => matches!(value.source, Source::Path(_)),
            InputKind::Truthy(_) | InputKind::When(_) => true,
        };
        let of_event = reads_event(&input.references());
        if !of_event {
            input.rows = scope.rows;
        }
        if !is_looked_up && (scope.rows.is_none() || !of_event) {
            input.only_if = scope.guard;
        }
        if input.rows.is_none() {
            input.only_if = input.only_if.or(self.gate);
        }
        let place = self.inputs.declare(input);
        self.inputs.slot(place)
    }

    fn value<'p>(&mut self, field: &'p FieldMapping, scope: &LoweredScope) -> LoweredValue<'p> {
        let expression = field.value();
        if !converts(expression) {
            return match &expression.source {
                Source::Constant(constant) => LoweredValue::Constant(constant),
                _ => LoweredValue::Slot(self.pure(InputKind::Value(expression.clone()), scope)),
            };
        }
        let gate = if scope.rows.is_none() { self.gate } else { None };
        let place = self.inputs.declare(Input {
            what: InputKind::Value(expression.clone()),
            rows: scope.rows,
            only_if: scope.guard.or(gate),
            on_error: field.on_error(),
        });
        LoweredValue::Slot(self.inputs.slot(place))
    }

    fn id<'p>(
        &mut self,
        entity: &'p str,
        keys: &'p [FieldMapping],
        scope: &LoweredScope,
    ) -> NodeId<'p> {
        let keys = keys.iter().map(|key| (key.property_name(), self.value(key, scope)));
        NodeId { entity, keys: keys.collect() }
    }

    fn properties<'p>(
        &mut self,
        fields: &'p [FieldMapping],
        at: &str,
        scope: &LoweredScope,
    ) -> Vec<LoweredProperty<'p>> {
        let property = |(index, field): (usize, &'p FieldMapping)| LoweredProperty {
            field,
            at: format!("{at}property_fields[{index}]"),
            value: self.value(field, scope),
        };
        fields.iter().enumerate().map(property).collect()
    }

    fn edge<'p>(&mut self, plan: &'p Plan, rule: &'p EdgeRule, at: &str) -> LoweredEdge<'p> {
        let of_node = |end: &Endpoint| match end {
            Endpoint::Node(index) => plan.nodes()[*index].when(),
            Endpoint::External { .. } => None,
        };
        let conditions = [of_node(rule.from()), of_node(rule.to()), rule.when()];
        let scope = self.scope(rule.for_each(), conditions);
        let [from, to] = [rule.from(), rule.to()].map(|end| match end {
            Endpoint::External { entity_name, key_fields } => {
                self.id(entity_name, key_fields, &scope)
            }
            Endpoint::Node(index) => {
                let node = &plan.nodes()[*index];
                // A node of the event is the same for all elements; one of an outer element is read again for each inner one.
                let for_each = node.for_each().and(rule.for_each());
                let scope = self.scope(for_each, [node.when(), None, None]);
                self.id(node.entity_name(), node.key_fields(), &scope)
            }
        });
        LoweredEdge {
            rule,
            rows: scope.rows,
            when: self.flag(&scope),
            from,
            to,
            edge_id: rule.edge_id().map(|template| {
                let source = Source::Template(template.clone());
                self.pure(InputKind::Value(Expression { source, convert: Vec::new() }), &scope)
            }),
            properties: self.properties(rule.property_fields(), at, &scope),
        }
    }

    fn claim<'p>(&mut self, rule: &'p SpanRule) -> Claim<'p> {
        let scope = self.scope(rule.for_each(), [rule.when(), None, None]);
        let id = self.pure(InputKind::Value(Expression::path(rule.span_id().clone())), &scope);
        let truthy = self.pure(InputKind::Truthy(rule.span_id().clone()), &scope);
        let partial = rule.partial().map(|partial| match partial {
            Partial::Truthy(reference) => InputKind::Truthy(reference.clone()),
            Partial::When(condition) => InputKind::When(condition.clone()),
        });
        Claim {
            rule,
            rows: scope.rows,
            when: self.flag(&scope),
            id,
            truthy,
            partial: partial.map(|what| self.pure(what, &scope)),
        }
    }
}

/// Whether paths start at the event, all of them.
fn reads_event(references: &[&Reference]) -> bool {
    references.iter().all(|reference| reference.level.is_event())
}

/// Whether any conversion is applied: what has none can't fail.
fn converts(expression: &Expression) -> bool {
    // As deep as the plan's reader lets values nest.
    !expression.convert.is_empty()
        || match &expression.source {
            Source::Coalesce(values) => values.iter().any(converts),
            Source::Query(_) => true,
            Source::Path(_) | Source::Constant(_) | Source::Template(_) => false,
        }
}

fn goes_over_something(plan: &Plan) -> bool {
    plan.nodes().iter().any(|node| node.for_each().is_some())
        || plan.edges().iter().any(|edge| edge.for_each().is_some())
        || plan.span_rules().iter().any(|rule| rule.for_each().is_some())
}

fn plan_converts(plan: &Plan) -> bool {
    let of_nodes = plan.nodes().iter().flat_map(|node| [node.key_fields(), node.property_fields()]);
    let of_edges = plan.edges().iter().flat_map(|edge| {
        let keys = [edge.from(), edge.to()].map(|end| match end {
            Endpoint::External { key_fields, .. } => key_fields.as_slice(),
            Endpoint::Node(_) => &[],
        });
        [keys[0], keys[1], edge.property_fields()]
    });
    of_nodes.chain(of_edges).flatten().any(|field| converts(field.value()))
}
