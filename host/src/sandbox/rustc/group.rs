//! What the processes of a group use, as the system tells it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;

/// A group of processes.
pub(super) struct Group {
    leader: u32,
}

/// What a group uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// The time of processors that it had, that of processes which have ended included.
    pub(super) processor_time: Duration,
    /// How many processes there are.
    pub(super) processes: u64,
}

impl Group {
    pub(super) fn led_by(leader: u32) -> Self {
        Self { leader }
    }

    /// What it uses now; `None` where the system doesn't tell, as only Linux does.
    pub(super) fn usage(&self) -> Option<Usage> {
        let processes = fs::read_dir("/proc").ok()?;
        let (mut ticks, mut count) = (0_u64, 0);
        for process in processes.flatten() {
            let name = process.file_name();
            if !name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
                continue;
            }
            // One that ended meanwhile has told its parent.
            let Ok(told) = fs::read_to_string(process.path().join("stat")) else { continue };
            if let Some(found) = of_process(&told).filter(|found| found.group == self.leader) {
                ticks = ticks.saturating_add(found.ticks);
                count += 1;
            }
        }
        let a_second = rustix::param::clock_ticks_per_second().max(1);
        let milliseconds = ticks.saturating_mul(1_000) / a_second;
        Some(Usage { processor_time: Duration::from_millis(milliseconds), processes: count })
    }
}

/// How many processes and threads the user has that this process runs as; 0 where the system doesn't tell.
pub(super) fn tasks_of_this_user() -> u64 {
    let Ok(processes) = fs::read_dir("/proc") else { return 0 };
    let user = rustix::process::getuid().as_raw();
    let tasks_of = |process: fs::DirEntry| {
        let is_of_user = process.metadata().is_ok_and(|found| found.uid() == user);
        let told = is_of_user.then(|| fs::read_to_string(process.path().join("stat")).ok())??;
        of_process(&told).map(|found| found.threads)
    };
    processes.flatten().filter_map(tasks_of).sum()
}

/// What the system says of one process.
#[derive(Debug, PartialEq, Eq)]
struct OfProcess {
    group: u32,
    ticks: u64,
    threads: u64,
}

/// In the text of `/proc/PID/stat`, by the numbers of the fields in its manual.
fn of_process(told: &str) -> Option<OfProcess> {
    // The name of the program is in brackets, and may have any in itself.
    let (_, behind) = told.rsplit_once(')')?;
    let fields: Vec<&str> = behind.split_ascii_whitespace().collect();
    // The first one behind the name is the third.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = [14, 15, 16, 17].map(field).into_iter().sum::<Option<u64>>()?;
    let group = u32::try_from(field(5)?).ok()?;
    Some(OfProcess { group, ticks, threads: field(20)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_its_program_is_called() {
        let told = "4242 (a) b ( c) R 1 77 4242 0 -1 4194560 100 0 0 0 7 5 3 1 20 0 9 0 100 0 0\n";
        assert_eq!(of_process(told), Some(OfProcess { group: 77, ticks: 16, threads: 9 }));
        assert_eq!(of_process("1 (a) R 1"), None);
        assert_eq!(of_process(""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_works_has_time_of_a_processor_and_what_sleeps_has_none() {
        use std::process::Command;

        use crate::sandbox::process::ProcessGroup;

        let used = |script: &str| {
            let mut command = Command::new("/bin/sh");
            let process = ProcessGroup::start(command.args(["-c", script])).expect("a shell");
            let group = Group::led_by(process.0.id());
            let start = std::time::Instant::now();
            // However busy the machine is.
            loop {
                let used = group.usage().expect("Linux tells").processor_time;
                if used > Duration::from_millis(50) || start.elapsed() > Duration::from_secs(2) {
                    return used;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        assert!(used("(while :; do :; done); :") > Duration::from_millis(50));
        assert!(used("sleep 60; :") < Duration::from_millis(50));
    }
}
