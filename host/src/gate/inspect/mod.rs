//! The static gate: what a module is, before anything compiles or runs it.
//!
//! [`inspect`] takes any bytes. It bounds the module's structure ([`StructuralLimits`]), since the cost of
//! compiling isn't bounded by size; validates it against WebAssembly with only the proposals that guests
//! need ([`features`]); and checks it against the ABI: one `retort` section, one memory with a maximum, exports
//! of the right types, no start function, and no imports but those of WASI that the host grants ([`Grant`]). All problems come back at once. What passes is an
//! [`Inspected`], which nothing else can make.

use std::sync::Arc;

use serde::Serialize;
use wasmparser::{Validator, WasmFeatures};

mod abi;
mod body;
mod calls;
mod cost;
mod facts;
mod features;
pub(crate) mod fuel;
mod imports;
mod limits;
mod problem;
pub(crate) mod prove;
mod restorable;
mod rows;
mod signature;
pub(crate) mod verify;
mod walk;
mod wasi;

pub(crate) use abi::declared_by;
pub use cost::OPERATOR_COST;
pub use facts::{ExportFact, Facts, SectionFact};
pub use features::features;
pub use fuel::FuelBound;
pub use limits::{Limit, StructuralLimits};
pub use problem::{Fault, InspectProblem, MAX_PROBLEMS, Rejected};
pub use prove::{Proof, ResetSafety};
pub use restorable::Unrestorable;
pub use verify::{Obligation, Unproven, Verified, VerifiedCounts, verify};
pub use wasi::{Grant, WASI_FUNCTIONS, WASI_MODULE, WasiFunction};

use crate::abi::result::ResultForm;
use crate::abi::section::{BUFFER_EXPORT, INITIALIZE_EXPORT, Section};
use problem::{ModulePlace, Problems};
use walk::ModuleWalk;

/// How a core module of version 1 begins.
const HEADER: &[u8; 8] = b"\0asm\x01\0\0\0";

/// A module that passed the static gate.
#[derive(Clone, Debug, Serialize)]
pub struct Inspected {
    #[serde(skip)]
    wasm: Arc<[u8]>,
    section: Section,
    facts: Facts,
    /// The bound on fuel that holds once loops are proven to go over rows.
    #[serde(skip)]
    bound_if_proven: Option<FuelBound>,
    reset_safety: ResetSafety,
    #[serde(skip_serializing_if = "Option::is_none")]
    unproven: Option<Unproven>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unrestorable: Option<Unrestorable>,
    #[serde(skip)]
    result_form: Option<Arc<ResultForm>>,
}

impl Inspected {
    /// The module's bytes.
    #[must_use]
    pub fn wasm(&self) -> &Arc<[u8]> {
        &self.wasm
    }

    /// What the module declares about itself.
    #[must_use]
    pub fn section(&self) -> &Section {
        &self.section
    }

    /// What can be read off it.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether one instance may serve many events. [`ResetSafety::Unproven`] until
    /// a proof shows otherwise.
    #[must_use]
    pub fn reset_safety(&self) -> ResetSafety {
        self.reset_safety
    }

    /// Why the [verifier](verify) found no proof; `None` where there is one, or where it wasn't asked.
    #[must_use]
    pub fn unproven(&self) -> Option<&Unproven> {
        self.unproven.as_ref()
    }

    /// Why an instance that has served an event can't be put back as it was when it was new; `None` where it can.
    #[must_use]
    pub fn unrestorable(&self) -> Option<&Unrestorable> {
        self.unrestorable.as_ref()
    }

    /// The form that all its results are proven to have, if it is.
    pub(crate) fn result_form(&self) -> Option<&Arc<ResultForm>> {
        self.result_form.as_ref()
    }
}

/// Inspects a module in time and space linear in the size that `limits` allow, under the default [`Grant`].
///
/// # Errors
/// Everything that is wrong with it, at most [`MAX_PROBLEMS`] listed and the rest counted. What merely follows
/// from another problem isn't reported: nothing is missing from a module that breaks off, and no
/// section is validated after the first invalid one (function bodies are, each by itself).
pub fn inspect(wasm: &[u8], limits: &StructuralLimits) -> Result<Inspected, Rejected> {
    inspect_granting(wasm, limits, Grant::default())
}

