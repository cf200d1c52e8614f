//! Random plans, and events that are made for them.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use retort::plan::{self, Plan};
use serde_json::{Value, json};

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
    // Alike in what the projector compares first: a sketch of length and ends, and the first eight bytes.
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
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

pub(super) fn plan() -> impl Strategy<Value = Plan> {
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
pub(super) struct Draft {
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

pub(super) fn draft() -> impl Strategy<Value = Draft> {
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
pub(super) fn event(plan: &Plan, draft: &Draft) -> String {
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
