//! Retort lets a host run extraction code that a language model wrote, without trusting it.
//!
//! A model writes a declarative *plan*. Retort renders it to WebAssembly, takes the module through gates, and runs it in a
//! sandbox over streams of JSON events; what comes out is nodes and edges of a graph.
//!
//! ```
//! use retort::{GraphSpec, Pipeline, Samples, Task};
//!
//! let plan = r#"{
//!     "event_type": "order_placed",
//!     "target_entity_name": "Order",
//!     "function_name": "read_order",
//!     "key_field": {"property_name": "order_id", "source_path": ["content", "id"]},
//!     "property_fields": [{"property_name": "total", "source_path": ["content", "total"]}]
//! }"#;
//! let graph = GraphSpec::parse(
//!     "ontology: shop
//! entities:
//! - name: Order
//!   keys: {primary: [order_id]}
//!   properties:
//!   - {name: order_id, type: string}
//!   - {name: total, type: double}
//! ",
//!     "shop.yaml",
//! )?;
//! let samples = Samples::parse(
//!     r#"{"event_type": "order_placed", "session_id": "s1", "content": {"id": "A-7", "total": 12.5}}"#,
//!     "samples.ndjson",
//! )?;
//!
//! // All gates, in their order; the last one runs the extractor over the samples.
//! let pipeline = Pipeline::builder().build()?;
//! let accepted = pipeline.accept(plan, &Task::new(graph, samples))?;
//!
//! // One runner for each thread, for any number of events.
//! let mut runner = accepted.runner();
//! let event = br#"{"event_type": "order_placed", "session_id": "s2", "content": {"id": "B-1", "total": 80}}"#;
//! let outcome = runner.run(event)?;
//! assert!(std::str::from_utf8(outcome.json)?.contains(r#""node_id":"s2:Order:order_id=B-1""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The pipeline
//! Each stage takes what the one before made, and only that stage can make it. A plan may be rendered and looked at as it is,
//! but an [`Accepted`] comes of [`Pipeline::accept`] alone, so no gate can be skipped.
//!
//! | stage | makes | of |
//! |---|---|---|
//! | [`Task::builder`] | [`Task`] | rule, event schema, graph spec and samples |
//! | [`author::resolution_prompt`] | a prompt | a task |
//! | [`author::llm::LlmClient`] | an answer | a prompt |
//! | [`plan::parse()`] | [`Plan`](plan::Plan) | JSON text |
//! | [`gate::FieldPolicy::check_plan`] | leave to read | a plan |
//! | [`gate::fit()`] | [`Fitted`](gate::Fitted) | a plan and what is known of events and graph |
//! | [`render::render`] | [`Source`](render::Source) | a plan |
//! | [`render::compile()`] | [`Compiled`](render::Compiled) | source |
//! | [`gate::inspect()`] | [`Inspected`](gate::Inspected) | a module's bytes, whoever made them |
//! | [`sandbox::Sandbox::load`] | [`Extractor`](sandbox::Extractor) | an inspected module |
//! | [`Pipeline::smoke`] | [`Smoked`](bundle::Smoked) | an extractor and sample events |
//! | [`Pipeline::confirm`] | [`Confirmed`](bundle::Confirmed) | what was smoked, and what samples are expected to give |
//! | [`Pipeline::accept`] | [`Accepted`] | all of the above |
//! | [`Accepted::store`] | a [bundle] on disk | what was accepted |
//!
//! [`compile_with_llm`] is the loop around them: what a gate rejects is repaired where there is one thing to do, and goes back to
//! the model otherwise.
//!
//! [`Bundle::open`] and [`bundle::discover`] read bundles back, with a [`Pipeline`] as the gate; what they load is inspected
//! again. [`Runner::run`] is the hot path: it validates the event and projects it to the declared values, writes them into the
//! guest's memory, calls the guest and checks the result. [`plan::eval`] says natively what a plan means: the oracle that the
//! gates and the tests compare with. [`Registry`] and [`runtime::Stream`] take streams of events through many bundles,
//! on as many threads as they are given.
//!
//! # Limits
//! All are on by default: [`Limits`] for what runs, [`StructuralLimits`](gate::StructuralLimits) for how a module may be built,
//! [`sandbox::MAX_DEPTH`] and [`sandbox::DEFAULT_MAX_EVENT_BYTES`] for events. Fuel decides before the clock does, and fuel is
//! deterministic.
//!
//! # Errors and codes
//! Each stage has its own error type, and every error carries a stable code ([`Coded`]); [`diagnostics::lookup_code`] knows what
//! each means and what to do about it. [`Problem`](diagnostics::Problem) is an error as data. [`PipelineError`] says which stage
//! rejected a candidate, with all its problems and the diagnostic that a model is given to correct its plan. A
//! [`Finding`](diagnostics::Finding) is a problem of a plan with its evidence and, where one can be worked out, a JSON Patch.
//! Nothing in here panics on any input.
//!
//! # Features
//! Without any, the crate takes plans and bundles through the gates, and streams of events through bundles.
//!
//! | feature | what |
//! |---|---|
//! | `author` | from a rule to a plan that passes: prompts, models, repairs, drafts, and [the loop](compile_with_llm) around them |
//! | `http` | `author`, and the clients of models that are reached over HTTP |
//! | `wasi` | WASI preview 1 for guests that import it; without it they are refused |
//! | `serve` | the service over HTTP that `retort serve` is, which has no interface of its own yet |
//! | `remote` | bundles in object stores, as `retort publish` and `retort sync` have them, which have no interface of their own yet |
//! | `columns` | results as [typed columns](tables) of Arrow |
//! | `selftest` | the hostile corpus, and what [runs](selftest::run) it |
//! | `cli` | the command `retort`, with all of these; the default |
//!
//! # Tracing
//! By `tracing`, and never with what is in an event: bundles that load (info) or are refused (warn, with the code), modules that
//! load and stages that pass or reject (debug), attempts of the loop (info), events that are rejected (debug, with the code and
//! what was used of a limit) or served (trace, with the fuel). What is said of events is in a span that names the extractor.
//!
//! # Crates of others
//! Types of these appear in signatures: [`async_trait`](mod@async_trait), [`jiff`], [`json_patch`], [`secrecy`], [`serde_json`] and, with
//! `columns`, those of Arrow that its crate has.
//!
//! There are two `unsafe`: native code is made a module again, in `sandbox/native.rs`, where this host has compiled it; and the scanner of JSON
//! calls vector instructions that every x86-64 processor has, on a value, in `json/scan.rs`.

