"""Retort: extractors that a language model wrote, in a sandbox, over streams of JSON events.

>>> import retort
>>> bundle = retort.Bundle.load("bundles")                    # doctest: +SKIP
>>> for outcome in bundle.extract_many(open("events.ndjson")):  # doctest: +SKIP
...     if isinstance(outcome, retort.Error):
...         print(outcome.code, outcome)
...     else:
...         for node in outcome.nodes:
...             print(node.node_id, node.properties)

A `Bundle` serves events: one, many, or those of an Arrow batch. `compile` makes one of a rule and a model, or of a plan; `check` holds
a plan or a bundle to samples, and `repair` mends a plan. What goes wrong is an `Error`, with a stable code. `retort.spark` does the same
on a cluster, and `retort.compat` has the names of the original in Python.
"""

from ._author import Compilation, Repair, Report, check, compile, repair
from ._errors import (
    CompileError,
    Error,
    EventError,
    EventTypeError,
    ExtractorError,
    HostError,
    InputError,
    ModelError,
)
from ._native import Bundle, Edge, ExtractMany, Node, Result

__all__ = [
    "Bundle",
    "Compilation",
    "CompileError",
    "Edge",
    "Error",
    "EventError",
    "EventTypeError",
    "ExtractMany",
    "ExtractorError",
    "HostError",
    "InputError",
    "ModelError",
    "Node",
    "Repair",
    "Report",
    "Result",
    "check",
    "compile",
    "repair",
]
