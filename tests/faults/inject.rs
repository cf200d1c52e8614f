//! Faults that models make, one at a time, wherever each applies.

use serde_json::{Value, json};

use super::case::{Case, path_of};

/// How many faults of one kind are made in one plan.
const MAX_PER_KIND: usize = 12;

/// A right plan with one fault.
pub(super) struct Fault {
    /// What a model would answer.
    pub(super) text: String,
    /// Where it is: pointers into the faulty plan, any of which names it.
    pub(super) places: Vec<String>,
    /// Why no gate can know, if none can. Told by rule: see the kind.
    pub(super) unknowable: Option<&'static str>,
    /// What it is about, for a list of those that slip through.
    pub(super) what: String,
}

/// A kind of fault.
pub(super) struct Kind {
    pub(super) name: &'static str,
    make: fn(&Case, &mut Vec<Fault>),
}

pub(super) const KINDS: &[Kind] = &[
    Kind { name: "typo in a path", make: typo },
    Kind { name: "missing segment", make: missing_segment },
    Kind { name: "extra segment", make: extra_segment },
    Kind { name: "wrong letter case", make: letter_case },
    Kind { name: "path as dotted string", make: dotted_path },
    Kind { name: "invented path", make: invented_path },
    Kind { name: "path of another type", make: other_type },
    Kind { name: "invented field", make: invented_field },
    Kind { name: "misspelt property", make: misspelt_property },
    Kind { name: "swapped fields", make: swapped },
    Kind { name: "missing required field", make: missing_field },
    Kind { name: "unknown field", make: unknown_field },
    Kind { name: "misspelt field", make: misspelt_field },
    Kind { name: "wrong JSON type", make: json_type },
    Kind { name: "duplicate property", make: duplicate },
    Kind { name: "invalid identifier", make: identifier },
    Kind { name: "wrong event type", make: event_type },
    Kind { name: "wrong entity", make: entity },
    Kind { name: "wrong key", make: wrong_key },
    Kind { name: "wrong session path", make: session },
    Kind { name: "wrong span path", make: span },
];

impl Kind {
    /// Every fault of this kind in the case's plan; of very many, some, evenly spread.
    pub(super) fn inject(&self, case: &Case) -> Vec<Fault> {
        let mut faults = Vec::new();
        (self.make)(case, &mut faults);
        let step = faults.len().div_ceil(MAX_PER_KIND).max(1);
        faults.into_iter().step_by(step).collect()
    }
}

const EXISTS: &str = "lands on another path that exists, of the same type";
const DEFAULT: &str = "is the default, which events need not have";
const NAMES_SAY_NOTHING: &str = "the names say nothing about which is which";
const SEVERAL_TYPES: &str = "is another event type that samples have";

/// The case's plan with something else at a place.
fn with(case: &Case, at: &str, value: Value) -> Value {
    let mut plan = case.plan.clone();
    *plan.pointer_mut(at).unwrap() = value;
    plan
}