#![cfg_attr(
    not(feature = "author"),
    allow(
        dead_code,
        unused_imports,
        reason = "some of what is known of plans and events is for prompts and repairs alone"
    )
)]

mod abi;
#[cfg(feature = "author")]
pub mod author;
pub mod bundle;
pub mod diagnostics;
pub mod evidence;
pub mod gate;
pub mod graph;
#[doc(hidden)]
pub mod internal;
mod json;
pub mod plan;
#[cfg(feature = "remote")]
mod remote;
pub mod render;
pub mod runtime;
pub mod sandbox;
#[cfg(feature = "selftest")]
pub mod selftest;
#[cfg(feature = "serve")]
mod service;
#[cfg(feature = "columns")]
mod tables;

#[cfg(feature = "author")]
pub use async_trait;
pub use jiff;
pub use json_patch;
#[cfg(feature = "author")]
pub use secrecy;
pub use serde_json;

#[cfg(feature = "author")]
pub use author::{LoopConfig, PipelineGates, compile_with_llm};
pub use bundle::{Accepted, Bundle, Pipeline, PipelineError, Store};
pub use diagnostics::Coded;
pub use evidence::{EventSchema, Rule, Samples, Task};
pub use graph::GraphSpec;
#[cfg(feature = "columns")]
pub use retort_columns as columns;
pub use runtime::{Host, Registry};
pub use sandbox::{Limits, RunError, RunOutcome, Runner, TenantPolicy};
#[cfg(feature = "columns")]
pub use tables::{ColumnMaker, ColumnSink, EventRows, SharedFiles, fault_code, tables};

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
