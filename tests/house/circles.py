#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The units of collectives/ include each other in no circle, so that each is understood without
those above it. A unit is X.c with X.h and X_private.h, and all files whose functions X_private.h
declares.

Nor is there a circle behind a header's back: in the layers of FAITHFUL each function is declared in
the header of the unit that defines it.

usage: circles.py ROOT"""
import os
import re
import sys

import house

FOLDER = "collectives/"
FAITHFUL = ("collectives/comm/", "collectives/exec/", "collectives/coll/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(collectives/[^"]*)"', re.M)
# At the beginning of a line. An inline function begins with 'static'.
DECLARED = re.compile(r"^(?!static|typedef)\w[\w \*]*?\b(cohort__\w+)\([^;{}]*\)[^;{}]*;", re.M)
DEFINED = re.compile(r"^(?!static|typedef)\w[\w \*\n]*?\b(cohort__\w+)\([^;{}]*\)\s*\{", re.M)


def stem(path):
    """What X.c, X.h and X_private.h have in common."""
    return re.sub(r"(_private)?\.[ch]$", "", path)


def units(texts, declared, defined):
    """The unit of each path: also what a private header declares belongs to its unit."""
    unit = {path: stem(path) for path in texts}
    for name, header in declared.items():
        if header.endswith("_private.h") and name in defined:
            unit[defined[name]] = stem(header)
    return unit


def graph_of(texts, unit):
    graph = {name: set() for name in unit.values()}
    for path, text in texts.items():
        graph[unit[path]] |= {unit[target] for target in INCLUDE.findall(text)
                              if target in unit and unit[target] != unit[path]}
    return graph


def way(graph, start, end):
    """The shortest way from START to END. None: there is none."""
    came_from, found = {start: None}, [start]
    for at in found:
        for to in sorted(graph[at]):
            if to == end:
                path = [end]
                while at is not None:
                    path.append(at)
                    at = came_from[at]
                return path[::-1]
            if to not in came_from:
                came_from[to] = at
                found.append(to)
    return None


def circles(graph):
    """One circle for each set of units that include each other."""
    seen = set()
    for start in sorted(graph):
        circle = None if start in seen else way(graph, start, start)
        if circle:
            seen |= {unit for unit in graph if way(graph, start, unit) and way(graph, unit, start)}
            yield " -> ".join(circle)


def strangers(declared, defined, unit):
    for name, header in sorted(declared.items()):
        home = defined.get(name)
        if header.startswith(FAITHFUL) and home and unit[home] != unit[header]:
            yield f"{header}: {name} is in {home}: declare it in a header of that unit"


def main():
    root = sys.argv[1]
    texts = {path: house.read(root, path) for path in house.files(root)
             if path.startswith(FOLDER) and path.endswith((".c", ".h"))}
    declared = {name: path for path, text in texts.items() if path.endswith(".h")
                for name in DECLARED.findall(text)}
    defined = {name: path for path, text in texts.items() if path.endswith(".c")
               for name in DEFINED.findall(text)}
    unit = units(texts, declared, defined)
    wrong = [f"a circle of includes: {circle}" for circle in circles(graph_of(texts, unit))]
    house.finish([*wrong, *strangers(declared, defined, unit)], len(texts))


if __name__ == "__main__":
    main()
