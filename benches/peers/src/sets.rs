//! The events, and Retort's plan for them.

use std::error::Error;
use std::path::Path;

use retort::plan::{self, Plan};
use retort::sandbox::{Extractor, Options, Sandbox};
use retort_benches::dataset::{Dataset, inspected};
use retort_benches::whole::{self, Extract};

use crate::by_hand::Table;

/// Events that a set of few is made up to.
const EVENTS: usize = 1_000;

/// Events of one kind, and what is to be extracted of them.
pub struct Set {
    /// Names the programs of the other languages as well.
    pub name: &'static str,
    /// One event each, all of them JSON.
    pub events: Vec<Vec<u8>>,
    /// Retort's plan.
    pub plan: Plan,
    /// The same by hand over `serde_json::Value`, and over a derived type.
    pub by_value: Extract,
    pub by_type: Extract,
    /// What the plan says, where it is of the short form.
    pub table: Option<Table>,
}

impl Set {
    /// The three sets of Retort's benches, and the orders of its example.
    pub fn all() -> Result<Vec<Self>, Box<dyn Error>> {
        let short = |Dataset { name, events, plan, by_hand }| Self {
            name,
            events,
            plan,
            by_value: by_hand.by_value,
            by_type: by_hand.by_type,
            table: Table::of(by_hand.plan),
        };
        let mut sets: Vec<Self> = Dataset::all().into_iter().map(short).collect();
        sets.push(Self::shop_orders()?);
        Ok(sets)
    }

    fn shop_orders() -> Result<Self, Box<dyn Error>> {
        let orders = whole::ALL.iter().find(|set| set.name == "shop-orders");
        let orders = orders.ok_or("the orders are one of the sets")?;
        let events = orders.events().ok_or("the example is there")?;
        Ok(Self {
            name: orders.name,
            // There are few of them. What takes batches gets some that are worth it, like those of the other sets.
            events: events
                .iter()
                .cycle()
                .take(events.len() * EVENTS.div_ceil(events.len()))
                .cloned()
                .collect(),
            plan: plan::parse(&orders.plan()?)?,
            by_value: orders.by_value,
            by_type: orders.by_type,
            table: None,
        })
    }

    /// Retort's extractor, through every gate, under the default limits.
    pub fn extractor(&self, options: Options) -> Result<Extractor, Box<dyn Error>> {
        Ok(Sandbox::with_options(options)?.load(&inspected(&self.plan))?)
    }

    /// Bytes of an event, on average.
    pub fn mean_bytes(&self) -> f64 {
        self.events.iter().map(Vec::len).sum::<usize>() as f64 / self.events.len() as f64
    }
}

/// The program of a set in another language.
pub fn program(set: &str, extension: &str) -> Result<String, std::io::Error> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(set);
    std::fs::read_to_string(file.with_added_extension(extension))
}
