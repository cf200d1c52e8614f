//! Instances that are put back as they were when they were new.
//!
//! An instance whose event may have left something behind can't serve the next one as it is. Where all that a guest can change of an instance is
//! within the host's reach, which the static gate finds out ([`Unrestorable`](crate::gate::Unrestorable)), writing it back costs
//! a small part of what another instance does: the kernel says which pages of the memory were written, and most events write few.

mod image;
mod pages;

pub(super) use image::{Image, Pages};
pub(super) use pages::PageMap;
