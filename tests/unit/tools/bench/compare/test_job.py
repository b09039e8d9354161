# SPDX-License-Identifier: Apache-2.0
import os
import unittest

from job import Job
from wrong import Wrong


class Jobs(unittest.TestCase):
    def test_results(self):
        text = '{"results": [\n{"name": "a", "x": 1},\n{"name": "b", "x": 2}\n], "c": 3}'
        self.assertEqual(list(Job(["echo", text]).results()),
                         [{"name": "a", "x": 1}, {"name": "b", "x": 2}])

    def test_environment(self):
        script = "echo $COHORT_A $HOME; nproc"
        home, all_cores = os.environ.get("HOME", ""), len(os.sched_getaffinity(0))
        for cores, num in (1, 1), (None, all_cores), (all_cores + 1, all_cores):
            lines = Job(["sh", "-c", script], {"COHORT_A": "b"}, cores).lines()
            self.assertEqual([line.strip() for line in lines], [f"b {home}".strip(), str(num)])

    def test_failure(self):
        """It is told at the end, behind all lines."""
        for args, why in ((["sh", "-c", "echo a; exit 3"], "sh ended with status 3"),
                          (["sh", "-c", "echo a; kill -9 $$"], "sh was killed by signal 9")):
            lines = Job(args).lines()
            self.assertEqual(next(lines), "a\n")
            with self.assertRaisesRegex(Wrong, why):
                next(lines)

    def test_no_program(self):
        with self.assertRaisesRegex(Wrong, "/nowhere: No such file"):
            list(Job(["/nowhere"]).lines())

    def test_end(self):
        """Who reads no further ends it."""
        lines = Job(["sh", "-c", "echo a; exec sleep 1000"]).lines()
        next(lines)
        lines.close()

    def test_is_fine(self):
        self.assertTrue(Job(["true"]).is_fine())
        self.assertFalse(Job(["sh", "-c", "exit 3"]).is_fine())


unittest.main()
