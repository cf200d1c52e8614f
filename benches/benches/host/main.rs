//! A host of many tenants under load.
//!
//! `-- neighbours [MINUTES]`: fifty tenants, of them ten hostile, in turns with and without these. `-- resident [TENANTS BUNDLES]`: how much
//! memory many bundles of many tenants take, and how long their events. Both, shortly, if nothing is said.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

mod neighbours;
mod resident;

use std::time::Duration;

fn main() {
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    let figures: Vec<u64> = arguments.iter().filter_map(|it| it.parse().ok()).collect();
    let name = arguments.iter().find(|it| it.parse::<u64>().is_err()).map_or("", String::as_str);
    if name.is_empty() || name == "neighbours" {
        let minutes = figures.first().copied().unwrap_or(2);
        neighbours::run(Duration::from_secs(60 * minutes));
    }
    if name.is_empty() || name == "resident" {
        let tenants = figures.first().copied().unwrap_or(1_000) as usize;
        let bundles = figures.get(1).copied().unwrap_or(10) as usize;
        resident::run(tenants, bundles);
    }
}
