#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Units know each other in no circle, so that each is understood without those above it. One knows
another if it includes its header or names one of its functions.

A unit is X.c with X.h and X_private.h, and all files that define what X_private.h declares. Those
that are larger are said in UNITS. A function is declared in a header of the unit that defines it,
so there is no circle behind a header's back.

usage: circles.py ROOT"""
import collections
import re
import sys

import house

FOLDERS = ("collectives/", "runtime/", "tools/")

# What is one thing in several files.
UNITS = [
    # How tasks run, wait and end: what ends one lets others run, which wait and end.
    ("runtime/task/", """await blocking core crash dataflow fork future held_mutexes idle inputs
        plain_loop progress queues range resumption scheduler scope task task_local uncaught wait
        worker"""),
    # A locality and its peers: each message may tell of a loss, and each loss sends messages.
    ("runtime/proc/", "arrival boards fetch letter peer process registry router send"),
    ("runtime/loop/", "guest loop private sleep timer"),
    ("runtime/remote/", "call everywhere private serve tasks"),
    ("runtime/net/", "ofi ofi_end ofi_fetch ofi_peer ofi_progress ofi_send"),
    ("runtime/net/", "shm shm_end shm_progress"),
    ("runtime/task/", "fiber fiber_asm fiber_ucontext"),
    ("collectives/algo/", "algorithm shared"),
    ("collectives/algo/pattern/", "levels levels_notes"),
    # Rows that are building blocks of others, too.
    ("collectives/algo/", """all_to_all/direct broadcast/linear gather/linear reduce/linear
        all_to_all/bruck reduce_scatter/linear pattern/subplans"""),
    # What may be named on the command line, and what is done then.
    ("tools/bench/", "options select select_report"),
    ("tools/share/", "plot plot_axis"),
]

NOT_CODE = re.compile(r'/\*.*?\*/|^[ \t]*#.*?$|"(?:\\.|[^"\\\n])*"|\b(?:struct|enum|union) \w+',
                      re.S | re.M)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"((?:collectives|runtime|tools)/[^"]*)"', re.M)
# At the beginning of a line. An inline function begins with 'static'.
DECLARED = re.compile(r"^(?!static|typedef)\w[\w \*]*?\b(cohort_\w+)\([^;{}]*\)[^;{}]*;", re.M)
DEFINED = re.compile(r"^(?!static|typedef)\w[\w \*]*?\b(cohort_\w+)\([^;{}]*\)\s*\{", re.M)
NAMED = re.compile(r"\bcohort_\w+")


def stem(path):
    """What X.c, X.h and X_private.h have in common."""
    return re.sub(r"(_private)?\.[ch]$", "", path)


def units(code, declared, defined):
    """The unit of each path, by the first of its stems."""
    said = {folder + name: folder + names.split()[0] for folder, names in UNITS
            for name in names.split()}
    unit = {path: said.get(stem(path), stem(path)) for path in code}
    for name, header in declared.items():
        if header.endswith("_private.h"):
            unit.update({path: unit[header] for path in defined[name]})
    return unit


def graph_of(texts, code, defined, unit):
    """What each unit knows: for each other one, an example."""
    graph = {name: {} for name in unit.values()}
    for path, text in texts.items():
        for target in INCLUDE.findall(text):
            if target in unit:
                graph[unit[path]].setdefault(unit[target], f"{path} includes {target}")
        for name in NAMED.findall(code[path]):
            for target in defined.get(name, ()):
                graph[unit[path]].setdefault(unit[target], f"{path} names {name}")
    for name, known in graph.items():
        known.pop(name, None)
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
    """One circle for each set of units that know each other."""
    seen = set()
    for start in sorted(graph):
        circle = None if start in seen else way(graph, start, start)
        if circle:
            seen |= {unit for unit in graph if way(graph, start, unit) and way(graph, unit, start)}
            yield "a circle: " + "; ".join(graph[a][b] for a, b in zip(circle, circle[1:]))


def strangers(declared, defined, unit):
    for name, header in sorted(declared.items()):
        for home in defined[name]:
            if unit[home] != unit[header]:
                yield f"{header}: {name} is in {home}: declare it in a header of that unit"


def gone(texts):
    """What UNITS says of a file of a unit that is not there."""
    stems = {stem(path) for path in texts}
    for folder, names in UNITS:
        missing = [folder + name for name in names.split() if folder + name not in stems]
        if len(missing) < len(names.split()):
            yield from (f"tests/house/circles.py: there is no {name}" for name in missing)


House = collections.namedtuple("House", "texts code declared defined unit")


def read_house(root):
    texts = {path: house.read(root, path) for path in house.files(root)
             if path.startswith(FOLDERS) and path.endswith((".c", ".h"))}
    code = {path: NOT_CODE.sub("", text) for path, text in texts.items()}
    declared = {name: path for path, text in code.items() if path.endswith(".h")
                for name in DECLARED.findall(text)}
    defined = collections.defaultdict(list)
    for path, text in code.items():
        if path.endswith(".c"):
            for name in DEFINED.findall(text):
                defined[name].append(path)
    return House(texts, code, declared, defined, units(code, declared, defined))


def main():
    texts, code, declared, defined, unit = read_house(sys.argv[1])
    wrong = [*gone(texts), *circles(graph_of(texts, code, defined, unit)),
             *strangers(declared, defined, unit)]
    house.finish(wrong, len(texts))


if __name__ == "__main__":
    main()
