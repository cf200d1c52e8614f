//! An extractor with one that stands in for it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Coded, Problem};
use crate::graph::{
    Dropped, Extraction, Failure, GraphSpec, Salvage, ValidateOptions, salvage, validate,
};
use crate::sandbox::{RunOutcome, Runner};

/// What makes an extraction of an event: the runner of a bundle, or a closure of the program around it.
pub trait Extract {
    /// The extraction of one event, the text of a JSON object.
    ///
    /// # Errors
    /// [`ExtractError`]. It can be asked for the next event all the same.
    fn extract(&mut self, event: &[u8]) -> Result<Extraction, ExtractError>;

    /// Which claims on spans don't hold any more once part of a result was dropped. Default: that on the event's own `span_id`.
    fn claims(&self) -> Claims {
        Claims::OfEvent
    }
}

/// Which claims on spans depend on the whole of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claims {
    /// That on the `span_id` at the event's root.
    OfEvent,
    /// All of them: a plan says itself which spans an event belongs to.
    All,
}

/// Why there is no extraction: a code and a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExtractError {
    code: Code,
    message: String,
}

impl ExtractError {
    /// Of an extractor that isn't one of Retort's: what it says of its failure.
    #[must_use]
    pub fn raised(message: impl Into<String>) -> Self {
        Self { code: codes::EXTRACTOR_RAISED, message: message.into() }
    }

    pub(super) fn of<E: Coded + fmt::Display>(error: &E) -> Self {
        Self { code: error.entry(), message: error.to_string() }
    }
}

impl From<Problem> for ExtractError {
    fn from(problem: Problem) -> Self {
        Self { code: problem.code, message: problem.message }
    }
}

impl fmt::Display for ExtractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExtractError {}

impl Coded for ExtractError {
    fn entry(&self) -> Code {
        self.code
    }
}

impl<F> Extract for F
where
    F: FnMut(&[u8]) -> Result<Extraction, ExtractError>,
{
    fn extract(&mut self, event: &[u8]) -> Result<Extraction, ExtractError> {
        self(event)
    }
}

/// A result as data. What was checked is of this shape, but for numbers that only one of the two readers can hold.
pub(super) fn extraction_of(outcome: &RunOutcome<'_>) -> Result<Extraction, ExtractError> {
    serde_json::from_slice(outcome.json).map_err(|error| ExtractError {
        code: codes::RESULT_WRONG_SHAPE,
        message: error.to_string(),
    })
}

impl Extract for Runner {
    fn extract(&mut self, event: &[u8]) -> Result<Extraction, ExtractError> {
        extraction_of(&self.run(event).map_err(|error| ExtractError::of(&error))?)
    }

    fn claims(&self) -> Claims {
        Claims::All
    }
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The result as the extractor gave it.
    CompiledUnchanged,
    /// What was right of it.
    CompiledFiltered,
    /// The result of the fallback: the extractor failed, or its result was wrong as a whole.
    FallbackForEvent,
}

/// An event's result, and how it came about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Decided {
    /// What became of the event.
    pub decision: Decision,
    /// The result.
    pub result: Extraction,
    /// Why the extractor gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExtractError>,
    /// What is wrong with the result that it gave.
    pub failures: Vec<Failure>,
    /// What was dropped of that.
    #[serde(flatten)]
    pub dropped: Dropped,
}

