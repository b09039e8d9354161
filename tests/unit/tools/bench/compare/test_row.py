# SPDX-License-Identifier: Apache-2.0
import unittest

from row import Row, Verdict


def measured(figures, **options):
    row = Row("a", 8, "a/8/2", **options)
    for column, rounds in figures.items():
        for one in rounds:
            row.add(column, one)
    return row


class Rows(unittest.TestCase):
    def test_pattern(self):
        row = Row("a", 8, "a/8/2")
        for pattern in None, "*", "a/*", "*/2", "a/8/[24]":
            self.assertTrue(row.fits(pattern))
        for pattern in "", "a", "*/4", "A/*":
            self.assertFalse(row.fits(pattern))

    def test_result(self):
        """A result without a size is that of the work."""
        for name, size, is_of in (("a", 8, True), ("a", 0, True), ("a", 9, False), ("b", 8, False)):
            self.assertEqual(Row("a", 8, "").is_of({"name": name, "params": {"bytes": size}}),
                             is_of)

    def test_medians(self):
        self.assertEqual(measured({"x": [3, 1, 2], "y": [1, 2]}).figures(), {"x": 2, "y": 1.5})


class Verdicts(unittest.TestCase):
    def test_hardest(self):
        """The one whose limit is the farthest away counts, which need not be the fastest one."""
        row = measured({"us": [6], "fast": [2], "slow": [5]}, limits={"fast": 4, "slow": 1})
        verdict = Verdict(row, ["us"])
        self.assertEqual((verdict.against, verdict.ratio, verdict.limit, verdict.is_reached),
                         ("slow", 1.2, 1, False))

    def test_limit(self):
        row = measured({"us": [6], "slow": [6]}, limits={"slow": 1})
        self.assertTrue(Verdict(row, ["us"]).is_reached)

    def test_fastest(self):
        """Without a limit, or if that one is not there, nothing is to be reached."""
        for limits in {}, {"absent": 1}:
            verdict = Verdict(measured({"us": [6], "a": [3], "b": [4]}, limits=limits), ["us"])
            self.assertEqual((verdict.against, verdict.ratio, verdict.limit, verdict.is_reached),
                             ("a", 2, None, None))

    def test_ours(self):
        """The first of ours that was measured; the others of ours are no peers."""
        verdict = Verdict(measured({"second": [2], "third": [1], "a": [4]}),
                          ["first", "second", "third"])
        self.assertEqual((verdict.column, verdict.against, verdict.ratio), ("second", "a", 0.5))

    def test_most(self):
        for most, is_reached in (5, False), (6, True):
            verdict = Verdict(measured({"us": [6]}, most=most), ["us"])
            self.assertEqual((verdict.against, verdict.is_reached), (None, is_reached))

    def test_floor(self):
        """It is no peer, and all are above it."""
        verdict = Verdict(measured({"us": [6], "a": [4], "none": [2]}, limits={"a": 2},
                                   floor="none"), ["us"])
        self.assertEqual((verdict.against, verdict.ratio, verdict.is_reached), ("a", 2, True))

    def test_missing(self):
        for figures in {"a": [4]}, {}:
            verdict = Verdict(measured(figures, limits={"a": 1}, most=3), ["us"])
            self.assertEqual((verdict.column, verdict.against, verdict.is_reached),
                             (None, None, None))


unittest.main()
