//! Several threads that begin at the same time.

use std::io;
use std::sync::{PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// Lets each worker do its work on a thread of its own, all at the same time, and says how long it took from the first's beginning to
/// the last's end. One worker alone works on this thread.
pub(super) fn together<W: Send>(
    workers: &mut [W],
    work: impl Fn(&mut W) + Sync,
) -> io::Result<Duration> {
    if let [worker] = workers {
        let start = Instant::now();
        work(worker);
        return Ok(start.elapsed());
    }
    // Closed until every thread is there; whether they are to work is what it says then.
    let gate = RwLock::new(true);
    let spans = thread::scope(|scope| {
        let mut closed = gate.write().unwrap_or_else(PoisonError::into_inner);
        let mut threads = Vec::with_capacity(workers.len());
        for worker in workers {
            let (gate, work) = (&gate, &work);
            let span = move || {
                let is_open = *gate.read().unwrap_or_else(PoisonError::into_inner);
                let start = Instant::now();
                if is_open {
                    work(worker);
                }
                (start, Instant::now())
            };
            match thread::Builder::new().spawn_scoped(scope, span) {
                Ok(thread) => threads.push(thread),
                Err(refused) => {
                    *closed = false;
                    return Err(refused);
                }
            }
        }
        drop(closed);
        let ended = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().map_err(|_| io::Error::other("a thread that measures has panicked"))
        };
        threads.into_iter().map(ended).collect::<io::Result<Vec<(Instant, Instant)>>>()
    })?;
    let start = spans.iter().map(|(start, _)| *start).min();
    let end = spans.iter().map(|(_, end)| *end).max();
    Ok(start.zip(end).map_or(Duration::ZERO, |(start, end)| end.saturating_duration_since(start)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::together;

    #[test]
    fn each_worker_works_once_and_at_the_same_time() {
        for count in [0, 1, 3] {
            let mut workers = vec![0; count];
            let elapsed = together(&mut workers, |worker| {
                std::thread::sleep(Duration::from_millis(50));
                *worker += 1;
            });
            assert_eq!(workers, vec![1; count]);
            let least = Duration::from_millis(if count == 0 { 0 } else { 50 });
            assert!(elapsed.is_ok_and(|it| (least..Duration::from_secs(30)).contains(&it)));
        }
    }
}
