//! What the tools of an agent that decides gave.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text};
use super::{json, text};

/// An entity whose key is the session with an id.
macro_rules! entities {
    ($($place:ident $name:literal $key:literal)*) => {
        $(static $place: Entity = Entity { name: $name, key: &[concat!(":", $key, "="), ":"] };)*
    };
}

entities! {
    SNAPSHOT "ContextSnapshot" "context_snapshot_id"
    POINT "DecisionPoint" "decision_point_id"
    CANDIDATE "Candidate" "candidate_id"
    CONSTRAINT "BusinessConstraint" "business_constraint_id"
    APPLICATION "ConstraintApplication" "constraint_application_id"
    REJECTION "RejectionReason" "rejection_reason_id"
    OUTCOME "SelectionOutcome" "selection_outcome_id"
    EXECUTION "DecisionExecution" "decision_execution_id"
    SIGNAL "OutcomeSignal" "outcome_signal_id"
    REWARD "RewardComputation" "reward_computation_id"
}

static AGENT: Entity = Entity { name: "AgentSession", key: &[":agent_session_id="] };

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    session_id: Key<'a>,
    #[serde(borrow)]
    span_id: Key<'a>,
    #[serde(borrow)]
    content: Object<Content<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    #[serde(borrow)]
    tool: Text<'a>,
    #[serde(borrow)]
    result: Object<Outcome<'a>>,
}

/// What the tools give, each some of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Outcome<'a> {
    #[serde(borrow)]
    context_id: Key<'a>,
    #[serde(borrow)]
    decision_point_id: Key<'a>,
    #[serde(borrow)]
    candidate_id: Key<'a>,
    #[serde(borrow)]
    constraint_id: Key<'a>,
    #[serde(borrow)]
    application_id: Key<'a>,
    #[serde(borrow)]
    rejection_id: Key<'a>,
    #[serde(borrow)]
    outcome_id: Key<'a>,
    #[serde(borrow)]
    selected_candidate_id: Key<'a>,
    #[serde(borrow)]
    execution_id: Key<'a>,
    #[serde(borrow)]
    signal_id: Key<'a>,
    #[serde(borrow)]
    reward_id: Key<'a>,
    #[serde(borrow)]
    outcome_signal_ids: List<Key<'a>>,
    #[serde(borrow)]
    snapshot_payload: Option<&'a RawValue>,
    #[serde(borrow)]
    reversibility: Option<&'a RawValue>,
    #[serde(borrow)]
    constraint_type: Option<&'a RawValue>,
    #[serde(borrow)]
    constraint_result: Option<&'a RawValue>,
    #[serde(borrow)]
    rejection_category: Option<&'a RawValue>,
    #[serde(borrow)]
    rejection_text: Option<&'a RawValue>,
    #[serde(borrow)]
    business_entity_id: Option<&'a RawValue>,
    #[serde(borrow)]
    latency_ms: Option<&'a RawValue>,
    #[serde(borrow)]
    reward_value: Option<&'a RawValue>,
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    if !event.event_type.is("TOOL_COMPLETED") {
        return None;
    }
    let content = event.content.get()?;
    let (tool, session) = (content.tool.get()?, event.session_id.text()?);
    let tools = Tools { session, result: content.result.get()? };
    // A tool without the id that it should have given gives nothing.
    let _ = tools.add(tool, &event.span_id, graph);
    let partially = matches!(tool, "commit_outcome" | "record_outcome_signal");
    graph.handled(event.span_id.span(), partially);
    Some(())
}

struct Tools<'a> {
    session: &'a str,
    result: &'a Outcome<'a>,
}

