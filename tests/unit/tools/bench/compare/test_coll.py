# SPDX-License-Identifier: Apache-2.0
import itertools
import types
import unittest

import coll
from row import works_of
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
        self.assertEqual(works_of(rows), "barrier:0,exchange:65536,overlap:65536")

    def test_longer(self):
        """The first transport tells whether computing or the exchange takes longer, of an overlap
        alone; an MPI's second form has a column of its own."""
        rows = [row for row in coll.rows() if row.path in ("all_reduce/8/2", "all_reduce/65536/2",
                                                           "overlap/65536/2")]
        given = [("all_reduce", 8, "chosen", 1), ("exchange", 65536, "chosen", 300),
                 ("overlap", 65536, "wait", 400)]
        results = [{"name": name, "params": {"bytes": size, "shape": shape}, "median": median}
                   for name, size, shape, median in given]
        job = types.SimpleNamespace(results=lambda: results)
        for contender, longer, wait in ((coll.Cohort("shm", None, None, True), ["longer"], ""),
                                        (coll.Cohort("ofi", None, None, False), [], ""),
                                        (coll.OfMpi(types.SimpleNamespace(name="openmpi"), None),
                                         [], "_wait")):
            contender.job = lambda rows, number: job
            got = [(row.path, column) for row, column, _ in contender.figures(rows, 0)]
            self.assertEqual(got, [("all_reduce/8/2", contender.name),
                                   *[("overlap/65536/2", column) for column in longer],
                                   ("overlap/65536/2", contender.name + wait)])


unittest.main()
