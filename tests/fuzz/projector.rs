//! The projector against `serde_json`: the same verdict on any bytes, the same values at all paths, and nothing of the event
//! before.

use retort::internal::{
    block::BlockWriter,
    event::{Projection, Projector, validate},
    section::Input,
};
use serde_json::Value;

use super::text::assert_one_line;
use crate::event::same_values;

/// An event that leaves something everywhere.
const BEFORE: &str = r#"{"event_type":"before","a":{"a":1,"b":{"c":[1,2]},"id":"x"},"b":"\u00e9","content":{"id":5},"id":true}"#;

pub(crate) fn target(data: &[u8]) -> bool {
    let expected = serde_json::from_slice::<Value>(data);
    let verdict = validate(data);
    assert_eq!(verdict.is_ok(), expected.is_ok(), "{verdict:?} and {expected:?}");
    let is_object = expected.as_ref().is_ok_and(Value::is_object);
    leaves_nothing(data, is_object);
    match expected {
        Ok(value) if is_object => {
            same_values(data, &value).unwrap_or_else(|error| panic!("{error}"));
            true
        }
        _ => false,
    }
}

/// A projection and a writer that were used before say the same as new ones.
fn leaves_nothing(event: &[u8], is_object: bool) {
    let paths: [&[&str]; 8] = [
        &["event_type"],
        &["a"],
        &["a", "b"],
        &["a", "b", "c"],
        &["b"],
        &["content", "id"],
        &["id"],
        &[],
    ];
    let inputs = paths
        .map(|path| Input::json(&path.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>()));
    let projector = Projector::new(&inputs);
    let (mut used, mut new) = (Projection::default(), Projection::default());
    let mut writer = BlockWriter::default();
    projector.project(BEFORE.as_bytes(), &mut used).unwrap();
    writer.write(&projector, BEFORE.as_bytes(), &used, usize::MAX).unwrap();
    let verdict = projector.project(event, &mut used);
    assert_eq!(verdict, projector.project(event, &mut new));
    assert_eq!(verdict.is_ok(), is_object);
    if let Err(error) = verdict {
        assert_one_line(&error.to_string());
        return;
    }
    for index in 0..inputs.len() {
        assert_eq!(projector.slot(&used, index), projector.slot(&new, index));
    }
    let block = writer.write(&projector, event, &used, usize::MAX).unwrap().to_vec();
    let mut fresh = BlockWriter::default();
    assert_eq!(block, fresh.write(&projector, event, &new, usize::MAX).unwrap());
}
