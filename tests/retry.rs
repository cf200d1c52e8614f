//! The loop that asks a model until a plan passes: the contract's cases, and what holds for every run.

mod account;
mod budgets;
mod cases;
mod http;
mod pipeline;
mod prompts;
mod records;
mod repairing;
mod script;
mod stopping;
