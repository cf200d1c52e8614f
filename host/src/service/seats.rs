//! Which connections give way where there are as many as may be.
//!
//! A connection without a request costs whoever opens it nothing, and needs no token. So it doesn't keep others out: the one that has waited
//! the longest for a request gives way to a new one, first of all one that has never brought any.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The connections that there are, as many as may be.
#[derive(Debug)]
pub(super) struct Seats {
    places: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
}

/// Those that wait for a request.
#[derive(Debug, Default)]
struct Waiting {
    /// In the order in which they give way.
    seats: BTreeMap<Order, Arc<Place>>,
    counted: u64,
}

/// Whether a connection has brought a request before, and since when it waits.
type Order = (bool, u64);

/// The place of a connection, until it is given to another one.
#[derive(Debug)]
struct Place {
    held: Mutex<Option<OwnedSemaphorePermit>>,
    told: Notify,
}

impl Seats {
    pub(super) fn new(most: NonZeroU32) -> Self {
        let places = Arc::new(Semaphore::new(most.get() as usize));
        Self { places, waiting: Mutex::default() }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is locked.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The seat of a new connection: a free one, else that of one that gives way, which isn't waited for; where none does, one that ends
    /// is waited for.
    pub(super) async fn sit(self: &Arc<Self>) -> Arc<Seat> {
        let free = Arc::clone(&self.places).try_acquire_owned().ok();
        let held = match free.or_else(|| self.given_way()) {
            Some(held) => Some(held),
            // Nobody closes the places.
            None => Arc::clone(&self.places).acquire_owned().await.ok(),
        };
        let place = Arc::new(Place { held: Mutex::new(held), told: Notify::new() });
        let (order, has_asked) = Default::default();
        let seat = Arc::new(Seat { seats: Arc::clone(self), place, order, has_asked });
        seat.wait();
        seat
    }

    /// Tells the next one to give way, and takes its place.
    fn given_way(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            let (_, place) = self.waiting().seats.pop_first()?;
            place.told.notify_one();
            // One that was told before, and had a request then, has none any more.
            if let Some(held) = place.held.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Some(held);
            }
        }
    }
}

/// A connection among the others.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Arc<Seats>,
    place: Arc<Place>,
    order: Mutex<Option<Order>>,
    has_asked: AtomicBool,
}

impl Seat {
    fn order(&self) -> MutexGuard<'_, Option<Order>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let mut waiting = self.seats.waiting();
        waiting.counted += 1;
        let order = (self.has_asked(), waiting.counted);
        waiting.seats.insert(order, Arc::clone(&self.place));
        *self.order() = Some(order);
    }

    fn leave(&self) {
        let mut waiting = self.seats.waiting();
        if let Some(order) = self.order().take() {
            waiting.seats.remove(&order);
        }
    }

    /// Waits until it is to give way.
    pub(super) async fn told(&self) {
        self.place.told.notified().await;
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

    #[tokio::test]
    async fn who_never_asked_and_has_waited_longest_gives_way() {
        let seats = Arc::new(Seats::new(NonZeroU32::new(4).expect("not zero")));
        let [first, second, third, fourth] =
            [seats.sit().await, seats.sit().await, seats.sit().await, seats.sit().await];
        drop(first.asks());
        let asking = [second.asks(), fourth.asks()];
        let is_told = |seat: &Arc<Seat>| {
            let mut told = std::pin::pin!(seat.told());
            told.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready()
        };
        let fifth = seats.sit().await;
        assert!(is_told(&third) && !is_told(&first));
        let asking = [asking, [fifth.asks(), fifth.asks()]];
        let sixth = seats.sit().await;
        assert!(is_told(&first));
        let _asking = (asking, sixth.asks());
        // Who has a request is let be, and who comes waits until one ends.
        let mut seventh = std::pin::pin!(seats.sit());
        let mut context = Context::from_waker(std::task::Waker::noop());
        drop((first, third));
        assert!(seventh.as_mut().poll(&mut context).is_pending());
        drop(second);
        assert!(![&fourth, &fifth, &sixth].into_iter().any(is_told));
    }
}
