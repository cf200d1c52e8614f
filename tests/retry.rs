//! The loop that asks a model until a plan passes: what holds for every run. The contract's cases are in `cases/retry.rs`.

mod account;
mod backends;
mod budgets;
mod caching;
mod http;
mod prompts;
mod records;
mod repairing;
#[allow(dead_code, reason = "the contract's cases use it as well")]
mod script;
mod stopping;
