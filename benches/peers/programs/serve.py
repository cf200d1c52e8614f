"""Serves one program over batches of events: see ways/process.rs for what passes.

    serve.py SET json|orjson|duckdb
"""

import importlib
import sys
import tempfile
from pathlib import Path


def by_function(name, module):
    """A function from an event to its result, and one of two modules for the JSON."""
    extract = importlib.import_module(name.replace("-", "_")).extract
    if module == "orjson":
        import orjson

        loads, dumps = orjson.loads, orjson.dumps
    else:
        import json

        loads = json.loads
        encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

        def dumps(result):
            return encoder.encode(result).encode()

    def one(line):
        try:
            return dumps(extract(loads(line)))
        except (AttributeError, LookupError, TypeError, ValueError):
            return b""

    return lambda lines: [one(line) for line in lines]


def by_query(name):
    """A query over a file of events, which is what DuckDB reads. It gets one thread, as all others do."""
    import duckdb

    query = Path(__file__).with_name(f"{name}.sql").read_text()
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("SET TimeZone = 'UTC'")
    # In memory, where there is such a place.
    memory = Path("/dev/shm")
    file = tempfile.NamedTemporaryFile(suffix=".ndjson", dir=memory if memory.is_dir() else None)

    def all_at_once(lines):
        file.seek(0)
        file.truncate()
        file.writelines(lines)
        file.flush()
        rows = connection.execute(query, {"events": file.name}).fetchall()
        return [result.encode() for (result,) in rows]

    return all_at_once


def main():
    name, module = sys.argv[1:]
    serve = by_query(name) if module == "duckdb" else by_function(name, module)
    events, results = sys.stdin.buffer, sys.stdout.buffer
    results.write(b"ready\n")
    results.flush()
    while header := events.readline():
        lines = [events.readline() for _ in range(int(header))]
        results.write(b"".join(result + b"\n" for result in serve(lines)))
        results.flush()


main()
