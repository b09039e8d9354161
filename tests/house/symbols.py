#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names that the libraries put into a user's program.

usage: symbols.py static LIBCOHORT.A NM [BESIDES...]
       symbols.py shared LIBCOHORT.SO NM ROOT [BESIDES...]

static: every global symbol has the project's prefix. shared: the exported symbols are exactly those
that the public headers declare. BESIDES: names that may be there, too."""
import re
import subprocess
import sys

import house


def symbols(nm, *args):
    """(name, type) of the defined symbols. The version nodes of the symbol map do not count."""
    out = subprocess.run([nm, "--defined-only", "--format=posix", *args],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines() if not line.endswith(":")]
    return {row[0].split("@")[0] for row in rows if len(row) > 1 and row[1] != "A"}


def declared(root):
    """The names with COHORT_API in front of them in the public headers."""
    names = set()
    for path in house.files(root):
        if not (path.startswith("include/") and path.endswith(".h")):
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^[ \t]*#[^\n]*", "", house.read(root, path),
                      flags=re.S | re.M)
        for declaration in re.findall(r"\bCOHORT_API\b([^;(]*)", text):
            names |= {re.findall(r"\w+", part)[-1] for part in declaration.split(",")}
    return names


def main():
    kind, library, nm = sys.argv[1:4]
    if kind == "static":
        names = symbols(nm, "--extern-only", library) - set(sys.argv[4:])
        house.finish([f"{name}: a global symbol without the prefix" for name in sorted(names)
                      if not re.match(r"cohort_|COHORT_", name)], len(names))
    names = symbols(nm, "--dynamic", library) - set(sys.argv[5:])
    public = declared(sys.argv[4])
    wrong = [f"{name}: exported without cohort_<noun> or COHORT_<NAME>" for name in sorted(names)
             if not re.match(r"cohort_[a-z]|COHORT_[A-Z]", name)]
    wrong += [f"{name}: declared in a public header, but not exported"
              for name in sorted(public - names)]
    wrong += [f"{name}: exported, but in no public header" for name in sorted(names - public)]
    house.finish(wrong, len(names))


main()
