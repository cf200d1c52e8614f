//! Any program as a model: the prompt on stdin, the answer on stdout.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, Message, NAME_CHARS,
    Role, Secrets,
};
use crate::diagnostics::fence;
use crate::diagnostics::untrusted::{bounded, sanitize};

/// How long the output of a program that has ended is waited for, in case something else holds on to it.
const GRACE: Duration = Duration::from_millis(500);

/// How much of a line of stderr is kept, in bytes.
const LINE_BYTES: usize = 4096;

/// How much of a line of stderr is shown, in characters.
const MESSAGE_CHARS: usize = 300;

/// A program that answers prompts.
///
/// It is started anew for every request, without a shell. What it writes to stdout is the answer; ending with another
/// status than 0 is a failure. It need not read its stdin. What it costs is not known.
///
/// A request of one turn is written to its stdin as it is, and so is all that is asked unless a conversation is kept. Of a
/// conversation, each turn comes below a line that says whose it is, `--- user ---` or `--- assistant ---`. The text of a
/// user's turn stands as it is; an answer is given as one JSON string on one line, with whatever doesn't show spelled out,
/// so that no answer can pass for a turn of its own:
///
/// ```text
/// --- user ---
/// Write a plan as JSON.
/// --- assistant ---
/// "{\"event_type\": 1}\n"
/// --- user ---
/// That answer was rejected.
/// ```
///
/// When the time is up, or the call is given up, the program is killed with its process group, so that what it started
/// itself ends as well. So is whatever it leaves behind holding on to its output: once it has ended, what it wrote is
/// waited for no longer than half a second.
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
            name: format!("command:{}", sanitize(&file, NAME_CHARS)),
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
        let group = ProcessGroup::of(&child);
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(self.failed("it was started without pipes".to_owned()));
        };
        let (mut text, mut words) = (Vec::new(), LastLine::default());
        let talk = async {
            tokio::try_join!(write(stdin, prompt), self.read(stdout, &mut text), words.read(stderr))
        };
        let (status, all) =
            finish(&mut child, talk).await.map_err(|error| self.failed(error.to_string()))?;
        if all {
            group.ended();
        }
        if !status.success() {
            return Err(self.failed(self.ending(status, words)));
        }
        let text = String::from_utf8(text).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let message = format!("expected UTF-8, found a wrong byte at offset {at}");
            LlmError::Protocol { model: self.name.clone(), message }
        })?;
        if text.trim().is_empty() {
            return Err(self.failed("it wrote nothing to stdout".to_owned()));
        }
        Ok(self.secrets.redact(&text).into_owned())
    }

    /// All of stdout, as far as it may go.
    async fn read(&self, stdout: ChildStdout, text: &mut Vec<u8>) -> io::Result<()> {
        let room = u64::try_from(self.max_bytes).unwrap_or(u64::MAX).saturating_add(1);
        stdout.take(room).read_to_end(text).await?;
        if text.len() > self.max_bytes {
            let message = format!("it wrote more than {} bytes to stdout", self.max_bytes);
            return Err(io::Error::other(message));
        }
        Ok(())
    }

    fn ending(&self, status: ExitStatus, words: LastLine) -> String {
        let last = words.last();
        let last = String::from_utf8_lossy(&last);
        if last.is_empty() {
            return format!("it ended with {status}, and said nothing on stderr");
        }
        let last = bounded(&self.secrets.redact(&last), MESSAGE_CHARS);
        format!("it ended with {status}, and said {last} last")
    }

    fn failed(&self, message: String) -> LlmError {
        LlmError::Command { model: self.name.clone(), message }
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

/// A program with all that it started, killed when this is dropped before all of it ended.
struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// The group that the child leads.
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Fails only where nothing is left to kill.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Waits until a program has ended and `talk`, all that goes in and out of it, is over. What the program started may hold
/// on to its output: then `talk` is broken off a while after the end, and the second value is false.
async fn finish<T>(
    child: &mut Child,
    talk: impl Future<Output = io::Result<T>>,
) -> io::Result<(ExitStatus, bool)> {
    tokio::pin!(talk);
    tokio::select! {
        biased;
        over = &mut talk => {
            over?;
            Ok((child.wait().await?, true))
        }
        status = child.wait() => {
            let status = status?;
            match tokio::time::timeout(GRACE, talk).await {
                Ok(over) => over.map(|_| (status, true)),
                Err(_) => Ok((status, false)),
            }
        }
    }
}

/// Writes the prompt. A program that doesn't care to read it closes its end, which is no failure.
async fn write(mut stdin: ChildStdin, prompt: &str) -> io::Result<()> {
    match stdin.write_all(prompt.as_bytes()).await {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// The beginning of the last line that isn't blank. The end of a line that is too long may begin within a key, which then
/// could not be recognised as one.
#[derive(Default)]
struct LastLine {
    last: Vec<u8>,
    /// The line that is being read.
    line: Vec<u8>,
}

impl LastLine {
    /// Reads all of stderr.
    async fn read(&mut self, mut stderr: ChildStderr) -> io::Result<()> {
        let mut chunk = vec![0; LINE_BYTES];
        loop {
            let read = stderr.read(&mut chunk).await?;
            if read == 0 {
                return Ok(());
            }
            for piece in chunk[..read].split_inclusive(|byte| *byte == b'\n') {
                let room = LINE_BYTES - self.line.len();
                self.line.extend_from_slice(&piece[..piece.len().min(room)]);
                if piece.ends_with(b"\n") {
                    self.keep();
                }
            }
        }
    }

    /// The line takes the place of the last one, if it says something.
    fn keep(&mut self) {
        let said = self.line.trim_ascii();
        if !said.is_empty() {
            self.last = said.to_vec();
        }
        self.line.clear();
    }

    fn last(mut self) -> Vec<u8> {
        self.keep();
        self.last
    }
}

/// The turns as one text.
fn conversation(messages: &[Message]) -> String {
    if let [only] = messages {
        return only.text.clone();
    }
    let turn = |message: &Message| match message.role {
        Role::User => format!("--- user ---\n{}\n", message.text),
        Role::Assistant => {
            let said = fence::compact(&message.text.as_str().into());
            format!("--- assistant ---\n{said}\n")
        }
    };
    messages.iter().map(turn).collect()
}
