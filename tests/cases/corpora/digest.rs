//! What results look like without what is in them: names, counts and hashes.

use std::collections::BTreeMap;
use std::fmt;

use retort::graph::{Extraction, Property};
use sha2::{Digest as _, Sha256};

/// Results that are shown by themselves, evenly spread.
const SAMPLE: usize = 20;
/// Bytes of a hash that are shown.
const SHOWN: usize = 8;

/// The results of one rule.
#[derive(Default)]
pub(super) struct Digest {
    /// Of so many results one is shown by itself.
    step: usize,
    events: usize,
    declined: usize,
    spans: [usize; 2],
    nodes: BTreeMap<String, Counts>,
    edges: BTreeMap<String, Counts>,
    sample: Vec<String>,
    all: Sha256,
}

/// How many there are, and how many of them have which property.
#[derive(Default)]
struct Counts {
    all: usize,
    properties: BTreeMap<String, usize>,
}

impl Counts {
    fn add(&mut self, properties: &[Property]) {
        self.all += 1;
        for property in properties {
            *self.properties.entry(property.name.clone()).or_default() += 1;
        }
    }
}

impl Digest {
    /// For so many results.
    pub(super) fn new(results: usize) -> Self {
        Self { step: results.div_ceil(SAMPLE), ..Self::default() }
    }

    /// Counts the next event's result.
    pub(super) fn add(&mut self, result: &Extraction) {
        let text = serde_json::to_vec(result).unwrap();
        if self.events.is_multiple_of(self.step) {
            let hash = hex(&Sha256::digest(&text));
            self.sample.push(format!("{:>4}: {}{hash}\n", self.events, shape(result)));
        }
        self.events += 1;
        self.declined += usize::from(result.is_empty());
        self.spans[0] += result.fully_handled_span_ids.len();
        self.spans[1] += result.partially_handled_span_ids.len();
        for node in &result.nodes {
            self.nodes.entry(node.entity_name.clone()).or_default().add(&node.properties);
        }
        for edge in &result.edges {
            self.edges.entry(edge.relationship_name.clone()).or_default().add(&edge.properties);
        }
        self.all.update(&text);
        self.all.update(b"\n");
    }
}

/// The nodes and edges of a result by name, with the number of their properties.
fn shape(result: &Extraction) -> String {
    let nodes = result.nodes.iter().map(|it| (&it.entity_name, it.properties.len()));
    let edges = result.edges.iter().map(|it| (&it.relationship_name, it.properties.len()));
    let mut counts: BTreeMap<(bool, &String, usize), usize> = BTreeMap::new();
    for (is_edge, (name, properties)) in
        nodes.map(|it| (false, it)).chain(edges.map(|it| (true, it)))
    {
        *counts.entry((is_edge, name, properties)).or_default() += 1;
    }
    let one = |((_, name, properties), count): (&(bool, &String, usize), &usize)| match count {
        1 => format!("{name}({properties}) "),
        count => format!("{count} {name}({properties}) "),
    };
    counts.iter().map(one).collect()
}

fn hex(hash: &[u8]) -> String {
    hash.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { events, declined, spans: [full, partial], .. } = self;
        writeln!(
            f,
            "{events} events, {declined} declined; spans: {full} fully handled, {partial} partially"
        )?;
        for (name, counts) in self.nodes.iter().chain(&self.edges) {
            write!(f, "{name} {}", counts.all)?;
            for (i, (property, count)) in counts.properties.iter().enumerate() {
                write!(f, "{} {property} {count}", if i == 0 { ":" } else { "," })?;
            }
            writeln!(f)?;
        }
        writeln!(f, "all results: {}", hex(&self.all.clone().finalize()))?;
        self.sample.iter().try_for_each(|line| f.write_str(line))
    }
}
