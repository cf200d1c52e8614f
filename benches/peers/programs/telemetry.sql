SELECT to_json({
    nodes: CASE WHEN is_wanted THEN [{
        node_id: session_id || ':Option:option_id=' || outcome.option_id,
        entity_name: 'Option',
        labels: ['Option'],
        properties: list_filter([
            {name: 'option_id', value: to_json(outcome.option_id)},
            {name: 'request_id', value: to_json(outcome.request_id)},
            {name: 'label', value: to_json(outcome.option_label)},
            {name: 'confidence', value: to_json(outcome.confidence)}
        ], lambda property: property.value IS NOT NULL)
    }] ELSE [] END,
    edges: [],
    fully_handled_span_ids: CASE WHEN is_wanted THEN [span_id] ELSE [] END,
    partially_handled_span_ids: []
})::VARCHAR
FROM (
    SELECT
        *,
        content.result AS outcome,
        coalesce(event_type = 'TOOL_COMPLETED' AND content.result.option_id IS NOT NULL, false) AS is_wanted
    FROM read_ndjson($events, columns = {
        event_type: 'VARCHAR',
        session_id: 'VARCHAR',
        span_id: 'VARCHAR',
        content: 'STRUCT("result" STRUCT(option_id VARCHAR, request_id VARCHAR, option_label VARCHAR, confidence DOUBLE))'
    })
)
