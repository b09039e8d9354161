#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every patch of tests/mutants still applies, as tests/mutants/run would apply it.

usage: mutants.py ROOT"""
import re
import shutil
import subprocess
import sys

import house

PATCH = re.compile(r"tests/mutants/.*\.patch")


def check(root, path):
    with open(f"{root}/{path}", encoding="utf-8") as file:
        done = subprocess.run(["patch", "-d", root, "-p1", "-F3", "-N", "-r", "-", "--dry-run"],
                              stdin=file, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
    return f"{path} does not apply; make it anew:\n{done.stdout}" if done.returncode else None


def main():
    root = sys.argv[1]
    if not shutil.which("patch"):
        house.skip("there is no patch")
    paths = [path for path in house.files(root) if PATCH.fullmatch(path)]
    house.finish([wrong for wrong in (check(root, path) for path in paths) if wrong], len(paths))


main()
