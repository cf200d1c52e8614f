//! Any program as a model: the prompt on stdin, the answer on stdout.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};

use super::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, Message, Role, Secrets,
};
use crate::untrusted::bounded;

/// How much of a line of stderr is kept, in bytes.
const LINE_BYTES: usize = 4096;

/// How much of a line of stderr is shown, in characters.
const MESSAGE_CHARS: usize = 300;

/// A program that answers prompts.
///
/// It is started anew for every request, without a shell. A request of one turn is written to its stdin as it is; of a
/// conversation, each turn comes below a line that says whose it is, `--- user ---` or `--- assistant ---`. What it writes
/// to stdout is the answer; ending with another status than 0 is a failure. It need not read its stdin. What it costs is
/// not known.
///
/// When the time is up, or the call is given up, the program is killed with its process group, so that what it started
/// itself ends as well.
pub struct Command {
    name: String,
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
    max_bytes: usize,
    secrets: Secrets,
}

impl Command {
    /// The program and its arguments, split as a POSIX shell would, with quotes and backslashes and nothing else.
    ///
    /// # Errors
    /// [`LlmError::Config`], for a line that is empty or ends within quotes.
    pub fn new(line: &str, config: &ClientConfig) -> Result<Self, LlmError> {
        let unusable = |found: &str| LlmError::Config {
            message: format!("expected a command, like `my-model --json`, found {found}"),
        };
        let words = shlex::split(line).ok_or_else(|| unusable("one that ends within quotes"))?;
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty());
        let program = program.ok_or_else(|| unusable("an empty one"))?;
        // Arguments may hold keys; the name goes into records.
        let file = Path::new(&program).file_name().unwrap_or_default().to_string_lossy();
        Ok(Self {
            name: format!("command:{file}"),
            arguments: words.collect(),
            program,
            timeout: config.timeout,
            max_bytes: config.max_response_bytes,
            secrets: config.secrets(),
        })
    }

    async fn run(&self, prompt: &str) -> Result<String, LlmError> {
        let mut child = tokio::process::Command::new(&self.program)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| self.failed(format!("it can't be started: {error}")))?;
        let group = Group::of(&child);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let ((), stdout, last) =
            tokio::try_join!(write(stdin, prompt), self.read(stdout), last_line(stderr))
                .map_err(|error| self.failed(error.to_string()))?;
        let status = child.wait().await.map_err(|error| self.failed(error.to_string()))?;
        group.ended();
        if !status.success() {
            return Err(self.failed(self.ending(status, &last)));
        }
        let text = String::from_utf8(stdout).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            self.protocol(format!("expected UTF-8, found a wrong byte at offset {at}"))
        })?;
        if text.trim().is_empty() {
            return Err(self.failed("it wrote nothing to stdout".to_owned()));
        }
        Ok(self.secrets.redact(&text).into_owned())
    }

    /// All of stdout, as far as it may go.
    async fn read(&self, stdout: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Some(stdout) = stdout {
            let room = u64::try_from(self.max_bytes).unwrap_or(u64::MAX).saturating_add(1);
            stdout.take(room).read_to_end(&mut text).await?;
        }
        if text.len() > self.max_bytes {
            let message = format!("it wrote more than {} bytes to stdout", self.max_bytes);
            return Err(io::Error::other(message));
        }
        Ok(text)
    }

    fn ending(&self, status: ExitStatus, last: &[u8]) -> String {
        let last = String::from_utf8_lossy(last);
        if last.is_empty() {
            return format!("it ended with {status}, and said nothing on stderr");
        }
        let last = bounded(&self.secrets.redact(&last), MESSAGE_CHARS);
        format!("it ended with {status}, and said {last} last")
    }

    fn failed(&self, message: String) -> LlmError {
        LlmError::Command { model: self.name.clone(), message }
    }

    fn protocol(&self, message: String) -> LlmError {
        LlmError::Protocol { model: self.name.clone(), message }
    }
}

#[async_trait]
impl LlmClient for Command {
    fn name(&self) -> &str {
        &self.name
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        let prompt = conversation(&request.messages);
        let timeout = LlmError::Timeout { model: self.name.clone(), after: self.timeout };
        let text =
            tokio::time::timeout(self.timeout, self.run(&prompt)).await.map_err(|_| timeout)??;
        Ok(Completion { text, usage: None, finish_reason: FinishReason::Stop })
    }
}

/// Without the arguments, which may hold keys.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A program with all that it started, killed when this is dropped before it ended.
struct Group(Option<Pid>);

impl Group {
    /// The group that the child leads.
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Fails only where nothing is left to kill.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Writes the prompt. A program that doesn't care to read it closes its end, which is no failure.
async fn write(stdin: Option<ChildStdin>, prompt: &str) -> io::Result<()> {
    let Some(mut stdin) = stdin else { return Ok(()) };
    match stdin.write_all(prompt.as_bytes()).await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Reads all of stderr, and keeps the beginning of the last line that isn't blank. The end of a line that is too long
/// may begin within a key, which then could not be told as one.
async fn last_line(stderr: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let (mut last, mut line) = (Vec::new(), Vec::new());
    let Some(mut stderr) = stderr else { return Ok(last) };
    let mut chunk = vec![0; LINE_BYTES];
    loop {
        let read = stderr.read(&mut chunk).await?;
        for piece in chunk[..read].split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_BYTES - line.len();
            line.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                keep(&mut last, &mut line);
            }
        }
        if read == 0 {
            keep(&mut last, &mut line);
            return Ok(last);
        }
    }
}

/// Takes the place of the last line, if this one says something.
fn keep(last: &mut Vec<u8>, line: &mut Vec<u8>) {
    let said = line.trim_ascii();
    if !said.is_empty() {
        *last = said.to_vec();
    }
    line.clear();
}

/// The turns as one text.
fn conversation(messages: &[Message]) -> String {
    if let [only] = messages {
        return only.text.clone();
    }
    let mut text = String::new();
    for message in messages {
        let speaker = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        text.push_str(&format!("--- {speaker} ---\n{}\n", message.text));
    }
    text
}
