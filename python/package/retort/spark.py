"""Extraction on Spark, over `mapInArrow`.

>>> from retort import spark
>>> tables = spark.extract(events, "bundles", "event")   # doctest: +SKIP
>>> tables["Order"].write.parquet("orders")              # doctest: +SKIP
>>> tables["retort_rejects"].show()                      # doctest: +SKIP

Events are extracted once, whatever is asked of the tables: what comes of a batch is one row for each table that has rows, which holds
them as a stream of Arrow IPC. These rows are kept (`persist`), and a table is those of its name, unpacked. What is lost with an executor
is extracted anew from the same events, so that no row is lost and none comes twice.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import Bundle, InputError

if TYPE_CHECKING:
    from pyspark import Accumulator, StorageLevel
    from pyspark.sql import DataFrame

#: What the rows of a batch are called that say what its events came to.
_SUMMARY = "retort_summary"

_TAGGED = "table string not null, rows binary not null"


class Tables(dict[str, "DataFrame"]):
    """A DataFrame for each table of the graph specs, and those of spans and of rejects, by name."""

    #: What events came to so far, by name: counts of `retort run`'s summary, with dots in names of codes, and seconds of work by what it
    #: was. What Spark runs twice is counted twice; `summary` isn't. None with Spark Connect, which has no accumulators.
    counters: Accumulator[dict[str, float]] | None
    #: One row for each batch and table, as it is kept.
    tagged: DataFrame

    def summary(self) -> dict[str, Any]:
        """What the events came to, each counted once. Runs the extraction, if nothing has before."""
        total: dict[str, Any] = {}
        for row in self.tagged.where(self.tagged["table"] == _SUMMARY).select("rows").toLocalIterator():
            _add(total, json.loads(bytes(row["rows"])))
        return total

    def unpersist(self) -> None:
        """Gives up what is kept. Tables that are asked for afterwards are extracted anew."""
        self.tagged.unpersist()


def _add(total: dict[str, Any], more: dict[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, dict):
            _add(total.setdefault(name, {}), value)
        else:
            total[name] = total.get(name, 0) + value


def extract(
    df: DataFrame,
    bundles: str | os.PathLike[str] | Bundle,
    event_column: str = "event",
    *,
    line_column: str | None = None,
    ship: bool = True,
    persist: StorageLevel | None = None,
    **options: Any,
) -> Tables:
    """What the extractors of `bundles` make of the events in a column of JSON text, or of structs.

    `bundles` is a bundle or a directory of bundles that the driver can read, or a `Bundle`. What it serves is sent to the executors
    as an archive, with `SparkContext.addArchive`; without `ship`, they find it at the same path, by the same fingerprints: on a file system that all
    share, or in a directory that `retort sync` keeps on each. `options` are those of `Bundle.load`.

    `line_column` is a column of bigint that goes into `_line` of each row; without it, rows are numbered in their batches. What
    is kept goes to memory and disk, unless `persist` names another level.
    """
    from pyspark import StorageLevel
    from pyspark.sql.pandas.types import from_arrow_schema

    bundle = bundles if isinstance(bundles, Bundle) else Bundle.load(bundles, **options)
    wanted = [event_column] if line_column is None else [event_column, line_column]
    missing = [name for name in wanted if name not in df.columns]
    if missing:
        raise InputError(f"expected columns {missing} of the DataFrame, found {df.columns}", code="column_not_found")
    schemas = bundle.arrow_schemas()
    context = _context(df)
    counters = None if context is None else context.accumulator({}, _Counting())
    path = os.fspath(bundle.path)
    if ship:
        if context is None:
            raise InputError("Spark Connect ships no bundles: use ship=False", code="project_incomplete")
        path = _shipped(context, bundle)
    work = _Extract(path, ship, tuple(bundle.fingerprints), options, event_column, line_column, counters)
    tagged = df.select(*wanted).mapInArrow(work, _TAGGED)
    tagged = tagged.persist(StorageLevel.MEMORY_AND_DISK if persist is None else persist)
    tables = Tables()
    tables.counters, tables.tagged = counters, tagged
    for name, schema in schemas.items():
        rows = tagged.where(tagged["table"] == name).select("rows")
        tables[name] = rows.mapInArrow(_unpacked, from_arrow_schema(schema))
    return tables


def _context(df: DataFrame) -> Any:
    try:
        return df.sparkSession.sparkContext
    except Exception:  # noqa: BLE001 - whatever Spark Connect says, it has none
        return None


class _Counting:
    """How counts of tasks are added up: an AccumulatorParam of pyspark."""

    def zero(self, value: dict[str, float]) -> dict[str, float]:
        return {}

    def addInPlace(self, value1: dict[str, float], value2: dict[str, float]) -> dict[str, float]:  # noqa: N802 - pyspark's name
        for name, count in value2.items():
            value1[name] = value1.get(name, 0) + count
        return value1


#: Archives that were sent, by what is in them: Spark serves them from here for as long as its application runs.
_SENT: dict[str, Path] = {}


def _shipped(context: Any, bundle: Bundle) -> str:
    """Sends the bundles that are served to the executors, in an archive whose name says which they are."""
    digest = hashlib.sha256("".join(bundle.fingerprints).encode()).hexdigest()[:16]
    name = f"retort-bundles-{digest}.zip"
    if digest not in _SENT:
        folder = Path(tempfile.mkdtemp(prefix="retort-spark-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _pack(Path(bundle.path), bundle.fingerprints, folder / name)
        _SENT[digest] = folder / name
    # The same again is none the more.
    context.addArchive(os.fspath(_SENT[digest]))
    return name


def _pack(root: Path, fingerprints: list[str], archive: Path) -> None:
    is_bundle = (root / "manifest.json").exists()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for fingerprint in fingerprints:
            folder = root if is_bundle else root / fingerprint
            for file in sorted(folder.iterdir()):
                out.write(file, f"{fingerprint}/{file.name}")
        if not is_bundle and (root / ".active.json").exists():
            # It says which event types several extractors share.
            out.write(root / ".active.json", ".active.json")


#: What this worker process has opened: one engine for all of its tasks.
_OPENED: dict[tuple[str, tuple[str, ...], str], Bundle] = {}


class _Extract:
    """Batches of events, to a row for each batch and table."""

    def __init__(
        self,
        path: str,
        is_shipped: bool,
        fingerprints: tuple[str, ...],
        options: dict[str, Any],
        event_column: str,
        line_column: str | None,
        counters: Any,
    ) -> None:
        self.path = path
        self.is_shipped = is_shipped
        self.fingerprints = fingerprints
        self.options = options
        self.event_column = event_column
        self.line_column = line_column
        self.counters = counters

    def bundle(self) -> Bundle:
        path = self.path
        if self.is_shipped:
            from pyspark import SparkFiles

            path = SparkFiles.get(path)
        key = (path, self.fingerprints, repr(sorted(self.options.items())))
        if key not in _OPENED:
            _OPENED[key] = Bundle.load(path, fingerprints=list(self.fingerprints), **self.options)
        return _OPENED[key]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        bundle, totals = self.bundle(), dict[str, float]()
        try:
            for batch in batches:
                begun = time.perf_counter()
                tables, summary = bundle._extract_arrow(batch, self.event_column, line_column=self.line_column)
                extracted = time.perf_counter()
                names, rows = [_SUMMARY], [json.dumps(summary).encode()]
                for name, table in tables.items():
                    if table.num_rows:
                        names.append(name)
                        rows.append(_packed(table))
                packed = pa.RecordBatch.from_arrays([pa.array(names, pa.string()), pa.array(rows, pa.binary())], ["table", "rows"])
                _count(totals, summary)
                totals["seconds.extraction"] = totals.get("seconds.extraction", 0.0) + extracted - begun
                totals["seconds.packing"] = totals.get("seconds.packing", 0.0) + time.perf_counter() - extracted
                yield packed
        finally:
            if self.counters is not None:
                self.counters.add(totals)


def _count(totals: dict[str, float], summary: dict[str, Any], prefix: str = "") -> None:
    for name, value in summary.items():
        if isinstance(value, dict):
            _count(totals, value, f"{prefix}{name}.")
        else:
            totals[prefix + name] = totals.get(prefix + name, 0) + value


def _packed(table: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    # Spark copies all of what is kept for each table that is asked for.
    options = pa.ipc.IpcWriteOptions(compression="lz4" if pa.Codec.is_available("lz4") else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as stream:
        stream.write_batch(table)
    return bytes(sink.getvalue())


def _unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for rows in batch.column(0):
            with pa.ipc.open_stream(rows.as_buffer()) as stream:
                yield from stream
