//! Results of a stream, held to the graph specs of their bundles.

use super::bundle_graph::BundleGraph;
use super::extracted::Extracted;
use super::fallback::Decided;
use super::line::push_dropped;
use super::registry::Registry;
use crate::diagnostics::codes;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::graph::{Failure, ValidateOptions};
use crate::sandbox::RunOutcome;

/// How results are held to graph specs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GraphCheck {
    /// Whether edges may lead to nodes of other events, whatever their bundles say.
    pub(super) allows_external_endpoints: bool,
}

impl GraphCheck {
    /// How strictly results of a bundle are held to its graph spec.
    pub(super) fn options(self, graph: &BundleGraph) -> ValidateOptions {
        let BundleGraph { mut options, .. } = *graph;
        options.allow_external_endpoints |= self.allows_external_endpoints;
        options
    }

    /// What is left of a bundle's result with which something is wrong; nothing of one that is as it should be.
    ///
    /// # Errors
    /// The first thing that is wrong, where nothing is left; or why it can't be said.
    pub(super) fn decide(
        self,
        registry: &Registry,
        bundle: usize,
        outcome: RunOutcome<'_>,
        event: &[u8],
    ) -> Result<Option<Box<Decided>>, Problem> {
        if outcome.is_known_to_fit() {
            return Ok(None);
        }
        let graph = registry.graph(bundle).map_err(Coded::problem)?;
        match Extracted::held(outcome, &graph.spec, self.options(graph), event) {
            Extracted::Decided(decided) if decided.result.is_empty() => Err(problem(&decided)),
            Extracted::Decided(decided) => Ok(Some(decided)),
            _ => Ok(None),
        }
    }
}

/// The first thing that is wrong with a result of which nothing is left.
pub(super) fn problem(decided: &Decided) -> Problem {
    match (decided.failures.first(), &decided.error) {
        (Some(Failure { code, path, detail, .. }), _) => {
            Problem::new(Stage::Graph, *code, detail.clone()).at(path.clone())
        }
        (None, Some(error)) => error.problem(),
        (None, None) => Problem::new(Stage::Graph, codes::RESULT_WRONG_SHAPE, "no result is left"),
    }
}

/// Writes what is left of a result, and what isn't.
pub(super) fn push(line: &mut Vec<u8>, decided: &Decided) {
    // Text and numbers always become JSON.
    line.extend(serde_json::to_vec(&decided.result).unwrap_or_default());
    push_dropped(line, &decided.failures);
}
