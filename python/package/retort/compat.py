"""The names that users of the original in Python know, over Retort.

A program that resolves plans, compiles and runs extractors goes on with this in the place of
`bigquery_agent_analytics.extractor_compilation`, where these are concerned:

    parse_resolved_extractor_plan_json, PlanParseError, ResolvedExtractorPlan, FieldMapping, SpanHandlingRule,
    RESOLVED_EXTRACTOR_PLAN_JSON_SCHEMA, render_extractor_source, build_resolution_prompt, build_gate_diagnostic and the diagnostics
    of its kinds, compile_with_llm, compile_extractor, load_bundle, run_with_fallback, validate_extracted_graph

What differs: an extractor is a module of WebAssembly, so the source that `render_extractor_source` gives is WebAssembly text, and
what is made from source in Python can't be taken; plans have more fields than the classes here, which `ResolvedExtractorPlan.more`
keeps; samples and graph spec are part of what a model is told. What isn't here says what to use when it is asked for.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Union

from . import _native
from ._author import compile as _compile
from ._errors import CompileError, Error, InputError

__all__ = [
    "AstFailure",
    "AstReport",
    "AttemptRecord",
    "BundleExtractor",
    "CompileResult",
    "ExtractedEdge",
    "ExtractedGraph",
    "ExtractedNode",
    "ExtractedProperty",
    "FallbackOutcome",
    "FallbackScope",
    "FieldMapping",
    "LLMClient",
    "Manifest",
    "PlanParseError",
    "RESOLVED_EXTRACTOR_PLAN_JSON_SCHEMA",
    "ResolvedExtractorPlan",
    "RetryCompileResult",
    "SmokeTestReport",
    "SpanHandlingRule",
    "StructuredExtractionResult",
    "ValidationFailure",
    "ValidationReport",
    "build_ast_diagnostic",
    "build_compile_result_diagnostic",
    "build_gate_diagnostic",
    "build_plan_parse_diagnostic",
    "build_resolution_prompt",
    "build_smoke_diagnostic",
    "compile_extractor",
    "compile_with_llm",
    "load_bundle",
    "parse_resolved_extractor_plan_json",
    "render_extractor_source",
    "run_with_fallback",
    "validate_extracted_graph",
]

FallbackOutcome = _native.FallbackOutcome

#: The JSON Schema of plans.
RESOLVED_EXTRACTOR_PLAN_JSON_SCHEMA: dict[str, Any] = _native.plan_schema()

_INSTEAD = {
    "PlanResolver": "compile_with_llm",
    "build_retry_prompt": "compile_with_llm, which asks again by itself",
    "build_runtime_extractor_registry": "retort.Bundle.load on a directory of bundles, or `retort serve`",
    "check_thresholds": "`retort revalidate --thresholds`",
    "compute_fingerprint": "retort.compile, whose result has the fingerprint",
    "discover_bundles": "retort.Bundle.load on a directory of bundles",
    "load_callable_from_source": "load_bundle",
    "measure_compile": "retort.compile, whose result has the history",
    "publish_bundles_to_bq": "`retort publish`, to an object store",
    "revalidate_compiled_extractors": "`retort revalidate`",
    "run_smoke_test": "retort.check",
    "run_smoke_test_in_subprocess": "retort.check: what runs is confined in this process",
    "sync_bundles_from_bq": "`retort sync`, from an object store",
    "validate_source": "retort.check: what comes from a plan needs no check of its source",
}


def __getattr__(name: str) -> Any:
    if name in _INSTEAD:
        raise AttributeError(f"retort.compat has no {name}: use {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Plans


@dataclasses.dataclass(frozen=True)
class FieldMapping:
    """One property and where it is from."""

    property_name: str
    source_path: tuple[str, ...]
    #: What else the plan says of it.
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict, compare=False)


@dataclasses.dataclass(frozen=True)
class SpanHandlingRule:
    """Which span an event is about, and when free text is left of it."""

    span_id_path: tuple[str, ...] = ("span_id",)
    partial_when_path: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class ResolvedExtractorPlan:
    """A plan of the short form."""

    event_type: str
    target_entity_name: str
    function_name: str
    key_field: FieldMapping
    property_fields: tuple[FieldMapping, ...] = ()
    session_id_path: tuple[str, ...] = ("session_id",)
    span_handling: SpanHandlingRule | None = None
    #: All of the plan, as JSON has it: also what the original has no word for.
    more: Mapping[str, Any] = dataclasses.field(default_factory=dict, compare=False, repr=False)


class PlanParseError(InputError):
    """One thing that is wrong with a plan."""

    def __init__(self, *, code: str, path: str, message: str) -> None:
        super().__init__(message, code=code, path=path)

    def __str__(self) -> str:
        return f"[{self.code}] {self.path or '<root>'}: {self.message}"


def parse_resolved_extractor_plan_json(payload: str | dict[str, Any]) -> ResolvedExtractorPlan:
    """A plan of JSON text, or of what was read from such. Raises `PlanParseError` for the first thing that is wrong with it."""
    plan, wrong = _native.parse_plan(payload)
    if wrong is not None:
        code, path, message = wrong
        raise PlanParseError(code=code, path=path, message=message)
    return _plan_of(plan)


def _mapping_of(field: Mapping[str, Any]) -> FieldMapping:
    known = ("property_name", "source_path")
    more = {key: value for key, value in field.items() if key not in known}
    return FieldMapping(field["property_name"], tuple(field.get("source_path", ())), more)


def _plan_of(plan: Mapping[str, Any]) -> ResolvedExtractorPlan:
    if "key_field" not in plan:
        raise PlanParseError(
            code="missing_required_field",
            path="key_field",
            message="a plan with `nodes` has no ResolvedExtractorPlan: use retort.compile(plan=..)",
        )
    span = plan.get("span_handling")
    if span is not None:
        partial = span.get("partial_when_path")
        span = SpanHandlingRule(tuple(span["span_id_path"]), None if partial is None else tuple(partial))
    return ResolvedExtractorPlan(
        event_type=plan["event_type"],
        target_entity_name=plan["target_entity_name"],
        function_name=plan["function_name"],
        key_field=_mapping_of(plan["key_field"]),
        property_fields=tuple(_mapping_of(field) for field in plan["property_fields"]),
        session_id_path=tuple(plan["session_id_path"]),
        span_handling=span,
        more=plan,
    )


def _plan_data(plan: ResolvedExtractorPlan) -> dict[str, Any]:
    """A plan as JSON has it."""
    if not isinstance(plan, ResolvedExtractorPlan):
        raise TypeError(f"expected a ResolvedExtractorPlan, found {type(plan).__name__}")

    def field(mapping: FieldMapping) -> dict[str, Any]:
        path = {"source_path": list(mapping.source_path)} if mapping.source_path else {}
        return {"property_name": mapping.property_name, **path, **mapping.more}

    span = plan.span_handling
    return {
        **plan.more,
        "event_type": plan.event_type,
        "target_entity_name": plan.target_entity_name,
        "function_name": plan.function_name,
        "key_field": field(plan.key_field),
        "property_fields": [field(mapping) for mapping in plan.property_fields],
        "session_id_path": list(plan.session_id_path),
        "span_handling": None
        if span is None
        else {
            "span_id_path": list(span.span_id_path),
            "partial_when_path": None if span.partial_when_path is None else list(span.partial_when_path),
        },
    }


class RenderedSource(str):
    """The source of an extractor in WebAssembly text, which knows the plan that it was rendered from."""

    plan: dict[str, Any]


def render_extractor_source(plan: ResolvedExtractorPlan) -> RenderedSource:
    """The source that a plan is rendered to: WebAssembly text. Raises `ValueError` for one that can't be rendered."""
    data = _plan_data(plan)
    text, refused = _native.render_plan(data)
    if text is None:
        raise ValueError(refused)
    source = RenderedSource(text)
    source.plan = data
    return source


