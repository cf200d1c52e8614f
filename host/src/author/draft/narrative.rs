//! What the sentences of a rule say about session, span, free text and properties.

use super::brief::{Brief, Said};
use super::children::is_about_child;
use super::lookup::Lookup;
use super::prose::{clauses, mentions, paths, sentences};
use crate::evidence::matching::{Word, words};
use crate::graph::spec::{Entity, GraphSpec};

/// How alike words of a clause and of a property's name have to be for the clause to be about the property.
const SAME: f64 = 0.9;

/// What it costs to see whether a sentence is about a property, in steps, and for each of its bytes.
const PROPERTY: u64 = 500;
const READING: u64 = 40;

/// Gives what the prose says to what it is about, where the rule's structure hasn't said it already.
pub(super) fn add(brief: &mut Brief, graph: &GraphSpec, entity: &Entity, lookup: Lookup<'_>) {
    let mut sentences: Vec<String> = brief.prose.iter().flat_map(|text| sentences(text)).collect();
    sentences.retain(|sentence| !is_about_child(sentence, graph, entity, lookup));
    let (mut session, mut span, mut partial) = (Said::default(), Said::default(), Said::default());
    for sentence in &sentences {
        if is_about_free_text(sentence) {
            partial.text.push(sentence.clone());
            partial.path =
                partial.path.take().or_else(|| paths(sentence, lookup).into_iter().next());
            continue;
        }
        if sentence.to_lowercase().contains("partly") || sentence.to_lowercase().contains("partial")
        {
            partial.text.push(sentence.clone());
            continue;
        }
        for clause in clauses(sentence) {
            let clause_words = words(clause);
            for (role, name) in [(&mut session, "session"), (&mut span, "span")] {
                if clause_words.iter().any(|word| word.is_one_of(&[name])) {
                    // One clause may tell both: `the session is a.b and the span c.d` has been parted before.
                    role.path =
                        role.path.take().or_else(|| paths(clause, lookup).into_iter().next());
                    role.text.push(clause.to_owned());
                }
            }
        }
        key(brief, sentence, entity, lookup);
        properties(brief, sentence, entity, lookup);
    }
    for (role, said) in
        [(&mut brief.session, session), (&mut brief.span, span), (&mut brief.partial, partial)]
    {
        if *role == Said::default() {
            *role = said;
        }
    }
}

fn is_about_free_text(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    ["free text", "free-text", "freetext", "free form", "free-form"]
        .iter()
        .any(|it| lower.contains(it))
}

/// `The order's id, content.id, identifies it.`
fn key(brief: &mut Brief, sentence: &str, entity: &Entity, lookup: Lookup<'_>) {
    let identifies = words(sentence)
        .iter()
        .any(|word| word.is_one_of(&["identifies", "key", "identity", "unique"]));
    let Some(key) = entity.key_properties().next().filter(|_| identifies) else { return };
    let said = brief.properties.entry(key.logical_name.clone()).or_default();
    if let [path] = paths(sentence, lookup).as_slice() {
        said.path.get_or_insert_with(|| path.clone());
    }
    if said.text.is_empty() {
        let first = sentence.split(';').next().unwrap_or_default();
        said.text.push(first.to_owned());
    }
}

fn properties(brief: &mut Brief, sentence: &str, entity: &Entity, lookup: Lookup<'_>) {
    for property in entity.properties.iter() {
        let name = &property.logical_name;
        // A sentence is taken apart for each property.
        if !lookup.effort.take(PROPERTY + READING * sentence.len() as u64) {
            return;
        }
        let named = words(name);
        // A list of the properties that are wanted says which.
        if brief.lists_properties && !brief.properties.contains_key(name) {
            continue;
        }
        let said = brief.properties.get(name).cloned().unwrap_or_default();
        let by_name = name.contains('_') || sentence.contains(&format!("`{name}`"));
        if by_name && mentions(sentence, name) {
            let mut said = said;
            if let [path] = paths(sentence, lookup).as_slice() {
                said.path.get_or_insert_with(|| path.clone());
            }
            said.text.push(sentence.replace(name.as_str(), " "));
            brief.properties.insert(name.clone(), said);
            continue;
        }
        if said != Said::default() {
            continue;
        }
        for clause in clauses(sentence) {
            let clause_words = words(clause);
            if named.iter().all(|word| has(&clause_words, word, lookup)) {
                let mut said = Said { text: vec![clause.to_owned()], ..Said::default() };
                if let [path] = paths(clause, lookup).as_slice() {
                    said.path = Some(path.clone());
                }
                brief.properties.insert(name.clone(), said);
                break;
            }
        }
    }
}

fn has(words: &[Word], wanted: &Word, lookup: Lookup<'_>) -> bool {
    words.iter().any(|word| word.alike(wanted, lookup.effort) >= SAME)
}
