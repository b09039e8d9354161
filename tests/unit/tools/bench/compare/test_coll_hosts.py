# SPDX-License-Identifier: Apache-2.0
import types
import unittest

import coll_hosts
from coll_hosts import CollHosts, Places
from works import known


def num_with(sites, pattern):
    return sum(row.fits(pattern) for row in coll_hosts.rows(Places(f"2x1x{sites // 2}")))


class Rows(unittest.TestCase):
    def test_names(self):
        rows = coll_hosts.rows(Places("2x1"))
        self.assertEqual(len({row.path for row in rows}), len(rows))
        for row in rows:
            self.assertIn(row.work, known("coll"))

    def test_large(self):
        """A block for each site: with many sites, large blocks are left out."""
        for sites, pattern, num in ((8, "all_gather/*/8", 4), (10, "all_gather/*", 3),
                                    (128, "all_to_all/65536/128", 1),
                                    (130, "all_to_all/65536/*", 0),
                                    (130, "all_reduce/*", 4), (130, "barrier/0/130", 1),
                                    (130, "barrier/0/13", 0)):
            self.assertEqual(num_with(sites, pattern), num)

    def test_stream(self):
        """It is there for those that are compared with it, and once."""
        for pattern, paths in (("barrier/*", ["barrier/0/4"]),
                               ("broadcast/65536/*", ["broadcast/65536/4", "stream/1048576/2"]),
                               ("stream/*", ["stream/1048576/2"])):
            options = types.SimpleNamespace(only=pattern, hosts=Places("2x2"), rounds=1, seconds=1)
            self.assertEqual([row.path for row in CollHosts(options).rows()], paths)

    def test_link(self):
        """Of 2 hosts with 3 sites: what the other one wants."""
        places = Places("2x3")
        rows = [row for row in coll_hosts.rows(places) if row.size == 64 << 10]
        blocks = {row.work: coll_hosts.over_link(row, places) / row.size for row in rows}
        self.assertEqual(blocks, {"all_reduce": 1, "broadcast": 1, "all_to_all": 9,
                                  "reduce_scatter": 3, "all_gather": 3})
        stream = coll_hosts.rows(places)[-1]
        self.assertEqual(coll_hosts.over_link(stream, places), 0)
        coll_hosts.tell_link([rows[0], stream], places)
        self.assertEqual(rows[0].more, {})
        rows[0].add("cohort", 8)
        stream.add("cohort", 32)
        coll_hosts.tell_link([rows[0], stream], places)
        self.assertEqual((rows[0].more, rows[0].note), ({"of_link": 4}, "link 4.00"))


unittest.main()
