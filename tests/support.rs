//! Where cases are found, and what modules are made of them.

#![allow(dead_code, reason = "each of the test binaries uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::internal::prove;
use retort::plan::{self, Plan};
use retort::render::{self, compile};
use retort::sandbox::{ForeignModules, Options, Sandbox};
use retort::{EventSchema, GraphSpec, Limits, Rule, Samples, Task};
use serde_json::Value;

/// The root of the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A file or folder of the shared data, or `None` where it isn't there.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    Some(workspace_root().join("../shared").join(path)).filter(|found| found.exists())
}

/// A plan rendered, compiled, inspected and proved.
pub(crate) fn rendered(plan: &Plan) -> Inspected {
    let compiled = compile(render::render(plan).unwrap()).unwrap();
    let inspected = inspect(compiled.module(), &StructuralLimits::default());
    let inspected = inspected.unwrap_or_else(|rejected| panic!("{rejected}"));
    prove::by_rendering(inspected, &compiled)
}

/// Holds an event that a right plan was run on to less than a twentieth of the fuel that it has where nobody says otherwise.
pub(crate) fn assert_sparing(event: &str, fuel: u64) {
    let allowed = Limits::default().fuel(event.len());
    assert!(fuel < allowed / 20, "{fuel} of {allowed} for {} bytes", event.len());
}

/// Holds the schema of plans to the parser, in both directions: it accepts exactly what has no other problems than those that
/// only the parser can find.
pub(crate) fn schema_agrees(schema: &jsonschema::Validator, value: &Value) -> Result<(), String> {
    let problems = plan::problems_of_value(value);
    let for_the_schema = problems.iter().find(|problem| !problem.is_beyond_schema());
    match (schema.is_valid(value), for_the_schema) {
        (true, Some(problem)) => Err(format!("the schema accepts {value}, but: {problem}")),
        (false, None) => Err(format!("the schema rejects {value}, the parser: {problems:?}")),
        _ => Ok(()),
    }
}

/// A sandbox that takes any module that passes the static gate.
pub(crate) fn sandbox(limits: Limits) -> Sandbox {
    let foreign = ForeignModules::InProcess;
    Sandbox::with_options(options!(Options { limits, foreign, ..Options::default() })).unwrap()
}

/// Why a guest in Rust isn't built.
pub(crate) const MISSING_RUSTC: &str = "no rustc for wasm32-wasip1: RETORT_RUSTC can name one";

/// A `rustc` that compiles for `wasm32-wasip1`: the one that `RETORT_RUSTC` names, or the one that a script beside the checkout
/// finds. `None` where there is none.
pub(crate) fn rustc() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        if let Some(named) = std::env::var_os("RETORT_RUSTC") {
            return Some(named.into());
        }
        let output = Command::new(shared("tools/wasm-rustc")?).output().ok()?;
        let path = String::from_utf8(output.stdout).ok()?;
        (output.status.success() && !path.trim().is_empty()).then(|| path.trim().into())
    };
    FOUND.get_or_init(find).clone()
}

/// The same, for a test that is of no use without one: `None`, having said so, where there is none and `RETORT_REQUIRE_RUSTC` isn't
/// set.
///
/// # Panics
/// Where one is required and there is none.
#[allow(clippy::print_stderr, reason = "a test says what it skips")]
pub(crate) fn guest_rustc() -> Option<PathBuf> {
    let found = rustc();
    if found.is_none() {
        let is_required = std::env::var_os("RETORT_REQUIRE_RUSTC").is_some_and(|it| it == "1");
        assert!(!is_required, "{MISSING_RUSTC}");
        eprintln!("skipped: {MISSING_RUSTC}");
    }
    found
}

/// The bytes of a module in hexadecimal, if it is no more than that.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).ok();
    digits.chunks(2).map(byte).collect()
}

/// A graph spec of one entity.
pub(crate) const SHOP: &str = "ontology: shop
entities:
- name: Order
  description: What was bought.
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
";

/// A task of these texts.
pub(crate) fn task(rule: &str, schema: Option<&str>, graph: &str, samples: &str) -> Task {
    Task::builder(
        GraphSpec::parse(graph, "graph").unwrap(),
        Samples::parse(samples, "samples").unwrap(),
    )
    .rule(Rule::parse(rule, "rule").unwrap())
    .event_schema(schema.map(|schema| EventSchema::parse(schema, "schema").unwrap()))
    .build()
}
