//! Retort for Python: what `retort` is for Rust, as objects of Python.
//!
//! A thin layer: nothing is decided in here. What waits or computes does so without the interpreter's lock; an error of Python is an
//! error of the library with its code, its place and its figures; a panic is an error as well.

mod arrow;
mod author;
mod bundle;
mod compat;
mod error;
mod event;
mod json;
mod many;
mod model;
mod open;
mod result;
mod seat;
mod task;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What `retort` is made of. Not for use by itself.
#[pymodule]
mod _native {
    use super::{PyDict, *};

    #[pymodule_export]
    use super::author::{check, compile, project, repair};
    #[pymodule_export]
    use super::bundle::Bundle;
    #[pymodule_export]
    use super::compat::{
        BundleExtractor, FallbackOutcome, Spec, compile_with_llm, diagnostic, held_to, parse_plan,
        plan_schema, render_plan, resolution_prompt, run_with_fallback, validate,
    };
    #[cfg(debug_assertions)]
    #[pymodule_export]
    use super::error::panicking;
    #[pymodule_export]
    use super::many::ExtractMany;
    #[pymodule_export]
    use super::open::forked;
    #[pymodule_export]
    use super::result::{Edge, Element, Node, Result};

    /// Children that are forked, by whatever tells Python of it, know that they are.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let hook = PyDict::new(module.py());
        hook.set_item("after_in_child", module.getattr("_forked")?)?;
        let os = module.py().import("os")?;
        match os.getattr_opt("register_at_fork")? {
            Some(register) => register.call((), Some(&hook)).map(drop),
            // A system without forks.
            None => Ok(()),
        }
    }
}
