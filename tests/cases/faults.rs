//! Right plans with one fault each: whether a gate finds it, names the place, and fixes it without a model.
//!
//! Faults are made by rule, and by rule it is told for which of them no gate can know: those whose plan is as good as the
//! right one by all that samples, event schema and graph spec say. See `inject` for the kinds.
//!
//! Code fences around a plan, and an answer that was cut off, are no faults of a plan but of an answer: they have a test of
//! their own. `RETORT_SHOW_FAULTS=1` lists every fault that isn't repaired to the right plan.

mod case;
mod expected;
mod held_out;
mod inject;
mod judge;
mod knowable;
mod whole;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use libtest_mimic::Trial;
use retort::author::{AnswerFormat, llm::FinishReason};
use retort::diagnostics::Finding;
use retort::internal::answer;
use retort::plan::{self, Plan};
use serde_json::Value;

use case::Case;
use inject::{FEW_PER_KIND, Fault, KINDS, Kind, MAX_PER_KIND, whole as whole_language};
use judge::Judge;
use knowable::Right;

use crate::trial::{CorpusCheck, on_corpora, say, show_output, trial};

/// How the faults of one kind went.
#[derive(Default)]
struct Tally {
    injected: usize,
    unknowable: usize,
    rejected: usize,
    localised: usize,
    repaired: usize,
    otherwise: usize,
    notes: Vec<String>,
    /// Why no gate can know, with how many.
    reasons: BTreeMap<&'static str, usize>,
}

impl Tally {
    fn detectable(&self) -> usize {
        self.injected - self.unknowable
    }

    fn add(&mut self, other: &Self) {
        self.injected += other.injected;
        self.unknowable += other.unknowable;
        self.rejected += other.rejected;
        self.localised += other.localised;
        self.repaired += other.repaired;
        self.otherwise += other.otherwise;
        for (reason, count) in &other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
    }

    fn count(&mut self, judge: &Judge, case: &Case, right: &Plan, fault: &Fault) {
        let judged = judge.judge(case, &fault.text);
        self.injected += 1;
        if let Some(reason) = fault.unknowable {
            self.unknowable += 1;
            *self.reasons.entry(reason).or_default() += 1;
            return;
        }
        let rejected = !judged.findings.is_empty();
        let names = |pointer: &str| {
            let is_at = |place: &String| {
                pointer == place
                    || pointer.strip_prefix(place.as_str()).is_some_and(|it| it.starts_with('/'))
            };
            fault.places.iter().any(is_at)
        };
        let localised = judged.findings.iter().any(|finding| names(&finding.pointer));
        let repaired = judged.passed.as_ref().is_some_and(|plan| is_right(plan, right, fault));
        let otherwise = rejected && judged.passed.is_some() && !repaired;
        self.rejected += usize::from(rejected);
        self.localised += usize::from(localised);
        self.repaired += usize::from(rejected && repaired);
        self.otherwise += usize::from(otherwise);
        let note = match (rejected, localised, repaired, otherwise) {
            (false, ..) => "ACCEPTED",
            (_, false, ..) => "elsewhere",
            (_, _, false, true) => "otherwise",
            (_, _, false, false) => "unrepaired",
            _ => return,
        };
        let told = |findings: &[Finding]| -> Vec<String> {
            let patch = |it: &Finding| serde_json::to_string(&it.patch()).unwrap();
            let told = findings
                .iter()
                .map(|it| format!("{} {} {} {}", it.pointer, it.code, it.is_certain(), patch(it)));
            told.take(3).collect()
        };
        let (findings, left) = (told(&judged.findings), told(&judged.left));
        let Fault { what, places, .. } = fault;
        self.notes.push(format!(
            "{note} after {}: {}: {places:?} {what}: {findings:?}, left {left:?}",
            judged.rounds, case.name
        ));
    }

    fn row(&self, name: &str) -> String {
        let of = |part: usize| format!("{part}/{}", self.detectable());
        format!(
            "{name:<24} {:>8} {:>10} {:>11} {:>11} {:>11} {:>9}\n",
            self.injected,
            self.unknowable,
            of(self.rejected),
            of(self.localised),
            of(self.repaired),
            self.otherwise
        )
    }
}

/// Whether a plan is the right one. What its function is called is free, where that was taken away, and a node may be given
/// the name that it has anyway.
fn is_right(plan: &Plan, right: &Plan, fault: &Fault) -> bool {
    let value = |plan: &Plan| {
        let mut value = serde_json::to_value(plan).unwrap();
        for node in value.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten() {
            if node.get("name") == node.get("entity_name") {
                node.as_object_mut().unwrap().remove("name");
            }
        }
        if fault.places.iter().any(|place| place == "/function_name") {
            value["function_name"] = Value::Null;
        }
        value
    };
    value(plan) == value(right)
}

fn right_plan(case: &Case) -> Plan {
    plan::from_value(&case.plan).unwrap()
}

