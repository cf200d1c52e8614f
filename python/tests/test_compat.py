"""The module with the names of the original, beyond the contract's cases."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Any

import pytest
from conftest import GRAPH, PLAN, event

import retort
from retort import compat

SPEC = {
    "entities": [
        {
            "name": "Order",
            "key_columns": ["order_id"],
            "properties": [
                {"column": "order_id", "logical_name": "order_id", "sdk_type": "string"},
                {"column": "total", "logical_name": "total", "sdk_type": "double"},
            ],
        }
    ]
}


def fallback(event: Any, spec: Any) -> Any:
    return ("the fallback's", spec)


def run(extractor: Any, event: Any, graph: Any = None) -> compat.FallbackOutcome:
    return compat.run_with_fallback(
        event=event, spec="spec", resolved_graph=graph, compiled_extractor=extractor, fallback_extractor=fallback
    )


def test_a_bundle_is_an_extractor(made: retort.Compilation) -> None:
    extractor = compat.load_bundle(made.path, expected_fingerprint=made.fingerprint)
    for graph in (None, made.path / "graph.json"):
        outcome = run(extractor, event(1), graph)
        assert outcome.decision == "compiled_unchanged" and outcome.compiled_exception is None
        assert outcome.result == extractor(event(1), None) == compat.StructuredExtractionResult(
            [compat.ExtractedNode("s1:Order:order_id=A-1", "Order", ["Order"], [
                compat.ExtractedProperty("order_id", "A-1"), compat.ExtractedProperty("total", 12.5)])],
            [], {"p1"}, set())
        assert outcome.result is outcome.result
        assert outcome.dropped_node_ids == outcome.dropped_edge_ids == outcome.validation_failures == ()


def test_of_a_bundle_what_does_not_fit_is_dropped(small: retort.Bundle) -> None:
    outcome = run(small, event(1, total="much"))
    assert outcome.decision == "compiled_filtered"
    assert [(it.scope, it.code) for it in outcome.validation_failures] == [(compat.FallbackScope.FIELD, "type_mismatch")]
    assert outcome.result.partially_handled_span_ids == {"p1"} and not outcome.result.fully_handled_span_ids


def test_an_event_that_a_bundle_refuses_goes_to_the_fallback(small: retort.Bundle) -> None:
    for bad in ("[]", 5, {"a": {1}}):
        outcome = run(small, bad)
        assert (outcome.decision, outcome.result) == ("fallback_for_event", ("the fallback's", "spec"))
        assert outcome.compiled_exception is not None and outcome.compiled_exception.startswith("event_not_")


def test_another_graph_than_the_bundles_is_held_to(small: retort.Bundle) -> None:
    other = {"entities": [{**SPEC["entities"][0], "properties": [
        SPEC["entities"][0]["properties"][0], {"column": "total", "logical_name": "total", "sdk_type": "string"}]}]}  # type: ignore[index]
    outcome = run(small, event(1), other)
    assert outcome.decision == "compiled_filtered"
    assert [it.path for it in outcome.validation_failures] == ["nodes[0].properties[1].value"]


def test_what_the_fallback_raises_is_raised(small: retort.Bundle) -> None:
    def fails(event: Any, spec: Any) -> Any:
        raise LookupError("nothing either")

    with pytest.raises(LookupError, match="nothing either"):
        compat.run_with_fallback(event="[]", spec=None, resolved_graph=None, compiled_extractor=small, fallback_extractor=fails)


def test_an_interrupt_is_not_caught(small: retort.Bundle) -> None:
    def interrupted(event: Any, spec: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupted, event(1), SPEC)


def test_classes_of_the_original_are_taken() -> None:
    """Shapes alone count: frozen dataclasses for specs, models with `model_dump` for what was extracted."""

    @dataclasses.dataclass(frozen=True)
    class ResolvedProperty:
        column: str
        logical_name: str
        sdk_type: str
        description: str = ""

    @dataclasses.dataclass(frozen=True)
    class ResolvedEntity:
        name: str
        source: str
        key_columns: tuple[str, ...]
        properties: tuple[ResolvedProperty, ...]

    @dataclasses.dataclass(frozen=True)
    class ResolvedGraph:
        name: str
        entities: tuple[ResolvedEntity, ...]
        relationships: tuple[Any, ...] = ()

    class Kind(enum.Enum):
        ORDER = "Order"

    class Node:
        def model_dump(self) -> dict[str, Any]:
            return {"node_id": "s:Order:order_id=1", "entity_name": Kind.ORDER, "labels": [], "properties": [{"name": "order_id", "value": "1"}]}

    class Graph:
        def model_dump(self) -> dict[str, Any]:
            return {"name": "g", "nodes": [Node()], "edges": [], "diagnostics": []}

    entity = ResolvedEntity("Order", "p.d.t", ("order_id",), (ResolvedProperty("order_id", "order_id", "string"),))
    assert compat.validate_extracted_graph(ResolvedGraph("g", (entity,)), Graph()).ok


def test_plans_are_the_originals_and_more() -> None:
    plan = compat.parse_resolved_extractor_plan_json(PLAN)
    assert plan == compat.ResolvedExtractorPlan(
        "order_placed", "Order", "read_order",
        compat.FieldMapping("order_id", ("content", "id")),
        (compat.FieldMapping("total", ("content", "total")),),
        span_handling=compat.SpanHandlingRule(),
    )
    more = {**PLAN, "property_fields": [{"property_name": "total", "source_path": ["content", "total"], "nulls": "keep"}]}
    assert compat._plan_data(compat.parse_resolved_extractor_plan_json(more))["property_fields"][0]["nulls"] == "keep"
    long = {"event_type": "a", "function_name": "f", "nodes": [{"entity": "Order", "key_fields": [{"property_name": "order_id", "source_path": ["id"]}]}]}
    with pytest.raises(compat.PlanParseError):
        compat.parse_resolved_extractor_plan_json(long)


def test_a_program_of_the_original_goes_on(tmp_path: Path) -> None:
    """A rule, a client and a callback around compile_extractor; then the bundle with its fallback."""

    class Client:
        def generate_json(self, prompt: str, schema: dict[str, Any]) -> Any:
            assert "Every order" in prompt
            return PLAN if "unknown_field" in prompt else {**PLAN, "nots": 1}

    def compile_source(plan: compat.ResolvedExtractorPlan, source: str) -> compat.CompileResult:
        return compat.compile_extractor(
            source=source,
            module_name="order_module",
            function_name=plan.function_name,
            event_types=(plan.event_type,),
            sample_events=[event(1), event(2)],
            spec=None,
            resolved_graph=GRAPH,
            parent_bundle_dir=tmp_path,
            fingerprint_inputs={},
            template_version="v0.1",
        )

    result = compat.compile_with_llm(
        extraction_rule={"rule": "Every order becomes an Order."},
        event_schema={"content": {"id": "string", "total": "double"}},
        llm_client=Client(),
        compile_source=compile_source,
        graph=GRAPH,
        samples=[event(1)],
    )
    assert result.ok and result.reason == "succeeded"
    first, second = result.attempts
    assert first.plan_parse_error is not None and first.plan_parse_error.code == "unknown_field" and first.raw_response["nots"] == 1
    assert second.compile_result.ok and second.compile_result.bundle_dir == result.bundle_dir
    extractor = compat.load_bundle(result.bundle_dir, expected_fingerprint=result.manifest.fingerprint)
    assert run(extractor, event(3)).decision == "compiled_unchanged"


def test_a_rejection_of_a_gate_is_told_to_the_model(tmp_path: Path) -> None:
    prompts = []

    class Client:
        def generate_json(self, prompt: str, schema: dict[str, Any]) -> Any:
            prompts.append(prompt)
            path = ["content", "id"] if len(prompts) > 1 else ["content", "idd"]
            return {**PLAN, "key_field": {"property_name": "order_id", "source_path": path}}

    def compile_source(plan: compat.ResolvedExtractorPlan, source: str) -> compat.CompileResult:
        return compat.compile_extractor(source=source, sample_events=[event(1)], resolved_graph=GRAPH, parent_bundle_dir=tmp_path)

    result = compat.compile_with_llm(
        extraction_rule={"rule": "Orders"}, event_schema={}, llm_client=Client(), compile_source=compile_source, graph=GRAPH, samples=[event(1)]
    )
    assert result.ok and [it.compile_result.ok for it in result.attempts] == [False, True]
    assert result.attempts[0].diagnostic is not None and result.attempts[0].diagnostic in prompts[1]
    assert "idd" in result.attempts[0].diagnostic


def test_what_can_not_be_taken_says_what_to_use(tmp_path: Path) -> None:
    with pytest.raises(retort.InputError, match="retort.compile"):
        compat.compile_extractor(source="def f(event, spec): ...", sample_events=[event(1)], resolved_graph=GRAPH, parent_bundle_dir=tmp_path)
    for name, instead in compat._INSTEAD.items():
        with pytest.raises(AttributeError, match="use ") as raised:
            getattr(compat, name)
        assert instead in str(raised.value)
    with pytest.raises(ImportError):
        from retort.compat import PlanResolver  # type: ignore[attr-defined]  # noqa: F401


def test_prompts_are_the_same_bytes() -> None:
    one = compat.build_resolution_prompt({"b": 1, "a": 2}, {"x": "string"}, graph=GRAPH, samples=[event(1)])
    assert one == compat.build_resolution_prompt({"a": 2, "b": 1}, {"x": "string"}, graph=GRAPH, samples=[event(1)])
    for rule, schema in ([{1: 2}, {}], [{}, {"a": float("nan")}], ["words", {}], [{"a": {1}}, {}]):
        with pytest.raises(TypeError):
            compat.build_resolution_prompt(rule, schema, graph=GRAPH, samples=[event(1)])
