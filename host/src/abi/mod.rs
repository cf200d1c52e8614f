//! The contract between the host and a guest, version 1: docs/abi.md.
//!
//! [`section`] is what a module declares, [`event`] reads an event as far as that asks for, [`block`] is what the guest is
//! given, and [`result`] checks what it gives back. The sandbox and the renderer meet here. It knows what plans are made of,
//! and nothing of samples, modules or engines.

pub(crate) mod block;
pub(crate) mod event;
mod input;
pub(crate) mod result;
pub(crate) mod section;
mod slot;
