//! Rendered extractors against the oracle, over random plans and random events.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use retort::abi::block::BlockWriter;
use retort::abi::result;
use retort::event::{Projection, Projector};
use retort::gate::inspect::{StructuralLimits, inspect};
use retort::graph::extraction::Extraction;
use retort::plan::{self, Plan, eval::eval};
use retort::problem::Coded;
use retort::sandbox::{Limits, Runner, Sandbox};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::rendered;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).unwrap());

/// Keys that mean something to the plan, to the text formats on the way, or to a careless reader.
const KEYS: &[&str] = &[
    "event_type",
    "session_id",
    "span_id",
    "a",
    "b",
    "a.b",
    "0",
    "é",
    "🙂",
    "\"",
    "\\",
    "\n",
    "\0",
    ";;",
    "(;",
    "\"\"\"",
    ") (func)",
    "\u{202e}",
    "\u{feff}",
    "\\u0061",
    // The same length as a short one, modulo the 64 lengths that the projector tells apart.
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
];

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(KEYS).prop_map(str::to_owned),
        1 => "\\PC{1,6}",
        1 => prop::collection::vec(any::<char>(), 1..5).prop_map(String::from_iter),
    ]
}

fn path() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(key(), 1..4)
}

fn event_type() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("e".to_owned()),
        "[ -~]{1,20}",
        prop::collection::vec(key(), 1..4).prop_map(|keys| keys.concat())
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let few_or_many = prop_oneof![9 => 0..6usize, 1 => 30..70usize];
    let properties =
        few_or_many.prop_flat_map(|count| prop::collection::vec((path(), any::<bool>()), count));
    let span = prop::option::of((path(), prop::option::of(path())));
    (event_type(), path(), properties, prop::option::of(path()), span).prop_map(
        |(event_type, key, properties, session, span)| {
            let property = |(index, (path, keep)): (usize, &(Vec<String>, bool))| {
                let nulls = if *keep { "keep" } else { "omit" };
                json!({"property_name": format!("p{index}"), "source_path": path, "nulls": nulls})
            };
            let mut plan = json!({
                "event_type": event_type, "target_entity_name": "Thing", "function_name": "read",
                "key_field": {"property_name": "key", "source_path": key},
                "property_fields": properties.iter().enumerate().map(property).collect::<Vec<_>>(),
            });
            if let Some(path) = session {
                plan["session_id_path"] = json!(path);
            }
            if let Some((path, partial)) = span {
                plan["span_handling"] = json!({"span_id_path": path, "partial_when_path": partial});
            }
            plan::from_value(&plan).unwrap()
        },
    )
}

/// Every path that the plan reads, the event type's first.
fn paths(plan: &Plan) -> Vec<Vec<String>> {
    let mut paths = vec![vec!["event_type".to_owned()]];
    paths.push(plan.key_field().source_path().to_vec());
    paths.push(plan.session_id_path().to_vec());
    if let Some(span) = plan.span_handling() {
        paths.push(span.span_id_path().to_vec());
        paths.extend(span.partial_when_path().map(<[String]>::to_vec));
    }
    paths.extend(plan.property_fields().iter().map(|field| field.source_path().to_vec()));
    paths
}

/// The text of a JSON string, in one of several spellings of the same content.
fn spelled(content: &str, spelling: u8) -> String {
    let canonical = Value::from(content).to_string();
    match spelling % 4 {
        // All escaped, as UTF-16 code units.
        0 => {
            let units: String =
                content.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            format!("\"{units}\"")
        }
        1 => canonical.replace('/', "\\/").replace('a', "\\u0061"),
        _ => canonical,
    }
}

fn string() -> impl Strategy<Value = String> {
    let content = prop_oneof![
            select(
                &[
                    "",
                    "a",
                    "true",
                    "0",
                    "[\",\",\":\"]",
                    "\",\"node_id\":\"x",
                    "a:b=c,d",
                    "\u{202e}"
                ][..]
            )
            .prop_map(str::to_owned),
            // Around the lengths at which copying changes its ways.
            (
                select(&[14_usize, 15, 16, 17, 61, 62, 63, 64, 65, 66, 200, 3000][..]),
                select(&['x', 'é', '"'][..])
            )
                .prop_map(|(length, c)| c.to_string().repeat(length)),
            key(),
            any::<String>(),
        ];
    (content, any::<u8>()).prop_map(|(content, spelling)| spelled(&content, spelling))
}

