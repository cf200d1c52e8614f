SELECT to_json({
    nodes: CASE WHEN is_wanted THEN [{
        node_id: session_id || ':Repository:repository_id=' || repository.id,
        entity_name: 'Repository',
        labels: ['Repository'],
        properties: list_filter([
            {name: 'repository_id', value: to_json(repository.id)},
            {name: 'full_name', value: to_json(repository.full_name)},
            {name: 'private', value: to_json(repository.private)},
            {name: 'owner', value: to_json(repository.owner.login)},
            {name: 'html_url', value: to_json(repository.html_url)},
            {name: 'default_branch', value: to_json(repository.default_branch)},
            {name: 'open_issues', value: to_json(repository.open_issues_count)},
            {name: 'sender', value: to_json(content.sender.login)},
            {name: 'action', value: to_json(content.action)}
        ], lambda property: property.value IS NOT NULL)
    }] ELSE [] END,
    edges: [],
    fully_handled_span_ids: CASE WHEN is_wanted THEN [span_id] ELSE [] END,
    partially_handled_span_ids: []
})::VARCHAR
FROM (
    SELECT
        *,
        content.repository AS repository,
        coalesce(event_type = 'github' AND content.repository.id IS NOT NULL, false) AS is_wanted
    FROM read_ndjson($events, columns = {
        event_type: 'VARCHAR',
        session_id: 'VARCHAR',
        span_id: 'VARCHAR',
        content: 'STRUCT(
            repository STRUCT(
                id BIGINT, full_name VARCHAR, private BOOLEAN, owner STRUCT(login VARCHAR), html_url VARCHAR,
                default_branch VARCHAR, open_issues_count BIGINT
            ),
            sender STRUCT(login VARCHAR),
            action VARCHAR
        )'
    })
)
