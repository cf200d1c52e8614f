//! The toolchain: a compiler with the SDK, and compiling by it.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use super::compiler::Compiler;
use super::job::Job;
use super::sdk::{Sdk, SdkLibraries, private_directory};
use super::{RustModule, RustcError, RustcLimits, RustcOptions, flags, strip};
use crate::gate::VettedSource;
use crate::sandbox::helper::Slots;

/// The file that the module is written to.
const MODULE: &str = "module.wasm";

/// A compiler that can make modules of vetted source, with the SDK compiled by it.
#[derive(Debug)]
pub struct Toolchain {
    options: RustcOptions,
    compiler: Compiler,
    sdk: SdkLibraries,
    slots: Slots,
}

impl Toolchain {
    /// Finds the compiler, and compiles the SDK by it unless that was done before.
    ///
    /// # Errors
    /// [`RustcError`], where there is no compiler for the target of extractors, or it can't compile the SDK.
    pub fn find(options: RustcOptions) -> Result<Self, RustcError> {
        let compiler = Compiler::find(&options)?;
        let sdk = SdkLibraries::of(&Sdk::default(), &options, &compiler)?;
        Ok(Self { options, compiler, sdk, slots: Slots::per_processor() })
    }

    /// The program that compiles.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.compiler.program
    }

    /// Its version: `1.96.0`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.compiler.version
    }

    /// Compiles a source that was vetted. As many are compiled at a time as there are processors; waiting isn't counted.
    ///
    /// # Errors
    /// [`RustcError`]: the errors of the source, or the limit that the compiler ran into.
    pub fn compile(&self, source: &VettedSource) -> Result<RustModule, RustcError> {
        self.compile_within(source, &self.options.limits)
    }

    /// The same within other limits than those that the toolchain was found with.
    ///
    /// # Errors
    /// As [`Toolchain::compile`].
    pub fn compile_within(
        &self,
        source: &VettedSource,
        limits: &RustcLimits,
    ) -> Result<RustModule, RustcError> {
        let _slot = self.slots.take();
        let failed = |error: std::io::Error| {
            RustcError::ToolchainFailed(format!("a directory for it: {error}"))
        };
        let work = private_directory("retort-rustc-", &std::env::temp_dir()).map_err(failed)?;
        // By the name that Landlock and the compiler's own messages have for it.
        let directory = fs::canonicalize(work.path()).map_err(failed)?;
        let file = directory.join(flags::SOURCE);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&file, format!("{}{}", flags::PREFIX, source.text())).map_err(failed)?;
        let mut read = self.compiler.readable();
        read.extend(self.sdk.readable());
        let done = Job {
            helper: &self.options.helper,
            program: &self.compiler.program,
            arguments: self.arguments(&directory, limits),
            directory: &directory,
            read,
            limits,
        }
        .run()?;
        let too_large = RustcError::ModuleTooLarge { allowed: limits.module_bytes };
        let mut unstripped = Vec::new();
        fs::File::open(directory.join(MODULE))
            .and_then(|file| {
                file.take(limits.module_bytes.saturating_add(1)).read_to_end(&mut unstripped)
            })
            .map_err(|error| RustcError::Crashed(format!("it wrote no module: {error}")))?;
        if unstripped.len() as u64 > limits.module_bytes {
            return Err(too_large);
        }
        let module = strip::without_debug(&unstripped)
            .ok_or_else(|| RustcError::Crashed("what it wrote is no module".to_owned()))?;
        Ok(RustModule { module, unstripped, confinement: done.confinement })
    }

    fn arguments(&self, directory: &Path, limits: &RustcLimits) -> Vec<String> {
        let mut arguments: Vec<String> =
            flags::COMMON.iter().chain(flags::EXTRACTOR).map(|it| (*it).to_owned()).collect();
        arguments.push(format!(
            "-Clink-arg=--max-memory={}",
            // Whole pages, which a linker insists on.
            limits.guest_memory_bytes & !0xffff
        ));
        arguments.extend(self.compiler.remap(directory));
        // Its own name for it; the SDK's library is what `std` means.
        arguments.push("--extern=alloc".to_owned());
        arguments.extend(self.sdk.arguments());
        arguments.extend(["-o".to_owned(), MODULE.to_owned(), flags::SOURCE.to_owned()]);
        arguments
    }
}
