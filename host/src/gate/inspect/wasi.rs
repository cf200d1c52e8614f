//! The functions of WASI preview 1 that a host may grant.
//!
//! A grant is a list of names and types that is written down here, not whatever a library happens to provide: a function that
//! is added to the library is refused until somebody has thought about it.

use serde::{Deserialize, Serialize};
use wasmparser::ValType;

use super::signature::signature_text;

/// The name of the module that WASI's functions are imported from.
pub const WASI_MODULE: &str = "wasi_snapshot_preview1";

/// Which functions of WASI preview 1 a guest may import. Each includes those before it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Grant {
    /// None: a guest imports nothing.
    None,
    /// Those that reach nothing outside the sandbox: writing to a log, a clock and random bytes that are the same for every
    /// event, an environment and arguments that are empty, and exit. The default.
    #[default]
    Core,
    /// Also those that read files, from the directories that the host grants.
    Files,
}

impl Grant {
    /// All of them, the strictest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Core, Self::Files];

    /// The name in files and options: `none`, `core` or `files`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Core => "core",
            Self::Files => "files",
        }
    }

    /// Whether a guest may import `function` under this grant.
    #[must_use]
    pub fn allows(self, function: &WasiFunction) -> bool {
        function.grant <= self
    }
}

/// A function of WASI preview 1 that some grant allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WasiFunction {
    /// Its name.
    pub name: &'static str,
    /// The least grant that allows it.
    pub grant: Grant,
    /// Fuel of a call. Each byte that it writes, reads or fills costs one more, and so does each of a path or a list of buffers
    /// that it is given.
    pub fuel: u64,
    /// Types of its parameters.
    pub(super) params: &'static [ValType],
    /// Types of its results.
    pub(super) results: &'static [ValType],
}

impl WasiFunction {
    /// Its type, as people write it: `(i32, i32) -> i32`.
    #[must_use]
    pub fn signature(&self) -> String {
        let ty =
            wasmparser::FuncType::new(self.params.iter().copied(), self.results.iter().copied());
        signature_text(&ty)
    }

    /// The function of that name, if some grant allows it.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        WASI_FUNCTIONS.iter().find(|function| function.name == name)
    }
}

/// Fuel of leaving the guest and coming back.
const CALL: u64 = 200;

/// Fuel of asking the file system, a look-up by path included.
const FILE_CALL: u64 = 5_000;

/// Fuel of going through a whole directory, which is done for every call whatever it gives back.
const LISTING: u64 = 100_000;

const I: ValType = ValType::I32;
const L: ValType = ValType::I64;

const fn core(
    name: &'static str,
    params: &'static [ValType],
    results: &'static [ValType],
) -> WasiFunction {
    WasiFunction { name, grant: Grant::Core, fuel: CALL, params, results }
}

const fn files(name: &'static str, fuel: u64, params: &'static [ValType]) -> WasiFunction {
    WasiFunction { name, grant: Grant::Files, fuel, params, results: &[I] }
}

/// Every function that some grant allows, by grant and then by name.
pub const WASI_FUNCTIONS: &[WasiFunction] = &[
    core("args_get", &[I, I], &[I]),
    core("args_sizes_get", &[I, I], &[I]),
    core("clock_time_get", &[I, L, I], &[I]),
    core("environ_get", &[I, I], &[I]),
    core("environ_sizes_get", &[I, I], &[I]),
    core("fd_write", &[I, I, I, I], &[I]),
    core("proc_exit", &[I], &[]),
    core("random_get", &[I, I], &[I]),
    files("fd_close", CALL, &[I]),
    files("fd_fdstat_get", FILE_CALL, &[I, I]),
    files("fd_filestat_get", FILE_CALL, &[I, I]),
    files("fd_prestat_dir_name", CALL, &[I, I, I]),
    files("fd_prestat_get", CALL, &[I, I]),
    files("fd_read", FILE_CALL, &[I, I, I, I]),
    files("fd_readdir", LISTING, &[I, I, I, L, I]),
    files("fd_seek", FILE_CALL, &[I, L, I, I]),
    files("path_filestat_get", FILE_CALL, &[I, I, I, I, I]),
    files("path_open", FILE_CALL, &[I, I, I, I, I, L, L, I, I]),
];

#[cfg(test)]
mod tests {
    use super::{Grant, WASI_FUNCTIONS};

    #[test]
    fn functions_stand_once_in_the_order_that_is_promised() {
        let keys: Vec<_> = WASI_FUNCTIONS.iter().map(|f| (f.grant, f.name)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        assert!(WASI_FUNCTIONS.iter().all(|f| !Grant::None.allows(f) && Grant::Files.allows(f)));
    }
}