/// Injects every kind of fault into every case: a table, and the sums. Where the rule of `knowable` says which faults can't be
/// known, no kind does.
fn measure(cases: &[Case], kinds: &[Kind], most: usize, by_rule: bool) -> (String, Tally) {
    let judge = Judge::new();
    let mut sums = Tally::default();
    let mut table = format!(
        "{:<24} {:>8} {:>10} {:>11} {:>11} {:>11} {:>9}\n",
        "fault", "injected", "unknowable", "rejected", "localised", "repaired", "otherwise"
    );
    let mut notes = String::new();
    let rights: Vec<Right<'_>> = cases.iter().map(Right::new).collect();
    for kind in kinds {
        let mut tally = Tally::default();
        for (case, right) in cases.iter().zip(&rights) {
            for mut fault in kind.inject(case, most) {
                if by_rule {
                    fault.unknowable = right.unknowable(&fault.text);
                }
                // What says the same in other words is no fault.
                if plan::parse(&fault.text).is_ok_and(|plan| is_right(&plan, &right.plan, &fault)) {
                    continue;
                }
                tally.count(&judge, case, &right.plan, &fault);
            }
        }
        assert!(tally.injected > 0, "{}: nothing was injected", kind.name);
        table += &tally.row(kind.name);
        for note in &tally.notes {
            writeln!(notes, "{}: {note}", kind.name).unwrap();
        }
        sums.add(&tally);
    }
    table += &sums.row("all");
    for (reason, count) in &sums.reasons {
        writeln!(table, "unknowable: {count} where what is wrong {reason}").unwrap();
    }
    if std::env::var("RETORT_SHOW_FAULTS").is_ok() {
        show_output(true);
        say(&notes);
    }
    (table, sums)
}

fn check(sums: &Tally) {
    assert_eq!(sums.rejected, sums.detectable(), "a fault that can be known passes");
    check_most(sums);
}

/// What is asked where some faults pass that could be known: the gate takes an alternative, of a `coalesce` or an `any`, for
/// what events have that aren't among the samples, and says little of elements of which there are only a few.
fn check_most(sums: &Tally) {
    let detectable = sums.detectable() as f64;
    let is_at_least = |part: usize, share: f64| part as f64 >= share * detectable;
    assert!(is_at_least(sums.rejected, 0.97), "{} of {detectable} rejected", sums.rejected);
    assert!(is_at_least(sums.localised, 0.95), "{} of {detectable} localised", sums.localised);
    assert!(is_at_least(sums.repaired, 0.80), "{} of {detectable} repaired", sums.repaired);
    assert!(!is_at_least(sums.otherwise, 0.04), "{} of {detectable} otherwise", sums.otherwise);
}

fn right_plans_pass(cases: &[Case]) {
    let judge = Judge::new();
    for case in cases {
        let judged = judge.judge(case, &case.plan.to_string());
        assert!(judged.findings.is_empty(), "{}: {:#?}", case.name, judged.findings);
        assert_eq!(judged.passed, Some(right_plan(case)), "{}", case.name);
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("faults::right_plans_pass_and_are_not_altered", || {
            right_plans_pass(&Case::examples());
        }),
        trial("faults::faults_in_the_examples_are_found_and_repaired", || {
            faults_in_the_examples_are_found_and_repaired();
        }),
        trial("faults::right_plans_of_the_whole_language_pass", || {
            right_plans_pass(&Case::whole_examples());
        }),
        trial("faults::faults_in_the_whole_language_are_found_and_repaired", || {
            faults_in_the_whole_language_are_found_and_repaired();
        }),
        trial("faults::expected_results_find_what_no_gate_could_know_in_the_examples", || {
            let (core, whole) = (Case::examples(), Case::whole_examples());
            expected::find_what_no_gate_could_know(&core, &whole, MAX_PER_KIND);
        }),
        trial("faults::what_no_sample_shows_alters_no_right_plan_of_the_examples", || {
            let plans = [
                ("examples", Case::examples()),
                ("the whole language", Case::whole_examples()),
                ("arrays in arrays", vec![Case::elements()]),
                ("expressions", Case::examples_by_expressions()),
            ];
            held_out::leave_right_plans_as_they_are(&plans);
        }),
        trial("faults::a_right_plan_over_arrays_in_arrays_passes", || {
            right_plans_pass(&[Case::elements()]);
        }),
        trial("faults::faults_in_arrays_in_arrays_are_found_and_repaired", || {
            faults_in_arrays_in_arrays_are_found_and_repaired();
        }),
        trial("faults::right_plans_with_expressions_pass", || {
            right_plans_pass(&Case::examples_by_expressions());
            let cases = Case::whole_examples().into_iter().chain([Case::elements()]).collect();
            right_plans_pass(&Case::going_over_expressions(cases));
        }),
        trial("faults::faults_in_expressions_are_found_and_repaired", || {
            let cases = Case::examples_by_expressions();
            let kinds = whole_language::OF_EXPRESSIONS;
            let (table, sums) = measure(&cases, kinds, MAX_PER_KIND, true);
            say(&table);
            check_most(&sums);
            insta::with_settings!({ snapshot_path => "faults" }, {
                insta::assert_snapshot!("expressions", table);
            });
        }),
        trial("faults::fenced_plans_are_read_and_cut_off_ones_turned_down", || {
            fenced_plans_are_read_and_cut_off_ones_turned_down(&Case::examples());
        }),
    ];
    let checks: [CorpusCheck; 7] = [
        ("right_plans_pass_and_are_not_altered", |corpora| {
            let cases = Case::corpora(corpora);
            assert_eq!(cases.len(), 17);
            right_plans_pass(&cases);
        }),
        ("what_no_sample_shows_alters_no_right_plan", |corpora| {
            let plans = [
                ("one node over real events", Case::corpora(corpora)),
                ("whole plans over real events", Case::whole_corpora(corpora)),
            ];
            held_out::leave_right_plans_as_they_are(&plans);
        }),
        ("faults_in_plans_over_real_events_are_found_and_repaired", |corpora| {
            let (table, sums) = measure(&Case::corpora(corpora), KINDS, MAX_PER_KIND, false);
            say(&table);
            check(&sums);
        }),
        ("right_plans_of_the_whole_language_pass", |corpora| {
            right_plans_pass(&Case::whole_corpora(corpora));
        }),
        ("faults_in_whole_plans_over_real_events_are_found_and_repaired", |corpora| {
            let cases = Case::whole_corpora(corpora);
            let (table, sums) = measure(&cases, whole_language::KINDS, FEW_PER_KIND, true);
            say(&table);
            check_most(&sums);
        }),
        ("expected_results_find_what_no_gate_could_know", |corpora| {
            let (core, whole) = (Case::corpora(corpora), Case::whole_corpora(corpora));
            expected::find_what_no_gate_could_know(&core, &whole, FEW_PER_KIND);
        }),
        ("fenced_plans_are_read_and_cut_off_ones_turned_down", |corpora| {
            fenced_plans_are_read_and_cut_off_ones_turned_down(&Case::corpora(corpora));
        }),
    ];
    trials.extend(on_corpora("faults", &checks));
    trials
}

