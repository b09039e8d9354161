#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The compiler warns when a program drops a future that a public function returns, or the status of
one that hands futures out.

usage: dropped_futures.py ROOT C-COMPILER [C++-COMPILER]"""
import re
import subprocess
import sys
import tempfile

import house

# Result, NAME(PARAMETERS) of functions that return a future or a status, with a body or without.
FUNCTION = re.compile(
    r"\b(cohort_future \*|cohort_status)\s*(cohort_\w+)\(((?:[^()]|\([^()]*\))*)\)")


def functions(root):
    """(header, name, parameters) of all public functions that return futures or hand them out."""
    found = []
    for path in house.files(root):
        if path.startswith("include/") and path.endswith(".h"):
            text = re.sub(r"/\*.*?\*/|^[ \t]*#[^\n]*", "", house.read(root, path),
                          flags=re.S | re.M)
            header = path[len("include/"):]
            found += [(header, name, " ".join(parameters.split()))
                      for result, name, parameters in FUNCTION.findall(text)
                      if result != "cohort_status" or "cohort_future **" in parameters]
    return found


def dropper(number, name, parameters):
    """A function, on one line, that calls NAME and drops the result."""
    named = [part for part in parameters.split(",") if part.strip() != "..."]
    arguments = ", ".join(re.findall(r"\w+", part)[-1] for part in named if part != "void")
    return (f"void drop_{number}({', '.join(named)}); "
            f"void drop_{number}({', '.join(named)}) {{ {name}({arguments}); }}")


def not_warned(root, compiler, language, found):
    """The names for which the compiler gives no warning."""
    includes = "".join(f'#include "{header}" ' + "\n" for header in sorted({f[0] for f in found}))
    lines = [dropper(i, name, parameters) for i, (_, name, parameters) in enumerate(found)]
    first = includes.count("\n") + 1
    with tempfile.NamedTemporaryFile("w", suffix=".c") as source:
        source.write(includes + "\n".join(lines) + "\n")
        source.flush()
        # Not -fsyntax-only: with it gcc does not reach this warning.
        done = subprocess.run([*compiler.split(), f"-x{language}", "-Wall", f"-I{root}/include",
                               "-c", "-o", "/dev/null", source.name],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        return [f"{compiler}: {done.stdout}"]
    warned = {int(line) for line in
              re.findall(r"\.c:(\d+):\d+: warning:[^\n]*unused[-_]result", done.stdout)}
    return [f"{found[i][0]}: {found[i][1]}: {compiler} does not warn where its future is dropped"
            for i in range(len(found)) if first + i not in warned]


def main():
    root, compilers = sys.argv[1], sys.argv[2:]
    found = functions(root)
    wrong = [] if found else ["no function that returns a future was found"]
    for compiler, language in zip(compilers, ["c", "c++"]):
        wrong += not_warned(root, compiler, language, found)
    house.finish(wrong, len(found))


main()
