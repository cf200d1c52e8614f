//! Memory and tables, at the limit and one above.

use retort::{Coded, Limits, RunError};

use super::{NO_INPUTS, doing, figures, load, module, problem};

const PAGE: usize = 64 << 10;
const EVENT: &str = r#"{"event_type":"e"}"#;

#[test]
fn memory_may_grow_to_its_limit_and_not_beyond() {
    let grows = doing("(drop (memory.grow (i32.const 2)))");
    let module = module(NO_INPUTS, "1 200", &grows);
    let limits = |memory_bytes| options!(Limits { memory_bytes, ..Limits::default() });
    assert!(load(&module, limits(3 * PAGE)).runner().run(EVENT.as_bytes()).is_ok());
    let mut runner = load(&module, limits(3 * PAGE - 1)).runner();
    let expected = ("memory_exceeded", 3 * PAGE as u64, 3 * PAGE as u64 - 1);
    assert_eq!(figures(&problem(&mut runner, EVENT)), expected);
    // What a module starts with counts as well.
    let mut runner = load(&module, limits(PAGE - 1)).runner();
    let expected = ("memory_exceeded", PAGE as u64, PAGE as u64 - 1);
    assert_eq!(figures(&problem(&mut runner, EVENT)), expected);
}

#[test]
fn what_its_own_maximum_forbids_costs_a_guest_nothing() {
    // Beyond its maximum twice, which is its own affair, and then to it.
    let grows = doing(
        "(drop (memory.grow (i32.const 5))) (drop (memory.grow (i32.const 5)))
         (if (i32.ne (memory.grow (i32.const 2)) (i32.const 1)) (then (unreachable)))",
    );
    let limits = options!(Limits { memory_bytes: 7 * PAGE, ..Limits::default() });
    let extractor = load(&module(NO_INPUTS, "1 3", &grows), limits);
    assert!(extractor.runner().run(EVENT.as_bytes()).is_ok());
}

#[test]
fn tables_count_with_what_they_start_with() {
    let module = module(NO_INPUTS, "1 1", &format!("(table 10 funcref) {}", doing("")));
    let limits = |table_elements| options!(Limits { table_elements, ..Limits::default() });
    assert!(load(&module, limits(10)).runner().run(EVENT.as_bytes()).is_ok());
    let mut runner = load(&module, limits(9)).runner();
    assert_eq!(figures(&problem(&mut runner, EVENT)), ("table_exceeded", 10, 9));
}

#[test]
fn events_inputs_and_results_have_their_bytes_and_not_one_more() {
    let section = r#"{"abi":1,"function":"extract","event_types":["e"],"inputs":[{"path":["v"]}]}"#;
    let module = module(section, "1 1", &doing(""));
    let event = r#"{"event_type":"e","v":"text"}"#;
    let all = Limits::default();
    // A head, one slot, the text in its quotes; the result declines.
    let (block, result) = (8 + 12 + 6, 83);
    for (code, used, limits) in [
        (
            "event_too_large",
            event.len(),
            options!(Limits { event_bytes: event.len() - 1, ..all.clone() }),
        ),
        ("input_too_large", block, options!(Limits { input_bytes: block - 1, ..all.clone() })),
        ("output_too_large", result, options!(Limits { output_bytes: result - 1, ..all.clone() })),
    ] {
        let found = problem(&mut load(&module, limits).runner(), event);
        assert_eq!(figures(&found), (code, used as u64, used as u64 - 1));
    }
    let exact = options!(Limits {
        event_bytes: event.len(),
        input_bytes: block,
        output_bytes: result,
        ..all
    });
    assert!(load(&module, exact).runner().run(event.as_bytes()).is_ok());
}

#[test]
fn a_full_stack_says_how_much_there_was() {
    let recurses = format!(
        "(func $deeper (param i32) (call $deeper (local.get 0))) {}",
        doing("(call $deeper (i32.const 0))")
    );
    let limits =
        options!(Limits { fuel_base: u64::MAX, stack_bytes: 64 << 10, ..Limits::default() });
    let mut runner = load(&module(NO_INPUTS, "1 1", &recurses), limits).runner();
    let error = runner.run(EVENT.as_bytes()).unwrap_err();
    assert!(matches!(error, RunError::Guest(_)), "{error}");
    assert_eq!(figures(&error.problem()), ("stack_overflow", 64 << 10, 64 << 10));
}
