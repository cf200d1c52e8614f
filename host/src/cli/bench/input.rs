//! The events that are measured, and what of the input isn't.

use std::collections::BTreeMap;
use std::path::Path;

use retort::diagnostics::{Problem, sanitize};
use retort::internal::block::SlotKind;
use retort::internal::event::{Projection, Projector};
use retort::internal::section::Input;
use retort::plan::EventPattern;
use retort::sandbox::EventError;
use retort::{Coded, RunError};

use super::report::InputFigures;
use crate::cli::error::CliError;
use crate::cli::{events, files, output};

/// Bytes of events that are held in memory, with what each takes besides its text.
const MAX_BYTES: usize = 256 << 20;
/// What that is, about: its place in the lists, and what the allocator adds.
const EVENT_BYTES: usize = 96;

/// What is read of an event before any bundle sees it.
const EVENT_TYPE: &str = "event_type";

/// A well-formed event that some bundle declares.
pub(super) struct Event {
    pub(super) line: u64,
    pub(super) text: Vec<u8>,
}

/// What was read.
pub(super) struct Events {
    pub(super) origin: String,
    pub(super) held: Vec<Event>,
    /// By bundle, which of the events it serves.
    pub(super) of_bundles: Vec<Vec<usize>>,
    pub(super) rejects: Rejects,
    lines: u64,
    unrouted: u64,
    complete: bool,
}

impl Events {
    /// Reads up to `most` events for each bundle. Each bundle is given the events of the types that it declares, as serving would
    /// have it: what an extractor takes to decline an event of another type is no figure that anybody asks for. Two bundles
    /// that declare the same types, which couldn't be served together, are given the same events: that compares them.
    pub(super) fn read(
        path: &Path,
        limit: usize,
        declared: &[&[String]],
        most: u64,
    ) -> Result<Self, CliError> {
        let mut found = Self {
            origin: files::name(path),
            held: Vec::new(),
            of_bundles: vec![Vec::new(); declared.len()],
            rejects: Rejects::default(),
            lines: 0,
            unrouted: 0,
            complete: true,
        };
        let mut router = Router::new(declared, limit);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut bytes = 0_usize;
        events::for_each(path, limit, |line, event| {
            found.lines += 1;
            let routed = event.and_then(|text| Ok((text, router.route(text)?)));
            let (text, bundles) = match routed {
                Ok(routed) => routed,
                Err(error) => {
                    found.rejects.add(line, &error.into());
                    return Ok(true);
                }
            };
            let mut is_wanted = false;
            for bundle in bundles.iter().copied() {
                let Some(wanted) = found.of_bundles.get_mut(bundle) else { continue };
                if wanted.len() < most {
                    wanted.push(found.held.len());
                    is_wanted = true;
                }
            }
            found.unrouted += u64::from(bundles.is_empty());
            if is_wanted {
                bytes = bytes.saturating_add(text.len() + EVENT_BYTES);
                found.held.push(Event { line, text: text.to_vec() });
            }
            let is_full = found.of_bundles.iter().all(|events| events.len() >= most);
            found.complete = !is_full && bytes < MAX_BYTES;
            Ok(found.complete)
        })?;
        if found.lines == 0 {
            return Err(CliError::NoEvents { origin: found.origin });
        }
        Ok(found)
    }

    /// Whether there is nothing but lines that are no event.
    pub(super) fn is_all_rejected(&self) -> bool {
        self.rejects.counts().values().sum::<u64>() == self.lines
    }

    pub(super) fn figures(&self) -> InputFigures {
        InputFigures {
            origin: self.origin.clone(),
            lines: self.lines,
            complete: self.complete,
            unrouted: self.unrouted,
            rejected: self.rejects.counts(),
        }
    }
}

/// Tells which bundles serve an event.
struct Router {
    /// By bundle.
    patterns: Vec<Vec<EventPattern>>,
    projector: Projector,
    projection: Projection,
    found: Vec<usize>,
}

impl Router {
    fn new(declared: &[&[String]], limit: usize) -> Self {
        let patterns = |types: &&[String]| types.iter().map(|it| EventPattern::new(it)).collect();
        Self {
            patterns: declared.iter().map(patterns).collect(),
            projector: Projector::new(&[Input::json(&[EVENT_TYPE.to_owned()])])
                .with_max_event_bytes(limit),
            projection: Projection::default(),
            found: Vec::new(),
        }
    }

    /// The bundles that declare the event's type. The whole event is validated.
    fn route(&mut self, event: &[u8]) -> Result<&[usize], EventError> {
        self.projector.project(event, &mut self.projection)?;
        self.found.clear();
        let slot = self.projector.slot(&self.projection, 0);
        let text = event.get(slot.start as usize..slot.end as usize).unwrap_or_default();
        if slot.kind == SlotKind::String
            && let Ok(event_type) = serde_json::from_slice::<String>(text)
        {
            let serves =
                |patterns: &[EventPattern]| patterns.iter().any(|it| it.matches(&event_type));
            let serving = self.patterns.iter().enumerate().filter(|(_, of)| serves(of));
            self.found.extend(serving.map(|(bundle, _)| bundle));
        }
        Ok(&self.found)
    }
}

/// What can't be measured, by code.
#[derive(Default)]
pub(super) struct Rejects {
    by_code: BTreeMap<&'static str, Reject>,
}

/// Lines that were rejected with one code.
struct Reject {
    count: u64,
    /// The first of them.
    line: u64,
    problem: Problem,
}

impl Rejects {
    pub(super) fn add(&mut self, line: u64, error: &RunError) {
        let new = || Reject { count: 0, line, problem: error.problem() };
        self.by_code.entry(error.code()).or_insert_with(new).count += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_code.is_empty()
    }

    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        self.by_code.iter().map(|(code, reject)| ((*code).to_owned(), reject.count)).collect()
    }

    /// Says for each code how many lines there were, and shows the first: as an error where nothing is left to be measured.
    pub(super) fn tell(&self, origin: &str, is_all: bool) {
        for reject in self.by_code.values() {
            let others = match reject.count {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            let place = format!("{} line {}{others}", sanitize(origin, 400), reject.line);
            if is_all {
                output::problem(&place, &reject.problem);
            } else {
                output::suspect(&place, &reject.problem);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Router;

    #[test]
    fn events_go_to_the_bundles_that_declare_their_type() {
        let types = [vec!["a.*".to_owned()], vec!["a.b".to_owned(), "c".to_owned()]];
        let declared: Vec<&[String]> = types.iter().map(Vec::as_slice).collect();
        let mut router = Router::new(&declared, 1_000);
        for (event, expected) in [
            (r#"{"event_type":"a.b"}"#, &[0, 1][..]),
            (r#"{"event_type":"c","event_type":"a.c"}"#, &[0]),
            (r#"{"event_type":"\u0063"}"#, &[1]),
            (r#"{"event_type":"a"}"#, &[]),
            (r#"{"event_type":1}"#, &[]),
            ("{}", &[]),
        ] {
            assert_eq!(router.route(event.as_bytes()).ok(), Some(expected), "{event}");
        }
        assert!(router.route(br#"{"event_type":"c"} "#).is_ok());
        assert!(router.route(br#"{"event_type":"c"}}"#).is_err());
    }
}
