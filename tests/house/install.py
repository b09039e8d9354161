#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""After `meson install` into an empty folder, a program outside the project compiles with
pkg-config's flags, links with the shared and with the static library, and runs. With these flags a
large frame meets the guard of its stack. The examples' own project, which a package has, is set up.

usage: install.py ROOT BUILD MESON PKG-CONFIG C-COMPILER"""
import os
import shutil
import sys

import house
from installed import (check_linked, files, installed, one_file, output, run_hello,
                       run_large_frame)


def set_up_examples(root, meson, env, folder):
    """As in libcohort-dev.install: it knows all that examples/meson.build uses."""
    shutil.copytree(os.path.join(root, "examples"), os.path.join(folder, "examples"))
    shutil.copy(os.path.join(root, "tools/packaging/examples/meson.build"), folder)
    output(*meson.split(), "setup", os.path.join(folder, "build"), folder, env=env)
    shutil.rmtree(folder)


def main():
    root, build, meson, pkg_config, compiler = sys.argv[1:]
    with installed(build, meson) as scratch:
        pc = one_file(scratch, "cohort.pc")

        # The folders in cohort.pc are those after the move from DESTDIR to the root. So DESTDIR is
        # put in front of them in the flags.
        env = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc),
               "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
        include, lib = (output(pkg_config, f"--variable={name}", "cohort", env=env)
                        for name in ("includedir", "libdir"))

        def flags(*options):
            moved = {f"-I{include}": f"-I{scratch}{include}", f"-L{lib}": f"-L{scratch}{lib}"}
            return [moved.get(flag, flag)
                    for flag in output(pkg_config, *options, "cohort", env=env).split()]

        # gdb looks for the script by the real name of the library, below a folder of its own.
        library = os.path.realpath(f"{scratch}{lib}/libcohort.so")[len(os.path.realpath(scratch)):]
        scripts = [path for path in files(scratch) if path.endswith("-gdb.py")]
        if len(scripts) != 1 or not scripts[0].endswith(f"/gdb/auto-load{library}-gdb.py"):
            house.finish([f"{scripts} is no script of gdb for {library}"], 1)

        source = os.path.join(root, "examples/hello.c")
        cflags = flags("--cflags")
        shared = flags("--libs")
        # Cohort itself is linked from its archive, and its dependencies from shared libraries.
        uses = output(pkg_config, "--print-requires-private", "cohort", env=env)
        packages = [line.split()[0] for line in uses.splitlines()]
        loaded = {"libfabric", "pmix"} & set(packages)  # loaded only at run time
        if loaded:
            house.finish([f"cohort.pc asks for {', '.join(sorted(loaded))}"], 1)
        static = ["-pthread", *(flag for flag in shared if flag != "-lcohort"), "-Wl,-Bstatic",
                  "-lcohort", "-Wl,-Bdynamic", *output(pkg_config, "--libs", *packages).split(),
                  *output(pkg_config, "--variable=archive_libs", "cohort", env=env).split()]
        private = output(pkg_config, "--static", "--libs", "cohort", env=env).split()
        strange = [flag for flag in cflags if flag.startswith("-I") and flag[2:3] != "/"]
        if strange or sum("msgpack" in flag for flag in private) != 1:
            house.finish([f"cohort.pc hands on {strange}, and {private}"], 1)
        for name, libs in (("shared", shared), ("static", static)):
            program = os.path.join(scratch, name)
            output(*compiler.split(), "-std=c11", *cflags, source, *libs, "-o", program)
            check_linked(program, name == "shared")
            run_hello(program, scratch + lib)
            os.remove(program)
        program = os.path.join(scratch, "large_frame")
        output(*compiler.split(), *cflags, os.path.join(root, "tests/house/large_frame.c"), *shared,
               "-o", program)
        run_large_frame(program, scratch + lib)
        os.remove(program)
        set_up_examples(root, meson, env, os.path.join(scratch, "project"))
    house.finish([], 4)


main()
