//! What of WebAssembly guests may use.

use wasmparser::WasmFeatures;

/// The WebAssembly features that guests may use; an engine that runs them needs no others.
///
/// On: mutable globals, saturating conversions, sign extension, bulk memory, 128-bit SIMD, floats, and
/// over-long table indices in `call_indirect`, which Rust's linker writes.
#[must_use]
pub fn features() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SATURATING_FLOAT_TO_INT
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::BULK_MEMORY
        | WasmFeatures::SIMD
        | WasmFeatures::FLOATS
        | WasmFeatures::CALL_INDIRECT_OVERLONG
}
