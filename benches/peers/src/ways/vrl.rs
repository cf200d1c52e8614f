//! A program in VRL, the language of Vector.

use std::collections::BTreeMap;

use vrl::compiler::{TargetValue, TimeZone, compile, runtime::Runtime, state::RuntimeState};
use vrl::value::{Secrets, Value};

use super::{Made, Way, each};
use crate::sets::{Set, program};

pub(super) fn way(set: &Set) -> Way<'_> {
    Way::new("VRL", made(set))
}

fn made(set: &Set) -> Made<'_> {
    let code = program(set.name, "vrl")?;
    let compiled = compile(&code, &vrl::stdlib::all())
        .map_err(|errors| vrl::diagnostic::Formatter::new(&code, errors).to_string())?;
    let mut runtime = Runtime::new(RuntimeState::default());
    each(move |event, out| {
        // As Vector's codec for JSON does it.
        let Ok(value) = serde_json::from_slice::<Value>(event) else { return false };
        let mut target = TargetValue {
            value,
            metadata: Value::Object(BTreeMap::new()),
            secrets: Secrets::default(),
        };
        runtime.clear();
        let result = runtime.resolve(&mut target, &compiled.program, &TimeZone::default());
        result.is_ok_and(|result| serde_json::to_writer(out, &result).is_ok())
    })
}