fn fault(plan: &Value, place: impl Into<String>, what: impl Into<String>) -> Fault {
    let (places, what) = (vec![place.into()], what.into());
    Fault { text: plan.to_string(), places, unknowable: None, what }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// All paths of a plan: pointer, property (none for session and span) and path.
fn all_paths(case: &Case) -> Vec<(String, Option<String>, Vec<String>)> {
    let mut paths: Vec<_> = case
        .mappings()
        .into_iter()
        .map(|(at, it)| {
            (
                format!("{at}/source_path"),
                Some(text(&it["property_name"]).to_owned()),
                path_of(&it["source_path"]),
            )
        })
        .collect();
    for at in
        ["/session_id_path", "/span_handling/span_id_path", "/span_handling/partial_when_path"]
    {
        if let Some(path) = case.plan.pointer(at).filter(|it| it.is_array()) {
            paths.push((at.to_owned(), None, path_of(path)));
        }
    }
    paths
}

/// Another path at a place. No gate can know that it is wrong where it exists and holds values of the right type; a
/// session or span may be any scalar, and what decides about partial handling may be anything.
fn repath(case: &Case, at: &str, property: Option<&str>, path: &[String]) -> Fault {
    let right = match property {
        Some(name) => {
            case.is_valid(name, path) && (at != "/key_field/source_path" || case.has_scalar(path))
        }
        None => at.ends_with("partial_when_path") || case.has_scalar(path),
    };
    let mut fault = fault(&with(case, at, json!(path)), at, path.join("."));
    fault.unknowable = (case.exists(path) && right).then_some(EXISTS);
    let default = match at {
        "/session_id_path" => Some("session_id"),
        "/span_handling/span_id_path" => Some("span_id"),
        _ => None,
    };
    if default.is_some_and(|default| path == [default]) {
        fault.unknowable = Some(DEFAULT);
    }
    fault
}

/// Every path altered in some ways.
fn alter(case: &Case, faults: &mut Vec<Fault>, altered: impl Fn(&[String]) -> Vec<Vec<String>>) {
    for (at, property, path) in all_paths(case) {
        for other in altered(&path).into_iter().filter(|it| *it != path && !it.is_empty()) {
            faults.push(repath(case, &at, property.as_deref(), &other));
        }
    }
}

/// One segment in other letters.
fn each_segment(path: &[String], change: impl Fn(&str) -> String) -> Vec<Vec<String>> {
    let changed = |i: usize| {
        let mut path = path.to_vec();
        path[i] = change(&path[i]);
        path
    };
    (0..path.len()).map(changed).collect()
}

fn typo(case: &Case, faults: &mut Vec<Fault>) {
    // Two letters exchanged, one left out, one doubled.
    alter(case, faults, |path| each_segment(path, exchanged));
    alter(case, faults, |path| {
        each_segment(path, |it| {
            let middle = it.len() / 2;
            format!("{}{}", &it[..middle], &it[middle + 1..])
        })
    });
    alter(case, faults, |path| {
        each_segment(path, |it| format!("{}{}", &it[..2.min(it.len())], &it[1.min(it.len())..]))
    });
    faults.retain(|it| !it.what.split('.').any(str::is_empty));
}

fn exchanged(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    if let Some(i) = (1..letters.len()).rev().find(|i| letters[*i] != letters[i - 1]) {
        letters.swap(i, i - 1);
    }
    letters.into_iter().collect()
}

fn missing_segment(case: &Case, faults: &mut Vec<Fault>) {
    alter(case, faults, |path| {
        let without = |i: usize| [&path[..i], &path[i + 1..]].concat();
        (0..path.len()).map(without).collect()
    });
}

fn extra_segment(case: &Case, faults: &mut Vec<Fault>) {
    alter(case, faults, |path| {
        let with = |(i, word): (usize, &str)| [&path[..i], &[word.to_owned()], &path[i..]].concat();
        let last = path.len();
        [(0, "event"), (0, "payload"), (last - 1, "attributes"), (last, "value")].map(with).into()
    });
}

fn letter_case(case: &Case, faults: &mut Vec<Fault>) {
    alter(case, faults, |path| each_segment(path, camel));
    alter(case, faults, |path| vec![path.iter().map(|it| it.to_uppercase()).collect()]);
    alter(case, faults, |path| each_segment(path, |it| it[..1].to_uppercase() + &it[1..]));
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        name + &word[..1.min(word.len())].to_uppercase() + &word[1.min(word.len())..]
    })
}

fn dotted_path(case: &Case, faults: &mut Vec<Fault>) {
    for (at, _, path) in all_paths(case) {
        let joined = path.join(".");
        let forms = [
            json!(joined),
            json!([joined]),
            json!(format!("$.{joined}")),
            json!(format!("/{}", path.join("/"))),
        ];
        for form in forms.into_iter().filter(|form| *form != json!(path)) {
            faults.push(fault(&with(case, &at, form.clone()), &at, form.to_string()));
        }
    }
}

fn invented_path(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let name = text(&it["property_name"]);
        for path in [
            vec!["payload", name],
            vec!["details", "fields", name],
            vec!["data", "attributes", "value_1"],
        ] {
            let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
            faults.push(repath(case, &format!("{at}/source_path"), Some(name), &path));
        }
    }
}

