WITH
    events AS (
        SELECT event_type, span, till.session AS session, "order" AS o
        FROM read_ndjson($events, columns = {
            event_type: 'VARCHAR',
            span: 'VARCHAR',
            till: 'STRUCT(session VARCHAR)',
            "order": 'STRUCT(
                id VARCHAR, state VARCHAR, test JSON, currency VARCHAR, total VARCHAR, placed VARCHAR, source VARCHAR,
                payment VARCHAR, note VARCHAR, customer STRUCT(id BIGINT), lines JSON,
                shipments STRUCT("no" BIGINT, carrier VARCHAR, parcels STRUCT(tracking VARCHAR, weight_g BIGINT)[])[]
            )'
        })
    ),
    orders AS (
        SELECT
            *,
            session || ':Order:order_id=' || o.id AS order_node,
            event_type IN ('order.placed', 'order.changed')
                AND coalesce(o.test, 'null') IN ('null', 'false', '0', '""')
                AND o.id IS NOT NULL AS is_wanted,
            -- Lines may be anything; those that are a list of objects count.
            list_filter(
                CASE WHEN json_type(o.lines) = 'ARRAY' THEN o.lines->'$[*]' ELSE [] END,
                lambda line: json_type(line) = 'OBJECT'
                    AND coalesce((line->>'$.quantity'), '0') NOT IN ('0', 'false', '')
                    AND (line->>'$.no') IS NOT NULL
            ) AS lines,
            -- Epoch seconds or milliseconds, or a time that is written out.
            CASE
                WHEN try_cast(o.placed AS BIGINT) IS NULL THEN try_cast(o.placed AS TIMESTAMPTZ)
                WHEN o.placed::BIGINT < 100000000000 THEN to_timestamp(o.placed::BIGINT)
                ELSE epoch_ms(o.placed::BIGINT)::TIMESTAMPTZ
            END AS placed_at
        FROM events
    ),
    found AS (
        SELECT
            *,
            list_transform(lines, lambda line: {
                id: session || ':Line:order_id=' || o.id || ',line_no=' || (line->>'$.no'),
                line: line
            }) AS line_nodes,
            flatten(list_transform(o.shipments, lambda shipment:
                list_transform(shipment.parcels, lambda parcel: {
                    id: session || ':Parcel:tracking_no=' || parcel.tracking,
                    parcel: parcel,
                    shipment: shipment
                })
            )) AS parcel_nodes
        FROM orders
    ),
    graphs AS (
        SELECT
            *,
            list_concat(
                [{
                    node_id: order_node,
                    entity_name: 'Order',
                    labels: ['Order'],
                    properties: [
                        {name: 'order_id', value: to_json(o.id)},
                        {name: 'state', value: to_json(lower(o.state))},
                        {name: 'currency', value: to_json(coalesce(o.currency, 'EUR'))},
                        {name: 'total', value: to_json(try_cast(o.total AS DOUBLE))},
                        {name: 'placed_at', value: to_json(
                            strftime(placed_at, '%Y-%m-%dT%H:%M:%S')
                            || rtrim(rtrim(strftime(placed_at, '.%f'), '0'), '.') || 'Z'
                        )},
                        {name: 'campaign', value: to_json(string_split(o.source, '/')[2])},
                        {name: 'payment_method', value:
                            CASE WHEN json_valid(o.payment) THEN to_json(o.payment->>'$.method') END}
                    ]
                }],
                list_transform(line_nodes, lambda node: {
                    node_id: node.id,
                    entity_name: 'Line',
                    labels: ['Line'],
                    properties: [
                        {name: 'order_id', value: to_json(o.id)},
                        {name: 'line_no', value: node.line->'$.no'},
                        {name: 'article', value: node.line->'$.article.sku'},
                        {name: 'quantity', value: node.line->'$.quantity'},
                        {name: 'price', value: to_json(try_cast((node.line->>'$.price') AS DOUBLE))},
                        {name: 'label', value: to_json(
                            o.id || '/' || (node.line->>'$.no') || ': ' || (node.line->>'$.article.name')
                        )}
                    ]
                }),
                list_transform(parcel_nodes, lambda node: {
                    node_id: node.id,
                    entity_name: 'Parcel',
                    labels: ['Parcel'],
                    properties: [
                        {name: 'tracking_no', value: to_json(node.parcel.tracking)},
                        {name: 'carrier', value: to_json(upper(node.shipment.carrier))},
                        {name: 'weight_g', value: to_json(node.parcel.weight_g)}
                    ]
                })
            ) AS nodes,
            list_concat(
                list_transform(line_nodes, lambda node: {
                    edge_id: order_node || ':HAS_LINE:' || node.id,
                    relationship_name: 'HAS_LINE',
                    from_node_id: order_node,
                    to_node_id: node.id,
                    properties: [{name: 'shipment_no', value: NULL::JSON}]
                }),
                list_transform(parcel_nodes, lambda node: {
                    edge_id: order_node || ':SENT_IN:' || node.id,
                    relationship_name: 'SENT_IN',
                    from_node_id: order_node,
                    to_node_id: node.id,
                    properties: [{name: 'shipment_no', value: to_json(node.shipment."no")}]
                }),
                CASE WHEN o.customer.id IS NOT NULL THEN [{
                    edge_id: o.id || '-by-' || o.customer.id,
                    relationship_name: 'PLACED_BY',
                    from_node_id: order_node,
                    to_node_id: session || ':Customer:customer_id=' || o.customer.id,
                    properties: [{name: 'shipment_no', value: NULL::JSON}]
                }] END
            ) AS edges,
            list_transform(nodes, lambda node: node.node_id) AS node_ids,
            list_transform(edges, lambda edge: edge.edge_id) AS edge_ids
        FROM found
    )
SELECT to_json({
    -- Of two with one id the later one counts; what has no value is left out.
    nodes: CASE WHEN is_wanted THEN list_transform(
        list_filter(nodes, lambda node, i: NOT list_contains(node_ids[i + 1:], node.node_id)),
        lambda node: {
            node_id: node.node_id,
            entity_name: node.entity_name,
            labels: node.labels,
            properties: list_filter(node.properties, lambda property: property.value IS NOT NULL)
        }
    ) ELSE [] END,
    edges: CASE WHEN is_wanted THEN list_transform(
        list_filter(edges, lambda edge, i: NOT list_contains(edge_ids[i + 1:], edge.edge_id)),
        lambda edge: {
            edge_id: edge.edge_id,
            relationship_name: edge.relationship_name,
            from_node_id: edge.from_node_id,
            to_node_id: edge.to_node_id,
            properties: list_filter(edge.properties, lambda property: property.value IS NOT NULL)
        }
    ) ELSE [] END,
    fully_handled_span_ids: CASE WHEN is_wanted AND o.note IS NULL THEN [span] ELSE [] END,
    partially_handled_span_ids: CASE WHEN is_wanted AND o.note IS NOT NULL THEN [span] ELSE [] END
})::VARCHAR
FROM graphs
