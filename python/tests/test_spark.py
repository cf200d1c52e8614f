"""Extraction on a cluster of several JVMs on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import event, lines

import retort

pytest.importorskip("pyspark")
pytest.importorskip("pandas")

from retort import spark  # noqa: E402

pytestmark = pytest.mark.spark


def frame(session: Any, events: list[str], parts: int) -> Any:
    rows = list(enumerate(events, 1))
    return session.createDataFrame(rows, "line long, event string").repartition(parts)


def by_one_process(bundle: retort.Bundle, events: list[str]) -> dict[str, Counter[str]]:
    """The rows of each table, as one call gives them."""
    import pyarrow as pa

    batch = pa.RecordBatch.from_pydict({"event": events, "line": list(range(1, len(events) + 1))})
    tables = bundle.extract_arrow(batch, line_column="line")
    return {name: counted(table.to_pylist()) for name, table in tables.items()}


def counted(rows: list[dict[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True, default=lambda it: it.isoformat() if hasattr(it, "isoformat") else str(it)) for row in rows)


def by_spark(tables: spark.Tables) -> dict[str, Counter[str]]:
    return {name: counted(frame.toArrow().to_pylist()) for name, frame in tables.items()}


def some_orders() -> list[str]:
    return [line.decode() for line in lines("shop-orders") if _is_utf8(line)] + ["[]", "{", '{"event_type": "other"}']


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_the_rows_are_those_of_one_process(session: Any, orders: retort.Bundle) -> None:
    events = some_orders() * 5
    tables = spark.extract(frame(session, events, 6), orders, "event", line_column="line")
    wanted = by_one_process(orders, events)
    assert list(tables) == list(wanted)
    assert by_spark(tables) == wanted
    assert sum(wanted["retort_rejects"].values()) >= 10
    summary = tables.summary()
    assert summary["events"] == len(events) and summary["rejects"]["event_not_object"] == 5
    # What was asked of the tables ran the extraction once.
    assert tables.counters is not None and tables.counters.value["events"] == len(events)
    assert tables.counters.value["seconds.extraction"] > 0
    tables.unpersist()
    assert tables["retort_rejects"].count() == sum(wanted["retort_rejects"].values())


def test_schemas_are_known_before_anything_runs(session: Any, small: retort.Bundle) -> None:
    tables = spark.extract(frame(session, ["{}"], 1), small)
    types = {field.name: field.dataType.simpleString() for field in tables["Order"].schema}
    assert (types["order_id"], types["total"], types["_line"]) == ("string", "double", "bigint")
    assert tables.counters is not None and tables.counters.value == {}


def test_structs_are_events_as_well(session: Any, small: retort.Bundle) -> None:
    rows = [(event(number),) for number in range(10)]
    schema = "event struct<event_type: string, session_id: string, span_id: string, content: struct<id: string, total: double>>"
    tables = spark.extract(session.createDataFrame(rows, schema), small)
    assert sorted(row["order_id"] for row in tables["Order"].collect()) == sorted(f"A-{number}" for number in range(10))


def test_bundles_may_be_there_already(session: Any, small: retort.Bundle, tmp_path: Path) -> None:
    events = [json.dumps(event(number)) for number in range(10)]
    tables = spark.extract(frame(session, events, 2), small.path, ship=False)
    assert tables["Order"].count() == 10
    # By their fingerprints: what was put in their place isn't served.
    copy = tmp_path / Path(small.path).name
    shutil.copytree(small.path, copy)
    tables = spark.extract(frame(session, events, 2), copy, ship=False)
    (copy / "extractor.wasm").write_bytes(b"\0asm")
    with pytest.raises(Exception, match="digest_mismatch"):
        tables["Order"].count()


def test_a_column_that_there_is_not_is_told(session: Any, small: retort.Bundle) -> None:
    with pytest.raises(retort.InputError, match="evnt"):
        spark.extract(frame(session, ["{}"], 1), small, "evnt")


def test_limits_reach_the_executors(session: Any, small: retort.Bundle) -> None:
    events = [json.dumps(event(1)), json.dumps(event(2, note="x" * 500))]
    tables = spark.extract(frame(session, events, 1), small.path, limits={"event_bytes": 300})
    assert [row["code"] for row in tables["retort_rejects"].collect()] == ["event_too_large"]


def executors() -> list[int]:
    """The process ids of executors below this process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(word.endswith(b"CoarseGrainedExecutorBackend") for word in command) and os.getpid() in ancestors(int(entry.name)):
                found.append(int(entry.name))
    return found


def ancestors(pid: int) -> list[int]:
    chain = []
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            break
        chain.append(pid)
    return chain


class Slowly:
    """Lets batches through one by one, so that something can happen in between."""

    def __call__(self, batches: Any) -> Any:
        for batch in batches:
            time.sleep(0.3)
            yield batch


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are found in /proc")
def test_an_executor_that_is_killed_loses_nothing_and_doubles_nothing(session: Any, small: retort.Bundle) -> None:
    events = [json.dumps(event(number, total="much" if number % 7 == 0 else number)) for number in range(4_000)] + ["["] * 50
    wanted = by_one_process(small, events)
    slow = frame(session, events, 40).mapInArrow(Slowly(), "line long, event string")
    tables = spark.extract(slow, small, "event", line_column="line")
    killed = []

    def kill() -> None:
        # When some is done, and some isn't.
        time.sleep(4)
        killed.extend(executors()[:1])
        for pid in killed:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    started = time.monotonic()
    first = counted(tables["Order"].toArrow().to_pylist())
    took = time.monotonic() - started
    killer.join()
    assert len(killed) == 1 and took > 4, "it was killed in the middle"
    assert first == wanted["Order"]
    # And once more, when what it kept is gone.
    os.kill(executors()[0], signal.SIGKILL)
    assert by_spark(tables) == wanted
    assert tables.summary()["events"] == len(events)


def test_the_program_of_the_document_runs(session: Any, made: retort.Compilation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from test_docs import programs

    monkeypatch.chdir(tmp_path)
    shutil.copytree(made.path.parent, tmp_path / "bundles")
    [program] = programs("docs/spark.md")
    names: dict[str, Any] = {"session": session, "json": json, "orders": [event(number) for number in range(3)]}
    exec(program, names)
    assert names["tables"]["Order"].count() == 3
