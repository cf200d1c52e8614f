"""The same job on Spark by three ways: `retort.spark`, and a Python UDF over json and over orjson.

    python bench/spark.py ROWS [RETORT]

Events are those of examples/shop-orders, in a Parquet file, on local-cluster with one executor and with two. The job is every table of the
graph spec, typed, each asked for by itself. By a UDF, that is the program which docs/peers.md measures, its results kept as JSON text, and
each table taken out of them by Spark; nothing is checked there. Nothing is written. With RETORT, the path of the command, the rows of all
tables are held to those of `retort run`.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import explode, expr, from_json, udf

import retort
from retort import spark

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "shop-orders"
#: Files of events, which are as many tasks.
FILES = 16
BY_HAND = ROOT / "benches" / "peers" / "programs" / "shop_orders.py"


def session(executors: int) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    made = (
        SparkSession.builder.master(f"local-cluster[{executors},1,2048]")
        .config("spark.executor.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.files.maxPartitionBytes", "4m")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    return made


def write_events(rows: int, folder: Path) -> tuple[Path, Path]:
    """The events as lines, and in Parquet files with their lines."""
    kept = [line.decode("utf8", "replace") for line in (EXAMPLE / "events.ndjson").read_bytes().splitlines()]
    text, columns = folder / "events.ndjson", folder / "events"
    columns.mkdir()
    part = -(-rows // FILES)
    with text.open("w") as out:
        for number in range(FILES):
            lines = range(number * part + 1, min((number + 1) * part, rows) + 1)
            events = [kept[(line - 1) % len(kept)] for line in lines]
            out.writelines(f"{event}\n" for event in events)
            table = pa.table({"line": pa.array(lines, pa.int64()), "event": pa.array(events, pa.string())})
            pq.write_table(table, columns / f"{number:02}.parquet", compression="zstd")
    return text, columns


def by_hand(loads: Callable[[Any], Any], name: str) -> Any:
    """A UDF of an event's text, to its result's."""
    source = BY_HAND.read_text()

    def run(event: str) -> str | None:
        extract = _EXTRACT.get(name)
        if extract is None:
            spec = importlib.util.spec_from_loader("shop_orders", loader=None)
            module = importlib.util.module_from_spec(spec)
            exec(source, module.__dict__)  # noqa: S102 - a program of this repository
            extract = _EXTRACT[name] = module.extract
        try:
            return json.dumps(extract(loads(event)))
        except Exception:  # noqa: BLE001 - an event that fails gives nothing
            return None

    return udf(run, "string")


_EXTRACT: dict[str, Any] = {}


def timed(frame: DataFrame) -> float:
    started = time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - started


RESULT = """nodes array<struct<node_id: string, entity_name: string, properties: array<struct<name: string, value: string>>>>,
    edges array<struct<edge_id: string, relationship_name: string, from_node_id: string, to_node_id: string,
        properties: array<struct<name: string, value: string>>>>,
    fully_handled_span_ids array<string>, partially_handled_span_ids array<string>"""


def by_udf(events: DataFrame, graph: dict[str, Any], loads: Callable[[Any], Any], name: str) -> tuple[float, float]:
    """The time for all tables, and for the results alone."""
    started = time.perf_counter()
    results = events.select("line", by_hand(loads, name)("event").alias("result")).persist()
    timed(results)
    extracted = time.perf_counter() - started
    read = results.select("line", from_json("result", RESULT).alias("r"))
    kinds = {"int64": "bigint", "double": "double", "timestamp": "timestamp"}
    for part, kind, keys in (
        ("entities", "entity_name", ["node_id"]),
        ("relationships", "relationship_name", ["edge_id", "from_node_id", "to_node_id"]),
    ):
        for it in graph[part]:
            rows = read.select("line", explode("r.nodes" if part == "entities" else "r.edges").alias("it")).where(f"it.{kind} = '{it['name']}'")
            rows = rows.select("line", *(f"it.{key}" for key in keys), expr("map_from_entries(it.properties)").alias("p"))
            typed = [expr(f"cast(p['{p['logical_name']}'] as {kinds.get(p['sdk_type'], 'string')})").alias(p["column"]) for p in it["properties"]]
            timed(rows.select("line", *keys, *typed))
    spans = read.select("line", explode(expr("concat(r.fully_handled_span_ids, r.partially_handled_span_ids)")))
    timed(spans)
    results.unpersist()
    return time.perf_counter() - started, extracted


def by_retort(events: DataFrame, bundle: retort.Bundle) -> tuple[float, spark.Tables]:
    started = time.perf_counter()
    tables = spark.extract(events, bundle, line_column="line")
    for name, table in tables.items():
        took = timed(table)
        print(f"  {name}: {took:.1f} s", flush=True)
    return time.perf_counter() - started, tables


def equal_to_run(command: str, text: Path, bundle: retort.Bundle, tables: spark.Tables, folder: Path) -> None:
    """Holds all rows to those of `retort run`, which go by its Parquet files."""
    import duckdb

    database = duckdb.connect()

    out = folder / "run"
    ran = subprocess.run([command, "run", "--bundles", bundle.path, "--out", out, "--format", "parquet", text], stderr=subprocess.DEVNULL)
    # It says by 1 that events were rejected.
    assert ran.returncode in (0, 1), ran
    for name, frame in tables.items():
        mine = folder / "spark" / name
        frame.write.parquet(str(mine))
        columns = ", ".join(f'"{column}"' for column in frame.columns if column != "_input")
        theirs = list(out.glob(f"**/{name}*.parquet")) + list(out.glob(f"{name}/*.parquet"))
        one = f"select {columns} from read_parquet('{mine}/*.parquet')"
        if not theirs:
            count = database.execute(f"select count(*) from ({one})").fetchone()
            assert count == (0,), f"{name}: {count} rows, and none of retort run"
            continue
        other = f"select {columns} from read_parquet({[str(it) for it in theirs]})"
        for left, right in ((one, other), (other, one)):
            more = database.execute(f"select count(*) from ({left} except all {right})").fetchone()
            assert more == (0,), f"{name}: {more}"
        print(f"  {name}: {database.execute(f'select count(*) from ({one})').fetchone()[0]:,} rows, as `retort run` has them", flush=True)


def main() -> None:
    rows, command = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        text, columns = write_events(rows, folder)
        retort.compile(EXAMPLE, out=folder / "bundles")
        bundle = retort.Bundle.load(folder / "bundles")
        [graph] = bundle.graphs.values()
        print(f"{rows:,} events, {text.stat().st_size / rows:.0f} bytes each", flush=True)
        for executors in (1, 2):
            made = session(executors)
            events = made.read.parquet(str(columns))
            # Once, so that executors and their Python are there.
            timed(events.limit(1000).repartition(2 * executors).select(by_hand(json.loads, "json")("event")))
            reading = timed(events)
            seconds, tables = by_retort(events, bundle)
            assert tables.counters is not None
            counters = tables.counters.value
            extracting, packing = counters["seconds.extraction"] / executors, counters["seconds.packing"] / executors
            ways = {"json": json.loads}
            try:
                import orjson

                ways["orjson"] = orjson.loads
            except ImportError:
                print("there is no orjson")
            print(
                f"{executors} executors: retort {seconds:.1f} s, of which extraction {extracting / seconds:.0%}, Arrow IPC {packing / seconds:.0%}, "
                f"reading the file alone {reading:.1f} s",
                flush=True,
            )
            for name, loads in ways.items():
                took, extracted = by_udf(events, graph, loads, name)
                print(f"{executors} executors: UDF over {name} {took:.1f} s, {took / seconds:.1f} times; its results alone {extracted:.1f} s", flush=True)
            if command is not None and executors == 2:
                equal_to_run(command, text, bundle, tables, folder)
            made.stop()


if __name__ == "__main__":
    main()
