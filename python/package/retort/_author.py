"""From a rule, or a plan, to a bundle; checks; repairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from . import _native
from ._errors import CompileError, InputError, ModelError

Event = Union[str, bytes, dict[str, Any]]
#: A file by its path, or text, or data.
Document = Union[str, "os.PathLike[str]", dict[str, Any], list[Any]]
#: The path of a file with one event a line, such text, or events.
Events = Union[str, "os.PathLike[str]", Iterable[Event]]
#: A graph spec; or an ontology and its binding.
Graph = Union[Document, tuple[Document, Document]]
#: Who writes the plan: a name as `retort compile --model` takes it, a callable, or an object with `generate_json(prompt, schema)`.
Model = Union[str, Callable[[str, dict[str, Any]], Union[str, dict[str, Any]]], Any]


@dataclass(frozen=True)
class Compilation:
    """A bundle that was made."""

    path: Path
    fingerprint: str
    name: str
    event_types: list[str]
    #: The plan, in its normal form; None where it is an extractor in Rust.
    plan: dict[str, Any] | None
    #: Whether it is served from now on.
    active: bool
    #: Whether it was there already.
    cached: bool
    #: What came out of the samples, with what looks wrong about it.
    coverage: dict[str, Any]
    #: Every attempt, with what it cost; None where a plan was given.
    history: dict[str, Any] | None = field(default=None, repr=False)
    source: str | None = field(default=None, repr=False)

    def load(self, **options: Any) -> _native.Bundle:
        """The bundle, ready to serve events: see `Bundle.load`."""
        return _native.Bundle.load(self.path, **options)


@dataclass(frozen=True)
class Report:
    """What a check found."""

    ok: bool
    #: All that is wrong: dicts with stage, code, message and, where they are known, path, used and allowed.
    problems: list[dict[str, Any]]
    #: What came out of the samples, where the gates let it pass.
    coverage: dict[str, Any] | None = field(repr=False)
    #: What a model would be told.
    diagnostic: str | None

    def __bool__(self) -> bool:
        return self.ok


@dataclass(frozen=True)
class Repair:
    """What is wrong with a plan, and the plan that it could be."""

    #: Whether nothing was wrong.
    ok: bool
    problems: list[dict[str, Any]]
    #: All that was changed, in the order in which it was.
    changes: list[dict[str, Any]]
    #: A plan that passes every gate; None where what is left has no one remedy.
    plan: dict[str, Any] | None
    diagnostic: str | None


def _given(**parts: Any) -> dict[str, Any]:
    names = ("rule", "graph", "samples", "schema", "expected", "policy", "helper")
    return {name: parts.get(name) for name in names} | {
        "allow_external_endpoints": bool(parts.get("allow_external_endpoints", False))
    }


def compile(  # noqa: A001 - it is what the command is called
    project: str | os.PathLike[str] | None = None,
    *,
    rule: Document | None = None,
    graph: Graph | None = None,
    samples: Events | None = None,
    model: Model | None = None,
    plan: Document | None = None,
    schema: Document | None = None,
    expected: Document | None = None,
    policy: Document | None = None,
    out: str | os.PathLike[str] | None = None,
    name: str | None = None,
    activate: bool = True,
    backend: str | None = None,
    max_attempts: int = 5,
    token_budget: int | None = None,
    time_budget: float | None = None,
    repair: bool = True,
    allow_external_endpoints: bool | None = None,
    base_url: str | None = None,
    timeout: float = 120.0,
    helper: str | os.PathLike[str] | None = None,
) -> Compilation:
    """A bundle of a rule, through every gate, by a model; or of a plan.

    `project` is a folder with a retort.toml; what is named beside it comes first. A `str` stands for the text itself and an
    `os.PathLike` for a file. A callable model is called with the prompt and a JSON Schema, on this thread, and gives text or a dict.
    What has one plain remedy is repaired without it, unless `repair` is off. The bundle goes into the directory `out`.

    Raises `CompileError` where nothing passes, and `ModelError` where the model gives no answer: both have every attempt.
    """
    said: dict[str, Any] = {} if project is None else _native.project(os.fspath(project))
    if project is not None and said.get("source") and plan is None:
        raise InputError(
            "expected a rule or a plan, found a project whose extractor is code: use the command `retort compile`",
            code="project_incomplete",
        )
    if graph is None and "ontology" in said:
        graph = (said["ontology"], said["binding"])

    def or_said(key: str, given: Any) -> Any:
        return said.get(key) if given is None else given

    if samples is None and "samples" not in said:
        raise InputError("expected samples, found none: give `samples`", code="project_incomplete")
    external = or_said("allow_external_endpoints", allow_external_endpoints)
    given = _given(
        rule=or_said("rule", rule),
        graph=or_said("graph", graph),
        samples=or_said("samples", samples),
        schema=or_said("schema", schema),
        expected=or_said("expected", expected),
        policy=or_said("policy", policy),
        helper=helper,
        allow_external_endpoints=external,
    )
    settings = {
        "plan": plan if model is not None or plan is not None else said.get("plan"),
        "model": or_said("model", model) or "draft",
        "backend": or_said("backend", backend) or "plan",
        "out": or_said("out", out) or "bundles",
        "name": or_said("name", name),
        "activate": activate,
        "max_attempts": max_attempts,
        "token_budget": token_budget,
        "time_budget": time_budget,
        "repair": repair,
        "base_url": base_url,
        "timeout": timeout,
    }
    compiled, raised = _native.compile(given, settings)
    told = {"diagnostic": compiled["diagnostic"], "history": compiled["history"]}
    if raised is not None:
        message = f"the model failed: {type(raised).__name__}: {raised}"
        raise ModelError(message, code=compiled["reason"], **told) from raised
    bundle = compiled["bundle"]
    if not compiled["ok"]:
        if bundle is not None:
            message = f"stored, and not served: {', '.join(bundle['colliding'])} serves an event type of it"
        else:
            message = compiled["message"] or compiled["reason"]
        is_of_model = compiled["reason"].startswith(("model_", "draft_"))
        kind = ModelError if is_of_model else CompileError
        raise kind(message, code=compiled["reason"], problems=compiled["problems"], **told)
    return Compilation(
        path=Path(bundle["path"]),
        fingerprint=bundle["fingerprint"],
        name=bundle["name"],
        event_types=bundle["event_types"],
        plan=compiled["plan"],
        active=bundle["active"],
        cached=bundle["cached"],
        coverage=compiled["coverage"],
        history=compiled["history"],
        source=compiled["rust"],
    )


def check(
    subject: Document,
    *,
    samples: Events,
    graph: Graph | None = None,
    schema: Document | None = None,
    expected: Document | None = None,
    policy: Document | None = None,
    allow_external_endpoints: bool = False,
    helper: str | os.PathLike[str] | None = None,
) -> Report:
    """All gates on a plan or a bundle, over these samples.

    `subject` is the path of a bundle's directory, or a plan: the path of a file, text or a dict. A bundle is checked against its own
    graph spec unless another one is given; a plan takes one.
    """
    given = _given(**{key: value for key, value in locals().items() if key != "subject"})
    is_bundle = hasattr(subject, "__fspath__") and os.path.isdir(subject)
    return Report(**_native.check(subject, is_bundle, given))


def repair(
    plan: Document,
    *,
    graph: Graph,
    samples: Events,
    rule: Document | None = None,
    schema: Document | None = None,
    expected: Document | None = None,
    policy: Document | None = None,
    allow_external_endpoints: bool = False,
) -> Repair:
    """What is wrong with a plan, and the plan that passes every gate, where there is one thing to do. No model is asked."""
    given = _given(**{key: value for key, value in locals().items() if key != "plan"})
    return Repair(**_native.repair(plan, given))