fn other_type(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let name = text(&it["property_name"]);
        let others = all_paths(case).into_iter().map(|(_, _, path)| path);
        let wrong = others.filter(|path| case.has_scalar(path) && !case.is_valid(name, path));
        let objects = path_of(&it["source_path"]);
        let parent = objects.split_last().map(|(_, it)| it.to_vec()).filter(|it| !it.is_empty());
        for path in wrong.take(3).chain(parent) {
            faults.push(repath(case, &format!("{at}/source_path"), Some(name), &path));
        }
    }
}

fn invented_field(case: &Case, faults: &mut Vec<Fault>) {
    let (_, key) = &case.mappings()[0];
    let mut somewhere =
        case.plan.pointer("/session_id_path").cloned().unwrap_or(json!(["session_id"]));
    if !case.exists(&path_of(&somewhere)) {
        somewhere = key["source_path"].clone();
    }
    for (name, path) in [
        ("severity_level", somewhere),
        ("raw_event_json", json!(["event_type"])),
        ("sentiment", json!(["content", "sentiment"])),
        ("hypothesis", json!(["analysis", "hypothesis", "text"])),
    ] {
        for first in [true, false] {
            let mut plan = case.plan.clone();
            let fields = plan["property_fields"].as_array_mut().unwrap();
            let index = if first { 0 } else { fields.len() };
            fields.insert(index, json!({"property_name": name, "source_path": path}));
            faults.push(fault(&plan, format!("/property_fields/{index}"), name));
        }
    }
}

fn misspelt_property(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let name = text(&it["property_name"]);
        for other in [camel(name), exchanged(name), format!("{name}s")] {
            let place = format!("{at}/property_name");
            if other != name && !case.mappings().iter().any(|(_, it)| it["property_name"] == other)
            {
                faults.push(fault(&with(case, &place, json!(other)), place, other));
            }
        }
    }
}

/// Two properties of one type with each other's paths. Their names say which is which where each is the end of its path,
/// as `id` and `issue_id` are of `issue.id`, and not of the other's.
fn swapped(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    for (i, (one_at, one)) in mappings.iter().enumerate() {
        for (other_at, other) in &mappings[i + 1..] {
            let [a, b] =
                [one, other].map(|it| (text(&it["property_name"]), path_of(&it["source_path"])));
            let fits = case.is_valid(a.0, &b.1) && case.is_valid(b.0, &a.1);
            if a.1 == b.1 || !fits {
                continue;
            }
            let places = [one_at, other_at].map(|at| format!("{at}/source_path"));
            let mut plan = with(case, &places[0], json!(b.1));
            *plan.pointer_mut(&places[1]).unwrap() = json!(a.1);
            let mut fault = fault(&plan, "", format!("{} and {}", a.0, b.0));
            fault.places = places.into();
            let tells = |(name, path): &(&str, Vec<String>), other: &[String]| {
                let ends = |path: &[String]| {
                    (0..path.len()).any(|from| path[from..].join("_").eq_ignore_ascii_case(name))
                };
                ends(path) && !other.iter().any(|segment| segment == name) && !ends(other)
            };
            let clear = tells(&a, &b.1) && tells(&b, &a.1);
            fault.unknowable = (!clear).then_some(NAMES_SAY_NOTHING);
            faults.push(fault);
        }
    }
}

fn missing_field(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    let inner = mappings
        .iter()
        .flat_map(|(at, _)| ["property_name", "source_path"].map(|name| (at.as_str(), name)));
    let outer =
        ["event_type", "target_entity_name", "function_name", "key_field"].map(|name| ("", name));
    for (at, name) in outer.into_iter().chain(inner) {
        let mut plan = case.plan.clone();
        plan.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(name);
        faults.push(fault(&plan, format!("{at}/{name}"), name));
    }
}

