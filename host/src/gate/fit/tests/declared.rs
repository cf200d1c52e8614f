//! What extractors in Rust, and modules by hand, declare that they read.

use std::fmt::Write as _;

use crate::abi::section::Section;
use crate::diagnostics::problem::{Coded, Problem};
use crate::evidence::effort::Cancel;
use crate::evidence::{EventSchema, Evidence, Samples};
use crate::gate::fit::{declared_warnings, fit_declared};
use crate::gate::source::{SourceDeclaration, SourceLimits, VettedSource, vet};

/// What an input or an iteration is in a source and in a section.
struct Part(&'static str, &'static str);

/// Samples of two types, enough of each to tell that a path isn't there.
fn evidence() -> Evidence {
    let mut text = String::new();
    for no in 0..40 {
        let lines =
            r#"[{"sku": "a", "price": {"amount": 1}}, {"sku": "b", "price": {"amount": 2}}]"#;
        let made = write!(
            text,
            r#"{{"event_type": "placed", "session_id": "s", "content": {{"order_number": {no}, "total": 1, "lines": {lines}, "note": null, "tags": {{"a": 1}}}}}}
            {{"event_type": "shipped", "session_id": "s", "content": {{"parcel": {no}}}}}
"#
        );
        made.expect("a text has room");
    }
    let samples = Samples::parse(&text.replace("            {", "{"), "samples").expect("samples");
    Evidence::new(&samples, None)
}

fn section(inputs: &[Part], rows: &[Part]) -> Section {
    let list = |parts: &[Part]| parts.iter().map(|it| it.1).collect::<Vec<_>>().join(",");
    let json = format!(
        r#"{{"abi":1,"function":"read","event_types":["placed"],"inputs":[{}],"rows":[{}]}}"#,
        list(inputs),
        list(rows)
    );
    Section::parse(json.as_bytes()).expect("a section")
}

/// A source that declares this, each part on a line of its own: the first is on line 5.
fn source(inputs: &[Part], rows: &[Part]) -> VettedSource {
    let list = |parts: &[Part]| parts.iter().map(|it| format!("{},\n", it.0)).collect::<String>();
    let text = format!(
        "use retort_guest::prelude::*;\nextractor! {{\nfunction: read, event_types: [\"placed\"],\ninputs: {{\n{}}},\nrows: {{\n{}}},\n}}",
        list(inputs),
        list(rows)
    );
    vet(&text, &SourceLimits::default()).expect("a source")
}

/// What is found, as `place: observed`.
fn found(inputs: &[Part], rows: &[Part]) -> Vec<String> {
    let (section, source) = (section(inputs, rows), source(inputs, rows));
    let declaration = SourceDeclaration::of(&source, &section).expect("a declaration");
    match fit_declared(&section, declaration, &evidence(), &Cancel::default()) {
        Ok(()) => Vec::new(),
        Err(unfit) => {
            assert_eq!(unfit.code(), unfit.findings()[0].code.name);
            assert!(unfit.findings().iter().all(|it| it.suggestion.is_none()), "{unfit:?}");
            let said = unfit.findings().iter();
            said.map(|it| format!("{} {}: {}", it.pointer, it.code, it.observed)).collect()
        }
    }
}

fn warned(section: &Section, source: Option<&VettedSource>) -> Vec<String> {
    let declaration = source.and_then(|source| SourceDeclaration::of(source, section));
    let said = |it: &Problem| format!("{}: {}", it.path.as_deref().unwrap_or_default(), it.code);
    declared_warnings(section, declaration, &evidence()).iter().map(said).collect()
}

