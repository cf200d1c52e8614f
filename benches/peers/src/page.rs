//! The figures as tables of a document.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use retort_benches::turns::Figures;

use crate::parsers::{self, SKIPPING};
use crate::sets::Set;
use crate::tables::{BATCH, Measured, Row};

/// What stands before and after the figures in a document.
const MARKS: (&str, &str) =
    ("<!-- figures of benches/peers/run.sh -->\n", "<!-- end of figures -->\n");

/// The tables of all that was measured.
pub fn render(sets: &[Set], measured: &[Measured]) -> String {
    let mut text = format!("{}\n\n### From an event to its result\n\n", machine());
    let rows = |pick: fn(&Measured) -> &Vec<Row>| measured.iter().map(pick).collect::<Vec<_>>();
    text += &ways(sets, &rows(|measured| &measured.ways));
    text += "\n### Reading alone\n\n";
    text += &readers(sets, measured);
    text += &malformed();
    let _ = write!(text, "\n### Kept apart\n\nIn batches of {BATCH} events.\n\n");
    text += &ways(sets, &rows(|measured| &measured.isolated));
    text
}

/// Puts the tables where a document has those of an earlier run.
pub fn write(file: &Path, text: &str) -> Result<(), Box<dyn Error>> {
    let document = std::fs::read_to_string(file)?;
    let parts = document.split_once(MARKS.0).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(MARKS.1)?;
        Some((before, after))
    });
    let (before, after) = parts.ok_or("no marks for the figures in the document")?;
    std::fs::write(file, format!("{before}{}\n{text}\n{}{after}", MARKS.0, MARKS.1))?;
    Ok(())
}

fn machine() -> String {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        processors.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("On {cores} cores of {model}.")
}

fn head(sets: &[Set]) -> String {
    let mut head = "|".to_owned();
    for set in sets {
        let _ = write!(head, " | {}, {:.1} KB", set.name, set.mean_bytes() / 1e3);
    }
    head + " |\n|---" + &"|---:".repeat(sets.len()) + "|\n"
}

/// A row for each way, a column for each set, and what there is to say below.
fn ways(sets: &[Set], measured: &[&Vec<Row>]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut notes = BTreeSet::new();
    // A way that not all sets have stands where the first that has it has it.
    for rows in measured {
        let mut after = 0;
        for row in *rows {
            let name = name(row);
            match names.iter().position(|known| *known == name) {
                Some(at) => after = at + 1,
                None => {
                    names.insert(after, name);
                    after += 1;
                }
            }
        }
    }
    let mut text = head(sets);
    for wanted in names {
        let _ = write!(text, "| {wanted}");
        for (set, rows) in sets.iter().zip(measured) {
            let found = rows.iter().find(|row| name(row) == wanted);
            let _ = write!(text, " | {}", found.map_or_else(String::new, cell));
            notes.extend(found.and_then(|row| note(row, set)));
        }
        text += " |\n";
    }
    if !notes.is_empty() {
        text.push('\n');
    }
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

fn name(row: &Row) -> &str {
    match row {
        Row::Measured(figures, ..) => &figures.name,
        Row::Skipped(name, _) | Row::Differs(name, ..) => name,
    }
}

fn cell(row: &Row) -> String {
    match row {
        Row::Measured(figures, ..) => {
            format!("{} ({} ns)", times(figures.ratio), thousands(figures.median))
        }
        Row::Skipped(..) => "skipped".to_owned(),
        Row::Differs(..) => "other results".to_owned(),
    }
}

fn note(row: &Row, set: &Set) -> Option<String> {
    let (all, set) = (set.events.len(), set.name);
    match row {
        Row::Measured(_, 0, _) => None,
        Row::Measured(figures, differing, why) => {
            let (name, why) = (&figures.name, why.unwrap_or("for an unknown reason"));
            Some(format!("{name}, {set}: other results for {differing} of {all} events: {why}."))
        }
        Row::Skipped(name, reason) => Some(format!("{name}: skipped on this machine: {reason}.")),
        Row::Differs(name, differing, first) => Some(format!(
            "{name}, {set}: other results for {differing} of {all} events, the first of them number {first}: not measured."
        )),
    }
}

fn readers(sets: &[Set], measured: &[Measured]) -> String {
    let mut text = head(sets);
    let named = |measured: &Measured, name: &str| -> Option<(f64, f64)> {
        let found = measured.readers.iter().find(|figures| figures.name == name)?;
        Some((found.ratio, found.median))
    };
    let first = measured.first().map(|measured| measured.readers.as_slice()).unwrap_or_default();
    for Figures { name, .. } in first {
        let _ = write!(text, "| {name}");
        for (set, measured) in sets.iter().zip(measured) {
            let (ratio, median) = named(measured, name).unwrap_or((f64::NAN, f64::NAN));
            let speed = thousands(set.mean_bytes() * 1e3 / median);
            let _ = write!(text, " | {} ({speed} MB/s)", times(ratio));
        }
        text += " |\n";
    }
    for skipping in SKIPPING {
        let _ = write!(text, "| **times as fast as {skipping}: Retort, all of it**");
        for measured in measured {
            let ratio = named(measured, skipping).map_or(f64::NAN, |(ratio, _)| ratio);
            let _ = write!(text, " | **{ratio:.2}**");
        }
        text += " |\n";
    }
    text
}

/// What the readers take that isn't JSON.
fn malformed() -> String {
    let Some((all, readers)) = parsers::takes_malformed() else { return String::new() };
    let taken = readers.iter().filter(|(_, count)| *count > 0);
    let taken: Vec<String> = taken.map(|(name, count)| format!("{name}: {count}")).collect();
    let taken = if taken.is_empty() { "none".to_owned() } else { taken.join("; ") };
    format!(
        "\nOf the {all} texts of JSONTestSuite that aren't JSON these take some all the same: {taken}.\n"
    )
}

/// A ratio with three digits.
fn times(ratio: f64) -> String {
    let digits = if ratio < 10.0 { 2 } else { usize::from(ratio < 100.0) };
    if ratio < 1_000.0 { format!("{ratio:.digits$}") } else { thousands(ratio) }
}

fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
