const NOTHING = { nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: [] };

/** A number, as such or as text. */
function number(value) {
  const number = typeof value === "string" ? parseFloat(value) : value;
  return Number.isFinite(number) ? number : undefined;
}

/** Epoch seconds or milliseconds, or a time that is written out. */
function moment(value) {
  const time = new Date(typeof value === "number" && value < 1e11 ? 1000 * value : value);
  return value == null || isNaN(time) ? undefined : time.toISOString().replace(/\.?0+Z$/, "Z");
}

function method(payment) {
  try {
    return JSON.parse(payment)?.method;
  } catch {
    return undefined;
  }
}

const named = (properties) =>
  Object.entries(properties)
    .filter(([, value]) => value != null)
    .map(([name, value]) => ({ name, value }));

function extract(event) {
  const { order, till, span } = event;
  const isOrder = event.event_type === "order.placed" || event.event_type === "order.changed";
  if (!isOrder || order.test || order.id == null) return NOTHING;
  const orderNode = `${till.session}:Order:order_id=${order.id}`;
  // By id: of two with the same one the later one counts.
  const nodes = new Map();
  const edges = new Map();
  const node = (node_id, entity_name, properties) =>
    nodes.set(node_id, { node_id, entity_name, labels: [entity_name], properties: named(properties) });
  const edge = (relationship_name, to_node_id, properties, edge_id) => {
    edge_id ??= `${orderNode}:${relationship_name}:${to_node_id}`;
    const from_node_id = orderNode;
    edges.set(edge_id, { edge_id, relationship_name, from_node_id, to_node_id, properties: named(properties) });
  };

  node(orderNode, "Order", {
    order_id: order.id,
    state: order.state.toLowerCase(),
    currency: order.currency ?? "EUR",
    total: number(order.total),
    placed_at: moment(order.placed),
    campaign: order.source?.split("/")[1],
    payment_method: method(order.payment),
  });
  for (const line of Array.isArray(order.lines) ? order.lines : []) {
    if (!line?.quantity || line.no == null) continue;
    const id = `${till.session}:Line:order_id=${order.id},line_no=${line.no}`;
    node(id, "Line", {
      order_id: order.id,
      line_no: line.no,
      article: line.article.sku,
      quantity: line.quantity,
      price: number(line.price),
      label: `${order.id}/${line.no}: ${line.article.name}`,
    });
    edge("HAS_LINE", id, {});
  }
  for (const shipment of order.shipments ?? []) {
    for (const parcel of shipment.parcels) {
      const id = `${till.session}:Parcel:tracking_no=${parcel.tracking}`;
      node(id, "Parcel", {
        tracking_no: parcel.tracking,
        carrier: shipment.carrier.toUpperCase(),
        weight_g: parcel.weight_g,
      });
      edge("SENT_IN", id, { shipment_no: shipment.no });
    }
  }
  if (order.customer?.id != null) {
    const id = order.customer.id;
    edge("PLACED_BY", `${till.session}:Customer:customer_id=${id}`, {}, `${order.id}-by-${id}`);
  }
  return {
    nodes: [...nodes.values()],
    edges: [...edges.values()],
    fully_handled_span_ids: order.note == null ? [span] : [],
    partially_handled_span_ids: order.note == null ? [] : [span],
  };
}
