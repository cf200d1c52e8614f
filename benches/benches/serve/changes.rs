//! What changes while events are served: versions are activated and rolled back, and the configuration is taken up anew.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use retort::bundle::Digest;
use retort_benches::versions;
use rustix::process::Signal;

use super::configuration::{self, ADMIN, EXTRA, Form, HONEST, honest_name};
use super::honest::Load;
use super::service::Service;

/// Between two switches of versions.
const SWITCH: Duration = Duration::from_millis(250);

/// Between two reloads of the configuration, in switches.
const RELOAD: u64 = 12;

/// How long a reload may take until it is seen.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) switches: u64,
    /// Configurations that were taken up, and broken ones that weren't.
    pub(super) reloads: u64,
    pub(super) refused: u64,
    /// What didn't go as it should.
    pub(super) mistakes: Vec<String>,
}

/// Changes one after the other until it is over.
pub(super) fn change(
    root: &Path,
    service: &Service,
    versions: [Digest; 2],
    load: &Load,
) -> Changes {
    let mut changes = Changes::default();
    for number in (0..HONEST).cycle() {
        if load.is_over.load(Ordering::Relaxed) {
            break;
        }
        versions::switch(&root.join(honest_name(number)), &versions);
        changes.switches += 1;
        std::thread::sleep(SWITCH);
        if changes.switches.is_multiple_of(RELOAD) {
            changes.reload(root, service);
        }
    }
    changes
}

impl Changes {
    /// Writes another form of the configuration, tells of it by a signal every other time, and waits until it shows.
    fn reload(&mut self, root: &Path, service: &Service) {
        let number = self.reloads + self.refused;
        let form = match number % 3 {
            0 => Form::Extra,
            1 => Form::Broken,
            _ => Form::Plain,
        };
        configuration::write(root, form);
        if number.is_multiple_of(2) {
            service.tell(Signal::HUP);
        }
        let began = Instant::now();
        let shows = || match form {
            Form::Extra => service.ask("POST", &path(), EXTRA, "").is_some_and(|it| it.0 == 200),
            Form::Plain => service.ask("POST", &path(), EXTRA, "").is_some_and(|it| it.0 == 401),
            Form::Broken => {
                let ready = service.get("/readyz", ADMIN);
                ready.is_some_and(|(_, body)| body.contains("config_invalid"))
            }
        };
        while !shows() {
            if began.elapsed() > PATIENCE {
                self.mistakes.push(format!("{form:?}: the configuration isn't taken up"));
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        match form {
            Form::Broken => self.refused += 1,
            Form::Extra | Form::Plain => self.reloads += 1,
        }
    }
}

fn path() -> String {
    format!("/v1/tenants/{EXTRA}/events")
}
