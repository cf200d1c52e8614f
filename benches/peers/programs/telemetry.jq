def nothing: {nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: []};

.content.result as $result
| if .event_type != "TOOL_COMPLETED" or $result.option_id == null then
    nothing
  else
    {
      nodes: [
        {
          node_id: "\(.session_id):Option:option_id=\($result.option_id)",
          entity_name: "Option",
          labels: ["Option"],
          properties: [
            {name: "option_id", value: $result.option_id},
            {name: "request_id", value: $result.request_id},
            {name: "label", value: $result.option_label},
            {name: "confidence", value: $result.confidence}
            | select(.value != null)
          ]
        }
      ],
      edges: [],
      fully_handled_span_ids: [.span_id],
      partially_handled_span_ids: []
    }
  end
