//! The configuration of a service of fifty tenants.

use std::fmt::Write as _;
use std::path::Path;

use retort_benches::beside::{BUSY_MS, BYTES, EVENTS, FUEL, REJECTS};
use sha2::{Digest as _, Sha256};

use super::hostile::HOSTILE;

/// How many honest tenants there are.
pub(super) const HONEST: usize = 40;

/// The administrator's token. Those of tenants are their names.
pub(super) const ADMIN: &str = "administrator";

/// A tenant that the one form of the configuration has, and the other one hasn't.
pub(super) const EXTRA: &str = "extra";

/// Seconds after which a client is cut off that does nothing.
pub(super) const IDLE_SECONDS: u64 = 5;

/// The forms that the configuration has in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Plain,
    /// With one tenant more, and with others' weights.
    Extra,
    /// With a key that there isn't.
    Broken,
}

pub(super) fn honest_name(number: usize) -> String {
    format!("honest-{number}")
}

/// Puts it in the place of the one before, in one step.
pub(super) fn write(root: &Path, form: Form) {
    let path = root.join("service.toml");
    let new = root.join("service.toml.new");
    std::fs::write(&new, text(form)).expect("it is written");
    std::fs::rename(new, path).expect("it takes its place");
}

fn text(form: Form) -> String {
    let mut text = format!(
        "listen = \"127.0.0.1:0\"\nadmin_token_sha256 = \"{}\"\nworkers = 4\n\
         [limits]\nidle_seconds = {IDLE_SECONDS}\nheader_seconds = {IDLE_SECONDS}\n",
        hash(ADMIN)
    );
    for number in 0..HONEST {
        let name = honest_name(number);
        tenant(&mut text, &name, &name);
        if form == Form::Extra && number % 2 == 0 {
            text.push_str("weight = 2\n");
        }
    }
    for (number, of) in HOSTILE.iter().enumerate() {
        tenant(&mut text, of.name, &format!("hostile-{number}"));
        // A string takes all that is written to it.
        let _ = write!(
            text,
            "policy = \"hostile.yaml\"\nqueue_bytes = {}\n[tenants.{}.quotas]\nevents = {EVENTS}\nbytes = {BYTES}\n\
             fuel = {FUEL}\nbusy_ms = {BUSY_MS}\nrejects = {REJECTS}\nconcurrent = 1\n",
            32 << 20,
            of.name
        );
        if of.is_never_set_aside {
            let _ = write!(text, "[tenants.{}.breaker]\nfailures = {}\n", of.name, u32::MAX);
        }
    }
    match form {
        Form::Plain => {}
        Form::Extra => tenant(&mut text, EXTRA, &honest_name(0)),
        Form::Broken => text.push_str("bundels = []\n"),
    }
    text
}

fn tenant(text: &mut String, name: &str, directory: &str) {
    let hash = hash(name);
    let _ = write!(
        text,
        "[tenants.{name}]\nbundles = [\"{directory}\"]\ntoken_sha256 = [\"{hash}\"]\n"
    );
}

fn hash(token: &str) -> String {
    Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect()
}
