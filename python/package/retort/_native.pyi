"""What is built from Rust."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Union

import pyarrow as pa

from ._author import Document, Event
from ._errors import Error

class Element:
    """What nodes and edges have in common."""

    @property
    def properties(self) -> dict[str, Any]:
        """A dict of its properties; of a node, the key first."""
    def __getitem__(self, name: str) -> Any: ...

class Node(Element):
    """One node."""

    @property
    def node_id(self) -> str:
        """`{session}:{entity}:{key}={value}`."""
    @property
    def entity_name(self) -> str:
        """The entity of the graph spec that it is one of."""
    @property
    def labels(self) -> list[str]:
        """Its labels."""

class Edge(Element):
    """One edge."""

    @property
    def edge_id(self) -> str:
        """The edge's own id."""
    @property
    def relationship_name(self) -> str:
        """The relationship of the graph spec that it is one of."""
    @property
    def from_node_id(self) -> str:
        """The id of the node that it leaves."""
    @property
    def to_node_id(self) -> str:
        """The id of the node that it enters."""

class Result:
    """What an extractor made of one event."""

    @property
    def nodes(self) -> list[Node]:
        """The nodes, in the order in which the extractor wrote them."""
    @property
    def edges(self) -> list[Edge]:
        """The edges, in the order in which the extractor wrote them."""
    @property
    def fully_handled_span_ids(self) -> list[str]:
        """Spans of which nothing is left to extract."""
    @property
    def partially_handled_span_ids(self) -> list[str]:
        """Spans of which free text is left for a model."""
    @property
    def event_type(self) -> str | None:
        """The event's type; None where it has none."""
    @property
    def bundle(self) -> str | None:
        """The fingerprint of the bundle that gave it; None where nobody serves the event's type, or several do."""
    @property
    def bundles(self) -> tuple[str, ...]:
        """The fingerprints of all bundles that gave it."""
    @property
    def fuel(self) -> int:
        """The fuel that the event took."""
    @property
    def failed_conversions(self) -> int:
        """How many conversions failed and left their value out."""
    @property
    def dropped(self) -> list[dict[str, Any]]:
        """What was wrong with what the extractor gave, and isn't in here: dicts with code, path and detail."""
    def json(self) -> str:
        """The result as JSON text, as `retort run` writes it."""
    def to_dict(self) -> dict[str, Any]:
        """A dict of its own with all that is in the result."""
    def keys(self) -> list[str]: ...
    def __getitem__(self, key: str) -> Any: ...
    def __bool__(self) -> bool: ...

class ExtractMany(Iterator[Union[Result, Error]]):
    """What is made of many events, one after the other."""

    def __iter__(self) -> ExtractMany: ...
    def __next__(self) -> Result | Error: ...

class Bundle:
    """A bundle, or the active bundles of a directory, ready to serve events."""

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        limits: dict[str, int] | None = None,
        policy: Document | None = None,
        helper: str | os.PathLike[str] | None = None,
        cache: str | os.PathLike[str] | None = None,
        fingerprints: list[str] | None = None,
        lenient: bool = False,
        graph_check: bool = True,
    ) -> Bundle:
        """Opens the bundle, or the directory of bundles, at `path`, through every gate."""
    def extract(self, event: Event) -> Result:
        """What the extractor of its type makes of an event. Raises an `Error`, by whose fault it is."""
    def extract_many(self, events: Iterable[Event]) -> ExtractMany:
        """What is made of each of these events, in their order: a Result, or an `Error` as a value."""
    def extract_arrow(
        self, batch: Any, column: str = "event", *, line: int = 1, line_column: str | None = None, input: str | None = None
    ) -> dict[str, pa.RecordBatch]:
        """What is made of the events of a record batch: a record batch for each table."""
    def _extract_arrow(
        self, batch: Any, column: str = "event", *, line: int = 1, line_column: str | None = None, input: str | None = None
    ) -> tuple[dict[str, pa.RecordBatch], dict[str, Any]]: ...
    def arrow_schemas(self) -> dict[str, pa.Schema]:
        """The schema of each table that `extract_arrow` gives, by its name."""
    @property
    def path(self) -> Path:
        """The path that it was opened at."""
    @property
    def event_types(self) -> tuple[str, ...]:
        """The event types and prefixes that are served."""
    @property
    def fingerprints(self) -> list[str]:
        """The fingerprints of the bundles that serve events, sorted."""
    @property
    def failures(self) -> list[dict[str, Any]]:
        """Why bundles of the directory aren't served. Empty but for those that were opened `lenient`."""
    @property
    def graphs(self) -> dict[str, dict[str, Any]]:
        """The graph specs that results are held to, in their resolved form, by fingerprint."""

class Spec:
    """A graph spec, read once."""

    def __init__(self, spec: Any) -> None: ...
    def is_of(self, bundle: Bundle) -> bool: ...

class BundleExtractor:
    def __init__(self, bundle: Bundle) -> None: ...
    @property
    def bundle(self) -> Bundle: ...
    def _note(self, graph: Any) -> None: ...

class FallbackOutcome:
    """What became of an event, and how."""

    def __init__(
        self,
        result: Any,
        decision: str,
        compiled_exception: str | None = None,
        dropped_node_ids: tuple[str, ...] | None = None,
        dropped_edge_ids: tuple[str, ...] | None = None,
        validation_failures: tuple[Any, ...] | None = None,
    ) -> None: ...
    @property
    def result(self) -> Any: ...
    @property
    def decision(self) -> str: ...
    @property
    def compiled_exception(self) -> str | None: ...
    @property
    def dropped_node_ids(self) -> tuple[str, ...]: ...
    @property
    def dropped_edge_ids(self) -> tuple[str, ...]: ...
    @property
    def validation_failures(self) -> tuple[Any, ...]: ...

def run_with_fallback(
    *,
    event: Any,
    spec: Any,
    resolved_graph: Any,
    compiled_extractor: Any,
    fallback_extractor: Callable[[Any, Any], Any],
) -> FallbackOutcome:
    """What an extractor makes of an event, held to a graph spec; or what the fallback makes of it."""

def compile(given: dict[str, Any], settings: dict[str, Any]) -> tuple[dict[str, Any], BaseException | None]: ...
def project(folder: str) -> dict[str, Any]: ...
def check(subject: Any, is_bundle: bool, given: dict[str, Any]) -> dict[str, Any]: ...
def repair(plan: Any, given: dict[str, Any]) -> dict[str, Any]: ...
def parse_plan(payload: Any) -> tuple[Any, tuple[str, str, str] | None]: ...
def plan_schema() -> dict[str, Any]: ...
def render_plan(plan: Any) -> tuple[str | None, str | None]: ...
def diagnostic(kind: str, report: dict[str, Any]) -> str: ...
def validate(spec: Spec, result: Any, allow_external_endpoints: bool) -> list[dict[str, Any]]: ...
def held_to(spec: Spec, result: Any, event: Any) -> dict[str, Any]: ...
def resolution_prompt(rule: Any, schema: Any, graph: Any, samples: Any) -> str: ...
def compile_with_llm(task: dict[str, Any], model: Any, judge: Any, max_attempts: int) -> dict[str, Any]: ...
def _panicking() -> None: ...
