//! The ways from an event to a result, each in a file of its own.

mod by_hand;
mod jaq;
mod process;
mod quickjs;
mod retort;
mod vrl;

use std::error::Error;

use crate::sets::Set;

/// A way from events to results.
pub trait Serve {
    /// Hands each event's result to `take`, in the order of the events; an empty text for one that is refused.
    fn serve(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8]));
}

/// A way, or why it can't be tried on this machine.
pub type Made<'a> = Result<Box<dyn Serve + 'a>, Box<dyn Error>>;

/// A way and what there is to know about it.
pub struct Way<'a> {
    pub name: &'static str,
    /// Why some results may differ, where they may.
    pub may_differ: Option<&'static str>,
    pub made: Made<'a>,
}

impl<'a> Way<'a> {
    fn new(name: &'static str, made: Made<'a>) -> Self {
        Self { name, may_differ: None, made }
    }

    fn that_may_differ(self, why: &'static str) -> Self {
        Self { may_differ: Some(why), ..self }
    }
}

/// A way that sees one event at a time: event in, result out; false for an event that it refuses.
struct Each<F>(F, Vec<u8>);

impl<F: FnMut(&[u8], &mut Vec<u8>) -> bool> Serve for Each<F> {
    fn serve(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8])) {
        let Self(each, out) = self;
        for event in events {
            out.clear();
            if !each(event, out) {
                out.clear();
            }
            take(out);
        }
    }
}

fn each<'a>(each: impl FnMut(&[u8], &mut Vec<u8>) -> bool + 'a) -> Made<'a> {
    Ok(Box::new(Each(each, Vec::new())))
}

/// Every way, Retort first. What serves in a process of its own is started here, and lives as long as the way.
pub fn all(set: &Set) -> Vec<Way<'_>> {
    let mut ways = vec![retort::way(set)];
    ways.extend(by_hand::ways(set));
    ways.extend([vrl::way(set), jaq::way(set), quickjs::way(set)]);
    ways.extend(process::ways(set));
    ways
}

/// Retort as it is, with a fresh instance for each batch, and for each event; and what a host without it starts for that.
pub fn isolated(set: &Set) -> Vec<Way<'_>> {
    let mut ways = retort::isolated(set);
    ways.extend(process::per_batch(set));
    ways
}
