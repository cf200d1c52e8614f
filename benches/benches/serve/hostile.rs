//! Hostile tenants: what their guests do, and what their clients do.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use retort_benches::guests::{Attack, hostile_text};
use retort_benches::versions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// A hostile tenant.
pub(super) struct Hostile {
    pub(super) name: &'static str,
    /// What its guest does; an honest one otherwise.
    guest: Option<Attack>,
    pub(super) is_never_set_aside: bool,
    client: Way,
    /// How many connections it has.
    at_once: usize,
}

/// What a client does.
#[derive(Clone, Copy)]
enum Way {
    /// Sends many events, and reads the answer.
    Events { bytes: usize, count: usize },
    /// Sends a byte now and then: some of them of a head, some of a body.
    Dribble,
    /// Sends events and reads nothing.
    Unread,
    /// Lines of some megabytes, and lines that never end.
    GiantLines,
    /// Bodies that end in the middle, that are altered, or that unpack to a gigabyte of one line or of none.
    BadGzip,
    /// Connections that bring no request, or nonsense.
    Connections,
}

impl Way {
    /// What is sent of events, made once: clients are to cost the machine as little as they can.
    fn body(self) -> Vec<u8> {
        let (bytes, count) = match self {
            Self::Events { bytes, count } => (bytes, count),
            Self::Unread => (1_000, 100),
            Self::GiantLines => (4_000_000, 4),
            Self::Dribble | Self::BadGzip | Self::Connections => return Vec::new(),
        };
        event(bytes).repeat(count).into_bytes()
    }

    /// Between two connections.
    fn pause(self) -> Duration {
        match self {
            Self::Connections => Duration::from_millis(200),
            _ => Duration::from_millis(20),
        }
    }
}

const fn guest(name: &'static str, guest: Attack, is_never_set_aside: bool) -> Hostile {
    let client = Way::Events { bytes: 40, count: 50 };
    Hostile { name, guest: Some(guest), is_never_set_aside, client, at_once: 4 }
}

const fn client(name: &'static str, client: Way, at_once: usize) -> Hostile {
    Hostile { name, guest: None, is_never_set_aside: true, client, at_once }
}

/// All of them.
pub(super) const HOSTILE: [Hostile; 10] = [
    guest("stall", Attack::Stall, false),
    guest("stall-always", Attack::Stall, true),
    guest("memory-always", Attack::Memory, true),
    guest("large-results-always", Attack::Flood, true),
    client("many-large-answers", Way::Events { bytes: 60_000, count: 200 }, 4),
    client("dribbles", Way::Dribble, 300),
    client("never-reads", Way::Unread, 50),
    client("giant-lines", Way::GiantLines, 4),
    client("bad-gzip", Way::BadGzip, 16),
    client("connections", Way::Connections, 600),
];

/// The bundles of one, and its policy.
pub(super) fn make(root: &Path, number: usize) {
    let root = root.join(format!("hostile-{number}"));
    match HOSTILE.get(number).and_then(|it| it.guest) {
        Some(attack) => _ = versions::written(&root, &hostile_text(attack)),
        None => _ = versions::rendered(&root, "id"),
    }
}

/// What they may compute.
pub(super) const POLICY: &str = "limits: {deadline_ms: 100}\n";

/// Packed bodies, which are made once.
pub(super) struct Packed {
    truncated: Vec<u8>,
    corrupt: Vec<u8>,
    one_line: Vec<u8>,
    no_line: Vec<u8>,
}

impl Packed {
    pub(super) fn new() -> Self {
        let events = event(40).repeat(500);
        let whole = packed(events.as_bytes(), 1);
        let middle = whole.len() / 2;
        let mut corrupt = whole.clone();
        corrupt.iter_mut().skip(middle).for_each(|byte| *byte ^= 0x55);
        Self {
            truncated: whole.get(..middle).unwrap_or_default().to_vec(),
            corrupt,
            one_line: packed(&[b'x'; 1 << 20], 1 << 10),
            no_line: packed(&[b'\n'; 1 << 20], 1 << 10),
        }
    }
}

fn packed(part: &[u8], times: usize) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..times {
        packed.write_all(part).expect("a vector takes all");
    }
    packed.finish().expect("a vector takes all")
}

fn event(bytes: usize) -> String {
    let head = r#"{"event_type": "e", "session_id": "s", "id": 1, "note": ""#;
    format!("{head}{}\"}}\n", "x".repeat(bytes.saturating_sub(head.len() + 2)))
}

/// What a client needs to know.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    pub(super) packed: Arc<Packed>,
    /// Whether it is to be hostile.
    pub(super) wanted: watch::Receiver<bool>,
}