/// The text of a scalar, or of an empty array or object.
fn scalar() -> impl Strategy<Value = String> {
    let numbers: &[&str] = &[
        "0",
        "-0",
        "0.0",
        "-0.0e5",
        "1e-400",
        "-1E-999",
        "1",
        "-17",
        "1.50",
        "1E5",
        "2.5e+3",
        "9007199254740993",
        "18446744073709551616",
        "123456789012345678901234567890.123456789",
        "1.7976931348623157e308",
    ];
    prop_oneof![
        4 => string(),
        3 => select(numbers).prop_map(str::to_owned),
        1 => any::<f64>().prop_filter_map("finite", |x| x.is_finite().then(|| json!(x).to_string())),
        3 => select(&["true", "false", "null"][..]).prop_map(str::to_owned),
        1 => select(&["[]", "{}", "[ ]", "{\n}"][..]).prop_map(str::to_owned),
    ]
}

/// The text of a JSON value of any kind.
fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 24, 5, |inner| {
        let member = (key(), any::<u8>(), inner.clone(), space());
        prop_oneof![
            (prop::collection::vec(inner, 0..5), space()).prop_map(|(items, space)| format!(
                "[{space}{}{space}]",
                items.join(&format!("{space},"))
            )),
            prop::collection::vec(member, 0..5).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(key, spelling, value, space)| {
                        format!("{space}{}{space}:{space}{value}", spelled(&key, spelling))
                    })
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn space() -> impl Strategy<Value = &'static str> {
    select(&["", "", "", " ", "\n\t", "\r "][..])
}

/// Something that an event holds: where, what, and how it is written.
#[derive(Clone, Debug)]
struct Entry {
    /// One of the plan's paths, as the plan has it or changed.
    path: Index,
    change: Change,
    value: String,
    /// Whether it joins members that are there, or comes as a member of its own and so hides those.
    joins: bool,
    spelling: u8,
    space: &'static str,
}

#[derive(Clone, Debug)]
enum Change {
    None,
    /// Something stands where the path goes on.
    Shortened,
    /// The path goes on where a value is looked for.
    Extended(String),
    Other(Vec<String>),
}

fn entry() -> impl Strategy<Value = Entry> {
    let change = prop_oneof![
        6 => Just(Change::None),
        1 => Just(Change::Shortened),
        1 => key().prop_map(Change::Extended),
        1 => path().prop_map(Change::Other),
    ];
    (any::<Index>(), change, value(), any::<bool>(), any::<u8>(), space()).prop_map(
        |(path, change, value, joins, spelling, space)| Entry {
            path,
            change,
            value,
            joins,
            spelling,
            space,
        },
    )
}

#[derive(Clone, Debug)]
struct Draft {
    /// What stands as the event type, if it isn't the plan's.
    event_type: Option<String>,
    /// Before which member the event type stands.
    event_type_at: Index,
    spelling: u8,
    /// What stands where the plan looks; over again from the first if the plan has more paths.
    found: Vec<Option<Entry>>,
    /// What comes on top, to hide it and to lead astray.
    others: Vec<Entry>,
}

fn draft() -> impl Strategy<Value = Draft> {
    let event_type = prop_oneof![9 => Just(None), 1 => value().prop_map(Some)];
    let scalar = (entry(), scalar()).prop_map(|(entry, value)| Entry { value, ..entry });
    let found = prop_oneof![
        4 => scalar.prop_map(Some),
        2 => entry().prop_map(Some),
        1 => Just(None),
    ];
    let found = prop::collection::vec(found, 1..12);
    let others = prop::collection::vec(entry(), 0..5);
    (event_type, any::<Index>(), any::<u8>(), found, others).prop_map(
        |(event_type, event_type_at, spelling, found, others)| Draft {
            event_type,
            event_type_at,
            spelling,
            found,
            others,
        },
    )
}

/// Members in the order of the text; a key may occur more than once.
enum Node {
    Leaf(String),
    Object(Vec<(String, String, Node)>),
}

