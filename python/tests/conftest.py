"""What tests have in common: examples of this repository, made into bundles once, and the shared contract beside it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import retort

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
CONFORMANCE = ROOT.parent / "shared" / "conformance"


def contract(name: str) -> Any:
    """A file of the shared contract. Without it there is nothing to be tested, which under CI is a failure."""
    path = CONFORMANCE / name
    if not path.exists():
        if os.environ.get("CI") == "true":
            raise FileNotFoundError(path)
        pytest.skip(f"there is no {path}", allow_module_level=True)
    return json.loads(path.read_text())


def lines(name: str) -> list[bytes]:
    """The events of an example."""
    return (EXAMPLES / name / "events.ndjson").read_bytes().splitlines()


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the bundles of two examples."""
    out = tmp_path_factory.mktemp("bundles")
    for name in ("shop-orders", "github-webhook"):
        retort.compile(EXAMPLES / name, out=out)
    return out


@pytest.fixture(scope="session")
def orders(bundles: Path) -> retort.Bundle:
    """The bundles of that directory."""
    return retort.Bundle.load(bundles)


GRAPH = """
entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
"""

PLAN: dict[str, Any] = {
    "event_type": "order_placed",
    "target_entity_name": "Order",
    "function_name": "read_order",
    "key_field": {"property_name": "order_id", "source_path": ["content", "id"]},
    "property_fields": [{"property_name": "total", "source_path": ["content", "total"]}],
    "span_handling": {"span_id_path": ["span_id"]},
}


def event(number: int | str, total: Any = 12.5, **more: Any) -> dict[str, Any]:
    """An event of that plan."""
    content = {"id": f"A-{number}", "total": total}
    return {"event_type": "order_placed", "session_id": "s1", "span_id": f"p{number}", "content": content, **more}


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> retort.Compilation:
    """A small bundle of one's own."""
    out = tmp_path_factory.mktemp("small")
    return retort.compile(plan=PLAN, graph=GRAPH, samples=[event(1)], out=out)


@pytest.fixture(scope="session")
def small(made: retort.Compilation) -> retort.Bundle:
    return made.load()


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two executors with a core each, in JVMs of their own."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    work = tmp_path_factory.mktemp("spark")
    session = (
        sql.SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(work))
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
