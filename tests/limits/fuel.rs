//! Fuel is exact: an event is served if it takes no more than it has, however the code is made that takes it.

use retort::sandbox::{Extractor, Sandbox};
use retort::{Limits, plan};

use super::{NO_INPUTS, doing, figures, load, module, problem};
use crate::support::rendered;

const EVENT: &str = r#"{"event_type":"e","k":1,"v":"text"}"#;

fn limits(fuel_base: u64) -> Limits {
    options!(Limits { fuel_base, fuel_per_byte: 0, ..Limits::default() })
}

/// Holds an extractor to the fuel that it takes, and gives that.
fn exact(extractor: impl Fn(Limits) -> Extractor) -> u64 {
    let spent = extractor(limits(1 << 40)).runner().run(EVENT.as_bytes()).unwrap().fuel;
    let mut enough = extractor(limits(spent)).runner();
    // The first call of an instance, and the next ones.
    for _ in 0..2 {
        assert_eq!(enough.run(EVENT.as_bytes()).unwrap().fuel, spent);
    }
    let short = problem(&mut extractor(limits(spent - 1)).runner(), EVENT);
    assert_eq!(figures(&short), ("out_of_fuel", spent, spent - 1));
    spent
}

#[test]
fn a_rendered_extractor_is_served_with_exactly_what_it_takes() {
    let plan = plan::parse(
        r#"{"event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]},
            "property_fields": [{"property_name": "v", "source_path": ["v"]}]}"#,
    );
    let rendered = rendered(&plan.unwrap());
    exact(|limits| Sandbox::new(limits).unwrap().load(&rendered).unwrap());
}

#[test]
fn a_loop_is_served_with_exactly_what_it_takes() {
    let counts = doing(
        "(local $n i32) (loop $l (br_if $l (i32.lt_u
            (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 1000))))",
    );
    let module = module(NO_INPUTS, "1 1", &counts);
    assert!(exact(|limits| load(&module, limits)) > 1000);
}

#[test]
fn code_without_loops_runs_on_to_its_end_and_is_told_afterwards() {
    // A body as long as may be: nothing in it looks at the fuel.
    let straight = doing(&"(drop (i32.const 0))".repeat((64 << 10) / 3 - 20));
    let module = module(NO_INPUTS, "1 1", &straight);
    let spent = exact(|limits| load(&module, limits));
    // So this is the most that can be taken beyond the budget: no instruction costs more than its bytes.
    assert!((20_000..=64 << 10).contains(&spent), "{spent}");
    assert_eq!(figures(&problem(&mut load(&module, limits(0)).runner(), EVENT)).2, 0);
}

#[test]
fn what_the_host_works_out_says_what_it_would_have_taken() {
    let section = r#"{"abi":1,"function":"extract","event_types":["e"],
        "inputs":[{"path":["v"],"as":["trim","upper"]}]}"#;
    let module = module(section, "1 1", &doing(""));
    let mut runner = load(&module, limits(1 << 20)).runner();
    let used = runner.run(EVENT.as_bytes()).unwrap().conversion_fuel;
    let allowed = used - 1;
    let found = problem(&mut load(&module, limits(allowed)).runner(), EVENT);
    assert_eq!(figures(&found), ("out_of_fuel", used, allowed));
}

#[test]
fn what_took_most_is_named() {
    let section = r#"{"abi":1,"function":"extract","event_types":["e"],"inputs":[
        {"path":["v"],"as":["trim"]},
        {"path":["v"],"as":[{"regex":{"pattern":"(?:[a-z]{1,9}){1,9}x"}}]},
        {"path":["k"]},
        {"template":["<",{"path":["v"]},">"],"as":["upper","lower"]},
        {"when":{"path":["v"],"equals":"text"}}]}"#;
    let module = module(section, "1 1", &doing(""));
    let used =
        load(&module, limits(1 << 20)).runner().run(EVENT.as_bytes()).unwrap().conversion_fuel;
    let error = load(&module, limits(used - 1)).runner().run(EVENT.as_bytes()).unwrap_err();
    let message = error.to_string();
    let named = message.split_once("; most of it went to ").expect("what it went to").1;
    let named: Vec<&str> = named.split(": ").collect();
    assert!(named[0].starts_with("inputs[1] (v by regex)"), "{message}");
    assert!(named[1].ends_with("inputs[3] (v by upper, lower)"), "{message}");
    assert!(named[2].ends_with("inputs[0] (v by trim)"), "{message}");
    assert_eq!(named.len(), 4, "{message}");
}

#[test]
fn what_initialisation_takes_is_taken_from_the_event_that_the_instance_is_made_for() {
    let counting = |to: u32| {
        format!(
            "(local $n i32) (loop $l (br_if $l (i32.lt_u
                (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const {to}))))"
        )
    };
    let initialising = |to: u32| {
        let initialize = format!(r#"(func (export "_initialize") {})"#, counting(to));
        let functions = initialize + &doing(&counting(1_000));
        let module = module(NO_INPUTS, "1 1", &functions);
        exact(|limits| load(&module, limits))
    };
    let (short, long) = (initialising(1_000), initialising(3_000));
    let call = {
        let module = module(NO_INPUTS, "1 1", &doing(&counting(1_000)));
        exact(|limits| load(&module, limits))
    };
    let round = (long - short) / 2_000;
    assert!(round > 0 && long - short == 2_000 * round, "{short} and {long}");
    assert!((1_000 * round..1_000 * round + 20).contains(&(short - call)), "{call} and {short}");
}
