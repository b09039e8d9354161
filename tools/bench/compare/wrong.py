# SPDX-License-Identifier: Apache-2.0
"""What goes wrong: told on stderr, in one line each."""
import sys

PROGRAM = "cohort-compare"


class Wrong(Exception):
    """What ends the program with status 1, as a text that names it."""


def complain(text):
    print(f"{PROGRAM}: {text}", file=sys.stderr)
