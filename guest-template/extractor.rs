//! Orders and their lines.

use retort_guest::prelude::*;

extractor! {
    function: read_order,
    event_types: ["order.placed"],
    inputs: {
        session: ["session_id"],
        span_id: ["span_id"],
        order_id: ["content", "id"],
        total: ["content", "total"] as ["to_double"],
        paid: truthy ["content", "paid"],
    },
    rows: {
        lines: each ["content", "lines"] {
            sku: ["sku"],
            quantity: ["quantity"],
        },
    },
}

fn read_order(event: &Event<'_>, graph: &mut Graph) {
    graph.session(event.session);
    let Some(mut order) = graph.node("Order").key("order_id", event.order_id).add() else {
        return;
    };
    order.set("total", event.total);
    order.set("paid", event.paid.is_true());
    let pieces: i64 = event.lines().filter_map(|line| line.quantity.i64()).sum();
    order.set("pieces", pieces);
    let order = order.id();

    for line in event.lines() {
        let draft = graph.node("Line").key("order_id", event.order_id).key("sku", line.sku);
        let Some(mut node) = draft.add() else { continue };
        node.set("quantity", line.quantity);
        let node = node.id();
        graph.edge("HAS_LINE", order, node);
    }
    graph.fully_handled(event.span_id);
}

#[cfg(test)]
mod tests {
    use retort_guest::mock;

    use super::Extractor;

    #[test]
    fn an_order_has_its_lines() {
        let result = mock::event::<Extractor>(
            r#"{"session_id": "s1", "span_id": "p1", "content": {"id": 7, "total": "12.50", "paid": true,
                "lines": [{"sku": "a", "quantity": 2}, {"quantity": 3}, {"sku": "b"}]}}"#,
        )
        .run();
        let order = result.node("Order");
        assert_eq!(order.id, "s1:Order:order_id=7");
        assert_eq!(order.property("total").f64(), Some(12.5));
        assert_eq!(order.property("pieces").i64(), Some(5));
        assert_eq!(result.nodes.len(), 3);
        assert_eq!(result.edges[1].to, "s1:Line:order_id=7,sku=b");
        assert_eq!(result.fully_handled, ["p1"]);
    }

    #[test]
    fn an_event_without_an_order_is_declined() {
        assert!(mock::event::<Extractor>(r#"{"session_id": "s1"}"#).run().is_empty());
    }
}
