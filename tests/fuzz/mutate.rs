//! Inputs that are made of others, the same for the same seed.

use std::ops::Range;

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use wasm_mutate::WasmMutate;

/// Of what kind inputs are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text that is JSON, or holds some: its values and tokens are moved about.
    Json,
    /// A module, which is changed as its structure allows, or as any bytes.
    Module,
    /// Any bytes.
    Bytes,
}

/// What text is broken with, or left whole.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"0",
    b"-",
    b"-0",
    b"1.5e3",
    b"1e999",
    b"18446744073709551616",
    b".5",
    b"\\u0061",
    b"\\ud800",
    b"\\udc00",
    b"\\u00",
    b"\xc3\xa9",
    b"\xff",
    b"\xed\xa0\x80",
    b"\0",
    b"\x1b[2J",
    b" ",
    b"\n",
    b"\"\"",
    b"\"a\":1,",
    b"{}",
    b"[]",
    b"[[[[",
    b"```",
    b"\"from\":\"event\",",
    b"\"as\":\"truthy\"",
    b"\"convert\":[\"trim\"],",
    b"$",
    b"^",
    b"{$.a}",
    b"{{",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"NaN",
];

/// Numbers that lie beside what is special.
const LENGTHS: &[usize] = &[0, 1, 2, 7, 8, 9, 16, 31, 32, 33, 127, 128, 129, 255, 256, 4096];

/// The most bytes of an input.
const MOST_BYTES: usize = 64 << 10;

pub(super) struct Mutator {
    rng: TestRng,
    kind: Kind,
}

