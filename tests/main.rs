//! What a user sees: what holds in general, examples and the command line. Cases in files are in `cases/`.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should say where")]
#![allow(clippy::print_stderr, reason = "tests say what they skip and what they measured")]

#[macro_use]
mod options;

mod answer;
mod bundle;
mod cache;
mod cli;
mod docs;
mod draft;
mod event;
mod examples;
mod extraction;
mod fuzz;
mod graph;
mod host;
mod hostile;
mod inspect;
mod isolation;
mod limits;
mod llm;
mod message;
mod pipeline_policy;
mod plan;
mod policy;
mod prompt;
mod proof;
mod property;
mod render;
mod retry;
mod runtime;
mod rustc;
mod security;
mod selftest;
mod serve;
mod smoke;
mod support;
mod tenant;
mod tracing;
mod wasi;