fn unknown_field(case: &Case, faults: &mut Vec<Fault>) {
    let mut places =
        vec![("".to_owned(), "description"), ("".to_owned(), "version"), ("".to_owned(), "edges")];
    for (at, _) in case.mappings() {
        places.extend([(at.clone(), "type"), (at.clone(), "required"), (at, "comment")]);
    }
    for (at, name) in places {
        let mut plan = case.plan.clone();
        plan.pointer_mut(&at).unwrap()[name] = json!("string");
        faults.push(fault(&plan, format!("{at}/{name}"), name));
    }
}

fn misspelt_field(case: &Case, faults: &mut Vec<Fault>) {
    let mut places = vec![
        (String::new(), "event_type", "eventType"),
        (String::new(), "target_entity_name", "entity"),
        (String::new(), "target_entity_name", "target_entity"),
        (String::new(), "function_name", "function"),
        (String::new(), "key_field", "key"),
        (String::new(), "key_field", "keyField"),
        (String::new(), "property_fields", "properties"),
        (String::new(), "property_fields", "fields"),
        (String::new(), "session_id_path", "session_path"),
        (String::new(), "span_handling", "span"),
    ];
    for (at, _) in case.mappings() {
        for (name, other) in [
            ("property_name", "name"),
            ("property_name", "propertyName"),
            ("source_path", "path"),
            ("source_path", "source_paths"),
        ] {
            places.push((at.clone(), name, other));
        }
    }
    for (at, name, other) in places {
        let mut plan = case.plan.clone();
        let fields = plan.pointer_mut(&at).unwrap().as_object_mut().unwrap();
        let Some(value) = fields.remove(name) else { continue };
        fields.insert(other.to_owned(), value);
        faults.push(fault(&plan, format!("{at}/{other}"), other));
    }
}

fn json_type(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let path = format!("{at}/source_path");
        faults.push(fault(&with(case, &path, Value::Null), path, "null for a path"));
        let name = format!("{at}/property_name");
        faults.push(fault(&with(case, &name, Value::Null), name, "null for a name"));
        if at != "/key_field" {
            let mut nulls = case.plan.clone();
            nulls.pointer_mut(&at).unwrap()["nulls"] = Value::Null;
            faults.push(fault(&nulls, format!("{at}/nulls"), "null for nulls"));
            let mut wrapped = it.clone();
            wrapped["source_path"] = json!([it["source_path"][0], 7]);
            faults.push(fault(
                &with(case, &at, wrapped),
                format!("{at}/source_path"),
                "a number in a path",
            ));
        }
    }
    let mappings = case.mappings();
    let map: serde_json::Map<String, Value> = mappings[1..]
        .iter()
        .map(|(_, it)| (text(&it["property_name"]).to_owned(), it["source_path"].clone()))
        .collect();
    let in_order = map.keys().eq(mappings[1..].iter().map(|(_, it)| text(&it["property_name"])));
    if in_order {
        faults.push(fault(
            &with(case, "/property_fields", Value::Object(map)),
            "/property_fields",
            "a map of properties",
        ));
    }
    let key = json!([case.plan["key_field"]]);
    faults.push(fault(&with(case, "/key_field", key), "/key_field", "a list of keys"));
    if case.plan["session_id_path"] == json!(["session_id"]) {
        faults.push(fault(
            &with(case, "/session_id_path", Value::Null),
            "/session_id_path",
            "null for the session",
        ));
        faults.push(fault(
            &with(case, "/session_id_path", json!([])),
            "/session_id_path",
            "an empty session path",
        ));
    }
    faults.push(fault(&json!([case.plan]), "", "a list of plans"));
    faults.push(fault(&json!({"plan": case.plan}), "", "a plan inside of an object"));
}

fn duplicate(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    for (i, (_, it)) in mappings.iter().enumerate() {
        let (_, next) = mappings[(i + 1) % mappings.len()];
        for path in [&it["source_path"], &next["source_path"]] {
            let mut plan = case.plan.clone();
            let fields = plan["property_fields"].as_array_mut().unwrap();
            fields.push(json!({"property_name": it["property_name"], "source_path": path}));
            let place = format!("/property_fields/{}", fields.len() - 1);
            faults.push(fault(&plan, place, text(&it["property_name"])));
        }
    }
}

