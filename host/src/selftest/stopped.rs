//! What it was that stopped a case: the name of a limit, or of a gate and what that looked at.

use crate::diagnostics::problem::Problem;

/// The fields of [`Limits`](crate::sandbox::Limits) behind codes.
const LIMITS: &[(&str, &str)] = &[
    ("out_of_fuel", "fuel_base"),
    ("deadline_exceeded", "deadline_ms"),
    ("memory_exceeded", "memory_bytes"),
    ("compile_deadline_exceeded", "compile_ms"),
    ("compile_memory_exceeded", "compile_memory_bytes"),
    ("rustc_timeout", "compile_ms"),
    ("table_exceeded", "table_elements"),
    ("stack_overflow", "stack_bytes"),
    ("input_too_large", "input_bytes"),
    ("output_too_large", "output_bytes"),
    ("too_many_rows", "max_rows"),
    ("event_too_large", "event_bytes"),
    ("log_exceeded", "log_bytes"),
];

/// The fields of [`StructuralLimits`](crate::gate::inspect::StructuralLimits) behind codes.
const STRUCTURE: &[(&str, &str)] = &[
    ("module_too_large", "module_bytes"),
    ("too_many_custom_sections", "custom_sections"),
    ("custom_section_too_large", "custom_section_bytes"),
    ("too_many_types", "types"),
    ("too_many_params", "params"),
    ("too_many_results", "results"),
    ("too_many_imports", "imports"),
    ("too_many_functions", "functions"),
    ("table_too_large", "table_entries"),
    ("memory_too_large", "memory_bytes"),
    ("too_many_globals", "globals"),
    ("too_many_exports", "exports"),
    ("too_many_element_segments", "element_segments"),
    ("too_many_elements", "elements"),
    ("too_many_data_segments", "data_segments"),
    ("body_too_large", "body_bytes"),
    ("too_many_locals", "locals"),
    ("nesting_too_deep", "nesting"),
    ("loops_too_deep", "nested_loops"),
    ("br_table_too_large", "br_table_targets"),
    ("too_many_loop_locals", "loop_locals"),
    ("too_many_branch_values", "branch_values"),
    ("too_many_module_branch_values", "module_branch_values"),
];

/// What an event ran into that is neither a limit nor a gate, by its whole code.
const RUNS: &[(&str, &str)] = &[
    ("unreachable", TRAP),
    ("out_of_bounds", TRAP),
    ("division", TRAP),
    ("indirect_call", TRAP),
    ("trap", TRAP),
    ("pool_exhausted", "pool: instances"),
    ("host_failed", "host: memory"),
    ("host_panicked", "host: panic"),
    ("worker_failed", "worker: thread"),
    ("proof_refuted", "host: proof"),
    ("conversion_failed", "input: conversions"),
    ("duplicate_id", "result: duplicates"),
    ("extractor_raised", "fallback: extractor"),
    ("queue_full", "host: queue"),
    ("quota_exceeded", "host: quotas"),
    ("tenant_exists", "host: tenants"),
    ("tenant_gone", "host: tenants"),
    ("tenant_unknown", "host: tenants"),
    ("version_not_promoted", "host: versions"),
    ("version_set_aside", "host: breaker"),
    ("not_served", "host: versions"),
    ("client_too_slow", "service: time"),
    ("cross_origin", "service: access"),
    ("encoding_unknown", "service: requests"),
    ("listen_failed", "service: address"),
    ("listen_open", "service: access"),
    ("method_unknown", "service: requests"),
    ("path_unknown", "service: requests"),
    ("request_corrupt", "service: requests"),
    ("request_cut_off", "service: requests"),
    ("request_too_large", "service: requests"),
    ("service_ending", "service: end"),
    ("config_invalid", "service: configuration"),
    ("headers_too_large", "service: requests"),
    ("too_many_requests", "service: requests"),
    ("unauthorized", "service: access"),
];

/// WebAssembly's own end of a call.
const TRAP: &str = "sandbox: trap";

/// What gates look at, by how codes begin; the first that fits.
const GATES: &[(&str, &str)] = &[
    ("import", "inspect: imports"),
    ("wasi", "inspect: imports"),
    ("exit", "wasi: exit"),
    ("start_function", "inspect: start"),
    ("export", "inspect: exports"),
    ("memory_", "inspect: memory"),
    ("section", "inspect: section"),
    ("feature_disabled", "inspect: features"),
    ("invalid_module", "inspect: validation"),
    ("malformed_module", "inspect: decoding"),
    ("not_a_module", "inspect: decoding"),
    ("rustc_", "compile: rustc"),
    ("bad_buffer", "abi: buffer"),
    ("bad_result", "abi: range"),
    ("result_not_utf8", "abi: UTF-8"),
    ("result_not_json", "abi: JSON"),
    ("result_wrong_shape", "abi: shape"),
    ("digest", "bundle: digest"),
    ("fingerprint", "bundle: fingerprint"),
    ("manifest", "bundle: manifest"),
    ("module_not_found", "bundle: files"),
    ("function", "bundle: function"),
    ("event_types", "bundle: event types"),
];

/// What it was that stopped whatever this problem is about.
pub(super) fn by(problem: &Problem) -> String {
    let code = problem.code.name;
    let exact = LIMITS.iter().chain(STRUCTURE).chain(RUNS).find(|(of, _)| *of == code);
    let begins = || GATES.iter().find(|(start, _)| code.starts_with(start));
    match exact.or_else(begins) {
        Some((_, name)) => (*name).to_owned(),
        None => problem.stage.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::diagnostics::codes::{self, Code};
    use crate::diagnostics::problem::Stage;
    use crate::gate::inspect::StructuralLimits;
    use crate::sandbox::Limits;

    #[test]
    fn what_is_named_as_a_limit_is_one() {
        let limits = serde_json::to_value(Limits::default()).expect("limits are numbers");
        let structure = serde_json::to_value(StructuralLimits::default()).expect("numbers");
        for (table, fields) in [(LIMITS, limits), (STRUCTURE, structure)] {
            for (code, field) in table {
                assert!(fields.get(field).is_some(), "{code}: there is no {field}");
                assert!(codes::lookup(code).is_some(), "there is no code {code}");
            }
        }
    }

    #[test]
    fn no_code_is_named_twice() {
        let mut seen = BTreeSet::new();
        for (code, _) in LIMITS.iter().chain(STRUCTURE).chain(RUNS).chain(GATES) {
            assert!(seen.insert(code), "{code}");
        }
    }

    #[test]
    fn all_that_ends_an_event_in_its_run_has_a_name_of_its_own() {
        // Streams are read and written around the runs.
        let is_of_one_event =
            |code: &&Code| code.stage == Stage::Run && !code.name.starts_with("stream_");
        for code in codes::all().filter(is_of_one_event) {
            let name = by(&Problem::new(Stage::Run, *code, ""));
            assert_ne!(name, Stage::Run.as_str(), "{code}");
            let traps = ["unreachable", "out_of_bounds", "division", "indirect_call", "trap"];
            assert_eq!(name == TRAP, traps.contains(&code.name), "{code}: {name}");
        }
        assert_eq!(by(&Problem::new(Stage::Run, codes::INVALID_JSON, "")), Stage::Run.as_str());
    }

    #[test]
    fn what_begins_a_code_begins_one() {
        for (start, _) in GATES {
            assert!(codes::all().any(|code| code.name.starts_with(start)), "{start}");
        }
    }
}