/// All clients of a tenant, until nobody tells them what is wanted any more.
pub(super) fn attack(target: &Target, of: &'static Hostile) {
    let body: Arc<[u8]> = of.client.body().into();
    for number in 0..of.at_once {
        let (target, body) = (target.clone(), Arc::clone(&body));
        tokio::spawn(async move {
            let Target { address, packed, wanted } = target;
            let (mut wanted, mut over) = (wanted.clone(), wanted);
            let mut turn = number;
            while wanted.wait_for(|it| *it).await.is_ok() {
                turn += 1;
                // What becomes of it is its own affair; where it is to end, its connection is closed.
                tokio::select! {
                    _ = once(address, &body, &packed, of, turn) => {}
                    _ = over.wait_for(|it| !*it) => {}
                }
                // Who is refused tries again, and leaves something of the processor to the others.
                sleep(of.client.pause()).await;
            }
        });
    }
}

/// One connection.
async fn once(
    address: SocketAddr,
    body: &[u8],
    packed: &Packed,
    of: &Hostile,
    turn: usize,
) -> std::io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    let name = of.name;
    match of.client {
        Way::Events { .. } => {
            let head = head(name, &format!("Content-Length: {}\r\n", body.len()));
            whole(stream, &head, body).await
        }
        Way::Dribble => dribble(stream, name, turn).await,
        Way::Unread => unread(stream, name, body).await,
        Way::GiantLines => giant_lines(stream, name, body, turn).await,
        Way::BadGzip => {
            let body = match turn % 4 {
                0 => &packed.truncated,
                1 => &packed.corrupt,
                2 => &packed.one_line,
                _ => &packed.no_line,
            };
            let more = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", body.len());
            whole(stream, &head(name, &more), body).await
        }
        Way::Connections => idle(stream, turn).await,
    }
}

fn head(tenant: &str, more: &str) -> String {
    format!(
        "POST /v1/tenants/{tenant}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Authorization: Bearer {tenant}\r\n{more}\r\n"
    )
}

/// Sends a request, and reads what comes until the connection ends.
async fn whole(stream: TcpStream, head: &str, body: &[u8]) -> std::io::Result<()> {
    let (mut reader, mut writer) = stream.into_split();
    let sent = async {
        writer.write_all(head.as_bytes()).await?;
        writer.write_all(body).await
    };
    let read = async {
        let mut buffer = vec![0; 64 << 10];
        while reader.read(&mut buffer).await? > 0 {}
        Ok(())
    };
    // A service that refuses a request needn't read it.
    tokio::join!(sent, read).1
}

async fn dribble(mut stream: TcpStream, name: &str, turn: usize) -> std::io::Result<()> {
    let chunked = head(name, "Transfer-Encoding: chunked\r\n");
    let text = if turn.is_multiple_of(2) {
        format!("{chunked}{}", "1\r\nx\r\n".repeat(1_000))
    } else {
        chunked.clone()
    };
    // Every other one begins its body at once.
    let begun = if turn.is_multiple_of(2) { chunked.len() } else { 0 };
    let (begun, rest) = text.as_bytes().split_at(begun);
    stream.write_all(begun).await?;
    for part in rest.chunks(6) {
        stream.write_all(part).await?;
        sleep(Duration::from_millis(400)).await;
    }
    Ok(())
}

async fn unread(mut stream: TcpStream, name: &str, body: &[u8]) -> std::io::Result<()> {
    stream.write_all(head(name, "Content-Length: 1000000000\r\n").as_bytes()).await?;
    loop {
        stream.write_all(body).await?;
    }
}

async fn giant_lines(
    mut stream: TcpStream,
    name: &str,
    body: &[u8],
    turn: usize,
) -> std::io::Result<()> {
    if turn.is_multiple_of(2) {
        let head = head(name, &format!("Content-Length: {}\r\n", body.len()));
        return whole(stream, &head, body).await;
    }
    stream.write_all(head(name, "Content-Length: 4000000000\r\n").as_bytes()).await?;
    let (without_end, _) = body.split_at(1 << 20);
    loop {
        stream.write_all(without_end).await?;
    }
}

async fn idle(mut stream: TcpStream, turn: usize) -> std::io::Result<()> {
    match turn % 3 {
        // Until it is closed, or for some seconds.
        0 => {
            let _ = timeout(Duration::from_secs(20), stream.read_u8()).await;
            Ok(())
        }
        1 => stream.write_all(b"\x16\x03\x01 nonsense\r\n\r\n").await,
        _ => Ok(()),
    }
}
