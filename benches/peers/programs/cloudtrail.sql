SELECT to_json({
    nodes: CASE WHEN is_wanted THEN [{
        node_id: session_id || ':ApiCall:event_id=' || call.eventID,
        entity_name: 'ApiCall',
        labels: ['ApiCall'],
        properties: list_filter([
            {name: 'event_id', value: to_json(call.eventID)},
            {name: 'name', value: to_json(call.eventName)},
            {name: 'source', value: to_json(call.eventSource)},
            {name: 'region', value: to_json(call.awsRegion)},
            {name: 'at', value: to_json(call.eventTime)},
            {name: 'actor', value: to_json(call.userIdentity.arn)},
            {name: 'address', value: to_json(call.sourceIPAddress)},
            {name: 'read_only', value: call.readOnly}
        ], lambda property: property.value IS NOT NULL)
    }] ELSE [] END,
    edges: [],
    fully_handled_span_ids: CASE WHEN is_wanted THEN [span_id] ELSE [] END,
    partially_handled_span_ids: []
})::VARCHAR
FROM (
    SELECT
        *,
        content AS call,
        coalesce(event_type = 'AWS.CloudTrail' AND content.eventID IS NOT NULL, false) AS is_wanted
    FROM read_ndjson($events, columns = {
        event_type: 'VARCHAR',
        session_id: 'VARCHAR',
        span_id: 'VARCHAR',
        content: 'STRUCT(
            eventID VARCHAR, eventName VARCHAR, eventSource VARCHAR, awsRegion VARCHAR, eventTime VARCHAR,
            userIdentity STRUCT(arn VARCHAR), sourceIPAddress VARCHAR, readOnly JSON
        )'
    })
)
