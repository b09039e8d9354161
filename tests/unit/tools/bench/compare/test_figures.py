# SPDX-License-Identifier: Apache-2.0
import unittest

from figures import PLACE, row_of

PARAMS = {"localities": 1, "workers": 1, "sites": 64, "bytes": 8, "block": 0, "shape": "chosen",
          "arity": 4}
RESULT = {"name": "all_reduce", "params": PARAMS, "median": 7, "min": 6, "max": 9, "unit": "us"}


class Rows(unittest.TestCase):
    def test_row(self):
        """What does not apply is a dash."""
        row = row_of(RESULT)
        self.assertEqual((row.name, row.size, row.unit, row.most), ("all_reduce", 8, "us", 8))
        self.assertEqual(list(row.place), list(PLACE))
        self.assertEqual((row.place["block"], row.place["shape"]), ("-", "chosen"))
        self.assertEqual(row.figures(), {"median": 7, "min": 6, "max": 9})

    def test_wanted(self):
        for params in {"shape": "flat"}, {"sites": 32}, {"bytes": 64}:
            self.assertEqual(row_of({**RESULT, "params": {**PARAMS, **params}}).most, 0)


unittest.main()
