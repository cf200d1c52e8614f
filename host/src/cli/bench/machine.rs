//! What the figures were measured on.

use std::thread::available_parallelism;

use super::report::Machine;

/// How much of a processor's name is kept, in characters.
const CPU_CHARS: usize = 120;

/// This machine.
pub(super) fn this() -> Machine {
    Machine {
        cpu: cpu(),
        cores: available_parallelism().map_or(1, usize::from),
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
    }
}

/// The processor's model, where Linux tells it.
fn cpu() -> Option<String> {
    model(&std::fs::read_to_string("/proc/cpuinfo").ok()?)
}

fn model(cpuinfo: &str) -> Option<String> {
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    };
    let found = cpuinfo.lines().find_map(value).filter(|found| !found.is_empty())?;
    Some(retort::diagnostics::sanitize(&found, CPU_CHARS))
}

#[cfg(test)]
mod tests {
    use super::model;

    #[test]
    fn the_model_is_the_first_that_is_named() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n\nmodel name\t: Other\n";
        assert_eq!(model(text).as_deref(), Some("Some CPU @ 2.0GHz"));
        assert_eq!(model("Hardware : board\nmodel name:\n"), None);
    }
}
