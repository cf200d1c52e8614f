//! The loop itself.

use std::collections::BTreeSet;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;

use tracing::info;

use super::attempt::AttemptKind;
use super::conversation::{Conversation, FailedTurn};
use super::feedback::feedback;
use super::judge::{Failed, Passed, judge};
use super::phase::{Phase, is_of_plans};
use super::records::Open;
use super::usage::{Budget, Tokens};
use super::{GateError, Gates, History, LoopConfig, LoopError, LoopOutcome, Reason, Rejection};
use crate::author::backend::{Backend, Language};
use crate::author::background::run_blocking;
use crate::author::llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
use crate::author::prompt::{self, Turn};
use crate::author::repair::mechanical::{Change, Fixed, apply_fixes};
use crate::author::repair::{AnswerHash, Failure, RetryDecision, RetryMemory, should_retry};
use crate::bundle::left_out;
use crate::diagnostics::codes;
use crate::diagnostics::problem::Coded;
use crate::evidence::Task;
use crate::evidence::effort::Cancel;
use crate::plan;

/// What the history names where no model is asked.
const NO_MODEL: &str = "none";

/// Asks a model for a plan, or for an extractor in Rust, until one passes the gates, or something ends it. Which of them it asks for is
/// the configuration's to say ([`LoopConfig`]); by default it is plans.
///
/// What ends it: the attempts, the tokens or the time are spent, failures repeat, or the model declines. Before the model is
/// asked again, whatever has one plain remedy in a plan is repaired without it; such attempts are recorded like others, cost no tokens,
/// and go through the reading of answers and all gates like others.
///
/// What was done is never lost: attempts, cost and time come with success, with failure ([`LoopOutcome`]) and with errors
/// ([`LoopError`]), and [`Account`](super::Account) says in plain words what is in the way. Nothing outside is touched but by the
/// client and the gates.
///
/// The loop runs on a tokio runtime, and keeps no thread of it busy: answers are read, repaired and judged on threads that
/// may block, and waited for as long as there is time. A future that is dropped leaves nothing but such a thread,
/// which goes on to the end of the step it is at, or to the gates' own limits.
///
/// # Example
/// ```
/// use async_trait::async_trait;
/// use retort::{GraphSpec, Rule, Samples, Task, compile_with_llm};
/// use retort::author::{Category, Channel, GateError, Gates, LoopConfig, Rejection, Verdict, llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest}};
/// use retort::plan::Plan;
///
/// /// Answers with a plan, whatever is asked.
/// struct Parrot;
///
/// #[async_trait]
/// impl LlmClient for Parrot {
///     fn name(&self) -> &str {
///         "parrot"
///     }
///
///     async fn generate_json(&self, _request: LlmRequest) -> Result<Completion, LlmError> {
///         let text = r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "read_order",
///             "key_field": {"property_name": "order_id", "source_path": ["id"]}}"#;
///         Ok(Completion { text: text.to_owned(), usage: None, finish_reason: FinishReason::Stop })
///     }
/// }
///
/// /// Rejects every plan that reads the session.
/// struct NoSessions;
///
/// #[async_trait]
/// impl Gates for NoSessions {
///     type Accepted = ();
///
///     async fn judge(&self, plan: &Plan) -> Result<Verdict<()>, GateError> {
///         if plan.session_id_path() != ["session_id"] {
///             return Ok(Verdict::Accepted(()));
///         }
///         Ok(Verdict::Rejected(Rejection {
///             channel: Channel::CompileResult,
///             code: "path_denied".to_owned(),
///             category: Category::Unknown,
///             diagnostic: "path session_id is denied by policy: personal data".to_owned(),
///             findings: Vec::new(),
///         }))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
/// let task = Task::builder(
///     GraphSpec::parse(graph, "graph.yaml")?,
///     Samples::parse(r#"{"event_type": "order", "id": "A-7"}"#, "samples.ndjson")?,
/// )
/// .rule(Rule::parse("Every order becomes one Order.", "rule.md")?)
/// .build();
/// let outcome = compile_with_llm(&Parrot, &task, &NoSessions, &LoopConfig::default()).await?;
/// assert_eq!(outcome.reason().as_str(), "repeated_failure");
/// assert_eq!(outcome.attempts().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Each request carries a copy of the answer's schema of its own. Requests are the same, byte for byte, where task, answers,
/// verdicts and configuration are.
///
/// # Errors
/// [`LoopError`], with all that was learned so far: the task has no rule, the model gave no answer, or a gate could not do
/// its work. An answer that doesn't pass is no error: [`LoopOutcome::ok`] says.
pub async fn compile_with_llm<G: Gates>(
    client: &dyn LlmClient,
    task: &Task,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<LoopOutcome<G::Accepted>, LoopError> {
    let mut run = LoopRun::new(client.name(), config.backend, gates, config);
    let mut conversation = match run.begin(task, &[]) {
        Continue(conversation) => conversation,
        Break(ended) => return ended,
    };
    loop {
        match run.ask(client, task, conversation).await {
            Continue(next) => conversation = next,
            Break(ended) => return run.or_kept(ended),
        }
    }
}

/// Takes a plan through the gates, and repairs it as long as there is one plain thing to do. No model is asked: the outcome's
/// first attempt is the plan as it was given, the others are mechanical.
///
/// # Errors
/// [`LoopError`], when a gate could not do its work.
pub async fn repair_plan<G: Gates>(
    plan: &str,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<LoopOutcome<G::Accepted>, LoopError> {
    let mut run = LoopRun::new(NO_MODEL, Backend::Plan, gates, config);
    let open = run.open(AttemptKind::Given, plan.to_owned());
    match run.turn(open, &FinishReason::Stop).await {
        Continue(Judged::Failed(standing)) => {
            let Standing { open, failed, .. } = *standing;
            Ok(run.stop(Reason::NothingCertain, &open, &failed.rejection))
        }
        Continue(Judged::LeavesOut { accepted, .. }) => {
            Ok(LoopOutcome::accepted_as(accepted, run.ended()))
        }
        Break(ended) => ended,
    }
}

pub(super) struct LoopRun<'a, 'c, G: Gates> {
    pub(super) gates: &'a G,
    pub(super) config: &'a LoopConfig<'c, G::Accepted>,
    pub(super) budget: Budget,
    pub(super) phase: Phase,
    /// Of this phase.
    pub(super) memory: RetryMemory,
    pub(super) history: History,
    /// A plan that passed and leaves something out, while Rust is asked for.
    pub(super) kept: Option<G::Accepted>,
    /// Of the failure that the model was asked about last.
    pub(super) last_diagnostic: Option<String>,
}

/// What a step gives, unless the loop ends with it.
type LoopStep<T, A> = ControlFlow<Result<LoopOutcome<A>, LoopError>, T>;

/// What came of an answer that doesn't end the loop.
enum Judged<A> {
    Failed(Box<Standing>),
    /// A plan that passed, and the model says that it leaves something out that Rust may do.
    LeavesOut {
        accepted: A,
        said: Vec<String>,
    },
}

/// A failure that the model has to be asked about, after all that could be done without it.
struct Standing {
    /// The attempt that failed last, not recorded yet.
    open: Open,
    failed: Arc<Failed>,
    /// The same, of what the model answered before anything was repaired.
    failure: Failure,
    /// What repair has done to the answer.
    applied: Vec<Change>,
}

impl<'a, 'c, G: Gates> LoopRun<'a, 'c, G> {
    fn new(
        model: &str,
        backend: Backend,
        gates: &'a G,
        config: &'a LoopConfig<'c, G::Accepted>,
    ) -> Self {
        Self {
            gates,
            config,
            budget: Budget::new(config.token_budget, config.wall_budget),
            phase: Phase::new(backend, config.max_attempts),
            memory: RetryMemory::default(),
            history: History { model: model.to_owned(), backend, ..History::default() },
            kept: None,
            last_diagnostic: None,
        }
    }

    /// The first prompt of a phase. `beyond_plans` is what the model said that no plan can say.
    fn begin(
        &mut self,
        task: &Task,
        beyond_plans: &[String],
    ) -> LoopStep<Conversation, G::Accepted> {
        let (policy, language) = (self.gates.field_policy(), self.phase.language);
        let prompt = match language {
            Language::Plan => prompt::resolution_prompt_under(task, &policy),
            Language::Rust => {
                prompt::rust_prompt_under(task, &policy, &self.gates.limits(), beyond_plans)
            }
        };
        let prompt = match prompt {
            Ok(prompt) => prompt,
            Err(error) => return Break(Err(LoopError::new(error, self.ended()))),
        };
        match self.budget.spent(self.history.usage) {
            Some(reason) => Break(Ok(self.give_up(reason))),
            None => Continue(Conversation::new(self.config.strategy, language, prompt)),
        }
    }

    /// Goes over to Rust. What failed before says nothing of that.
    fn go_over(
        &mut self,
        rust: Phase,
        task: &Task,
        beyond_plans: &[String],
    ) -> LoopStep<Conversation, G::Accepted> {
        info!("going over from plans to Rust");
        self.phase = rust;
        self.memory = RetryMemory::default();
        self.begin(task, beyond_plans)
    }

    /// Asks the model once, and judges and repairs its answer: the conversation to go on with.
    async fn ask(
        &mut self,
        client: &dyn LlmClient,
        task: &Task,
        mut conversation: Conversation,
    ) -> LoopStep<Conversation, G::Accepted> {
        let mut open = self.open(AttemptKind::Model, String::new());
        open.record.prompt = Some(conversation.last().to_owned());
        let (completion, usage) = self.call(client, conversation.request()).await?;
        let Completion { text, finish_reason, .. } = completion;
        open.record.response = text.clone();
        open.record.usage = usage;
        let following = self.phase.next(self.phase.number(self.memory.attempts()));
        let standing = match (self.turn(open, &finish_reason).await?, following) {
            (Judged::Failed(standing), _) => standing,
            (Judged::LeavesOut { accepted, said }, Some(rust)) => {
                self.kept = Some(accepted);
                return self.go_over(rust, task, &said);
            }
            (Judged::LeavesOut { accepted, .. }, None) => {
                return Break(Ok(LoopOutcome::accepted_as(accepted, self.ended())));
            }
        };
        let Standing { open, failed, failure, applied } = *standing;
        match (self.end_after(&failed, &failure), following) {
            (Some(reason), Some(rust)) if is_of_plans(reason) => {
                self.record(&open, Some(&failed.rejection), None);
                self.last_diagnostic = Some(failed.rejection.diagnostic.clone());
                return self.go_over(rust, task, &failed.cannot_express);
            }
            (Some(reason), _) => return Break(Ok(self.stop(reason, &open, &failed.rejection))),
            (None, _) => self.memory.remember(&failure),
        }
        let attempt = self.phase.number(self.memory.attempts());
        let next = Turn { attempt, of: self.config.max_attempts };
        let reported = Arc::clone(&failed);
        let language = self.phase.language;
        let (graph, rule) = (task.graph().clone(), task.rule().cloned());
        let going_on = run_blocking(move |_: &Cancel| {
            let plan = language.is_plan().then(|| plan::parse(&reported.judged).ok()).flatten();
            let left_out = plan.map(|plan| left_out(&plan, &graph, rule.as_ref()));
            let left_out = left_out.unwrap_or_default();
            let feedback = feedback(language, &reported.rejection, &applied, &left_out, &failure);
            conversation.go_on(FailedTurn {
                response: &text,
                judged: &reported.judged,
                was_repaired: !applied.is_empty(),
                feedback: &feedback,
                next,
            });
            (conversation, feedback)
        });
        let (conversation, feedback) = self.work(&open, &failed.rejection, going_on).await?;
        self.record(&open, Some(&failed.rejection), Some(feedback));
        self.last_diagnostic = Some(failed.rejection.diagnostic.clone());
        Continue(conversation)
    }

    /// Calls the model, if that can be afforded.
    async fn call(
        &mut self,
        client: &dyn LlmClient,
        request: LlmRequest,
    ) -> LoopStep<(Completion, Tokens), G::Accepted> {
        let free = !client.costs_tokens();
        let asked = if free { Tokens::default() } else { Tokens::of_request(&request) };
        if !self.budget.affords(self.history.usage, asked) {
            return Break(Ok(self.give_up(Reason::TokenBudgetSpent)));
        }
        match self.budget.in_time(client.generate_json(request)).await {
            Some(Ok(completion)) => {
                let cost = match Tokens::reported(&completion) {
                    Some(reported) => reported,
                    None if free => asked,
                    None => Tokens::of_answer(&completion, asked),
                };
                self.history.usage.add(cost);
                Continue((completion, cost))
            }
            Some(Err(error)) => {
                if was_read(&error) {
                    self.history.usage.add(asked);
                }
                Break(Err(LoopError::new(error, self.ended())))
            }
            None => {
                self.history.usage.add(asked);
                Break(Ok(self.give_up(Reason::WallBudgetSpent)))
            }
        }
    }

    /// Judges an answer, and repairs it as long as there is one plain thing to do.
    async fn turn(
        &mut self,
        mut open: Open,
        mut finish: &FinishReason,
    ) -> LoopStep<Judged<G::Accepted>, G::Accepted> {
        let language = open.record.backend;
        let unjudged = Rejection::of_no_gate(
            codes::GATES_INTERRUPTED,
            "The time that all of it may take was spent before this answer was judged".to_owned(),
        );
        let mut applied: Vec<Change> = Vec::new();
        let mut answer = None;
        let mut seen = BTreeSet::new();
        let mut rounds = 0;
        loop {
            let judging = judge(&open.record.response, finish, language, self.gates, self.config);
            let failed = match self.work(&open, &unjudged, judging).await? {
                Ok(Passed { accepted, cannot_express }) => {
                    open.record.cannot_express = cannot_express;
                    self.record(&open, None, None);
                    let said = open.record.cannot_express;
                    let answers = self.phase.number(self.memory.attempts());
                    if !said.is_empty() && self.phase.next(answers).is_some() {
                        return Continue(Judged::LeavesOut { accepted, said });
                    }
                    return Break(Ok(LoopOutcome::accepted_as(accepted, self.ended())));
                }
                Err(failed) => Arc::new(failed),
            };
            open.record.cannot_express.clone_from(&failed.cannot_express);
            let may_repair = rounds < self.config.mechanical_rounds;
            let to_repair = Arc::clone(&failed);
            let repairing = run_blocking(move |_: &Cancel| {
                let hash = AnswerHash::of(&to_repair.judged);
                seen.insert(hash.clone());
                let repaired = if may_repair { repaired(&to_repair, &seen) } else { None };
                (hash, seen, repaired)
            });
            let (hash, before, repaired) = self.work(&open, &failed.rejection, repairing).await?;
            seen = before;
            let answer = answer.get_or_insert(hash);
            let Some(Fixed { text, patch, changes }) = repaired else {
                let failure = failed.rejection.failure(answer.clone());
                let standing = Standing { open, failed, failure, applied };
                return Continue(Judged::Failed(Box::new(standing)));
            };
            self.record(&open, Some(&failed.rejection), Some(failed.rejection.diagnostic.clone()));
            applied.extend(changes.iter().cloned());
            finish = &FinishReason::Stop;
            open = self.open(AttemptKind::Mechanical, text);
            open.record.patch = Some(patch);
            open.record.changes = changes;
            rounds += 1;
        }
    }

    /// Waits for work on an attempt, as long as there is time. The loop ends where that is spent first, with `so_far` said
    /// of the attempt, and where the work can't be done.
    async fn work<T, E: Into<GateError>>(
        &mut self,
        open: &Open,
        so_far: &Rejection,
        work: impl Future<Output = Result<T, E>>,
    ) -> LoopStep<T, G::Accepted> {
        match self.budget.in_time(work).await {
            Some(Ok(done)) => Continue(done),
            Some(Err(error)) => {
                let error = error.into();
                let rejection = Rejection::of_no_gate(error.entry(), error.to_string());
                self.record(open, Some(&rejection), None);
                Break(Err(LoopError::new(error, self.ended())))
            }
            None => Break(Ok(self.stop(Reason::WallBudgetSpent, open, so_far))),
        }
    }

    /// Why the model isn't asked again, if it isn't.
    fn end_after(&self, failed: &Failed, failure: &Failure) -> Option<Reason> {
        if failed.is_refusal {
            return Some(Reason::Refused);
        }
        if failed.rejection.code == codes::CANNOT_EXPRESS.name {
            return Some(Reason::CannotExpress);
        }
        if self.memory.attempts_left(self.phase.attempts()) == 0 {
            return Some(Reason::MaxAttemptsReached);
        }
        let policy = self.config.repetition.as_ref();
        match policy.map(|policy| should_retry(policy, &self.memory, failure)) {
            Some(RetryDecision::RepeatedFailure) => Some(Reason::RepeatedFailure),
            Some(RetryDecision::Escalate { .. }) => Some(Reason::Escalated),
            Some(RetryDecision::Retry) | None => self.budget.spent(self.history.usage),
        }
    }
}

/// What repair makes of an answer, unless there is nothing certain to do, or it gives a plan that failed already.
fn repaired(failed: &Failed, seen: &BTreeSet<AnswerHash>) -> Option<Fixed> {
    let json = Some(&failed.judged).filter(|_| failed.is_json)?;
    let repaired = apply_fixes(json, &failed.rejection.findings)?;
    (!seen.contains(&AnswerHash::of(&repaired.text))).then_some(repaired)
}

/// Whether the question was read all the same, so that it was paid for though no answer came of it.
fn was_read(error: &LlmError) -> bool {
    matches!(error, LlmError::Timeout { .. } | LlmError::Protocol { .. } | LlmError::Record { .. })
}
