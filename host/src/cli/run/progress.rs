//! How far a run is, on a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use retort::runtime::{Progress, Summary};

use super::inputs::BytesRead;

const KNOWN: &str = "{wide_bar} {binary_bytes}/{binary_total_bytes}, {msg}, {eta} left";
const UNKNOWN: &str = "{spinner} {binary_bytes}, {msg}, {elapsed}";

/// How often it is drawn again.
const TICK: Duration = Duration::from_millis(250);

/// One line at the foot of a terminal, which is gone in the end.
#[derive(Clone)]
pub(super) struct Bar {
    bar: ProgressBar,
    bytes_read: BytesRead,
    started: Instant,
    /// Events that an earlier run has served.
    events_before: u64,
}

impl Bar {
    /// Where stderr is a terminal, unless results are shown there. `total` are the bytes of all inputs, where they are known.
    pub(super) fn new(
        total: Option<u64>,
        bytes_read: &BytesRead,
        before: &Summary,
        shows_results: bool,
    ) -> Option<Self> {
        if !io::stderr().is_terminal() || shows_results && io::stdout().is_terminal() {
            return None;
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(if total.is_some() { KNOWN } else { UNKNOWN });
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        let (bytes_read, started) = (bytes_read.clone(), Instant::now());
        Some(Self { bar, bytes_read, started, events_before: before.events })
    }

    pub(super) fn show(&self, progress: &Progress<'_>) {
        let summary = progress.summary;
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = (summary.events - self.events_before) as f64 / seconds;
        let [events, rate, rejects] =
            [summary.events, rate as u64, summary.rejected()].map(HumanCount);
        self.bar.set_position(self.bytes_read.get());
        self.bar.set_message(format!("{events} events, {rate}/s, {rejects} rejected"));
    }

    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Writes to stderr above the bar, if there is one.
pub(super) struct AboveBar(pub(super) Option<Bar>);

impl Write for AboveBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(bar) => bar.bar.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
