//! Where in a plan things are.

use retort::plan;
use serde_json::{Value, json};

use super::long_plan;

#[test]
fn every_path_that_is_read_is_pointed_to() {
    let plan = plan::from_value(&long_plan()).unwrap();
    let written = json!(plan);
    let reads = plan.reads();
    for read in &reads {
        let place = written.pointer(&read.pointer).unwrap_or_else(|| panic!("{read:?}"));
        match place {
            Value::String(template) => {
                let keys = read.reference.path.iter();
                assert!(keys.into_iter().all(|key| template.contains(key)), "{read:?}");
            }
            path => assert_eq!(*path, json!(read.reference.path), "{read:?}"),
        }
        assert!(
            usize::from(read.reference.level.0) <= read.for_each.map_or(0, |it| it.levels().len())
        );
    }
    let pointers: Vec<&str> = reads.iter().map(|read| read.pointer.as_str()).collect();
    insta::assert_snapshot!(pointers.join("\n"), @r"
    /when/all/0/source_path
    /when/all/1/any/0/source_path
    /when/all/1/any/1/not/source_path
    /nodes/0/key_fields/0/source_path
    /nodes/0/property_fields/0/source_path
    /nodes/1/for_each/array
    /nodes/1/for_each/for_each/entries
    /nodes/1/when/source_path
    /nodes/1/key_fields/0/source_path
    /nodes/1/key_fields/1/source_path
    /nodes/1/property_fields/0/coalesce/0/template
    /nodes/1/property_fields/0/coalesce/0/template
    /nodes/1/property_fields/0/coalesce/1/source_path
    /edges/0/when/source_path
    /edges/0/edge_id
    /edges/0/edge_id
    /edges/0/property_fields/0/source_path
    /edges/1/to/key_fields/0/source_path
    /edges/1/for_each/array
    /session_id_path
    /span_handling/0/span_id_path
    /span_handling/0/partial_when_path
    /span_handling/1/span_id_path
    /span_handling/1/for_each/array
    /span_handling/1/when/source_path
    /span_handling/1/partial_when/source_path
    ");
}
