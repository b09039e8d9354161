#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each algorithm is a row in a file of collectives/algo/ and a line in rows.h, and both agree.

usage: rows.py ROOT"""
import re
import sys

import house

FOLDER = "collectives/algo/"
LIST = FOLDER + "rows.h"
LINE = re.compile(r"^ROW\((\w+), (\w+)\)$", re.M)
ROW = re.compile(r"^const struct cohort__algorithm cohort__(\w+) = {\n(.*?)^};$", re.M | re.S)


def check(path, row, fields):
    """What is wrong with this row, which the list has."""
    collective, name = row
    for line in (f"    .collective = COHORT__{collective.upper()},", f'    .name = "{name}",'):
        if line not in fields.splitlines():
            yield f"{path}: {collective}, {name}: has no line: {line}"


def main():
    root = sys.argv[1]
    listed = LINE.findall(house.read(root, LIST))
    by_name = {"_".join(row): row for row in listed}
    present = {name: (path, fields) for path in house.files(root)
               if path.startswith(FOLDER) and path.endswith(".c")
               for name, fields in ROW.findall(house.read(root, path))}
    wrong = [f"{LIST}: ROW{row}: twice".replace("'", "") for row in sorted(set(listed))
             if listed.count(row) > 1]
    wrong += [f"{path}: {name} is not in {LIST}" for name, (path, _) in present.items()
              if name not in by_name]
    wrong += [f"{LIST}: {name}: there is no such row" for name in by_name if name not in present]
    wrong += [complaint for name, (path, fields) in present.items() if name in by_name
              for complaint in check(path, by_name[name], fields)]
    house.finish(wrong, len(present))


main()
