def nothing: {nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: []};

.content.repository as $repository
| if .event_type != "github" or $repository.id == null then
    nothing
  else
    {
      nodes: [
        {
          node_id: "\(.session_id):Repository:repository_id=\($repository.id)",
          entity_name: "Repository",
          labels: ["Repository"],
          properties: [
            {name: "repository_id", value: $repository.id},
            {name: "full_name", value: $repository.full_name},
            {name: "private", value: $repository.private},
            {name: "owner", value: $repository.owner.login},
            {name: "html_url", value: $repository.html_url},
            {name: "default_branch", value: $repository.default_branch},
            {name: "open_issues", value: $repository.open_issues_count},
            {name: "sender", value: .content.sender.login},
            {name: "action", value: .content.action}
            | select(.value != null)
          ]
        }
      ],
      edges: [],
      fully_handled_span_ids: [.span_id],
      partially_handled_span_ids: []
    }
  end
