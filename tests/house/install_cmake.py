#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""After `meson install` into an empty folder, a CMake project outside of Cohort finds it by
find_package, links with the shared and with the static library, and runs. What it asks for that is
not there is refused.

usage: install_cmake.py ROOT BUILD MESON C-COMPILER [CMAKE]"""
import os
import shutil
import subprocess
import sys
import tempfile

import house
from installed import check_linked, installed, one_file, output, run_hello, run_large_frame

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(Cohort 0.1 REQUIRED COMPONENTS static)
add_executable(shared hello.c)
target_link_libraries(shared PRIVATE Cohort::cohort)
add_executable(static hello.c)
target_link_libraries(static PRIVATE Cohort::cohort_static)
add_executable(large_frame large_frame.c)
target_link_libraries(large_frame PRIVATE Cohort::cohort)
"""
REFUSED = {"find_package(Cohort 1.0 REQUIRED)": "1.0",
           "find_package(Cohort 0.9 REQUIRED)": "0.9",
           "find_package(Cohort REQUIRED COMPONENTS fortran)": "no fortran"}


def main():
    root, build, meson, compiler, *cmake = sys.argv[1:]
    if not cmake:
        house.skip("there is no cmake")
    with tempfile.TemporaryDirectory() as user, installed(build, meson) as scratch:
        config = one_file(scratch, "CohortConfig.cmake")
        libraries = os.path.dirname(one_file(scratch, "libcohort.so"))
        for path in ("examples/hello.c", "tests/house/large_frame.c"):
            shutil.copy(os.path.join(root, path), user)
        command = [cmake[0], "-S", user, f"-DCMAKE_C_COMPILER={compiler.split()[-1]}",
                   f"-DCohort_DIR={os.path.dirname(config)}"]

        def write(text):
            with open(os.path.join(user, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                file.write(text)

        write(PROJECT)
        output(*command, "-B", f"{user}/build")
        output(cmake[0], "--build", f"{user}/build")
        for name in ("shared", "static"):
            program = os.path.join(user, "build", name)
            check_linked(program, name == "shared")
            run_hello(program, libraries)
        run_large_frame(os.path.join(user, "build", "large_frame"), libraries)

        for text, said in REFUSED.items():
            write(f"cmake_minimum_required(VERSION 3.16)\nproject(user NONE)\n{text}\n")
            done = subprocess.run([*command, "-B", f"{user}/refused"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            if not done.returncode or said not in done.stdout:
                house.finish([f"{text}: status {done.returncode}\n{done.stdout}"], 1)
    house.finish([], 3 + len(REFUSED))


main()
