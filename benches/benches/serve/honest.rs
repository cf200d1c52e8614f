//! Honest tenants: events when they are due, in requests of three kinds, and every answer is looked at.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use retort::bundle::Digest;
use retort_benches::beside::{Times, times};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep_until, timeout};

use super::client::{Client, Failed, Lines, streamed, whole};
use super::configuration::{HONEST, honest_name};

/// Between two events of a tenant.
const PACE: Duration = Duration::from_millis(20);

/// Events of a request that is sent as they come.
const STREAMED: u32 = 100;

/// Events of a request that is sent at once.
const BATCH: u32 = 25;

/// In which all tenants begin, one after the other, so that they don't keep step: requests of all three kinds.
pub(super) const STAGGER: Duration = PACE.saturating_mul(STREAMED + 2 * BATCH);

/// How long a request may take: much longer than it should.
const PATIENCE: Duration = Duration::from_secs(60);

/// After how many requests a new connection is made.
const REQUESTS: u64 = 5;

/// How many mistakes are told.
const TOLD: usize = 10;

/// What all honest tenants share.
pub(super) struct Load {
    pub(super) is_over: AtomicBool,
    /// The versions that each of them has.
    versions: [Digest; 2],
    /// Events that were sent.
    pub(super) sent: AtomicU64,
    /// Events whose answers were as they should be, those included that have no line.
    pub(super) right: AtomicU64,
    pub(super) requests: AtomicU64,
    mistakes: Mutex<Vec<String>>,
    /// Times of the turn: of events that are sent as they come, and of those in batches.
    times: Mutex<[Times; 2]>,
}

/// How the events of a request are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Streamed,
    Batch,
    Gzip,
}

/// What is to come of an event.
enum Due {
    Result,
    Reject,
    /// No line: it is declined, or nobody serves its type.
    Empty,
    Unrouted,
}

fn due(id: u64) -> Due {
    match id % 20 {
        7 => Due::Empty,
        11 => Due::Unrouted,
        13 => Due::Reject,
        _ => Due::Result,
    }
}

fn event(id: u64) -> String {
    let event_type = if matches!(due(id), Due::Unrouted) { "other" } else { "e" };
    let note = "a note of some length, as notes are, and not of interest";
    let mut event = json!({"event_type": event_type, "session_id": "s", "note": note});
    if !matches!(due(id), Due::Empty) {
        event["id"] = json!(id);
        event["other"] = json!(id + 1);
    }
    let mut text = event.to_string();
    if matches!(due(id), Due::Reject) {
        text.pop();
    }
    text + "\n"
}

impl Load {
    pub(super) fn new(versions: [Digest; 2]) -> Self {
        Self {
            is_over: AtomicBool::new(false),
            versions,
            sent: AtomicU64::new(0),
            right: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            mistakes: Mutex::default(),
            times: Mutex::new([times(), times()]),
        }
    }

    /// The times so far, from which on others are counted.
    pub(super) fn taken(&self) -> [Times; 2] {
        std::mem::replace(&mut *self.times.blocking_lock(), [times(), times()])
    }

    pub(super) fn mistakes(&self) -> Vec<String> {
        self.mistakes.blocking_lock().clone()
    }

    async fn mistaken(&self, mistake: String) {
        let mut mistakes = self.mistakes.lock().await;
        if mistakes.len() < TOLD {
            mistakes.push(mistake);
        }
    }
}

/// Sends events until it is over.
pub(super) async fn send(load: Arc<Load>, mut client: Client, number: usize) {
    let tenant = honest_name(number);
    let (mut id, mut request) = (1_u64, number as u64);
    tokio::time::sleep(STAGGER * number as u32 / HONEST as u32).await;
    let mut begin = Instant::now();
    while !load.is_over.load(Ordering::Relaxed) {
        request += 1;
        let (kind, count) = match request % 6 {
            0 | 3 => (Kind::Streamed, STREAMED),
            1 | 4 => (Kind::Batch, BATCH),
            _ => (Kind::Gzip, BATCH),
        };
        if request.is_multiple_of(REQUESTS) {
            client.disconnect();
        }
        load.sent.fetch_add(count.into(), Ordering::Relaxed);
        load.requests.fetch_add(1, Ordering::Relaxed);
        let answered = timeout(PATIENCE, asked(&load, &mut client, kind, id, count, begin)).await;
        let mistake = match answered {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("{tenant}: {error}")),
            Err(_) => Some(format!("{tenant}: a request isn't answered")),
        };
        if let Some(mistake) = mistake {
            load.mistaken(mistake).await;
            client.disconnect();
        } else {
            load.right.fetch_add(count.into(), Ordering::Relaxed);
        }
        id += u64::from(count);
        // What is late is sent without a pause, and counts from when it was due.
        begin += PACE * count;
        sleep_until(begin).await;
        begin = begin.max(Instant::now() - PATIENCE);
    }
}

