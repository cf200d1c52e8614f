//! Which model is asked, and how.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use retort::author::{
    Backend, DEFAULT_MAX_ATTEMPTS, RetryPolicy, RetryStrategy, llm::ClientConfig,
};
use retort::diagnostics::Code;

use super::error::CliError;

/// Which model writes the plan or the source, and what it may take.
#[derive(Args, Debug)]
pub(super) struct ModelArgs {
    /// Model that writes the plan, or the source: draft, openai:NAME, anthropic:NAME, gemini:NAME, command:CMD or replay:FILE
    #[arg(long, value_name = "MODEL", conflicts_with = "plan")]
    model: Option<String>,
    /// Where the model's service is, in place of the provider's own address; over http a key goes to this machine alone
    #[arg(long, value_name = "URL", conflicts_with = "plan")]
    base_url: Option<String>,
    /// How many answers the model may give
    #[arg(
        long,
        value_name = "N",
        default_value_t = DEFAULT_MAX_ATTEMPTS as i64,
        allow_negative_numbers = true,
        conflicts_with = "plan"
    )]
    pub(super) max_attempts: i64,
    /// How many tokens all answers together may cost, as reported or estimated
    #[arg(long, value_name = "N", conflicts_with = "plan")]
    pub(super) token_budget: Option<u64>,
    /// How many seconds all of it may take
    #[arg(long, value_name = "SECONDS", conflicts_with = "plan")]
    time_budget: Option<u64>,
    /// How many seconds one answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "plan")]
    timeout: u64,
    /// What the model is shown when it is asked again
    #[arg(long, value_enum, default_value_t = Strategy::Fresh, conflicts_with = "plan")]
    strategy: Strategy,
    /// How many answers may fail with the same code in the same place; the next such failure ends it, and the same answer twice
    /// does whatever this says
    #[arg(long, value_name = "N", default_value_t = RetryPolicy::default().same_failure_limit as u64, value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "plan")]
    same_failure_limit: u64,
    /// Code of failures that end it at once if they can't be fixed without the model, as its lines on stderr have it; several with
    /// commas between them
    #[arg(long, value_name = "CODE", value_delimiter = ',', conflicts_with = "plan")]
    escalate: Vec<String>,
    /// Ask until the attempts, the tokens or the time are spent, however the answers fail
    #[arg(long, conflicts_with_all = ["plan", "same_failure_limit", "escalate"])]
    no_early_end: bool,
    /// Don't fix anything without the model
    #[arg(long, conflicts_with = "plan")]
    pub(super) no_repair: bool,
    /// Write requests and answers down, for replay:FILE; keys are left out
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    pub(super) record: Option<PathBuf>,
}

/// What a model is asked for.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct BackendArg {
    /// What the model writes: a plan, Rust, or a plan first and Rust where no plan can say it or plans keep failing [default: plan]
    #[arg(long, value_enum)]
    backend: Option<BackendName>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BackendName {
    /// A plan
    Plan,
    /// The source of an extractor in Rust
    Rust,
    /// A plan first, with half of the attempts
    Auto,
}

impl BackendArg {
    /// What was said.
    pub(super) fn given(self) -> Option<Backend> {
        self.backend.map(|name| match name {
            BackendName::Plan => Backend::Plan,
            BackendName::Rust => Backend::Rust,
            BackendName::Auto => Backend::Auto,
        })
    }
}

/// What the model is shown when it is asked again.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Strategy {
    /// The prompt with the latest answer and what was wrong with it
    Fresh,
    /// The whole conversation
    Continue,
}

impl ModelArgs {
    /// The model that was named.
    pub(super) fn spec(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// How it is reached.
    pub(super) fn client_config(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.base_url = self.base_url.clone();
        config.timeout = Duration::from_secs(self.timeout);
        config
    }

    /// What it is shown when it is asked again.
    pub(super) fn strategy(&self) -> RetryStrategy {
        match self.strategy {
            Strategy::Fresh => RetryStrategy::Fresh,
            Strategy::Continue => RetryStrategy::Continue,
        }
    }

    /// What ends it before all attempts are made, unless nothing is to.
    pub(super) fn retry_policy(&self) -> Result<Option<RetryPolicy>, CliError> {
        if self.no_early_end {
            return Ok(None);
        }
        // More answers than memory could hold are no bound.
        let same_failure_limit = usize::try_from(self.same_failure_limit).unwrap_or(usize::MAX);
        let unknown = |error| CliError::UnknownCode { role: Some("--escalate"), error };
        let codes = self.escalate.iter().map(|name| name.trim().parse::<Code>().map_err(unknown));
        let escalate_codes = codes.collect::<Result<_, _>>()?;
        Ok(Some(RetryPolicy { same_failure_limit, escalate_codes, ..RetryPolicy::default() }))
    }

    /// How long all of it may take.
    pub(super) fn wall_budget(&self) -> Option<Duration> {
        self.time_budget.map(Duration::from_secs)
    }
}
