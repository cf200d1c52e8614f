//! What it takes to read an event at all: readers that look at every byte, without an extraction.

use std::hint::black_box;
use std::path::Path;

use retort::internal::event::validate;
use serde::de::IgnoredAny;

/// A reader: true for an event that it takes.
pub type Reader<'a> = (&'static str, Box<dyn FnMut(&[u8]) -> bool + 'a>);

/// The readers that the sandbox has to be faster than: the two ways in which sonic-rs skips and still looks at everything. The second doesn't
/// look at what stands behind the object.
pub const SKIPPING: [&str; 2] =
    ["sonic-rs, skipping by `IgnoredAny`", "sonic-rs, skipping by `to_object_iter`"];

/// All of them.
pub fn all<'a>() -> Vec<Reader<'a>> {
    // It parses in place, so it gets a copy of each event; that is part of using it on input that is borrowed.
    let (mut copy, mut buffers) = (Vec::new(), simd_json::Buffers::default());
    vec![
        ("Retort, validation alone", Box::new(|event| validate(event).is_ok())),
        (SKIPPING[0], Box::new(|event| sonic_rs::from_slice::<IgnoredAny>(event).is_ok())),
        (
            SKIPPING[1],
            Box::new(|event| {
                sonic_rs::to_object_iter(event).all(|member| black_box(member).is_ok())
            }),
        ),
        (
            "sonic-rs to a `Value`",
            Box::new(|event| black_box(sonic_rs::from_slice::<sonic_rs::Value>(event)).is_ok()),
        ),
        (
            "simd-json to its tape",
            Box::new(move |event| {
                copy.clear();
                copy.extend_from_slice(event);
                black_box(simd_json::to_tape_with_buffers(&mut copy, &mut buffers)).is_ok()
            }),
        ),
        (
            "serde_json to `IgnoredAny`",
            Box::new(|event| serde_json::from_slice::<IgnoredAny>(event).is_ok()),
        ),
        (
            "serde_json to a `Value`",
            Box::new(|event| black_box(serde_json::from_slice::<serde_json::Value>(event)).is_ok()),
        ),
    ]
}

/// The longest text that is tried: the longer ones are 50,000 levels deep and more, on which skipping by recursion overflows the stack and ends
/// this program.
const LONGEST: usize = 10_000;

/// How many of the texts of JSONTestSuite that aren't JSON each reader takes all the same, and of how many; `None` where they aren't
/// beside the checkout.
pub fn takes_malformed() -> Option<(usize, Vec<(&'static str, usize)>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpora/jsontestsuite/test_parsing");
    let files = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let malformed = files.filter(|file| file.file_name().as_encoded_bytes().starts_with(b"n_"));
    let texts = malformed.filter_map(|file| std::fs::read(file.path()).ok());
    let texts: Vec<Vec<u8>> = texts.filter(|text| text.len() < LONGEST).collect();
    let count =
        |(name, mut reader): Reader<'_>| (name, texts.iter().filter(|text| reader(text)).count());
    Some((texts.len(), all().into_iter().map(count).collect()))
}
