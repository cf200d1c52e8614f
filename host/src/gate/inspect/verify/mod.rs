//! The verifier: whether a module that this host didn't render is reset-safe all the same.
//!
//! What is proved, of a module that [`verify`] takes: its result depends on the input block alone. Whatever lies in its
//! memory outside the data segments when it is called, the same block gives the same packed address and length, or the same
//! trap; the bytes there are the same; and so is the fuel. docs/proof.md has the argument.
//!
//! How: the module has the form that the renderer gives (`module`), begins with the hand-written functions of a known
//! template (`template`), and all other functions are run over what is known of their values (`function`, `value`,
//! `state`), each after those that it calls. Loops are taken in one form alone, over the rows of a column that the module
//! declares. What isn't understood isn't proven.

mod access;
mod arithmetic;
mod call;
mod callee;
mod function;
mod module;
mod reason;
mod state;
mod template;
mod value;

use serde::Serialize;
use wasmparser::{FunctionBody, OperatorsReader, ValType};

pub use self::function::VerifiedCounts;
pub use self::reason::{Obligation, Unproven};

use self::callee::Callee;
use self::function::{FunctionContext, FunctionRole};
use self::module::Module;
use super::Inspected;
use super::rows::{Matcher, RowLoop};
use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};
use crate::abi::section::Section;

/// A proof that the verifier found: what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The first template that had the hand-written functions that the module begins with.
    pub template: &'static str,
    /// What was found in the generated functions.
    pub found: VerifiedCounts,
}

/// Verifies an inspected module, in time linear in its size times the locals of a function.
///
/// # Errors
/// The first thing that can't be proven. That doesn't say that the module is unsafe.
pub fn verify(inspected: &Inspected) -> Result<Verified, Unproven> {
    let section = inspected.section();
    let module = Module::of(inspected.wasm(), section)?;
    let template = template::of(&module)?;
    let mut callees = template.callees;
    let mut found = VerifiedCounts::default();
    let hand_written = callees.len();
    // A section has at most 1024 inputs.
    let inputs = section.inputs().len() as u32;
    for (index, body) in module.bodies.iter().enumerate().skip(hand_written) {
        let context = FunctionContext { module: &module, inputs, callees: &callees };
        let callee = one(&context, section, index, body, &mut found)
            .map_err(|unproven| unproven.in_place(module.func(index)))?;
        callees.push(callee);
        found.functions += 1;
    }
    if (module.extractor as usize) < hand_written {
        return Obligation::Exports
            .unmet(format!("func[{}] is none that could be the extractor", module.extractor));
    }
    Ok(Verified { template: template.version, found })
}

fn one(
    context: &FunctionContext<'_, '_>,
    section: &Section,
    index: usize,
    body: &FunctionBody<'_>,
    found: &mut VerifiedCounts,
) -> Result<Callee, Unproven> {
    const I32: ValType = ValType::I32;
    let module = context.module;
    let ty = u32::try_from(index).ok().and_then(|index| module.ty(index));
    let is_extractor = index == module.extractor as usize;
    let role = match ty.map(|ty| (ty.params(), ty.results())) {
        Some(([I32, I32], [ValType::I64])) if is_extractor => FunctionRole::Extractor,
        Some(([I32, I32], [I32])) => FunctionRole::OfEvent,
        Some(([I32, I32, I32], [I32])) => FunctionRole::OfRow,
        _ => {
            return Obligation::Signature.unmet(
                "expected a function that writes a part of the result, got one of another type",
            );
        }
    };
    match (role, row_loop(body)) {
        (FunctionRole::OfEvent, Some(rows)) => {
            found.row_loops += 1;
            over_rows(context, section, rows)
        }
        _ => function::verify(context, body, role, found),
    }
}

/// The loop over rows that a body is.
fn row_loop(body: &FunctionBody<'_>) -> Option<RowLoop> {
    let mut reader = body.get_locals_reader().ok()?;
    for _ in 0..reader.get_count() {
        reader.read().ok()?;
    }
    let mut operators = reader.get_binary_reader();
    operators.set_features(super::features::features());
    let mut matcher = Matcher::default();
    for operator in OperatorsReader::new(operators) {
        matcher.see(&operator.ok()?);
    }
    matcher.finish()
}

/// Holds a loop to the rows of an iteration: it begins at the first column's record, takes as many rows as there are, each of
/// all its columns, and calls a function that reads no further than that.
fn over_rows(
    context: &FunctionContext<'_, '_>,
    section: &Section,
    rows: RowLoop,
) -> Result<Callee, Unproven> {
    let fault = |message: String| Unproven::new(Obligation::Loop, message);
    let head = rows.head.checked_sub((HEADER_BYTES + 4) as u64);
    let place = head.filter(|at| at % SLOT_BYTES as u64 == 0).map(|at| at / SLOT_BYTES as u64);
    let input = place.and_then(|place| usize::try_from(place).ok());
    let of = input.and_then(|input| section.inputs().get(input)).and_then(|input| input.rows);
    let (Some(input), Some(of)) = (input, of) else {
        let message =
            format!("expected rows of a declared iteration, got what is at {}", rows.head);
        return Err(fault(message));
    };
    let columns =
        || section.inputs().iter().enumerate().filter(|(_, input)| input.rows == Some(of));
    if columns().next().map(|(first, _)| first) != Some(input) {
        return Err(fault(format!(
            "expected the first column of its iteration, got input {input}"
        )));
    }
    let bytes = columns().count() * SLOT_BYTES;
    if rows.stride as usize != bytes {
        return Err(fault(format!("expected rows of {bytes} bytes, got {}", rows.stride)));
    }
    match context.callees.get(rows.callee as usize) {
        Some(Callee::Writer { row: Some(reads), may_fail }) if *reads <= rows.stride => {
            Ok(Callee::Writer { row: None, may_fail: *may_fail })
        }
        Some(Callee::Writer { row: Some(reads), .. }) => {
            Err(fault(format!("the function for a row reads {reads} bytes of {}", rows.stride)))
        }
        _ => Err(fault(format!(
            "expected a function for a row before the loop, got func[{}]",
            rows.callee
        ))),
    }
}
