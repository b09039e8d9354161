#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone and when it is included twice, in strict C and in C++. It is
installed, and it is part of cohort.h, unless it needs another library.

usage: public_headers.py ROOT C-COMPILER [C++-COMPILER]"""
import re
import subprocess
import sys

import house

# Not part of cohort.h, because they need a library that a program may not have.
APART = ("cohort/cohort.h", "cohort/msgpack.h", "cohort/uv.h")

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror", "-fsyntax-only"]


# What the other library's header needs, when the compiler is strict.
NEEDS = {"cohort/uv.h": ["-D_POSIX_C_SOURCE=200809L"]}


def compile_alone(root, header, compiler, options):
    source = f'#include "{header}"\n#include "{header}"\nextern int alone;\n'
    options = [*options, *NEEDS.get(header, [])]
    done = subprocess.run([*compiler.split(), *options, *WARNINGS, f"-I{root}/include", "-"],
                          input=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    return f"{header} alone, {compiler} {options}:\n{done.stdout}" if done.returncode else None


def main():
    root, compilers = sys.argv[1], sys.argv[2:]
    languages = [["-std=c11", "-Wstrict-prototypes", "-xc"], ["-std=c++11", "-xc++"]]
    headers = [path[len("include/"):] for path in house.files(root)
               if path.startswith("include/") and path.endswith(".h")]
    all_of_them = house.read(root, "include/cohort/cohort.h")
    listed = re.sub(r"#.*", "", house.read(root, "include/meson.build"))
    wrong = []
    for header in headers:
        wrong += [compile_alone(root, header, compiler, options)
                  for compiler, options in zip(compilers, languages)]
        if f"'{header}'" not in listed:
            wrong.append(f"{header}: not in include/meson.build, so it would not be installed")
        if header not in APART and f'#include "{header}"\n' not in all_of_them:
            wrong.append(f"{header}: not in cohort/cohort.h")
    house.finish([line for line in wrong if line], len(headers))


main()
