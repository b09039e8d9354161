# SPDX-License-Identifier: Apache-2.0
import itertools
import unittest

import coll
from works import known


class Rows(unittest.TestCase):
    def test_works(self):
        for row in coll.rows():
            self.assertIn(row.work, known("coll"))

    def test_distinct(self):
        """No two rows have the same name, and rows of the same jobs are neighbours."""
        rows = coll.rows()
        paths = [row.path for row in rows]
        self.assertEqual(len(paths), len(set(paths)))
        jobs = [job for job, _ in itertools.groupby(row.job for row in rows)]
        self.assertEqual(len(jobs), len(set(jobs)))

    def test_names(self):
        paths = {row.path: row for row in coll.rows()}
        self.assertEqual(paths["ofi_ping_pong/8/2"].work, "ping_pong")
        self.assertEqual(paths["barrier/0/32"].limits,
                         dict.fromkeys(["openmpi", "openmpi_wait", "mpich", "mpich_wait"], 0.7))
        self.assertEqual(paths["nothing/0/32"].limits, {"openmpi": 0.5, "mpich": 0.5})
        self.assertEqual(paths["memory_rss/0/64"].figures(), {"given": 6})

    def test_list(self):
        """An overlap comes after the exchange that it is compared with."""
        rows = [row for row in coll.rows() if row.path in ("barrier/0/2", "overlap/65536/2")]
        self.assertEqual(coll.works(rows), "barrier:0,exchange:65536,overlap:65536")


unittest.main()
