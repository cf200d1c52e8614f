//! What is asked for: a rule, the events that it is about, and the graph that results go into.
//!
//! A [`Task`] is read once and held by every stage that needs to know what is wanted: the prompt shows it to a model, the
//! gates check a plan against it, and repairs take their evidence from it.

use super::{EventSchema, Evidence, Expected, PathStep, Rule, Samples, Visibility};
use crate::graph::GraphSpec;

/// A rule with its event schema, graph spec and sample events.
///
/// Rule and schema may be left out where a plan is there already: the gates need samples and a graph spec alone.
#[derive(Clone, Debug)]
pub struct Task {
    rule: Option<Rule>,
    event_schema: Option<EventSchema>,
    graph: GraphSpec,
    samples: Samples,
    expected: Option<Expected>,
    evidence: Evidence,
}

impl Task {
    /// A task without rule and event schema, as the gates need it.
    #[must_use]
    pub fn new(graph: GraphSpec, samples: Samples) -> Self {
        Self::builder(graph, samples).build()
    }

    /// A task with what else was said.
    pub fn builder(graph: GraphSpec, samples: Samples) -> TaskBuilder {
        TaskBuilder { graph, samples, rule: None, event_schema: None, expected: None }
    }

    /// The same task for whoever may not see everything: sample events that are shown as evidence leave out what
    /// [isn't visible](crate::gate::policy::FieldPolicy::visibility).
    #[must_use]
    pub fn hiding(mut self, visibility: impl Fn(&[PathStep]) -> Visibility) -> Self {
        self.evidence.hide(visibility);
        self
    }

    /// What is to be extracted, if it was said.
    #[must_use]
    pub fn rule(&self) -> Option<&Rule> {
        self.rule.as_ref()
    }

    /// What the events look like, if it was said.
    #[must_use]
    pub fn event_schema(&self) -> Option<&EventSchema> {
        self.event_schema.as_ref()
    }

    /// The graph spec that results have to fit.
    #[must_use]
    pub fn graph(&self) -> &GraphSpec {
        &self.graph
    }

    /// The sample events.
    #[must_use]
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// What samples are expected to give, if it was said.
    #[must_use]
    pub fn expected(&self) -> Option<&Expected> {
        self.expected.as_ref()
    }

    /// What samples and schema say about events.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

/// Builds a [`Task`].
///
/// ```
/// use retort::{GraphSpec, Rule, Samples, Task};
///
/// let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
/// let task = Task::builder(
///     GraphSpec::parse(graph, "graph.yaml")?,
///     Samples::parse(r#"{"event_type": "order", "id": "A-7"}"#, "samples.ndjson")?,
/// )
/// .rule(Rule::parse("Every order becomes one Order.", "rule.md")?)
/// .build();
/// assert!(task.rule().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TaskBuilder {
    graph: GraphSpec,
    samples: Samples,
    rule: Option<Rule>,
    event_schema: Option<EventSchema>,
    expected: Option<Expected>,
}

impl TaskBuilder {
    /// What is to be extracted; prompts and drafts need it.
    pub fn rule(mut self, rule: impl Into<Option<Rule>>) -> Self {
        self.rule = rule.into();
        self
    }

    /// What the events look like.
    pub fn event_schema(mut self, schema: impl Into<Option<EventSchema>>) -> Self {
        self.event_schema = schema.into();
        self
    }

    /// What these samples are expected to give: plans that give something else are rejected.
    pub fn expected(mut self, expected: impl Into<Option<Expected>>) -> Self {
        self.expected = expected.into();
        self
    }

    /// The task. What samples and schema say about events is computed here, once.
    #[must_use]
    pub fn build(self) -> Task {
        let Self { graph, samples, rule, event_schema, expected } = self;
        let evidence = Evidence::new(&samples, event_schema.as_ref());
        Task { rule, event_schema, graph, samples, expected, evidence }
    }
}
