#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of README.md beside MPI, TBB and OpenMP, as tables in Markdown.

usage: readme_figures.py COHORT_COMPARE [--write] [OPTION...]

Runs single rows of `cohort-compare coll` and `tasks` with these options (--rounds R, --seconds S),
about four minutes. tools/install-deps --peers installs the others, and the build folder has to be
set up after that. Load of the machine makes all of them worse. --write: into
README.md of this checkout. Below the tables are the date, the commit, the machine and the versions
of the others."""
import json
import os
import re
import subprocess
import sys

from origin import origin

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PLACE = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end of figures -->)", re.S)

# What a row is called, and its pattern for --only.
PROCESSES = [
    ("all_reduce of 8 B, 2 processes", "all_reduce/8/2"),
    ("all_reduce of 8 B, 8 processes", "all_reduce/8/8"),
    ("all_reduce of 1 MiB, 4 processes", "all_reduce/1048576/4"),
    ("all_to_all of 64 KiB a pair, 4 processes", "all_to_all/65536/4"),
    ("broadcast of 64 KiB, 8 processes", "broadcast/65536/8"),
    ("all_to_all, the other one 200 us late, and 200 us of computing", "overlap/65536/2"),
    ("message of 8 B, one way", "ping_pong/8/2"),
    ("a job of 32 processes: start and end", "nothing/0/32"),
]
TASKS = [
    ("spawn and await a task, 1 worker", "fib/1"),
    ("spawn and await a task, 2 workers", "fib/2"),
    ("a million tasks awaited together, 2 workers", "empty/2"),
    ("an index of a parallel loop, 2 workers", "range_one/2"),
    ("a task of a stencil's graph, 2 workers", "graph_stencil/2"),
]
# A column's name, and the figures of cohort-compare, of which the least is shown.
COLUMNS = {
    "coll": [("Cohort", ("cohort_shm",)), ("Open MPI", ("openmpi",)),
             ("its `MPI_I...` and `MPI_Wait`", ("openmpi_wait",)),
             ("MPICH", ("mpich", "mpich_wait"))],
    "tasks": [("Cohort", ("cohort",)), ("oneTBB", ("tbb",)), ("OpenMP (gcc)", ("openmp",))],
}


def measure(compare, part, pattern, options):
    ran = subprocess.run([compare, "--json", *options, part, "--only", pattern],
                         stdout=subprocess.PIPE, text=True)
    try:
        report = json.loads(ran.stdout)
        return report, report["results"][0]
    except (ValueError, LookupError):
        sys.exit(f"{compare} {part} --only '{pattern}': status {ran.returncode}, no figure")


def cell(figures, names, unit):
    found = [figures[name] for name in names if figures.get(name)]
    if not found:
        return ""
    time = min(found)
    if unit == "us" and time >= 10000:
        return f"{time / 1000:.0f} ms"
    return f"{time:.0f} {unit}" if time >= 100 else f"{time:.3g} {unit}"


def table(compare, part, rows, options):
    """The lines of a table, without columns that have no figure, and the first report: its load is
    not yet that of the rows."""
    cells, first = [], None
    for name, pattern in rows:
        report, result = measure(compare, part, pattern, options)
        first = first or report
        cells.append([name, *(cell(result["figures"], names, result["unit"])
                              for _, names in COLUMNS[part])])
    heads = ["", *(head for head, _ in COLUMNS[part])]
    kept = [i for i in range(len(heads)) if any(row[i] for row in cells)]
    lines = [[heads[i] for i in kept], ["---"] * len(kept), *([row[i] for i in kept]
                                                              for row in cells)]
    return ["| " + " | ".join(line) + " |" for line in lines], first


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    compare, *options = sys.argv[1:]
    is_written = "--write" in options
    options = [option for option in options if option != "--write"]
    processes, report = table(compare, "coll", PROCESSES, options)
    tasks, other = table(compare, "tasks", TASKS, options)
    text = "\n".join(["", *processes, "", *tasks, "", f"({origin(report, other)})", "", ""])
    if not is_written:
        print(text)
        return
    path = os.path.join(ROOT, "README.md")
    with open(path, encoding="utf-8") as file:
        page, num = PLACE.subn(lambda _: text, file.read())
    if num != 1:
        sys.exit(f"{path} has no place for the figures")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
