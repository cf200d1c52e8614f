//! A small project in a folder of its own, and the binary.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::rustc;

/// What a command left.
#[derive(Clone, Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the binary without input.
pub(crate) fn retort<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Ended {
    retort_with(args, b"", None)
}

/// Runs the binary with bytes on stdin, in a folder.
pub(crate) fn retort_with<S: AsRef<OsStr>>(
    args: impl IntoIterator<Item = S>,
    stdin: &[u8],
    folder: Option<&Path>,
) -> Ended {
    run(Command::new(env!("CARGO_BIN_EXE_retort")), args, stdin, folder)
}

/// The same with the compiler for extractors in Rust that the tests have found.
pub(crate) fn retort_with_rustc<S: AsRef<OsStr>>(
    args: impl IntoIterator<Item = S>,
    folder: Option<&Path>,
) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retort"));
    command.envs(rustc().map(|found| ("RETORT_RUSTC", found)));
    run(command, args, b"", folder)
}

fn run<S: AsRef<OsStr>>(
    mut command: Command,
    args: impl IntoIterator<Item = S>,
    stdin: &[u8],
    folder: Option<&Path>,
) -> Ended {
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    // A command that fails early never reads its input.
    let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A project of an order's plan.
pub(crate) struct Project {
    folder: TempDir,
}

pub(crate) const PLAN: &str = r#"{
  "event_type": "order_placed",
  "target_entity_name": "Order",
  "function_name": "read_order",
  "key_field": {"property_name": "order_id", "source_path": ["content", "id"]},
  "property_fields": [{"property_name": "total", "source_path": ["content", "total"]}],
  "span_handling": {"span_id_path": ["span_id"]}
}
"#;

const GRAPH: &str = "ontology: shop
entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
";

pub(crate) const EVENTS: &str = r#"{"event_type":"order_placed","session_id":"s1","span_id":"a","content":{"id":"o1","total":1.5}}
{"event_type":"order_placed","session_id":"s1","content":{"id":"o2"}}

{"event_type":"order_placed","session_id":"s1"}
{"event_type":"order_shipped","session_id":"s1"}
"#;

impl Project {
    pub(crate) fn new() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        project.write("plan.json", PLAN);
        project.write("graph.yaml", GRAPH);
        project.write("events.ndjson", EVENTS);
        project.write(
            "retort.toml",
            "plan = \"plan.json\"\ngraph = \"graph.yaml\"\nsamples = \"events.ndjson\"\noutput = \"out\"\n",
        );
        project
    }

    /// The path of a file in it.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// Runs the binary in its folder.
    pub(crate) fn retort<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Ended {
        self.retort_on(args, b"")
    }

    /// Runs the binary in its folder, with bytes on stdin.
    pub(crate) fn retort_on<'a>(
        &self,
        args: impl IntoIterator<Item = &'a str>,
        stdin: &[u8],
    ) -> Ended {
        retort_with(args, stdin, Some(self.folder.path()))
    }

    /// Compiles it and gives the bundle's path.
    pub(crate) fn compile(&self) -> String {
        let ended = self.retort(["compile"]);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.stdout.trim().to_owned()
    }

    /// All files and folders in it, by name.
    pub(crate) fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![self.folder.path().to_owned()];
        while let Some(path) = open.pop() {
            for entry in fs::read_dir(path).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.folder.path()).unwrap();
                found.push(name.to_str().unwrap().to_owned());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found.sort();
        found
    }
}
