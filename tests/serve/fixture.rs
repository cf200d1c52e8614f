//! A service that runs, and a client that can do what clients shouldn't.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli::project::Project;

/// How long anything may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A service, which ends with this.
pub(super) struct Service {
    child: Child,
    pub(super) address: String,
    log: Arc<Mutex<String>>,
}

impl Service {
    /// Over the bundles of a project.
    pub(super) fn of(project: &Project) -> Self {
        Self::start(project, &["--bundles", "out"])
    }

    pub(super) fn start(project: &Project, args: &[&str]) -> Self {
        let listen: &[&str] =
            if args.contains(&"--config") { &[] } else { &["--listen", "127.0.0.1:0"] };
        let mut child = Command::new(env!("CARGO_BIN_EXE_retort"))
            .arg("serve")
            .args(listen)
            .args(args)
            .current_dir(project.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let stderr = child.stderr.take().unwrap();
        let told = Arc::clone(&log);
        thread::spawn(move || listen_to(stderr, &told));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().split_once("://").map(|(_, address)| address);
        let address = address.unwrap_or_else(|| panic!("{line:?} {:?}", log.lock().unwrap()));
        Self { child, address: address.to_owned(), log }
    }

    /// What it has said so far.
    pub(super) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until it has said something.
    pub(super) fn wait_for(&self, said: &str) {
        eventually(said, || self.log().contains(said).then_some(()));
    }

    pub(super) fn tell(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code, which there is before long.
    pub(super) fn ended(&mut self) -> Option<i32> {
        let child = &mut self.child;
        eventually("the service goes on", || child.try_wait().unwrap()).code()
    }

    pub(super) fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client { stream }
    }

    pub(super) fn get(&self, path: &str, headers: &str) -> Answer {
        self.ask("GET", path, headers, b"")
    }

    /// The answer to a request of its own.
    pub(super) fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut client = self.connect();
        let length = format!("{headers}Content-Length: {}\r\nConnection: close\r\n", body.len());
        client.begin(method, path, &length);
        let mut writer = client.stream.try_clone().unwrap();
        thread::scope(|scope| {
            // A service that refuses a request needn't read its body.
            scope.spawn(move || drop(writer.write_all(body)));
            client.answer()
        })
    }

    /// The answer to events of the only tenant.
    pub(super) fn events(&self, headers: &str, body: &[u8]) -> Answer {
        self.ask("POST", EVENTS_PATH, headers, body)
    }
}

pub(super) const EVENTS_PATH: &str = "/v1/tenants/default/events";

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen_to(stderr: ChildStderr, told: &Mutex<String>) {
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        told.lock().unwrap().push_str(&(line + "\n"));
    }
}

/// What there is before long.
pub(super) fn eventually<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A connection.
pub(super) struct Client {
    pub(super) stream: TcpStream,
}

impl Client {
    /// Sends the head of a request.
    pub(super) fn begin(&mut self, method: &str, path: &str, headers: &str) {
        let host = if headers.contains("Host: ") { "" } else { "Host: localhost\r\n" };
        let head = format!("{method} {path} HTTP/1.1\r\n{host}{headers}\r\n");
        self.stream.write_all(head.as_bytes()).unwrap();
    }

    /// Begins to send events, in chunks.
    pub(super) fn begin_events(&mut self, headers: &str) {
        let chunked = format!("Transfer-Encoding: chunked\r\nConnection: close\r\n{headers}");
        self.begin("POST", EVENTS_PATH, &chunked);
    }

    /// Sends a chunk of a body.
    pub(super) fn chunk(&mut self, bytes: &[u8]) {
        write!(self.stream, "{:x}\r\n", bytes.len()).unwrap();
        self.stream.write_all(bytes).unwrap();
        self.stream.write_all(b"\r\n").unwrap();
    }

    pub(super) fn last_chunk(&mut self) {
        self.stream.write_all(b"0\r\n\r\n").unwrap();
    }

    pub(super) fn shut_down(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }

    /// Reads until this has come.
    pub(super) fn read_until(&mut self, wanted: &str) -> String {
        let mut found = Vec::new();
        let mut byte = [0];
        while !found.ends_with(wanted.as_bytes()) {
            let read = self.stream.read(&mut byte).unwrap();
            assert_ne!(read, 0, "{}", String::from_utf8_lossy(&found));
            found.push(byte[0]);
        }
        String::from_utf8(found).unwrap()
    }

    /// Reads to the end of the connection.
    pub(super) fn answer(&mut self) -> Answer {
        let mut bytes = Vec::new();
        self.stream.read_to_end(&mut bytes).unwrap();
        Answer::of(&bytes)
    }
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { dechunked(body) } else { body.to_owned() };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body }
    }

    /// The lines of the body, of which each is JSON.
    pub(super) fn lines(&self) -> Vec<Value> {
        assert!(self.body.ends_with('\n'), "{self:?}");
        self.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The last line.
    pub(super) fn last(&self) -> Value {
        self.lines().pop().unwrap()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// The code of a refusal.
    pub(super) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap().to_owned()
    }
}

fn dechunked(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text.push_str(&rest[..size]);
        body = &rest[size + 2..];
        if size == 0 {
            break;
        }
    }
    text
}
