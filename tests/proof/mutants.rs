//! Rendered modules changed at random: whatever is verified of them has to depend on the block alone, all the same.
//!
//! Three ways to change a module: wasm-mutate's; bytes of the code, the constants and the data; and operators of the text.
//! `RETORT_MUTANTS` times as many are made as usual.

use retort::gate::{Inspected, ResetSafety, StructuralLimits, inspect};
use retort::internal::prove;
use retort::plan;
use serde_json::json;
use wasm_mutate::WasmMutate;
use wasmparser::{Parser, Payload};

use super::lab::{EVENTS, Lab, Random, Subject, blocks, foreign};
use crate::support::rendered;

/// How many mutants of each module are made in each way.
fn rounds(usual: usize) -> usize {
    let times = std::env::var("RETORT_MUTANTS").ok().and_then(|times| times.parse().ok());
    usual * times.unwrap_or(1)
}

/// Small modules that use all forms of generated code between them.
fn modules() -> Vec<Vec<u8>> {
    let plans = [
        // One node: compares the event type, has properties that may be left out, and a claim.
        json!({
            "event_type": "e", "target_entity_name": "E", "function_name": "extract",
            "key_field": {"property_name": "k", "source_path": ["a"]},
            "property_fields": [
                {"property_name": "p", "source_path": ["b"]},
                {"property_name": "q", "source_path": ["rows"], "nulls": "keep"},
            ],
            "span_handling": {"span_id_path": ["b"], "partial_when_path": ["rows"]},
        }),
        // Several nodes and an edge, for the event and for rows.
        json!({
            "event_type": "e", "function_name": "extract", "session_id_path": ["a"],
            "nodes": [
                {"entity_name": "E", "key_fields": [{"property_name": "k", "source_path": ["a"]}],
                 "property_fields": [{"property_name": "p", "source_path": ["b"]}]},
                {"name": "row", "entity_name": "R", "for_each": {"array": ["rows"]},
                 "key_fields": [{"property_name": "x", "source_path": ["x"]}],
                 "property_fields": [{"property_name": "y", "source_path": ["y"]}]},
            ],
        }),
    ];
    plans
        .iter()
        .map(|plan| {
            let plan = plan::from_value(plan).unwrap_or_else(|error| panic!("{error}: {plan}"));
            rendered(&plan).wasm().to_vec()
        })
        .collect()
}

/// What became of mutants.
#[derive(Debug, Default)]
struct Seen {
    mutants: usize,
    /// That pass the static gate.
    valid: usize,
    verified: usize,
    /// That the verifier rejected, and that stale memory makes a difference to.
    leaks: usize,
    /// The ones of those rejected that were run.
    tried: usize,
}

struct Attack {
    lab: Lab,
    seen: Seen,
    events: Vec<String>,
}

impl Attack {
    fn new() -> Self {
        let events = EVENTS.map(str::to_owned).to_vec();
        Self { lab: Lab::new(), seen: Seen::default(), events }
    }

    fn try_on(&mut self, original: &Inspected, mutant: &[u8]) {
        self.seen.mutants += 1;
        let Ok(inspected) = inspect(mutant, &StructuralLimits::default()) else { return };
        if inspected.wasm() == original.wasm() {
            return;
        }
        self.seen.valid += 1;
        let inspected = prove::by_verification(inspected);
        let is_verified = inspected.reset_safety() != ResetSafety::Unproven;
        // Those rejected are run now and then, to see that some of them do leak.
        if !is_verified {
            if !self.seen.valid.is_multiple_of(16) {
                return;
            }
            self.seen.tried += 1;
        }
        self.seen.verified += usize::from(is_verified);
        let Some(subject) = Subject::of(&self.lab, &inspected) else {
            assert!(!is_verified, "{}", wasmprinter::print_bytes(mutant).unwrap());
            return;
        };
        let difference = subject.difference(&self.lab, &blocks(&inspected, &self.events), 1);
        match difference {
            Some(difference) if is_verified => {
                panic!("{difference}\n{}", wasmprinter::print_bytes(mutant).unwrap())
            }
            Some(_) => self.seen.leaks += 1,
            None => {}
        }
    }
}

#[test]
fn mutants_of_wasm_mutate() {
    let mut attack = Attack::new();
    for wasm in modules() {
        let original = foreign(&wasm);
        for seed in 0..rounds(150) {
            let mut mutate = WasmMutate::default();
            mutate.seed(seed as u64).preserve_semantics(false).fuel(200);
            let Ok(mutants) = mutate.run(&wasm) else { continue };
            for mutant in mutants.take(3).flatten() {
                attack.try_on(&original, &mutant);
            }
        }
    }
    eprintln!("wasm-mutate: {:?}", attack.seen);
    assert!(attack.seen.valid > 100, "{:?}", attack.seen);
}

