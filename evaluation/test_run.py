#!/usr/bin/env python3
"""What evaluation/run counts, and what it says."""

import sys
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True
loader = SourceFileLoader("run", str(Path(__file__).resolve().parent / "run"))
run = module_from_spec(spec_from_loader("run", loader))
loader.exec_module(run)


def facts(**properties):
    node = {"id": "s:A:a=1", "entity": "A", "properties": {"a": 1, **properties}}
    edge = {"relationship": "R", "from": "s:A:a=1", "to": "s:B:b=2"}
    return {1: {"line": 1, "nodes": [node], "edges": [edge], "fully": ["x"]}}


class Score(unittest.TestCase):
    def counts(self, found, expected=None):
        counted, differences = run.score(expected or facts(), found)
        self.assertEqual(counted["missing"] + counted["wrong"], len(differences))
        return [counted[name] for name in ("right", "missing", "wrong")]

    def test_the_same_is_right(self):
        self.assertEqual(self.counts(facts()), [4, 0, 0])
        self.assertEqual(self.counts(facts(a=1.0)), [4, 0, 0])
        self.assertEqual(self.counts(facts(b=None)), [4, 0, 0])

    def test_another_value_is_wrong(self):
        self.assertEqual(self.counts(facts(a=2)), [3, 0, 1])
        self.assertEqual(self.counts(facts(a=True)), [3, 0, 1])
        self.assertEqual(self.counts(facts(a="1")), [3, 0, 1])

    def test_what_nobody_asked_for_is_wrong(self):
        self.assertEqual(self.counts(facts(b="more")), [4, 0, 1])
        self.assertEqual(self.counts({**facts(), 2: facts()[1]}), [4, 0, 4])

    def test_what_is_not_there_is_missing(self):
        self.assertEqual(self.counts({}), [0, 4, 0])
        self.assertEqual(self.counts({1: {"nodes": facts()[1]["nodes"]}}), [2, 2, 0])
        self.assertEqual(self.counts(facts(), facts(b=1)), [4, 1, 0])

    def test_a_span_that_is_handled_otherwise_is_wrong(self):
        found = {1: {**facts()[1], "fully": [], "partially": ["x"]}}
        self.assertEqual(self.counts(found), [3, 0, 1])


class Table(unittest.TestCase):
    def row(self, **more):
        return {"task": "t", "level": "easy", "accepted": True, "attempts": 2, "tokens": None, "right": 3, "missing": 1, "wrong": 0, **more}

    def test_it_says_whether_a_model_was_asked(self):
        by_hand = {"model": run.BY_HAND, "asked": False, "tasks": [self.row()]}
        self.assertIn("really asked: none yet.", run.markdown([by_hand]))
        asked = {"model": "openai:m", "asked": True, "tasks": [self.row(tokens=1200)]}
        table = run.markdown([by_hand, asked])
        self.assertIn("really asked: openai:m.", table)
        self.assertIn("| t | easy | 2 | - | 3 (75.0 %) | 1 | 0 |", table)
        self.assertIn("| t | easy | 2 | 1,200 | 3 (75.0 %) | 1 | 0 |", table)

    def test_a_level_is_summed_up(self):
        rows = [self.row(), self.row(accepted=False, right=0, missing=4)]
        table = run.markdown([{"model": "m", "asked": True, "tasks": rows}])
        self.assertIn("| **easy** | 1 of 2 with a plan | 4 | - | 3 (37.5 %) | 5 | 0 |", table)
        self.assertIn("| t | easy, no plan |", table)


if __name__ == "__main__":
    unittest.main()
