#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source is built. One that no meson.build lists is forgotten, or is a test that never runs.

usage: sources.py ROOT BUILD [LEFT-OUT...]      LEFT-OUT: a source that this build has no use for,
                                                or a folder of them"""
import json
import os
import re
import sys

import house

# For other machines, and what installed.py runs.
ELSEWHERE = re.compile(r".*_(aarch64|x86_64)\.[cS]|tests/house/large_frame\.c")


def main():
    root, build, *left_out = (os.path.realpath(path) for path in sys.argv[1:])
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        built = {os.path.realpath(os.path.join(entry["directory"], entry["file"]))
                 for entry in json.load(file)}
    sources = [path for path in house.files(root) if path.endswith((".c", ".cpp", ".S"))
               and not ELSEWHERE.fullmatch(path)]
    forgotten = [path for path in sources if os.path.join(root, path) not in built
                 and not any(f"{root}/{path}/".startswith(f"{out}/") for out in left_out)]
    house.finish([f"{path}: in no meson.build" for path in forgotten], len(sources))


main()
