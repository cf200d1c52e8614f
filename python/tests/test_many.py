"""Many events."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from conftest import event, lines

import retort


def test_the_results_are_in_order_and_one_for_each(small: retort.Bundle) -> None:
    for count in (0, 1, 2, 3, 511, 512, 513, 3_000):
        found = [it.nodes[0]["order_id"] for it in small.extract_many(event(number) for number in range(count))]
        assert found == [f"A-{number}" for number in range(count)]


def test_they_are_those_of_one_at_a_time(orders: retort.Bundle) -> None:
    for line, outcome in zip(lines("shop-orders"), orders.extract_many(lines("shop-orders")), strict=True):
        if isinstance(outcome, retort.Error):
            with pytest.raises(type(outcome), match=".") as raised:
                orders.extract(line)
            assert raised.value.code == outcome.code
        else:
            assert outcome == orders.extract(line)


def test_a_slow_source_is_answered_event_by_event(small: retort.Bundle) -> None:
    taken = []

    def slow() -> Iterator[dict[str, Any]]:
        for number in range(6):
            time.sleep(0.01)
            taken.append(number)
            yield event(number)

    for number, result in enumerate(small.extract_many(slow())):
        # At most the one after it is waited for before it is given.
        assert len(taken) <= number + 2, (number, taken)
        assert result.nodes


def test_what_comes_without_end_is_taken_as_it_is_needed(small: retort.Bundle) -> None:
    endless = (event(number) for number in itertools.count())
    assert len(list(itertools.islice(small.extract_many(endless), 1_000))) == 1_000


def test_a_bundle_is_shared_between_threads(small: retort.Bundle) -> None:
    def work(first: int) -> list[str]:
        events = (event(number) for number in range(first, first + 2_000))
        return [it.nodes[0]["order_id"] for it in small.extract_many(events)]

    with ThreadPoolExecutor(8) as threads:
        for first, found in enumerate(threads.map(work, range(8))):
            assert found == [f"A-{number}" for number in range(first, first + 2_000)]


def test_threads_run_while_events_are_served(orders: retort.Bundle) -> None:
    """The interpreter's lock is released: another thread counts on."""
    counted, stop = [0], threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted[0] += 1

    events = lines("shop-orders") * 40
    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counted[0]
        assert sum(1 for _ in orders.extract_many(events)) == len(events)
        assert counted[0] > before
    finally:
        stop.set()
        thread.join()
