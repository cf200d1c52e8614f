//! The flags of the compiler, all of them.

/// Flags of the SDK's libraries and of extractors.
pub(super) const COMMON: &[&str] = &[
    "--edition=2024",
    "--target=wasm32-wasip1",
    "-Copt-level=3",
    // Text is copied 16 bytes at a time. Every guest may use them.
    "-Ctarget-feature=+simd128",
    "-Cpanic=abort",
    // What was only a warning tells nothing to who reads the errors.
    "-Awarnings",
    "--error-format=json",
];

/// Flags of the SDK's libraries.
pub(super) const LIBRARY: &[&str] = &["--crate-type=rlib", "-Cembed-bitcode=yes"];

/// Flags of extractors.
pub(super) const EXTRACTOR: &[&str] = &[
    "--crate-name=extractor",
    "--crate-type=cdylib",
    "-Clto=fat",
    "-Ccodegen-units=1",
    "-Cdebuginfo=line-tables-only",
    // The one global that changes: where the host can reach it, it can put an instance back as it was.
    "-Clink-arg=--export=__stack_pointer",
    "-Funsafe_code",
    // With both there is 1 MiB of memory at first, which few events outgrow: growing costs more, and what isn't touched, nothing.
    "-Clink-arg=-zstack-size=524288",
    "-Clink-arg=--initial-heap=524288",
];

/// What stands before the first line of a source: the standard library is then what the SDK has of it, since no other
/// one is there to be named.
pub(super) const PREFIX: &str = "#![no_std]";

/// The file that a source is compiled as, from the directory of the compiler.
pub(crate) const SOURCE: &str = "src/lib.rs";

/// The crates of the SDK: the directory of each in its sources, the crate's name, and the name that extractors know it by.
pub(super) const CRATES: &[(&str, &str, &str)] =
    &[("std", "retort_guest_std", "std"), ("sdk", "retort_guest", "retort_guest")];
