//! The gates that judge a candidate without running it.
//!
//! [`fit`] checks a plan against what is known of its events and its graph, [`policy`] against what a tenant lets extractors
//! read, and [`inspect`] says what a module is before anything compiles it. They are siblings: none needs another. The one
//! gate that runs a module, the [sample run](crate::bundle::smoke), comes after the sandbox, of which the gates know nothing.

pub mod fit;
pub mod inspect;
pub mod policy;
