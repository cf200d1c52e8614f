const NOTHING = { nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: [] };

function extract(event) {
  const { repository, sender, action } = event.content ?? {};
  if (event.event_type !== "github" || repository?.id == null) return NOTHING;
  const properties = [
    { name: "repository_id", value: repository.id },
    { name: "full_name", value: repository.full_name },
    { name: "private", value: repository.private },
    { name: "owner", value: repository.owner?.login },
    { name: "html_url", value: repository.html_url },
    { name: "default_branch", value: repository.default_branch },
    { name: "open_issues", value: repository.open_issues_count },
    { name: "sender", value: sender?.login },
    { name: "action", value: action },
  ];
  return {
    nodes: [
      {
        node_id: `${event.session_id}:Repository:repository_id=${repository.id}`,
        entity_name: "Repository",
        labels: ["Repository"],
        properties: properties.filter(({ value }) => value != null),
      },
    ],
    edges: [],
    fully_handled_span_ids: [event.span_id],
    partially_handled_span_ids: [],
  };
}
