# SPDX-License-Identifier: Apache-2.0
"""The works that cohort-bench knows."""
import os
import re

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../../../tools/bench")
LIST = re.compile(r"bench_works_of_(\w+)\[\] = \{(.*?)\}", re.S)


def known(subcommand):
    with open(os.path.join(SOURCE, "works.c"), encoding="utf-8") as file:
        return set(re.findall(r'"(\w+)"', dict(LIST.findall(file.read()))[subcommand]))
