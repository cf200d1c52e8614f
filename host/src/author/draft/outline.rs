//! A sketch before it is written as a plan.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::assign::{Assignment, Choice};
use super::home::Home;
use super::literal::Handling;
use crate::author::function_name;
use crate::graph::spec::Entity;
use crate::plan::expr::ForEach;
use crate::plan::is_identifier;

/// A plan to be.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    /// As a plan writes them; at least one.
    pub(super) event_types: Vec<String>,
    /// The main node first.
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
    pub(super) handling: Handling,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) entity: String,
    /// Where it is.
    pub(super) home: Home,
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) relationship: String,
    /// The nodes that it joins, by index.
    pub(super) from: usize,
    pub(super) to: usize,
}

impl Node {
    /// A node of which there is one for the event.
    pub(super) fn event(entity: &Entity, assignment: Assignment) -> Self {
        let path = assignment.anchor.clone();
        let home = Home { score: 1.0, iteration: None, path, assignment };
        Self { entity: entity.name.clone(), home }
    }
}

impl Outline {
    /// The plan, in the short form where that says all of it.
    pub(super) fn plan(&self) -> Value {
        let mut plan = Map::new();
        let event_type = match self.event_types.as_slice() {
            [one] => json!(one),
            several => json!(several),
        };
        plan.insert("event_type".to_owned(), event_type);
        let main = self.nodes.first();
        let entity = main.map_or("", |it| it.entity.as_str());
        let function_name = json!(function_name(entity));
        match self.nodes.as_slice() {
            [Node { home: Home { iteration: None, assignment, .. }, .. }]
                if assignment.keys.len() == 1 =>
            {
                plan.insert("target_entity_name".to_owned(), json!(entity));
                plan.insert("function_name".to_owned(), function_name);
                let key = assignment.keys.iter().find_map(mapping);
                plan.insert("key_field".to_owned(), json!(key));
                plan.insert("property_fields".to_owned(), mappings(&assignment.properties));
            }
            _ => {
                plan.insert("function_name".to_owned(), function_name);
                let names = self.names();
                let nodes = self.nodes.iter().zip(&names);
                let nodes: Vec<Value> = nodes.map(|(node, name)| node_json(node, name)).collect();
                plan.insert("nodes".to_owned(), Value::Array(nodes));
                let edges = self.edges.iter();
                let edges: Vec<Value> = edges.filter_map(|edge| edge_json(edge, &names)).collect();
                if !edges.is_empty() {
                    plan.insert("edges".to_owned(), Value::Array(edges));
                }
            }
        }
        if let Some(path) = &self.handling.session {
            plan.insert("session_id_path".to_owned(), json!(path));
        }
        if let Some(path) = &self.handling.span {
            let mut span = json!({"span_id_path": path});
            if let Some(partial) = &self.handling.free_text {
                span["partial_when_path"] = json!(partial);
            }
            plan.insert("span_handling".to_owned(), span);
        }
        Value::Object(plan)
    }

    /// What edges call the nodes: a second node of an entity is called by where it is, too.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let entities: BTreeSet<&str> = self.nodes.iter().map(|it| it.entity.as_str()).collect();
        for node in &self.nodes {
            let free = |name: &str, names: &[String]| {
                is_identifier(name)
                    && !names.iter().any(|it| it == name)
                    && (name == node.entity || !entities.contains(name))
            };
            let place = node.home.path.last().map_or("", String::as_str);
            let wanted = [node.entity.clone(), format!("{}_{place}", node.entity)];
            let numbered = (2..).map(|number: usize| format!("{}_{number}", node.entity));
            let name = wanted.into_iter().chain(numbered).find(|name| free(name, &names));
            names.push(name.unwrap_or_else(|| node.entity.clone()));
        }
        names
    }
}

fn node_json(node: &Node, name: &str) -> Value {
    let home = &node.home;
    let mut json = Map::new();
    json.insert("entity_name".to_owned(), json!(node.entity));
    if name != node.entity {
        json.insert("name".to_owned(), json!(name));
    }
    if let Some(iteration) = &home.iteration {
        json.insert("for_each".to_owned(), json!(ForEach::new(iteration.clone())));
    }
    json.insert("key_fields".to_owned(), mappings(&home.assignment.keys));
    let properties = mappings(&home.assignment.properties);
    if properties.as_array().is_some_and(|it| !it.is_empty()) {
        json.insert("property_fields".to_owned(), properties);
    }
    Value::Object(json)
}

fn edge_json(edge: &Edge, names: &[String]) -> Option<Value> {
    let (from, to) = (names.get(edge.from)?, names.get(edge.to)?);
    Some(json!({"relationship_name": edge.relationship, "from": from, "to": to}))
}

fn mappings(choices: &[Choice]) -> Value {
    choices.iter().filter_map(mapping).collect()
}

fn mapping(choice: &Choice) -> Option<Value> {
    let candidate = choice.candidate()?;
    let mut json = json!({"property_name": choice.name, "source_path": candidate.path});
    if let Some(step) = &candidate.convert {
        json["convert"] = json!([step.to_json()]);
    }
    Some(json)
}
