#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In files that no tool formats, no line is longer than 100 columns.

usage: lines.py ROOT"""
import re
import sys

import house

COLUMNS = 100
CODE = re.compile(r".*\.(py|sh|S|pml)|(.*/)?meson(_options)?\.(build|txt)|tools/[a-z-]+|\.ci/.*|"
                  r"tests/mutants/run")


def main():
    root = sys.argv[1]
    paths = [path for path in house.files(root) if CODE.fullmatch(path)]
    house.finish([f"{path}:{i}: {len(line)} columns" for path in paths
                  for i, line in enumerate(house.read(root, path).splitlines(), 1)
                  if len(line) > COLUMNS], len(paths))


main()
