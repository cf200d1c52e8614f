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

/// The digest of a module.
pub(super) struct ModuleDigest([u8; 32]);

impl ModuleDigest {
    pub(super) fn of(wasm: &[u8]) -> Self {
        Self(Sha256::digest(wasm).into())
    }
}

/// Everything besides the module that native code depends on.
#[derive(Debug)]
pub(super) struct EngineIdentity {
    engine: [u8; 32],
}

/// The name of an entry: no secret, and the same for the same module under the same engine.
pub(super) struct EntryName(String);

impl EntryName {
    /// The digits of a digest, and what the names of such entries end in.
    pub(super) fn of(digest: &[u8; 32], extension: &str) -> Self {
        const DIGITS: [char; 16] =
            ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        let mut name = String::with_capacity(2 * digest.len() + extension.len());
        let digit = |half: u8| DIGITS[usize::from(half & 0xf)];
        digest.iter().for_each(|byte| name.extend([digit(byte >> 4), digit(*byte)]));
        Self(name + extension)
    }

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

    pub(super) fn name(&self, module: &ModuleDigest) -> EntryName {
        let mut hasher = Sha256::new();
        // Both are digests of one length, so that they can't run together.
        hasher.update(self.engine);
        hasher.update(module.0);
        hasher.update(super::super::WASMTIME_VERSION);
        EntryName::of(&hasher.finalize().into(), EXTENSION)
    }
}

/// The bytes before the native code.
pub(super) fn head(
    key: &CacheKey,
    identity: &EngineIdentity,
    module: &ModuleDigest,
    code: &[u8],
) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(key.tag(&fields(identity, module, code)));
    head
}

/// The native code of an entry's bytes, if it was this key that vouched for it, for this engine and this module.
pub(super) fn opened<'a>(
    bytes: &'a [u8],
    key: &CacheKey,
    identity: &EngineIdentity,
    module: &ModuleDigest,
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
    if !key.verifies(&fields(identity, module, code), tag) {
        let reason = "its authentication code is not that of this host, engine and module";
        return Err(UnfitDirectory::Content(reason.to_owned()));
    }
    Ok(code)
}

fn fields<'a>(
    identity: &'a EngineIdentity,
    module: &'a ModuleDigest,
    code: &'a [u8],
) -> [&'a [u8]; 5] {
    [MAGIC, super::super::WASMTIME_VERSION.as_bytes(), &identity.engine, &module.0, code]
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
            let identity = EngineIdentity::of(&Engine::new(config).unwrap());
            identity.name(&ModuleDigest::of(b"module")).as_str().to_owned()
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
        let name = |module: &[u8]| engine.name(&ModuleDigest::of(module)).as_str().to_owned();
        assert_ne!(name(b"module"), name(b"modulf"));
    }
}
