//! The toolchain: a compiler with the SDK, and compiling by it.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::compiler::Compiler;
use super::job::Job;
use super::sdk::{Sdk, SdkLibraries, private_directory};
use super::{Confinement, RustModule, RustcError, RustcLimits, RustcOptions, flags, strip};
use crate::evidence::effort::Cancel;
use crate::gate::VettedSource;
use crate::sandbox::helper::Slots;

/// The file that the module is written to.
const MODULE: &str = "module.wasm";

/// A source that has no errors. Where it doesn't compile either, it isn't for another source to blame.
const KNOWN_TO_BE_GOOD: &str = "use retort_guest::prelude::*;
extractor! { function: known, event_types: [\"e\"], inputs: { id: [\"id\"] } }
fn known(event: &Event<'_>, graph: &mut Graph) { graph.node(\"A\").key(\"id\", event.id).add(); }
";

/// A compiler that can make modules of vetted source, with the SDK compiled by it.
#[derive(Debug)]
pub struct Toolchain {
    options: RustcOptions,
    compiler: Compiler,
    sdk: Mutex<Arc<SdkLibraries>>,
    slots: Slots,
    /// How the compiler was confined, once a source was given to it: it is the same on one kernel.
    confined: OnceLock<Confinement>,
}

/// Who asks for a module, and how.
#[derive(Clone, Copy)]
struct How<'a> {
    limits: &'a RustcLimits,
    require_confinement: bool,
    cancel: &'a Cancel,
}

impl Toolchain {
    /// Finds the compiler, and compiles the SDK by it unless that was done before.
    ///
    /// # Errors
    /// [`RustcError`], where there is no compiler for the target of extractors, or it can't compile the SDK.
    pub fn find(options: RustcOptions) -> Result<Self, RustcError> {
        let compiler = Compiler::find(&options)?;
        let sdk = SdkLibraries::of(&Sdk::default(), &options, &compiler, &Cancel::default())?;
        let sdk = Mutex::new(Arc::new(sdk));
        Ok(Self {
            options,
            compiler,
            sdk,
            slots: Slots::per_processor(),
            confined: OnceLock::new(),
        })
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
    /// What may be the compiler's fault, or that of the SDK's libraries, isn't put down to the source: a source that is known to be good
    /// tells. Where that fails as well, the SDK is compiled anew, once.
    ///
    /// # Errors
    /// [`RustcError`]: the errors of the source, the limit that the compiler ran into, or what the machine
    /// [can't do](RustcError::is_of_host).
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
        let require_confinement = self.options.require_confinement;
        self.made(source.text(), How { limits, require_confinement, cancel: &Cancel::default() })
    }

    /// The same as [`Toolchain::compile`], as long as somebody waits for it.
    ///
    /// # Errors
    /// As [`Toolchain::compile`], and [`RustcError::Cancelled`].
    pub fn compile_unless(
        &self,
        source: &VettedSource,
        cancel: &Cancel,
    ) -> Result<RustModule, RustcError> {
        self.compile_requiring(source, self.options.require_confinement, cancel)
    }

    /// The same for somebody who may require that the compiler is confined in full.
    pub(crate) fn compile_requiring(
        &self,
        source: &VettedSource,
        require_confinement: bool,
        cancel: &Cancel,
    ) -> Result<RustModule, RustcError> {
        let limits = &self.options.limits;
        let require_confinement = require_confinement || self.options.require_confinement;
        self.made(source.text(), How { limits, require_confinement, cancel })
    }

    /// How the compiler was confined the last time that it was given a source; `None` where it wasn't given one yet.
    #[must_use]
    pub fn confinement(&self) -> Option<Confinement> {
        self.confined.get().copied()
    }

    fn made(&self, text: &str, how: How<'_>) -> Result<RustModule, RustcError> {
        let _slot = self.slots.take_unless(how.cancel).ok_or(RustcError::Cancelled)?;
        let mut sdk = Arc::clone(&self.sdk());
        let first = self.run(text, how, &sdk);
        match &first {
            Err(error) if error.is_doubtful() => {}
            _ => return first,
        }
        if self.fault(&sdk, how)?.is_some() {
            sdk = self.mended(&sdk, how.cancel)?;
            if let Some(fault) = self.fault(&sdk, how)? {
                return Err(fault);
            }
        } else if let Err(RustcError::Rejected { .. }) = first {
            return first;
        }
        // The libraries are others now, or the machine was short of something for a moment.
        self.run(text, how, &sdk).map_err(|error| match error {
            // Not those that the good source needs.
            RustcError::SdkUnusable(said) => RustcError::Crashed(said),
            error => error,
        })
    }

    /// The libraries that sources are compiled with now.
    fn sdk(&self) -> MutexGuard<'_, Arc<SdkLibraries>> {
        // It is exchanged as a whole, whoever panicked elsewhere.
        self.sdk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Other libraries than these, which are made once for all who find them at fault.
    fn mended(
        &self,
        broken: &Arc<SdkLibraries>,
        cancel: &Cancel,
    ) -> Result<Arc<SdkLibraries>, RustcError> {
        let mut sdk = self.sdk();
        if Arc::ptr_eq(&sdk, broken) {
            let (options, compiler) = (&self.options, &self.compiler);
            let others =
                SdkLibraries::instead_of(broken, &Sdk::default(), options, compiler, cancel)?;
            *sdk = Arc::new(others);
        }
        Ok(Arc::clone(&sdk))
    }

    /// What keeps the compiler from compiling a source that is known to be good, if something does.
    ///
    /// # Errors
    /// What keeps it from compiling anything, whatever libraries there are.
    fn fault(&self, sdk: &SdkLibraries, how: How<'_>) -> Result<Option<RustcError>, RustcError> {
        let how = How { limits: &RustcLimits::default(), ..how };
        match self.run(KNOWN_TO_BE_GOOD, how, sdk) {
            Ok(_) => Ok(None),
            Err(error @ RustcError::SdkUnusable(_)) => Ok(Some(error)),
            Err(error) if error.is_of_host() => Err(error),
            Err(error) => Ok(Some(RustcError::ToolchainFailed(format!(
                "it can't compile what is known to be good: {error}"
            )))),
        }
    }

    fn run(&self, text: &str, how: How<'_>, sdk: &SdkLibraries) -> Result<RustModule, RustcError> {
        let limits = how.limits;
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
        fs::write(&file, format!("{}{text}", flags::PREFIX)).map_err(failed)?;
        let mut read = self.compiler.readable();
        read.extend(sdk.readable());
        let done = Job {
            helper: &self.options.helper,
            program: &self.compiler.program,
            arguments: self.arguments(&directory, limits, sdk),
            directory: &directory,
            read,
            limits,
            require_confinement: how.require_confinement,
            confined: &self.confined,
            cancel: how.cancel,
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
        Ok(RustModule {
            module,
            unstripped,
            confinement: done.confinement,
            compiler: self.compiler.name(),
            sdk: Sdk::default().digest(),
        })
    }

    fn arguments(&self, directory: &Path, limits: &RustcLimits, sdk: &SdkLibraries) -> Vec<String> {
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
        arguments.extend(sdk.arguments());
        arguments.extend(["-o".to_owned(), MODULE.to_owned(), flags::SOURCE.to_owned()]);
        arguments
    }
}
