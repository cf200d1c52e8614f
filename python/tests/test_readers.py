"""What `retort run` writes in the hands of others: pyarrow, DuckDB and Spark read equal tables from its files, and what `retort schema` prints
makes tables that take them. For Postgres and BigQuery, which don't run here, a parser of their SQL says what the statements declare."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, ROOT

import retort

pyarrow = pytest.importorskip("pyarrow")
import pyarrow.dataset  # noqa: E402
import pyarrow.ipc  # noqa: E402
import pyarrow.parquet  # noqa: E402

#: A graph spec whose names are words of SQL, and those of columns that there are anyway, with a property of each type.
ODD_NAMES = ROOT / "tests" / "cli" / "odd_names.json"


def command(*arguments: Any, codes: tuple[int, ...] = (0,)) -> str:
    """What `retort` prints, which is the program that RETORT_COMMAND names."""
    ended = subprocess.run([os.environ["RETORT_COMMAND"], *map(str, arguments)], capture_output=True, text=True)
    assert ended.returncode in codes, ended.stderr
    return ended.stdout


if "RETORT_COMMAND" not in os.environ:
    if os.environ.get("CI") == "true":
        raise KeyError("RETORT_COMMAND")
    pytest.skip("RETORT_COMMAND doesn't name a retort", allow_module_level=True)


@dataclass
class Written:
    """Files that `retort run` wrote, and the graph spec of their tables."""

    folder: Path
    graph: Path

    def tables(self) -> list[dict[str, Any]]:
        """What `retort schema --json` says of the tables."""
        found: list[dict[str, Any]] = json.loads(command("schema", "--graph", self.graph, "--json"))["tables"]
        return found

    def statements(self, dialect: str) -> str:
        return command("schema", "--graph", self.graph, "--dialect", dialect)

    def files(self, table: str) -> str:
        return f"{self.folder / 'parquet' / table}/*.parquet"

    def by_arrow(self, table: str, of: str = "parquet") -> Any:
        """A table as pyarrow reads its files, one after the other."""
        parts = sorted((self.folder / of / table).iterdir())
        read = pyarrow.parquet.read_table if of == "parquet" else lambda part: pyarrow.ipc.open_stream(part).read_all()
        return pyarrow.concat_tables(read(part) for part in parts)


def odd_names(bundles: Path, events: Path) -> None:
    """A bundle and events of that graph spec: all values, none but the key, and some at the ends of what there is."""
    names = ["other", "line", "day", "a_b", "raw", "ok"]
    plan = {
        "event_type": "shaped",
        "target_entity_name": "order",
        "function_name": "read_shape",
        "key_field": {"property_name": "select", "source_path": ["select"]},
        "property_fields": [{"property_name": name, "source_path": [name]} for name in names],
        "span_handling": {"span_id_path": ["span"]},
    }
    values: list[tuple[Any, ...]] = [
        (7, 0.5, "2026-04-02", "2026-04-02T01:15:00.25+02:00", "aGk=", True),
        (),
        (-(2**63), -1.5e300, "0001-01-01", "0001-01-01T00:00:00Z", "", False),
        (2**63 - 1, 0.1, "9999-12-31", "9999-12-31T23:59:59.999999Z", "AAEC/w==", True),
        (0, 5e-324, "1969-12-31", "1969-12-31T23:59:59.999999", "AA==", False),
    ]
    made = [
        {"event_type": "shaped", "session_id": "s'1", "span": f'p"{number}`', "select": f"Grüße \\ {number}\n", **dict(zip(names, row, strict=False))}
        for number, row in enumerate(values)
    ]
    events.write_text("".join(f"{json.dumps(event)}\n" for event in made) + "{\n")
    retort.compile(plan=plan, graph=ODD_NAMES, samples=made[:1], out=bundles)


@pytest.fixture(scope="module", params=["agent-decision", "cloud-audit", "github-webhook", "shop-orders", "odd names"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("tables")
    bundles, example = folder / "bundles", EXAMPLES / request.param
    if request.param == "odd names":
        events, graph = folder / "events.ndjson", ODD_NAMES
        odd_names(bundles, events)
    else:
        events, graph = example / "events.ndjson", example / "graph.yaml"
        retort.compile(example, out=bundles)
    run = ["run", "--bundles", bundles, events]
    # Some events are wrong on purpose.
    command(*run, "--format", "parquet", "--out", folder / "parquet", "--file-rows", 3, codes=(0, 1))
    command(*run, "--format", "arrow", "--out", folder / "arrow", codes=(0, 1))
    made = Written(folder, graph)
    assert sorted(it.name for it in (folder / "parquet").iterdir()) == sorted(table["name"] for table in made.tables())
    assert any(made.by_arrow(table["name"]).num_rows > 3 for table in made.tables()), "some table has several files"
    return made


def plain(value: Any) -> Any:
    """A time as the same one in UTC, and bytes as such, whatever class says that."""
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat()
    return bytes(value) if isinstance(value, bytearray) else value


def rows(found: list[dict[str, Any]]) -> list[str]:
    """Rows in the order of their text, since engines promise none."""
    return sorted(repr({name: plain(value) for name, value in row.items()}) for row in found)


def test_pyarrow_reads_the_same_of_parquet_and_of_streams(written: Written) -> None:
    for table in written.tables():
        by_arrow = written.by_arrow(table["name"])
        assert pyarrow.dataset.dataset(written.folder / "parquet" / table["name"]).to_table().equals(by_arrow)
        assert written.by_arrow(table["name"], "arrow").equals(by_arrow)
        assert [(field.name, field.nullable) for field in by_arrow.schema] == [(it["name"], it["nullable"]) for it in table["columns"]]


def test_duckdb_reads_the_same_and_makes_the_tables(written: Written) -> None:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute(written.statements("duckdb"))
    for table in written.tables():
        by_arrow, name = written.by_arrow(table["name"]), f'"{table["name"]}"'
        read = f"SELECT * FROM read_parquet('{written.files(table['name'])}')"
        assert rows(of_duckdb(database, read)) == rows(by_arrow.to_pylist())
        database.execute(f"INSERT INTO {name} {read}")
        # Of the very columns and types that the files have, and with what is in them.
        declared = database.execute(f"DESCRIBE {name}").fetchall()
        assert [row[:2] for row in declared] == [row[:2] for row in database.execute(f"DESCRIBE {read}").fetchall()]
        assert [row[2] == "YES" for row in declared] == [it["nullable"] for it in table["columns"]]
        assert rows(of_duckdb(database, f"SELECT * FROM {name}")) == rows(by_arrow.to_pylist())


def of_duckdb(database: Any, query: str) -> list[dict[str, Any]]:
    found = database.execute(query)
    columns = [column[0] for column in found.description]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


@pytest.mark.spark
def test_spark_reads_the_same_and_makes_the_tables(session: Any, written: Written) -> None:
    tables = written.tables()
    for statement in filter(str.strip, written.statements("spark").split(";")):
        session.sql(statement)
    try:
        for table in tables:
            name, by_arrow = f"`{table['name']}`", written.by_arrow(table["name"])
            read = session.read.parquet(str(written.folder / "parquet" / table["name"]))
            assert rows(read.toArrow().to_pylist()) == rows(by_arrow.to_pylist())
            read.write.insertInto(table["name"])
            # A table of files lets all columns be null, whatever it is told.
            declared = session.table(name).schema
            assert [(it.name, it.dataType) for it in declared] == [(it.name, it.dataType) for it in read.schema]
            assert rows(session.table(name).toArrow().to_pylist()) == rows(by_arrow.to_pylist())
    finally:
        for table in tables:
            session.sql(f"DROP TABLE IF EXISTS `{table['name']}`")


@pytest.mark.parametrize("dialect", ["bigquery", "duckdb", "postgres", "spark"])
def test_a_parser_of_each_dialect_reads_what_is_declared(written: Written, dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    of = sqlglot.exp.DataType.Type
    wanted = {
        "string": of.TEXT,
        "bytes": of.VARBINARY if dialect in ("duckdb", "postgres") else of.BINARY,
        "int64": of.BIGINT,
        "double": of.DOUBLE,
        "boolean": of.BOOLEAN,
        "date": of.DATE,
        "timestamp": of.TIMESTAMPTZ,
        "list<string>": of.ARRAY,
    }
    statements = sqlglot.parse(written.statements(dialect), read=dialect, error_level=sqlglot.ErrorLevel.RAISE)
    tables = written.tables()
    assert len(statements) == len(tables)
    for statement, table in zip(statements, tables, strict=True):
        assert isinstance(statement, sqlglot.exp.Create) and statement.kind == "TABLE"
        assert (statement.this.this.name, statement.this.this.this.quoted) == (table["name"], True)
        columns = statement.this.expressions
        assert [it.name for it in columns] == [it["name"] for it in table["columns"]]
        for column, it in zip(columns, table["columns"], strict=True):
            assert isinstance(column, sqlglot.exp.ColumnDef) and column.this.quoted
            assert column.kind.this == wanted[it["type"]], (column, it)
            if it["type"] == "list<string>":
                assert [element.this for element in column.kind.expressions] == [of.TEXT]
            # No statement of BigQuery says that of an array, which never is.
            is_said = not it["nullable"] and (dialect, it["type"]) != ("bigquery", "list<string>")
            constraints = [constraint.kind for constraint in column.constraints]
            assert [type(constraint) for constraint in constraints] == [sqlglot.exp.NotNullColumnConstraint] * is_said