/// The same, for a host that grants so much of WASI to its guests.
///
/// # Errors
/// As [`inspect`].
pub fn inspect_granting(
    wasm: &[u8],
    limits: &StructuralLimits,
    grant: Grant,
) -> Result<Inspected, Rejected> {
    before_reading(wasm, limits)?;
    let mut walk = ModuleWalk::of(wasm, limits, grant);
    let section = abi::check(&mut walk);
    walk.totals();
    walk.problems.rejection(|function| walk.function_name(function))?;
    let mut facts = facts(wasm, &walk, section.as_ref());
    let unrestorable = restorable::obstacle(&walk);
    // Nothing says yet that what a loop counts is rows.
    let bound_if_proven = facts.fuel_bound;
    facts.fuel_bound = bound_if_proven.filter(|bound| bound.per_block_byte() == 0);
    Ok(Inspected {
        wasm: wasm.into(),
        facts,
        bound_if_proven,
        section: section.expect("a module without a declaration has been rejected"),
        reset_safety: ResetSafety::Unproven,
        unproven: None,
        unrestorable,
        result_form: None,
    })
}

fn before_reading(wasm: &[u8], limits: &StructuralLimits) -> Result<(), Rejected> {
    let mut problems = Problems::new(limits);
    let size = wasm.len() as u64;
    if problems.within(ModulePlace::Module, Limit::ModuleBytes, size) && !wasm.starts_with(HEADER) {
        let found = match wasm.get(..HEADER.len()) {
            Some(bytes) => format!("{bytes:02x?}"),
            None => format!("{size} bytes"),
        };
        problems.push(ModulePlace::Module, Fault::NotAModule { found });
    }
    problems.rejection(|_| None)
}

fn facts(wasm: &[u8], walk: &ModuleWalk<'_>, section: Option<&Section>) -> Facts {
    let exports = walk.exports.as_deref().unwrap_or_default();
    let memory = walk.memories.first();
    let order = calls::callees_first(&walk.functions);
    let roots: Vec<u32> = exports
        .iter()
        .filter(|export| {
            export.name == BUFFER_EXPORT
                || export.name == INITIALIZE_EXPORT
                || section.is_some_and(|section| export.name == section.function())
        })
        .map(|export| export.index)
        .collect();
    let most = |measure: fn(&body::BodyShape) -> u64| {
        walk.defined().map(|code| measure(&code.shape)).max().unwrap_or(0)
    };
    Facts {
        module_bytes: wasm.len() as u64,
        sections: walk.sections.clone(),
        imports: walk.granted_imports.clone(),
        exports: exports.iter().map(|export| export_fact(walk, export)).collect(),
        memory_min_pages: memory.map_or(0, |memory| memory.initial),
        memory_max_pages: memory.and_then(|memory| memory.maximum).unwrap_or(0),
        data_segments: walk.data_segments,
        data_bytes: walk.data_bytes,
        table_entries: walk.table_entries,
        functions: walk.defined().count() as u64,
        largest_body_bytes: most(|shape| shape.bytes),
        max_locals: most(|shape| shape.locals),
        max_nesting: most(|shape| shape.nesting),
        max_nested_loops: most(|shape| shape.nested_loops),
        max_br_table_targets: most(|shape| shape.br_table_targets),
        loops: walk.defined().map(|code| code.shape.loops).sum(),
        loop_locals: walk.loop_locals(),
        max_operands: most(|shape| shape.operands),
        branch_values: walk.module_branch_values(),
        grows_memory: walk.defined().any(|code| code.grows_memory),
        has_table: walk.tables > 0,
        calls_indirectly: walk.defined().any(|code| code.calls_indirectly),
        recursive: order.len() < walk.functions.len(),
        uses_floats: Validator::new_with_features(features().difference(WasmFeatures::FLOATS))
            .validate_all(wasm)
            .is_err(),
        fuel_bound: fuel::bound(&walk.functions, &order, &roots),
    }
}

fn export_fact(walk: &ModuleWalk<'_>, export: &wasmparser::Export<'_>) -> ExportFact {
    let signature = (export.kind == wasmparser::ExternalKind::Func)
        .then(|| walk.function_type(export.index).map(signature::signature_text))
        .flatten();
    ExportFact { name: export.name.to_owned(), kind: abi::kind_name(export.kind), signature }
}
