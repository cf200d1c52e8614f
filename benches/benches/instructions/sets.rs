//! Events with the plan that reads them.

use std::collections::HashSet;

use retort::plan::{self, Plan};
use retort_benches::dataset::Dataset;
use retort_benches::whole;

/// Events of a set at most: valgrind takes some fifty times as long.
const MAX_EVENTS: usize = 40;

/// A plan with events for it, of which each gives a result.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) plan: Plan,
    pub(super) events: Vec<Vec<u8>>,
}

impl Set {
    /// The short form over real events, and the whole language.
    ///
    /// # Panics
    /// When two of them have the same name, by which the program is told what to count.
    pub(super) fn all() -> Vec<Self> {
        let short = Dataset::all()
            .into_iter()
            .map(|set| Self::new(set.name.to_owned(), set.plan, set.events));
        let whole = whole::ALL.into_iter().filter_map(|set| {
            let plan = set.plan().expect("a file of the project");
            let plan = plan::parse(&plan).expect("the plan is valid");
            Some(Self::new(set.name.to_owned(), plan, set.events()?))
        });
        let all: Vec<Self> = short.chain(whole).collect();
        let mut names = HashSet::new();
        let twice = all.iter().find(|set| !names.insert(&set.name));
        assert!(twice.is_none(), "two sets are named {:?}", twice.map(|set| &set.name));
        all
    }

    /// With a few of the events, of the whole range.
    fn new(name: String, plan: Plan, events: Vec<Vec<u8>>) -> Self {
        let is_json = |event: &Vec<u8>| retort::internal::event::validate(event).is_ok();
        let events: Vec<Vec<u8>> = events.into_iter().filter(is_json).collect();
        let step = events.len().div_ceil(MAX_EVENTS).max(1);
        Self { name, plan, events: events.into_iter().step_by(step).collect() }
    }

    pub(super) fn bytes(&self) -> usize {
        self.events.iter().map(Vec::len).sum()
    }
}
