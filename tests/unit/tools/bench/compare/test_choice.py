# SPDX-License-Identifier: Apache-2.0
import time
import types
import unittest

import choice
from wrong import Wrong

POINT = {"name": "barrier", "bytes": 0, "sites": 2, "rows": 3, "selected": "x", "best": "y",
         "selected_us": 2.2, "best_us": 2, "regret": 1.2}
OPTIONS = {"only": "*/1x[12]x2", "hosts": None, "by_call": False, "quick": True, "limit": 100,
           "rounds": 1, "seconds": 1}


def rows_of(**options):
    return choice.Select(types.SimpleNamespace(**{**OPTIONS, **options})).rows()


class Choices(unittest.TestCase):
    def test_rows(self):
        """A job for each shape, of all sizes; hosts only where they are asked for."""
        rows = rows_of()
        self.assertEqual({row.job for row in rows}, {"1x1x2", "1x2x2"})
        self.assertEqual(len(rows), 2 * (1 + 8 * len(choice.COLLECTIVES)))
        self.assertEqual(len({row.path for row in rows}), len(rows))
        self.assertEqual({row.job for row in rows_of(only=None, hosts="2x2x4")}, {"2x2x4"})

    def test_deadline(self):
        """In proportion to the sites; what one leaves over goes to the next one; at least 1 s."""
        rows = rows_of()
        points = choice.Points(None, types.SimpleNamespace(**OPTIONS), rows)
        self.assertAlmostEqual(points.deadline(rows[:1]) - time.monotonic(), 100 / 3, 0)
        self.assertAlmostEqual(points.deadline(rows[-1:]) - time.monotonic(), 100, 0)
        points = choice.Points(None, types.SimpleNamespace(**OPTIONS), rows)
        points.end = 0
        self.assertAlmostEqual(points.deadline(rows[:1]) - time.monotonic(), 1, 1)

    def test_summary(self):
        select = choice.Select(types.SimpleNamespace(**OPTIONS))
        rows = rows_of()[:4]
        with self.assertRaisesRegex(Wrong, "nothing was measured"):
            select.summary(rows)
        for row, regret in zip(rows, (1, 2)):
            choice.tell(row, {**POINT, "regret": regret})
        choice.tell(rows[2], {"rows": 0})
        rows[3].note = "late"
        found, lines = select.summary(rows)
        self.assertEqual(found, {"num_points": 2, "too_large": 1, "late": 1, "median": 1.5,
                                 "worst": 2})
        self.assertEqual(lines[1:], ["median regret 1.500, at most 1.1 wanted: missed",
                                     "worst regret 2.000, at most 1.5 wanted: missed",
                                     f"worst: {rows[1].path}: x, best of 3: y; regret 2.00"])
        self.assertEqual(rows[0].figures(), {"selected": 2.2, "best": 2})


unittest.main()
