#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;
use crate::diagnostics::problem::{Coded as _, Stage};

fn refused(text: &str) -> SourceRefused {
    match vet(text, &SourceLimits::default()) {
        Ok(_) => panic!("vetted: {}", text.chars().take(200).collect::<String>()),
        Err(refused) => refused,
    }
}

/// The codes of a refusal with their places.
fn codes(text: &str) -> Vec<String> {
    let place = |problem: &SourceProblem| {
        format!("{} {}:{}", problem.code(), problem.line(), problem.column())
    };
    refused(text).problems().iter().map(place).collect()
}

fn first_code(text: &str) -> &'static str {
    refused(text).problems()[0].code()
}

#[track_caller]
fn passes(text: &str) {
    if let Err(refused) = vet(text, &SourceLimits::default()) {
        panic!("{refused}\n{text}");
    }
}

#[test]
fn an_extractor_as_people_write_them_passes() {
    passes(
        r##"//! Reads orders.
#![allow(clippy::needless_range_loop)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::{self, Write as _};

use retort_guest::prelude::*;

extractor! {
    function: read_orders,
    event_types: ["order.placed"],
    inputs: {
        session: ["session_id"],
        total: ["content", "total"] as ["to_double"],
        note: expression "content.notes[?kind=='x'] | [0].text",
        paid: truthy ["content", "paid"],
    },
    rows: {
        lines: each ["content", "lines"] { sku: ["sku"], quantity: ["qty"] as ["to_int64"] },
    },
}

record! {
    /// As it comes.
    #[derive(Clone, Debug)]
    struct Item { name: String, started_at as "startedAt": Option<i64>, tags: Option<Vec<String>> }
    pub struct Other { pub at: [u8; 2] }
}

const TOLERANCE: f64 = -0.5e-3;
const KINDS: [(&str, Kind); 2] = [("a", Kind::Open), ("b", Kind::Closed { at: Some(3) })];
const COUNT: usize = 16;
const TABLE: [[u8; COUNT]; 8] = [[0; COUNT]; 8];
const EMPTY: Vec<u8> = Vec::new();

/// A state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    #[default]
    Open = 1 << 2,
    Closed { at: Option<u8> },
}

trait Step {
    type Out;
    fn step(&self, by: usize) -> Self::Out;
}

impl<'a, T> Step for Walk<'a, T>
where
    T: fmt::Display + 'a,
{
    type Out = Result<String, fmt::Error>;
    fn step(&self, by: usize) -> Self::Out {
        let mut text = String::new();
        write!(text, "{} {by:>width$} {{}}", self.0, width = 4)?;
        Ok(text)
    }
}

#[derive(Clone)]
struct Walk<'a, T>(&'a T);

#[inline]
#[must_use = "it is all that there is"]
fn checksum(id: &str) -> u32 {
    id.bytes().filter(u8::is_ascii_digit).map(|b| u32::from(b - b'0')).rev().enumerate().fold(0, |sum, (i, d)| {
        sum + if i % 2 == 1 { (d * 2) / 10 + (d * 2) % 10 } else { d }
    })
}

fn read_orders(event: &Event<'_>, graph: &mut Graph) {
    let mut seen: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    let (mut low, mut high) = (0_i64, i64::MAX);
    let all: Vec<_> = vec![1, 2, 3];
    let zeros = std::vec![0u8; all.len()];
    'outer: for line in event.lines() {
        let Some(sku) = line.sku.str() else { continue };
        if let Some(n) = line.quantity.i64() && n > 0 && matches!(n, 1..=9 | 20 if low < high) {
            low += n;
            continue 'outer;
        } else if sku.is_empty() {
            break;
        } else {
            high = high.min(1);
        }
        assert!(low <= high, "{low} above {}", high);
        let closure = |x: u64| -> u64 { x.wrapping_mul(31) ^ 0xff };
        seen.entry(sku.into_owned()).or_default().insert(closure(3));
    }
    let name: Cow<'static, str> = Cow::Borrowed("x\u{2028}");
    match (name.as_ref(), zeros.as_slice()) {
        ("x", [first, .., last]) if first == last => unreachable!(),
        _ => {}
    }
    let r = match u32::from_str_radix("1f", 16) { Ok(v) => v, Err(_) => return };
    let q: VecDeque<u32> = (0..r).map(|x| x.pow(2)).collect::<VecDeque<_>>();
    graph.node("Order").property("total", f64::from(q[0]) * TOLERANCE);
    let _ = (KINDS, TABLE, EMPTY, COUNT, std::mem::take(&mut low), core::cmp::max(1, 2), alloc::string::String::new());
}

