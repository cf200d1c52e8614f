//! The memory that this process has.

use std::fs;

/// How much more resident memory the process may have after a case than before it, or before those before it: 64 MiB. An allocator keeps
/// some of what was freed, more of it after large events, and code that was compiled last may still be mapped.
const TOLERANCE_KB: u64 = 64 << 10;

/// How much more of it a case may leave behind when it is run again, and how often it is until it leaves no more than that.
/// What an allocator, a pool or a thread keeps for the next time is kept once; what is lost is lost each time.
const SETTLED_KB: u64 = 4 << 10;
const MOST_AGAIN: usize = 24;

/// What the process has when a case begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resident {
    kb: u64,
}

impl Resident {
    /// What the process has now, where the system says.
    pub(super) fn now() -> Option<Self> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(Self { kb: line.trim().strip_suffix(" kB")?.trim().parse().ok()? })
    }

    /// What is wrong with what the process has now, compared with this. Where it is more than an allocator keeps, `again` runs
    /// the case again, until it leaves nothing more behind. What is kept then is what the cases behind it begin with.
    pub(super) fn fault<E>(
        &mut self,
        again: impl FnMut() -> Result<(), E>,
    ) -> Result<Option<String>, E> {
        self.fault_by(Self::now, again)
    }

    fn fault_by<E>(
        &mut self,
        mut look: impl FnMut() -> Option<Self>,
        mut again: impl FnMut() -> Result<(), E>,
    ) -> Result<Option<String>, E> {
        let begin = self.kb;
        let Some(mut now) = look().filter(|now| now.kb > begin + TOLERANCE_KB) else {
            return Ok(None);
        };
        for _ in 0..MOST_AGAIN {
            again()?;
            let Some(then) = look() else { return Ok(None) };
            if then.kb <= now.kb + SETTLED_KB {
                *self = then;
                return Ok(None);
            }
            now = then;
        }
        *self = now;
        let more = now.kb - begin;
        Ok(Some(format!(
            "{} KiB of memory are resident, {more} more than before it, and more each time",
            now.kb
        )))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_lost_each_time_is_told_from_what_is_kept_once() {
        assert!(Resident::now().expect("Linux tells").kb > 1000);
        let fault = |figures: &[u64]| {
            let mut figures = figures.iter().map(|mb| Resident { kb: mb << 10 });
            let mut resident = Resident { kb: 100 << 10 };
            let fault = resident.fault_by(|| figures.next(), || Ok::<_, ()>(()));
            (fault.expect("nothing fails").is_some(), resident.kb >> 10)
        };
        assert_eq!(fault(&[164]), (false, 100));
        assert_eq!(fault(&[165, 165]), (false, 165));
        assert_eq!(fault(&[165, 200, 300, 303]), (false, 303));
        let lost: Vec<u64> = (0..40).map(|turn| 165 + 5 * turn).collect();
        assert!(fault(&lost).0);
    }
}
