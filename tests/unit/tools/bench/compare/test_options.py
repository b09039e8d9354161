# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import unittest

import options


class Options(unittest.TestCase):
    def refuses(self, args, why):
        with contextlib.redirect_stderr(io.StringIO()) as said, \
             self.assertRaises(SystemExit) as ended:
            options.read(args)
        first, second = said.getvalue().splitlines()
        self.assertEqual(ended.exception.code, 2)
        self.assertTrue(first.startswith("cohort-compare: ") and why in first, first)
        self.assertTrue(second.startswith("usage: cohort-compare "), second)

    def test_wrong(self):
        for args, why in [
                ([], "the following arguments are required: comparison"),
                (["frob"], "invalid choice: 'frob'"),
                (["--frob", "tasks"], "unrecognized arguments: --frob"),
                (["tasks", "--rounds"], "--rounds: expected one argument"),
                (["tasks", "--hosts", "2x2"], "--hosts is for coll and select"),
                (["tasks", "--fresh"], "--fresh is for coll"),
                (["tasks", "--lent"], "--lent is for coll"),
                (["tasks", "--by-call"], "--by-call is for select"),
                (["coll", "--limit", "5"], "--limit is for select"),
                (["figures", "--only", "x"], "--only is for coll")]:
            self.refuses(args, why)

    def test_numbers(self):
        for rounds in "0", "1000", "", "7x", "-7", "9" * 20:
            self.refuses(["tasks", "--rounds", rounds],
                         f"needs a number from 1 to 999, not '{rounds}'")
        for seconds in "0", "nan", "1s", "1e", "101":
            self.refuses(["coll", "--seconds", seconds],
                         f"needs a number from 0.001 to 100, not '{seconds}'")

    def test_hosts(self):
        for hosts in ("", "2", "2x", "x2", "1x2", "17x1", "2x0", "2x2x0", "2x2x2x2", "2x65", "2x-1",
                      "2X2", "0002x1"):
            self.refuses(["coll", "--hosts", hosts], "needs HxL or HxLxT, 2 to 16 hosts and at most"
                         f" 128 sites, not '{hosts}'")

    def test_right(self):
        given = options.read(["coll", "--hosts", "2x4", "--seconds", "1e-1", "--rounds", "999"])
        self.assertEqual((given.comparison, str(given.hosts), given.seconds, given.rounds),
                         ("coll", "2x4x1", 0.1, 999))


unittest.main()
