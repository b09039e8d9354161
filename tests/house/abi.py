#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The public headers declare all that the last version had, with the same types: libabigail
compares them with tools/packaging/abi/MACHINE.xml. Functions may come, and structs of options may
grow at their end. What the library really exports is what the headers declare, see symbols.py.

usage: abi.py ROOT C-COMPILER MACHINE [--write]   --write: makes these headers the last version's"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import house

COMMAND = "python3 -B tests/house/abi.py . cc MACHINE --write"
DIFFERENT = 4 | 8  # of abidiff's status; the lower bits say that it could not compare
NOT_CODE = re.compile(r"/\*.*?\*/|^[ \t]*#[^\n]*", re.S | re.M)
DECLARED = re.compile(r"\bCOHORT_API\b([^;{]*);")


def split(text):
    """"const T *const A, *const B" as "const T *const A" and "const T *const B"."""
    first, *others = text.split(",")
    kind = re.match(r"[^*]*?(?=\s*(?:\*|\w+$))", first.strip())[0]
    return [first, *(f"{kind} {other}" for other in others)]


def stubs(root, headers):
    """A source that defines all that the headers declare, without doing anything."""
    lines = ["#include <stddef.h>", '#include "cohort/cohort.h"', '#include "cohort/msgpack.h"',
             '#include "cohort/uv.h"']
    for path in headers:
        for found in DECLARED.findall(NOT_CODE.sub("", house.read(root, path))):
            text = re.sub(r"COHORT_MUST_USE|__attribute__\(\(.*\)\)", "", found, flags=re.S).strip()
            if text.startswith("extern"):
                lines += [f"COHORT_API {part} = 0;" for part in split(text.removeprefix("extern"))]
            else:
                lines.append(f"COHORT_API {text} {{ __builtin_trap(); }}")
    return "\n".join(lines) + "\n"


def build(root, compiler, folder):
    include = os.path.join(root, "include")
    headers = sorted(os.path.join("include/cohort", name)
                     for name in os.listdir(os.path.join(include, "cohort")))
    source, library = (os.path.join(folder, name) for name in ("stubs.c", "libcohort.so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(stubs(root, headers))
    done = subprocess.run([*compiler.split(), "-g", "-w", "-shared", "-fPIC", "-I", include, source,
                           "-Wl,-soname,libcohort.so.0", "-Wl,--version-script",
                           os.path.join(include, "cohort.map"), "-o", library],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        house.finish([f"definitions of what the headers declare:\n{done.stdout}"], 1)
    return library


def main():
    root, compiler, machine, *write = sys.argv[1:]
    baseline = os.path.join(root, "tools/packaging/abi", machine + ".xml")
    if not shutil.which("abidw"):
        house.skip("there is no libabigail (abigail-tools)")
    if not write and not os.path.exists(baseline):
        house.skip(f"there is nothing to compare with for {machine}")
    with tempfile.TemporaryDirectory() as folder:
        library = build(root, compiler, folder)
        if write:
            subprocess.run(["abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path",
                            "--no-elf-needed", "--type-id-style", "hash", "--out-file", baseline,
                            library], check=True)
            return
        done = subprocess.run(["abidiff", "--no-show-locs", "--no-added-syms", "--suppressions",
                               os.path.join(root, "tools/packaging/abi/allowed.ini"), baseline,
                               library],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wrong = []
    if done.returncode & ~DIFFERENT:
        wrong = [f"abidiff: status {done.returncode}\n{done.stdout}"]
    elif done.returncode:
        wrong = [f"{done.stdout}\nIf no version with the old one is out: {COMMAND}"]
    house.finish(wrong, 1)


main()