mod inner {
    use super::*;
    pub(crate) fn go() -> usize { self::deeper::COUNT }
    mod deeper { pub(super) const COUNT: usize = 3; }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        assert_eq!(checksum("12"), 4, "of {}", "12");
    }
}
"##,
    );
}

#[test]
fn every_problem_is_told_at_its_place() {
    let text = "use std::fs;\nfn a() {\n    let x = include_str!(\"/etc/passwd\");\n    unsafe { x.get_unchecked(0) };\n}\nstatic X: u8 = 1;\n";
    assert_eq!(
        codes(text),
        ["source_import 1:10", "source_macro 3:13", "source_unsafe 4:5", "source_static 6:1"]
    );
    let refused = refused(text);
    let problem = refused.problems()[1].problem();
    assert_eq!((problem.stage, problem.path.as_deref()), (Stage::Source, Some("3:13")));
    assert!(problem.message.contains("`include_str!`: the compiler reads no files"), "{problem:?}");
    // What follows from nothing else is told in one go, and what is too much is counted.
    let many = "static X: u8 = 1;\n".repeat(70);
    assert_eq!((self::refused(&many).problems().len(), self::refused(&many).omitted()), (50, 20));
}

#[test]
fn what_harms_has_its_code_in_every_spelling() {
    let cases: &[(&str, &[&str])] = &[
        (
            "source_macro",
            &[
                "fn a() { core::include_str!(\"/etc/passwd\"); }",
                "fn a() { ::std::include_bytes!(\"/etc/passwd\"); }",
                "fn a() { alloc::vec::include_str!(\"x\"); }",
                "fn a() { include_str![\"x\"]; }",
                "fn a() { include_str! { \"x\" } }",
                "include!(\"/etc/passwd\");",
                "fn a() { format!(\"{}\", include_str!(\"x\")); }",
                "fn a() { format!(concat!(include_str!(\"x\"))); }",
                "fn a() { vec![vec![env!(\"HOME\")]]; }",
                "fn a() { vec![0; env!(\"HOME\").len()]; }",
                "fn a() { assert!(true, \"{x}\", x = option_env!(\"HOME\").is_some()); }",
                "fn a() { matches!(1, x if include_str!(\"x\").len() == x); }",
                "fn a() { matches!(include_str!(\"x\"), _); }",
                "fn a() { matches!(1, include!(\"x\")); }",
                "fn a() { match 1 { include!(\"x\") => {} } }",
                "fn a(x: include!(\"x\")) {}",
                "const A: &str = include_str!(\"x\");",
                "const A: [u8; include_bytes!(\"x\").len()] = [];",
                "enum A { B = include!(\"x\") }",
                "impl A { include!(\"x\"); }",
                "trait A { include!(\"x\"); }",
                "macro_rules! a { () => { a!() } }",
                "fn a() { asm!(\"nop\"); }",
                "core::arch::global_asm!(\"nop\");",
                "fn a() { self::vec!(1); }",
                "fn a() { println!(\"{}\", 1); }",
                "#[cfg(test)] mod t { fn a() { include_str!(\"x\"); } }",
                "fn a() { || async_macro!(); }",
                "record! { struct A { a: include!(\"x\") } }",
                "fn a<const N: usize>() { x::<{ include!(\"x\") }>(); }",
            ],
        ),
        (
            "source_import",
            &[
                "fn a() { std::fs::read(\"x\"); }",
                "fn a() { ::std::fs::read(\"x\"); }",
                "fn a() -> std::io::Result<()> { Ok(()) }",
                "fn a() { <u8 as std::os::X>::y(); }",
                "fn a() { <std::net::TcpStream>::connect(); }",
                "use core::include_str as vec;",
                "use std::{fmt, fs::{self, File}};",
                "use std::*;",
                "use core::prelude::v1::*;",
                "use core as c;",
                "use std;",
                "use std::{self};",
                "use {core as c};",
                "use ::core;",
                "use self::std::fs;",
                "use crate::core::include_str;",
                "use std::collections::HashMap;",
                "use std::collections::*;",
                "use std::time::Instant;",
                "use retort_guest::*;",
                "use retort_guest as r;",
                "use retort_guest::core::include_str;",
                "impl std::ops::Drop for std::thread::X {}",
                "fn a() { match 1 { std::process::X => {} } }",
                "extractor! { function: core::x }",
            ],
        ),
        (
            "source_attribute",
            &[
                "#[path = \"/etc/passwd\"] mod a {}",
                "#![feature(asm)]",
                "#![recursion_limit = \"100000\"]",
                "#![no_main] fn a() {}",
                "#[unsafe_(no_mangle)] fn a() {}",
                "#[no_mangle] fn a() {}",
                "#[export_name = \"run\"] fn a() {}",
                "#[link_section = \"retort\"] const A: u8 = 1;",
                "#[doc = include_str!(\"/etc/passwd\")] fn a() {}",
                "#![doc = include_str!(\"/etc/passwd\")]",
                "#[cfg_attr(all(), path = \"x\")] mod a {}",
                "#[cfg(feature = \"x\")] fn a() {}",
                "#[derive(Serialize)] struct A;",
                "#[derive(std::fmt::Debug)] struct A;",
                "#[proc_macro] fn a() {}",
                "#[macro_use] mod a {}",
                "#[macro_export] mod a {}",
                "#[repr(align(536870912))] struct A;",
                "#[target_feature(enable = \"simd128\")] fn a() {}",
                "#[allow(unsafe_code)] fn a() {}",
                "#[allow(long_running_const_eval)] fn a() {}",
                "#[allow(warnings)] fn a() {}",
                "#[inline(include_str!(\"x\"))] fn a() {}",
                "#[must_use = include_str!(\"x\")] fn a() {}",
                "struct A { #[serde(flatten)] b: u8 }",
                "record! { #[path = \"x\"] struct A { a: u8 } }",
                "fn a(#[path = \"x\"] b: u8) { }",
                "fn a() { #[rustc_dummy] let x = 1; }",
                "enum A { #[x] B }",
            ],
        ),
        (
            "source_const_eval",
            &[
                "const A: u64 = { let mut i = 0; while i < 1 << 60 { i += 1 } i };",
                "const A: u64 = loop {};",
                "const A: u64 = f(3);",
                "const A: &[u8] = \"a\".as_bytes();",
                "const A: u64 = if true { 1 } else { 2 };",
                "impl X { const A: u64 = f(3); }",
                "enum A { B = f(3) }",
                "fn a() { const { loop {} } }",
                "fn a() { f::<{ loop {} }>(); }",
                "fn a() { const B: u64 = loop {}; }",
                "const A: (u8, [u8; 2]) = (1, [2, f()]);",
                "const A: X = X { a: 1, b: loop {} };",
            ],
        ),
        (
            "source_array_length",
            &[
                "const A: [u8; 1 << 30] = [0; 1 << 30];",
                "fn a() { let a = [0u8; 4_000_000_000]; }",
                "fn a() { let a = [0u8; usize::MAX]; }",
                "const N: usize = 99999999; fn a() { [0; N]; }",
                "mod a { const N: usize = 1; } mod b { const N: usize = 2 * 99999999; } fn a() { [0; N]; }",
                "mod a { const N: usize = 1; } use b::M as N; fn a() { [0; N]; }",
                "mod a { const N: usize = 1; } use b::{c, N}; fn a() { [0; N]; }",
                "mod a { const é: usize = 1; } const e\u{301}: usize = 99999999; fn a() { [0; é]; }",
                "const M: usize = 1; const N: usize = M; fn a() { [0; N]; }",
                "fn a() { [[[0; 1000]; 1000]; 1000]; }",
                "type A = [[u8; 60000]; 60000];",
                "struct A { a: [u8; { 3 }] }",
                "fn a() { vec![[0; 1000000]; 1]; }",
                "record! { struct A { a: [u8; 1000000] } }",
            ],
        ),
        (
            "source_item",
            &[
                "const fn a() {}",
                "union A { a: u8 }",
                "struct A<const N: usize>;",
                "trait A { type B<T>; }",
                "trait A { const B: u8; }",
                "async fn a() {}",
                "trait A = B;",
                "auto trait A {}",
                "pub macro a() {}",
                "fn a() { gen { yield 1 } }",
            ],
        ),
        (
            "source_extern",
            &[
                "extern crate std;",
                "extern crate proc_macro;",
                "extern \"C\" { fn system(); }",
                "extern \"C\" fn a() {}",
                "fn a(b: extern \"C\" fn()) {}",
            ],
        ),
        (
            "source_unsafe",
            &[
                "unsafe fn a() {}",
                "unsafe impl Send for A {}",
                "#[unsafe(no_mangle)] fn a() {}",
                "fn a() { vec![unsafe { b() }]; }",
                "extractor! { function: unsafe }",
            ],
        ),
        (
            "source_static",
            &["static mut A: u8 = 1;", "fn a() { static B: u8 = 1; }", "fn a() { static || 1; }"],
        ),
        ("source_module_file", &["mod a;", "mod a { mod b; }", "#[cfg(test)] mod tests;"]),
        (
            "source_name",
            &[
                "fn r#match() {}",
                "fn a() { r#include_str!(\"x\"); }",
                "fn іnclude_str() {}",
                "fn a() { retort_guest::__private::x(); }",
                "mod std { pub mod fs {} }",
                "use self::x as core;",
                "fn a() { let größe = 1; }",
            ],
        ),
        (
            "source_character",
            &[
                "\u{feff}fn a() {}",
                "// \u{202e}x\nfn a() {}",
                "fn a() { \"\u{2066}\" }",
                "fn a() {}\0",
                "fn a() {} // \u{200b}",
            ],
        ),
        (
            "source_syntax",
            &[
                "fn a( {",
                "fn a() { \"open }",
                "/* open",
                "fn a() { vec![1 2] }",
                "extractor! { inputs: { #[x] a: [\"b\"] } }",
                "extractor! { inputs: { a: b!() } }",
                "#!/bin/sh\nfn a() {}",
            ],
        ),
    ];
    for (code, sources) in cases {
        for source in *sources {
            let found = refused(source);
            assert!(found.problems().iter().any(|it| it.code() == *code), "{source}\n{found}");
        }
    }
}