# What extractors give


@dataclasses.dataclass
class ExtractedProperty:
    """A named value of a node or an edge."""

    name: str
    value: Any


@dataclasses.dataclass
class ExtractedNode:
    """One node."""

    node_id: str
    entity_name: str
    labels: list[str] = dataclasses.field(default_factory=list)
    properties: list[ExtractedProperty] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class ExtractedEdge:
    """One edge."""

    edge_id: str
    relationship_name: str
    from_node_id: str
    to_node_id: str
    properties: list[ExtractedProperty] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class ExtractedGraph:
    """Nodes and edges, as `validate_extracted_graph` takes them."""

    name: str
    nodes: list[ExtractedNode] = dataclasses.field(default_factory=list)
    edges: list[ExtractedEdge] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class StructuredExtractionResult:
    """What an extractor makes of one event."""

    nodes: list[ExtractedNode] = dataclasses.field(default_factory=list)
    edges: list[ExtractedEdge] = dataclasses.field(default_factory=list)
    fully_handled_span_ids: set[str] = dataclasses.field(default_factory=set)
    partially_handled_span_ids: set[str] = dataclasses.field(default_factory=set)


def _properties(data: Mapping[str, Any]) -> list[ExtractedProperty]:
    return [ExtractedProperty(it["name"], it["value"]) for it in data.get("properties", ())]


