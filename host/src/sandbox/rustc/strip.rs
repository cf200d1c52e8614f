//! Modules without debug information.

use wasmparser::{Parser, Payload};

/// How the names of custom sections begin that hold debug information.
const DEBUG: &str = ".debug_";

/// Bytes of a module's header.
const HEADER_BYTES: usize = 8;

/// A module without its sections of debug information, all else byte for byte as it is; `None` where it can't be read.
pub(super) fn without_debug(module: &[u8]) -> Option<Vec<u8>> {
    let mut kept = module.get(..HEADER_BYTES)?.to_vec();
    // A section begins where the one before it ends: what a parser says of it leaves out its kind and its length.
    let mut end = HEADER_BYTES;
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload.ok()?;
        let Some((_, range)) = payload.as_section() else { continue };
        let section = module.get(end..range.end)?;
        end = range.end;
        let is_debug =
            matches!(&payload, Payload::CustomSection(it) if it.name().starts_with(DEBUG));
        if !is_debug {
            kept.extend_from_slice(section);
        }
    }
    Some(kept)
}