#[test]
fn nothing_overflows_the_stack_of_who_reads_it() {
    let wrapped = |open: &str, times: usize, core: &str, close: &str| {
        format!("fn a() {{ let x = {}{core}{}; }}", open.repeat(times), close.repeat(times))
    };
    let in_type = |open: &str, times: usize, close: &str| {
        format!("type A = {}u8{};", open.repeat(times), close.repeat(times))
    };
    let long = 100_000;
    let short = 20_000;
    for source in [
        wrapped("(", long, "1", ")"),
        wrapped("[", long, "1", "]"),
        wrapped("{", long, "1", "}"),
        wrapped("!", long, "1", ""),
        wrapped("&", long, "1", ""),
        wrapped("-", long, "1", ""),
        wrapped("*", long, "1", ""),
        wrapped("&mut ", short, "1", ""),
        wrapped("|x| ", short, "1", ""),
        wrapped("|a, b| ", short, "1", ""),
        wrapped("||", short, "1", ""),
        wrapped("return ", short, "1", ""),
        wrapped("x = ", short, "1", ""),
        wrapped("x + ", short, "1", ""),
        wrapped("if a {} else ", short, "{}", ""),
        wrapped("if a { 1 } else ", 10_000, "{}", ""),
        wrapped("if let A = b && ", 10_000, "c {}", ""),
        wrapped("vec![", short, "1", "]"),
        wrapped("match x { _ => ", 10_000, "1", "}"),
        wrapped("", 1, "x", &".b".repeat(short)),
        wrapped("", 1, "x", &".b(c)".repeat(short)),
        wrapped("", 1, "x", &" as u8".repeat(short)),
        wrapped("", 1, "x", &"?".repeat(long)),
        wrapped("", 1, "x", &"()".repeat(short)),
        wrapped("", 1, "x", &"..".repeat(short)),
        wrapped("'a: loop { ", short, "1", "}"),
        wrapped("", 1, "1", &" || {}".repeat(short)),
        wrapped("", 1, "{}", &" else if a {}".repeat(10_000)),
        in_type("Vec<", short, ">"),
        in_type("A<B,", short, ">"),
        in_type("&", long, ""),
        in_type("*const ", short, ""),
        in_type("fn() -> ", short, ""),
        in_type("impl Fn() -> ", short, ""),
        in_type("(", short, ",)"),
        in_type("[", short, "; 1]"),
        in_type("<", short, ">::A"),
        in_type("A::", short, ""),
        in_type("for<'a> ", short, ""),
        format!("use {}a;", "a::".repeat(short)),
        format!("use {}a{};", "{".repeat(long), "}".repeat(long)),
        format!("use {}a{};", "a::{b,".repeat(short), "}".repeat(short)),
        format!("fn a() {{ match x {{ {}_ => 1 }} }}", "&".repeat(long)),
        format!("fn a() {{ match x {{ {}_ => 1 }} }}", "A | ".repeat(short)),
        format!("fn a() {{ match x {{ {}_{} => 1 }} }}", "(".repeat(long), ")".repeat(long)),
        format!("fn a() {{ match x {{ {}_ => 1 }} }}", "x @ ".repeat(short)),
        "mod a {".repeat(short) + &"}".repeat(short),
        "fn a() {".repeat(short) + &"}".repeat(short),
        format!("#{}a{} fn a() {{}}", "[".repeat(long), "]".repeat(long)),
        format!("fn a<{}>() {{}}", "A: B<".repeat(short)),
        format!("fn a() where A: {}C {{}}", "B + ".repeat(short)),
        format!("extractor! {{ {}{} }}", "[".repeat(long), "]".repeat(long)),
        format!("fn a() {{ a::<{}>(); }}", "B::<".repeat(short)),
        "(".repeat(long),
        ")".repeat(long),
        "<".repeat(long),
        "|".repeat(long),
        "!".repeat(long),
        "/*".repeat(long),
        "r#".repeat(long),
        format!("r{0}\"", "#".repeat(long)),
        "'a".repeat(long / 2),
    ] {
        let refused = refused(&source);
        let code = refused.problems()[0].code();
        assert!(
            matches!(code, "source_too_deep" | "source_syntax" | "source_name"),
            "{refused}: {}",
            source.chars().take(80).collect::<String>()
        );
    }
    // What a parser recurses over is refused before it is parsed.
    assert_eq!(first_code(&wrapped("!", 3_000, "1", "")), "source_too_deep");
    assert_eq!(first_code(&wrapped("|a, b| ", 3_000, "1", "")), "source_too_deep");
    assert_eq!(first_code(&in_type("A<B,", 3_000, "u8>")), "source_too_deep");
}

