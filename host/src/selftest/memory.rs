//! The memory that this process has.

use std::fs;

/// How much more resident memory the process may have after a case than before the first one: 64 MiB. An allocator keeps
/// some of what was freed, more of it after large events, and code that was compiled last may still be mapped.
const TOLERANCE_KB: u64 = 64 << 10;

/// What the process had when it was looked at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    kb: u64,
}

impl Resident {
    /// What the process has now, where the system tells.
    pub(super) fn now() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(Self { kb: line.trim().strip_suffix(" kB")?.trim().parse().ok()? })
    }

    /// What is wrong with what the process has now, compared with this.
    pub(super) fn fault(self) -> Option<String> {
        let now = Self::now()?.kb;
        let more = now.saturating_sub(self.kb);
        (more > TOLERANCE_KB).then(|| {
            format!("{now} KiB of memory are resident, {more} more than before the first case")
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_kept_is_noticed() {
        let before = Resident::now().expect("Linux tells");
        assert!(before.kb > 1000);
        let kept = vec![1_u8; 256 << 20];
        assert!(before.fault().is_some());
        drop(kept);
    }
}
