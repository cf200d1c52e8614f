"""The contract with the original, through the package: every case of its files that is about what the package has.

| file | cases | through |
|---|---|---|
| plan_parser.json | 99 | parse_resolved_extractor_plan_json |
| diagnostics.json | 36 | build_gate_diagnostic |
| retry_loop.json | 21 | compile_with_llm |
| extraction.json | 61 | retort.compile and Bundle.extract; by the oracle alone is nothing run |
| graph_validation.json | 145 | validate_extracted_graph |
| runtime_fallback.json | 27 | run_with_fallback |

Not here are smoke.json, bundle_loader.json, registry.json and revalidation.json: they are about modules, directories and reports that the
package opens as a whole or leaves to the command, so that a case would need parts which Python isn't given. They are run in Rust.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import contract

import retort
from retort import compat

# What Retort does otherwise, on purpose: the same lists as those of the tests in Rust, which say why.
PLAN_DIFFERENCES: dict[str, tuple[str, str] | None] = {
    "order_function_before_key_field": ("wrong_type", "key_field"),
    "wrong_type_event_type_list": None,
}
GRAPH_DIFFERENCES = {
    "session_with_colon_shifts_entity_segment",
    "key_mismatch_comma_truncates",
    "external_session_with_colon",
}
PROPERTY_ALONE = "field_failure_drops_whole_node"
EMPTY_SPAN_HANDLING = "default_span_path_when_omitted"


def cases(name: str, part: str | None = None) -> list[Any]:
    file = contract(name)
    found = file if part is None else file[part]
    return [pytest.param(case, id=case["name"]) for case in found]


def test_all_cases_are_run() -> None:
    counts = {name: len(contract(name)) for name in ("plan_parser.json", "diagnostics.json", "retry_loop.json", "extraction.json", "graph_validation.json")}
    counts["runtime_fallback.json"] = len(contract("runtime_fallback.json")["cases"])
    assert counts == {
        "plan_parser.json": 99,
        "diagnostics.json": 36,
        "retry_loop.json": 21,
        "extraction.json": 61,
        "graph_validation.json": 145,
        "runtime_fallback.json": 27,
    }


# Plans


def plain(plan: compat.ResolvedExtractorPlan) -> dict[str, Any]:
    data = compat._plan_data(plan)
    return json.loads(json.dumps(data))


@pytest.mark.parametrize("case", cases("plan_parser.json"))
def test_plans_are_parsed(case: dict[str, Any]) -> None:
    expect = case["expect"]
    ok, code, path = expect["ok"], expect.get("code"), expect.get("path")
    if case["name"] in PLAN_DIFFERENCES:
        instead = PLAN_DIFFERENCES[case["name"]]
        ok, (code, path) = instead is None, instead or (None, None)
    if not ok:
        with pytest.raises(compat.PlanParseError) as raised:
            compat.parse_resolved_extractor_plan_json(case["input"])
        assert (raised.value.code, raised.value.path) == (code, path)
        return
    plan = compat.parse_resolved_extractor_plan_json(case["input"])
    if case["name"] not in PLAN_DIFFERENCES:
        assert plain(plan) == expect["plan"]
        assert all(isinstance(step, str) for step in plan.key_field.source_path)
    assert compat.render_extractor_source(plan).startswith(";; Rendered by Retort")


def test_keys_that_are_no_text_are_of_the_wrong_type() -> None:
    """What no case can say, since it is no JSON."""
    with pytest.raises(compat.PlanParseError) as raised:
        compat.parse_resolved_extractor_plan_json({"event_type": "x", "key_field": {1: 2}})  # type: ignore[dict-item]
    assert (raised.value.code, raised.value.path) == ("wrong_type", "key_field")


# Diagnostics


def report(kind: str, data: dict[str, Any]) -> Any:
    if kind == "parse":
        return compat.PlanParseError(**data)
    if kind == "ast":
        return compat.AstReport(tuple(compat.AstFailure(**it) for it in data["failures"]))
    if kind == "smoke":
        failures = data.get("validation_failures", [])
        failures = tuple(compat.ValidationFailure(**{**it, "scope": compat.FallbackScope(it["scope"])}) for it in failures)
        known = {name: value for name, value in data.items() if name in compat.SmokeTestReport.__dataclass_fields__}
        return compat.SmokeTestReport(**{**known, "validation_failures": failures})
    manifest = compat.Manifest("f", (), "m", "f") if data["manifest_present"] else None
    known = {name: value for name, value in data.items() if name in compat.CompileResult.__dataclass_fields__}
    ast, smoke = data.get("ast_report"), data.get("smoke_report")
    known["ast_report"] = compat.AstReport() if ast is None else report("ast", ast)
    known["smoke_report"] = None if smoke is None else report("smoke", smoke)
    bundle_dir = Path("bundle") if data["bundle_dir_present"] else None
    return compat.CompileResult(**{**known, "manifest": manifest, "bundle_dir": bundle_dir})


@pytest.mark.parametrize("case", cases("diagnostics.json"))
def test_diagnostics_are_the_contracts_text(case: dict[str, Any]) -> None:
    made = report(case["kind"], case["report"])
    assert compat.build_gate_diagnostic(case["kind"], made) == case["expect_text"]
    if case["kind"] == "compile":
        assert made.ok == case["report"]["ok"]


def test_what_is_no_report_of_its_kind_is_told() -> None:
    with pytest.raises(ValueError, match="parse, ast, smoke, compile"):
        compat.build_gate_diagnostic("render", compat.AstReport())
    with pytest.raises(TypeError, match="SmokeTestReport"):
        compat.build_gate_diagnostic("smoke", compat.AstReport())


# The loop

GRAPH = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]"
SAMPLES = [{"event_type": "order", "session_id": "s", "content": {"id": "A-1"}}]


class Raised(Exception):
    """What a client or a callback raises."""


class Client:
    """A model that gives these answers in turn."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers, self.prompts = list(answers), []

    def generate_json(self, prompt: str, schema: dict[str, Any]) -> Any:
        assert schema["required"]
        schema.clear()
        self.prompts.append(prompt)
        answer = self.answers[len(self.prompts) - 1]
        if isinstance(answer, dict) and "$raise" in answer:
            raise Raised(answer["$raise"])
        return answer


