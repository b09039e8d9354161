#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source is built. One that no meson.build lists is forgotten, or is a test that never runs.

usage: sources.py ROOT BUILD"""
import json
import os
import re
import sys

import house

# For other machines, for the other choice of -Dfiber or -Dsource_lines, and what install.py
# compiles.
ELSEWHERE = re.compile(r".*_(aarch64|x86_64|asm|ucontext)\.[cS]|tests/house/outside\.c|"
                       r"tools/cohortrun/source(_none)?\.c")


def main():
    root, build = (os.path.realpath(path) for path in sys.argv[1:])
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        built = {os.path.relpath(os.path.realpath(os.path.join(entry["directory"], entry["file"])),
                                 root) for entry in json.load(file)}
    examples = any(path.startswith("examples/") for path in built)  # -Dexamples=false
    fft = any(path.startswith("examples/fft") for path in built)  # without FFTW
    # Peers of cohort-bench that are not installed.
    absent = {path for path in ("tools/bench/peer_mpi.c", "tools/bench/peer_openmp.c",
                                "tools/bench/peer_tbb.cpp") if path not in built}
    sources = [path for path in house.files(root) if path.endswith((".c", ".cpp", ".S"))
               and not ELSEWHERE.fullmatch(path)
               and (examples or not path.startswith("examples/"))
               and (fft or not path.startswith("examples/fft"))
               and path not in absent]
    house.finish([f"{path}: in no meson.build" for path in sources if path not in built],
                 len(sources))


main()
