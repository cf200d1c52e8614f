//! Types of functions as people write them.

use wasmparser::{FuncType, ValType};

/// A function's type as people write it: `(i32, i32) -> i64`.
pub(super) fn signature_text(ty: &FuncType) -> String {
    // The limits on parameters and results don't hold for a module that is being rejected.
    const MOST: usize = 32;
    let list = |types: &[ValType]| {
        let mut names: Vec<String> = types.iter().take(MOST).map(ValType::to_string).collect();
        if types.len() > MOST {
            names.push("...".to_owned());
        }
        names.join(", ")
    };
    match ty.results() {
        [result] => format!("({}) -> {result}", list(ty.params())),
        results => format!("({}) -> ({})", list(ty.params()), list(results)),
    }
}
