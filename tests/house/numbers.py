#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tells how large the house is: files, headers and lines of C, the words that it uses in a sense of
its own (docs/GLOSSARY.md), and the units that its circles.py knows. There is nothing to be wrong.

usage: numbers.py ROOT"""
import re
import sys

import circles
import house

FOLDERS = ("runtime/", "collectives/", "tools/", "tests/")
WORD = re.compile(r"^\| (?!here \||---)", re.M)


def main():
    root = sys.argv[1]
    paths = [path for path in house.files(root)
             if path.startswith(FOLDERS) and path.endswith((".c", ".h"))]
    total = [0, 0, 0]
    for folder in FOLDERS:
        here = [path for path in paths if path.startswith(folder)]
        numbers = [len(here), sum(path.endswith(".h") for path in here),
                   sum(house.read(root, path).count("\n") for path in here)]
        print(folder + ": %d files, %d of them headers, %d lines" % tuple(numbers))
        if folder != "tests/":
            total = [a + b for a, b in zip(total, numbers)]
    print("without tests: %d files, %d of them headers, %d lines" % tuple(total))
    print(f"{len(WORD.findall(house.read(root, 'docs/GLOSSARY.md')))} words of its own, "
          f"{len(set(circles.read_house(root).unit.values()))} units")
    house.finish([], len(paths))


if __name__ == "__main__":
    main()
