#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/SETTINGS.md has all variables, options and fields that can be set, and values of constants.

usage: settings.py ROOT"""
import re
import sys

import house

PAGE = "docs/SETTINGS.md"
SOURCE = re.compile(r"(runtime|collectives|tools)/.*\.[ch]")

# Functions that read a variable by its name, and names of ours that are passed to them.
GETENV = re.compile(r'\bgetenv\("([A-Za-z_0-9]+)"\)')
VARIABLE = re.compile(r'"((?:COHORT|FI|PMIX)_[A-Z0-9_]+)=?"')
# cohort-info has a list of those of Cohort. It reads none of them by itself.
LISTED = "tools/info/variables.c"
STATUS = re.compile(r"COHORT_(OK|ERR_.*)")

LAUNCHERS = re.compile(r"tools/cohortrun.*options\.c")
OPTION = re.compile(r'\{"([a-z-]+)", (?:no|required)_argument')
SELF_EVIDENT = ("help", "version")

OPTIONS = re.compile(r"typedef struct (cohort_\w*options) \{(.*?)\n\} \1;", re.S)
FIELD = re.compile(r"(\w+);")
COMMENT = re.compile(r"/\*.*?\*/", re.S)

NAME = re.compile(r"`([A-Za-z_-][A-Za-z_0-9-]*)`")
CONSTANT = re.compile(r"`(\w+) = ([^`]+)`")
FILE = re.compile(r"`([\w/.]+\.[ch])`")


def rows(page):
    """The cells of each row of the page's tables."""
    return [[cell.strip() for cell in line.strip("|").split(" | ")]
            for line in page.splitlines() if line.startswith("| ")]


def squeeze(text):
    return re.sub(r"\s+", "", text)


def variables(sources):
    """For each name, the first file that reads it."""
    found = {}
    for path, text in sources.items():
        if path == LISTED:
            continue
        for name in [*GETENV.findall(text), *VARIABLE.findall(text)]:
            if not STATUS.fullmatch(name):
                found.setdefault(name, path)
    return found


def launcher_options(sources):
    return {"--" + name: path for path, text in sources.items() if LAUNCHERS.fullmatch(path)
            for name in OPTION.findall(text) if name not in SELF_EVIDENT}


def fields(root, paths):
    """Fields as 'struct.field', each with its header."""
    found = {}
    for path in paths:
        if path.startswith("include/"):
            for struct, body in OPTIONS.findall(house.read(root, path)):
                found |= {(struct, name): path for name in FIELD.findall(COMMENT.sub("", body))}
    return found


def named_fields(table):
    """The rows after one that names a struct in bold are its fields."""
    named, struct = set(), None
    for cells in table:
        bold = re.fullmatch(r"\*\*`(\w+)`\*\*", cells[0])
        struct = bold.group(1) if bold else struct
        named |= {(struct, name) for name in NAME.findall(cells[0])}
    return named


def check_constant(name, value, path, sources):
    if path not in sources:
        return f"{PAGE}: {name}: there is no {path}"
    found = re.findall(r"\b%s\s*=\s*([^,;}/]+)" % name, sources[path])
    if not found:
        return f"{PAGE}: {name}: is not in {path}"
    if squeeze(value) not in map(squeeze, found):
        return f"{PAGE}: {name} = {value}: {path} says {found[0].strip()}"
    return None


def constants(table):
    """Name, value and file of each row that has a constant."""
    for cells in table:
        constant = len(cells) > 2 and CONSTANT.fullmatch(cells[1])
        file = constant and FILE.fullmatch(cells[2])
        if file:
            yield constant.group(1), constant.group(2), file.group(1)
        elif constant:
            yield constant.group(1), constant.group(2), cells[2]


def main():
    root = sys.argv[1]
    paths = house.files(root)
    sources = {path: house.read(root, path) for path in paths if SOURCE.fullmatch(path)}
    table = rows(house.read(root, PAGE))
    named = {name for cells in table for name in NAME.findall(cells[0])}
    wanted = {**variables(sources), **launcher_options(sources)}
    wrong = [f"{path}: {name}: not in {PAGE}" for name, path in wanted.items() if name not in named]
    wrong += [f"{PAGE}: {name}: nobody reads it" for name in sorted(named)
              if VARIABLE.fullmatch(f'"{name}"') and name not in wanted]
    if LISTED in sources:
        listed = set(VARIABLE.findall(sources[LISTED])) - {"COHORT_"}
        ours = {name for name in variables(sources) if name.startswith("COHORT_")}
        wrong += [f"{LISTED}: {name}: is read, and not listed" for name in sorted(ours - listed)]
        wrong += [f"{LISTED}: {name}: nobody reads it" for name in sorted(listed - ours)]
    there = named_fields(table)
    all_fields = fields(root, paths)
    wrong += [f"{path}: {struct}.{name}: not in {PAGE}"
              for (struct, name), path in all_fields.items() if (struct, name) not in there]
    all_constants = list(constants(table))
    wrong += filter(None, (check_constant(*row, sources) for row in all_constants))
    house.finish(wrong, len(wanted) + len(all_fields) + len(all_constants))


main()
