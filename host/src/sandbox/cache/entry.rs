//! What an entry is called and how it begins.

use std::hash::{Hash as _, Hasher};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;

use super::directory::UnfitDirectory;
use super::key::{CacheKey, TAG_BYTES};

/// What the names of entries end in.
pub(super) const EXTENSION: &str = ".native";

/// What an entry begins with. The code follows, then the native code up to the end of the file.
const MAGIC: &[u8] = b"retort native 1\n";

const HEAD_BYTES: usize = MAGIC.len() + TAG_BYTES;

/// Everything besides the module that native code depends on.
#[derive(Debug)]
pub(super) struct EngineIdentity {
    engine: [u8; 32],
}

/// The name of an entry: no secret, and the same for the same module under the same engine.
pub(super) struct EntryName(String);

impl EntryName {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl EngineIdentity {
    pub(super) fn of(engine: &Engine) -> Self {
        let mut hasher = Sha256Hasher(Sha256::new());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self { engine: hasher.0.finalize().into() }
    }

    pub(super) fn name(&self, wasm: &[u8]) -> EntryName {
        let mut hasher = Sha256::new();
        // Both are digests of one length, so that they can't run together.
        hasher.update(self.engine);
        hasher.update(Sha256::digest(wasm));
        hasher.update(super::super::WASMTIME_VERSION);
        let digits = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        EntryName(digits + EXTENSION)
    }
}

/// The bytes before the native code.
pub(super) fn head(key: &CacheKey, identity: &EngineIdentity, wasm: &[u8], code: &[u8]) -> Vec<u8> {
    let digest = Sha256::digest(wasm);
    let mut head = MAGIC.to_vec();
    head.extend(key.tag(&fields(identity, &digest, code)));
    head
}

/// The native code of an entry's bytes, if it was this key that vouched for it, for this engine and this module.
pub(super) fn opened<'a>(
    bytes: &'a [u8],
    key: &CacheKey,
    identity: &EngineIdentity,
    wasm: &[u8],
) -> Result<&'a [u8], UnfitDirectory> {
    let Some((head, code)) = bytes.split_at_checked(HEAD_BYTES) else {
        return Err(UnfitDirectory::Content(format!(
            "expected a head of {HEAD_BYTES} bytes, found {} bytes in all",
            bytes.len()
        )));
    };
    let Some(tag) = head.strip_prefix(MAGIC) else {
        return Err(UnfitDirectory::Content("it doesn't begin as an entry does".to_owned()));
    };
    if !key.verifies(&fields(identity, &Sha256::digest(wasm), code), tag) {
        let reason = "its authentication code is not that of this host, engine and module";
        return Err(UnfitDirectory::Content(reason.to_owned()));
    }
    Ok(code)
}

fn fields<'a>(identity: &'a EngineIdentity, module: &'a [u8], code: &'a [u8]) -> [&'a [u8]; 5] {
    [MAGIC, super::super::WASMTIME_VERSION.as_bytes(), &identity.engine, module, code]
}

/// SHA-256 as a hasher: all that is hashed goes into it. Its 64 bits are never asked for.
struct Sha256Hasher(Sha256);

impl Hasher for Sha256Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use wasmtime::{Config, Engine};

    use super::*;

    #[test]
    fn engines_that_compile_alike_have_one_identity() {
        let name = |config: &Config| {
            EngineIdentity::of(&Engine::new(config).unwrap()).name(b"module").as_str().to_owned()
        };
        let default = name(&Config::new());
        assert_eq!(default, name(&Config::new()));
        assert_eq!(default, name(Config::new().max_wasm_stack(4096)));
        for other in [
            Config::new().consume_fuel(true),
            Config::new().epoch_interruption(true),
            Config::new().cranelift_nan_canonicalization(true),
            Config::new().wasm_simd(false).wasm_relaxed_simd(false),
            Config::new().memory_reservation(1 << 16),
        ] {
            assert_ne!(default, name(other), "{other:?}");
        }
        let engine = EngineIdentity::of(&Engine::default());
        assert_ne!(engine.name(b"module").as_str(), engine.name(b"modulf").as_str());
    }
}
