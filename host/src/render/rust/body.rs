//! The function: what is made of an event, item by item in the order of the plan.

use super::function::FunctionName;
use super::names::Names;
use super::text::{Lines, literal, scalar};
use crate::plan::Nulls;
use crate::render::inputs::InputSlot;
use crate::render::lower::{
    Claim, EventFilter, Lowered, LoweredEdge, LoweredNode, LoweredProperty, LoweredValue, NodeId,
};
use crate::render::text::comment;

pub(super) fn write(
    out: &mut String,
    function: &FunctionName,
    lowered: &Lowered<'_>,
    names: &Names,
) {
    let mut body = Body { lines: Lines::new(out), names };
    let head = format!("fn {}(event: &Event<'_>, graph: &mut Graph) {{", function.local);
    body.lines.open(&head);
    match &lowered.filter {
        EventFilter::Type(event_type, slot) => {
            let (value, expected) = (names.value(None, *slot), literal(event_type));
            body.lines.open_unless_equal(&value, &expected);
        }
        EventFilter::Flag(slot) => {
            body.lines.open(&format!("if !{}.is_true() {{", names.value(None, *slot)));
        }
    }
    body.lines.line("return;");
    body.lines.close("}");
    body.lines.line(&format!("graph.session({});", names.value(None, lowered.session)));
    for (index, node) in lowered.nodes.iter().enumerate() {
        body.lines.line("");
        body.lines.line(&format!("// nodes[{index}]: \"{}\"", comment(node.rule.name())));
        body.each_row(node.rows, node.when, |body| body.node(node));
    }
    for (index, edge) in lowered.edges.iter().enumerate() {
        let name = comment(edge.rule.relationship_name());
        body.lines.line("");
        body.lines.line(&format!("// edges[{index}]: \"{name}\""));
        body.each_row(edge.rows, edge.when, |body| body.edge(edge));
    }
    for (index, claim) in lowered.claims.iter().enumerate() {
        body.lines.line("");
        body.lines.line(&format!("// span_handling[{index}]"));
        body.each_row(claim.rows, claim.when, |body| body.claim(claim));
    }
    body.lines.close("}");
}

struct Body<'a, 'n> {
    lines: Lines<'a>,
    names: &'n Names,
}

impl Body<'_, '_> {
    fn leave(&mut self, head: &str, how: &str) {
        self.lines.open(head);
        self.lines.line(how);
        self.lines.close("}");
    }

    /// What is to be done in each row, where the condition holds.
    fn each_row(
        &mut self,
        rows: Option<usize>,
        when: Option<InputSlot>,
        item: impl FnOnce(&mut Self),
    ) {
        // A name is in scope for its item alone, so that items can have the same ones.
        match rows {
            Some(rows) => {
                let names = self.names;
                // Each iteration of the section has a name.
                let name = &names.rows[rows];
                self.lines.open(&format!("for row in event.{name}() {{"));
                if let Some(when) = when {
                    let when = self.names.value(Some(rows), when);
                    self.leave(&format!("if !{when}.is_true() {{"), "continue;");
                }
                item(self);
                self.lines.close("}");
            }
            None => match when {
                Some(when) => {
                    let when = self.names.value(None, when);
                    self.lines.open(&format!("if {when}.is_true() {{"));
                    item(self);
                    self.lines.close("}");
                }
                None => item(self),
            },
        }
    }

    fn value(&self, rows: Option<usize>, value: &LoweredValue<'_>) -> String {
        match value {
            LoweredValue::Slot(slot) => self.names.value(rows, *slot),
            LoweredValue::Constant(constant) => scalar(constant),
        }
    }

    /// A node begun, with its key.
    fn begin(&mut self, name: &str, rows: Option<usize>, id: &NodeId<'_>, end: &str) {
        let mut calls = vec![format!(".node({})", literal(id.entity))];
        for (key, value) in &id.keys {
            calls.push(format!(".key({}, {})", literal(key), self.value(rows, value)));
        }
        if !end.is_empty() {
            calls.push(end.to_owned());
        }
        self.lines.chain(name, &calls);
    }

    fn node(&mut self, node: &LoweredNode<'_>) {
        self.begin("draft", node.rows, &node.id, "");
        if node.properties.is_empty() {
            return self.lines.line("draft.add();");
        }
        self.lines.open("if let Some(mut node) = draft.add() {");
        self.properties("node", node.rows, &node.properties);
        self.lines.close("}");
    }

    fn properties(&mut self, item: &str, rows: Option<usize>, properties: &[LoweredProperty<'_>]) {
        for property in properties {
            let mut value = self.value(rows, &property.value);
            if property.field.nulls() == Nulls::Keep
                && matches!(property.value, LoweredValue::Slot(_))
            {
                value.push_str(".keep_null()");
            }
            self.lines.call(item, "set", &[&literal(property.field.property_name()), &value]);
        }
    }

    fn edge(&mut self, edge: &LoweredEdge<'_>) {
        self.begin("from", edge.rows, &edge.from, ".reference()");
        self.begin("to", edge.rows, &edge.to, ".reference()");
        self.lines.open("if let (Some(from), Some(to)) = (from, to) {");
        let relationship = literal(edge.rule.relationship_name());
        let has_properties = !edge.properties.is_empty();
        match edge.edge_id {
            Some(edge_id) => {
                let edge_id = self.names.value(edge.rows, edge_id);
                let arguments = [edge_id.as_str(), &relationship, "from", "to"];
                if has_properties {
                    self.lines.chain("edge", &[format!(".edge_with_id({})", arguments.join(", "))]);
                    self.lines.open("if let Some(mut edge) = edge {");
                    self.properties("edge", edge.rows, &edge.properties);
                    self.lines.close("}");
                } else {
                    self.lines.call("graph", "edge_with_id", &arguments);
                }
            }
            None if has_properties => {
                self.lines.chain("mut edge", &[format!(".edge({relationship}, from, to)")]);
                self.properties("edge", edge.rows, &edge.properties);
            }
            None => self.lines.call("graph", "edge", &[&relationship, "from", "to"]),
        }
        self.lines.close("}");
    }

    fn claim(&mut self, claim: &Claim<'_>) {
        let id = self.names.value(claim.rows, claim.id);
        let holds = |slot: InputSlot| format!("{}.is_true()", self.names.value(claim.rows, slot));
        let truthy = holds(claim.truthy);
        let partial = claim.partial.map(holds);
        self.lines.open(&format!("if {truthy} {{"));
        match partial {
            Some(partial) => {
                self.lines.open(&format!("if {partial} {{"));
                self.lines.line(&format!("graph.partially_handled({id});"));
                self.lines.close("} else {");
                self.lines.indent();
                self.lines.line(&format!("graph.fully_handled({id});"));
                self.lines.close("}");
            }
            None => self.lines.line(&format!("graph.fully_handled({id});")),
        }
        self.lines.close("}");
    }
}
