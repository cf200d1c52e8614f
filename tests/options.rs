//! Options with some of them set.

/// The options are non-exhaustive, so that new ones break no host: outside of the library, they are set one by one.
macro_rules! options {
    ($type:ident { $($field:ident $(: $value:expr)?,)* ..$base:expr }) => {{
        let mut options: $type = $base;
        $(options.$field = options!(@value $field $($value)?);)*
        options
    }};
    (@value $field:ident) => { $field };
    (@value $field:ident $value:expr) => { $value };
}
