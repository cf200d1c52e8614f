//! What a process takes of memory.

/// Bytes of this process that are in memory and in no file, where the system tells.
#[must_use]
pub fn resident() -> u64 {
    resident_of(std::process::id())
}

/// The same of another process.
#[must_use]
pub fn resident_of(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}
