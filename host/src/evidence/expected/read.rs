//! Expected results as they are read: each line for one sample, by names that are declared.

use std::collections::BTreeMap;

use serde::de::DeserializeSeed;
use serde_json::{Map, Value};

use super::{
    ExpectedEdge, ExpectedEnd, ExpectedError, ExpectedNode, ExpectedResult, ExpectedSample, digest,
};
use crate::diagnostics::untrusted::{escaped, quoted, sanitize};
use crate::diagnostics::wording::{self, expected_first, json_in_line};
use crate::evidence::{Sample, Samples};
use crate::graph::spec::{Entity, GraphSpec, PropertySpec};
use crate::json::document::DocumentKind;
use crate::json::tally::Tally;

/// The fewest digits of a digest that name a sample.
const MIN_DIGEST_DIGITS: usize = 8;

/// All digits of a digest.
const MAX_DIGEST_DIGITS: usize = 64;

/// How much of a reader's message, which may quote the line, is repeated.
const MESSAGE_CHARS: usize = 400;

/// What is said of a line that is only a part of something.
const ONE_A_LINE: &str = "expected results are one JSON object a line";

pub(super) fn entries(
    text: &str,
    origin: &str,
    samples: &Samples,
    graph: Option<&GraphSpec>,
) -> Result<Vec<ExpectedSample>, ExpectedError> {
    let kind = DocumentKind::Expected;
    let too_large = |what, allowed| {
        let origin = origin.to_owned();
        Err(ExpectedError::TooLarge { origin, what, allowed })
    };
    if text.len() > kind.max_bytes() {
        return too_large("bytes", kind.max_bytes());
    }
    let max_values = kind.max_values().unwrap_or(usize::MAX);
    let mut tally = Tally::new(max_values);
    let mut digests = None;
    let mut entries: Vec<ExpectedSample> = Vec::new();
    let mut lines: BTreeMap<usize, usize> = BTreeMap::new();
    for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
        let line = Line { origin, number: index + 1, graph };
        // Before a tree of it is built.
        let counted = tally.deserialize(&mut serde_json::Deserializer::from_str(text));
        if counted.is_err() && tally.is_exceeded() {
            return too_large("JSON values", max_values);
        }
        let result = line.read(text)?;
        let sample = line.sample(&result, samples, &mut digests)?.line();
        if let Some(first) = lines.insert(sample, line.number) {
            let (origin, line) = (origin.to_owned(), line.number);
            return Err(ExpectedError::SampleTwice { origin, line, first, sample });
        }
        line.check(&result)?;
        entries.push(ExpectedSample { sample, result });
    }
    if entries.is_empty() {
        return Err(ExpectedError::Empty { origin: origin.to_owned() });
    }
    Ok(entries)
}

/// The digests of all samples, once they are asked for, with the samples.
type Digests<'s> = Option<Vec<(String, &'s Sample)>>;

/// A line of the file.
struct Line<'a> {
    origin: &'a str,
    number: usize,
    graph: Option<&'a GraphSpec>,
}

