"""Compile, check and repair."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, GRAPH, PLAN, event

import retort

RULE = "Every order that was placed becomes an Order with its total."


def given(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {"rule": RULE, "graph": GRAPH, "samples": [event(1), event(2)], "out": tmp_path, **more}


def test_a_callable_is_a_model(tmp_path: Path) -> None:
    asked = []

    def model(prompt: str, schema: dict[str, Any]) -> Any:
        asked.append((prompt, schema))
        schema.clear()
        if len(asked) == 1:
            return '{"event_type": "order_placed"'
        return PLAN if len(asked) == 2 else pytest.fail("asked too often")

    compiled = retort.compile(model=model, **given(tmp_path))
    assert compiled.load().extract(event(3)).nodes[0]["total"] == 12.5
    assert compiled.plan is not None and compiled.plan["function_name"] == "read_order"
    assert RULE in asked[0][0] and "truncated_response" in asked[1][0]
    assert asked[0][1] == {} == asked[1][1]
    assert compiled.history is not None
    codes = [it["failure"] and it["failure"]["code"] for it in compiled.history["attempts"]]
    assert codes == ["truncated_response", None] and compiled.history["model"].startswith("python:")


def test_an_object_with_generate_json_is_a_model(tmp_path: Path) -> None:
    class Client:
        def generate_json(self, prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
            return PLAN

    assert retort.compile(model=Client(), **given(tmp_path)).event_types == ["order_placed"]


def test_what_a_model_raises_is_the_cause_and_nothing_is_lost(tmp_path: Path) -> None:
    def model(prompt: str, schema: dict[str, Any]) -> Any:
        if "truncated_response" in prompt:
            raise ConnectionError("no more credit")
        return "{"

    with pytest.raises(retort.ModelError, match="ConnectionError: no more credit") as raised:
        retort.compile(model=model, **given(tmp_path))
    assert isinstance(raised.value.__cause__, ConnectionError) and raised.value.code == "model_command_failed"
    assert raised.value.history is not None and len(raised.value.history["attempts"]) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("answer", [5, None, ["x"], b"{}", {"a": {1}}])
def test_what_is_no_answer_is_told(tmp_path: Path, answer: Any) -> None:
    with pytest.raises(retort.ModelError) as raised:
        retort.compile(model=lambda prompt, schema: answer, **given(tmp_path))
    assert isinstance(raised.value.__cause__, TypeError)


def test_what_ends_the_program_ends_it(tmp_path: Path) -> None:
    def model(prompt: str, schema: dict[str, Any]) -> Any:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        retort.compile(model=model, **given(tmp_path))


def test_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="callable"):
        retort.compile(model=5, **given(tmp_path))


def test_where_nothing_passes_all_attempts_are_told(tmp_path: Path) -> None:
    with pytest.raises(retort.CompileError) as raised:
        retort.compile(model=lambda prompt, schema: {**PLAN, "event_type": "ordr"}, repair=False, max_attempts=3, **given(tmp_path))
    error = raised.value
    assert error.history is not None and error.code == "repeated_failure"
    assert {it["failure"]["code"] for it in error.history["attempts"]} == {"event_type_without_sample"}
    assert error.diagnostic is not None and "event_type" in error.diagnostic


def test_a_plan_that_fails_is_told_with_all_problems(tmp_path: Path) -> None:
    plan = {**PLAN, "event_type": "", "nodes_": []}
    with pytest.raises(retort.CompileError) as raised:
        retort.compile(plan=plan, graph=GRAPH, samples=[event(1)], out=tmp_path)
    assert {it["code"] for it in raised.value.problems} == {"unknown_field", "empty_string"}


def test_a_project_is_compiled_as_the_command_does(tmp_path: Path) -> None:
    compiled = retort.compile(EXAMPLES / "agent-decision", out=tmp_path)
    assert compiled.history is not None and [it["kind"] for it in compiled.history["attempts"]] == ["model", "model", "mechanical", "mechanical"]
    again = retort.compile(EXAMPLES / "agent-decision", out=tmp_path)
    assert again.cached and again.fingerprint == compiled.fingerprint


def test_code_takes_the_command(tmp_path: Path) -> None:
    with pytest.raises(retort.InputError, match="retort compile"):
        retort.compile(EXAMPLES / "tool-timing", out=tmp_path)


def test_the_same_event_type_twice_is_told(tmp_path: Path, made: retort.Compilation) -> None:
    first = given(tmp_path)
    del first["rule"]
    retort.compile(plan=PLAN, name="one", **first)
    with pytest.raises(retort.CompileError) as raised:
        retort.compile(plan={**PLAN, "property_fields": []}, name="two", **first)
    assert raised.value.code == "event_type_taken"


def test_check_says_whether_a_plan_or_a_bundle_holds(made: retort.Compilation) -> None:
    report = retort.check(PLAN, graph=GRAPH, samples=[event(1)])
    assert report and report.problems == [] and report.coverage is not None
    assert retort.check(made.path, samples=[event(1)]).ok
    wrong = retort.check({**PLAN, "key_field": {"property_name": "order_id", "source_path": ["content", "idd"]}}, graph=GRAPH, samples=[event(1)])
    assert not wrong and [it["code"] for it in wrong.problems] == ["unknown_path"] and wrong.diagnostic
    missing = retort.check(made.path.parent, samples=[event(1)])
    assert [it["code"] for it in missing.problems] == ["manifest_missing"]


def test_check_holds_to_what_is_expected(made: retort.Compilation) -> None:
    samples = [event(1)]
    expected = {"line": 1, "nodes": [{"entity": "Order", "key": {"order_id": "A-1"}, "properties": {"total": 13}}]}
    report = retort.check(made.path, samples=samples, expected=[expected])
    assert not report.ok and report.problems[0]["stage"] == "expected"


def test_repair_mends_a_plan() -> None:
    wrong = json.loads(json.dumps(PLAN))
    wrong["property_fields"][0]["source_path"] = ["content", "totl"]
    repaired = retort.repair(wrong, graph=GRAPH, samples=[event(1), event(2), event(3)])
    assert not repaired.ok and repaired.plan is not None
    assert repaired.plan["property_fields"] == PLAN["property_fields"]
    assert [it["code"] for it in repaired.problems] == ["unknown_path"] and len(repaired.changes) == 1
    assert retort.repair(PLAN, graph=GRAPH, samples=[event(1)]).ok
