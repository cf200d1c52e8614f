//! Coverage as a person reads it.

use std::fmt;

use super::{Coverage, LeftOut};
use crate::diagnostics::untrusted::escaped;

/// How many rows a table has.
const MAX_ROWS: usize = 40;

/// How many names are listed of what is left out.
const MAX_LEFT_OUT: usize = 12;

/// How wide the column of names is at most.
const NAME_CHARS: usize = 40;

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = if self.in_rule { " (named in the rule)" } else { "" };
        write!(f, "{}.{}{named}", escaped(&self.of), escaped(&self.property))
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { samples, nonempty, properties, left_out, failed_conversions, .. } = self;
        write!(f, "what came out of {samples} samples, of which {nonempty} gave something")?;
        if self.skipped > 0 {
            let skipped = self.skipped;
            write!(f, " ({skipped} of event types that aren't declared weren't run)")?;
        }
        f.write_str(":")?;
        let named =
            |it: &super::PropertyCoverage| format!("{}.{}", escaped(&it.of), escaped(&it.property));
        let width = properties.iter().map(|it| named(it).chars().count()).max().unwrap_or(0);
        let width = width.clamp(8, NAME_CHARS);
        write!(f, "\n  {:<width$} {:>7} {:>8}  examples", "property", "samples", "distinct")?;
        for it in properties.iter().take(MAX_ROWS) {
            let examples = it.examples.join(", ");
            let (name, samples, distinct) = (named(it), it.samples, it.distinct);
            let row = format!("  {name:<width$} {samples:>7} {distinct:>8}  {examples}");
            write!(f, "\n{}", row.trim_end())?;
        }
        if let Some(more @ 1..) = properties.len().checked_sub(MAX_ROWS) {
            write!(f, "\n  ... and {more} more properties")?;
        }
        if !left_out.is_empty() {
            let names = left_out.iter().take(MAX_LEFT_OUT).map(LeftOut::to_string);
            let names: Vec<String> = names.collect();
            write!(f, "\n  left out: {}", names.join(", "))?;
            if let Some(more @ 1..) = left_out.len().checked_sub(MAX_LEFT_OUT) {
                write!(f, " and {more} more")?;
            }
        }
        for it in failed_conversions.iter().take(MAX_ROWS) {
            let on = |it: &super::FailedValue| match &it.value {
                Some(value) => format!("{value} (line {})", it.line),
                None => format!("line {}", it.line),
            };
            let on: Vec<String> = it.examples.iter().map(on).collect();
            let (of, property) = (escaped(&it.of), escaped(&it.property));
            write!(f, "\n  failed: {of}.{property} on {}", on.join(", "))?;
        }
        Ok(())
    }
}
