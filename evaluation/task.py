"""What the scripts of a task are given: choices that are the same on every machine, and a result to fill."""

import random


class Choices:
    """Choices that depend on the seed alone. They use nothing of `random` but `random()`, which is the same in all versions."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def below(self, limit):
        return int(self._random.random() * limit)

    def whole(self, low, high):
        """From `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def one_of(self, values):
        return values[self.below(len(values))]

    def chance(self, probability):
        return self._random.random() < probability

    def hexadecimal(self, digits):
        return "".join(self.one_of("0123456789abcdef") for _ in range(digits))


class Result:
    """The graph that one event gives, as a reference says it.

    Ids are made as docs/plan.md says: `{session}:{entity}:{key}={value}`. Properties that are None are left out. Of nodes with the same id the last one counts, and so of edges.
    """

    def __init__(self, session=None):
        self._session = text(session)
        self._nodes, self._edges, self._spans = {}, {}, {}

    def id_of(self, entity, **key):
        """The id of a node, which may be one that another event describes; None where a part of the key isn't there."""
        if any(value is None or isinstance(value, (dict, list)) for value in key.values()):
            return None
        return f"{self._session}:{entity}:" + ",".join(f"{name}={text(value)}" for name, value in key.items())

    def node(self, entity, key, **properties):
        """Adds a node and gives its id; without a key there is none."""
        node_id = self.id_of(entity, **key)
        if node_id is not None:
            self._nodes.pop(node_id, None)
            self._nodes[node_id] = {"id": node_id, "entity": entity, "properties": given({**key, **properties})}
        return node_id

    def edge(self, relationship, source, target, **properties):
        """Adds an edge, where both its ends are there."""
        if source is None or target is None:
            return
        edge = (source, relationship, target)
        self._edges.pop(edge, None)
        self._edges[edge] = {"relationship": relationship, "from": source, "to": target}
        if given(properties):
            self._edges[edge]["properties"] = given(properties)

    def span(self, span_id, partially=False):
        """Says that a span is handled; `partially` wins over `fully`, and what is no id is none."""
        if span_id and isinstance(span_id, (str, int, float)):
            span_id = text(span_id)
            self._spans[span_id] = self._spans.get(span_id, False) or partially

    def facts(self):
        """What came out: nodes, edges and spans, each only where there is one. Without nodes and edges no span is handled."""
        if not self._nodes and not self._edges:
            return {}
        fully = [span for span, partially in self._spans.items() if not partially]
        partially = [span for span, partially in self._spans.items() if partially]
        facts = {"nodes": list(self._nodes.values()), "edges": list(self._edges.values()), "fully": fully, "partially": partially}
        return {what: listed for what, listed in facts.items() if listed}


def given(properties):
    return {name: value for name, value in properties.items() if value is not None}


def text(value):
    """A scalar as it stands in an id."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
