//! What else does what Retort does: the same events and the same results, by other means, side by side and in turns.
//!
//! `run.sh` beside this prepares what Python needs and starts it; docs/peers.md says what is measured, and how. Figures go to standard
//! output; with `--write FILE` they replace those between the marks in that file.

mod agree;
mod by_hand;
mod page;
mod parsers;
mod sets;
mod tables;
mod ways;

use std::error::Error;
use std::path::PathBuf;

use sets::Set;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut write, mut filter, mut rounds) = (None, None, tables::ROUNDS);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument}: expected a value"));
        match argument.as_str() {
            "--write" => write = Some(PathBuf::from(value()?)),
            "--set" => filter = Some(value()?),
            "--rounds" => rounds = value()?.parse()?,
            _ => return Err(format!("{argument}: expected --write, --set or --rounds").into()),
        }
    }
    let sets: Vec<Set> = Set::all()?
        .into_iter()
        .filter(|set| filter.as_ref().is_none_or(|filter| set.name.contains(filter.as_str())))
        .collect();
    let measured = tables::measure(&sets, rounds)?;
    let text = page::render(&sets, &measured);
    println!("{text}");
    if let Some(file) = write {
        page::write(&file, &text)?;
    }
    Ok(())
}