const NUMBER: Part =
    Part(r#"number: ["content", "order_number"]"#, r#"{"path":["content","order_number"]}"#);

#[test]
fn a_misspelt_input_is_found_at_its_line_with_the_path_that_is_meant() {
    for (part, observed) in [
        (
            Part(r#"number: ["content", "order_numbr"]"#, r#"{"path":["content","order_numbr"]}"#),
            r#"`number` reads "content.order_numbr", which none of 40 samples has; perhaps ["content", "order_number"]"#,
        ),
        (
            Part(
                r#"total: truthy ["content", "totl"]"#,
                r#"{"path":["content","totl"],"as":"truthy"}"#,
            ),
            r#"`total` reads "content.totl", which none of 40 samples has; perhaps ["content", "total"]"#,
        ),
        (
            Part(
                r##"is: when r#"{"path": ["content", "totl"], "exists": true}"#"##,
                r#"{"when":{"path":["content","totl"],"exists":true}}"#,
            ),
            r#"`is` reads "content.totl", which none of 40 samples has; perhaps ["content", "total"]"#,
        ),
        (
            Part(
                r#"total: expression "content.totl""#,
                r#"{"expression":{"text":"content.totl"}}"#,
            ),
            r#"`total` reads "content.totl" at column 9, which none of 40 samples has; perhaps expression "content.total""#,
        ),
        (
            Part(
                r##"number: json r#"{"template": ["no ", {"path": ["content", "order_numbr"]}]}"#"##,
                r#"{"template":["no ",{"path":["content","order_numbr"]}]}"#,
            ),
            r#"`number` reads "content.order_numbr", which none of 40 samples has; perhaps ["content", "order_number"]"#,
        ),
        (
            Part(r#"sku: ["content", "lines", "sku"]"#, r#"{"path":["content","lines","sku"]}"#),
            r#"`sku` reads "content.lines.sku", which none of 40 samples has; perhaps rows over each ["content", "lines"], with a column at ["sku"]"#,
        ),
    ] {
        let place = "6:1 unknown_path";
        assert_eq!(found(&[NUMBER, part], &[]), [format!("{place}: {observed}")]);
    }
}

#[test]
fn what_is_there_or_may_be_is_no_finding() {
    let session = Part(r#"session: ["session_id"]"#, r#"{"path":["session_id"]}"#);
    // An event without them belongs to no session, and claims no span.
    let span = Part(r#"span: ["span_id"]"#, r#"{"path":["span_id"]}"#);
    let kind = Part(r#"kind: ["event_type"]"#, r#"{"path":["event_type"]}"#);
    // Nothing is known of what is below null.
    let note =
        Part(r#"note: ["content", "note", "text"]"#, r#"{"path":["content","note","text"]}"#);
    let either = Part(
        r##"either: json r#"{"coalesce": [{"path": ["content", "total"]}, {"path": ["memo"]}]}"#"##,
        r#"{"coalesce":[{"path":["content","total"]},{"path":["memo"]}]}"#,
    );
    assert_eq!(found(&[NUMBER, session, span, kind, note, either], &[]), [""; 0]);
}

#[test]
fn rows_and_their_columns_are_held_to_the_elements() {
    let lines = Part(
        r#"lines: each ["content", "lines"] { sku: ["skuu"], no: event ["content", "order_number"], amount: ["price", "amount"] }"#,
        r#"{"array":["content","lines"]}"#,
    );
    let inputs = [
        r#"{"path":["skuu"],"level":1,"rows":0}"#,
        r#"{"path":["content","order_number"],"rows":0}"#,
        r#"{"path":["price","amount"],"level":1,"rows":0}"#,
    ];
    let rows = |over: &str, sku: &str| {
        let json = format!(
            r#"{{"abi":1,"function":"read","event_types":["placed"],"inputs":[{},{},{}],"rows":[{over}]}}"#,
            inputs[0].replace("skuu", sku),
            inputs[1],
            inputs[2]
        );
        Section::parse(json.as_bytes()).expect("a section")
    };
    let found = |section: &Section, source: &VettedSource| {
        let declaration = SourceDeclaration::of(source, section).expect("a declaration");
        let unfit = fit_declared(section, declaration, &evidence(), &Cancel::default());
        let unfit = unfit.expect_err("a finding");
        let said = unfit.findings().iter();
        said.map(|it| format!("{} {}", it.pointer, it.observed)).collect::<Vec<_>>()
    };
    let source_of = |part: &Part| source(&[], std::slice::from_ref(part));
    let misspelt = found(&rows(lines.1, "skuu"), &source_of(&lines));
    let place = lines.0.find("sku").expect("a column") + 1;
    assert_eq!(
        misspelt,
        [format!(r#"7:{place} `sku` reads "skuu", which none of 80 samples has; perhaps ["sku"]"#)]
    );
    // Of elements that there aren't nothing more is said.
    let nowhere = Part(
        r#"lines: each ["content", "linse"] { sku: ["skuu"], no: event ["content", "order_number"], amount: ["price", "amount"] }"#,
        r#"{"array":["content","linse"]}"#,
    );
    let unknown = found(&rows(nowhere.1, "skuu"), &source_of(&nowhere));
    assert_eq!(
        unknown,
        [
            r#"7:1 `lines` reads "content.linse", which none of 40 samples has; perhaps ["content", "lines"]"#
        ]
    );
    let object = Part(
        r#"lines: each ["content", "tags"] { sku: ["skuu"], no: event ["content", "order_number"], amount: ["price", "amount"] }"#,
        r#"{"array":["content","tags"]}"#,
    );
    let object = found(&rows(object.1, "skuu"), &source_of(&object));
    assert!(object[0].ends_with(r#"at "content.tags"; perhaps each entries [..]"#), "{object:?}");
}

#[test]
fn what_a_source_says_is_unseen_is_a_warning() {
    let unseen = || {
        Part(r#"memo: ["content", "memorandum"] unseen"#, r#"{"path":["content","memorandum"]}"#)
    };
    let shown = || Part(r#"total: ["content", "total"] unseen"#, r#"{"path":["content","total"]}"#);
    assert_eq!(found(&[unseen(), shown()], &[]), [""; 0]);
    let inputs = [NUMBER, unseen(), shown()];
    let (section, source) = (section(&inputs, &[]), source(&inputs, &[]));
    assert_eq!(warned(&section, Some(&source)), ["6:1: unseen_path", "7:1: superfluous_unseen"]);
}

#[test]
fn a_module_without_a_source_has_warnings_alone() {
    let inputs = [NUMBER, Part("", r#"{"path":["content","order_numbr"]}"#)];
    assert_eq!(warned(&section(&inputs, &[]), None), ["/inputs/1/path: unknown_path"]);
    assert_eq!(warned(&section(&[NUMBER], &[]), None), [""; 0]);
}

#[test]
fn a_schema_declares_paths_and_types_without_samples_say_nothing() {
    let inputs = [Part(r#"memo: ["content", "memo"]"#, r#"{"path":["content","memo"]}"#)];
    let (section, source) = (section(&inputs, &[]), source(&inputs, &[]));
    let declaration = SourceDeclaration::of(&source, &section).expect("a declaration");
    let samples = r#"{"event_type": "placed", "content": {"total": 1}}"#;
    let judged = |samples: &str, schema: serde_json::Value| {
        let schema = EventSchema::from_value(schema).expect("an object");
        let samples = Samples::parse(samples, "samples").expect("samples");
        let evidence = Evidence::new(&samples, Some(&schema));
        fit_declared(&section, declaration, &evidence, &Cancel::default()).is_ok()
    };
    let schema = |name: &str| serde_json::json!({"content": {"total": "double", name: "string"}});
    assert!(judged(samples, schema("memo")));
    assert!(!judged(samples, schema("remark")));
    assert!(judged(&samples.replace("placed", "shipped"), schema("remark")));
}