fn identifier(case: &Case, faults: &mut Vec<Fault>) {
    let function = text(&case.plan["function_name"]);
    for other in [function.replace('_', "-"), format!("{function}()"), "fn".to_owned()] {
        faults.push(fault(&with(case, "/function_name", json!(other)), "/function_name", other));
    }
    for (at, it) in case.mappings() {
        let (name, at) = (text(&it["property_name"]), format!("{at}/property_name"));
        for other in
            [name.replace('_', "-"), name.replace('_', " "), format!("{}.{name}", case.entity())]
        {
            if other != name {
                faults.push(fault(&with(case, &at, json!(other)), &at, other));
            }
        }
    }
}

fn event_type(case: &Case, faults: &mut Vec<Fault>) {
    let name = case.event_type();
    let capital = name[..1].to_uppercase() + &name[1..];
    let family = name.split(['.', '_']).next().unwrap_or_default();
    let others = [
        name.to_uppercase(),
        name.to_lowercase(),
        capital,
        name.replace('.', "_"),
        name.replace('.', "/"),
        exchanged(name),
        format!("{name}s"),
        format!("github.{name}"),
        family.to_owned(),
        "unknown_event".to_owned(),
    ];
    let existing = case.task.evidence().event_types().map(|(it, _)| it.to_owned()).take(3);
    for other in others.into_iter().chain(existing).filter(|it| it != name) {
        let mut fault = fault(&with(case, "/event_type", json!(other)), "/event_type", &other);
        fault.unknowable = case.task.evidence().of(&other).is_some().then_some(SEVERAL_TYPES);
        faults.push(fault);
    }
}

fn entity(case: &Case, faults: &mut Vec<Fault>) {
    let name = case.entity();
    let others = [
        name.to_lowercase(),
        name.to_uppercase(),
        exchanged(name),
        format!("{name}Node"),
        format!("{name}s"),
        "Thing".to_owned(),
    ];
    for other in others.into_iter().filter(|it| it != name) {
        faults.push(fault(
            &with(case, "/target_entity_name", json!(other)),
            "/target_entity_name",
            other,
        ));
    }
}

/// Another property as the key: by name alone, in exchange with the key, or in its place; or a name that isn't one.
fn wrong_key(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    let key = mappings[0].1.clone();
    for (at, other) in &mappings[1..] {
        let name = &other["property_name"];
        let mut renamed = fault(
            &with(case, "/key_field/property_name", name.clone()),
            "/key_field",
            format!("{name} for the key"),
        );
        renamed.places.push(at.clone());
        faults.push(renamed);
        let mut plan = with(case, "/key_field", (*other).clone());
        *plan.pointer_mut(at).unwrap() = key.clone();
        faults.push(fault(&plan, "/key_field", format!("{name} exchanged with the key")));
    }
    for name in ["id", "uuid", "primary_key"] {
        if case.task.graph().entity(case.entity()).is_some_and(|it| it.property(name).is_none()) {
            faults.push(fault(
                &with(case, "/key_field/property_name", json!(name)),
                "/key_field",
                name,
            ));
        }
    }
}

fn session(case: &Case, faults: &mut Vec<Fault>) {
    let others: [&[&str]; 7] = [
        &["sessionId"],
        &["session"],
        &["content", "session_id"],
        &["context", "session", "id"],
        &["conversation_id"],
        &["content"],
        &["span_id"],
    ];
    role(case, faults, "/session_id_path", &others);
}

fn span(case: &Case, faults: &mut Vec<Fault>) {
    let others: [&[&str]; 6] = [
        &["spanId"],
        &["span"],
        &["content", "span_id"],
        &["trace", "span", "id"],
        &["content"],
        &["session_id"],
    ];
    role(case, faults, "/span_handling/span_id_path", &others);
}

fn role(case: &Case, faults: &mut Vec<Fault>, at: &str, others: &[&[&str]]) {
    let Some(right) = case.plan.pointer(at) else { return };
    for other in others {
        let path: Vec<String> = other.iter().map(|it| (*it).to_owned()).collect();
        if json!(path) != *right {
            faults.push(repath(case, at, None, &path));
        }
    }
}
