//! `retort serve`, as it was built.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How long an answer to a question about the service may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A service, which ends with this.
pub(super) struct Service {
    child: Child,
    pub(super) address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

/// Builds the command with the profile that benches have, and says where it is.
fn built() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let build = ["build", "--release", "--bin", "retort"];
    let mut cargo = Command::new(cargo);
    // What cargo says of the program that it runs makes another build of crates that ask for it.
    let told = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    told.for_each(|name| _ = cargo.env_remove(name));
    let built = cargo.args(build).current_dir(workspace).status();
    assert!(built.is_ok_and(|it| it.success()), "retort isn't built");
    // Beside the folder of this program.
    let program = std::env::current_exe().expect("this program");
    let folder = program.ancestors().nth(2).expect("the profile's folder");
    folder.join("retort")
}

impl Service {
    /// By a configuration, which says that a port that is free is taken.
    pub(super) fn start(config: &Path) -> Self {
        let mut child = Command::new(built())
            .args(["serve", "--log", "json", "--config"])
            .arg(config)
            // So that a version that is gone back to isn't compiled again.
            .arg("--cache")
            .arg(config.with_file_name("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let log = Arc::new(Mutex::new(Vec::new()));
        let stderr = child.stderr.take().expect("it is piped");
        let told = Arc::clone(&log);
        std::thread::spawn(move || listen(stderr, &told));
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        stdout.read_line(&mut line).expect("it can be read");
        let address = line.trim_end().strip_prefix("http://").and_then(|it| it.parse().ok());
        let address = address.unwrap_or_else(|| panic!("{line}{:?}", log.lock()));
        Self { child, address, log }
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn tell(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// How often it has said so.
    pub(super) fn said(&self, what: &str) -> usize {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter().filter(|line| line.contains(what)).count()
    }

    /// Asks for what isn't about events: the status and the body.
    pub(super) fn get(&self, path: &str, token: &str) -> Option<(u16, String)> {
        self.ask("GET", path, token, "")
    }

    pub(super) fn ask(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: &str,
    ) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\
             Authorization: Bearer {token}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        Some((status, body.to_owned()))
    }

    /// Ends it as an operator does, and says whether it has ended well.
    pub(super) fn end(mut self) -> bool {
        self.tell(Signal::TERM);
        self.child.wait().is_ok_and(|it| it.success())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(stderr: ChildStderr, told: &Mutex<Vec<String>>) {
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        told.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}
