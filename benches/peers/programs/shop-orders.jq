def nothing: {nodes: [], edges: [], fully_handled_span_ids: [], partially_handled_span_ids: []};

# A number, as such or as text.
def number: try tonumber catch null;

# Epoch seconds or milliseconds, or a time that is written out.
def moment:
  try (if type == "string" then fromdate elif . < 1e11 then . else . / 1000 end | todate) catch null;

def named: [to_entries[] | select(.value != null) | {name: .key, value: .value}];

def node($entity; $id; properties):
  {node_id: $id, entity_name: $entity, labels: [$entity], properties: (properties | named)};

# Of two with one id the later one counts.
def last_by(id): reduce .[] as $one ({}; .[$one | id] = $one) | [.[]];

def truthy: . != null and . != false and . != 0 and . != "";

.order as $order
| .till.session as $session
| "\($session):Order:order_id=\($order.id)" as $order_node
| def edge($relationship; $to; properties; $id):
    {
      edge_id: $id,
      relationship_name: $relationship,
      from_node_id: $order_node,
      to_node_id: $to,
      properties: (properties | named)
    };
  def edge($relationship; $to; properties):
    edge($relationship; $to; properties; "\($order_node):\($relationship):\($to)");
  if (.event_type != "order.placed" and .event_type != "order.changed")
    or ($order.test | truthy) or $order.id == null then
    nothing
  else
    [
      $order.lines
      | arrays[]
      | objects
      | select((.quantity | truthy) and .no != null)
      | {line: ., id: "\($session):Line:order_id=\($order.id),line_no=\(.no)"}
    ] as $lines
    | [
        $order.shipments[]?
        | . as $shipment
        | .parcels[]
        | {parcel: ., $shipment, id: "\($session):Parcel:tracking_no=\(.tracking)"}
      ] as $parcels
    | $order.customer.id as $customer
    | {
        nodes: [
          node("Order"; $order_node; {
            order_id: $order.id,
            state: ($order.state | ascii_downcase),
            currency: ($order.currency // "EUR"),
            total: ($order.total | number),
            placed_at: ($order.placed | moment),
            campaign: ($order.source | try split("/")[1] catch null),
            payment_method: ($order.payment | try (fromjson | .method) catch null)
          }),
          ($lines[] | .line as $line | node("Line"; .id; {
            order_id: $order.id,
            line_no: $line.no,
            article: $line.article.sku,
            quantity: $line.quantity,
            price: ($line.price | number),
            label: "\($order.id)/\($line.no): \($line.article.name)"
          })),
          ($parcels[] | . as {$parcel, $shipment} | node("Parcel"; .id; {
            tracking_no: $parcel.tracking,
            carrier: ($shipment.carrier | ascii_upcase),
            weight_g: $parcel.weight_g
          }))
        ] | last_by(.node_id),
        edges: [
          ($lines[] | edge("HAS_LINE"; .id; {})),
          ($parcels[] | edge("SENT_IN"; .id; {shipment_no: .shipment.no})),
          if $customer != null then
            edge("PLACED_BY"; "\($session):Customer:customer_id=\($customer)"; {}; "\($order.id)-by-\($customer)")
          else
            empty
          end
        ] | last_by(.edge_id),
        fully_handled_span_ids: (if $order.note == null then [.span] else [] end),
        partially_handled_span_ids: (if $order.note == null then [] else [.span] end)
      }
  end
