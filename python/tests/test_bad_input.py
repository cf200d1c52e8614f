"""Whatever comes from Python: a clear exception, nothing lost, and no end of the process."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import GRAPH, PLAN, event

import retort
from retort import _native


class Text(str):
    """A str of somebody's own."""


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


BAD = [
    (5, TypeError, "event_not_object"),
    (None, TypeError, "event_not_object"),
    ([1], TypeError, "event_not_object"),
    (object(), TypeError, "event_not_object"),
    (memoryview(b"{}"), TypeError, "event_not_object"),
    (b"\xff", retort.EventError, "event_not_utf8"),
    (b'{"event_type": "order_placed", "a": "\xc3("}', retort.EventError, "event_not_utf8"),
    ("\ud800", retort.EventError, "event_not_utf8"),
    ("", retort.EventError, "event_not_json"),
    ("{", retort.EventError, "event_not_json"),
    ("[]", retort.EventError, "event_not_object"),
    ('{"a": NaN}', retort.EventError, "event_not_json"),
    ({"a": float("nan")}, TypeError, "event_not_json"),
    ({"a": [1, {2}]}, TypeError, "event_not_json"),
    ({"a": {1: 2}}, TypeError, "event_not_json"),
    ({"a": b"bytes"}, TypeError, "event_not_json"),
    ({"a": "\udfff"}, TypeError, "event_not_json"),
    ({"a": nested(5_000)}, TypeError, "event_not_json"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_bad_event_is_an_error_of_the_event(small: retort.Bundle, number: int) -> None:
    bad, kind, code = BAD[number]
    with pytest.raises(kind) as raised:
        small.extract(bad)
    assert isinstance(raised.value, retort.EventError) and raised.value.code == code
    # The next one is served all the same, and among many nothing is lost.
    outcomes = list(small.extract_many([event(1), bad, event(2)]))
    assert [bool(outcomes[0].nodes), bool(outcomes[2].nodes)] == [True, True]
    assert isinstance(outcomes[1], retort.EventError) and outcomes[1].code == code


def test_the_place_in_a_dict_is_told(small: retort.Bundle) -> None:
    with pytest.raises(retort.EventTypeError) as raised:
        small.extract({"a": [0, {"b": {1, 2}}]})
    assert raised.value.path == "a[1].b" and "set" in str(raised.value)


def test_a_dict_that_holds_itself_is_told(small: retort.Bundle) -> None:
    own: dict[str, Any] = {}
    own["own"] = own
    with pytest.raises(retort.EventTypeError, match="levels deep"):
        small.extract(own)


def test_what_python_has_more_of_is_taken(small: retort.Bundle) -> None:
    result = small.extract(event(1, total=True, big=10**40, negative=-(10**40), text=Text("x"), tuple=(1, None), quote='"\\\n\u2028\U0001f600'))
    assert result.nodes


def test_a_number_is_written_as_it_is(small: retort.Bundle) -> None:
    for number in (0.1, 1e300, -0.0, 5e-324, 2**53, 123456789012345678):
        [node] = small.extract(event(1, total=number)).nodes
        assert node["total"] == number


def test_an_iterable_that_fails_loses_nothing(small: retort.Bundle) -> None:
    def failing() -> Any:
        yield event(1)
        yield event(2)
        raise KeyError("gone")

    many, results = small.extract_many(failing()), []
    with pytest.raises(KeyError, match="gone"):
        for result in many:
            results.append(result)
    assert [it.nodes[0]["order_id"] for it in results] == ["A-1", "A-2"]
    assert list(many) == []


def test_a_closed_file_is_told(small: retort.Bundle, tmp_path: Path) -> None:
    path = tmp_path / "events"
    path.write_text("{}\n{}\n")
    with path.open() as file:
        many = small.extract_many(file)
        assert not next(many)
    with pytest.raises(ValueError, match="closed file"):
        list(many)


def test_no_iterable_is_told(small: retort.Bundle) -> None:
    for wrong in (5, "{}", b"{}"):
        with pytest.raises(TypeError):
            small.extract_many(wrong)  # type: ignore[arg-type]


def test_errors_are_pickled_with_all_that_they_say(small: retort.Bundle) -> None:
    with pytest.raises(retort.EventError) as raised:
        small.extract("[]")
    for again in (pickle.loads(pickle.dumps(raised.value)), copy.copy(raised.value)):
        assert type(again) is type(raised.value) and str(again) == str(raised.value)
        assert again.__dict__ == raised.value.__dict__


def test_errors_are_of_one_family() -> None:
    for kind in (retort.EventError, retort.ExtractorError, retort.HostError, retort.InputError, retort.CompileError, retort.ModelError):
        assert issubclass(kind, retort.Error)


@pytest.mark.skipif(not hasattr(_native, "_panicking"), reason="an optimised build has nothing that panics when it is asked to")
def test_a_panic_is_an_error_of_the_host() -> None:
    with pytest.raises(retort.HostError) as raised:
        _native._panicking()
    assert raised.value.code == "host_panicked"


@pytest.mark.parametrize(
    "wrong, code",
    [
        ({"graph": "entities: ["}, "graph_spec_syntax"),
        ({"graph": Path("/nowhere/graph.yaml")}, "file_not_found"),
        ({"samples": []}, "no_samples"),
        ({"samples": ["["]}, "sample_not_json"),
        ({"samples": [5]}, "event_not_object"),
        ({"samples": event(1)}, "file_not_json"),
        ({"graph": None}, "project_incomplete"),
        ({"plan": {"a": {1}}}, "file_not_json"),
        ({"policy": {"denied": []}}, None),
        ({"name": "no name!"}, None),
        ({"model": "gpt", "plan": None, "rule": "Orders"}, "model_config"),
    ],
)
def test_what_compile_is_handed_is_told(tmp_path: Path, wrong: dict[str, Any], code: str | None) -> None:
    given: dict[str, Any] = {"plan": PLAN, "graph": GRAPH, "samples": [event(1)], "out": tmp_path, **wrong}
    with pytest.raises(retort.InputError) as raised:
        retort.compile(**given)
    assert code is None or raised.value.code == code