impl Node {
    fn insert(&mut self, path: &[String], entry: &Entry) {
        let Self::Object(members) = self else { return };
        let Some((key, rest)) = path.split_first() else { return };
        if entry.joins && !rest.is_empty() {
            let known = members
                .iter_mut()
                .rev()
                .find(|(name, _, node)| name == key && matches!(node, Self::Object(_)));
            if let Some((.., node)) = known {
                return node.insert(rest, entry);
            }
        }
        let mut node = if rest.is_empty() {
            Self::Leaf(entry.value.clone())
        } else {
            Self::Object(Vec::new())
        };
        node.insert(rest, entry);
        let written = format!("{0}{1}{0}:{0}", entry.space, spelled(key, entry.spelling));
        members.push((key.clone(), written, node));
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Leaf(text) => out.push_str(text),
            Self::Object(members) => {
                out.push('{');
                for (index, (_, key, node)) in members.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    out.push_str(key);
                    node.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// The event that a draft means for a plan.
fn event(plan: &Plan, draft: &Draft) -> String {
    let paths = paths(plan);
    let mut root = Node::Object(Vec::new());
    for (path, found) in paths[1..].iter().zip(draft.found.iter().cycle()) {
        // An event type that the plan reads elsewhere as well must not be lost.
        if let Some(entry) = found.as_ref().filter(|_| path[0] != "event_type") {
            root.insert(path, entry);
        }
    }
    for entry in &draft.others {
        let mut path = paths[entry.path.index(paths.len())].clone();
        match &entry.change {
            Change::None => {}
            Change::Shortened => path.truncate(path.len().saturating_sub(1).max(1)),
            Change::Extended(key) => path.push(key.clone()),
            Change::Other(other) => path.clone_from(other),
        }
        root.insert(&path, entry);
    }
    if let Node::Object(members) = &mut root {
        let value = match &draft.event_type {
            Some(value) => value.clone(),
            None => spelled(plan.event_type(), draft.spelling),
        };
        let member = ("event_type".to_owned(), "\"event_type\":".to_owned(), Node::Leaf(value));
        members.insert(draft.event_type_at.index(members.len() + 1), member);
    }
    let mut text = String::new();
    root.write(&mut text);
    text
}

/// A plan made ready in both ways.
struct Subject {
    plan: Plan,
    warm: Runner,
    fresh: Runner,
    projector: Projector,
    bound: retort::gate::inspect::FuelBound,
}

impl Subject {
    fn new(plan: Plan) -> Self {
        let proven = rendered(&plan);
        let unproven = inspect(proven.wasm(), &StructuralLimits::default()).unwrap();
        let warm = SANDBOX.load(&proven).unwrap();
        let fresh = SANDBOX.load(&unproven).unwrap();
        assert!(warm.is_reset_safe() && !fresh.is_reset_safe());
        Self {
            plan,
            warm: warm.runner(),
            fresh: fresh.runner(),
            projector: Projector::new(proven.section().inputs()),
            bound: proven.facts().fuel_bound.expect("rendered code has no loop"),
        }
    }

    /// Bytes of the input block of an event.
    fn block_bytes(&self, event: &str) -> usize {
        let mut projection = Projection::default();
        self.projector.project(event.as_bytes(), &mut projection).unwrap();
        let mut writer = BlockWriter::default();
        writer.write(&self.projector, event.as_bytes(), &projection, usize::MAX).unwrap().len()
    }

    /// Whether the event gave a node.
    fn check(&mut self, event: &str) -> Result<bool, TestCaseError> {
        let expected =
            eval(&self.plan, event).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let block = self.block_bytes(event);
        for runner in [&mut self.warm, &mut self.fresh] {
            let outcome = runner.run(event.as_bytes());
            let outcome =
                outcome.map_err(|error| TestCaseError::fail(format!("{error}: {event}")))?;
            let found: Extraction = serde_json::from_slice(outcome.json).unwrap();
            let canonical = |extraction| serde_json::to_value(extraction).unwrap().to_string();
            prop_assert_eq!(canonical(&found), canonical(&expected), "{}", event);
            let bound = self.bound.for_bulk_bytes((block + outcome.json.len()) as u64);
            prop_assert!(outcome.fuel <= bound, "{} of {}: {}", outcome.fuel, bound, event);
        }
        Ok(!expected.is_empty())
    }
}

/// Cases with a plan of their own: each has to be compiled to native code.
fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rendered_extractors_mean_what_their_plan_means(
        plan in plan(),
        drafts in prop::collection::vec(draft(), 1..16),
    ) {
        let mut subject = Subject::new(plan);
        for draft in drafts {
            let event = event(&subject.plan, &draft);
            subject.check(&event)?;
        }
    }
}

/// The generators are worth something only if what they make is mostly read.
#[test]
fn the_generators_reach_what_they_are_for() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut nodes, mut properties, mut spans, mut sessions) = (0, 0, 0, 0);
    for _ in 0..400 {
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let draft = draft().new_tree(&mut runner).unwrap().current();
        let found = eval(&plan, &event(&plan, &draft)).unwrap();
        spans += found.fully_handled_span_ids.len() + found.partially_handled_span_ids.len();
        let Some(node) = found.nodes.first() else { continue };
        nodes += 1;
        properties += node.properties.len() - 1;
        sessions += usize::from(!node.node_id.starts_with(':'));
    }
    assert!(
        nodes > 80 && properties > 80 && spans > 15 && sessions > 20,
        "{nodes} {properties} {spans} {sessions}"
    );
}