impl Line<'_> {
    fn invalid(&self, path: impl Into<String>, message: impl Into<String>) -> ExpectedError {
        let (path, message) = (path.into(), message.into());
        ExpectedError::Invalid { origin: self.origin.to_owned(), line: self.number, path, message }
    }

    fn read(&self, text: &str) -> Result<ExpectedResult, ExpectedError> {
        if !text.trim_start().starts_with('{') {
            // A derived reader would take a list for an object's fields in order.
            if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
                return Err(self.invalid("", json_in_line(text, &error)));
            }
            let message = format!("expected a JSON object, found something else; {ONE_A_LINE}");
            return Err(self.invalid("", message));
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let read = serde_path_to_error::deserialize(&mut json);
        let result: ExpectedResult = read.map_err(|error| {
            let path = error.path().to_string();
            let inner = error.inner();
            if inner.is_data() {
                let said = inner.to_string();
                let end = said.rfind(" at line ").unwrap_or(said.len());
                let message = sanitize(&expected_first(&said[..end]), MESSAGE_CHARS);
                self.invalid(if path == "." { String::new() } else { path }, message)
            } else {
                let more = if inner.is_eof() { format!("; {ONE_A_LINE}") } else { String::new() };
                self.invalid("", json_in_line(text, inner) + &more)
            }
        })?;
        json.end().map_err(|error| self.invalid("", json_in_line(text, &error)))?;
        Ok(result)
    }

    /// The sample that an entry names.
    fn sample<'s>(
        &self,
        result: &ExpectedResult,
        samples: &'s Samples,
        digests: &mut Digests<'s>,
    ) -> Result<&'s Sample, ExpectedError> {
        let unknown = |message| {
            let origin = self.origin.to_owned();
            ExpectedError::UnknownSample { origin, line: self.number, message }
        };
        let on_line = |line| samples.iter().find(|sample| sample.line() == line);
        let Some(wanted) = &result.sha256 else {
            let Some(line) = result.line else {
                return Err(self.invalid(
                    "",
                    "expected `line` or `sha256`, which name the sample, found neither",
                ));
            };
            let message =
                || format!("expected the line of a sample, found {line}, where there is none");
            return on_line(line).ok_or_else(|| unknown(message()));
        };
        let is_digest = wanted.chars().all(|it| it.is_ascii_hexdigit())
            && (MIN_DIGEST_DIGITS..=MAX_DIGEST_DIGITS).contains(&wanted.len());
        if !is_digest {
            let message = format!(
                "expected {MIN_DIGEST_DIGITS} to {MAX_DIGEST_DIGITS} hexadecimal digits, found {}",
                quoted(wanted)
            );
            return Err(self.invalid("sha256", message));
        }
        let wanted = wanted.to_ascii_lowercase();
        let digests = digests.get_or_insert_with(|| {
            samples.iter().map(|sample| (digest(sample.text()), sample)).collect()
        });
        let mut having = digests.iter().filter(|(digest, _)| digest.starts_with(&wanted));
        let first = having.next().map(|(_, sample)| *sample);
        // Of samples with the same text, the one on the line that is named.
        let named = having.map(|(_, sample)| *sample).find(|it| Some(it.line()) == result.line);
        named.or(first).ok_or_else(|| {
            unknown(match result.line.map(|line| (line, on_line(line))) {
                Some((line, Some(_))) => format!(
                    "expected the digest of a sample, found {wanted}, which none has; the sample on line {line} has another text"
                ),
                _ => format!("expected the digest of a sample, found {wanted}, which none has"),
            })
        })
    }

    /// Whether each node and each edge says which it is, by what the graph spec declares.
    fn check(&self, result: &ExpectedResult) -> Result<(), ExpectedError> {
        for (index, node) in result.nodes.iter().enumerate() {
            self.node(node, &format!("nodes[{index}]"))?;
        }
        for (index, edge) in result.edges.iter().enumerate() {
            self.edge(edge, &format!("edges[{index}]"))?;
        }
        Ok(())
    }

    fn node(&self, node: &ExpectedNode, at: &str) -> Result<(), ExpectedError> {
        if node.entity.is_none() && node.node_id.is_none() {
            return Err(self.invalid(
                at,
                "expected `entity`, with the node's `key`, or `node_id`, found neither",
            ));
        }
        let entity = self.named(node.entity.as_deref(), &node.key, at)?;
        match entity {
            Some(entity) => {
                let of = format!("a property of {}", escaped(&entity.name));
                self.declared(&entity.properties, &of, &node.properties, at)
            }
            None => Ok(()),
        }
    }

    fn edge(&self, edge: &ExpectedEdge, at: &str) -> Result<(), ExpectedError> {
        for (name, end) in [("from", &edge.from), ("to", &edge.to)] {
            let Some(ExpectedEnd { entity, key, node_id }) = end else { continue };
            let at = format!("{at}.{name}");
            if node_id.is_none() && (entity.is_none() || key.is_empty()) {
                return Err(
                    self.invalid(at, "expected `entity` with `key`, or `node_id`, found neither")
                );
            }
            self.named(entity.as_deref(), key, &at)?;
        }
        let Some(graph) = self.graph else { return Ok(()) };
        let Some(relationship) = graph.relationship(&edge.relationship) else {
            let known = graph.relationships().iter().map(|it| it.name.as_str());
            return Err(self.unknown(
                &format!("{at}.relationship"),
                "a relationship",
                known,
                &edge.relationship,
            ));
        };
        let of = format!("a property of {}", escaped(&relationship.name));
        self.declared(&relationship.properties, &of, &edge.properties, at)
    }

    /// The entity of a node, where the graph spec is known; its key has to be the one that the spec declares.
    fn named(
        &self,
        entity: Option<&str>,
        key: &Map<String, Value>,
        at: &str,
    ) -> Result<Option<&Entity>, ExpectedError> {
        let scalar = |value: &Value| value.is_string() || value.is_number() || value.is_boolean();
        if let Some((name, _)) = key.iter().find(|(_, value)| !scalar(value)) {
            let at = format!("{at}.key.{}", escaped(name));
            return Err(
                self.invalid(at, "expected a string, a number or a boolean, found another value")
            );
        }
        if entity.is_none() && !key.is_empty() {
            return Err(self.invalid(at, "expected `entity` beside `key`, found none"));
        }
        let (Some(graph), Some(name)) = (self.graph, entity) else { return Ok(None) };
        let Some(entity) = graph.entity(name) else {
            let known = graph.entities().iter().map(|it| it.name.as_str());
            return Err(self.unknown(&format!("{at}.entity"), "an entity", known, name));
        };
        let is_of_key = |name: &String| entity.key_properties().any(|it| it.is_named(name));
        if key.is_empty() || (key.len() == entity.key_columns.len() && key.keys().all(is_of_key)) {
            return Ok(Some(entity));
        }
        let expected: Vec<&str> =
            entity.key_properties().map(|it| it.logical_name.as_str()).collect();
        let found: Vec<String> = key.keys().map(|name| escaped(name)).collect();
        let message = format!("expected {}, found {}", expected.join(", "), found.join(", "));
        let (origin, line, path) = (self.origin.to_owned(), self.number, format!("{at}.key"));
        Err(ExpectedError::UnknownName { origin, line, path, message })
    }

    fn declared(
        &self,
        properties: &[PropertySpec],
        of: &str,
        named: &Map<String, Value>,
        at: &str,
    ) -> Result<(), ExpectedError> {
        let unknown = named.keys().find(|name| !properties.iter().any(|it| it.is_named(name)));
        let Some(unknown) = unknown else { return Ok(()) };
        let known = properties.iter().map(|it| it.logical_name.as_str());
        Err(self.unknown(&format!("{at}.properties"), of, known, unknown))
    }

    fn unknown<'n>(
        &self,
        path: &str,
        what: &str,
        known: impl Iterator<Item = &'n str>,
        found: &str,
    ) -> ExpectedError {
        let known: Vec<&str> = known.collect();
        let (_, meant) = wording::names(&known, found);
        let message = format!(
            "expected {what} of the graph spec, found {}{}",
            quoted(found),
            wording::meant(meant)
        );
        let (origin, path) = (self.origin.to_owned(), path.to_owned());
        ExpectedError::UnknownName { origin, line: self.number, path, message }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::digest;
    use crate::diagnostics::problem::Coded;
    use crate::evidence::{Expected, Samples};
    use crate::graph::GraphSpec;

    const SAMPLES: &str = "{\"event_type\":\"e\",\"id\":1}\n\n {\"event_type\":\"e\",\"id\":2} \n";
    const GRAPH: &str = "{ontology: shop, entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}, {name: total, type: double}]}], relationships: [{name: follows, from: Order, to: Order}]}";

    fn read(text: &str) -> Result<Vec<usize>, String> {
        let samples = Samples::parse(SAMPLES, "samples").unwrap();
        let graph = GraphSpec::parse(GRAPH, "graph.yaml").unwrap();
        match Expected::parse(text, "expected", &samples, Some(&graph)) {
            Ok(expected) => Ok(expected.entries().iter().map(|it| it.sample_line()).collect()),
            Err(error) => Err(format!("{}: {error}", error.code())),
        }
    }

    #[test]
    fn a_sample_is_named_by_line_or_digest() {
        let second = digest(r#"{"event_type":"e","id":2}"#);
        assert_eq!(read("{\"line\":3}\n\n{\"line\":1}\n"), Ok(vec![3, 1]));
        for (digits, line) in [(8, ""), (64, ""), (16, r#","line":1"#), (16, r#","line":99"#)] {
            let text = format!(r#"{{"sha256":"{}"{line}}}"#, &second[..digits]);
            assert_eq!(read(&text), Ok(vec![3]), "{text}");
        }
    }

    #[test]
    fn what_is_no_expected_result_is_refused_with_its_place() {
        let mut others = Vec::new();
        for (text, expected) in [
            ("", "expected_empty: expected: expected at least one expected result"),
            ("\n\n[]", "expected_invalid: expected line 3: expected a JSON object"),
            ("{\"line\":1", "expected_invalid: expected line 1: column 9: expected"),
            ("{\"line\":1} x", "expected_invalid: expected line 1: column 12: "),
            (r#"{"line":"1"}"#, "expected_invalid: expected line 1: line: expected a"),
            (r#"{"line":1,"node":[]}"#, "expected_invalid: expected line 1: node: expected one of"),
            (
                r#"{"line":1,"nodes":[{"entity":"Order","keys":{}}]}"#,
                "expected_invalid: expected line 1: nodes[0].keys: expected one of",
            ),
            ("{}", "expected_invalid: expected line 1: expected `line` or `sha256`"),
            (r#"{"sha256":"xyz"}"#, "expected_invalid: expected line 1: sha256: expected 8 to 64"),
            (
                r#"{"line":2}"#,
                "expected_unknown_sample: expected line 1: expected the line of a sample, found 2",
            ),
            (
                r#"{"line":1,"sha256":"00000000"}"#,
                "expected_unknown_sample: expected line 1: expected the digest",
            ),
            ("{\"line\":1}\n{\"line\":1}", "expected_sample_twice: expected line 2: "),
            (
                r#"{"line":1,"nodes":[{}]}"#,
                "expected_invalid: expected line 1: nodes[0]: expected `entity`",
            ),
            (
                r#"{"line":1,"nodes":[{"entity":"Ordr"}]}"#,
                "expected_unknown_name: expected line 1: nodes[0].entity: expected an entity of the graph spec, found \"Ordr\"; did you mean `Order`?",
            ),
            (
                r#"{"line":1,"nodes":[{"entity":"Order","key":{"id":1}}]}"#,
                "expected_unknown_name: expected line 1: nodes[0].key: expected order_id, found id",
            ),
            (
                r#"{"line":1,"nodes":[{"entity":"Order","key":{"order_id":[]}}]}"#,
                "expected_invalid: expected line 1: nodes[0].key.order_id: ",
            ),
            (
                r#"{"line":1,"nodes":[{"node_id":"x","key":{"order_id":1}}]}"#,
                "expected_invalid: expected line 1: nodes[0]: expected `entity` beside `key`",
            ),
            (
                r#"{"line":1,"nodes":[{"entity":"Order","properties":{"totl":1}}]}"#,
                "expected_unknown_name: expected line 1: nodes[0].properties: expected a property of Order",
            ),
            (
                r#"{"line":1,"edges":[{"relationship":"follow"}]}"#,
                "expected_unknown_name: expected line 1: edges[0].relationship: ",
            ),
            (
                r#"{"line":1,"edges":[{"relationship":"follows","from":{"entity":"Order"}}]}"#,
                "expected_invalid: expected line 1: edges[0].from: ",
            ),
            (
                r#"{"line":1,"edges":[{"relationship":"follows","properties":{"a":1}}]}"#,
                "expected_unknown_name: expected line 1: edges[0].properties: ",
            ),
        ] {
            let found = read(text).unwrap_err();
            if !found.starts_with(expected) {
                others.push(format!("{text}\n{found}\n{expected}"));
            }
        }
        assert!(others.is_empty(), "{}", others.join("\n\n"));
    }
}
