# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import types
import unittest

from row import Row
from table import Table

REPORT = {"machine": {"cores": 2, "cpu": "a CPU", "system": "a system", "load": 1}, "version": "1"}


def said(rows, is_json=False, columns=("us", "a")):
    table = Table(types.SimpleNamespace(json=is_json, quick=False), REPORT, columns, ["us"],
                  "Intro.", {"a": "5"})
    with contextlib.redirect_stdout(io.StringIO()) as file:
        table.begin(rows[0].place)
        for row in rows:
            table.show(row)
        table.end()
    return file.getvalue()


def row_of(rounds, **options):
    row = Row("x", 8, "x", place={"sites": 2}, **options)
    for column, figures in rounds.items():
        for figure in figures:
            row.add(column, figure)
    return row


class Tables(unittest.TestCase):
    def test_head(self):
        lines = said([row_of({"us": [1]})]).splitlines()
        self.assertEqual(lines[:5], ["cohort-bench 1, 2 cores, a CPU, a system, load 1.00", "",
                                     "a 5", "", "Intro."])
        self.assertEqual(lines[6].split(), ["work", "size", "sites", "us", "a", "unit", "spread",
                                            "ratio"])

    def test_row(self):
        row = row_of({"us": [1, 2, 3], "a": [4000]}, limits={"a": 1}, note="b")
        self.assertEqual(said([row]).splitlines()[-1].split(maxsplit=9),
                         ["x", "8", "2", "2.00", "4000", "us", "100", "%", "0.00",
                          "<= 1 of a: reached; b"])

    def test_ends(self):
        for row, end in ((row_of({}), "us        -      -  -"),
                         (row_of({"us": [2], "a": [1]}), "us        -   2.00  of a"),
                         (row_of({"us": [2]}, most=1), "us        -      -  <= 1 us: missed"),
                         (row_of({"us": [2], "b": [4]}, limits={"b": 0.4}),
                          "us        -   0.50  <= 0.4 of b (4.00): missed"),
                         (row_of({"us": [2], "a": [3], "b": [1]}, limits={"a": 1}, floor="b"),
                          "us        -   0.50  <= 1 of a above b: reached"),
                         (row_of({"us": [1, 3, 2]}, within=(1, 2)),
                          "us    100 %      -  us within 1: 33 %, 2: 67 %")):
            self.assertEqual(said([row]).splitlines()[-1].split(maxsplit=5)[-1], end)

    def test_json(self):
        """What was not measured is left out; all rounds are there."""
        rows = [row_of({"us": [1, 3], "a": [4]}, limits={"a": 1}), row_of({}, most=2),
                row_of({"us": [1]}, within=(2,))]
        rows[2].more["b"] = 7
        report = json.loads(said(rows, is_json=True))
        first, second, third = report.pop("results")
        self.assertEqual(report, {**REPORT, "quick": False, "peers": {"a": "5"}})
        self.assertEqual(first, {"name": "x", "size": 8, "sites": 2, "unit": "us",
                                 "figures": {"us": 2, "a": 4}, "rounds": {"us": [1, 3], "a": [4]},
                                 "against": "a", "ratio": 0.5, "limit": 1, "reached": True})
        self.assertEqual(second, {"name": "x", "size": 8, "sites": 2, "unit": "us", "figures": {},
                                  "rounds": {}, "most": 2})
        self.assertEqual((third["within"], third["b"]), ({"us": {"2": 100}}, 7))


unittest.main()
