//! What is measured: first whether all ways agree, then the ways in turns.

use std::error::Error;
use std::hint::black_box;

use retort::sandbox::Options;
use retort_benches::turns::{self, Figures};

use crate::agree::Facts;
use crate::parsers;
use crate::sets::Set;
use crate::ways::{self, Way};

/// Turns of each way where nothing else is said.
pub const ROUNDS: usize = 41;
/// How many times as many turns readers have, since theirs are short.
const READER_TURNS: usize = 5;
/// Events of a turn at least.
const TURN: usize = 1_000;
/// Events of a batch that a process is started for.
pub const BATCH: usize = 100;

/// What came of one way.
pub enum Row {
    /// It was measured; and for how many events its results are others, and why they may be.
    Measured(Figures, usize, Option<&'static str>),
    /// It can't be tried on this machine.
    Skipped(&'static str, String),
    /// Its results are others, for so many events, and the first of them.
    Differs(&'static str, usize, usize),
}

/// The rows of one set.
pub struct Measured {
    /// From an event to a result, Retort first.
    pub ways: Vec<Row>,
    /// The same in instances and processes for a batch.
    pub isolated: Vec<Row>,
    /// Reading alone, beside all that Retort does.
    pub readers: Vec<Figures>,
}

/// Every way over every set.
pub fn measure(sets: &[Set], rounds: usize) -> Result<Vec<Measured>, Box<dyn Error>> {
    let measure = |set: &Set| {
        eprintln!("{}: {} events", set.name, set.events.len());
        let repeat = TURN.div_ceil(set.events.len());
        let some: Vec<Vec<u8>> = set.events.iter().cycle().take(BATCH).cloned().collect();
        Ok(Measured {
            ways: turns(ways::all(set), &set.events, repeat, rounds)?,
            isolated: turns(ways::isolated(set), &some, 1, rounds)?,
            readers: readers(set, repeat, rounds)?,
        })
    };
    sets.iter().map(measure).collect()
}

fn turns(
    ways: Vec<Way<'_>>,
    events: &[Vec<u8>],
    repeat: usize,
    rounds: usize,
) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut expected = Vec::new();
    let mut rows = Vec::new();
    let mut turns: Vec<turns::Way<'_>> = Vec::new();
    for Way { name, may_differ, made } in ways {
        let mut serve = match made {
            Ok(serve) => serve,
            Err(reason) => {
                eprintln!("  {name}: skipped: {reason}");
                rows.push(Row::Skipped(name, reason.to_string()));
                continue;
            }
        };
        let mut found = Vec::with_capacity(events.len());
        serve.serve(events, &mut |result| found.push(Facts::of(result)));
        if expected.is_empty() {
            expected = found.clone();
        }
        let differing: Vec<usize> =
            (0..events.len()).filter(|index| found[*index] != expected[*index]).collect();
        if let ([first, ..], None) = (differing.as_slice(), may_differ) {
            eprintln!("  {name}: other results for {} events, at first:", differing.len());
            eprintln!("    {}", String::from_utf8_lossy(&events[*first]));
            eprintln!("    expected {:?}\n    found {:?}", expected[*first], found[*first]);
            rows.push(Row::Differs(name, differing.len(), *first));
            continue;
        }
        let bare =
            Figures { name: name.to_owned(), median: 0.0, fastest: 0.0, ratio: 0.0, more: 0.0 };
        rows.push(Row::Measured(bare, differing.len(), may_differ));
        let turn = move || {
            for _ in 0..repeat {
                serve.serve(black_box(events), &mut |result| {
                    black_box(result);
                });
            }
        };
        turns.push((name.to_owned(), Box::new(turn)));
    }
    let mut figures = turns::take(turns, rounds, repeat * events.len()).into_iter();
    for row in &mut rows {
        if let Row::Measured(bare, ..) = row {
            *bare = figures.next().ok_or("a figure for each way")?;
        }
    }
    Ok(rows)
}

fn readers(set: &Set, repeat: usize, rounds: usize) -> Result<Vec<Figures>, Box<dyn Error>> {
    let mut runner = set.extractor(Options::default())?.runner();
    let mut readers = parsers::all();
    readers.insert(0, ("Retort, all of it", Box::new(move |event| runner.run(event).is_ok())));
    let mut turns: Vec<turns::Way<'_>> = Vec::new();
    for (name, mut reader) in readers {
        if let Some(event) = set.events.iter().find(|event| !reader(event)) {
            return Err(format!("{name}: refuses {}", String::from_utf8_lossy(event)).into());
        }
        let turn = move || {
            for event in std::iter::repeat_n(&set.events, repeat).flatten() {
                black_box(reader(black_box(event)));
            }
        };
        turns.push((name.to_owned(), Box::new(turn)));
    }
    Ok(turns::take(turns, READER_TURNS * rounds, repeat * set.events.len()))
}