/// Runs `extractor` on an event and holds its result to `spec`. What is wrong with it is dropped, as [`salvage`] does; spans that were
/// claimed as fully handled are then handled [in part](Claims). Where there is no result, or nothing can be
/// kept of it, `fallback` is asked, whose result is given as it is: a result that was filtered, or is empty, is none of its business.
///
/// # Errors
/// That of the fallback, where the extractor failed as well.
///
/// # Example
/// ```
/// use retort::GraphSpec;
/// use retort::graph::{Extraction, ValidateOptions};
/// use retort::runtime::{Decision, ExtractError, run_with_fallback};
///
/// let spec = GraphSpec::parse(
///     r#"{"entities": [{"name": "Order", "key_columns": ["id"], "properties":
///         [{"column": "id", "logical_name": "id", "sdk_type": "string"}]}]}"#,
///     "spec.json",
/// )?;
/// let mut fails = |_: &[u8]| Err(ExtractError::raised("no luck"));
/// let mut gives = |_: &[u8]| Ok(Extraction::default());
/// let decided =
///     run_with_fallback(&mut fails, &mut gives, &spec, ValidateOptions::default(), b"{}")?;
/// assert_eq!(decided.decision, Decision::FallbackForEvent);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_with_fallback(
    extractor: &mut dyn Extract,
    fallback: &mut dyn Extract,
    spec: &GraphSpec,
    options: ValidateOptions,
    event: &[u8],
) -> Result<Decided, ExtractError> {
    let claims = extractor.claims();
    let extracted = extractor.extract(event);
    let mut decided = Decided::held_to(spec, options, extracted, claims, event);
    if decided.decision == Decision::FallbackForEvent {
        decided.result = fallback.extract(event)?;
    }
    Ok(decided)
}

impl Decided {
    /// What becomes of an event of which an extractor with such claims gave this; without a result where that is the fallback's to
    /// give.
    pub(super) fn held_to(
        spec: &GraphSpec,
        options: ValidateOptions,
        extracted: Result<Extraction, ExtractError>,
        claims: Claims,
        event: &[u8],
    ) -> Self {
        match extracted {
            Ok(result) => {
                let failures = validate(spec, &result, options).into_failures();
                Self::of(salvage(spec, result, &failures), failures, claims, event)
            }
            Err(error) => Self::failed(error),
        }
    }

    /// A result with which nothing is wrong.
    pub(super) fn unchanged(result: Extraction) -> Self {
        Self { decision: Decision::CompiledUnchanged, result, ..Self::none(Vec::new()) }
    }

    /// What is left to the fallback, since there is no result.
    pub(super) fn failed(error: ExtractError) -> Self {
        Self { error: Some(error), ..Self::none(Vec::new()) }
    }

    /// What becomes of an event whose result was held to the spec; without a result where that is the fallback's to give.
    fn of(salvage: Salvage, failures: Vec<Failure>, claims: Claims, event: &[u8]) -> Self {
        match salvage {
            Salvage::Whole(result) => Self {
                decision: Decision::CompiledUnchanged,
                result,
                error: None,
                failures,
                dropped: Dropped::default(),
            },
            Salvage::Part(mut result, dropped) => {
                match claims {
                    Claims::All => downgrade(&mut result, |_| true),
                    Claims::OfEvent => {
                        let own = span_of(event).unwrap_or_default();
                        downgrade(&mut result, |span| span == own && !own.is_empty());
                    }
                }
                let decision = Decision::CompiledFiltered;
                Self { decision, result, error: None, failures, dropped }
            }
            Salvage::Nothing => Self::none(failures),
        }
    }

    fn none(failures: Vec<Failure>) -> Self {
        Self {
            decision: Decision::FallbackForEvent,
            result: Extraction::default(),
            error: None,
            failures,
            dropped: Dropped::default(),
        }
    }
}

/// Makes claims of the whole of these spans claims of a part.
fn downgrade(result: &mut Extraction, is_meant: impl Fn(&str) -> bool) {
    let (in_part, whole) = std::mem::take(&mut result.fully_handled_span_ids)
        .into_iter()
        .partition::<Vec<String>, _>(|span| is_meant(span));
    result.fully_handled_span_ids = whole;
    for span in in_part {
        if !result.partially_handled_span_ids.contains(&span) {
            result.partially_handled_span_ids.push(span);
        }
    }
}