impl<'a> Tools<'a> {
    fn add(&self, tool: &str, span: &'a Key<'_>, graph: &mut Graph<'a>) -> Option<()> {
        let it = self.result;
        match tool {
            "capture_context" => {
                let (id, key) = self.own(&SNAPSHOT, &it.context_id)?;
                let payload = text(it.snapshot_payload.map(RawValue::get));
                graph.node(id, [("context_snapshot_id", key), ("snapshot_payload", payload)]);
            }
            "propose_decision_point" => {
                let (id, key) = self.own(&POINT, &it.decision_point_id)?;
                let of = ("reversibility", json(it.reversibility));
                graph.node(id, [("decision_point_id", key), of]);
            }
            "evaluate_candidate" => {
                let (id, key) = self.own(&CANDIDATE, &it.candidate_id)?;
                graph.node(id, [("candidate_id", key)]);
                let (from, _) = self.own(&POINT, &it.decision_point_id)?;
                let ids = [&it.decision_point_id, &it.candidate_id];
                self.edge("evaluatesCandidate", from, id, ids, graph);
            }
            "apply_constraint" => self.add_constraint(graph)?,
            "record_rejection" => {
                let (id, key) = self.own(&REJECTION, &it.rejection_id)?;
                let properties = [
                    ("rejection_reason_id", key),
                    ("rejection_category", json(it.rejection_category)),
                    ("rejection_text", json(it.rejection_text)),
                ];
                graph.node(id, properties);
                let (from, _) = self.own(&CANDIDATE, &it.candidate_id)?;
                let ids = [&it.candidate_id, &it.rejection_id];
                self.edge("hasRejectionReason", from, id, ids, graph);
            }
            "commit_outcome" => {
                let (id, key) = self.own(&OUTCOME, &it.outcome_id)?;
                graph.node(id, [("selection_outcome_id", key)]);
                let (to, _) = self.own(&CANDIDATE, &it.selected_candidate_id)?;
                let ids = [&it.outcome_id, &it.selected_candidate_id];
                self.edge("selectedCandidate", id, to, ids, graph);
            }
            "complete_execution" => self.add_execution(span, graph)?,
            "record_outcome_signal" => {
                let (id, key) = self.own(&SIGNAL, &it.signal_id)?;
                graph.node(id, [("outcome_signal_id", key)]);
                let (from, _) = self.own(&EXECUTION, &it.execution_id)?;
                self.edge("producedOutcome", from, id, [&it.execution_id, &it.signal_id], graph);
            }
            "compute_reward" => {
                let (id, key) = self.own(&REWARD, &it.reward_id)?;
                let value = ("reward_value", json(it.reward_value));
                graph.node(id, [("reward_computation_id", key), value]);
                for signal in &it.outcome_signal_ids.0 {
                    let Some((to, _)) = self.own(&SIGNAL, signal) else { continue };
                    self.edge("derivedReward", id, to, [&it.reward_id, signal], graph);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn add_constraint(&self, graph: &mut Graph<'a>) -> Option<()> {
        let it = self.result;
        let constraint = self.own(&CONSTRAINT, &it.constraint_id);
        let (id, key) = self.own(&APPLICATION, &it.application_id)?;
        let outcome = ("constraint_result", json(it.constraint_result));
        if let Some((constraint, key)) = constraint {
            let of = ("constraint_type", json(it.constraint_type));
            graph.node(constraint, [("business_constraint_id", key), of]);
            let ids = [&it.application_id, &it.constraint_id];
            self.edge("appliedConstraint", id, constraint, ids, graph);
        }
        graph.node(id, [("constraint_application_id", key), outcome]);
        if it.constraint_result.is_some_and(|outcome| outcome.get() != "\"pass\"") {
            let (candidate, _) = self.own(&CANDIDATE, &it.candidate_id)?;
            let ids = [&it.candidate_id, &it.application_id];
            self.edge("filteredByConstraint", candidate, id, ids, graph);
        }
        Some(())
    }

    fn add_execution(&self, span: &'a Key<'_>, graph: &mut Graph<'a>) -> Option<()> {
        let it = self.result;
        let (id, key) = self.own(&EXECUTION, &it.execution_id)?;
        let properties = [
            ("decision_execution_id", key),
            ("business_entity_id", json(it.business_entity_id)),
            ("latency_ms", json(it.latency_ms)),
            ("span_id", span.json()),
        ];
        graph.node(id, properties);
        let agent = Id::new(self.session, &AGENT, [self.session]);
        let session = || text(Some(self.session));
        graph.node(agent, [("agent_session_id", session()), ("session_id", session())]);
        let others = [
            ("executedAtDecisionPoint", &POINT, &it.decision_point_id),
            ("atContextSnapshot", &SNAPSHOT, &it.context_id),
            ("hasSelectionOutcome", &OUTCOME, &it.outcome_id),
        ];
        for (relationship, entity, other) in others {
            if let Some((to, _)) = self.own(entity, other) {
                self.edge(relationship, id, to, [&it.execution_id, other], graph);
            }
        }
        self.edge("partOfSession", id, agent, [&it.execution_id], graph);
        Some(())
    }

    /// A node whose key is the session with this, and that key as a property.
    fn own(
        &self,
        entity: &'static Entity,
        key: &'a Key<'_>,
    ) -> Option<(Id<'a>, Option<Scalar<'a>>)> {
        let id = Id::new(self.session, entity, [self.session, key.text()?]);
        Some((id, Some(Scalar::Of(self.session, key.text()?))))
    }

    /// An edge whose id is made of these.
    fn edge<const N: usize>(
        &self,
        relationship: &'static str,
        from: Id<'a>,
        to: Id<'a>,
        of: [&Key<'_>; N],
        graph: &mut Graph<'a>,
    ) {
        let mut id = format!("{}:{relationship}", self.session);
        for key in of.iter().filter_map(|key| key.text()) {
            id.push(':');
            id.push_str(key);
        }
        graph.edge_of(relationship, from, to, id);
    }
}
