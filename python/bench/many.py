"""`extract_many` beside `retort run`, on one core and on two.

    python bench/many.py RETORT [EVENTS]

Events are those of examples/shop-orders, over and over; RETORT is the path of the command, built like the package. Ratios are of one run, in
turns.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import retort

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "shop-orders"


def many(bundle: retort.Bundle, events: Iterable[bytes]) -> None:
    for _ in bundle.extract_many(events):
        pass


def main() -> None:
    command, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200_000
    kept = (EXAMPLE / "events.ndjson").read_bytes().splitlines()
    events = [kept[number % len(kept)] for number in range(count)]
    with tempfile.TemporaryDirectory() as temporary:
        file, bundles = Path(temporary) / "events.ndjson", Path(temporary) / "bundles"
        file.write_bytes(b"\n".join(events) + b"\n")
        retort.compile(EXAMPLE, out=bundles)
        bundle = retort.Bundle.load(bundles)

        def run(threads: int) -> float:
            started = time.perf_counter()
            arguments = [command, "run", "--bundles", bundles, "--threads", str(threads), file]
            subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            return time.perf_counter() - started

        def one() -> float:
            started = time.perf_counter()
            many(bundle, events)
            return time.perf_counter() - started

        def two() -> float:
            parts = [events[: count // 2], events[count // 2 :]]
            started = time.perf_counter()
            with ThreadPoolExecutor(2) as threads:
                list(threads.map(lambda part: many(bundle, part), parts))
            return time.perf_counter() - started

        cores = os.sched_getaffinity(0)
        for _ in range(4):
            os.sched_setaffinity(0, {min(cores)})
            by_command, by_package = run(1), one()
            os.sched_setaffinity(0, cores)
            by_one, by_two = one(), two()
            print(
                f"one core: retort run {count / by_command:,.0f} events a second, extract_many {count / by_package:,.0f}, {by_command / by_package:.2f} of it; "
                f"two threads {count / by_two:,.0f}, {by_one / by_two:.2f} times one",
                flush=True,
            )


if __name__ == "__main__":
    main()