impl Mutator {
    pub(super) fn new(seed: u64, kind: Kind) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self { rng: TestRng::from_seed(RngAlgorithm::ChaCha, &bytes), kind }
    }

    /// A number below `count`, or 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.rng.next_u64() % count.max(1) as u64) as usize
    }

    pub(super) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.rng.fill_bytes(&mut bytes);
        bytes
    }

    /// One of the seeds, changed in one place to five.
    pub(super) fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=[0, 0, 0, 1, 1, 2, 4][self.below(7)] {
            let other = &seeds[self.below(seeds.len())];
            match (self.kind, self.below(4)) {
                (Kind::Json, 1..) => self.change_json(&mut input, other),
                (Kind::Module, 2..) => self.change_module(&mut input),
                _ => self.change_bytes(&mut input, other),
            }
        }
        input.truncate(MOST_BYTES);
        input
    }

    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length + 1);
        let most = LENGTHS[self.below(LENGTHS.len())];
        start..length.min(start + self.below(most + 1))
    }

    fn change_bytes(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let range = self.range(input.len());
        match self.below(8) {
            0 => {
                let bit = self.below(8);
                if let Some(byte) = input.get_mut(range.start) {
                    *byte ^= 1 << bit;
                }
            }
            1 => {
                let value = [0, 1, 0x7f, 0x80, 0xff, self.below(256) as u8][self.below(6)];
                if let Some(byte) = input.get_mut(range.start) {
                    *byte = value;
                }
            }
            2 => drop(input.drain(range)),
            3 => {
                let copy = input[range.clone()].to_vec();
                let times = LENGTHS[self.below(8)];
                input.splice(range.end..range.end, copy.repeat(times));
            }
            4 => input.truncate(range.start),
            5 => {
                let random = self.bytes(range.len());
                input[range].copy_from_slice(&random);
            }
            6 => {
                let from = self.range(other.len());
                input.splice(range, other[from].iter().copied());
            }
            _ => {
                let token = TOKENS[self.below(TOKENS.len())];
                input.splice(range.start..range.start, token.iter().copied());
            }
        }
    }

    /// Another module, where this one is valid and the mutator finds something to change.
    fn change_module(&mut self, input: &mut Vec<u8>) {
        const FUEL: u64 = 1000;
        // The mutator takes it for granted that a module is valid.
        if wasmparser::validate(input).is_err() {
            return;
        }
        let mut mutate = WasmMutate::default();
        mutate.seed(self.rng.next_u64()).fuel(FUEL);
        let changed = mutate.run(input).ok().and_then(|mut modules| modules.next()?.ok());
        if let Some(changed) = changed {
            *input = changed;
        }
    }

    fn change_json(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let here = self.value(input);
        match self.below(9) {
            0 => drop(input.drain(here)),
            1..=4 => {
                // Of the same kind, if one is met soon: so most of what a text means is left.
                let like = |from: &Range<usize>| other.get(from.start) == input.get(here.start);
                let met = [(); 8].map(|()| self.value(other));
                let from = met.iter().find(|from| like(from)).unwrap_or(&met[0]).clone();
                input.splice(here, other[from].iter().copied());
            }
            5 => {
                let from = self.value(input);
                let copy = input[from].to_vec();
                input.splice(here, copy);
            }
            6 => {
                // Once more, as another element or member.
                let copy = [b",", &input[here.clone()]].concat();
                input.splice(here.end..here.end, copy);
            }
            7 => {
                let token = TOKENS[self.below(TOKENS.len())];
                input.splice(here, token.iter().copied());
            }
            _ => {
                let depth = LENGTHS[self.below(13)];
                let around = [b"[".repeat(depth), input[here.clone()].to_vec(), b"]".repeat(depth)];
                input.splice(here, around.concat());
            }
        }
    }

    /// Where a value is in JSON, a member with its key in half of the cases, or where one would be in what isn't JSON.
    fn value(&mut self, json: &[u8]) -> Range<usize> {
        let begins = |at: &usize| {
            let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            match json[*at] {
                b'"' | b'{' | b'[' => true,
                byte => is_word(byte) && !at.checked_sub(1).is_some_and(|at| is_word(json[at])),
            }
        };
        let from = self.below(json.len());
        let Some(start) = (from..json.len()).find(begins) else { return json.len()..json.len() };
        let end = end_of_value(json, start);
        let rest = &json[end..];
        let colon = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        match colon.filter(|at| rest[*at] == b':') {
            Some(at) if self.below(2) == 0 => {
                let behind = end + at + 1;
                let space = json[behind..].iter().take_while(|it| it.is_ascii_whitespace()).count();
                start..end_of_value(json, (behind + space).min(json.len()))
            }
            _ => start..end,
        }
    }
}

/// The offset behind a value that begins at `start`, or the end of the text.
fn end_of_value(json: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut at = start;
    while let Some(byte) = json.get(at) {
        at += 1;
        match byte {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            byte if depth == 0 && !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte) => {
                return at - 1;
            }
            _ => {}
        }
        let is_word = !in_string && (byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
        if depth == 0 && !in_string && !is_word {
            break;
        }
    }
    at.min(json.len())
}

#[test]
fn the_same_seed_makes_the_same_inputs() {
    let seeds = [br#"{"a": [1, {"b": "x\"]"}], "c": null}"#.to_vec(), b"[true]".to_vec()];
    for kind in [Kind::Json, Kind::Bytes] {
        let (mut one, mut other) = (Mutator::new(7, kind), Mutator::new(7, kind));
        let inputs: Vec<Vec<u8>> = (0..200).map(|_| one.input(&seeds)).collect();
        assert!(inputs.iter().all(|input| *input == other.input(&seeds)));
        let different: std::collections::BTreeSet<_> = inputs.iter().collect();
        assert!(different.len() > 100, "{}", different.len());
    }
}

#[test]
fn values_end_where_json_says() {
    let text = br#"{"a": [1, {"b": "x\"]"}], "c": nul"#;
    for (start, value) in
        [(6, &br#"[1, {"b": "x\"]"}]"#[..]), (7, b"1"), (16, br#""x\"]""#), (31, b"nul")]
    {
        assert_eq!(&text[start..end_of_value(text, start)], value);
    }
}
