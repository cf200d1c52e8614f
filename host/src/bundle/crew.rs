//! Many things of one kind done on all cores.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use tracing::{Dispatch, dispatcher};

/// What `work` makes of each item, in their order: on as many threads as run at one time here, of which this one is one.
pub(crate) fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = cores.min(items.len());
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let take = || {
        let mut own = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            own.push((index, work(item)));
        }
        done.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
    };
    // Who listens to this thread alone hears of what the others do as well.
    let listener = dispatcher::get_default(Dispatch::clone);
    thread::scope(|scope| {
        for _ in 1..threads {
            let take = || dispatcher::with_default(&listener, take);
            let started = thread::Builder::new().name("retort-load".to_owned());
            // Where the system has no more to give, fewer do the same.
            if started.spawn_scoped(scope, take).is_err() {
                break;
            }
        }
        take();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_what_they_are_of() {
        for count in [0, 1, 2, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(on_all_cores(&items, |item| item + 1), (1..=count).collect::<Vec<_>>());
        }
    }
}
