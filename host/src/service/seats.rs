//! Which connections give way where there are as many as may be.
//!
//! A connection without a request costs whoever opens it nothing, and needs no token. So it doesn't keep others out: the one that has waited
//! the longest for a request gives way to a new one, first of all one that has never brought any.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;

/// The connections that wait for a request.
#[derive(Debug, Default)]
pub(super) struct Seats(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// In the order in which they give way: whether it has brought a request before, and since when it waits.
    seats: BTreeMap<Place, Arc<Notify>>,
    counted: u64,
}

type Place = (bool, u64);

impl Seats {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat of a new connection.
    pub(super) fn sit(self: &Arc<Self>) -> Arc<Seat> {
        let (told, place, has_asked) = Default::default();
        let seat = Seat { seats: Arc::clone(self), told, place, has_asked };
        seat.wait();
        Arc::new(seat)
    }

    /// Tells the next one to give way. Whether there is one.
    pub(super) fn give_way(&self) -> bool {
        let next = self.waiting().seats.pop_first();
        next.is_some_and(|(_, told)| {
            told.notify_one();
            true
        })
    }
}

/// A connection among the others.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Arc<Seats>,
    told: Arc<Notify>,
    place: Mutex<Option<Place>>,
    has_asked: AtomicBool,
}

impl Seat {
    fn place(&self) -> MutexGuard<'_, Option<Place>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let mut waiting = self.seats.waiting();
        waiting.counted += 1;
        let place = (self.has_asked(), waiting.counted);
        waiting.seats.insert(place, Arc::clone(&self.told));
        *self.place() = Some(place);
    }

    fn leave(&self) {
        let mut waiting = self.seats.waiting();
        if let Some(place) = self.place().take() {
            waiting.seats.remove(&place);
        }
    }

    /// Waits until it is to give way.
    pub(super) async fn told(&self) {
        self.told.notified().await;
    }

    /// Whether it has brought a request.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// For as long as the value lives, the connection has a request.
    pub(super) fn asks(self: &Arc<Self>) -> Asking {
        self.has_asked.store(true, Ordering::Relaxed);
        self.leave();
        Asking(Arc::clone(self))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A request of a connection.
#[derive(Debug)]
pub(super) struct Asking(Arc<Seat>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// A body, and what lasts until it is sent or given up.
pub(super) struct Answered {
    body: Body,
    _asking: Asking,
}

impl Answered {
    pub(super) fn new(body: Body, asking: Asking) -> Self {
        Self { body, _asking: asking }
    }
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_never_asked_and_has_waited_longest_gives_way() {
        let seats = Arc::new(Seats::default());
        let [first, second, third, fourth] = [(); 4].map(|()| seats.sit());
        drop(first.asks());
        let asking = second.asks();
        drop(fourth);
        let is_told = |seat: &Arc<Seat>| {
            let mut told = std::pin::pin!(seat.told());
            told.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
        };
        assert!(seats.give_way() && is_told(&third) && !is_told(&first));
        assert!(seats.give_way() && is_told(&first));
        // Who has a request is let be.
        assert!(!seats.give_way() && !is_told(&second));
        drop(asking);
        assert!(seats.give_way() && is_told(&second));
    }
}