#[test]
fn as_deep_as_is_allowed_is_read() {
    for source in [
        format!("fn a() {{ let x = {}1{}; }}", "(".repeat(63), ")".repeat(63)),
        format!("fn a() {{ let x = {}1; }}", "!".repeat(2_000)),
        format!("fn a() {{ let x = {}1; }}", "1 + ".repeat(1_000)),
        format!("fn a() {{ let x = {}1; }}", "|a, b| ".repeat(300)),
        format!("type A = {}u8{};", "Vec<".repeat(600), ">".repeat(600)),
        format!("fn a() {{ let x = y{}; }}", ".b()".repeat(600)),
        format!("fn a() {{ {} }}", "if a { 1 } else ".repeat(200) + "{}"),
        // Each with as much before it as fits: what recurses most.
        format!(
            "fn a() {{ let x = {}1{}; }}",
            "!!!!!!!!!!!!!!!!!!!!!!!!!!!!!!(".repeat(60),
            ")".repeat(60)
        ),
        // And what doesn't recurse, as long as one likes.
        format!("const A: [u16; 20000] = [{}];", "1,".repeat(20_000)),
        "fn a() {}".repeat(10_000),
        format!("fn a() {{ {} }}", "x.y();".repeat(20_000)),
        format!("fn a() {{ match x {{ {} }} }}", "A | B => {}".repeat(10_000)),
        format!("fn a() {{ match x {{ {} }} }}", "A | B => 1,".repeat(10_000)),
        format!("fn a() {{ {} }}", "if a < b {} match c {} for d in e {}".repeat(4_000)),
        format!("use a::{{{}}};", "b,".repeat(20_000)),
    ] {
        passes(&source);
    }
    let limits = SourceLimits::default();
    passes(&" ".repeat(limits.source_bytes));
    assert_eq!(first_code(&" ".repeat(limits.source_bytes + 1)), "source_too_large");
}

#[test]
fn the_template_passes() {
    passes(retort_guest_template::RUST_TEMPLATE);
}
