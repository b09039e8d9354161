# SPDX-License-Identifier: Apache-2.0
import unittest

import spread
from works import known


class Works(unittest.TestCase):
    def test_works(self):
        self.assertLessEqual(set(spread.WORKS), known("tasks"))


unittest.main()
