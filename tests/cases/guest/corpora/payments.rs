//! Account numbers in whatever text real events have: there are none, and much that looks like them.
//!
//! The texts are full of identifiers, hashes and encoded bytes, which is where a search by form alone goes wrong: what is counted is
//! how much of that the check digits turn down.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{Compiled, events, property, source_of};

/// Every file of events that the corpora have.
const FILES: [&str; 10] = [
    "agent_telemetry/adk_fixture_synthetic.ndjson",
    "agent_telemetry/bka_decision.ndjson",
    "agent_telemetry/mako_tools.ndjson",
    "agent_telemetry/seeded_decision.ndjson",
    "github_webhooks/events.ndjson",
    "json_bench/events.ndjson",
    "security_logs/aws_cloudtrail.ndjson",
    "security_logs/github_audit.ndjson",
    "security_logs/okta_system.ndjson",
    "security_logs/slack_audit.ndjson",
];

/// Countries with the length of their numbers, as the standard's register has them.
const LENGTHS: &str = "AT20 BE16 CH21 DE22 ES24 FR27 GB22 IT27 NL18 NO15";

/// A number in the text of every second event, so that there is something to be found, in three ways to write it.
const PLANTED: [&str; 3] =
    ["DE89 3704 0044 0532 0130 00", "gb82WEST12345698765432", "NL91 ABNA 0417 1643 00"];

pub(super) fn check(rustc: &Path, corpora: &Path) -> String {
    let all: Vec<(String, Value)> = FILES.iter().flat_map(|file| events(corpora, file)).collect();
    let types: BTreeSet<&str> =
        all.iter().map(|(_, it)| it["event_type"].as_str().unwrap()).collect();
    let mut example = Compiled::new(rustc, "payment-references", &declaring(&types));
    let (mut nodes, mut alike, mut found, mut planted) = (0, 0, 0, 0);
    for (index, (text, event)) in all.iter().enumerate() {
        let content = match &event["content"] {
            // Null stays null, whatever is made of it.
            Value::Null => String::new(),
            content => content.to_string(),
        };
        let known = Known::of(&content);
        alike += known.alike;
        assert_eq!(accounts(&mut example, text), known.accounts, "{text:.200}");
        nodes += usize::from(event["span_id"].is_string());
        found += known.accounts.len();
        if index % 2 == 0 && event["span_id"].is_string() {
            let number = PLANTED[index / 2 % PLANTED.len()];
            let mut event = event.clone();
            event["content"] = Value::from(vec![content.clone(), format!("to {number}.")]);
            let plain: String = number.chars().filter(|it| *it != ' ').collect();
            let with = accounts(&mut example, &event.to_string());
            let known = Known::of(&event["content"].to_string());
            assert_eq!(with, known.accounts);
            assert!(with.contains(&plain.to_uppercase()), "{number}: {with:?}");
            planted += 1;
        }
    }
    assert_eq!((all.len(), types.len(), nodes), (EVENTS, TYPES, NODES));
    assert_eq!((alike, found, planted), (ALIKE, FOUND, PLANTED_IN));
    format!(
        "{} events of {} types, of all corpora: {nodes} payments, {alike} texts like an account number, of which {found} are one; \
         {planted} planted ones found",
        all.len(),
        types.len()
    )
}

/// What came of it when it was written.
const EVENTS: usize = 3_708;
const TYPES: usize = 440;
const NODES: usize = 3_707;
const ALIKE: usize = 106;
const FOUND: usize = 0;
const PLANTED_IN: usize = 1_854;

/// The example for events of these types: the same but for what it declares.
fn declaring(types: &BTreeSet<&str>) -> String {
    let types: Vec<String> = types.iter().map(|it| format!("{it:?}")).collect();
    let mut source = source_of("payment-references");
    for (there, here) in [
        (r#"["payment.*"]"#, format!("[{}]", types.join(", "))),
        (r#"["content", "id"]"#, r#"["span_id"]"#.to_owned()),
        (r#"["content", "amount"]"#, r#"["latency_ms", "total_ms"]"#.to_owned()),
        (r#"["content", "reference"]"#, r#"["content"] as ["to_json_text"]"#.to_owned()),
        (r#"["content", "note"]"#, r#"["error_message"]"#.to_owned()),
    ] {
        assert_eq!(source.matches(there).count(), 1, "{there}");
        source = source.replace(there, &here);
    }
    source
}

fn accounts(example: &mut Compiled, event: &str) -> BTreeSet<String> {
    let result = example.run(event);
    let accounts = result.nodes.iter().filter(|it| it.entity_name == "Account");
    let iban =
        |it: &retort::graph::Node| property(&it.properties, "iban").as_str().unwrap().to_owned();
    accounts.map(iban).collect()
}

/// What a text holds.
#[derive(Default)]
struct Known {
    accounts: BTreeSet<String>,
    /// What has the form of a number, whatever its check digits are.
    alike: usize,
}

impl Known {
    /// Looks at each word that begins with a country and two more characters, up to the number's length.
    fn of(text: &str) -> Self {
        let mut known = Self::default();
        let characters: Vec<char> = text.chars().collect();
        for start in 0..characters.len() {
            let is_inside = start > 0 && characters[start - 1].is_alphanumeric();
            let Some(number) = (!is_inside).then(|| formed(&characters[start..])).flatten() else {
                continue;
            };
            known.alike += 1;
            if is_checked(&number) {
                known.accounts.insert(number);
            }
        }
        known
    }
}

fn formed(characters: &[char]) -> Option<String> {
    let country: String = characters.get(..2)?.iter().collect::<String>().to_ascii_uppercase();
    let entry = LENGTHS.split(' ').find(|it| it.starts_with(&country))?;
    let length: usize = entry[2..].parse().unwrap();
    // Spaces may be between all but the first four characters, and not behind the last one.
    let head = characters.get(..4)?.iter().all(char::is_ascii_alphanumeric);
    let kept: Vec<(usize, char)> =
        characters.iter().copied().enumerate().filter(|(_, it)| *it != ' ').take(length).collect();
    let (last, _) = kept.last()?;
    let is_whole = kept.len() == length && kept.iter().all(|(_, it)| it.is_ascii_alphanumeric());
    let goes_on = characters.get(last + 1).is_some_and(|it| it.is_alphanumeric());
    let number = kept.iter().map(|(_, it)| it.to_ascii_uppercase()).collect();
    (head && is_whole && !goes_on).then_some(number)
}

/// The division by 97, of the number as decimal digits, nine at a time.
fn is_checked(number: &str) -> bool {
    let (head, tail) = number.split_at(4);
    let digits: String =
        tail.chars().chain(head.chars()).map(|it| it.to_digit(36).unwrap().to_string()).collect();
    let rest = digits.as_bytes().chunks(9).fold(0u64, |rest, chunk| {
        let chunk = std::str::from_utf8(chunk).unwrap();
        (rest * 10u64.pow(chunk.len() as u32) + chunk.parse::<u64>().unwrap()) % 97
    });
    rest == 1
}
