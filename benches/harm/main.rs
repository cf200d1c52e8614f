//! What input made to harm costs: each command on each file, with the processor time and the memory that it took.
//!
//! ```sh
//! cargo bench -p retort --bench harm             # all of it; exits with 1 if anything takes more than is promised
//! cargo bench -p retort --bench harm -- graph/   # what has this in its name
//! RETORT=path/to/retort cargo bench -p retort --bench harm   # another build of the command
//! ```

#![allow(clippy::print_stdout, reason = "the table is what this is for")]

mod bundles;
mod documents;
mod evidence;
mod graphs;
mod patterns;
mod policies;
mod sealed;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use std::{fs, io, thread};

use rustix::process::{Pid, Signal, kill_process};
use wait4::Wait4;

/// Processor time that a command may take, its helpers' included.
const CPU: Duration = Duration::from_secs(5);
/// Resident memory that it may take.
const RESIDENT_BYTES: u64 = 500_000_000;
/// When a command is ended that would go on.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command and the files that it is given, which were made to harm.
pub struct Attack {
    /// `family/what`.
    pub name: String,
    /// Path within the command's working directory, and content.
    pub files: Vec<(String, Vec<u8>)>,
    /// Which of the files go on with zeros that take no room on the disk, and how long they are with them.
    pub holes: Vec<(String, u64)>,
    /// The command's arguments.
    pub args: Vec<String>,
}

impl Attack {
    /// An attack with the arguments as one text, parted by spaces.
    pub fn new(name: &str, args: &str) -> Self {
        let args = args.split(' ').map(str::to_owned).collect();
        Self { name: name.to_owned(), files: Vec::new(), holes: Vec::new(), args }
    }

    /// With one more file.
    pub fn file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Self {
        self.files.push((path.to_owned(), content.into()));
        self
    }

    /// With one more file, which is this long with zeros that take no room on the disk.
    pub fn sparse(mut self, path: &str, content: impl Into<Vec<u8>>, bytes: u64) -> Self {
        self.holes.push((path.to_owned(), bytes));
        self.file(path, content)
    }
}

/// What an attack took.
struct Taken {
    /// What the command ended with; nothing where it was killed.
    exit: Option<i32>,
    cpu: Duration,
    resident_bytes: u64,
}

impl Taken {
    fn is_too_much(&self) -> bool {
        self.exit.is_none() || self.cpu > CPU || self.resident_bytes > RESIDENT_BYTES
    }
}

fn run(attack: &Attack, command: &Path) -> io::Result<Taken> {
    let folder = tempfile::tempdir()?;
    for (path, content) in &attack.files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
        fs::write(path, content)?;
    }
    for (path, bytes) in &attack.holes {
        fs::File::options().write(true).open(folder.path().join(path))?.set_len(*bytes)?;
    }
    // What a program is started from counts as its own memory up to then: the attacks that are held here would.
    let measured = Command::new(std::env::current_exe()?)
        .arg(MEASURE)
        .arg(command)
        .args(&attack.args)
        .current_dir(&folder)
        .output()?;
    let text = String::from_utf8_lossy(&measured.stdout);
    let figures: Vec<i64> = text.split_whitespace().filter_map(|it| it.parse().ok()).collect();
    let [exit, micros, resident] = figures.as_slice() else {
        return Err(io::Error::other(String::from_utf8_lossy(&measured.stderr)));
    };
    Ok(Taken {
        exit: i32::try_from(*exit).ok().filter(|exit| *exit >= 0),
        cpu: Duration::from_micros(micros.unsigned_abs()),
        resident_bytes: resident.unsigned_abs(),
    })
}

/// Begins the arguments with which this program runs a command and prints what it took: exit code, or -1 where it was
/// killed; microseconds of the processor; bytes of memory.
const MEASURE: &str = "--measure";

fn measure(command: &[OsString]) -> io::Result<ExitCode> {
    let [program, args @ ..] = command else { return Err(io::Error::other("no command")) };
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pid = Pid::from_child(&child);
    let (ended, has_ended) = std::sync::mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if has_ended.recv_timeout(PATIENCE).is_err() {
            // One that has just ended by itself is no worse for it: nobody has waited for it yet.
            let _ = kill_process(pid, Signal::KILL);
        }
    });
    let used = child.wait4()?;
    let _ = ended.send(());
    let _ = watch.join();
    let cpu = used.rusage.utime + used.rusage.stime;
    println!("{} {} {}", used.status.code().unwrap_or(-1), cpu.as_micros(), used.rusage.maxrss);
    Ok(ExitCode::SUCCESS)
}

fn main() -> io::Result<ExitCode> {
    let args: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((_, command)) = args.split_first().filter(|(first, _)| *first == MEASURE) {
        return measure(command);
    }
    let built = std::env::var_os("RETORT");
    let command = built.as_deref().map_or(Path::new(env!("CARGO_BIN_EXE_retort")), Path::new);
    let command = fs::canonicalize(command)?;
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let families = [
        bundles::attacks(),
        documents::attacks(),
        evidence::attacks(),
        graphs::attacks(),
        patterns::attacks(),
        policies::attacks(),
    ];
    let mut failed = 0;
    println!("{:<60} {:>9} {:>5} {:>9} {:>9}", "attack", "KB", "exit", "CPU", "MB");
    for attack in families.into_iter().flatten() {
        if filter.as_ref().is_some_and(|filter| !attack.name.contains(filter)) {
            continue;
        }
        let taken = run(&attack, &command)?;
        let bytes: usize = attack.files.iter().map(|(_, content)| content.len()).sum();
        let exit = taken.exit.map_or("-".to_owned(), |code| code.to_string());
        let mark = if taken.is_too_much() { "  TOO MUCH" } else { "" };
        println!(
            "{:<60} {:>9} {:>5} {:>7.2} s {:>9}{mark}",
            attack.name,
            bytes / 1000,
            exit,
            taken.cpu.as_secs_f64(),
            taken.resident_bytes / 1_000_000,
        );
        failed += usize::from(taken.is_too_much());
    }
    println!("{failed} took more than {} s or {} MB", CPU.as_secs(), RESIDENT_BYTES / 1_000_000);
    Ok(ExitCode::from(u8::from(failed > 0)))
}
