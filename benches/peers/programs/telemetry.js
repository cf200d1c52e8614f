const NOTHING = { nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: [] };

function extract(event) {
  const result = event.content?.result;
  if (event.event_type !== "TOOL_COMPLETED" || result?.option_id == null) return NOTHING;
  const properties = [
    { name: "option_id", value: result.option_id },
    { name: "request_id", value: result.request_id },
    { name: "label", value: result.option_label },
    { name: "confidence", value: result.confidence },
  ];
  return {
    nodes: [
      {
        node_id: `${event.session_id}:Option:option_id=${result.option_id}`,
        entity_name: "Option",
        labels: ["Option"],
        properties: properties.filter(({ value }) => value != null),
      },
    ],
    edges: [],
    fully_handled_span_ids: [event.span_id],
    partially_handled_span_ids: [],
  };
}
