# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import unittest

from row import Row
from rounds import Contender, run_rounds
from wrong import Wrong


class Noting(Contender):
    """Notes its turns in CALLS. GIVES are the figures of each work."""

    def __init__(self, name, calls, gives=None):
        super().__init__(name)
        self.calls, self.gives = calls, gives or {}

    def takes(self, row):
        return row.work in self.gives

    def figures(self, rows, number):
        self.calls.append((self.name, number, [row.work for row in rows]))
        for row in rows:
            for figure in self.gives[row.work]:
                yield row, self.name, figure


class Failing(Noting):
    """Fails after its first figure."""

    def figures(self, rows, number):
        yield next(super().figures(rows, number))
        raise Wrong("sick ended with status 3")


def run(rows, contenders, num_rounds):
    """Whether it is complete, what is shown, and what is said on stderr."""
    shown, said = [], io.StringIO()
    with contextlib.redirect_stderr(said):
        is_complete = run_rounds(rows, contenders, num_rounds, shown.append)
    return is_complete, shown, said.getvalue()


class Rounds(unittest.TestCase):
    def test_turns(self):
        """In each round another one is first; rows of one job are measured together."""
        calls, rows = [], [Row("x", 1, "x", job=1), Row("y", 1, "y", job=1), Row("z", 1, "z")]
        gives = {"x": [1], "y": [1], "z": [1]}
        contenders = [Noting("a", calls, gives), Noting("b", calls, gives)]
        is_complete, shown, said = run(rows, contenders, 2)
        self.assertEqual((is_complete, shown, said), (True, [rows[:2], rows[2:]], ""))
        both, third = ["x", "y"], ["z"]
        self.assertEqual(calls, [("a", 0, both), ("b", 0, both), ("b", 1, both), ("a", 1, both),
                                 ("a", 0, third), ("b", 0, third), ("b", 1, third),
                                 ("a", 1, third)])
        self.assertEqual(rows[0].rounds, {"a": [1, 1], "b": [1, 1]})

    def test_takes(self):
        """Who can't do a row has no turn, and nothing is missing."""
        calls, rows = [], [Row("x", 1, "x", is_once=True)]
        contenders = [Noting("a", calls, {"y": [1]}), Noting("b", calls, {"x": [2]})]
        self.assertEqual(run(rows, contenders, 3)[::2], (True, ""))
        self.assertEqual(calls, [("b", 0, ["x"])])

    def test_least(self):
        rows = [Row("x", 1, "x")]
        run(rows, [Noting("a", [], {"x": [3, 2, 4]})], 1)
        self.assertEqual(rows[0].rounds, {"a": [2]})

    def test_nothing(self):
        """Who says nothing of a row is named, with the row."""
        rows = [Row("x", 1, "x/1/2", job=1), Row("y", 1, "y/1/2", job=1)]
        is_complete, _, said = run(rows, [Noting("a", [], {"x": [1], "y": []})], 1)
        self.assertEqual((is_complete, said), (False, "cohort-compare: a: no figure of y/1/2\n"))

    def test_failure(self):
        """Who fails is named, with the reason, and the others go on."""
        rows = [Row("x", 1, "x", job=1), Row("y", 1, "y", job=1)]
        gives = {"x": [1], "y": [1]}
        is_complete, shown, said = run(rows, [Failing("a", [], gives), Noting("b", [], gives)], 1)
        self.assertEqual((is_complete, said), (False,
                                               "cohort-compare: a: sick ended with status 3\n"))
        self.assertEqual((shown, rows[0].rounds, rows[1].rounds),
                         ([rows], {"a": [1], "b": [1]}, {"b": [1]}))


unittest.main()
