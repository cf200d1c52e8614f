"""Files of tables, read by others: pyarrow and DuckDB give equal tables, and DuckDB takes the statements for them.

    python3 tests/columns.py target/debug/retort

Needs the packages pyarrow and duckdb, and says so where they are missing.
"""

import datetime
import pathlib
import subprocess
import sys
import tempfile

try:
    import duckdb
    import pyarrow.dataset
    import pyarrow.ipc
    import pyarrow.parquet
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent
RETORT = pathlib.Path(sys.argv[1]).resolve()


def retort(*args, codes=(0,)):
    ended = subprocess.run([RETORT, *map(str, args)], capture_output=True)
    assert ended.returncode in codes, ended.stderr.decode()
    return ended.stdout


def plain(value):
    """A time as the same one in UTC, whatever class says that."""
    is_time = isinstance(value, datetime.datetime)
    return value.astimezone(datetime.timezone.utc).isoformat() if is_time else value


def rows(found):
    """Rows in the order of their text, since DuckDB promises none."""
    return sorted(repr({name: plain(value) for name, value in row.items()}) for row in found)


def check(example, folder):
    source = ROOT / "examples" / example
    bundles = folder / "bundles"
    retort("compile", source, "--out", bundles)
    run = ["run", "--bundles", bundles, source / "events.ndjson"]
    # Some events of examples are wrong on purpose.
    retort(*run, "--format", "parquet", "--out", folder / "parquet", "--file-rows", 7, codes=(0, 1))
    retort(*run, "--format", "arrow", "--out", folder / "arrow", codes=(0, 1))
    database = duckdb.connect()
    database.execute("SET TimeZone = 'UTC'")
    database.execute(retort("schema", "--graph", source / "graph.yaml", "--dialect", "duckdb").decode())
    count = 0
    for table in sorted((folder / "parquet").iterdir()):
        parts = sorted(table.iterdir())
        by_arrow = pyarrow.concat_tables(pyarrow.parquet.read_table(part) for part in parts)
        assert pyarrow.dataset.dataset(table).to_table().equals(by_arrow), table
        streams = sorted((folder / "arrow" / table.name).iterdir())
        by_stream = pyarrow.concat_tables(pyarrow.ipc.open_stream(part).read_all() for part in streams)
        assert by_stream.equals(by_arrow), table
        name = '"' + table.name + '"'
        by_duckdb = database.execute(f"SELECT * FROM read_parquet('{table}/*.parquet')")
        columns = [column[0] for column in by_duckdb.description]
        assert columns == by_arrow.column_names, table
        found = [dict(zip(columns, row)) for row in by_duckdb.fetchall()]
        assert rows(found) == rows(by_arrow.to_pylist()), table
        # The statements make tables of these very columns and types.
        database.execute(f"INSERT INTO {name} SELECT * FROM read_parquet('{table}/*.parquet')")
        declared = [(row[0], row[1]) for row in database.execute(f"DESCRIBE {name}").fetchall()]
        read = database.execute(f"DESCRIBE SELECT * FROM read_parquet('{table}/*.parquet')").fetchall()
        assert declared == [(row[0], row[1]) for row in read], (declared, read)
        (kept,) = database.execute(f"SELECT count(*) FROM {name}").fetchone()
        assert kept == by_arrow.num_rows, table
        count += by_arrow.num_rows
    return count


def main():
    for example in ["agent-decision", "cloud-audit", "github-webhook", "shop-orders"]:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{example}: {check(example, pathlib.Path(folder))} rows, equal by all readers")


main()
