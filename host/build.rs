//! Says that the library has to be built anew when a case is added to the corpus: a macro takes them in, and only the
//! contents of those that it saw are known to the compiler.

#![allow(clippy::print_stdout, reason = "it is how a build script speaks")]

fn main() {
    println!("cargo::rerun-if-changed=../tests/hostile");
}
