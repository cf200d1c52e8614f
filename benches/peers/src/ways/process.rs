//! Programs in processes of their own: Python, and native code that is kept apart by being another process.
//!
//! A process gets a line with the number of events and then the events, each a line; when it has all of them it works, and answers with
//! as many lines. When it is ready for that at all, it says so by a line.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::{Made, Serve, Way};
use crate::sets::Set;

pub(super) fn ways(set: &Set) -> Vec<Way<'_>> {
    vec![
        Way::new("CPython with json", kept(python(set, "json"))),
        Way::new("CPython with orjson", kept(python(set, "orjson"))),
        Way::new("DuckDB", kept(python(set, "duckdb"))),
    ]
}

pub(super) fn per_batch(set: &Set) -> Vec<Way<'_>> {
    vec![
        Way::new("a native process a batch", for_each_batch(native(set))),
        Way::new("a CPython process a batch", for_each_batch(python(set, "json"))),
    ]
}

/// The program of a set in Python, by an interpreter that has the modules where `run.sh` has prepared one.
fn python(set: &Set, module: &str) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let prepared = folder.join(".venv/bin/python");
    let python = if prepared.exists() { prepared } else { PathBuf::from("python3") };
    let mut command = Command::new(python);
    command.arg(folder.join("programs/serve.py")).args([set.name, module]);
    command
}

/// The extraction by hand over `serde_json::Value`, in a small program of its own.
fn native(set: &Set) -> Command {
    let this = std::env::current_exe().unwrap_or_default();
    let mut command = Command::new(this.with_file_name("retort-peers-child"));
    command.arg(set.name);
    command
}

struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    text: Vec<u8>,
}

impl Process {
    fn start(command: &mut Command) -> Result<Self, Box<dyn Error>> {
        let program = command.get_program().to_string_lossy().into_owned();
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(|error| format!("{program}: {error}"))?;
        let input = child.stdin.take().ok_or("a pipe")?;
        let mut output = BufReader::with_capacity(1 << 16, child.stdout.take().ok_or("a pipe")?);
        let mut ready = String::new();
        output.read_line(&mut ready)?;
        if ready.is_empty() {
            let mut said = String::new();
            child.stderr.take().ok_or("a pipe")?.read_to_string(&mut said)?;
            child.wait()?;
            return Err(said.trim().lines().last().unwrap_or("it ended at once").into());
        }
        Ok(Self { child, input, output, text: Vec::new() })
    }

    fn batch(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
        let Self { input, output, text, .. } = self;
        text.clear();
        writeln!(text, "{}", events.len())?;
        for event in events {
            text.extend_from_slice(event);
            text.push(b'\n');
        }
        input.write_all(text)?;
        for _ in events {
            text.clear();
            output.read_until(b'\n', text)?;
            take(text.trim_ascii_end());
        }
        Ok(())
    }

    fn end(self) -> std::io::Result<()> {
        let Self { mut child, input, .. } = self;
        drop(input);
        child.wait().map(drop)
    }
}

/// A process that lives as long as the way.
struct Kept(Option<Process>);

fn kept<'a>(mut command: Command) -> Made<'a> {
    Ok(Box::new(Kept(Some(Process::start(&mut command)?))))
}

impl Serve for Kept {
    fn serve(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8])) {
        let process = self.0.as_mut().expect("it is there until this is dropped");
        process.batch(events, take).expect("the process answers");
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.0.take().map(Process::end);
    }
}

/// A process that is started for a batch, and ends with it.
struct ForEachBatch(Command);

fn for_each_batch<'a>(mut command: Command) -> Made<'a> {
    Process::start(&mut command)?.end()?;
    Ok(Box::new(ForEachBatch(command)))
}

impl Serve for ForEachBatch {
    fn serve(&mut self, events: &[Vec<u8>], take: &mut dyn FnMut(&[u8])) {
        let mut process = Process::start(&mut self.0).expect("it has started before");
        process.batch(events, take).expect("the process answers");
        process.end().expect("the process ends");
    }
}
