//! Plans rendered to Rust, whatever their functions are called.

use proptest::prelude::*;
use retort::Coded;
use retort::gate::{SourceLimits, vet_source};
use retort::plan::{self as plans, is_identifier, is_reserved};
use retort::render::render_rust;
use serde_json::json;

/// Names that mean something: to Rust, to the SDK, to compilers and linkers.
const KNOWN: &str = "Box Copy Err Event Extractor Graph LENGTH None Null Ok Option SECTION Self Some Value Vec _ __data_end \
    __heap_base __retort __wasm_call_ctors _initialize _start abort alloc assert async auto core drop event exported \
    extractor f64 fmod fn format graph include_str macro_rules main malloc matches memcpy memory panic prelude r#fn raw \
    record retort_buffer retort_guest row rows rust_eh_personality safe self static std str todo try union usize vec yield";

fn name() -> impl Strategy<Value = String> {
    let known: Vec<&str> = KNOWN.split_ascii_whitespace().collect();
    let known = proptest::sample::select(known);
    prop_oneof![
        known.clone().prop_map(str::to_owned),
        (known, "[_a-zA-Z0-9]?").prop_map(|(name, behind)| format!("{name}{behind}")),
        "[_a-zA-Z][_a-zA-Z0-9]{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// A name that a plan may have is rendered to source that the gate takes, and that exports it; or the renderer says that no
    /// compiler could export it.
    #[test]
    fn every_name_of_a_function_is_rendered_or_refused(name in name()) {
        let plan = json!({
            "event_type": "e", "target_entity_name": "E", "function_name": &name,
            "key_field": {"property_name": "id", "source_path": [&name]},
        });
        let Ok(plan) = plans::from_value(&plan) else {
            prop_assert!(is_reserved(&name) || !is_identifier(&name), "{name}");
            return Ok(());
        };
        match render_rust(&plan) {
            Ok(source) => {
                let vetted = vet_source(&source, &SourceLimits::default());
                prop_assert!(vetted.is_ok(), "{:?}\n{source}", vetted.err());
                let is_known = [format!("function: {name},"), format!(" as \"{name}\",")];
                prop_assert!(is_known.iter().any(|it| source.contains(it)), "{source}");
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "plan_not_declarable");
                prop_assert_eq!(error.place().unwrap_or_default(), "/function_name");
            }
        }
    }
}
