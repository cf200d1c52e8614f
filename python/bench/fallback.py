"""`run_with_fallback` beside the original's, on one event, in turns.

    python bench/fallback.py    # takes bigquery-agent-analytics
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bigquery_agent_analytics import extractor_compilation as original
from bigquery_agent_analytics import resolved_spec

import retort
from retort import compat

PLAN = {
    "event_type": "bka_decision",
    "target_entity_name": "mako_DecisionPoint",
    "function_name": "extract_bka",
    "key_field": {"property_name": "decision_id", "source_path": ["content", "decision_id"]},
    "property_fields": [
        {"property_name": "outcome", "source_path": ["content", "outcome"]},
        {"property_name": "confidence", "source_path": ["content", "confidence"]},
    ],
    "span_handling": {"span_id_path": ["span_id"], "partial_when_path": ["content", "reasoning_text"]},
}
EVENT = {
    "event_type": "bka_decision",
    "session_id": "sess1",
    "span_id": "span1",
    "content": {"decision_id": "d1", "outcome": "approved", "confidence": 0.92},
}


def time_of(work: Callable[[], Any], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        work()
    return (time.perf_counter() - started) / count * 1e6


def main() -> None:
    of = resolved_spec.ResolvedProperty
    properties = (of("decision_id", "decision_id", "string"), of("outcome", "outcome", "string"), of("confidence", "confidence", "double"))
    entity = resolved_spec.ResolvedEntity("mako_DecisionPoint", "p.d.t", ("decision_id",), ("mako_DecisionPoint",), properties)
    graph = resolved_spec.ResolvedGraph("g", (entity,), ())
    with tempfile.TemporaryDirectory() as temporary:
        module = Path(temporary) / "module.py"
        module.write_text(original.render_extractor_source(original.parse_resolved_extractor_plan_json(PLAN)))
        theirs = original.load_callable_from_source(module, module_name="theirs", function_name="extract_bka")
        plan = compat.parse_resolved_extractor_plan_json(PLAN)
        made = compat.compile_extractor(
            source=compat.render_extractor_source(plan), sample_events=[EVENT], resolved_graph=graph, parent_bundle_dir=Path(temporary) / "bundles"
        )
        ours = compat.load_bundle(made.bundle_dir)

    def work(of: Any, extractor: Any, event: Any) -> Callable[[], Any]:
        return lambda: of.run_with_fallback(
            event=event, spec=None, resolved_graph=graph, compiled_extractor=extractor, fallback_extractor=lambda event, spec: None
        )

    text = json.dumps(EVENT)
    ways = {"a dict": work(compat, ours, EVENT), "text": work(compat, ours, text)}
    ways["a dict, and its nodes"] = lambda: ways["a dict"]().result.nodes
    print(f"{len(text)} bytes")
    for _ in range(4):
        before = time_of(work(original, theirs, EVENT), 20_000)
        told = [f"{name} {(took := time_of(way, 100_000)):.2f} us, {before / took:.1f} times" for name, way in ways.items()]
        print(f"the original {before:.2f} us; here {'; '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
