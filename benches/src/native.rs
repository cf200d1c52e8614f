//! The guest's work as a native closure: the same template filled from the same input block.

use retort::internal::block::{HEADER_BYTES, SLOT_BYTES};
use retort::plan::{EventPattern, Plan};

/// The constant text of a plan's result, and which slots go between.
pub struct Template {
    event_type: Vec<u8>,
    id_tail: String,
    head: String,
    properties: Vec<(String, usize)>,
    has_span: bool,
}

/// The slots of a rendered extractor that every plan has, in the order in which it declares them.
const EVENT_TYPE: usize = 0;
const KEY: usize = 1;
const SESSION: usize = 2;
const SPAN: usize = 3;

impl Template {
    /// The template of a plan of the short form for one event type, without conversions and conditions, whose paths are all
    /// different and whose spans, if any, are always fully handled. `None` for any other plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<Self> {
        let ([node], [EventPattern::Exact(event_type)]) =
            (plan.nodes(), plan.event_types().patterns())
        else {
            return None;
        };
        let [key] = node.key_fields() else { return None };
        let (entity, key) = (node.entity_name(), key.property_name());
        let has_span = !plan.span_rules().is_empty();
        let first = if has_span { SPAN + 2 } else { SPAN };
        let property = |(index, field): (usize, &retort::plan::FieldMapping)| {
            (format!("}},{{\"name\":\"{}\",\"value\":", field.property_name()), first + index)
        };
        Some(Self {
            event_type: serde_json::Value::from(event_type.as_str()).to_string().into_bytes(),
            id_tail: format!(":{entity}:{key}="),
            head: format!(
                r#"","entity_name":"{entity}","labels":["{entity}"],"properties":[{{"name":"{key}","value":"#
            ),
            properties: node.property_fields().iter().enumerate().map(property).collect(),
            has_span,
        })
    }

    /// What the guest does with a block.
    pub fn fill(&self, block: &[u8], out: &mut Vec<u8>) {
        out.clear();
        let (_, event_type) = slot(block, EVENT_TYPE);
        let (kind, key) = slot(block, KEY);
        if event_type != self.event_type || !(2..=4).contains(&kind) {
            out.extend_from_slice(
                br#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#,
            );
            return;
        }
        out.extend_from_slice(br#"{"nodes":[{"node_id":""#);
        put_text(out, slot(block, SESSION));
        out.extend_from_slice(self.id_tail.as_bytes());
        put_text(out, (kind, key));
        out.extend_from_slice(self.head.as_bytes());
        out.extend_from_slice(key);
        for (head, index) in &self.properties {
            let (kind, text) = slot(block, *index);
            if (2..8).contains(&kind) {
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(text);
            }
        }
        out.extend_from_slice(br#"}]}],"edges":[],"fully_handled_span_ids":["#);
        if self.has_span && slot(block, SPAN + 1).1.len() == 4 {
            out.push(b'"');
            put_text(out, slot(block, SPAN));
            out.push(b'"');
        }
        out.extend_from_slice(br#"],"partially_handled_span_ids":[]}"#);
    }
}

fn slot(block: &[u8], index: usize) -> (u32, &[u8]) {
    let field = |number: usize| {
        let at = HEADER_BYTES + SLOT_BYTES * index + 4 * number;
        block.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    let start = field(1) as usize;
    (field(0), block.get(start..start + field(2) as usize).unwrap_or_default())
}

fn put_text(out: &mut Vec<u8>, (kind, text): (u32, &[u8])) {
    match kind {
        4 => out.extend_from_slice(text.get(1..text.len().saturating_sub(1)).unwrap_or_default()),
        2 | 3 => out.extend_from_slice(text),
        _ => {}
    }
}
