//! Retort: everything validated, every limit on.

use retort::Runner;
use retort::sandbox::{Allocator, Isolation, Options, Pool};

use super::{Made, Serve, Way};
use crate::sets::Set;

struct Sandboxed(Runner);

impl Serve for Sandboxed {
    fn serve(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8])) {
        self.0.begin_batch();
        for event in events {
            take(self.0.run(event).map_or(&[], |outcome| outcome.json));
        }
    }
}

fn made(set: &Set, isolation: Isolation) -> Made<'_> {
    let mut options = Options::default();
    options.isolation = isolation;
    if isolation != Isolation::Warm {
        options.allocator = Allocator::Pooling(Pool::default());
    }
    Ok(Box::new(Sandboxed(set.extractor(options)?.runner())))
}

pub(super) fn way(set: &Set) -> Way<'_> {
    Way::new("Retort", made(set, Isolation::Warm))
}

pub(super) fn isolated(set: &Set) -> Vec<Way<'_>> {
    vec![
        Way::new("Retort, one instance", made(set, Isolation::Warm)),
        Way::new("Retort, an instance a batch, pooled", made(set, Isolation::PerBatch)),
        Way::new("Retort, an instance an event, pooled", made(set, Isolation::PerEvent)),
    ]
}
