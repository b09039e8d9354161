#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All C files are as clang-format 14 would write them.

usage: format.py ROOT [CLANG-FORMAT]"""
import subprocess
import sys

import house

VERSION = "version 14."  # other versions format differently; this is Debian 12's


def main():
    root = sys.argv[1]
    if len(sys.argv) < 3:
        house.skip("no clang-format")
    tool = sys.argv[2]
    if VERSION not in subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True,
                                     check=True).stdout:
        house.skip(f"{tool} is not {VERSION}*")
    paths = [path for path in house.files(root) if path.endswith((".c", ".cpp", ".h"))]
    done = subprocess.run([tool, "--dry-run", "-Werror", "--style=file", *paths], cwd=root,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wrong = [line for line in done.stdout.splitlines() if ": error: " in line]
    if done.returncode and not wrong:
        wrong = [done.stdout]
    house.finish(wrong, len(paths))


main()