def _structured(data: Mapping[str, Any]) -> StructuredExtractionResult:
    return StructuredExtractionResult(
        nodes=[
            ExtractedNode(it["node_id"], it["entity_name"], list(it.get("labels", ())), _properties(it)) for it in data["nodes"]
        ],
        edges=[
            ExtractedEdge(it["edge_id"], it["relationship_name"], it["from_node_id"], it["to_node_id"], _properties(it))
            for it in data["edges"]
        ],
        fully_handled_span_ids=set(data["fully_handled_span_ids"]),
        partially_handled_span_ids=set(data["partially_handled_span_ids"]),
    )


def _result_of(result: _native.Result) -> StructuredExtractionResult:
    return _structured(result.to_dict())


def _plain(value: Any) -> Any:
    """Classes of the original and of here, as JSON has them."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, enum.Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    return _plain(dump()) if callable(dump) else value


_PARTS = ("nodes", "edges", "fully_handled_span_ids", "partially_handled_span_ids")


def _extraction(graph: Any) -> Any:
    """A result as the library reads it."""
    data = _plain(graph)
    if not isinstance(data, dict):
        return data
    return {name: data.get(name, []) for name in _PARTS}


# Graph specs and what is wrong with results


class FallbackScope(str, enum.Enum):
    """What a failure is about."""

    FIELD = "field"
    NODE = "node"
    EDGE = "edge"
    EVENT = "event"


@dataclasses.dataclass(frozen=True)
class ValidationFailure:
    """One thing that is wrong with a result."""

    scope: FallbackScope
    code: str
    path: str
    node_id: str | None = None
    edge_id: str | None = None
    event_id: str | None = None
    detail: str = ""
    observed: Any = None
    expected: Any = None


@dataclasses.dataclass(frozen=True)
class ValidationReport:
    """All that is wrong with a result."""

    failures: tuple[ValidationFailure, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failures

    def by_scope(self, scope: FallbackScope) -> tuple[ValidationFailure, ...]:
        return tuple(failure for failure in self.failures if failure.scope is scope)


def _failures_of(told: list[dict[str, Any]]) -> tuple[ValidationFailure, ...]:
    return tuple(ValidationFailure(**{**failure, "scope": FallbackScope(failure["scope"])}) for failure in told)


#: Specs that were read, by the objects that they were read from, which are kept: the last few.
_SPECS: dict[int, tuple[Any, _native.Spec]] = {}
_MOST_SPECS = 16


def _spec(graph: Any) -> _native.Spec:
    known = _SPECS.get(id(graph))
    if known is not None and known[0] is graph:
        return known[1]
    data = graph if isinstance(graph, (str, Path)) else _spec_data(_plain(graph))
    spec = _native.Spec(data)
    while len(_SPECS) >= _MOST_SPECS:
        _SPECS.pop(next(iter(_SPECS)), None)
    _SPECS[id(graph)] = (graph, spec)
    return spec


_ENTITY = ("name", "key_columns", "properties", "labels")
_RELATIONSHIP = ("name", "from_entity", "to_entity", "from_columns", "to_columns", "properties")
_PROPERTY = ("column", "logical_name", "sdk_type")


def _spec_data(graph: Any) -> Any:
    """Of a ResolvedGraph of the original, what a graph spec has a word for."""
    if not isinstance(graph, dict) or "entities" not in graph:
        return graph

    def only(names: tuple[str, ...], item: dict[str, Any]) -> dict[str, Any]:
        kept = {name: item[name] for name in names if item.get(name) is not None}
        for side in ("from", "to"):
            # Which key each column of an edge is of, where that is said.
            mapping = item.get(f"{side}_column_mapping")
            if mapping:
                kept[f"{side}_columns"] = [{column: of} for column, of in mapping]
        if "properties" in kept:
            kept["properties"] = [
                {name: it[name] for name in _PROPERTY if it.get(name) is not None} for it in kept["properties"]
            ]
        return kept

    def is_resolved(item: dict[str, Any]) -> bool:
        return "key_columns" in item or "from_columns" in item

    entities, relationships = graph["entities"], graph.get("relationships", [])
    if not all(is_resolved(item) for item in [*entities, *relationships]):
        return graph
    return {
        "entities": [only(_ENTITY, item) for item in entities],
        "relationships": [only(_RELATIONSHIP, item) for item in relationships],
    }


def validate_extracted_graph(spec: Any, graph: Any, *, allow_external_endpoints: bool = False) -> ValidationReport:
    """What is wrong with a graph, by a spec: a ResolvedGraph of the original, a dict, YAML text, or the path of a file."""
    told = _native.validate(_spec(spec), _extraction(graph), allow_external_endpoints)
    return ValidationReport(_failures_of(told))


# Extractors at work


class BundleExtractor(_native.BundleExtractor):
    """A bundle as an extractor of the original: a callable of an event and a spec, which it doesn't need."""

    def __call__(self, event: Any, spec: Any = None) -> StructuredExtractionResult:
        return _result_of(self.bundle.extract(event))


