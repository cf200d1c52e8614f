//! Retort lets a host run extraction code that a language model wrote, without trusting it.
//!
//! A model writes a declarative *plan*. Retort renders it to WebAssembly, takes the module through gates, and runs it in a
//! sandbox over streams of JSON events; what comes out is nodes and edges of a graph.
//!
//! ```
//! use retort::bundle::smoke::{Samples, SmokeOptions};
//! use retort::graph::GraphSpec;
//! use retort::bundle::pipeline::{Pipeline, Request};
//! use retort::sandbox::Limits;
//! use retort::evidence::Task;
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
//! let pipeline = Pipeline::new(Limits::default())?;
//! let task = Task::new(graph, samples, None, None);
//! let request = Request { plan, task: &task, smoke: SmokeOptions::default() };
//! let accepted = pipeline.accept(&request, &mut |_| {})?;
//!
//! // One runner for each thread, for any number of events.
//! let mut runner = accepted.smoked().extractor().runner();
//! let event = br#"{"event_type": "order_placed", "session_id": "s2", "content": {"id": "B-1", "total": 80}}"#;
//! let outcome = runner.run(event)?;
//! assert!(std::str::from_utf8(outcome.json)?.contains(r#""node_id":"s2:Order:order_id=B-1""#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The pipeline
//! Each stage takes what the one before made, and only that stage can make it. A plan may be rendered and looked at as it is,
//! but an [`Accepted`](bundle::pipeline::Accepted) comes of [`Pipeline::accept`](bundle::pipeline::Pipeline::accept) alone, so no gate can be
//! skipped.
//!
//! | stage | makes | of |
//! |---|---|---|
//! | [`evidence::Task::new`] | [`Task`](evidence::Task) | rule, event schema, graph spec and samples |
//! | [`author::prompt::resolution`] | a prompt | a task |
//! | [`author::llm::LlmClient`] | an answer | a prompt |
//! | [`author::answer::read`], [`plan::parse()`] | [`Plan`](plan::Plan) | an answer, JSON text |
//! | [`gate::policy::FieldPolicy::check_plan`] | leave to read | a plan |
//! | [`gate::fit::fit`] | [`Fitted`](gate::fit::Fitted) | a plan and what is known of events and graph |
//! | [`render::render`] | [`Source`](render::Source) | a plan |
//! | [`render::compile::compile`] | [`Compiled`](render::compile::Compiled) | source |
//! | [`gate::inspect::inspect`] | [`Inspected`](gate::inspect::Inspected) | a module's bytes, whoever made them |
//! | [`sandbox::Sandbox::load`] | [`Extractor`](sandbox::Extractor) | an inspected module |
//! | [`bundle::smoke::smoke`] | [`Smoked`](bundle::smoke::Smoked) | an extractor and sample events |
//! | [`bundle::pipeline::Pipeline::accept`] | [`Accepted`](bundle::pipeline::Accepted) | all of the above |
//! | [`bundle::pipeline::Pipeline::store`] | a [bundle] on disk | what was accepted |
//!
//! [`author::retry::compile_with_llm`] is the loop around them: what a gate rejects is repaired by [`author::repair::mechanical`] where there
//! is one thing to do, and goes back to the model otherwise.
//!
//! [`bundle::load`] and [`bundle::discover`] read bundles back, with a [`Pipeline`](bundle::pipeline::Pipeline) as the gate; what they
//! load is inspected again. [`sandbox::Runner::run`] is the hot path: it [validates and projects](abi::event) the event,
//! writes the [input block](abi::block), calls the guest and [checks the result](abi::result).
//! [`plan::oracle`] says natively what a plan means: the oracle that the gates and the tests compare with.
//!
//! # Limits
//! All are on by default: [`sandbox::Limits`] for what runs, [`StructuralLimits`](gate::inspect::StructuralLimits) for how a
//! module may be built, [`abi::event::MAX_DEPTH`] and [`abi::event::DEFAULT_MAX_EVENT_BYTES`] for events, [`json::document::DocumentKind`] for what
//! is read besides. Fuel decides before the clock
//! does, and fuel is deterministic.
//!
//! # Errors and codes
//! Each stage has its own error type, and every error carries a stable code ([`diagnostics::problem::Coded`]); [`diagnostics::codes`] knows what each
//! means and what to do about it. [`diagnostics::problem::Problem`] is an error as data. [`PipelineError`](bundle::pipeline::PipelineError) says which stage
//! rejected a candidate, with all its problems and the [diagnostic](diagnostics::diagnose) that a model is given to correct its plan. A
//! [`Finding`](diagnostics::finding::Finding) is a problem of a plan with its evidence and, where one can be worked out, a JSON Patch.
//! Nothing in here panics on any input.
//!
//! # Features
//! - `http`, on by default: the clients of models that are reached over HTTP.
//!
//! There is one `unsafe`: native code is made a module again, in `sandbox/native.rs`, where this host has compiled it.

pub mod abi;
pub mod author;
pub mod bundle;
pub mod diagnostics;
pub mod evidence;
pub mod gate;
pub mod graph;
pub mod json;
pub mod plan;
pub mod render;
pub mod runtime;
pub mod sandbox;
pub mod selftest;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
