//! Counting by valgrind.

use std::process::{Command, Stdio};

use super::stages::COUNTED;

/// Tells this program that it runs under valgrind: then come the set and the stage.
pub(super) const INSIDE: &str = "--inside-valgrind";

/// What valgrind calls itself; `None` where there is none.
pub(super) fn version() -> Option<String> {
    let output = Command::new("valgrind").arg("--version").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The instructions of one pass of a stage over a set.
pub(super) fn count(set: &str, stage: &str) -> Result<u64, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let counts = directory.path().join("counts");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--error-exitcode=3"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(program)
        .args([INSIDE, set, stage])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind can't be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{set}, {stage}: valgrind ended with {}:\n{said}", output.status));
    }
    let text = std::fs::read_to_string(&counts).map_err(|error| error.to_string())?;
    let summary = text.lines().find_map(|line| line.strip_prefix("totals:"));
    let counted = summary.and_then(|counts| counts.split_whitespace().next()?.parse().ok());
    // None at all would mean that valgrind has not found the function.
    counted.filter(|counted| *counted > 0).ok_or_else(|| {
        format!("{set}, {stage}: expected counts in what valgrind wrote, found none")
    })
}
