#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each folder of tools/ has a README.md with a table of its files, in the order to read them, and
each file begins with its line of that table: `/* PROGRAM: what it is. */`. What is in a folder
below has its line there, too.

usage: tools_readme.py ROOT"""
import os
import re
import sys

import house

FILE = re.compile(r"(tools/[a-z_]+)/((?:[a-z]+/)?[a-z0-9_]+)\.(?:[ch]|cpp)")
MODULE = re.compile(r"(tools/[a-z_]+)/([a-z]+/[a-z_]+)\.py")
ROW = re.compile(r"^\| `([a-z0-9_]+(?:/[a-z_]+)?)` \| (.*) \|$", re.M)
FIRST = re.compile(r"/\* ([a-z-]+): (.*)\. \*/")


def check_file(root, path, rows, program):
    """What is wrong with the second line of PATH, which follows the SPDX line, or None."""
    folder, noun = FILE.fullmatch(path).groups()
    lines = house.read(root, path).splitlines()
    first = FIRST.fullmatch(lines[1]) if len(lines) > 1 else None
    if noun not in rows:
        return f"{path}: is not in the table of {folder}/README.md"
    if not first or first[2] != rows[noun]:
        return f"{path}: does not begin with its line of {folder}/README.md: '{rows[noun]}'"
    if program.setdefault(folder, first[1]) != first[1]:
        return f"{path}: is of '{first[1]}', and others there of '{program[folder]}'"
    return None


def main():
    root = sys.argv[1]
    paths = [path for path in house.files(root) if FILE.fullmatch(path)]
    wrong, rows, program = [], {}, {}
    for folder in sorted({FILE.fullmatch(path)[1] for path in paths}):
        readme = os.path.join(folder, "README.md")
        text = house.read(root, readme) if os.path.exists(os.path.join(root, readme)) else ""
        rows[folder] = dict(ROW.findall(text))
        modules = {found[2] for found in map(MODULE.fullmatch, house.files(root))
                   if found and found[1] == folder}
        nouns = {FILE.fullmatch(path)[2] for path in paths if FILE.fullmatch(path)[1] == folder}
        wrong += [f"{folder}/{noun}.py: is not in the table of {readme}"
                  for noun in modules if noun not in rows[folder]]
        wrong += [f"{readme}: there is no {noun}" for noun in rows[folder]
                  if noun not in nouns | modules]
    wrong += [check_file(root, path, rows[FILE.fullmatch(path)[1]], program) for path in paths]
    house.finish([one for one in wrong if one], len(paths))


main()