/// Plans and events that once showed something, or that the generators reach too rarely.
#[test]
fn known_corners() {
    let plan = |key: &[&str], value: &[&str]| {
        plan::from_value(&json!({
            "event_type": "e", "target_entity_name": "Thing", "function_name": "read",
            "key_field": {"property_name": "key", "source_path": key},
            "property_fields": [{"property_name": "v", "source_path": value, "nulls": "keep"}],
            "span_handling": {"span_id_path": key, "partial_when_path": value},
        }))
        .unwrap()
    };
    let deepest = format!("{}{}", "[".repeat(122), "]".repeat(122));
    let cases = [
        (&["k"][..], &["v"][..], format!(r#"{{"event_type":"e","k":1,"v":{deepest}}}"#)),
        (&["k"], &["k", "v"], r#"{"event_type":"e","k":{"v":1},"k":"x"}"#.to_owned()),
        (&["k"], &["k", "v"], r#"{"event_type":"e","k":"x","k":{"v":1}}"#.to_owned()),
        (&["k"], &["v"], r#"{"event_type":"e","k":"x","v":1e-400}"#.to_owned()),
        (&["event_type"], &["event_type"], r#"{"event_type":"e"}"#.to_owned()),
        (&["k"], &["v"], r#"{"event_type":"x","k":1,"\u0065vent_type":"\u0065"}"#.to_owned()),
    ];
    for (key, value, event) in cases {
        Subject::new(plan(key, value)).check(&event).unwrap();
    }
}

/// A result that uses all of the shape.
const RESULT: &str = r#"{"nodes": [{"node_id":"s:E:k=1","entity_name":"E","labels":["E","F"],
    "properties":[{"name":"k","value":-1.5e3},{"name":"v","value":{"a":[1,null,{"b":"\u0041\n"}]}}]}],
  "edges":[{"edge_id":"x","relationship_name":"R","from_node_id":"a","to_node_id":"b","properties":[]}],
  "fully_handled_span_ids":["s"],"partially_handled_span_ids":["t","u"]}"#;

/// What is put into a result to break it, or to leave it whole.
const TOKENS: &[&str] = &[
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "true",
    "1e999",
    "-",
    "0",
    ".5",
    "\\ud800",
    "\u{e9}",
    "\0",
    " ",
    "\n",
    "\"x\"",
    "\"x\",",
    "\"nodes\":[],",
    "\"labels\":[],",
    "\"name\":\"n\",",
    "{\"name\":\"n\",\"value\":1},",
    "[[[[",
    "{}",
    "\\u006e",
    ",\"edges\":[]",
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, &'static str),
    Delete(Index, usize),
    /// Puts a token of the text in the place of another.
    Replace(Index, Index),
    Swap(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), select(TOKENS)).prop_map(|(at, token)| Edit::Insert(at, token)),
        (any::<Index>(), 1..4usize).prop_map(|(at, count)| Edit::Delete(at, count)),
        (any::<Index>(), any::<Index>()).prop_map(|(at, from)| Edit::Replace(at, from)),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Edit::Swap(one, other)),
    ]
}

/// The tokens of a JSON text, strings whole: edits of tokens leave more of the shape than edits of bytes.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' {
            let mut escaped = false;
            let end = rest.char_indices().skip(1).find(|(_, c)| {
                let ends = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                ends
            });
            end.map_or(rest.len(), |(at, _)| at + 1)
        } else if first.is_ascii_alphanumeric() || first == '-' {
            rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    tokens
}

