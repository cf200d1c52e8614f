"""Batches of Arrow, in and out; and what other libraries make of them."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from conftest import event, lines

import retort

pa = pytest.importorskip("pyarrow")


def batch(events: list[Any], **columns: Any) -> Any:
    return pa.RecordBatch.from_pydict({"event": [it if isinstance(it, str) else json.dumps(it) for it in events], **columns})


def test_a_batch_becomes_a_batch_for_each_table(small: retort.Bundle) -> None:
    tables = small.extract_arrow(batch([event(1), event(2)]))
    assert list(tables) == list(small.arrow_schemas()) == ["Order", "retort_spans", "retort_rejects"]
    for name, schema in small.arrow_schemas().items():
        assert isinstance(tables[name], pa.RecordBatch) and tables[name].schema == schema
    rows = tables["Order"].to_pylist()
    assert [(it["_node_id"], it["order_id"], it["total"], it["_line"]) for it in rows] == [
        ("s1:Order:order_id=A-1", "A-1", 12.5, 1),
        ("s1:Order:order_id=A-2", "A-2", 12.5, 2),
    ]
    assert [(it["span_id"], it["handled"]) for it in tables["retort_spans"].to_pylist()] == [("p1", "fully"), ("p2", "fully")]
    assert tables["retort_rejects"].num_rows == 0


def test_what_fails_is_among_the_rejects_and_nothing_is_lost(small: retort.Bundle) -> None:
    events = ["[]", event(1), "{", event(2, total="much"), {"event_type": "other"}]
    tables, summary = small._extract_arrow(batch(events))
    told = [(it["scope"], it["code"], it["_line"]) for it in tables["retort_rejects"].to_pylist()]
    assert told == [("event", "event_not_object", 1), ("event", "event_not_json", 3), ("part", "type_mismatch", 4)]
    assert [it["total"] for it in tables["Order"].to_pylist()] == [12.5, None]
    assert (summary["events"], summary["results"], summary["in_part"], summary["unrouted"]) == (5, 2, 1, 1)
    assert summary["rejects"] == {"event_not_object": 1, "event_not_json": 1} and summary["dropped"] == {"type_mismatch": 1}
    null = pa.RecordBatch.from_arrays([pa.array([None, json.dumps(event(1))])], ["event"])
    assert [it["code"] for it in small.extract_arrow(null)["retort_rejects"].to_pylist()] == ["event_not_json"]


def test_lines_and_inputs_are_said(small: retort.Bundle) -> None:
    rows = small.extract_arrow(batch([event(1), event(2)]), line=10, input="a")["Order"].to_pylist()
    assert [(it["_line"], it["_input"]) for it in rows] == [(10, "a"), (11, "a")]
    rows = small.extract_arrow(batch([event(1), event(2)], n=[7, 5]), line_column="n")["Order"].to_pylist()
    assert [it["_line"] for it in rows] == [7, 5]


def test_events_may_be_of_any_text_and_structs(small: retort.Bundle) -> None:
    texts = [json.dumps(event(number)) for number in range(3)]
    wanted = small.extract_arrow(batch(texts))["Order"]
    for kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()):
        found = small.extract_arrow(pa.RecordBatch.from_arrays([pa.array(texts).cast(kind)], ["event"]))["Order"]
        assert found.equals(wanted), kind
    structs = pa.RecordBatch.from_pylist([{"event": event(number)} for number in range(3)])
    assert small.extract_arrow(structs)["Order"].equals(wanted)
    sliced = batch(["[]", *texts, "[]"]).slice(1, 3)
    assert small.extract_arrow(sliced)["Order"].equals(wanted)


def test_what_is_no_batch_or_no_column_is_told(small: retort.Bundle) -> None:
    with pytest.raises(TypeError, match="to_batches"):
        small.extract_arrow(pa.Table.from_batches([batch([event(1)])]))
    for wrong in (5, None, [event(1)]):
        with pytest.raises(TypeError):
            small.extract_arrow(wrong)
    with pytest.raises(retort.InputError) as missing:
        small.extract_arrow(batch([event(1)]), "evnt")
    assert missing.value.code == "column_not_found"
    for column in (pa.array([1]), pa.array([[1]])):
        with pytest.raises(retort.InputError) as unsupported:
            small.extract_arrow(pa.RecordBatch.from_arrays([column], ["event"]))
        assert unsupported.value.code == "column_unsupported"
    with pytest.raises(retort.InputError):
        small.extract_arrow(batch([event(1)], n=["x"]), line_column="n")


def test_nothing_is_copied_that_need_not_be(small: retort.Bundle) -> None:
    """What comes out is Arrow's own memory: it outlives the bundle and the batch that it came of."""
    bundle = retort.Bundle.load(small.path)
    tables = bundle.extract_arrow(batch([event(number) for number in range(1_000)]))
    del bundle
    assert [it["order_id"] for it in tables["Order"].to_pylist()] == [f"A-{number}" for number in range(1_000)]


