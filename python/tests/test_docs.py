"""The programs of the documents, run as they stand there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, ROOT

import retort


def programs(name: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / name).read_text(), re.M | re.S)


def test_the_readme_begins_with_a_program_of_ten_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    [program] = programs("python/README.md")
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    exec(program, {})
    assert capsys.readouterr().out == "[('s1:Order:id=A-7', {'id': 'A-7', 'total': 12.5})]\nevent_not_object\n"


def test_the_programs_about_python_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyarrow")
    names: dict[str, Any] = {"out": tmp_path}
    for program in programs("docs/python.md"):
        exec(program, names)
    told = capsys.readouterr().out
    assert "s1:Order:id=A-7" in told and "event_not_object" in told
    # The path that was nearly right was repaired without asking again.
    assert "['unknown_path', None]" in told or "[None]" in told


def test_every_error_is_told_of() -> None:
    document = (ROOT / "docs" / "python.md").read_text()
    for name in retort.__all__:
        kind = getattr(retort, name)
        if isinstance(kind, type) and issubclass(kind, retort.Error) and kind is not retort.Error:
            assert f"| `{name}` |" in document


def test_a_graph_is_drawn(orders: retort.Bundle, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("networkx")
    image = tmp_path / "graph.png"
    script = ROOT / "python" / "examples" / "draw_graph.py"
    events = EXAMPLES / "shop-orders" / "events.ndjson"
    ran = subprocess.run([sys.executable, script, str(orders.path), events, image], capture_output=True, text=True, check=True)
    assert "nodes and" in ran.stdout and image.read_bytes().startswith(b"\x89PNG") and image.stat().st_size > 10_000


def test_stubs_name_what_there_is() -> None:
    """What is built and what its stubs say have the same names."""
    import ast

    from retort import _native

    stubs = ast.parse((Path(retort.__file__).parent / "_native.pyi").read_text())
    for node in stubs.body:
        if isinstance(node, ast.ClassDef):
            told = {it.name for it in node.body if isinstance(it, ast.FunctionDef) and not it.name.startswith("__")}
            found = {name for name in vars(getattr(_native, node.name)) if not name.startswith("__")}
            assert told == found - {"_restore"}, node.name
    functions = {node.name for node in stubs.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {"_forked"}
    found = {name for name in dir(_native) if not name.startswith("__")}
    assert found - {"_panicking"} == functions - {"_panicking"}
    assert json.dumps(_native.plan_schema())
