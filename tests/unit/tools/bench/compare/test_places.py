# SPDX-License-Identifier: Apache-2.0
import unittest

from places import Places


class Shapes(unittest.TestCase):
    def test_shape(self):
        for text, ranks, sites, shape in (("2x4", 4, 8, "2x4x1"), ("3x2x5", 10, 30, "3x2x5")):
            places = Places(text)
            self.assertEqual((places.ranks, places.sites, str(places)), (ranks, sites, shape))


unittest.main()