/// The `span_id` at the event's root.
fn span_of(event: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Spanned {
        span_id: Option<String>,
    }
    serde_json::from_slice::<Spanned>(event).ok()?.span_id
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::gate::inspect::{self, StructuralLimits};
    use crate::plan;
    use crate::render;
    use crate::sandbox::{Limits, Sandbox};

    /// Orders whose span is where this plan says, and no event has another.
    fn orders() -> Runner {
        let plan = plan::parse(
            r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "orders",
                "key_field": {"property_name": "id", "source_path": ["id"]},
                "property_fields": [{"property_name": "total", "source_path": ["total"]}],
                "span_handling": {"span_id_path": ["trace", "span"]}}"#,
        );
        let compiled = render::compile(render::render(&plan.unwrap()).unwrap()).unwrap();
        let inspected = inspect::inspect(compiled.module(), &StructuralLimits::default()).unwrap();
        let inspected = inspect::prove::by_rendering(inspected, &compiled);
        Sandbox::new(Limits::default()).unwrap().load(&inspected).unwrap().runner()
    }

    const SPEC: &str = r#"{"entities": [{"name": "Order", "key_columns": ["id"], "properties": [
        {"column": "id", "logical_name": "id", "sdk_type": "string"},
        {"column": "total", "logical_name": "total", "sdk_type": "double"}]}]}"#;

    fn decided(event: &str) -> Decided {
        let spec = GraphSpec::parse(SPEC, "spec.json").unwrap();
        let mut none = |_: &[u8]| Ok(Extraction::default());
        let options = ValidateOptions::default();
        run_with_fallback(&mut orders(), &mut none, &spec, options, event.as_bytes()).unwrap()
    }

    #[test]
    fn a_bundle_loses_a_wrong_property_and_the_claim_that_its_plan_makes() {
        let right = r#"{"event_type": "order", "session_id": "s", "id": "o1", "total": 7.5, "trace": {"span": "t1"}}"#;
        let found = decided(right);
        assert_eq!(found.decision, Decision::CompiledUnchanged);
        assert_eq!(found.result.fully_handled_span_ids, ["t1"]);

        let found = decided(&right.replace("7.5", "\"much\""));
        assert_eq!(found.decision, Decision::CompiledFiltered);
        assert_eq!(found.result.nodes[0].properties.len(), 1);
        let gone: Vec<&str> = found.dropped.properties.iter().map(|gone| &*gone.name).collect();
        assert_eq!(gone, ["total"]);
        assert!(found.result.fully_handled_span_ids.is_empty());
        assert_eq!(found.result.partially_handled_span_ids, ["t1"]);
    }

    #[test]
    fn what_is_known_to_fit_is_what_the_validator_accepts() {
        let spec = std::sync::Arc::new(GraphSpec::parse(SPEC, "spec.json").unwrap());
        let mut runner =
            orders().holding_to(std::sync::Arc::clone(&spec), ValidateOptions::default());
        let with =
            |fields: &str| format!(r#"{{"event_type": "order", "session_id": "s", {fields}}}"#);
        for (fields, is_known) in [
            (r#""id": "o1", "total": 7.5"#, true),
            (r#""id": "o1", "total": -1, "trace": {"span": "t"}"#, true),
            (r#""id": "o\u0031:,=", "total": 1e5"#, true),
            (r#""id": "o1", "total": null"#, true),
            (r#""id": "o1""#, true),
            // Declined.
            (r#""total": 7.5"#, true),
            (r#""id": "o1", "total": "much""#, false),
            (r#""id": "o1", "total": [1]"#, false),
            (r#""id": "o1", "total": true"#, false),
            (r#""id": "", "total": 1"#, false),
            (r#""id": 7"#, false),
        ] {
            let outcome = runner.run(with(fields).as_bytes()).unwrap();
            assert_eq!(outcome.is_known_to_fit(), is_known, "{fields}");
            let report =
                validate(&spec, &extraction_of(&outcome).unwrap(), ValidateOptions::default());
            assert_eq!(report.ok(), is_known, "{fields}");
        }
        // Where what is constant doesn't fit, nothing is known.
        for (is, other) in [("Order", "Ordre"), ("total", "totals"), ("[\"id\"]", "[\"total\"]")] {
            let spec = GraphSpec::parse(&SPEC.replace(is, other), "spec.json").unwrap();
            let mut runner = orders().holding_to(spec.into(), ValidateOptions::default());
            let event = with(r#""id": "o1", "total": 7.5"#);
            assert!(!runner.run(event.as_bytes()).unwrap().is_known_to_fit(), "{other}");
        }
    }

    #[test]
    fn an_event_that_a_bundle_refuses_goes_to_the_fallback() {
        let found = decided("[]");
        assert_eq!(found.decision, Decision::FallbackForEvent);
        assert_eq!(found.error.unwrap().code(), "event_not_object");
    }
}
