//! The macros that extractors are written with.

/// Declares what an extractor sees, and makes a module of it. docs/guest.md has all that can be said.
/// What can't be the name of a function here is said behind `as`: `function: extractor as "Extractor"`.
///
/// It makes a struct `Event` with a field for each input and a method for each iteration, a struct in `rows` for the rows of
/// each, and `Extractor`, which [`mock`](crate::mock) takes. For WebAssembly it makes the exports and the section that
/// declares all this.
///
/// ```
/// use retort_guest::prelude::*;
///
/// extractor! {
///     function: read_order,
///     event_types: ["order.placed"],
///     inputs: {
///         session: ["session_id"],
///         order_id: ["content", "id"],
///         total: ["content", "total"] as ["to_double"],
///         paid: truthy ["content", "paid"],
///     },
///     rows: {
///         lines: each ["content", "lines"] { sku: ["sku"], quantity: ["qty"] },
///     },
/// }
///
/// fn read_order(event: &Event<'_>, graph: &mut Graph) {
///     graph.session(event.session);
///     let Some(mut order) = graph.node("Order").key("order_id", event.order_id).add() else { return };
///     order.set("total", event.total).set("paid", event.paid);
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! extractor {
    (function: $function:ident $(as $known:literal)? -> String, $($rest:tt)*) => {
        $crate::__extractor! { json $function ($($known)?) $($rest)* }
    };
    (function: $function:ident $(as $known:literal)?, $($rest:tt)*) => {
        $crate::__extractor! { graph $function ($($known)?) $($rest)* }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __extractor {
    (
        $form:ident $function:ident ($($known:literal)?)
        event_types: [$($event_type:literal),+ $(,)?],
        $(on_duplicate: $on_duplicate:literal,)?
        $(empty: $empty:literal,)?
        $(time_zone: $time_zone:literal,)?
        inputs: {$(
            $name:ident: $($kind:ident)? $([$($key:literal),* $(,)?])? $($text:literal)?
                $(as [$($step:literal),* $(,)?])? $(if $guard:ident)? $(or $on_error:ident)?
                $(unseen)?
        ),* $(,)?}
        $(, rows: {$(
            $rows:ident: each $($over:ident)? $([$($row_key:literal),* $(,)?])? $($row_text:literal)?
                $(within $within:ident)? $(where $condition:literal)? $(if $row_guard:ident)?
                $(unseen)? {$(
                $column:ident: $($c_kind:ident)? $([$($c_key:literal),* $(,)?])? $($c_text:literal)?
                    $(as [$($c_step:literal),* $(,)?])? $(if $c_guard:ident)? $(or $c_on_error:ident)?
                    $(unseen)?
            ),* $(,)?}
        ),* $(,)?})?
        $(,)?
    ) => {
        /// What the extractor sees of an event.
        #[derive(Clone, Copy, Debug)]
        #[allow(dead_code, reason = "not all that is declared needs to be read")]
        pub struct Event<'a> {
            $(
                #[doc = stringify!($name)]
                pub $name: $crate::Value<'a>,
            )*
            $($($rows: $crate::__private::RowIter<'a, rows::$rows<'a>>,)*)?
            __event: ::core::marker::PhantomData<&'a ()>,
        }

        #[allow(dead_code, reason = "not all that is declared needs to be read")]
        impl<'a> Event<'a> {
            $($(
                /// The rows, from the first to the last.
                #[must_use]
                pub fn $rows(&self) -> $crate::RowIter<'a, rows::$rows<'a>> {
                    self.$rows
                }
            )*)?
        }

        /// Rows of the iterations.
        #[allow(dead_code, reason = "not all that is declared needs to be read")]
        #[allow(non_camel_case_types, reason = "they have the names of the iterations")]
        pub mod rows {
            $($(
                /// A row.
                #[derive(Clone, Copy, Debug)]
                pub struct $rows<'a> {
                    $(
                        #[doc = stringify!($column)]
                        pub $column: $crate::Value<'a>,
                    )*
                    __row: ::core::marker::PhantomData<&'a ()>,
                }

                impl<'a> $crate::__private::Record<'a> for $rows<'a> {
                    const COUNT: usize = {
                        let columns: &[&str] = &[$(stringify!($column)),*];
                        columns.len()
                    };

                    #[inline(always)]
                    fn read(records: &mut $crate::__private::Records<'a>) -> Self {
                        let _ = &records;
                        Self {
                            $($column: records.next_of(<Self as $crate::__private::Record<'a>>::COUNT),)*
                            __row: ::core::marker::PhantomData,
                        }
                    }
                }
            )*)?
        }

        /// The extractor, for tests.
        #[derive(Clone, Copy, Debug)]
        pub struct Extractor;

        impl $crate::__private::Extractor for Extractor {
            const DECLARATION: $crate::__private::Declaration = $crate::__private::Declaration {
                function: $crate::__key!($function $($known)?),
                event_types: &[$($event_type),+],
                on_duplicate: $crate::__private::first(&[$($on_duplicate)?]),
                empty: $crate::__private::first(&[$($empty)?]),
                time_zone: $crate::__private::first(&[$($time_zone)?]),
                inputs: &[$($crate::__private::Input {
                    name: stringify!($name),
                    kind: $crate::__private::first(&[$(stringify!($kind))?]),
                    path: $crate::__private::first_list(&[$(&[$($key),*])?]),
                    text: $crate::__private::first(&[$($text)?]),
                    convert: $crate::__private::first_list(&[$(&[$($step),*])?]),
                    guard: $crate::__private::first(&[$(stringify!($guard))?]),
                    on_error: $crate::__private::first(&[$(stringify!($on_error))?]),
                }),*],
                rows: &[$($($crate::__private::Rows {
                    name: stringify!($rows),
                    kind: $crate::__private::first(&[$(stringify!($over))?]),
                    path: $crate::__private::first_list(&[$(&[$($row_key),*])?]),
                    text: $crate::__private::first(&[$($row_text)?]),
                    within: $crate::__private::first(&[$(stringify!($within))?]),
                    condition: $crate::__private::first(&[$($condition)?]),
                    guard: $crate::__private::first(&[$(stringify!($row_guard))?]),
                    columns: &[$($crate::__private::Input {
                        name: stringify!($column),
                        kind: $crate::__private::first(&[$(stringify!($c_kind))?]),
                        path: $crate::__private::first_list(&[$(&[$($c_key),*])?]),
                        text: $crate::__private::first(&[$($c_text)?]),
                        convert: $crate::__private::first_list(&[$(&[$($c_step),*])?]),
                        guard: $crate::__private::first(&[$(stringify!($c_guard))?]),
                        on_error: $crate::__private::first(&[$(stringify!($c_on_error))?]),
                    }),*],
                }),*)?],
            };

            fn call(block: $crate::__private::Block<'_>) -> $crate::__private::Cow<'static, [u8]> {
                const COUNT: usize =
                    <Extractor as $crate::__private::Extractor>::DECLARATION.inputs.len();
                let mut records = block.records();
                let _ = &mut records;
                let event = Event {
                    $($name: records.next_of(COUNT),)*
                    $($($rows: records.rows(),)*)?
                    __event: ::core::marker::PhantomData,
                };
                $crate::__serve! { $form $function event }
            }
        }

        #[doc(hidden)]
        const _: () = {
            // So that a mistake in the declaration ends native builds too.
            #[allow(long_running_const_eval, reason = "a long declaration takes long to check")]
            const _: usize = $crate::__private::section_length(
                &<Extractor as $crate::__private::Extractor>::DECLARATION,
            );
        };

        #[cfg(target_family = "wasm")]
        #[doc(hidden)]
        mod __retort {
            #[allow(long_running_const_eval, reason = "a long declaration takes long to write")]
            const LENGTH: usize = $crate::__private::section_length(
                &<super::Extractor as $crate::__private::Extractor>::DECLARATION,
            );

            #[allow(long_running_const_eval, reason = "a long declaration takes long to write")]
            #[unsafe(link_section = "retort")]
            static SECTION: [u8; LENGTH] = $crate::__private::section(
                &<super::Extractor as $crate::__private::Extractor>::DECLARATION,
            );

            #[unsafe(no_mangle)]
            pub extern "C" fn retort_buffer(length: u32) -> u32 {
                $crate::__private::buffer(length)
            }

            #[unsafe(no_mangle)]
            pub extern "C" fn _initialize() {
                $crate::__private::initialize();
            }

            $crate::__export! { $function $($known)? }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    ($function:ident) => {
        // Beside nothing else that could have its name.
        mod exported {
            #[unsafe(no_mangle)]
            pub extern "C" fn $function(block: u32, length: u32) -> u64 {
                $crate::__private::serve::<super::super::Extractor>(block, length)
            }
        }
    };
    ($function:ident $known:literal) => {
        #[unsafe(export_name = $known)]
        pub extern "C" fn exported(block: u32, length: u32) -> u64 {
            $crate::__private::serve::<super::Extractor>(block, length)
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __serve {
    (graph $function:ident $event:ident) => {
        $crate::Graph::of(|graph| $function(&$event, graph))
    };
    (json $function:ident $event:ident) => {{
        let result: $crate::__private::String = $crate::__private::enter(|| $function(&$event));
        $crate::__private::Cow::Owned(result.into_bytes())
    }};
}

/// Structs that are read from objects of JSON. A key that isn't there is an error, unless its field is an `Option`; keys that no
/// field has are passed over.
///
/// ```
/// use retort_guest::prelude::*;
///
/// record! {
///     #[derive(Debug)]
///     pub struct Line { sku: String, unit_price as "unit-price": Option<f64> }
/// }
///
/// let line: Line = retort_guest::Reader::new(r#"{"sku": "a", "x": 1}"#).whole()?;
/// assert_eq!((line.sku.as_str(), line.unit_price), ("a", None));
/// # Ok::<(), JsonError>(())
/// ```
#[macro_export]
macro_rules! record {
    ($(
        $(#[$attribute:meta])*
        $visible:vis struct $name:ident {
            $($field_visible:vis $field:ident $(as $key:literal)?: $type:ty),* $(,)?
        }
    )*) => {$(
        $(#[$attribute])*
        $visible struct $name {
            $($field_visible $field: $type,)*
        }

        impl $crate::FromJson for $name {
            fn from_json(
                reader: &mut $crate::Reader<'_>,
            ) -> ::core::result::Result<Self, $crate::JsonError> {
                $(let mut $field: ::core::option::Option<$type> = ::core::option::Option::None;)*
                let before = reader.clone();
                reader.object(|reader, key| {
                    match &*key {
                        $($crate::__key!($field $($key)?) => {
                            $field = ::core::option::Option::Some($crate::FromJson::from_json(reader)?);
                        })*
                        _ => {
                            reader.skip()?;
                        }
                    }
                    ::core::result::Result::Ok(())
                })?;
                ::core::result::Result::Ok(Self {
                    $($field: match $field.or_else(<$type as $crate::FromJson>::absent) {
                        ::core::option::Option::Some(value) => value,
                        ::core::option::Option::None => {
                            return ::core::result::Result::Err(before.expected(concat!(
                                "an object with the key \"", $crate::__key!($field $($key)?), "\""
                            )));
                        }
                    },)*
                })
            }
        }
    )*};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}
