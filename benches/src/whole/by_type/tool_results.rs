//! What an agent's tools gave.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Formatter};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::graph::{Entity, Graph, Id, Scalar};
use super::key::Key;
use super::lenient::{List, Object, Text, passed_by};
use super::{json, sorted, text};

static TURN: Entity = Entity { name: "Turn", key: &[":turn="] };
static CALL: Entity = Entity { name: "ToolCall", key: &[":call_id="] };

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Event<'a> {
    #[serde(borrow)]
    event_type: Text<'a>,
    #[serde(borrow)]
    session_id: Key<'a>,
    #[serde(borrow)]
    span_id: Key<'a>,
    #[serde(borrow)]
    turn: Key<'a>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    truncated: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: List<Object<Message<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    role: Key<'a>,
    #[serde(borrow)]
    content: Content<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Text<'a>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    text: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Input<'a> {
    #[serde(borrow)]
    command: Text<'a>,
    #[serde(borrow, alias = "file_path")]
    path: Option<&'a RawValue>,
}

/// A text, or blocks of it.
#[derive(Default)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Object<Block<'a>>>),
    #[default]
    Other,
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = elements.next_element()? {
            found.push(element);
        }
        Ok(Content::Blocks(found))
    }

    passed_by!(object);
    passed_by!(rest);
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

impl<'a> Content<'a> {
    fn blocks(&self) -> impl Iterator<Item = &Block<'a>> {
        let Self::Blocks(blocks) = self else { return [].iter().filter_map(Object::get) };
        blocks.iter().filter_map(Object::get)
    }

    fn text(&self) -> Option<&str> {
        let Self::Text(text) = self else { return None };
        Some(text)
    }
}

impl Block<'_> {
    fn is_error(&self) -> bool {
        self.is_error.is_some_and(|it| it.get() == "true")
    }
}

pub(super) fn fill<'a>(event: &'a Event<'_>, graph: &mut Graph<'a>) -> Option<()> {
    if !event.event_type.is("agent.turn") {
        return None;
    }
    let session = event.session_id.text().unwrap_or_default();
    let blocks = || {
        let messages = event.messages.objects();
        messages.flat_map(|message| message.content.blocks().map(move |block| (message, block)))
    };
    let mut results = HashMap::new();
    let mut errors = 0;
    for (_, block) in blocks().filter(|(_, block)| block.kind.is("tool_result")) {
        if let Some(of) = block.tool_use_id.get() {
            results.entry(of).or_insert(block);
        }
        errors += i64::from(block.is_error());
    }
    let uses = || blocks().filter(|(_, block)| block.kind.is("tool_use"));
    let turn = event.turn.text().map(|turn| Id::new(session, &TURN, [turn]));
    if let Some(turn) = turn {
        let asked = event.messages.0.iter().rev().filter_map(Object::get);
        let mut asked = asked.filter(|it| it.role.text() == Some("user"));
        let names = uses().filter_map(|(_, block)| block.name.get());
        let properties = [
            ("turn", event.turn.json()),
            ("model", json(event.model)),
            ("calls", Some(Scalar::Integer(uses().count() as i64))),
            ("tools", Some(Scalar::Made(sorted(names, ", ")))),
            ("errors", Some(Scalar::Integer(errors))),
            ("asked", text(asked.find_map(|message| message.content.text()))),
        ];
        graph.node(turn, properties);
    }
    for (message, block) in uses() {
        let Some(own) = block.id.get() else { continue };
        let result = results.get(own).copied();
        let input = block.input.map(RawValue::get);
        let of = input.and_then(|it| serde_json::from_str::<Object<Input<'_>>>(it).ok());
        let of = of.and_then(Object::into_found).unwrap_or_default();
        let call = Id::new(session, &CALL, [own]);
        let properties = [
            ("call_id", text(Some(own))),
            ("tool", text(block.name.get())),
            ("input", text(input)),
            ("command", of.command.get().map(|it| Scalar::Made(it.trim().to_owned()))),
            ("path", json(of.path)),
            ("output", result.and_then(|result| output(&result.content))),
            ("answered", Some(Scalar::Boolean(result.is_some()))),
            ("failed", result.map(|result| Scalar::Boolean(result.is_error()))),
        ];
        graph.node(call, properties);
        if let Some(turn) = turn {
            graph.edge("MADE", turn, call, [("role", message.role.json())]);
        }
    }
    let is_truncated = event.truncated.is_some_and(|it| it.get() == "true");
    graph.handled(event.span_id.span(), is_truncated);
    Some(())
}

fn output<'a>(content: &'a Content<'_>) -> Option<Scalar<'a>> {
    let Content::Blocks(_) = content else { return text(content.text()) };
    let texts = content.blocks().filter(|block| block.kind.is("text"));
    let texts: Vec<&str> = texts.filter_map(|block| block.text.get()).collect();
    Some(Scalar::Made(texts.join("\n")))
}
