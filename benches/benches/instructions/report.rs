//! What was counted, printed and compared.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::sets::Set;
use super::stages::Stage;

/// The version of the form.
const VERSION: u32 = 1;

/// All counts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    instructions_version: u32,
    valgrind: String,
    sets: Vec<SetFigures>,
    counts: Vec<Count>,
}

/// The events of a set.
#[derive(Debug, Serialize, Deserialize)]
struct SetFigures {
    name: String,
    events: usize,
    bytes: usize,
}

/// The instructions of one pass over a set; those that get an extractor ready are of one.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Count {
    pub(super) set: String,
    pub(super) stage: String,
    pub(super) instructions: u64,
}

/// What is different from a baseline.
pub(super) struct Changes {
    pub(super) text: String,
    /// How many stages take more than is tolerated.
    pub(super) more: usize,
}

impl Report {
    pub(super) fn new(valgrind: String, sets: &[Set], counts: Vec<Count>) -> Self {
        let figures = |set: &Set| SetFigures {
            name: set.name.clone(),
            events: set.events.len(),
            bytes: set.bytes(),
        };
        let sets = sets.iter().map(figures).collect();
        Self { instructions_version: VERSION, valgrind, sets, counts }
    }

    pub(super) fn read(path: &str) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let report: Self = serde_json::from_str(&text)
            .map_err(|error| format!("{path}: expected what --json has printed: {error}"))?;
        if report.instructions_version != VERSION {
            let found = report.instructions_version;
            return Err(format!("{path}: expected version {VERSION} of the form, found {found}"));
        }
        Ok(report)
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// For each set, what an event takes by stage, and what getting ready takes.
    pub(super) fn table(&self) -> String {
        let mut text = format!("instructions, by {}\n", self.valgrind);
        for SetFigures { name, events, bytes } in &self.sets {
            let mean = *bytes as f64 / (*events).max(1) as f64;
            let _ = writeln!(text, "\n{name}: {events} events of {mean:.0} bytes");
            for Count { stage, instructions, .. } in self.counts.iter().filter(|it| it.set == *name)
            {
                if is_of_events(stage) {
                    let each = *instructions as f64 / (*events).max(1) as f64;
                    let by_byte = *instructions as f64 / (*bytes).max(1) as f64;
                    let _ =
                        writeln!(text, "  {stage:10}{each:>14.0} an event{by_byte:>10.2} a byte");
                } else {
                    let _ = writeln!(text, "  {stage:10}{instructions:>14} in all");
                }
            }
        }
        text
    }

    /// Against an earlier report.
    pub(super) fn compare(&self, was: Self, tolerance: f64) -> Changes {
        let mut changes = Changes { text: String::new(), more: 0 };
        let size = |report: &Self, name: &str| {
            let found = report.sets.iter().find(|set| set.name == name);
            found.map(|set| (set.events, set.bytes))
        };
        for now in &self.counts {
            let same = |then: &&Count| then.set == now.set && then.stage == now.stage;
            let name = format!("{}, {}", now.set, now.stage);
            let Some(then) = was.counts.iter().find(same) else {
                let _ = writeln!(changes.text, "{name}: not in the baseline");
                continue;
            };
            if size(self, &now.set) != size(&was, &now.set) {
                let _ = writeln!(changes.text, "{name}: the baseline is of other events");
                continue;
            }
            let ratio = now.instructions as f64 / then.instructions.max(1) as f64;
            let percent = 100.0 * (ratio - 1.0);
            let is_more = percent > tolerance;
            changes.more += usize::from(is_more);
            if percent.abs() > tolerance {
                let (was, is) = (then.instructions, now.instructions);
                let word = if is_more { "MORE" } else { "less" };
                let _ = writeln!(changes.text, "{name}: {was} to {is}, {percent:+.1} % {word}");
            }
        }
        let _ = match changes.more {
            0 => writeln!(changes.text, "no stage takes more than the baseline and {tolerance} %"),
            more => writeln!(
                changes.text,
                "{more} stages take more than the baseline and {tolerance} %"
            ),
        };
        changes
    }
}

/// Whether a stage is passed through by each event.
fn is_of_events(stage: &str) -> bool {
    ![Stage::Render, Stage::Compile, Stage::Load].iter().any(|ready| ready.name() == stage)
}
