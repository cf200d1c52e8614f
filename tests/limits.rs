//! Limits: each of them holds, at its figure and not before, and says what was used and what was allowed.

mod helper;
