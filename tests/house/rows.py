#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each algorithm is a file in the folder of its collective and a line in rows.h, and both agree.

usage: rows.py ROOT"""
import re
import sys

import house

FOLDER = "collectives/algo/"
LIST = FOLDER + "rows.h"
TOOLS = "pattern"  # a folder with building blocks of rows, which contains no rows
ROW = re.compile(r"^ROW\((\w+), (\w+)\)$", re.M)


def check(root, collective, name):
    """What is wrong with the file of this row."""
    path = f"{FOLDER}{collective}/{name}.c"
    text = house.read(root, path)
    for line in (f"const struct cohort__algorithm cohort__{collective}_{name} = {{",
                 f"    .collective = COHORT__{collective.upper()},", f'    .name = "{name}",'):
        if line not in text.splitlines():
            yield f"{path}: has no line: {line}"


def main():
    root = sys.argv[1]
    listed = ROW.findall(house.read(root, LIST))
    present = re.findall(rf"^{FOLDER}(\w+)/(\w+)\.c$", "\n".join(house.files(root)), re.M)
    present = [row for row in present if row[0] != TOOLS]
    wrong = [f"{LIST}: ROW{row}: twice".replace("'", "") for row in sorted(set(listed))
             if listed.count(row) > 1]
    wrong += [f"{FOLDER}{'/'.join(row)}.c: not in {LIST}" for row in present if row not in listed]
    wrong += [f"{FOLDER}{'/'.join(row)}.c: in {LIST}, but there is no such file"
              for row in listed if row not in present]
    wrong += [complaint for row in present for complaint in check(root, *row)]
    house.finish(wrong, len(present))


main()