fn edited(edits: &[Edit]) -> String {
    let mut tokens = tokens(RESULT);
    for edit in edits {
        if tokens.is_empty() {
            break;
        }
        let size = tokens.len();
        match edit {
            Edit::Insert(at, token) => tokens.insert(at.index(size + 1), (*token).to_owned()),
            Edit::Delete(at, count) => {
                let at = at.index(size);
                tokens.drain(at..(at + count).min(size));
            }
            Edit::Replace(at, from) => tokens[at.index(size)] = tokens[from.index(size)].clone(),
            Edit::Swap(one, other) => tokens.swap(one.index(size), other.index(size)),
        }
    }
    tokens.concat()
}

/// Whether a text is a result, by serde alone: keys are borrowed, so that an escaped one is none.
fn is_result(text: &str) -> bool {
    // What is looked into below is looked into as raw text, so the whole has to be JSON first.
    serde_json::from_str::<Value>(text).is_ok()
        && exact(text, &["nodes", "edges", "fully_handled_span_ids", "partially_handled_span_ids"])
            .is_some_and(|parts| {
                items(parts[0]).is_some_and(|nodes| nodes.into_iter().all(is_node))
                    && items(parts[1]).is_some_and(|edges| edges.into_iter().all(is_edge))
                    && are_strings(parts[2])
                    && are_strings(parts[3])
            })
}

fn is_node(text: &str) -> bool {
    exact(text, &["node_id", "entity_name", "labels", "properties"]).is_some_and(|parts| {
        is_string(parts[0])
            && is_string(parts[1])
            && are_strings(parts[2])
            && are_properties(parts[3])
    })
}

fn is_edge(text: &str) -> bool {
    exact(text, &["edge_id", "relationship_name", "from_node_id", "to_node_id", "properties"])
        .is_some_and(|parts| {
            parts[..4].iter().all(|part| is_string(part)) && are_properties(parts[4])
        })
}

fn are_properties(text: &str) -> bool {
    items(text).is_some_and(|items| {
        items
            .into_iter()
            .all(|item| exact(item, &["name", "value"]).is_some_and(|parts| is_string(parts[0])))
    })
}

/// The values of an object with exactly these keys, in the order of `keys`.
fn exact<'a>(text: &'a str, keys: &[&str]) -> Option<Vec<&'a str>> {
    struct Members<'a>(Vec<(&'a str, &'a RawValue)>);
    impl<'de> serde::Deserialize<'de> for Members<'de> {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Members<'de>;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Self::Value, A::Error> {
                    let mut members = Vec::new();
                    while let Some(member) = map.next_entry()? {
                        members.push(member);
                    }
                    Ok(Members(members))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    let Members(members) = serde_json::from_str(text).ok()?;
    let by_key: BTreeMap<&str, &'a RawValue> = members.iter().copied().collect();
    if members.len() != keys.len() || by_key.len() != keys.len() {
        return None;
    }
    keys.iter().map(|key| by_key.get(key).map(|value| value.get())).collect()
}

fn items(text: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

fn is_string(text: &str) -> bool {
    serde_json::from_str::<String>(text).is_ok()
}

fn are_strings(text: &str) -> bool {
    serde_json::from_str::<Vec<String>>(text).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_check_accepts_exactly_what_serde_does(edits in prop::collection::vec(edit(), 0..5)) {
        let text = edited(&edits);
        let verdict = result::check(text.as_bytes());
        prop_assert_eq!(verdict.is_ok(), is_result(&text), "{:?}: {}", verdict, text);
        match verdict {
            Ok(shape) => {
                let found: Extraction = serde_json::from_str(&text).unwrap();
                prop_assert_eq!(
                    (shape.nodes, shape.edges, shape.fully_handled, shape.partially_handled),
                    (found.nodes.len(), found.edges.len(), found.fully_handled_span_ids.len(),
                     found.partially_handled_span_ids.len())
                );
            }
            Err(error) => {
                let is_json = serde_json::from_str::<Value>(&text).is_ok();
                let expected = if is_json { "result_wrong_shape" } else { error.code() };
                prop_assert_eq!(error.code(), expected, "{}", text);
            }
        }
    }

    #[test]
    fn the_check_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        prop_assert!(result::check(&bytes).is_err());
    }
}

#[test]
fn edits_leave_some_results_whole() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    assert!(is_result(RESULT));
    let mut whole = 0;
    for _ in 0..500 {
        let edits = prop::collection::vec(edit(), 1..4).new_tree(&mut runner).unwrap().current();
        let text = edited(&edits);
        whole += usize::from(text != RESULT && is_result(&text));
    }
    assert!(whole > 10, "{whole}");
}
