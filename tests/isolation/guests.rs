//! The guests of the hostile corpus and of the examples, with events for each.

use std::fs;

use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::selftest::{Case, CaseKind, corpus};
use retort::{Limits, plan};

use crate::support::{from_hex, rendered, workspace_root};

/// A module that can be run, whatever it does then.
pub(super) struct Guest {
    pub(super) name: String,
    pub(super) module: Inspected,
    pub(super) limits: Limits,
    /// One that sets it off first, then one that doesn't.
    pub(super) events: Vec<Vec<u8>>,
    /// Carries something from one call to the next if it is let.
    pub(super) leaks: bool,
}

/// The hostile guests that this host grants what they import, and the examples.
pub(super) fn guests() -> Vec<Guest> {
    let mut guests: Vec<Guest> = corpus().unwrap().iter().filter_map(hostile).collect();
    let importing = guests.iter().filter(|guest| imports_wasi(&guest.module)).count();
    let own = guests.len() - importing;
    assert!(own >= 50 && importing >= 20, "{own} guests, and {importing} that import WASI");
    guests.extend(["agent-decision", "cloud-audit", "github-webhook", "shop-orders"].map(example));
    guests
}

fn imports_wasi(module: &Inspected) -> bool {
    module.wasm().windows(5).any(|bytes| bytes == b"wasi_")
}

/// Nothing but a case that says so ends by its deadline, however busy the machine is.
fn patient() -> Limits {
    options!(Limits { deadline_ms: 30_000, ..Limits::default() })
}

/// The guest of a case, if it is one that gets as far as being run.
fn hostile(case: &Case) -> Option<Guest> {
    // What needs other bounds on its structure is an attack on compilers, and is compiled in a process of its own if at all.
    let structure = StructuralLimits::default();
    if case.structure(&structure) != structure {
        return None;
    }
    let wasm = match case.kind() {
        CaseKind::Wat => wat::parse_str(case.body().unwrap()).ok()?,
        CaseKind::Module => from_hex(&case.body().unwrap())?,
        _ => return None,
    };
    // This grants `Grant::Core`, as a sandbox does by default. What imports of it gets a fresh instance in every mode.
    let module = inspect(&wasm, &structure).ok()?;
    Some(Guest {
        name: case.name().to_owned(),
        module,
        limits: case.limits(&patient()),
        events: vec![
            case.event().unwrap().into_bytes(),
            case.good_event().unwrap().into_bytes(),
            br#"{"event_type":"other"}"#.to_vec(),
            b"[".to_vec(),
        ],
        leaks: case.leaks(),
    })
}

/// A rendered extractor, which this host vouches for: one instance may serve event after event.
fn example(name: &str) -> Guest {
    let folder = workspace_root().join("examples").join(name);
    let plan = plan::parse(&fs::read_to_string(folder.join("plan.json")).unwrap()).unwrap();
    let lines = fs::read_to_string(folder.join("events.ndjson")).unwrap();
    let mut events: Vec<Vec<u8>> =
        lines.lines().take(4).map(|line| line.as_bytes().to_vec()).collect();
    events.extend([b"{}".to_vec(), b"{\"event_type\":".to_vec(), lines.into_bytes()]);
    Guest {
        name: name.to_owned(),
        module: rendered(&plan),
        limits: patient(),
        events,
        leaks: false,
    }
}
