def nothing: {nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: []};

.content as $call
| if .event_type != "AWS.CloudTrail" or $call.eventID == null then
    nothing
  else
    {
      nodes: [
        {
          node_id: "\(.session_id):ApiCall:event_id=\($call.eventID)",
          entity_name: "ApiCall",
          labels: ["ApiCall"],
          properties: [
            {name: "event_id", value: $call.eventID},
            {name: "name", value: $call.eventName},
            {name: "source", value: $call.eventSource},
            {name: "region", value: $call.awsRegion},
            {name: "at", value: $call.eventTime},
            {name: "actor", value: $call.userIdentity.arn},
            {name: "address", value: $call.sourceIPAddress},
            {name: "read_only", value: $call.readOnly}
            | select(.value != null)
          ]
        }
      ],
      edges: [],
      fully_handled_span_ids: [.span_id],
      partially_handled_span_ids: []
    }
  end