#[test]
fn mutants_of_bytes() {
    let mut attack = Attack::new();
    for (number, wasm) in modules().into_iter().enumerate() {
        let original = foreign(&wasm);
        let places = places(&wasm);
        let mut random = Random::new(number as u64 + 10);
        for _ in 0..rounds(800) {
            let mut mutant = wasm.clone();
            for _ in 0..=random.below(8) / 6 {
                let at = places[random.below(places.len())];
                mutant[at] = match random.below(4) {
                    0 => mutant[at].wrapping_add(1),
                    1 => mutant[at].wrapping_sub(1),
                    2 => mutant[places[random.below(places.len())]],
                    _ => mutant[at] ^ (1 << random.below(8)),
                };
            }
            attack.try_on(&original, &mutant);
        }
    }
    eprintln!("bytes: {:?}", attack.seen);
    assert!(attack.seen.verified > 20 && attack.seen.leaks > 0, "{:?}", attack.seen);
}

/// Where bytes of constants, code and data lie.
fn places(wasm: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm).map(Result::unwrap) {
        match payload {
            Payload::GlobalSection(section) => found.extend(section.range()),
            Payload::DataSection(section) => found.extend(section.range()),
            // Most of it: the rest is small, or what an attacker can't gain from.
            Payload::CodeSectionEntry(body) => {
                found.extend(body.range());
                found.extend(body.range());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn mutants_of_operators() {
    let mut attack = Attack::new();
    for (number, wasm) in modules().into_iter().enumerate() {
        let original = foreign(&wasm);
        let text = wasmprinter::print_bytes(&wasm).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let code: Vec<usize> = (0..lines.len()).filter(|line| is_operator(lines[*line])).collect();
        let mut random = Random::new(number as u64 + 20);
        for _ in 0..rounds(600) {
            let mut mutant: Vec<String> = lines.iter().map(ToString::to_string).collect();
            for _ in 0..=random.below(8) / 5 {
                change(&mut mutant, &code, &mut random);
            }
            if let Ok(mutant) = wat::parse_str(mutant.join("\n")) {
                attack.try_on(&original, &mutant);
            }
        }
    }
    eprintln!("operators: {:?}", attack.seen);
    assert!(attack.seen.verified > 20 && attack.seen.leaks > 0, "{:?}", attack.seen);
}

fn is_operator(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Changes the operators of a text in one place.
fn change(lines: &mut [String], code: &[usize], random: &mut Random) {
    let at = random.below(code.len());
    let (here, there) = (code[at], code[random.below(code.len())]);
    match random.below(8) {
        // One operator is gone, moved, in another's place, or there twice.
        0 => lines[here].clear(),
        1 => lines.swap(here, code[(at + 1) % code.len()]),
        2 => lines[here] = lines[there].clone(),
        3 => lines[here] = format!("{}\n{}", lines[here], lines[there]),
        // Its name is another's of the same type.
        4 => {
            const ALIKE: [&[&str]; 4] = [
                &[
                    "i32.add", "i32.sub", "i32.and", "i32.or", "i32.eq", "i32.ne", "i32.lt_u",
                    "i32.lt_s", "i32.le_u", "i32.gt_u", "i32.ge_s",
                ],
                &["i64.add", "i64.or", "i64.and", "i64.shl", "i64.sub"],
                &["local.get", "local.tee", "global.get"],
                &["local.set", "local.tee"],
            ];
            let operator = lines[here].split_whitespace().next().unwrap_or_default().to_owned();
            if let Some(alike) = ALIKE.iter().find(|alike| alike.contains(&operator.as_str())) {
                let other = alike[random.below(alike.len())];
                lines[here] = lines[here].replacen(&operator, other, 1);
            }
        }
        // What belongs to it is another's: offsets, constants, locals, callees.
        _ => {
            let operator = lines[here].split_whitespace().next().unwrap_or_default().to_owned();
            let like: Vec<&String> = code
                .iter()
                .map(|line| &lines[*line])
                .filter(|line| line.split_whitespace().next() == Some(&operator))
                .collect();
            let taken = like[random.below(like.len())].clone();
            let digits = taken.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |last| last + 1);
            lines[here] = match (random.below(2), taken[digits..].parse::<u32>()) {
                (0, Ok(number)) => {
                    let step = [1_i64, -1, 4, 8, 12, 16, -16][random.below(7)];
                    format!("{}{}", &taken[..digits], (i64::from(number) + step).max(0))
                }
                _ => taken,
            };
        }
    }
}
