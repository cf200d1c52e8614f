"""Children, and interrupts."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import event

import retort


def forked(work: Any) -> int:
    """Does work in a child that is forked, and gives its exit code. A child that hangs is ended."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the child ends here
            print(f"in the child: {error!r}", file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_child_opens_what_was_opened_before_the_fork(made: retort.Compilation) -> None:
    bundle = made.load()
    before = bundle.extract(event(1))
    many = bundle.extract_many(event(number) for number in range(1_000))
    assert next(many) == bundle.extract(event(0))

    def work() -> None:
        assert bundle.extract(event(1)) == before
        assert len(list(many)) == 999
        # And a child of the child.
        assert forked(lambda: bundle.extract(event(2))) == 0

    assert forked(work) == 0
    assert len(list(many)) == 999


def test_deadlines_are_held_in_a_child(made: retort.Compilation) -> None:
    """They go by a clock of the process's own."""
    bundle = made.load(limits={"deadline_ms": 1})
    text = '{"event_type": "order_placed", "content": {"id": "1"}, "note": "' + "x" * 15_000_000 + '"}'

    def late() -> None:
        codes = set()
        for _ in range(20):
            try:
                bundle.extract(text)
            except retort.Error as error:
                codes.add(error.code)
        assert codes == {"deadline_exceeded"}, codes

    late()
    assert forked(late) == 0


def test_what_a_child_drops_is_not_waited_for(made: retort.Compilation) -> None:
    holder = [made.load()]
    holder[0].extract(event(1))
    assert forked(holder.clear) == 0


def test_a_child_that_ends_as_programs_do_ends(made: retort.Compilation) -> None:
    script = f"""
        import os, retort
        bundle = retort.Bundle.load({str(made.path)!r})
        bundle.extract({event(1)!r})
        if os.fork() == 0:
            raise SystemExit(0 if bundle.extract({event(1)!r}).nodes else 1)
        raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=60, check=False).returncode == 0


def test_where_it_is_gone_the_child_is_told(tmp_path: Path, made: retort.Compilation) -> None:
    import shutil

    copy = tmp_path / made.fingerprint
    shutil.copytree(made.path, copy)
    bundle = retort.Bundle.load(copy)
    shutil.rmtree(copy)
    assert bundle.extract(event(1)).nodes

    def work() -> None:
        with pytest.raises(retort.Error) as raised:
            bundle.extract(event(1))
        assert raised.value.code in ("file_not_found", "manifest_missing")
        outcomes = list(bundle.extract_many([event(1), event(2)]))
        assert all(isinstance(it, retort.Error) for it in outcomes) and len(outcomes) == 2

    assert forked(work) == 0


def read(bundle: retort.Bundle) -> str:
    return bundle.extract(event(1)).json()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_are_sent_bundles(small: retort.Bundle, method: str) -> None:
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert set(pool.map(read, [small] * 4)) == {read(small)}


@pytest.mark.parametrize("what", ["many", "compile", "model"])
def test_an_interrupt_ends_what_takes_long(tmp_path: Path, made: retort.Compilation, what: str) -> None:
    work = {
        "many": "for _ in bundle.extract_many(itertools.repeat(event)): pass",
        "compile": "retort.compile(rule='Orders', graph=graph, samples=[event], model='command:sleep 60', out=out)",
        "model": "retort.compile(rule='Orders', graph=graph, samples=[event], model=lambda prompt, schema: time.sleep(60), out=out)",
    }[what]
    script = f"""
        import itertools, pathlib, sys, time, retort
        bundle = retort.Bundle.load({str(made.path)!r})
        graph, out, event = pathlib.Path({str(made.path / "graph.json")!r}), {str(tmp_path)!r}, {event(1)!r}
        print("begun", flush=True)
        try:
            {work}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        import time

        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=30)[0] == "interrupted\n"
        assert child.returncode == 0


def test_after_an_interrupt_the_rest_is_there(small: retort.Bundle) -> None:
    def interrupted() -> Any:
        yield event(1)
        yield event(2)
        raise KeyboardInterrupt

    many = small.extract_many(interrupted())
    results = [next(many)]
    with pytest.raises(KeyboardInterrupt):
        while True:
            results.append(next(many))
    results.extend(many)
    assert [it.nodes[0]["order_id"] for it in results] == ["A-1", "A-2"]