def outcome(of: dict[str, Any]) -> compat.CompileResult:
    """What a compilation comes to."""
    if of.get("ok"):
        return compat.CompileResult(
            manifest=compat.Manifest("f", (), "m", "f"),
            smoke_report=compat.SmokeTestReport(events_with_nonempty_result=1),
            bundle_dir=Path("bundle"),
        )
    detail = of["detail"]
    match of["code"]:
        case "invalid_identifier":
            return compat.CompileResult(invalid_identifier=detail)
        case "invalid_event_types":
            return compat.CompileResult(invalid_event_types=detail)
        case "load_error":
            return compat.CompileResult(load_error=detail)
        case "ast":
            return compat.CompileResult(ast_report=compat.AstReport((compat.AstFailure("syntax_error", detail),)))
        case "smoke":
            failed = compat.SmokeTestReport(events_processed=1, events_with_exception=1, exceptions=(detail,))
            return compat.CompileResult(smoke_report=failed)
        case "unknown":
            # Nothing failed, and nothing is there.
            return compat.CompileResult()
        case other:
            raise AssertionError(other)


@pytest.mark.parametrize("case", cases("retry_loop.json"))
def test_the_loop_goes_as_the_contract_says(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    expected, client, compiled = case["expected"], Client(case["llm_responses"]), []
    outcomes = list(case.get("compile_outcomes", []))
    answers = case["llm_responses"]
    rendered = list(case.get("render_outcomes", []))
    if rendered:
        # A plan that the renderer refuses, wherever the case says that it does.
        client.answers = [_as_rendered(answer, rendered) for answer in answers]

    def compile_source(plan: compat.ResolvedExtractorPlan, source: str) -> compat.CompileResult:
        assert isinstance(plan, compat.ResolvedExtractorPlan) and source.startswith(";; Rendered by Retort")
        compiled.append(plan)
        of = outcomes.pop(0) if outcomes else {"ok": True}
        if "$raise" in of:
            raise Raised(of["$raise"])
        return outcome(of)

    def run() -> compat.RetryCompileResult:
        return compat.compile_with_llm(
            extraction_rule=case.get("extraction_rule", {"rule": "Every decision is a node."}),
            event_schema=case.get("event_schema", {"event_type": "string"}),
            llm_client=client,
            compile_source=compile_source,
            max_attempts=case["max_attempts"],
            graph=GRAPH,
            samples=SAMPLES,
        )

    if "raises" in expected:
        kind = {"argument_error": ValueError, "type_error": TypeError}.get(expected["raises"], Raised)
        with pytest.raises(kind):
            run()
    else:
        result = run()
        assert (result.ok, result.reason) == (expected["ok"], expected["reason"])
        assert len(result.attempts) == len(expected["attempts"])
        for number, (want, found) in enumerate(zip(expected["attempts"], result.attempts, strict=True), 1):
            assert found.attempt == number and found.raw_response == client.answers[number - 1]
            assert (found.diagnostic is not None) == want["has_diagnostic"]
            channels = {
                "plan_parse_error": found.plan_parse_error,
                "render_error": found.render_error,
                "compile_result": found.compile_result,
            }
            assert [name for name, value in channels.items() if value is not None] == [want["channel"]]
            if want["channel"] == "compile_result":
                assert found.compile_result.ok == want.get("ok", False)
            if want["channel"] == "plan_parse_error" and "code" in want:
                assert found.plan_parse_error is not None and found.plan_parse_error.code == want["code"]
        # What was fed forward is in the next prompt, behind the first one.
        for before, after in zip(result.attempts, result.attempts[1:], strict=False):
            assert before.diagnostic is not None
            assert after.prompt.startswith(result.attempts[0].prompt.rstrip("\n")[:200]) and before.diagnostic in after.prompt
        assert (result.last_diagnostic is None) == result.ok
    assert len(client.prompts) == expected["n_llm_calls"] and len(compiled) == expected["n_compile_calls"]


def _as_rendered(answer: Any, rendered: list[dict[str, Any]]) -> Any:
    try:
        compat.parse_resolved_extractor_plan_json(answer)
    except compat.PlanParseError:
        return answer
    of = rendered.pop(0) if rendered else {"ok": True}
    if of.get("ok"):
        return answer
    data = json.loads(answer) if isinstance(answer, str) else answer
    return {**data, "key_field": {"property_name": "id", "template": "{content.id}-" * 300}}


def test_what_a_model_is_told_of_has_to_be_given() -> None:
    with pytest.raises(retort.InputError, match="`graph` and `samples`"):
        compat.compile_with_llm(extraction_rule={}, event_schema={}, llm_client=Client([]), compile_source=lambda plan, source: None)


# Extraction


def sample(plan: dict[str, Any]) -> dict[str, Any]:
    """An event that has all that a plan reads."""
    event: dict[str, Any] = {"event_type": plan["event_type"]}
    mappings = [plan["key_field"], *plan.get("property_fields", [])]
    span = plan.get("span_handling") or {}
    paths = [*(it["source_path"] for it in mappings), plan.get("session_id_path"), span.get("span_id_path"), span.get("partial_when_path")]
    for path in paths:
        place = event
        for step in (path or [])[:-1]:
            place = place.setdefault(step, {})
        if path:
            place.setdefault(path[-1], "x")
    return event


@pytest.mark.parametrize("case", cases("extraction.json"))
def test_extractors_give_what_the_contract_says(case: dict[str, Any], tmp_path: Path) -> None:
    plan, expect = case["plan"], case["expect"]
    names = [it["property_name"] for it in [plan["key_field"], *plan.get("property_fields", [])]]
    properties = [{"column": name, "logical_name": name, "sdk_type": "string"} for name in names]
    graph = {"entities": [{"name": plan["target_entity_name"], "key_columns": names[:1], "properties": properties}]}
    made = retort.compile(plan=plan, graph=graph, samples=[sample(plan)], out=tmp_path)
    # As it is: what values may be is the business of a graph spec, which no case has.
    bundle = made.load(graph_check=False)
    if case["name"] == EMPTY_SPAN_HANDLING:
        expect = {**expect, "fully_handled_span_ids": ["span1"]}
    assert bundle.extract(case["event"]).to_dict() == expect


# Graphs


@pytest.mark.parametrize("case", cases("graph_validation.json"))
def test_graphs_are_validated(case: dict[str, Any]) -> None:
    external = case.get("allow_external_endpoints", False)
    found = compat.validate_extracted_graph(case["spec"], case["graph"], allow_external_endpoints=external)
    expect = case["expect"] if case["name"] not in GRAPH_DIFFERENCES else {"ok": True, "failures": []}
    told = [
        {name: getattr(it, name) for name in ("code", "path", "node_id", "edge_id") if getattr(it, name) is not None} | {"scope": it.scope.value}
        for it in found.failures
    ]
    assert (found.ok, told) == (expect["ok"], expect["failures"])
    assert all(it.detail and it.expected and it.observed for it in found.failures)
    for scope in compat.FallbackScope:
        assert all(it.scope is scope for it in found.by_scope(scope))


def test_graphs_may_be_objects() -> None:
    spec = {"entities": [{"name": "Order", "key_columns": ["id"], "properties": [{"column": "id", "logical_name": "id", "sdk_type": "string"}]}]}
    node = compat.ExtractedNode("s:Order:id=1", "Order", ["Order"], [compat.ExtractedProperty("id", "2")])
    found = compat.validate_extracted_graph(spec, compat.ExtractedGraph("g", [node]))
    assert [it.code for it in found.failures] == ["key_mismatch"]


# The fallback


def structured(data: dict[str, Any]) -> compat.StructuredExtractionResult:
    """As an extractor of theirs would give it: whatever is in it."""
    result = compat.StructuredExtractionResult(data["nodes"], data["edges"])
    result.fully_handled_span_ids = set(data["fully_handled_span_ids"])
    result.partially_handled_span_ids = set(data["partially_handled_span_ids"])
    return result


@pytest.mark.parametrize("case", cases("runtime_fallback.json", "cases"))
def test_the_fallback_is_as_the_contract_says(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    expect, does = case["expect"], case["compiled"]
    if "injected_validation_failures" in case:
        pytest.skip("no result has such failures: what becomes of them is tried in Rust")
    stand_in = compat.StructuredExtractionResult(fully_handled_span_ids={"of the fallback"})
    called = []

    def fallback(event: Any, spec: Any) -> Any:
        called.append((event, spec))
        return stand_in

    def compiled(event: Any, spec: Any) -> Any:
        assert (event, spec) == (case["event"], "the spec")
        if "raise" in does:
            kind, message = does["raise"].split(": ")
            raise {"RuntimeError": RuntimeError, "SystemExit": SystemExit}[kind](message)
        if "return_type" in does:
            return {"NoneType": None}[does["return_type"]]
        if "malformed" in does:
            field, what = does["malformed"].split(" is ")
            result = compat.StructuredExtractionResult()
            setattr(result, field, {"null": None, "a list": ["s"]}[what])
            return result
        return structured(does["result"])

    outcome = compat.run_with_fallback(
        event=case["event"], spec="the spec", resolved_graph=case["spec"], compiled_extractor=compiled, fallback_extractor=fallback
    )
    if case["name"] == PROPERTY_ALONE:
        # A property that is no key goes alone.
        assert (outcome.decision, outcome.dropped_node_ids) == ("compiled_filtered", ())
        assert [it.name for it in outcome.result.nodes[0].properties] == ["order_id"]
        return
    assert outcome.decision == expect["decision"] and bool(called) == expect["fallback_called"]
    assert list(outcome.dropped_node_ids) == expect["dropped_node_ids"]
    assert list(outcome.dropped_edge_ids) == expect["dropped_edge_ids"]
    told = [
        {name: getattr(it, name) for name in ("code", "path", "node_id", "edge_id") if getattr(it, name) is not None} | {"scope": it.scope.value}
        for it in outcome.validation_failures
    ]
    assert told == expect["validation_failures"]
    prefix = expect.get("compiled_exception_prefix")
    if prefix is None:
        assert outcome.compiled_exception == expect["compiled_exception"]
    else:
        assert outcome.compiled_exception is not None and outcome.compiled_exception.startswith(prefix)
    if expect["result"] == "fallback":
        assert outcome.result is stand_in
    else:
        found = compat._extraction(outcome.result)
        wanted = expect["result"]
        assert compared(found) == compared(wanted)


def compared(result: dict[str, Any]) -> dict[str, Any]:
    return {**result, **{name: sorted(result[name]) for name in ("fully_handled_span_ids", "partially_handled_span_ids")}}
