//! The function: what is made of an event, nodes and edges each in the order of the plan.

use super::function::FunctionName;
use super::names::Names;
use super::places::{End, Places};
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
    let mut body = Body { lines: Lines::new(out), names, lowered, places: Places::of(lowered) };
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
        body.each_row(node.rows, node.when, |body| body.node(index, node));
    }
    for index in body.places.behind.clone() {
        let edge = &lowered.edges[index];
        body.lines.line("");
        body.edge_comment(index, edge);
        body.each_row(edge.rows, edge.when, |body| body.edge(edge, None));
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
    lowered: &'n Lowered<'n>,
    places: Places,
}

impl Body<'_, '_> {
    fn edge_comment(&mut self, index: usize, edge: &LoweredEdge<'_>) {
        let name = comment(edge.rule.relationship_name());
        self.lines.line(&format!("// edges[{index}]: \"{name}\""));
    }

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

    fn node(&mut self, index: usize, node: &LoweredNode<'_>) {
        self.begin("draft", node.rows, &node.id, "");
        let edges = self.places.with_node[index].clone();
        let variable = self.places.variable(index).map(str::to_owned);
        let has_properties = !node.properties.is_empty();
        match &variable {
            None if !has_properties && edges.is_empty() => return self.lines.line("draft.add();"),
            Some(name) if !has_properties && edges.is_empty() => {
                return self
                    .lines
                    .line(&format!("let {name} = draft.add().map(|node| node.id());"));
            }
            Some(name) => self.lines.line(&format!("let mut {name} = None;")),
            None => {}
        }
        let pattern = if has_properties { "mut node" } else { "node" };
        self.lines.open(&format!("if let Some({pattern}) = draft.add() {{"));
        self.properties("node", node.rows, &node.properties);
        let mut id = "node.id()";
        if !edges.is_empty() {
            self.lines.line("let id = node.id();");
            id = "id";
        }
        if let Some(name) = variable {
            self.lines.line(&format!("{name} = Some({id});"));
        }
        for edge_index in edges {
            let edge = &self.lowered.edges[edge_index];
            self.edge_comment(edge_index, edge);
            self.edge(edge, Some(index));
        }
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

    /// An edge, which stands with a node or behind all.
    fn edge(&mut self, edge: &LoweredEdge<'_>, with: Option<usize>) {
        let mut names: Vec<String> = Vec::new();
        // What may not be there.
        let mut optional: Vec<String> = Vec::new();
        for (name, id, end) in
            [("from", &edge.from, edge.rule.from()), ("to", &edge.to, edge.rule.to())]
        {
            let name = match self.places.end(end, with) {
                End::Own => {
                    names.push("id".to_owned());
                    continue;
                }
                End::Variable(variable) => variable.to_owned(),
                End::Reference => {
                    self.begin(name, edge.rows, id, ".reference()");
                    name.to_owned()
                }
            };
            if !optional.contains(&name) {
                optional.push(name.clone());
            }
            names.push(name);
        }
        match optional.as_slice() {
            [] => {}
            [one] => self.lines.open(&format!("if let Some({one}) = {one} {{")),
            several => {
                let patterns: Vec<String> =
                    several.iter().map(|name| format!("Some({name})")).collect();
                let (patterns, values) = (patterns.join(", "), several.join(", "));
                self.lines.open(&format!("if let ({patterns}) = ({values}) {{"));
            }
        }
        self.edge_between(edge, &names);
        if !optional.is_empty() {
            self.lines.close("}");
        }
    }

    /// An edge between nodes of these names.
    fn edge_between(&mut self, edge: &LoweredEdge<'_>, names: &[String]) {
        let [from, to] = names else { return };
        let relationship = literal(edge.rule.relationship_name());
        let has_properties = !edge.properties.is_empty();
        match edge.edge_id {
            Some(edge_id) => {
                let edge_id = self.names.value(edge.rows, edge_id);
                let arguments = [edge_id.as_str(), &relationship, from, to];
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
                self.lines.chain("mut edge", &[format!(".edge({relationship}, {from}, {to})")]);
                self.properties("edge", edge.rows, &edge.properties);
            }
            None => self.lines.call("graph", "edge", &[&relationship, from, to]),
        }
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