fn faults_in_the_examples_are_found_and_repaired() {
    let (table, sums) = measure(&Case::examples(), KINDS, MAX_PER_KIND, false);
    say(&table);
    check(&sums);
    insta::with_settings!({ snapshot_path => "faults" }, {
        insta::assert_snapshot!("examples", table);
    });
}

fn faults_in_the_whole_language_are_found_and_repaired() {
    let (table, sums) = measure(&Case::whole_examples(), whole_language::KINDS, MAX_PER_KIND, true);
    say(&table);
    check(&sums);
    insta::with_settings!({ snapshot_path => "faults" }, {
        insta::assert_snapshot!("whole", table);
    });
}

fn faults_in_arrays_in_arrays_are_found_and_repaired() {
    let kinds = whole_language::levels::KINDS;
    let (table, sums) = measure(&[Case::elements()], kinds, MAX_PER_KIND, true);
    say(&table);
    check_most(&sums);
    insta::with_settings!({ snapshot_path => "faults" }, {
        insta::assert_snapshot!("elements", table);
    });
}

/// What stands around a plan is taken off, and what was cut off is not made up: neither is a fault that could be repaired.
fn fenced_plans_are_read_and_cut_off_ones_turned_down(cases: &[Case]) {
    let read = |text: &str| answer::read(text, &FinishReason::Stop, AnswerFormat::Lenient);
    let (mut fenced, mut cut_off) = (0, 0);
    for case in cases {
        let text = format!("{:#}", case.plan);
        for answer in [
            format!("```json\n{text}\n```"),
            format!("Here is the plan.\n\n```\n{text}\n```\nIt reads the key first."),
            format!("\u{feff}{text}"),
        ] {
            assert_eq!(read(&answer).unwrap().plan, right_plan(case), "{}", case.name);
            fenced += 1;
        }
        for end in
            (1..text.len()).step_by(text.len() / 12).filter(|end| text.is_char_boundary(*end))
        {
            for answer in [text[..end].to_owned(), format!("```json\n{}", &text[..end])] {
                let error = read(&answer).unwrap_err();
                // Of an answer that ends behind its first brace there is no telling what it was to be.
                let codes = if end > 1 {
                    &["truncated_response"][..]
                } else {
                    &["truncated_response", "invalid_json"]
                };
                assert!(
                    codes.contains(&error.code.name),
                    "{}: {}: {answer}",
                    case.name,
                    error.code
                );
                assert_eq!(error.text, None, "nothing to be repaired");
                cut_off += 1;
            }
        }
    }
    say(&format!(
        "fenced JSON: {fenced}/{fenced} read as the plan; cut-off JSON: {cut_off}/{cut_off} rejected, none repaired"
    ));
}