/// Sends one request, all of whose events have to be answered as they should be.
async fn asked(
    load: &Load,
    client: &mut Client,
    kind: Kind,
    first: u64,
    count: u32,
    begin: Instant,
) -> Result<(), Failed> {
    let ids = first..first + u64::from(count);
    let at = |id: u64| match kind {
        Kind::Streamed => begin + PACE * (id - first) as u32,
        Kind::Batch | Kind::Gzip => begin,
    };
    match kind {
        Kind::Streamed => {
            let (sender, body) = streamed();
            let sent = async {
                sent(sender, ids.clone(), at).await;
                Ok(())
            };
            let answered = async {
                let lines = client.post(body, None).await?;
                checked(load, lines, ids.clone(), at, kind).await
            };
            tokio::try_join!(sent, answered).map(|((), ())| ())
        }
        Kind::Batch => {
            let text: String = ids.clone().map(event).collect();
            checked(load, client.post(whole(text), None).await?, ids, at, kind).await
        }
        Kind::Gzip => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            for id in ids.clone() {
                packed.write_all(event(id).as_bytes())?;
            }
            let packed = packed.finish()?;
            checked(load, client.post(whole(packed), Some("gzip")).await?, ids, at, kind).await
        }
    }
}

/// Sends events when they are due.
async fn sent(sender: Sender<Bytes>, ids: std::ops::Range<u64>, at: impl Fn(u64) -> Instant) {
    for id in ids {
        sleep_until(at(id)).await;
        if sender.send(event(id).into()).await.is_err() {
            // Who reads the answer says why.
            return;
        }
    }
}

/// Reads an answer, which has to have a line for each event that has one, in order, and nothing else.
async fn checked(
    load: &Load,
    mut lines: Lines,
    ids: std::ops::Range<u64>,
    at: impl Fn(u64) -> Instant,
    kind: Kind,
) -> Result<(), Failed> {
    let first = ids.start;
    let (mut results, mut empty, mut unrouted, mut rejected) = (0, 0, 0, 0);
    for id in ids.clone() {
        match due(id) {
            Due::Result => results += 1,
            Due::Reject => rejected += 1,
            Due::Empty => {
                empty += 1;
                continue;
            }
            Due::Unrouted => {
                unrouted += 1;
                continue;
            }
        }
        let text = lines.next().await?.ok_or("the answer ends too early")?;
        let came = Instant::now();
        let line: Value = serde_json::from_slice(&text)?;
        let is_right = line["line"] == json!(id - first + 1)
            && match due(id) {
                Due::Reject => line["code"] == "event_not_json",
                _ => is_result(load, &line, id),
            };
        if !is_right {
            return Err(format!("event {id} (line {}): {line}", id - first + 1).into());
        }
        let took = came.saturating_duration_since(at(id));
        let place = usize::from(kind != Kind::Streamed);
        load.times.lock().await[place].saturating_record(took.as_nanos() as u64);
    }
    let events = ids.end - ids.start;
    let summary = json!({"summary": {"events": events, "results": results, "empty": empty,
        "unrouted": unrouted, "rejected": rejected}});
    let last = lines.next().await?.ok_or("the answer has no end")?;
    let last: Value = serde_json::from_slice(&last)?;
    if last != summary {
        return Err(format!("expected {summary}, found {last}").into());
    }
    match lines.next().await? {
        None => Ok(()),
        Some(more) => Err(format!("more than an answer: {}", more.escape_ascii()).into()),
    }
}

/// Whether a line is what one of the versions, the one that it names, gives for an event.
fn is_result(load: &Load, line: &Value, id: u64) -> bool {
    let bundle = line["bundle"].as_str().and_then(|it| it.parse::<Digest>().ok());
    let place = load.versions.iter().position(|it| Some(*it) == bundle);
    let key = place.map(|place| json!(format!("s:Order:key={}", id + place as u64)));
    line["event_type"] == "e"
        && line.get("dropped").is_none()
        && key.is_some_and(|key| line["result"]["nodes"][0]["node_id"] == key)
}
