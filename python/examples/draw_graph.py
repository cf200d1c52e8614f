"""Draws the graph that extractors make of a file of events.

    python draw_graph.py BUNDLES EVENTS IMAGE     # takes matplotlib and networkx

Nodes are coloured by entity and named by the end of their ids, and edges have the names of their relationships. It draws the first 60 nodes:
a drawing of more shows nothing.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import networkx as nx  # noqa: E402

import retort  # noqa: E402

MOST = 60


def graph_of(bundle: retort.Bundle, events: str) -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    with open(events, "rb") as lines:
        for outcome in bundle.extract_many(lines):
            if isinstance(outcome, retort.Error):
                print(f"passed over: {outcome}", file=sys.stderr)
                continue
            for node in outcome.nodes:
                if len(graph) < MOST or node.node_id in graph:
                    graph.add_node(node.node_id, entity=node.entity_name, **{f"p_{name}": value for name, value in node.properties.items()})
            for edge in outcome.edges:
                # The end of an edge may be a node of another event, of which nothing is known here.
                if edge.from_node_id in graph and (edge.to_node_id in graph or len(graph) < MOST):
                    graph.add_edge(edge.from_node_id, edge.to_node_id, name=edge.relationship_name)
    return graph


def draw(graph: nx.MultiDiGraph, image: str) -> None:
    entities = sorted({entity or "elsewhere" for _, entity in graph.nodes(data="entity")})
    colours = {entity: plt.colormaps["tab10"](number % 10) for number, entity in enumerate(entities)}
    places = nx.spring_layout(graph, seed=7, k=2.2 / max(len(graph), 1) ** 0.5)
    plt.figure(figsize=(16, 12))
    for entity in entities:
        nodes = [node for node, of in graph.nodes(data="entity") if (of or "elsewhere") == entity]
        nx.draw_networkx_nodes(graph, places, nodelist=nodes, node_color=[colours[entity]], node_size=240, label=entity)
    nx.draw_networkx_edges(graph, places, edge_color="#999999", arrowsize=10)
    nx.draw_networkx_labels(graph, places, {node: node.rpartition("=")[2][:24] for node in graph}, font_size=7)
    names = {(start, end): name for start, end, name in graph.edges(data="name")}
    nx.draw_networkx_edge_labels(graph, places, names, font_size=5)
    plt.legend()
    plt.axis("off")
    plt.tight_layout()
    plt.savefig(image, dpi=120)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    drawn = graph_of(retort.Bundle.load(sys.argv[1]), sys.argv[2])
    draw(drawn, sys.argv[3])
    print(f"{len(drawn)} nodes and {drawn.number_of_edges()} edges in {sys.argv[3]}")
