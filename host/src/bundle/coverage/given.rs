//! What samples gave, noted sample by sample in bounded memory.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::bundle::origin::{edge_rule, node_rule};
use crate::diagnostics::untrusted::sanitize;
use crate::evidence::Sample;
use crate::graph::extraction::{Extraction, Property};
use crate::plan::Plan;

/// How many values are shown of a property.
const MAX_EXAMPLES: usize = 3;

/// How long a value may be that is shown, in characters.
pub(super) const EXAMPLE_CHARS: usize = 80;

/// How many values are told apart, of all properties together.
const MAX_DISTINCT: usize = 200_000;

/// How many properties are told apart: those of guests without a plan have no end.
const MAX_PROPERTIES: usize = 10_000;

/// How many samples are kept in which a conversion failed.
const MAX_FAILED: usize = 20;

/// What has a property: a rule of the plan, or what a module calls it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Node(usize),
    Edge(usize),
    Named(String),
}

/// What is known of a property.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) samples: u64,
    pub(super) distinct: u64,
    pub(super) examples: Vec<String>,
    hashes: HashSet<u64>,
    last_line: usize,
}

/// What all samples of a run gave.
#[derive(Clone, Debug, Default)]
pub(in crate::bundle) struct Given {
    pub(super) samples: u64,
    pub(super) nonempty: u64,
    pub(super) properties: BTreeMap<(Owner, String), Seen>,
    pub(super) failed_conversions: u64,
    /// The lines of samples in which a conversion failed: the first ones, and how many there were.
    pub(super) failed_lines: Vec<usize>,
    pub(super) failed_samples: u64,
    pub(super) dropped_duplicates: u64,
    pub(super) dropped_samples: u64,
    /// Of the samples that gave something: their texts, and what they gave but for ids.
    pub(super) texts: HashSet<u64>,
    pub(super) results: HashSet<u64>,
    distinct: usize,
}

impl Given {
    pub(in crate::bundle) fn note(
        &mut self,
        plan: Option<&Plan>,
        sample: &Sample,
        result: &Extraction,
        failed_conversions: u32,
        dropped_duplicates: u32,
    ) {
        self.samples += 1;
        if failed_conversions > 0 {
            self.failed_conversions += u64::from(failed_conversions);
            self.failed_samples += 1;
            if self.failed_lines.len() < MAX_FAILED {
                self.failed_lines.push(sample.line());
            }
        }
        self.dropped_duplicates += u64::from(dropped_duplicates);
        self.dropped_samples += u64::from(dropped_duplicates > 0);
        if result.nodes.is_empty() && result.edges.is_empty() {
            return;
        }
        self.nonempty += 1;
        self.texts.insert(hash(sample.text().trim()));
        let mut whole = DefaultHasher::new();
        for node in &result.nodes {
            let rule = plan.and_then(|plan| node_rule(plan, node)).map(Owner::Node);
            let owner = rule.unwrap_or_else(|| Owner::Named(node.entity_name.clone()));
            node.entity_name.hash(&mut whole);
            self.properties(&owner, &node.properties, sample.line(), &mut whole);
        }
        for edge in &result.edges {
            let rule = plan.and_then(|plan| edge_rule(plan, edge)).map(Owner::Edge);
            let owner = rule.unwrap_or_else(|| Owner::Named(edge.relationship_name.clone()));
            edge.relationship_name.hash(&mut whole);
            self.properties(&owner, &edge.properties, sample.line(), &mut whole);
        }
        self.results.insert(whole.finish());
    }

    fn properties(
        &mut self,
        owner: &Owner,
        properties: &[Property],
        line: usize,
        whole: &mut DefaultHasher,
    ) {
        for Property { name, value } in properties {
            let text = value.to_string();
            (name, &text).hash(whole);
            let key = (owner.clone(), name.clone());
            if self.properties.len() >= MAX_PROPERTIES && !self.properties.contains_key(&key) {
                continue;
            }
            let seen = self.properties.entry(key).or_default();
            if *value == Value::Null {
                continue;
            }
            seen.samples += u64::from(seen.last_line != line);
            seen.last_line = line;
            if self.distinct < MAX_DISTINCT && seen.hashes.insert(hash(&text)) {
                self.distinct += 1;
                seen.distinct += 1;
                if seen.examples.len() < MAX_EXAMPLES {
                    seen.examples.push(sanitize(&text, EXAMPLE_CHARS));
                }
            }
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
