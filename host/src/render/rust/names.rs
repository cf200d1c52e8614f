//! Names of inputs, columns and iterations, after what they are for.

use std::collections::{HashMap, HashSet};

use crate::abi::section::{Input, InputKind, Section};
use crate::plan::expr::Source;
use crate::render::inputs::InputSlot;
use crate::render::lower::{EventFilter, Lowered, LoweredProperty, LoweredValue, NodeId};

/// Words that can't be names.
pub(super) const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Names of crates and types, which mean these to the source gate or in what declarations become.
pub(super) const TAKEN: &[&str] = &["alloc", "core", "retort_guest", "std", "str", "usize"];

/// Longest name that is made of a key.
const MAX_NAME: usize = 40;

/// The names of a declaration.
pub(super) struct Names {
    /// Of the inputs, by their place in the section.
    pub(super) inputs: Vec<String>,
    pub(super) rows: Vec<String>,
    /// The places of inputs by their iteration and slot.
    places: HashMap<(Option<usize>, InputSlot), usize>,
}

impl Names {
    pub(super) fn of(lowered: &Lowered<'_>, section: &Section) -> Self {
        let mut places = HashMap::new();
        for (place, input) in section.inputs().iter().enumerate() {
            places.insert((input.rows, lowered.inputs.slot(place)), place);
        }
        let wishes = Wishes::of(lowered, &places);
        let mut names =
            Self { inputs: vec![String::new(); section.inputs().len()], rows: Vec::new(), places };
        // What is taken: of the event with the iterations, and in the rows of each.
        let mut of_event: HashSet<String> = HashSet::new();
        let mut of_rows = vec![HashSet::new(); section.rows().len()];
        // Tests first, of which no two have the same name: others depend on them by it.
        let mut tests = HashSet::new();
        let all = section.inputs().iter().enumerate();
        let (first, rest): (Vec<_>, Vec<_>) = all.partition(|(_, input)| input.is_test());
        for (place, input) in first {
            let wish = wishes.of_input(place, input);
            let name = free(&wish, |name| !tests.contains(name));
            tests.insert(name.clone());
            names.inputs[place] = name;
        }
        of_event.extend(tests.iter().cloned());
        for row in section.rows() {
            let path = row.iteration.path();
            let wish = identifier(path.last().map_or("rows", String::as_str), "rows");
            let name = free(&wish, |name| !of_event.contains(name));
            of_event.insert(name.clone());
            names.rows.push(name);
        }
        for (place, input) in rest {
            let taken = match input.rows.and_then(|rows| of_rows.get_mut(rows)) {
                Some(of_row) => of_row,
                None => &mut of_event,
            };
            let wish = wishes.of_input(place, input);
            let name = free(&wish, |name| !taken.contains(name) && !tests.contains(name));
            taken.insert(name.clone());
            names.inputs[place] = name;
        }
        names
    }

    /// The value in a slot, in a function that goes over these rows.
    pub(super) fn value(&self, rows: Option<usize>, slot: InputSlot) -> String {
        for (of, variable) in [(rows, "row"), (None, "event")] {
            if let Some(place) = self.places.get(&(of, slot)) {
                let variable = if of.is_some() { variable } else { "event" };
                return format!("{variable}.{}", self.inputs[*place]);
            }
        }
        // Every slot is that of an input.
        "Value::ABSENT".to_owned()
    }
}

/// A name that isn't taken: the one that is wished for, or with a number behind it.
pub(super) fn free(wish: &str, is_free: impl Fn(&str) -> bool) -> String {
    if is_free(wish) {
        return wish.to_owned();
    }
    let mut numbered = (2_u32..).map(|number| format!("{wish}_{number}"));
    numbered.find(|name| is_free(name)).unwrap_or_default()
}

/// A key as an identifier in snake case.
pub(super) fn identifier(key: &str, otherwise: &str) -> String {
    let mut name = String::new();
    let mut before = '_';
    for character in key.chars().take(MAX_NAME) {
        if !character.is_ascii_alphanumeric() {
            if before != '_' {
                name.push('_');
            }
            before = '_';
            continue;
        }
        if character.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || before.is_ascii_digit())
        {
            name.push('_');
        }
        name.push(character.to_ascii_lowercase());
        before = character;
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() {
        return otherwise.to_owned();
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return format!("{otherwise}_{name}");
    }
    let is_taken = KEYWORDS.contains(&name) || TAKEN.contains(&name);
    if is_taken { format!("{name}_") } else { name.to_owned() }
}

/// What inputs are for, by their place.
struct Wishes(HashMap<usize, String>);

impl Wishes {
    fn of(lowered: &Lowered<'_>, places: &HashMap<(Option<usize>, InputSlot), usize>) -> Self {
        let mut wishes = HashMap::new();
        let mut wish = |rows: Option<usize>, slot: InputSlot, name: &str| {
            let place = places.get(&(rows, slot)).or_else(|| places.get(&(None, slot)));
            if let Some(place) = place {
                wishes.entry(*place).or_insert_with(|| identifier(name, "value"));
            }
        };
        wish(None, lowered.session, "session");
        match lowered.filter {
            EventFilter::Type(_, slot) => wish(None, slot, "event_type"),
            EventFilter::Flag(slot) => wish(None, slot, "is_wanted"),
        }
        let mut of_id = |rows, id: &NodeId<'_>| {
            for (name, value) in &id.keys {
                if let LoweredValue::Slot(slot) = value {
                    wish(rows, *slot, name);
                }
            }
        };
        for node in &lowered.nodes {
            of_id(node.rows, &node.id);
        }
        for edge in &lowered.edges {
            of_id(edge.rows, &edge.from);
            of_id(edge.rows, &edge.to);
        }
        let mut of_properties = |rows, properties: &[LoweredProperty<'_>]| {
            for property in properties {
                if let LoweredValue::Slot(slot) = &property.value {
                    wish(rows, *slot, property.field.property_name());
                }
            }
        };
        lowered.nodes.iter().for_each(|node| of_properties(node.rows, &node.properties));
        lowered.edges.iter().for_each(|edge| of_properties(edge.rows, &edge.properties));
        for edge in &lowered.edges {
            if let Some(slot) = edge.edge_id {
                wish(edge.rows, slot, "edge_id");
            }
        }
        for claim in &lowered.claims {
            wish(claim.rows, claim.id, "span_id");
            wish(claim.rows, claim.truthy, "has_span");
            if let Some(partial) = claim.partial {
                wish(claim.rows, partial, "is_partial");
            }
        }
        Self(wishes)
    }

    fn of_input(&self, place: usize, input: &Input) -> String {
        if let Some(wish) = self.0.get(&place) {
            return wish.clone();
        }
        match &input.what {
            InputKind::When(_) => "when".to_owned(),
            InputKind::Truthy(reference) => {
                format!(
                    "has_{}",
                    identifier(reference.path.last().map_or("", String::as_str), "value")
                )
            }
            InputKind::Value(value) => match &value.source {
                Source::Path(reference) => {
                    identifier(reference.path.last().map_or("", String::as_str), "value")
                }
                _ => "value".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn keys_become_names() {
        for (key, name) in [
            ("orderId", "order_id"),
            ("gen_ai.model", "gen_ai_model"),
            ("type", "type_"),
            ("2nd", "x_2nd"),
            ("", "x"),
            ("é", "x"),
            ("HTTPStatus", "httpstatus"),
            ("__a--b__", "a_b"),
        ] {
            assert_eq!(identifier(key, "x"), name, "{key}");
        }
    }
}
