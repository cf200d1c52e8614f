const NOTHING = { nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: [] };

function extract(event) {
  const content = event.content ?? {};
  if (event.event_type !== "AWS.CloudTrail" || content.eventID == null) return NOTHING;
  const properties = [
    { name: "event_id", value: content.eventID },
    { name: "name", value: content.eventName },
    { name: "source", value: content.eventSource },
    { name: "region", value: content.awsRegion },
    { name: "at", value: content.eventTime },
    { name: "actor", value: content.userIdentity?.arn },
    { name: "address", value: content.sourceIPAddress },
    { name: "read_only", value: content.readOnly },
  ];
  return {
    nodes: [
      {
        node_id: `${event.session_id}:ApiCall:event_id=${content.eventID}`,
        entity_name: "ApiCall",
        labels: ["ApiCall"],
        properties: properties.filter(({ value }) => value != null),
      },
    ],
    edges: [],
    fully_handled_span_ids: [event.span_id],
    partially_handled_span_ids: [],
  };
}