def load_bundle(bundle_dir: Any, *, expected_fingerprint: str | None = None, **options: Any) -> BundleExtractor:
    """A bundle as an extractor. Raises an `Error` with a code where the original gives a LoadFailure."""
    pinned = None if expected_fingerprint is None else [expected_fingerprint]
    return BundleExtractor(_native.Bundle.load(bundle_dir, fingerprints=pinned, **options))


Extractor = Callable[[Any, Any], Any]


run_with_fallback = _native.run_with_fallback


def _run_with_fallback(
    event: Any,
    spec: Any,
    resolved_graph: Any,
    compiled_extractor: Union[BundleExtractor, _native.Bundle, Extractor],
    fallback_extractor: Extractor,
) -> FallbackOutcome:
    """The same where the extractor isn't a bundle, or isn't known to be held to its own graph spec."""
    if isinstance(compiled_extractor, _native.Bundle):
        compiled_extractor = BundleExtractor(compiled_extractor)
    if isinstance(compiled_extractor, BundleExtractor) and (
        resolved_graph is None or _spec(resolved_graph).is_of(compiled_extractor.bundle)
    ):
        compiled_extractor._note(resolved_graph)
        return run_with_fallback(
            event=event,
            spec=spec,
            resolved_graph=resolved_graph,
            compiled_extractor=compiled_extractor,
            fallback_extractor=fallback_extractor,
        )
    raised, raw = None, None
    try:
        raw = compiled_extractor(event, spec)
    except (Exception, SystemExit) as error:
        raised = f"{type(error).__name__}: {error}"
    else:
        raised = _wrong_result(raw)
    if raised is not None:
        return FallbackOutcome(fallback_extractor(event, spec), "fallback_for_event", raised)
    told = _native.held_to(_spec(resolved_graph), _extraction(raw), event)
    failed, failures = told.get("error"), _failures_of(told["failures"])
    if failed is not None:
        message = f"MalformedResultInternals: {failed['message']}"
        return FallbackOutcome(fallback_extractor(event, spec), "fallback_for_event", message)
    decision = told["decision"]
    if decision == "fallback_for_event":
        result = fallback_extractor(event, spec)
        return FallbackOutcome(result, decision, None, (), (), failures)
    if decision == "compiled_unchanged":
        return FallbackOutcome(raw, decision)
    result = _structured(told["result"])
    ids = tuple(told["dropped_node_ids"]), tuple(told["dropped_edge_ids"])
    return FallbackOutcome(result, decision, None, *ids, failures)


def _wrong_result(raw: Any) -> str | None:
    """What is wrong with what an extractor gave, before its nodes are looked at."""
    kind = type(raw).__name__
    if not isinstance(raw, StructuredExtractionResult) and kind != "StructuredExtractionResult":
        return f"WrongReturnType: {kind}"
    for name in ("fully_handled_span_ids", "partially_handled_span_ids"):
        spans = getattr(raw, name)
        if not isinstance(spans, (set, frozenset)):
            return f"MalformedResultInternals: {name} must be a set of str, found {type(spans).__name__}"
        if not all(isinstance(span, str) for span in spans):
            return f"MalformedResultInternals: {name} must be a set of str, found another element"
    return None


# Diagnostics


