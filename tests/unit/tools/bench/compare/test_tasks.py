# SPDX-License-Identifier: Apache-2.0
import unittest

import tasks
from works import known


class Rows(unittest.TestCase):
    def test_works(self):
        """Each has a limit, and a smaller size for a test."""
        for row, quick in zip(tasks.rows(False), tasks.rows(True)):
            self.assertIn(row.work, known("tasks"))
            self.assertTrue(0 < quick.size < row.size)
            self.assertTrue(row.most > 0 or all(row.limits.values()) and row.limits)

    def test_distinct(self):
        paths = [row.path for row in tasks.rows(False)]
        self.assertEqual(len(paths), len(set(paths)))

    def test_peers(self):
        """Whom a row is compared with can do it."""
        for row in tasks.rows(False):
            for peer in [*row.limits, *[row.floor] * bool(row.floor)]:
                self.assertIn(row.work, tasks.PEERS[peer])


unittest.main()