def test_other_threads_run_in_the_meantime(orders: retort.Bundle) -> None:
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    many = batch([line.decode("utf8", "replace") for line in lines("shop-orders")] * 100)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        orders.extract_arrow(many)
        assert counted[0] > before
    finally:
        stop.set()
        thread.join()


def test_tables_hold_what_results_do(orders: retort.Bundle) -> None:
    """The same nodes by both ways."""
    events = [line for line in lines("shop-orders")]
    tables = orders.extract_arrow(pa.RecordBatch.from_pydict({"event": events}))
    found = {row["_node_id"] for name, table in tables.items() if not name.startswith("retort_") and "_node_id" in table.schema.names for row in table.to_pylist()}
    nodes = {node.node_id for it in orders.extract_many(events) if not isinstance(it, retort.Error) for node in it.nodes}
    assert found == nodes and nodes


# Recipes of docs/python.md


def test_a_dataset_is_scanned(small: retort.Bundle, tmp_path: Any) -> None:
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    for part in range(3):
        pq.write_table(pa.Table.from_batches([batch([event(number) for number in range(part * 100, part * 100 + 100)])]), tmp_path / f"{part}.parquet")
    scanned = ds.dataset(tmp_path).scanner(columns=["event"], batch_size=32).to_reader()
    orders = pa.Table.from_batches([small.extract_arrow(it)["Order"] for it in scanned])
    assert sorted(orders["order_id"].to_pylist()) == sorted(f"A-{number}" for number in range(300))


def test_polars_goes_in_and_out(small: retort.Bundle) -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"event": [json.dumps(event(number)) for number in range(10)]})
    batches = [small.extract_arrow(it)["Order"] for it in frame.to_arrow().to_batches()]
    orders = pl.from_arrow(batches)
    assert orders["total"].sum() == 125.0 and orders.height == 10


def test_duckdb_goes_in_and_out(small: retort.Bundle) -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("create table events as select format('{{\"event_type\": \"order_placed\", \"content\": {{\"id\": \"{}\", \"total\": {}}}}}', i, i) as event from range(100) r(i)")
    reader = connection.sql("select event from events").to_arrow_reader(32)
    orders = pa.Table.from_batches([small.extract_arrow(it)["Order"] for it in reader])
    assert connection.execute("select count(*), sum(total) from orders").fetchone() == (100, 4950.0)
    assert orders.num_rows == 100


def test_ray_data_maps_batches(small: retort.Bundle) -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=1, include_dashboard=False, logging_level="error")
    try:
        events = ray.data.from_items([{"event": json.dumps(event(number))} for number in range(100)])

        def orders(table: Any) -> Any:
            return pa.Table.from_batches([small.extract_arrow(it)["Order"] for it in table.combine_chunks().to_batches()])

        assert events.map_batches(orders, batch_format="pyarrow").count() == 100
    finally:
        ray.shutdown()
