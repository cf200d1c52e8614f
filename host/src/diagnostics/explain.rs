//! Every stable code: what it means and what to do about it.
//!
//! Codes are written down once, here. Each stage lists its own codes, and tests hold the two
//! together, so that no code can be reported that `retort explain` doesn't know.

mod bundle;
mod cache;
mod compile;
mod event;
mod fit;
mod graph;
mod input;
mod inspect;
mod load;
mod model;
mod plan;
mod policy;
mod render;
mod run;
mod smoke;

use serde::Serialize;

use crate::diagnostics::problem::Stage;

/// What a stable code means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The code, in `snake_case`.
    pub code: &'static str,
    /// The stage that reports it; the first one, where several do.
    pub stage: Stage,
    /// What was found, in one sentence or two.
    pub meaning: &'static str,
    /// What to do about it.
    pub action: &'static str,
}

impl Explanation {
    const fn new(
        stage: Stage,
        code: &'static str,
        meaning: &'static str,
        action: &'static str,
    ) -> Self {
        Self { code, stage, meaning, action }
    }
}

/// One table a stage, in the order of the pipeline.
const TABLES: &[&[Explanation]] = &[
    input::TABLE,
    model::TABLE,
    plan::TABLE,
    policy::TABLE,
    fit::TABLE,
    render::TABLE,
    compile::TABLE,
    inspect::TABLE,
    cache::TABLE,
    load::TABLE,
    event::TABLE,
    run::TABLE,
    smoke::TABLE,
    graph::TABLE,
    bundle::TABLE,
];

/// Every code, by stage in the order of the pipeline, alphabetically within a stage.
pub fn all() -> impl Iterator<Item = &'static Explanation> {
    TABLES.iter().copied().flatten()
}

/// What one code means, or `None` if there is no such code.
#[must_use]
pub fn lookup(code: &str) -> Option<&'static Explanation> {
    all().find(|explanation| explanation.code == code)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_sorted_within_their_stage_and_unique_over_all() {
        let keys: Vec<_> = all().map(|entry| (entry.stage, entry.code)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        let codes: BTreeSet<_> = all().map(|entry| entry.code).collect();
        assert_eq!(codes.len(), keys.len(), "a code stands under two stages");
    }

    #[test]
    fn every_entry_says_something_in_whole_sentences() {
        for Explanation { code, meaning, action, .. } in all() {
            assert!(code.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_')), "{code}");
            for text in [meaning, action] {
                assert!(text.len() > 20 && text.ends_with('.'), "{code}: {text}");
                assert!(text.starts_with(|c: char| c.is_uppercase()), "{code}: {text}");
                assert!(!text.contains("  "), "{code}: {text}");
            }
        }
    }

    /// The codes of every stage.
    const LISTS: &[&[&str]] = &[
        crate::plan::eval::EvalError::CODES,
        crate::render::RenderError::CODES,
        crate::render::compile::CompileError::CODES,
        crate::gate::inspect::CODES,
        &crate::gate::inspect::Unproven::CODES,
        crate::abi::section::CODES,
        crate::abi::block::BlockError::CODES,
        crate::abi::result::ResultError::CODES,
        crate::abi::event::EventError::CODES,
        crate::sandbox::CacheWarning::CODES,
        crate::sandbox::LoadError::CODES,
        crate::sandbox::GuestError::CODES,
        crate::sandbox::RunError::CODES,
        crate::evidence::SamplesError::CODES,
        crate::evidence::TaskError::CODES,
        crate::author::prompt::PromptError::CODES,
        crate::author::draft::DraftError::CODES,
        crate::author::llm::LlmError::CODES,
        crate::author::answer::CODES,
        crate::author::retry::ArgumentError::CODES,
        crate::author::retry::CODES,
        crate::author::retry::Reason::CODES,
        crate::gate::policy::PolicyError::CODES,
        crate::gate::policy::Denied::CODES,
        crate::sandbox::tenant::TenantError::CODES,
        crate::gate::fit::CODES,
        crate::bundle::smoke::CODES,
        crate::graph::spec::GraphSpecError::CODES,
        crate::diagnostics::diagnose::DiagnoseError::CODES,
        crate::bundle::BundleError::CODES,
        crate::bundle::LoadCode::CODES,
        crate::runtime::StreamError::CODES,
        crate::selftest::SelftestError::CODES,
    ];

    #[test]
    fn every_code_is_explained() {
        let plan = crate::plan::PlanParseErrorCode::ALL.iter().map(|code| code.as_str());
        let graph = crate::graph::validate::FailureCode::ALL.iter().map(|code| code.as_str());
        for code in LISTS.iter().copied().flatten().copied().chain(plan).chain(graph) {
            assert!(lookup(code).is_some(), "{code} is not explained");
        }
    }

    #[test]
    fn no_list_of_codes_is_left_out() {
        let mut files = vec![std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut lists = 0;
        while let Some(path) = files.pop() {
            if path.is_dir() && !path.ends_with("cli") {
                let entries = std::fs::read_dir(&path).expect("the crate's own sources");
                files.extend(entries.filter_map(Result::ok).map(|entry| entry.path()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("the crate's own sources");
                lists += text.matches(concat!("pub const ", "CODES: ")).count();
            }
        }
        assert_eq!(lists, LISTS.len(), "name the new list above, and explain its codes");
    }

    #[test]
    fn only_whole_codes_are_found() {
        assert_eq!(lookup("manifest_missing").map(|entry| entry.stage), Some(Stage::Bundle));
        assert!(lookup("manifest").is_none());
        assert!(lookup("").is_none());
    }
}
