//! Many events, in batches.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::bundle::Bundle;
use crate::error::Failed;
use crate::event::EventText;
use crate::result::Result;
use crate::seat::Made;

/// The most events of a batch, and the most bytes that are taken before it is served.
const MOST_EVENTS: usize = 512;
const MOST_BYTES: usize = 1 << 20;

/// For how long the next event may be waited for and still be at hand.
const AT_HAND: Duration = Duration::from_millis(1);

/// For how long events are served before signals are looked at.
pub(crate) const BETWEEN_SIGNALS: Duration = Duration::from_millis(50);

/// What is made of many events, one after the other: a Result each, or an exception as a value.
#[pyclass(module = "retort")]
pub(crate) struct ExtractMany {
    bundle: Py<Bundle>,
    /// Where events come from, until it has no more.
    events: Option<Py<PyIterator>>,
    /// Taken and not served.
    waiting: VecDeque<std::result::Result<EventText, Failed>>,
    /// Served and not given.
    served: VecDeque<std::result::Result<Made, Failed>>,
    /// What the iterable raised, behind all that is waiting.
    raised: Option<PyErr>,
    /// Events of the next batch: more and more, while they are at hand.
    batch: usize,
}

impl ExtractMany {
    pub(crate) fn new(bundle: Py<Bundle>, events: Py<PyIterator>) -> Self {
        let (waiting, served) = Default::default();
        Self { bundle, events: Some(events), waiting, served, raised: None, batch: 1 }
    }

    /// Takes the events of the next batch. Whatever is raised, what was taken before stays.
    fn take(&mut self, py: Python<'_>) -> PyResult<()> {
        let Some(events) = &self.events else { return Ok(()) };
        let mut events = events.bind(py).clone();
        let (mut bytes, mut before) = (0, Instant::now());
        while self.waiting.len() < self.batch && bytes < MOST_BYTES {
            match events.next() {
                Some(Ok(event)) => {
                    let event = EventText::of(&event);
                    bytes += event.as_ref().map_or(0, |event| event.as_ref().len());
                    self.waiting.push_back(event);
                }
                Some(Err(error)) if error.is_instance_of::<PyException>(py) => {
                    self.raised = Some(error);
                    return Ok(());
                }
                // An interrupt, or the end of the program, waits for nothing.
                Some(Err(error)) => return Err(error),
                None => {
                    self.events = None;
                    return Ok(());
                }
            }
            let now = Instant::now();
            if now - before > AT_HAND {
                self.batch = 1;
                return Ok(());
            }
            before = now;
        }
        self.batch = (self.batch * 2).min(MOST_EVENTS);
        Ok(())
    }

    /// Serves what is waiting, until signals are to be looked at.
    fn serve(&mut self, py: Python<'_>) -> PyResult<()> {
        let Self { bundle, waiting, served, .. } = self;
        let opened = &bundle.get().opened;
        let started = Instant::now();
        let before = served.len();
        let events = &*waiting.make_contiguous();
        let done = py.detach(|| {
            opened.seated(|seat| {
                for event in events {
                    served.push_back(match event {
                        Ok(event) => seat.extract(event.as_ref()),
                        Err(failed) => Err(failed.clone()),
                    });
                    if started.elapsed() > BETWEEN_SIGNALS {
                        break;
                    }
                }
            })
        });
        if let Err(failed) = done {
            // The event that it was about, or all that can't be served since nothing was opened.
            served.push_back(Err(failed));
        }
        let count = served.len() - before;
        waiting.drain(..count);
        py.check_signals()
    }
}

#[pymethods]
impl ExtractMany {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            match self.served.pop_front() {
                Some(Ok(made)) => {
                    return Ok(Some(Bound::new(py, Result::new(made))?.into_any()));
                }
                Some(Err(failed)) => return failed.exception(py).map(Some),
                None => {}
            }
            if !self.waiting.is_empty() {
                self.serve(py)?;
            } else if let Some(raised) = self.raised.take() {
                return Err(raised);
            } else if self.events.is_none() {
                return Ok(None);
            } else {
                self.take(py)?;
            }
        }
    }
}
