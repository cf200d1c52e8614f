//! What the tools of an agent that decides gave.

use serde_json::{Value, json};

use super::casual::{Graph, in_id};
use super::list;

pub(super) fn fill(event: &Value, graph: &mut Graph) -> Option<()> {
    if event["event_type"] != "TOOL_COMPLETED" {
        return None;
    }
    let session = in_id(&event["session_id"])?;
    let result = &event["content"]["result"];
    let tool = event["content"]["tool"].as_str()?;
    let partially = matches!(tool, "commit_outcome" | "record_outcome_signal");
    let tools = Tools { session: &session, result };
    // A tool without the id that it should have given gives nothing.
    let _ = tools.add(tool, &event["span_id"], graph);
    graph.handled(&event["span_id"], partially);
    Some(())
}

struct Tools<'a> {
    session: &'a str,
    result: &'a Value,
}

impl Tools<'_> {
    fn add(&self, tool: &str, span: &Value, graph: &mut Graph) -> Option<()> {
        let (session, result) = (self.session, self.result);
        match tool {
            "capture_context" => {
                let payload = &result["snapshot_payload"];
                let payload = (!payload.is_null()).then(|| payload.to_string());
                let key = ("context_snapshot_id", "context_id");
                self.node("ContextSnapshot", key, [("snapshot_payload", json!(payload))], graph)?;
            }
            "propose_decision_point" => {
                let key = ("decision_point_id", "decision_point_id");
                self.node("DecisionPoint", key, [self.given("reversibility")], graph)?;
            }
            "evaluate_candidate" => {
                let key = ("candidate_id", "candidate_id");
                let candidate = self.node("Candidate", key, [], graph)?;
                let point = self.decision_point()?;
                let ids = ["decision_point_id", "candidate_id"];
                self.edge("evaluatesCandidate", &point, &candidate, ids, graph)?;
            }
            "apply_constraint" => {
                let key = ("business_constraint_id", "constraint_id");
                let of = [self.given("constraint_type")];
                let constraint = self.node("BusinessConstraint", key, of, graph);
                let key = ("constraint_application_id", "application_id");
                let of = [self.given("constraint_result")];
                let application = self.node("ConstraintApplication", key, of, graph)?;
                if let Some(constraint) = constraint {
                    let ids = ["application_id", "constraint_id"];
                    self.edge("appliedConstraint", &application, &constraint, ids, graph)?;
                }
                let outcome = &result["constraint_result"];
                if !outcome.is_null() && outcome != "pass" {
                    let ids = ["candidate_id", "application_id"];
                    self.edge(
                        "filteredByConstraint",
                        &self.candidate("candidate_id")?,
                        &application,
                        ids,
                        graph,
                    )?;
                }
            }
            "record_rejection" => {
                let key = ("rejection_reason_id", "rejection_id");
                let of = [self.given("rejection_category"), self.given("rejection_text")];
                let reason = self.node("RejectionReason", key, of, graph)?;
                let candidate = self.candidate("candidate_id")?;
                let ids = ["candidate_id", "rejection_id"];
                self.edge("hasRejectionReason", &candidate, &reason, ids, graph)?;
            }
            "commit_outcome" => {
                let key = ("selection_outcome_id", "outcome_id");
                let outcome = self.node("SelectionOutcome", key, [], graph)?;
                let candidate = self.candidate("selected_candidate_id")?;
                let ids = ["outcome_id", "selected_candidate_id"];
                self.edge("selectedCandidate", &outcome, &candidate, ids, graph)?;
            }
            "complete_execution" => self.add_execution(span, graph)?,
            "record_outcome_signal" => {
                let key = ("outcome_signal_id", "signal_id");
                let signal = self.node("OutcomeSignal", key, [], graph)?;
                let from = self.id("DecisionExecution", "decision_execution_id", "execution_id")?;
                let ids = ["execution_id", "signal_id"];
                self.edge("producedOutcome", &from, &signal, ids, graph)?;
            }
            "compute_reward" => {
                let key = ("reward_computation_id", "reward_id");
                let of = [self.given("reward_value")];
                let reward = self.node("RewardComputation", key, of, graph)?;
                let reward_id = in_id(&result["reward_id"])?;
                for signal in list(&result["outcome_signal_ids"]).iter().filter_map(in_id) {
                    let to =
                        format!("{session}:OutcomeSignal:outcome_signal_id={session}:{signal}");
                    let id = format!("{session}:derivedReward:{reward_id}:{signal}");
                    graph.edge_of("derivedReward", &reward, &to, &id, []);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn add_execution(&self, span: &Value, graph: &mut Graph) -> Option<()> {
        let session = self.session;
        let key = ("decision_execution_id", "execution_id");
        let of =
            [self.given("business_entity_id"), self.given("latency_ms"), ("span_id", span.clone())];
        let execution = self.node("DecisionExecution", key, of, graph)?;
        let agent = format!("{session}:AgentSession:agent_session_id={session}");
        let properties = [("agent_session_id", json!(session)), ("session_id", json!(session))];
        graph.node(&agent, "AgentSession", properties);
        if let Some(point) = self.decision_point() {
            let ids = ["execution_id", "decision_point_id"];
            self.edge("executedAtDecisionPoint", &execution, &point, ids, graph)?;
        }
        if let Some(snapshot) = self.id("ContextSnapshot", "context_snapshot_id", "context_id") {
            let ids = ["execution_id", "context_id"];
            self.edge("atContextSnapshot", &execution, &snapshot, ids, graph)?;
        }
        if let Some(outcome) = self.id("SelectionOutcome", "selection_outcome_id", "outcome_id") {
            let ids = ["execution_id", "outcome_id"];
            self.edge("hasSelectionOutcome", &execution, &outcome, ids, graph)?;
        }
        self.edge("partOfSession", &execution, &agent, ["execution_id"], graph)
    }

    /// The id of a node whose key is the session with a field of the result.
    fn id(&self, entity: &str, key: &str, field: &str) -> Option<String> {
        let session = self.session;
        let own = in_id(&self.result[field])?;
        Some(format!("{session}:{entity}:{key}={session}:{own}"))
    }

    fn decision_point(&self) -> Option<String> {
        self.id("DecisionPoint", "decision_point_id", "decision_point_id")
    }

    fn candidate(&self, field: &str) -> Option<String> {
        self.id("Candidate", "candidate_id", field)
    }

    fn node<const N: usize>(
        &self,
        entity: &str,
        (key, field): (&'static str, &str),
        properties: [(&'static str, Value); N],
        graph: &mut Graph,
    ) -> Option<String> {
        let id = self.id(entity, key, field)?;
        let own = format!("{}:{}", self.session, in_id(&self.result[field])?);
        let mut all = vec![(key, json!(own))];
        all.extend(properties);
        graph.node(&id, entity, all);
        Some(id)
    }

    /// An edge whose id is made of fields of the result.
    fn edge<const N: usize>(
        &self,
        relationship: &str,
        from: &str,
        to: &str,
        fields: [&str; N],
        graph: &mut Graph,
    ) -> Option<()> {
        let fields: Option<Vec<String>> =
            fields.iter().map(|field| in_id(&self.result[*field])).collect();
        let id = format!("{}:{relationship}:{}", self.session, fields?.join(":"));
        graph.edge_of(relationship, from, to, &id, []);
        Some(())
    }

    fn given(&self, field: &'static str) -> (&'static str, Value) {
        (field, self.result[field].clone())
    }
}