@dataclasses.dataclass(frozen=True)
class AstFailure:
    """One thing that is wrong with source."""

    code: str
    detail: str
    line: int | None = None
    col: int | None = None


@dataclasses.dataclass(frozen=True)
class AstReport:
    """All that is wrong with source."""

    failures: tuple[AstFailure, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.failures


@dataclasses.dataclass(frozen=True)
class SmokeTestReport:
    """How samples went."""

    events_processed: int = 0
    events_with_exception: int = 0
    exceptions: tuple[str, ...] = ()
    events_with_wrong_return_type: int = 0
    wrong_return_types: tuple[str, ...] = ()
    events_with_nonempty_result: int = 0
    min_nonempty_results: int = 1
    validation_failures: tuple[Any, ...] = ()
    nonempty_event_types: frozenset[str] | tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (
            self.events_with_exception
            or self.events_with_wrong_return_type
            or self.validation_failures
            or self.events_with_nonempty_result < self.min_nonempty_results
        )


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What a bundle says of itself, as far as the original has a word for it."""

    fingerprint: str
    event_types: tuple[str, ...]
    module_filename: str
    function_name: str


@dataclasses.dataclass(frozen=True)
class CompileResult:
    """What came of a compilation."""

    manifest: Manifest | None = None
    ast_report: AstReport = AstReport()
    smoke_report: SmokeTestReport | None = None
    bundle_dir: Path | None = None
    load_error: str | None = None
    cache_hit: bool = False
    invalid_identifier: str | None = None
    invalid_event_types: str | None = None
    #: What is wrong, by gates that the original hasn't: code and diagnostic.
    rejected: tuple[str, str] | None = None

    @property
    def ok(self) -> bool:
        if self.invalid_identifier is not None or self.invalid_event_types is not None or self.rejected is not None:
            return False
        if self.cache_hit:
            return self.manifest is not None and self.bundle_dir is not None
        return (
            self.ast_report.ok
            and self.load_error is None
            and self.smoke_report is not None
            and self.smoke_report.ok
            and self.manifest is not None
            and self.bundle_dir is not None
        )


def _report_data(kind: str, payload: Any) -> dict[str, Any]:
    if kind == "parse":
        return {"code": payload.code, "path": payload.path, "message": payload.message}
    data = {field: _plain(getattr(payload, field)) for field in _REPORT_FIELDS[kind] if hasattr(payload, field)}
    if kind == "smoke":
        data["validation_failures"] = [_failure_data(it) for it in getattr(payload, "validation_failures", ())]
    if kind == "compile":
        data["manifest_present"] = getattr(payload, "manifest", None) is not None
        data["bundle_dir_present"] = getattr(payload, "bundle_dir", None) is not None
        for name, of in (("ast_report", "ast"), ("smoke_report", "smoke")):
            report = getattr(payload, name, None)
            data[name] = None if report is None else _report_data(of, report)
    return data


def _failure_data(failure: Any) -> dict[str, Any]:
    data = _plain(failure)
    return {name: data.get(name, "") for name in ("scope", "code", "path", "detail")}


_REPORT_FIELDS = {
    "ast": ("failures",),
    "smoke": (
        "events_processed",
        "events_with_exception",
        "exceptions",
        "events_with_wrong_return_type",
        "wrong_return_types",
        "events_with_nonempty_result",
        "min_nonempty_results",
        "nonempty_event_types",
    ),
    "compile": ("cache_hit", "invalid_identifier", "invalid_event_types", "load_error"),
}

_PAYLOADS = {"parse": "PlanParseError", "ast": "AstReport", "smoke": "SmokeTestReport", "compile": "CompileResult"}


def build_gate_diagnostic(kind: str, payload: Any) -> str:
    """What a model is told of a failure: of the kind parse, ast, smoke or compile. Reports of the original are taken as well."""
    expected = _PAYLOADS.get(kind)
    if expected is None:
        raise ValueError(f"expected a kind of gate (parse, ast, smoke, compile), found {kind!r}")
    if expected not in {of.__name__ for of in type(payload).__mro__}:
        raise TypeError(f"expected {expected} for the kind {kind!r}, found {type(payload).__name__}")
    if kind == "compile" and getattr(payload, "rejected", None) is not None:
        return str(payload.rejected[1])
    return _native.diagnostic(kind, _report_data(kind, payload))


def build_plan_parse_diagnostic(error: PlanParseError) -> str:
    """What a model is told of a plan that can't be parsed."""
    return build_gate_diagnostic("parse", error)


def build_ast_diagnostic(report: AstReport) -> str:
    """What a model is told of source."""
    return build_gate_diagnostic("ast", report)


def build_smoke_diagnostic(report: SmokeTestReport) -> str:
    """What a model is told of a sample run."""
    return build_gate_diagnostic("smoke", report)


def build_compile_result_diagnostic(result: CompileResult) -> str:
    """What a model is told of a compilation."""
    return build_gate_diagnostic("compile", result)


# From a rule to an extractor


class LLMClient(Protocol):
    """A model."""

    def generate_json(self, prompt: str, schema: dict[str, Any]) -> Any: ...


CompileSource = Callable[[ResolvedExtractorPlan, str], Any]


@dataclasses.dataclass(frozen=True)
class AttemptRecord:
    """One attempt."""

    attempt: int
    prompt: str
    raw_response: Any
    plan_parse_error: PlanParseError | None = None
    render_error: str | None = None
    compile_result: Any = None
    diagnostic: str | None = None


@dataclasses.dataclass(frozen=True)
class RetryCompileResult:
    """How the loop ended."""

    ok: bool
    manifest: Any
    bundle_dir: Any
    attempts: tuple[AttemptRecord, ...]
    reason: str
    #: What was wrong with the last attempt, which was told to nobody.
    last_diagnostic: str | None = None


def _for_prompts(extraction_rule: Any, event_schema: Any) -> tuple[Any, Any]:
    for name, value in (("extraction_rule", extraction_rule), ("event_schema", event_schema)):
        if not isinstance(value, Mapping):
            raise TypeError(f"{name}: expected a mapping, found {type(value).__name__}")
        _check_keys(value, name)
    try:
        # No NaN, no infinity, and nothing that JSON has no word for.
        return json.loads(json.dumps(extraction_rule, allow_nan=False)), json.loads(json.dumps(event_schema, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"expected what JSON has a word for: {error}") from error


def _check_keys(value: Any, path: str) -> None:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{path}: expected keys that are str, found {key!r}")
            _check_keys(item, f"{path}.{key}")
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            _check_keys(item, f"{path}[{number}]")


def _evidence(graph: Any, samples: Any) -> tuple[Any, Any]:
    if graph is None or samples is None:
        raise InputError(
            "a model is told of the graph spec and of sample events: give `graph` and `samples` as well",
            code="project_incomplete",
        )
    return graph if isinstance(graph, (str, Path)) else _spec_data(_plain(graph)), samples


def build_resolution_prompt(extraction_rule: Any, event_schema: Any, *, graph: Any = None, samples: Any = None) -> str:
    """The prompt that asks for a plan. The same input gives the same bytes."""
    rule, schema = _for_prompts(extraction_rule, event_schema)
    return _native.resolution_prompt(rule, schema, *_evidence(graph, samples))


class _Keeping:
    """A client that keeps what it was asked and what it answered."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.prompts: list[str] = []
        self.answers: list[Any] = []

    def generate_json(self, prompt: str, schema: dict[str, Any]) -> Any:
        self.prompts.append(prompt)
        answer = self._client.generate_json(prompt, schema)
        self.answers.append(answer)
        return answer if isinstance(answer, (str, dict)) else json.dumps(answer)


def compile_with_llm(
    *,
    extraction_rule: Any,
    event_schema: Any,
    llm_client: LLMClient,
    compile_source: CompileSource,
    max_attempts: int = 5,
    graph: Any = None,
    samples: Any = None,
) -> RetryCompileResult:
    """Asks a model for a plan until `compile_source` takes what is rendered from it, or the attempts are spent.

    As the original's, and the same but for the prompt, which tells of the graph spec and of samples: give `graph` and `samples`.
    `compile_source` may be a callable that calls `compile_extractor`. What it and the client raise is raised. Nothing is repaired
    without the model, and nothing ends it early; `retort.compile` does both.
    """
    if max_attempts < 1:
        raise ValueError(f"max_attempts: expected 1 or more, found {max_attempts}")
    rule, schema = _for_prompts(extraction_rule, event_schema)
    graph, samples = _evidence(graph, samples)
    client, results = _Keeping(llm_client), []

    def judge(data: dict[str, Any], text: str) -> tuple[bool, str, str, str]:
        plan, source = _plan_of(data), RenderedSource(text)
        source.plan = data
        result = compile_source(plan, source)
        results.append(result)
        if result.ok:
            return True, "", "", ""
        return (False, *_rejection(result))

    task = {"rule": rule, "schema": schema, "graph": graph, "samples": samples}
    outcome = _native.compile_with_llm(task, client, judge, max_attempts)
    compiled, attempts = iter(results), []
    for number, attempt in enumerate(outcome["attempts"], 1):
        failure = attempt["failure"]
        channel = "compile_result" if failure is None else failure["channel"]
        parse_error, render_error = None, None
        if channel == "plan_parse_error":
            parse_error = _parse_error(client.answers[number - 1], failure)
        elif channel == "render_error":
            render_error = failure["message"]
        attempts.append(
            AttemptRecord(
                attempt=number,
                prompt=client.prompts[number - 1],
                raw_response=client.answers[number - 1],
                plan_parse_error=parse_error,
                render_error=render_error,
                compile_result=next(compiled) if channel == "compile_result" else None,
                diagnostic=attempt["diagnostic"],
            )
        )
    last = attempts[-1].compile_result if outcome["ok"] else None
    return RetryCompileResult(
        ok=outcome["ok"],
        manifest=getattr(last, "manifest", None),
        bundle_dir=getattr(last, "bundle_dir", None),
        attempts=tuple(attempts),
        reason=outcome["reason"],
        last_diagnostic=outcome["last_diagnostic"],
    )


def _parse_error(answer: Any, failure: Mapping[str, str]) -> PlanParseError:
    try:
        parse_resolved_extractor_plan_json(answer)
    except PlanParseError as error:
        if error.code == failure["code"]:
            return error
    except TypeError:
        pass
    return PlanParseError(code=failure["code"], path="", message=failure["message"])


def _rejection(result: Any) -> tuple[str, str, str]:
    """Code, category and diagnostic of a result that isn't ok."""
    rejected = getattr(result, "rejected", None)
    if rejected is not None:
        return rejected[0], "unknown", rejected[1]
    if getattr(result, "invalid_identifier", None) is not None:
        category = "invalid_identifier"
    elif getattr(result, "invalid_event_types", None) is not None:
        category = "invalid_event_types"
    elif not result.ast_report.ok:
        category = "ast_failure"
    elif getattr(result, "load_error", None) is not None:
        category = "load_error"
    elif getattr(result, "smoke_report", None) is not None:
        category = "smoke_failure"
    else:
        category = "unknown"
    return category, category, build_gate_diagnostic("compile", result)


def compile_extractor(
    *,
    source: str,
    sample_events: Any,
    resolved_graph: Any,
    parent_bundle_dir: Any,
    module_name: str | None = None,
    function_name: str | None = None,
    event_types: Any = None,
    spec: Any = None,
    **settings: Any,
) -> CompileResult:
    """Takes what `render_extractor_source` gave through every gate, to a bundle below `parent_bundle_dir`.

    Names, event types and fingerprint come from the plan, so that `module_name` and `function_name` say nothing more; `event_types`
    have to be the plan's. Of the original's other settings none is needed, and they are passed over.
    """
    plan = getattr(source, "plan", None)
    if plan is None:
        raise InputError(
            "expected source of render_extractor_source, found other text: Retort takes plans (retort.compile) and extractors in Rust "
            "(`retort compile --source`), and nothing in Python",
            code="file_not_json",
        )
    types = (plan["event_type"],)
    if event_types is not None and tuple(event_types) != types:
        message = f"expected the plan's event types {types!r}, found {tuple(event_types)!r}"
        return CompileResult(invalid_event_types=message)
    if module_name is not None and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", module_name):
        return CompileResult(invalid_identifier=f"module_name: expected an identifier, found {module_name!r}")
    graph = resolved_graph if isinstance(resolved_graph, (str, Path)) else _spec_data(_plain(resolved_graph))
    try:
        compiled = _compile(plan=plan, graph=graph, samples=list(sample_events), out=parent_bundle_dir)
    except CompileError as error:
        return CompileResult(rejected=(error.code, error.diagnostic or str(error)))
    except Error as error:
        return CompileResult(load_error=str(error))
    manifest = Manifest(compiled.fingerprint, tuple(compiled.event_types), "extractor.wasm", plan["function_name"])
    return CompileResult(
        manifest=manifest,
        smoke_report=SmokeTestReport(events_with_nonempty_result=1),
        bundle_dir=compiled.path,
        cache_hit=compiled.cached,
    )
